"""The Workload used up the time it may run."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import sentence

RULE = "deactivated-max-execution-time"


def _cluster(*, active: bool) -> Cluster:
    cluster = recorded("v0.19.2/deactivated-by-user")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.condition(
        "Workload",
        name,
        type="Evicted",
        status="True",
        reason="DeactivatedDueToMaximumExecutionTimeExceeded",
        message="The workload is deactivated due to exceeding the maximum execution time",
    )
    patch = {"spec": {"active": active, "maximumExecutionTimeSeconds": 7200}}
    return cluster.edit("Workload", name, patch | {"status": {"accumulatedPastExecutionTimeSeconds": 600}})


def test_fires() -> None:
    answer = _cluster(active=False).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "longer than the 2 hours it may (all its runs together took 10 minutes)" in sentence(answer, RULE)


def test_near_miss() -> None:
    assert RULE not in fired(_cluster(active=True).ask("team-a/train"))
    assert RULE not in fired(recorded("v0.19.2/deactivated-by-user").ask("team-a/train"))
