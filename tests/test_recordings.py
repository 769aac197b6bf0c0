"""Every recording, case and cohort tree is answered as `expect.yaml` says: through the command line's own path, in process."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.core.quantity import parse
from bot.render import json_v1
from tests.clusters import CASES, RECORDINGS, expectations, recorded

PLACES = ((RECORDINGS, ""), (CASES, "cases/"), (RECORDINGS / "v0.17.0-live", "v0.17.0-live/"))


def _questions() -> list[Any]:
    found = []
    for folder, prefix in PLACES:
        expected = {entry["name"]: entry for entry in expectations(folder)}
        for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
            if path.stem in expected:
                name = prefix + str(path.relative_to(folder)).removesuffix(".json")
                found.append(pytest.param(name, expected[path.stem], id=name))
    return found


def test_every_expectation_has_a_recording() -> None:
    for folder, _ in PLACES:
        stems = {path.stem for path in Path(folder).rglob("*.json")}
        assert {entry["name"] for entry in expectations(folder)} <= stems


def answer(name: str, ask: str, kind: str = "") -> tuple[Diagnosis, dict[str, Any]]:
    diagnosis = recorded(name).ask(ask, kind)
    namespace = ask.partition("/")[0]
    loaded: dict[str, Any] = json.loads(json_v1.dump(disclose(diagnosis, Audience("all", namespace))))
    return diagnosis, loaded


def _equal(got: str | None, wanted: str) -> bool:
    return got is not None and parse(got) == Decimal(parse(wanted))


@pytest.mark.parametrize(("name", "expected"), _questions())
def test_answer(name: str, expected: dict[str, Any]) -> None:
    diagnosis, document = answer(name, expected["ask"], expected.get("kind", ""))
    assert not diagnosis.faults
    wants = expected.get("wants", [])
    right = [*expected["headline"], *([wants] if isinstance(wants, str) else wants)]
    headline = document["headline"]["rule"]
    assert headline in right
    assert headline not in expected.get("avoid", [])
    if headline in expected["headline"]:
        assert document["stage"] in expected["stage"]
    rules = {headline} | {finding["rule"] for part in ("also", "context") for finding in document[part]}
    assert {*expected.get("also", []), *expected.get("context", [])} <= rules
    assert expected.get("pods", {}).items() <= (document["pods"] or {}).items()
    for wanted in expected.get("quota", []):
        rows = [row for row in document["quota"] if row["resource"] == wanted["resource"]]
        assert any(
            all(_equal(row[key], value) for key, value in wanted.items() if key != "resource") for row in rows
        ), f"{wanted} is not among {rows}"
    text = json.dumps(document, ensure_ascii=False).lower()
    assert not [mention for mention in expected.get("mentions", []) if mention.lower() not in text]
    assert not [part for part in expected.get("without", []) if part.lower() in text]
    assert document["complete"] or document["notChecked"]
