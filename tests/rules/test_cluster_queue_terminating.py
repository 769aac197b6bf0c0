"""The ClusterQueue is being deleted."""

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "cluster-queue-terminating"


def test_fires() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit(
        "ClusterQueue", "gpu-cq", {"metadata": {"deletionTimestamp": "2026-11-30T14:00:00Z"}}
    )
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "since 2026-11-30 14:00 UTC" in said
    assert "1 Workload still holds its quota" in said


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
    reserved = recorded("v0.19.2/check-pending").edit(
        "ClusterQueue", "gpu-cq", {"metadata": {"deletionTimestamp": "2026-11-30T14:00:00Z"}}
    )
    assert RULE not in fired(reserved.ask("team-a/train"))
