"""It had quota before and lost it."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "was-evicted"


def test_fires() -> None:
    answer = recorded("cases/P36").ask("ml-a/img-1")
    assert sentence(answer, RULE) == (
        "Workload ml-a/job-img-1-16080 was evicted 1 minute ago (PodsReadyTimeout, WaitForStart, 3 times in all)."
    )
    assert finding(answer, RULE).data == {"reason": "PodsReadyTimeout", "at": "2026-01-01T10:04:00Z", "count": 3}


def test_an_earlier_eviction_of_what_runs_again() -> None:
    cluster = recorded("v0.19.2/running")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.condition(
        "Workload",
        name,
        type="Evicted",
        status="False",
        reason="QuotaReserved",
        message=f"Previously: Exceeded the PodsReady timeout team-a/{name}",
    )
    found = finding(cluster.ask("team-a/train"), RULE)
    assert found.data == {"reason": "PodsReadyTimeout", "at": None, "count": 1}


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
