"""The line, the moment by which enough is released, and what an eviction's text says."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core import objects as o
from bot.core.facts.order import job_of, must_end, priority_of, queued_at, verdict_text
from bot.core.facts.preemption import preemptor_of
from tests.clusters import Cluster, recorded

NOW = datetime(2026, 11, 30, 15, tzinfo=UTC)


def _workload(**changes: Any) -> o.Workload:
    return o.Workload(**changes)


def test_priority_counts_the_boost() -> None:
    boosted = _workload(
        metadata=o.Meta(annotations={"kueue.x-k8s.io/priority-boost": "-3"}), spec=o.WorkloadSpec(priority=10)
    )
    assert priority_of(boosted) == 7
    assert priority_of(_workload(metadata=o.Meta(annotations={"kueue.x-k8s.io/priority-boost": "many"}))) == 0


@pytest.mark.parametrize(
    ("reason", "status", "moved"),
    [("PodsReadyTimeout", "True", True), ("AdmissionCheck", "True", True), ("Preempted", "True", False),
     ("PodsReadyTimeout", "False", False)],
)  # fmt: skip
def test_the_queue_timestamp_moves_with_some_evictions(*, reason: str, status: str, moved: bool) -> None:
    created = datetime(2026, 11, 30, 14, tzinfo=UTC)
    evicted = o.Condition("Evicted", status, reason, last_transition_time=NOW)
    workload = _workload(metadata=o.Meta(creation_timestamp=created), status=o.WorkloadStatus(conditions=(evicted,)))
    assert queued_at(workload) == (NOW if moved else created)


@pytest.mark.parametrize(
    ("reason", "text", "verdict"),
    [
        ("Pending", "couldn't assign flavors to pod set main: x", True),
        ("Inadmissible", "LocalQueue q doesn't exist", False),
        ("Pending", "Bypassed scheduling evaluation because an equivalent workload recently failed", False),
        ("OnHold", "Job is on hold", False),
        ("Pending", "Exceeded the PodsReady timeout a/b", False),
    ],
)
def test_only_a_verdict_of_the_scheduler_counts(*, reason: str, text: str, verdict: bool) -> None:
    conditions = (
        o.Condition("QuotaReserved", "False", reason, text),
        o.Condition("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout a/b"),
    )
    assert bool(verdict_text(_workload(status=o.WorkloadStatus(conditions=conditions)))) is verdict


def test_who_preempted() -> None:
    text = (
        "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to reclamation within the cohort;"
        " preemptor path: /root/a; preemptee path: /root/b"
    )
    found = preemptor_of(text)
    assert (found.uid, found.job_uid, found.why, found.path) == ("u1", "j1", "reclamation within the cohort", "/root/a")
    assert (
        preemptor_of(
            "Evicted to accommodate a workload (UID: u2) due to migration to more favorable resource flavor"
        ).uid
        == "u2"
    )
    assert preemptor_of("something else").uid == ""


def test_job_of_a_workload_without_owner() -> None:
    annotations = {"kueue.x-k8s.io/job-owner-gvk": "apps/v1, Kind=StatefulSet", "kueue.x-k8s.io/job-owner-name": "web"}
    assert job_of(_workload(metadata=o.Meta(name="w", annotations=annotations))) == ("StatefulSet", "web")
    assert job_of(_workload(metadata=o.Meta(name="w"))) == ("Workload", "w")


def test_must_end_counts_what_was_used_before() -> None:
    admitted = (o.Condition("Admitted", "True", "Admitted", last_transition_time=NOW),)
    spec = o.WorkloadSpec(maximum_execution_time_seconds=3600)
    status = o.WorkloadStatus(conditions=admitted, accumulated_past_execution_time_seconds=600)
    end = must_end(_workload(spec=spec, status=status))
    assert end is not None
    assert (end - NOW).total_seconds() == 3000
    assert must_end(_workload(status=status)) is None


def _limited(cluster: Cluster, seconds: int) -> Cluster:
    holder = cluster.named("Workload", "job-holder")
    return cluster.edit("Workload", holder, {"spec": {"maximumExecutionTimeSeconds": seconds}})


def test_release_window() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    assert cluster.facts("team-a/train").order.release_window is None
    window = _limited(cluster, 7200).facts("team-a/train").order.release_window
    assert window is not None
    admitted = next(
        c for c in cluster.get("Workload", cluster.named("Workload", "job-holder"))["status"]["conditions"]
        if c["type"] == "Admitted"
    )  # fmt: skip
    start = datetime.fromisoformat(admitted["lastTransitionTime"])
    assert (window.earliest - start).total_seconds() == 7200
    assert window.latest == window.earliest
    assert (window.resource, window.short) == ("nvidia.com/gpu", 2)
    assert "holder" in window.basis


def test_release_window_past_its_end_is_now() -> None:
    facts = _limited(recorded("v0.19.2/quota-in-use"), 1).facts("team-a/train")
    window = facts.order.release_window
    assert window is not None
    assert window.earliest == facts.now


def test_the_line_counts_those_that_stand_in_it() -> None:
    cluster = recorded("v0.19.2/strict-fifo-head-blocks")
    big = cluster.named("Workload", "job-big")
    for patch in (
        {"spec": {"active": False}},
        {"metadata": {"annotations": {"kueue.x-k8s.io/admission-gated-by": "somebody"}}},
        {"status": {"requeueState": {"requeueAt": "2026-11-30T15:53:13Z"}}},
    ):
        line = cluster.edit("Workload", big, patch).facts("team-a/train").order.line
        assert (line.position, line.total) == (0, 1)
    line = cluster.facts("team-a/train").order.line
    assert (line.position, line.total) == (1, 2)
    assert [(job.namespace, job.job) for job in line.jobs] == [("team-a", "Job/big")]


def test_the_line_comes_from_visibility_where_the_others_were_not_read() -> None:
    cluster = recorded("v0.19.2/strict-fifo-head-blocks")
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    line = cluster.unread("workloads").add(own).facts("team-a/train").order.line
    assert (line.position, line.total) == (1, 2)
    assert line.jobs == ()


def test_release_window_of_those_before_it() -> None:
    """It fits alone; with what the Workload before it takes, the holder has to end first."""
    cluster = recorded("v0.19.2/strict-fifo-head-blocks")
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    three = {"conditions": [], "resourceRequests": [{"name": "main", "resources": {"cpu": "3"}}]}
    cluster = cluster.edit("Workload", cluster.named("Workload", "job-big"), {"status": three})
    facts = _limited(cluster, 3600).facts("team-a/train")
    window = facts.order.release_window
    assert window is not None
    assert (window.short, window.earliest) == (0, facts.now)
    assert window.latest == datetime(2026, 11, 30, 15, 53, 6, tzinfo=UTC)
    answer = _limited(cluster, 3600).ask("team-a/train")
    assert answer.headline.rule == "behind-in-queue"
    assert any("2026-11-30 15:53 UTC" in step.do for step in answer.headline.next)
