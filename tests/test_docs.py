"""What the documents say is what the code does: generated parts are fresh, commands and files exist, examples are real."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot import cli, generate, settings
from bot.core.access import LEVELS, Grant
from bot.core.rules import RULES
from bot.render import rules_text

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def block(name: str) -> str:
    """The code between a pair of markers of the README."""
    found = re.search(rf"<!-- {name} -->\n```sh\n(.*?)\n```\n<!-- /{name} -->", README, re.DOTALL)
    assert found is not None
    return found[1]


def test_generated_parts_are_fresh() -> None:
    for path, content in generate.files(ROOT).items():
        assert path.read_text() == content, f"{path.name}: run `python -m bot.generate --write`"


def test_stale_parts_are_noticed() -> None:
    stale = README.replace("`quota-in-use`", "`quota-in-us`")
    assert generate.readme(stale) == generate.readme(README) != stale
    with pytest.raises(ValueError, match="markers"):
        generate.readme("# whypending\n")


def test_every_rule_is_in_the_readme_in_order() -> None:
    slugs = re.findall(
        r"^\| `([a-z-]+)` \|", README.partition("<!-- rules -->")[2].partition("<!-- /rules -->")[0], re.MULTILINE
    )
    assert slugs == [rule.slug for rule in RULES]


def test_every_rule_has_a_page() -> None:
    for rule in RULES:
        page = rules_text.page(rule.slug)
        assert page.startswith(f"{rule.slug}: {rule.title}\n")
        assert all(len(line) <= 80 for line in page.splitlines()[1:] if " " in line.strip())
        for text in ("When:", "Why it blocks:", "What to do:", f"Outlook: {rule.outlook}."):
            assert text in page
        words = " ".join(page.split())
        assert rule.section("What to do") in words


def test_one_command_for_the_demo_and_one_for_the_tests() -> None:
    assert len(block("demo").splitlines()) == 1
    assert block("demo").endswith(".venv/bin/whypending demo")
    assert len(block("tests").splitlines()) == 1
    assert block("tests").endswith(".venv/bin/python -m pytest -n 2")


def test_the_ci_script_runs_the_readmes_test_command_and_every_check() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    for check in (
        "lock --check",
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports",
        "deptry",
        "bot.generate",
        "README.md",
    ):
        assert check in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)


def test_links_between_files_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_commands_that_documents_name_exist() -> None:
    for path in DOCUMENTS:
        named = set(re.findall(r"\bwhypending ([a-z]+)\b(?=[ `\n])", re.sub(r"\[[^]]*\]", "", path.read_text())))
        words = {"helps", "is", "tells", "bot"}
        commands = {name for name in named if f"`whypending {name}" in path.read_text()}
        assert commands - words <= set(cli.commands()), path.name


def test_the_example_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```console\n\$ whypending explain team-a/train\n(.*?)```", README, re.DOTALL)
    assert found is not None
    cli.main(["explain", "team-a/train", "-f", str(ROOT / "tests/recordings/v0.19.2/quota-in-use.json")])
    printed = capsys.readouterr().out.splitlines()
    for line in found[1].splitlines():
        assert line in printed


def test_the_example_of_access_rules_is_one_that_loads_and_every_level_is_explained(tmp_path: Path) -> None:
    found = re.search(r"<!-- access-example -->\n```yaml\n(.*?)```\n<!-- /access-example -->", README, re.DOTALL)
    assert found is not None
    (tmp_path / "config.yaml").write_text("clusters: [{name: prod-eu}, {name: lab}]\n" + found[1])
    policy = settings.load(tmp_path / "config.yaml", {}).policy
    assert [rule.name for rule in policy.rules] == ["default", "ml training", "queue owners"]
    assert policy.place("C0123456789", "lab", "team-b") == Grant("queue", "ml training")
    assert policy.place("C9", "lab", "infra") is None
    section = README.partition("## Who sees what")[2].partition("\n## ")[0]
    for level in LEVELS:
        assert f"| `{level}` |" in section


def test_the_readmes_exit_status_is_the_commands() -> None:
    assert set(cli.EXIT_STATUS) == {0, 1, 2, 3, 4}
    for status, text in cli.EXIT_STATUS.items():
        assert f"| {status} | {text} |" in README


def test_the_generator_says_what_is_stale() -> None:
    ran = subprocess.run([sys.executable, "-m", "bot.generate"], cwd=ROOT, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_the_lock_file_knows_the_public_registry_alone() -> None:
    text = (ROOT / "uv.lock").read_text()
    assert set(re.findall(r'registry = "([^"]+)"', text)) == {"https://pypi.org/simple"}
    assert set(re.findall(r'url = "https://([^/"]+)', text)) == {"files.pythonhosted.org"}
