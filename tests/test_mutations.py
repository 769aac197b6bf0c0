"""Whatever a cluster says, the answer never breaks, never gets surer by knowing less, never depends on names or order."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.diagnosis import Diagnosis
from tests.clusters import CASES, RECORDINGS, Cluster, expectations, fired, recorded

_ORDERED = {
    "podSets",
    "flavors",
    "levels",
    "topologyAssignment",
    "resourceGroups",
    "coveredResources",
    "values",
    "valuesPerLevel",
}
"""Lists whose order is meaning in the API."""

_ODD: tuple[Any, ...] = (None, True, -1, 3, 2.5, "", "Whatever", "0", [], {}, ["x"], {"x": "y"}, 10**30, "9" * 40)

_ALL_CLEAR = {"running", "finished"}


def _questions() -> list[Any]:
    found = []
    for folder, prefix in ((RECORDINGS, ""), (CASES, "cases/")):
        expected = {entry["name"]: entry for entry in expectations(folder)}
        for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
            if path.stem in expected and path.parent.name in {"cases", "v0.19.2", "v0.10.6", "main-2026-08"}:
                entry = expected[path.stem]
                name = prefix + str(path.relative_to(folder)).removesuffix(".json")
                found.append(pytest.param(name, entry["ask"], entry.get("kind", ""), id=name))
    return found


QUESTIONS = _questions()


def essence(answer: Diagnosis) -> tuple[Any, ...]:
    """What must not depend on order: everything but texts that list things as they came."""
    numbers = sorted(
        (row.flavor, row.resource, row.requested, row.available, row.capacity, row.verdict) for row in answer.quota
    )
    return (
        answer.headline.rule,
        answer.stage,
        answer.outlook,
        answer.move,
        fired(answer),
        numbers,
        answer.pods,
        answer.complete,
    )


def shuffled(value: Any, rng: random.Random, key: str = "") -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {k: shuffled(value[k], rng, k) for k in keys}
    if isinstance(value, list):
        items = [shuffled(entry, rng) for entry in value]
        if key not in _ORDERED:
            rng.shuffle(items)
        return items
    return value


@pytest.mark.parametrize(("name", "ask", "kind"), QUESTIONS)
def test_order_does_not_matter(name: str, ask: str, kind: str) -> None:
    cluster = recorded(name)
    wanted = essence(cluster.ask(ask, kind))
    for seed in range(3):
        rng = random.Random(f"{name} {seed}")
        first, *rest = shuffled(list(cluster.items), rng)
        items = [item for item in (first, *rest) if item["kind"] == "Recording"]
        items += [item for item in (first, *rest) if item["kind"] != "Recording"]
        assert essence(Cluster(tuple(items)).ask(ask, kind)) == wanted


@pytest.mark.parametrize(("name", "ask", "kind"), QUESTIONS)
def test_reading_less_never_makes_an_answer_more_certain(name: str, ask: str, kind: str) -> None:
    cluster = recorded(name)
    whole = cluster.ask(ask, kind)
    for resource in cluster.items[0]["read"]:
        plural = resource.rpartition("/")[2]
        less = cluster.unread(plural).ask(ask, kind)
        assert not less.faults, plural
        if whole.outlook not in _ALL_CLEAR:
            assert less.outlook not in _ALL_CLEAR, plural
        if not whole.complete:
            assert not less.complete, plural
        if less.headline.rule != whole.headline.rule:
            assert not less.complete, f"without {plural}: {less.headline.rule}, and it claims to be complete"
            assert less.not_checked


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from _paths(entry, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], new: Any, *, delete: bool) -> Any:
    key, rest = path[0], path[1:]
    copied = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copied[key] = _changed(copied[key], rest, new, delete=delete)
    elif delete:
        del copied[key]
    else:
        copied[key] = new
    return copied


def mutated(cluster: Cluster, rng: random.Random) -> Cluster:
    """One to three random changes: an object or field deleted, or a value replaced by another type or an unknown word."""
    items: list[Any] = list(cluster.items)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(1, len(items))
        if rng.random() < 0.2 and len(items) > 2:
            del items[at]
            continue
        if not isinstance(items[at], dict):
            continue
        path = rng.choice(list(_paths(items[at])))
        items[at] = _changed(items[at], path, rng.choice(_ODD), delete=rng.random() < 0.4)
    return replace(cluster, items=tuple(items))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ask", "kind"), QUESTIONS)
def test_ten_thousand_mutations(name: str, ask: str, kind: str) -> None:
    cluster = recorded(name)
    whole = cluster.ask(ask, kind)
    each = 10_000 // len(QUESTIONS) + 1
    for seed in range(each):
        rng = random.Random(f"{name} {seed}")
        answer = mutated(cluster, rng).ask(ask, kind)
        assert not answer.faults, (seed, answer.faults)
        if whole.outlook not in _ALL_CLEAR:
            assert answer.outlook not in _ALL_CLEAR, (seed, answer.headline.sentence)


def renamed(cluster: Cluster, ask: str) -> tuple[Cluster, str]:
    """The same cluster with every name of a namespace, queue, flavor, cohort, job, Workload and node replaced in every text."""
    kinds = {
        "Namespace", "LocalQueue", "ClusterQueue", "ResourceFlavor", "Cohort", "Topology", "AdmissionCheck", "Node",
        "WorkloadPriorityClass", "PersistentVolumeClaim", "ResourceQuota", "LimitRange",
    }  # fmt: skip
    keep = {"default", "kube-system", "kueue-system", "kube-public", "kube-node-lease"}
    names = sorted({item["metadata"]["name"] for item in cluster.items if item["kind"] in kinds} - keep)
    words = {name: f"zq{index}-x{len(name)}" for index, name in enumerate(names)}

    def word(text: str) -> str:
        if text in words:
            return words[text]
        pattern = "|".join(re.escape(name) for name in sorted(words, key=len, reverse=True))
        qualified = r"[a-z0-9-]+(?:\.[a-z0-9-]+)+/[A-Za-z0-9._-]+"  # a label key or an extended resource keeps its name
        whole = rf"{qualified}|(?<![A-Za-z0-9.-])({pattern})(?![A-Za-z0-9-]|\.[a-z0-9])"
        return re.sub(whole, lambda m: words[m[1]] if m[1] else m[0], text)

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {(words.get(k, k)): walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(entry) for entry in value]
        return word(value) if isinstance(value, str) else value

    first = cluster.items[0]
    recording = {**first, "visibility": {word(p): walk(a) for p, a in first["visibility"].items()}}
    namespace, _, name = ask.partition("/")
    return Cluster(
        (recording, *(walk(item) for item in cluster.items[1:]))
    ), f"{words.get(namespace, namespace)}/{words.get(name, name)}"


@pytest.mark.parametrize(("name", "ask", "kind"), [q for q in QUESTIONS if "not-found" not in str(q.id)])
def test_names_do_not_matter(name: str, ask: str, kind: str) -> None:
    cluster = recorded(name)
    other, other_ask = renamed(cluster, ask)
    before, after = cluster.ask(ask, kind), other.ask(other_ask, kind)
    assert after.headline.rule == before.headline.rule
    assert fired(after) == fired(before)


def test_this_file_has_questions() -> None:
    assert len(QUESTIONS) > 200
    assert Path(RECORDINGS).is_dir()
    assert json.loads(recorded("v0.19.2/running").content())["kind"] == "List"
