"""The command line as people and scripts meet it: exit status, streams, files, and what it does not import."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot import cli
from bot.console import look
from tests.clusters import RECORDINGS, recorded

V = RECORDINGS / "v0.19.2"
QUOTA = str(V / "quota-in-use.json")


class Ran:
    """What a command gave back."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


class Command:
    """Runs the command in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *arguments: str) -> Ran:
        try:
            status = cli.main(arguments)
        except SystemExit as exit_:
            status = int(exit_.code or 0)
        return Ran(status, *self._capfd.readouterr())


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(capfd)


def whypending(*arguments: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "bot", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, env=os.environ | environ)


# --- explain ---


@pytest.mark.parametrize(
    ("recording", "ask", "status"),
    [
        ("quota-in-use", "team-a/train", 1),
        ("running", "team-a/train", 0),
        ("finished", "team-a/train", 0),
        ("job-not-found", "team-a/trian", 4),
        ("namespace-not-found", "taem-a/train", 4),
        ("local-queue-missing", "team-a/train", 1),
    ],
)
def test_exit_status(run: Command, recording: str, ask: str, status: int) -> None:
    for output in ("text", "json"):
        ran = run("explain", ask, "-f", str(V / f"{recording}.json"), "-o", output)
        assert ran.status == status
        assert ran.out
        assert ran.err == ""


def test_no_answer_is_3(run: Command, tmp_path: Path) -> None:
    empty = tmp_path / "empty.yaml"
    empty.write_text("")
    ran = run("explain", "team-a/train", "-f", str(empty), "-o", "json")
    assert ran.status == 3
    assert ran.json["outlook"] == "unknown"
    assert ran.json["complete"] is False


def test_the_text_tells_cause_proof_and_move(run: Command) -> None:
    out = run("explain", "team-a/train", "-f", QUOTA).out
    assert out.startswith("Waiting its turn: Job team-a/train\nNeeds 2 more nvidia.com/gpu")
    assert "\x1b" not in out
    assert "Whose move:" in out


def test_a_kind_can_be_named(run: Command) -> None:
    document = run("explain", "team-a/job/train", "-f", QUOTA, "-o", "json").json
    assert document["job"] == {"apiVersion": "batch/v1", "kind": "Job", "namespace": "team-a", "name": "train"}
    assert document["asked"] == "team-a/job/train"


@pytest.mark.parametrize(
    "words", [("train", "-n", "team-a"), ("job/train", "-n", "team-a"), ("job", "train", "-n", "team-a")]
)
def test_kubectls_ways_to_name_a_job(run: Command, words: tuple[str, ...]) -> None:
    assert run("explain", *words, "-f", QUOTA, "-o", "json").json["headline"]["rule"] == "quota-in-use"


def test_standard_input(run: Command) -> None:
    ran = whypending("explain", "team-a/train", "-f", "-", "-o", "json", stdin=Path(QUOTA).read_bytes())
    assert ran.returncode == 1
    assert json.loads(ran.stdout) == run("explain", "team-a/train", "-f", QUOTA, "-o", "json").json


def test_several_files_and_yaml(run: Command, tmp_path: Path) -> None:
    items = recorded("v0.19.2/quota-in-use").items
    half = len(items) // 2
    import yaml

    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all(items[:half]))
    (tmp_path / "b.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items[half:]}))
    whole = run("explain", "team-a/train", "-f", QUOTA, "-o", "json").json
    twice = run("explain", "team-a/train", "-f", str(tmp_path / "a.yaml"), "-f", str(tmp_path / "b.json"), "-o", "json")
    assert twice.json == whole
    glob = run("explain", "team-a/train", "-o", "json", "-f", str(tmp_path / "a.yaml"), str(tmp_path / "b.json"))
    assert glob.json == whole
    first = run("explain", "-f", str(tmp_path / "a.yaml"), str(tmp_path / "b.json"), "team-a/train", "-o", "json")
    assert first.json == whole


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("explain",), "a right one looks like team-a/train"),
        (("explain", "team-a/train", "-o", "xml"), "text"),
        (("explain", "a/b/c/d", "-f", QUOTA), "for example: team-a/train"),
        (("explain", "Team_A/!", "-f", QUOTA), "for example"),
        (("explain", "team-a/train", "-f", "no-such-file.json"), "cannot read no-such-file.json: No such file"),
        (("explain", "team-a/train", "-f", str(V)), "cannot read"),
        (("explain", "team-a/train", "--deadline", "soon"), "a right one looks like 8"),
        (("explain", "team-a/train", "--deadline", "-1"), "a right one looks like 8"),
        (("explain", "team-a/train", "--no-such-option"), "--no-such-option"),
        (("demo", "--port", "many"), "a right one looks like"),
        (("rules", "quota-in-us"), "did you mean quota-in-use"),
        (("frobnicate",), "frobnicate"),
        ((), "COMMAND"),
    ],
)
def test_wrong_use_is_2_with_one_sentence(run: Command, arguments: tuple[str, ...], said: str) -> None:
    ran = run(*arguments)
    assert ran.status == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_a_file_that_is_neither_json_nor_yaml(run: Command, tmp_path: Path) -> None:
    for content in (b"{broken", b"a: [1, 2", b"\x00\x01\x02"):
        (tmp_path / "x.yaml").write_bytes(content)
        ran = run("explain", "team-a/train", "-f", str(tmp_path / "x.yaml"))
        assert ran.status == 2
        assert "a right file is what `kubectl get" in ran.err
        assert "Traceback" not in ran.err


def test_an_unreachable_cluster_is_3_without_a_traceback(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                "clusters": [{"name": "x", "cluster": {"server": "http://127.0.0.1:1"}}],
                "users": [{"name": "x", "user": {}}],
            }
        )
    )
    for command in (("explain", "team-a/train"), ("snapshot", "team-a/train"), ("doctor",)):
        ran = whypending(*command, KUBECONFIG=str(config))
        assert ran.returncode == 3, ran
        assert b"Traceback" not in ran.stderr
        assert ran.stdout + ran.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "bot", "rules"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_explaining_a_file_imports_neither_kubernetes_nor_slack_nor_aiohttp() -> None:
    program = (
        "import sys; from bot import cli; status = cli.main(sys.argv[1:]);"
        "heavy = {'kubernetes', 'slack_bolt', 'slack_sdk', 'aiohttp', 'pydantic', 'asyncio', 'structlog'} & set(sys.modules);"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else status)"
    )
    for output in ("text", "json"):
        command = [sys.executable, "-c", program, "explain", "team-a/train", "-f", QUOTA, "-o", output]
        ran = subprocess.run(command, capture_output=True, check=False, timeout=60)
        assert ran.returncode == 1, ran.stderr


def _cpu(environ: dict[str, str], *command: str) -> float:
    """The CPU time of one run of a whole process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=60, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize("output", ["text", "json"])
def test_explaining_a_file_costs_at_most_three_times_an_import_of_pydantic(output: str, tmp_path: Path) -> None:
    """A ratio of neighbouring runs, the best of several pairs: a busy machine slows both and spoils some."""
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPYCACHEPREFIX"] = str(tmp_path)  # as installed: with bytecode, which the first pair writes
    ratios = []
    for _ in range(8):
        explain = _cpu(environ, sys.executable, "-m", "bot", "explain", "team-a/train", "-f", QUOTA, "-o", output)
        ratios.append(explain / _cpu(environ, sys.executable, "-c", "import pydantic"))
    assert min(ratios[1:]) <= 3


# --- the others ---


def test_rules(run: Command) -> None:
    table = run("rules").out
    assert "quota-in-use" in table
    assert table.index("job-not-found") < table.index("quota-in-use") < table.index("was-evicted")
    page = run("rules", "quota-in-use").out
    for heading in ("When:", "Why it blocks:", "What to do:"):
        assert heading in page
    assert run("rules", "quota_in_use").out == page


def test_schema_is_a_json_schema(run: Command) -> None:
    schema = run("schema").json
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_version_and_help(run: Command) -> None:
    from bot import __version__

    assert run("--version").out == f"whypending {__version__}\n"
    text = run("explain", "--help").out
    for status in range(5):
        assert f"\n  {status}  " in text


def test_no_colour_when_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert look(Terminal()) == (70, True)  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert look(Terminal()) == (70, False)  # type: ignore[arg-type]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert look(Terminal()) == (70, False)  # type: ignore[arg-type]
