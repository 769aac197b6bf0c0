"""The cohorts above the ClusterQueue form a ring, whatever the ClusterQueue says."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence

RULE = "cohort-cycle"


def _cohort(name: str, parent: str) -> dict[str, object]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Cohort",
        "metadata": {"name": name},
        "spec": {"parentName": parent} if parent else {},
    }


def _cluster(*cohorts: dict[str, object]) -> Cluster:
    cluster = recorded("v0.19.2/quota-in-use").edit("ClusterQueue", "gpu-cq", {"spec": {"cohortName": "left"}})
    return cluster.add(*cohorts)


def test_fires() -> None:
    answer = _cluster(_cohort("left", "right"), _cohort("right", "left")).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "form a ring, left → right → left" in sentence(answer, RULE)


def test_a_ring_above_and_a_cohort_that_is_its_own_parent() -> None:
    above = _cluster(_cohort("left", "top"), _cohort("top", "top")).ask("team-a/train")
    assert above.headline.rule == RULE
    assert "top → top" in sentence(above, RULE)


def test_unread_cohorts_leave_the_condition() -> None:
    cluster = _cluster().unread("cohorts")
    assert RULE in {entry.rule for entry in cluster.ask("team-a/train").not_checked}
    told = cluster.condition(
        "ClusterQueue", "gpu-cq", type="Active", status="False", reason="CohortCycleDetected", message="cohort cycle"
    )
    assert finding(told.ask("team-a/train"), RULE).certainty == "reported"


def test_a_queue_that_is_inactive_for_no_reason_of_its_own() -> None:
    """Kueue 0.17 writes Active=False and, as the reason, that it can admit."""
    ring = _cluster(_cohort("left", "right"), _cohort("right", "left"))
    answer = ring.condition(
        "ClusterQueue", "gpu-cq", type="Active", status="False", reason="Ready", message="Can admit new workloads"
    ).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "cluster-queue-misconfigured" not in fired(answer)


def test_near_miss() -> None:
    assert RULE not in fired(_cluster(_cohort("left", "right"), _cohort("right", "")).ask("team-a/train"))
    assert RULE not in fired(_cluster(_cohort("left", "right")).ask("team-a/train"))
    assert RULE not in fired(_cluster(_cohort("a", "b"), _cohort("b", "a")).ask("team-a/train"))
