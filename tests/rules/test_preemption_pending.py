"""Victims are named only while they still hold their quota, and only those that are meant for this Workload."""

import pytest

from tests.clusters import fired, recorded

VERSIONS = ("v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08")
OTHERS = (
    "Preempted to accommodate a workload (UID: 11111111-0000-0000-0000-000000000000)"
    " due to prioritization in the ClusterQueue"
)


@pytest.mark.parametrize("version", VERSIONS)
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/preemption-pending").ask("team-a/train")
    assert answer.headline.rule == "preemption-pending"
    assert answer.headline.certainty == "certain"
    assert answer.outlook == "in-progress"
    assert "victim" in answer.headline.sentence
    assert "prioritization in the ClusterQueue" in answer.headline.sentence


def test_near_miss_when_the_victim_has_gone() -> None:
    cluster = recorded("v0.19.2/preemption-pending")
    victim = cluster.named("Workload", "pytorchjob-victim")
    gone = cluster.condition(
        "Workload", victim, type="QuotaReserved", status="False", reason="Pending", message="Preempted"
    )
    assert "preemption-pending" not in fired(
        gone.edit("Workload", victim, {"status": {"admission": None}}).ask("team-a/train")
    )


def test_near_miss_when_it_goes_for_somebody_else() -> None:
    cluster = recorded("v0.19.2/preemption-pending")
    victim, own = cluster.named("Workload", "pytorchjob-victim"), cluster.named("Workload", "job-train")
    text = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 2 more needed"
    cluster = cluster.condition("Workload", own, type="QuotaReserved", status="False", reason="Pending", message=text)
    for kind, reason in (("Evicted", "Preempted"), ("Preempted", "InClusterQueue")):
        cluster = cluster.condition("Workload", victim, type=kind, status="True", reason=reason, message=OTHERS)
    assert "preemption-pending" not in fired(cluster.ask("team-a/train"))


def test_reported_when_the_victims_cannot_be_seen() -> None:
    cluster = recorded("v0.19.2/preemption-pending")
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    answer = cluster.unread("workloads").add(own).ask("team-a/train")
    found = next(f for f in (answer.headline, *answer.also) if f.rule == "preemption-pending")
    assert found.certainty == "reported"
    assert "1 Workload" in found.sentence
