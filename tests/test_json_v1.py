"""JSON v1 keeps its promise: every answer is what `whypending schema` says, canonical, and nothing was renamed."""

import json
import re
from datetime import datetime
from typing import Any

import jsonschema
import pytest

from bot.core.disclosure import Audience, disclose
from bot.render import json_v1
from tests import answers

V1 = {
    "Answer": "version asked cluster job stage admitted outlook move headline also context notChecked complete chain quota"
    " holders ahead pods kueueSaid withheld versions observedAt",
    "Job": "apiVersion kind namespace name",
    "Finding": "rule certainty sentence subjects evidence next data",
    "Evidence": "subject field value source",
    "Step": "move do command",
    "NotChecked": "rule reason",
    "ChainLink": "kind namespace name state ok links",
    "QuotaRow": "podSets flavor resource requested nominal used available capacity short verdict why limit",
    "Holder": "namespace job workload clusterQueue flavor resource amount since",
    "Ahead": "position total jobs",
    "AheadJob": "namespace job why",
    "Pods": "wanted created scheduled running",
    "KueueSaid": "text reason since lastSeen",
    "Withheld": "level namespaces",
    "Versions": "kueue kubernetes api",
}
"""The fields of v1. Fields may be added here, never taken away or renamed."""


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json_v1.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _document(answer: Any, namespace: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json_v1.dump(disclose(answer, Audience("all", namespace))))
    return loaded


@pytest.mark.parametrize("name", answers.questions())
def test_every_answer_is_as_the_schema_says(name: str, validator: jsonschema.Draft202012Validator) -> None:
    document = _document(answers.answered(name)[0], answers.namespace(name))
    assert [error.message for error in validator.iter_errors(document)] == []


def test_no_promised_field_is_missing_from_the_schema() -> None:
    definitions = json_v1.schema()["$defs"]
    for name, fields in V1.items():
        assert set(fields.split()) <= set(definitions[name]["properties"]), name
        assert set(fields.split()) <= set(definitions[name]["required"]), name
        for field, about in definitions[name]["properties"].items():
            assert about.get("description") or "$ref" in about or "anyOf" in about, f"{name}.{field} is not described"


def test_the_whole_document_in_the_public_form(validator: jsonschema.Draft202012Validator) -> None:
    document = _document(answers.full(), "team-a")
    validator.validate(document)
    row = document["quota"][0]
    assert row["podSets"] == ["main"]
    assert (row["requested"], row["used"], row["short"], row["verdict"]) == ("4", "6", "2", "wait")
    assert row["limit"] == "ClusterQueue/gpu-cq nominalQuota"
    assert document["quota"][1]["requested"] == "1500m"
    assert document["quota"][3]["nominal"] == "8Gi"
    assert document["quota"][2]["nominal"] is None
    assert document["observedAt"] == "2026-11-30T14:52:11Z"
    assert document["holders"][0]["since"] == "2026-11-30T11:52:11Z"
    assert document["chain"][2]["namespace"] is None
    assert document["headline"]["subjects"][2] == "Workload/team-b/job-secret-b-1a2b3"
    assert document["headline"]["data"]["holders"] == ["team-b/job-secret-b-1a2b3", "job-mine-0c0c0"]
    assert document["headline"]["next"][2]["command"] == "kubectl get workload job-secret-b-1a2b3 -n team-b"
    assert document["withheld"] == {"level": "all", "namespaces": 0}


def test_nothing_marked_is_left_in_the_document() -> None:
    text = json_v1.dump(disclose(answers.full(), Audience("all", "team-a")))
    assert not re.search("[\ue000-\ue003]", text)


@pytest.mark.parametrize(
    "value", [{"stage": "somewhere"}, {"outlook": "maybe"}, {"observedAt": "yesterday"}, {"headline": None}]
)
def test_the_schema_refuses_what_was_not_promised(
    value: dict[str, Any], validator: jsonschema.Draft202012Validator
) -> None:
    document = _document(answers.full(), "team-a") | value
    assert not validator.is_valid(document)


def test_times_are_in_utc_whatever_the_zone() -> None:
    moment = datetime.fromisoformat("2026-11-30T15:52:11.5+01:00")
    assert _document(answers.full(observed_at=moment), "team-a")["observedAt"] == "2026-11-30T14:52:11Z"


def test_odd_data_of_a_rule_still_becomes_json() -> None:
    answer = answers.full()
    from dataclasses import replace

    headline = replace(
        answer.headline, data={"until": answers.NOW, "names": {"b", "a"}, "many": (1, None, True), "other": 1j}
    )
    data = _document(replace(answer, headline=headline), "team-a")["headline"]["data"]
    assert data == {"until": "2026-11-30T14:52:11Z", "names": ["a", "b"], "many": [1, None, True], "other": "1j"}
