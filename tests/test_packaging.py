"""What is shipped works where nothing of the sources is: the wheel in an empty environment, the image's build commands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core.rules import RULES

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "Dockerfile"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def clean_environment() -> dict[str, str]:
    """The environment without anything that leads to the sources or to this environment's packages."""
    left_out = ("PYTHON", "VIRTUAL_ENV", "KUBECONFIG", "WHYPENDING", "UV_PROJECT")
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


def run(*command: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean_environment() | more, capture_output=True, text=True,
        check=False, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def uv() -> str:
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("uv is missing: pip install uv")
    return found


@pytest.fixture(scope="module")
def wheel(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what the source distribution holds."""
    out = tmp_path_factory.mktemp("dist")
    run(uv, "build", "--sdist", "--out-dir", out, ROOT, cwd=out)
    (source,) = out.glob("*.tar.gz")
    run(uv, "build", "--wheel", "--out-dir", out, source, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(uv: str, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an empty environment with the wheel in it and nothing else."""
    place = tmp_path_factory.mktemp("installed")
    run(uv, "venv", "--python", sys.executable, place / "venv", cwd=place)
    run(uv, "pip", "install", "--python", place / "venv/bin/python", wheel, cwd=place)
    return place / "venv" / "bin"


def test_the_wheel_holds_the_product_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"bot"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    ours = {str(path.relative_to(ROOT)) for path in (ROOT / "bot").rglob("*.py")}
    assert ours <= set(names)
    data = {
        str(path.relative_to(ROOT))
        for folder in ("bot/demo/recordings", "bot/demo/static")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert data
    assert data <= set(names), "the demo's clusters and page"
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_it_runs_where_no_sources_are(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import bot; print(bot.__file__)", cwd=tmp_path).stdout
    assert str(installed.parent) in where
    listed = run(installed / "whypending", "rules", cwd=tmp_path).stdout
    assert [rule.slug for rule in RULES if rule.slug not in listed] == []
    assert "Why it blocks" in run(installed / "whypending", "rules", "quota-in-use", cwd=tmp_path).stdout
    schema = json.loads(run(installed / "whypending", "schema", cwd=tmp_path).stdout)
    assert "Answer" in schema["$defs"]


def test_it_answers_from_a_file(installed: Path, tmp_path: Path) -> None:
    recording = ROOT / "tests" / "recordings" / "v0.19.2" / "quota-in-use.json"
    command = [installed / "whypending", "explain", "-f", recording, "-o", "json", "team-a/train"]
    done = subprocess.run(
        [str(part) for part in command],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout)["headline"]["rule"] == "quota-in-use"


@pytest.fixture
def demo(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The installed demo's address."""
    log = tmp_path / "log"
    with log.open("wb") as out, subprocess.Popen(
        [str(installed / "whypending"), "demo", "--port", "0"], cwd=tmp_path,
        env=clean_environment() | {"PYTHONUNBUFFERED": "1"}, stdout=out, stderr=subprocess.STDOUT,
    ) as child:  # fmt: skip
        try:
            end = time.monotonic() + 180
            while not (found := re.search(r"http://[\w.]+:\d+\S*", log.read_text())):
                assert child.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            yield found[0].rstrip("/.")
        finally:
            child.terminate()
            child.wait(30)


def test_the_demo_answers_over_http(demo: str) -> None:
    def get(path: str) -> str:
        with urllib.request.urlopen(demo + path, timeout=20) as answer:
            assert answer.status == 200
            content: bytes = answer.read()
            return content.decode()

    page = get("/")
    assert "<html" in page
    for path in re.findall(r'(?:src|href)="(/?[\w./-]+\.(?:js|css|svg))"', page):
        assert get(f"/{path.lstrip('/')}")


# --- the image ---


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.partition(" ")[0].upper(), line.partition(" ")[2].strip()) for line in lines]


def test_the_dockerfile_does_what_it_should() -> None:
    done = instructions()
    names = [
        argument.split(" AS ")[-1] for instruction, argument in done if instruction == "FROM" and " AS " in argument
    ]
    for instruction, argument in done:
        if instruction == "FROM":
            base = argument.split()[0]
            assert ":" in base, f"{base} has no version"
            assert not base.endswith(":latest")
        if instruction == "COPY" and "--from=" in argument:
            assert re.search(r"--from=(\w+)", argument)[1] in names  # type: ignore[index]
        elif instruction == "COPY":
            assert [name for name in argument.split()[:-1] if not (ROOT / name).exists()] == []
        assert instruction != "ADD", "COPY takes no URLs and unpacks nothing"
        assert not (instruction == "RUN" and re.search(r"curl|wget|sudo|apt-get (?!update|install -y)", argument))
        assert not (instruction in {"ARG", "ENV"} and re.search(r"(?i)token|password|secret", argument))
    last = max(at for at, (instruction, _) in enumerate(done) if instruction == "FROM")
    users = [argument for instruction, argument in done[last:] if instruction == "USER"]
    assert len(users) == 1
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[0]), "a number: the cluster can see that it is not root"
    entry = [argument for instruction, argument in done[last:] if instruction == "ENTRYPOINT"]
    assert entry
    assert json.loads(entry[0]), "no shell between the signals and the program"


def test_the_image_s_commands_build_what_it_runs(uv: str, tmp_path: Path) -> None:
    """The build stage, instruction by instruction, in a folder that stands for the image's root."""
    root = tmp_path / "root"
    tools = tmp_path / "tools"
    run(sys.executable, "-m", "venv", tools, cwd=tmp_path)
    environment = {"PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    place = root
    for instruction, argument in instructions()[1:]:
        if instruction == "FROM":
            break
        if instruction == "ENV":
            environment |= dict(part.split("=", 1) for part in shlex.split(argument))
        elif instruction == "WORKDIR":
            place = root / argument.lstrip("/")
            place.mkdir(parents=True)
        elif instruction == "COPY":
            *sources, target = argument.split()
            for source in sources:
                to = place / target
                to = to / Path(source).name if target in {".", "./"} else to
                to.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copyfile(ROOT / source, to)
        elif instruction == "RUN":
            root.mkdir(exist_ok=True)
            run("sh", "-ec", argument, cwd=place, **environment)
    program = root / "app" / ".venv" / "bin" / "whypending"
    shutil.rmtree(root / "app" / "bot")  # the last stage has the environment alone
    assert "quota-in-use" in run(program, "rules", cwd=tmp_path, PYTHONDONTWRITEBYTECODE="1").stdout
    packages = next((root / "app" / ".venv" / "lib").glob("python3*/site-packages"))
    assert (packages / "asyncpg").is_dir(), "several replicas need PostgreSQL"
    assert not list(packages.glob("pytest*")), "no tools of the tests"
    assert list((packages / "bot" / "core" / "__pycache__").glob("engine*.pyc")), (
        "compiled: nothing can be written later"
    )
