"""It had to make room for another Workload."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "was-preempted"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.13.8", "v0.16.9", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/preempted").ask("team-a/train")
    said = sentence(answer, RULE)
    assert "by Job team-a/vip: it has priority in the same ClusterQueue" in said
    assert finding(answer, "was-evicted").data["reason"] == "Preempted"


def test_a_preemptor_that_is_gone() -> None:
    cluster = recorded("v0.19.2/preempted")
    cluster = cluster.drop("Workload", cluster.named("Workload", "job-vip")).drop("Job", "vip")
    said = sentence(cluster.ask("team-a/train"), RULE)
    assert "by a Workload that is gone or could not be read (of ClusterQueue gpu-cq)" in said


def test_near_miss() -> None:
    assert RULE not in fired(recorded("cases/P36").ask("ml-a/img-1"))
    assert RULE not in fired(recorded("v0.19.2/preempted").ask("team-a/vip"))
