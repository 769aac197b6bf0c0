"""Lent quota is not taken back."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/cohort-exhausted").ask("team-a/train")
    (context,) = [finding for finding in answer.context if finding.rule == "reclaim-disabled"]
    assert "reclaimWithinCohort is Never" in context.sentence


def test_near_miss() -> None:
    allowed = {"spec": {"preemption": {"reclaimWithinCohort": "Any"}}}
    cluster = recorded("v0.19.2/cohort-exhausted")
    assert "reclaim-disabled" not in fired(cluster.edit("ClusterQueue", "a-cq", allowed).ask("team-a/train"))
    assert "reclaim-disabled" not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
