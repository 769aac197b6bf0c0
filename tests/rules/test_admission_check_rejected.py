"""A check said no for good; Kueue resets its state, so the words come from the eviction or from events."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "admission-check-rejected"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/check-rejected").ask("team-a/train")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert 'AdmissionCheck budget rejected it: "over the yearly budget"' in said
    assert "Kueue deactivated the Workload" in said


def test_rejected_now() -> None:
    cluster = recorded("v0.19.2/check-pending")
    name = cluster.named("Workload", "job-train")
    states = [{"name": "budget", "state": "Rejected", "message": "no money", "lastTransitionTime": cluster.now}]
    answer = cluster.edit("Workload", name, {"status": {"admissionChecks": states}}).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "no money" in sentence(answer, RULE)


def test_near_miss() -> None:
    cluster = recorded("v0.19.2/check-rejected")
    name = cluster.named("Workload", "job-train")
    assert RULE not in fired(cluster.edit("Workload", name, {"spec": {"active": True}}).ask("team-a/train"))
    assert RULE not in fired(recorded("v0.19.2/check-pending").ask("team-a/train"))
