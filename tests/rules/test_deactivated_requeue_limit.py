"""Kueue gave up after too many evictions for pods that were not ready."""

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "deactivated-requeue-limit"


def test_fires() -> None:
    answer = recorded("cases/P37").ask("ml-a/deact")
    assert answer.headline.rule == RULE
    assert "not ready in time 3 times" in sentence(answer, RULE)


def test_older_vocabulary() -> None:
    cluster = recorded("cases/P37")
    reason = "InactiveWorkloadRequeuingLimitExceeded"
    cluster = cluster.condition(
        "Workload", "job-deact-22910", type="Evicted", status="True", reason=reason, message="x"
    )
    cluster = cluster.condition(
        "Workload", "job-deact-22910", type="Requeued", status="False", reason=reason, message="x"
    )
    assert cluster.ask("ml-a/deact").headline.rule == RULE


def test_near_miss() -> None:
    cluster = recorded("cases/P37").edit("Workload", "job-deact-22910", {"spec": {"active": True}})
    answer = cluster.ask("ml-a/deact")
    assert RULE not in fired(answer)
    assert "reactivation-ignored" in fired(answer)
