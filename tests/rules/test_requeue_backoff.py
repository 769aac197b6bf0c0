"""The Workload waits out a pause."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "requeue-backoff"


def test_fires() -> None:
    answer = recorded("cases/P36").ask("ml-a/img-1")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "queued again at 2026-01-01 10:08 UTC, in 3 minutes" in said
    assert "evicted 3 times (PodsReadyTimeout" in said
    assert "registry.example/app:1" in said
    assert "manifest unknown" in said
    assert finding(answer, RULE).data == {"until": "2026-01-01T10:08:00Z"}


def test_every_version() -> None:
    for version in ("v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08"):
        answer = recorded(f"{version}/pods-ready-timeout-backoff").ask("team-a/train")
        assert answer.headline.rule == RULE, version
        assert "evicted once" in sentence(answer, RULE), version


def test_another_job_with_a_longer_name_is_not_to_blame() -> None:
    cluster = recorded("cases/P36")
    other = cluster.get("Job", "img-1")
    other["metadata"] |= {"name": "img-1-q8k2c", "uid": "other"}
    said = sentence(cluster.add(other).ask("ml-a/img-1"), RULE)
    assert "manifest unknown" not in said


def test_a_check_that_asked_for_a_new_try() -> None:
    cluster = recorded("cases/P36").condition(
        "Workload",
        "job-img-1-16080",
        type="Evicted",
        status="True",
        reason="AdmissionCheck",
        message='Evicted due to AdmissionCheck in Retry state: "budget" (come back later)',
    )
    said = sentence(cluster.ask("ml-a/img-1"), RULE)
    assert 'AdmissionCheck budget asked for a new try: "come back later"' in said
    assert "manifest unknown" not in said


def test_near_miss() -> None:
    over = recorded("cases/P36").at("2026-01-01T10:09:00Z")
    assert RULE not in fired(over.ask("ml-a/img-1"))
    off = recorded("cases/P36").edit("Workload", "job-img-1-16080", {"spec": {"active": False}})
    assert RULE not in fired(off.ask("ml-a/img-1"))
