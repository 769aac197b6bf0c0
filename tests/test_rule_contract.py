"""The rule contract: every rule is listed, documented, ordered, declares what it reads, and has a firing and a near-miss test."""

import ast
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from bot.core import kinds, rules
from bot.core.rule import HEADINGS, Rule
from bot.core.rules import RULES
from bot.kube.permissions import KINDS_READ
from tests.clusters import HERE

STAGES = ("lookup", "workload", "queue", "quota", "checks", "pods", "start", "running", "finished")
BY_SLUG = {rule.slug: rule for rule in RULES}
READS = re.compile(r"\.(?:find|every|require|all_of|one_of)\(")


def each(rule: Rule) -> str:
    return rule.slug


def test_every_module_is_listed_once_and_under_its_own_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(rules.__path__)}
    assert {rule.slug.replace("-", "_") for rule in RULES} == modules
    assert len(RULES) == len(BY_SLUG)
    for rule in RULES:
        assert rule.check.__module__ == f"bot.core.rules.{rule.slug.replace('-', '_')}"
        assert rule.check.__name__ == rule.slug.replace("-", "_")


def test_the_stages_stand_in_the_order_of_the_admission_path() -> None:
    """But for the two of stage quota that are asked when nothing later holds it."""
    last = {"not-evaluated-yet", "fits-but-not-admitted"}
    path = [rule for rule in RULES if not (rule.context or rule.fallback or rule.only_also or rule.slug in last)]
    stages = [STAGES.index(rule.stage) for rule in path]
    assert stages == sorted(stages)


def test_context_rules_stand_last() -> None:
    flags = [rule.context for rule in RULES]
    assert flags == sorted(flags)


def test_there_is_one_rule_of_last_resort() -> None:
    assert [rule.slug for rule in RULES if rule.fallback] == ["no-explanation-visible"]


@pytest.mark.parametrize("rule", RULES, ids=each)
def test_documented_well_enough_to_need_no_other_page(rule: Rule) -> None:
    assert 3 <= len(rule.title) <= 90
    assert not rule.title.endswith(".")
    for heading in HEADINGS:
        text = rule.section(heading)
        assert len(text) >= 10, f"{heading} is empty"
        assert text.endswith((".", "`", ")")), f"{heading} does not end as a sentence"
        assert text[0].isupper() or text[0] in "`\"'", f"{heading} does not start as a sentence"
    headings = re.findall(r"^([A-Z][A-Za-z ]+):$", rule.doc, re.MULTILINE)
    assert tuple(headings) == HEADINGS


@pytest.mark.parametrize("rule", RULES, ids=each)
def test_needs_are_kinds_that_the_reader_may_read(rule: Rule) -> None:
    assert len(set(rule.needs)) == len(rule.needs)
    assert set(rule.needs) <= set(kinds.BY_NAME)
    assert set(rule.needs) <= KINDS_READ
    source = inspect.getsource(inspect.getmodule(rule.check) or rule.check)
    if READS.search(source):
        assert rule.needs, "it reads kinds and declares none"


@pytest.mark.parametrize("rule", RULES, ids=each)
def test_rules_read_facts_and_snapshot_alone(rule: Rule) -> None:
    tree = ast.parse(inspect.getsource(inspect.getmodule(rule.check) or rule.check))
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    caught = {ast.unparse(node.type) for node in handlers if node.type is not None}
    assert not caught & {"Exception", "BaseException"}
    assert all(node.type is not None for node in handlers)
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {
        name for name in imported if name and name.startswith(("bot.core.rules", "bot.kube", "bot.render", "bot.slack"))
    }


@pytest.mark.parametrize("rule", RULES, ids=each)
def test_tested_for_firing_and_for_a_near_miss(rule: Rule) -> None:
    path = HERE / "rules" / f"test_{rule.slug.replace('-', '_')}.py"
    assert path.is_file(), f"{path.name} is missing"
    names = _functions(path)
    assert any(name.startswith("test_fires") for name in names)
    assert any(name.startswith("test_near_miss") for name in names)


def test_every_test_of_a_rule_is_about_a_rule() -> None:
    found = {path.stem.removeprefix("test_").replace("_", "-") for path in (HERE / "rules").glob("test_*.py")}
    assert found <= set(BY_SLUG)


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
