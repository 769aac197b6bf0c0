"""What Kueue said and when: verdicts told from evictions, ages of texts, events."""

from datetime import UTC, datetime

import pytest

from tests.causes.world import World, admission, admitted, asked, condition, pod, workload
from tests.clusters import Cluster, recorded


@pytest.mark.parametrize(
    ("scenario", "verdict"),
    [
        ("quota-in-use", True),
        ("flavor-taint", True),
        ("namespace-selector", True),
        ("requests-above-limits", True),
        ("local-queue-hold", False),
        ("pods-ready-timeout-backoff", False),
        ("cluster-queue-drained", False),
        ("blocked-until-pods-ready", False),
        ("check-pending", False),
    ],
)
def test_verdicts(scenario: str, *, verdict: bool) -> None:
    assert recorded(f"v0.19.2/{scenario}").facts("team-a/train").history.is_verdict is verdict


def _unknown_text(reason: str) -> Cluster:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    return cluster.condition("Workload", name, type="QuotaReserved", status="False", reason=reason, message="brand new")


def test_a_text_that_nobody_knows() -> None:
    assert _unknown_text("WaitingForQuota").facts("team-a/train").history.is_verdict
    assert not _unknown_text("Suspended").facts("team-a/train").history.is_verdict
    cluster = _unknown_text("Pending")
    name = cluster.named("Workload", "job-train")
    evicted = cluster.condition("Workload", name, type="Evicted", status="True", reason="New", message="brand new")
    assert not evicted.facts("team-a/train").history.is_verdict


def test_kueue_said() -> None:
    said = recorded("cases/P15").ask("ml-a/fr-131").kueue_said
    assert said is not None
    assert said.text.endswith("in flavor flavor3, 4 more needed")
    assert said.reason == "Pending"
    assert said.since == datetime(2024, 3, 12, 14, 23, 47, tzinfo=UTC)
    assert said.last_seen == datetime(2024, 3, 12, 14, 44, 30, tzinfo=UTC)


def test_kueue_said_of_a_check_and_of_a_running_job() -> None:
    check = recorded("v0.19.2/check-pending").ask("team-a/train").kueue_said
    assert check is not None
    assert (check.text, check.reason) == ("waiting for a budget owner to approve", "Pending")
    running = recorded("v0.19.2/running").ask("team-a/train").kueue_said
    assert running is not None
    assert running.text == "The workload is admitted"
    assert recorded("v0.19.2/kueue-down").ask("team-a/train").kueue_said is None


def test_a_cut_event_still_counts_as_a_repetition() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    facts = cluster.facts("team-a/train")
    long = "x" * 1100
    name = cluster.named("Workload", "job-train")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "long", "namespace": "team-a"},
        "involvedObject": {
            "kind": "Workload",
            "namespace": "team-a",
            "name": name,
            "uid": facts.identity.want().metadata.uid,
        },
        "message": long[:1020] + " ...",
        "lastTimestamp": "2026-11-30T14:00:00Z",
    }
    history = cluster.add(event).facts("team-a/train").history
    workload = facts.identity.want()
    assert history.last_repeated(workload, long) == datetime(2026, 11, 30, 14, tzinfo=UTC)
    assert history.last_repeated(workload, "y" * 1100) is None


def test_events_are_in_order_and_about_the_right_object() -> None:
    facts = recorded("v0.19.2/preempted").facts("team-a/train")
    events = facts.history.events_about(facts.identity.want())
    assert [event.reason for event in events][:2] == ["QuotaReserved", "Admitted"]
    times = [event.last_seen for event in events if event.last_seen is not None]
    assert times == sorted(times)
    assert {event.involved_object.name for event in events} == {facts.identity.want().name}


def test_last_look() -> None:
    look = recorded("v0.19.2/preempted").facts("team-a/train").history.last_look
    assert look is not None
    assert look.replace(microsecond=0) == datetime(2026, 11, 30, 14, 54, 10, tzinfo=UTC)


def test_queue_facts_of_a_reserved_workload_follow_its_admission() -> None:
    cluster = recorded("v0.19.2/check-pending").unread("localqueues")
    queue = cluster.facts("team-a/train").queue
    assert queue.cluster_queue_name == "gpu-cq"
    assert queue.cluster_queue is not None
    assert queue.flavor_names == ("default",)


def test_a_newer_kueues_count_of_scheduled_pods_is_its_last_word() -> None:
    """PodsScheduled (0.20) says how many pods the scheduler has placed: more than that the Workload is admitted."""
    counted = condition("PodsScheduled", "False", "WaitForScheduling", "1 of 2 pods scheduled")
    job, loads = asked(*admitted(), counted, status=admission())
    said = World(kueue="v0.20.4").ask(job, loads, pod(job, 0)).kueue_said
    assert said is not None
    assert (said.text, said.reason) == ("1 of 2 pods scheduled", "WaitForScheduling")
    said = World(kueue="v0.20.4").ask(job, workload(job, *admitted(), status=admission()), pod(job, 0)).kueue_said
    assert said is not None
    assert said.text == "The workload is admitted"
