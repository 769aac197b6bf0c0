"""Others have borrowed the own quota."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/cohort-exhausted").ask("team-a/train")
    assert answer.headline.rule == "quota-lent-out"
    assert (answer.outlook, answer.move) == ("wait", "queue-admin")
    sentence = show(answer.headline.sentence, plain)
    assert "Needs 2 more nvidia.com/gpu in flavor a100" in sentence
    assert "uses 0 of its own 4, and none of the other 4 is free: others borrow it" in sentence
    assert "b-cq borrows 4" in sentence
    assert "team-b/borrower holds 8" in sentence
    assert "reclaiming is off (reclaimWithinCohort: Never)" in sentence
    assert [(entry.job, entry.cluster_queue) for entry in answer.holders] == [("Job/borrower", "b-cq")]


def test_reclaiming_is_on() -> None:
    allowed = {"spec": {"preemption": {"reclaimWithinCohort": "LowerPriority"}}}
    answer = recorded("v0.19.2/cohort-exhausted").edit("ClusterQueue", "a-cq", allowed).ask("team-a/train")
    assert answer.headline.rule == "quota-lent-out"
    assert "reclaiming is on (reclaimWithinCohort: LowerPriority)" in answer.headline.sentence
    assert "lendingLimit" in answer.headline.next[0].do


def test_near_miss() -> None:
    """The same request beyond the own quota depends on the cohort: nobody holds what is its own."""
    cluster = recorded("v0.19.2/cohort-exhausted")
    name = cluster.named("Workload", "job-train")
    more = {"status": {"resourceRequests": [{"name": "main", "resources": {"nvidia.com/gpu": "5"}}]}}
    answer = cluster.edit("Workload", name, more).ask("team-a/train")
    assert answer.headline.rule == "cohort-exhausted"
    assert "quota-lent-out" not in fired(answer)
