"""Evicted Workloads, still stopping or waiting again: causes J01 to J15."""

from typing import Any

import pytest

from tests.causes.asked import Asked, condition, says
from tests.clusters import Cluster
from tests.small import holder, queue, small, thing, waiting

GPU, LONG_AGO, JUST_NOW = "nvidia.com/gpu", "2026-01-01T10:00:00Z", "2026-01-01T11:59:30Z"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"
BY = "Preempted to accommodate a workload (UID: other, JobUID: another) due to reclamation within the cohort"
LATE = "Exceeded the PodsReady timeout team-a/job-train"
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "Job-team-a-train", "controller": True}
HELD = {
    "admission": {
        "clusterQueue": "ml-cq",
        "podSetAssignments": [{"name": "main", "count": 1, "flavors": {GPU: "a100"}, "resourceUsage": {GPU: "2"}}],
    }
}
NODE = thing("v1", "Node", "n1", status={"conditions": [{"type": "Ready", "status": "True"}]})


def evicted(
    reason: str, text: str, at: str = LONG_AGO, *more: dict[str, str], busy: int = 6, now: str = "", **status: Any
) -> Cluster:
    """It waits again; `now` is what Kueue says since, `busy` what others hold of 8."""
    cluster = small(
        queue("ml-cq", {"a100": {GPU: 8}}),
        holder("big", "ml-cq", {GPU: ("a100", busy)}),
        waiting("train", nvidia_com__gpu=4),
    )
    quota = condition("QuotaReserved", "False", "Pending", now or text, at)
    return says(cluster, "job-train", condition("Evicted", "True", reason, text, at), quota, *more, status=status)


def stopping(
    reason: str = "Preempted", text: str = BY, at: str = JUST_NOW, *objects: dict[str, Any], spec: Any = None
) -> Cluster:
    """It still holds its quota."""
    has = [condition(kind, "True", kind, "", LONG_AGO) for kind in ("QuotaReserved", "Admitted")]
    cluster = small(queue("ml-cq", {"a100": {GPU: 8}}), NODE, waiting("train", nvidia_com__gpu=2), *objects)
    return says(
        cluster, "job-train", condition("Evicted", "True", reason, text, at), *has, status=HELD, spec=spec or {}
    )


def pod(deleted: str = "", **meta: Any) -> dict[str, Any]:
    found = thing(
        "v1",
        "Pod",
        "train-0",
        "team-a",
        ownerReferences=[JOB],
        labels={"job-name": "train"},
        spec={"nodeName": "n1", "containers": [{"name": "m"}]},
        status={"phase": "Running"},
    )
    found["metadata"] |= {
        **meta,
        **({"deletionTimestamp": deleted, "deletionGracePeriodSeconds": 30} if deleted else {}),
    }
    return found


def requeued(status: str, reason: str, at: str = LONG_AGO) -> dict[str, str]:
    return condition("Requeued", status, reason, "", at)


STOPPED = {"spec": {"stopPolicy": "HoldAndDrain"}}
BACKOFF: dict[str, Any] = {"requeueState": {"count": 2, "requeueAt": "2026-01-01T12:02:00Z"}}
PAST: dict[str, Any] = {"requeueState": {"count": 2, "requeueAt": "2026-01-01T11:00:00Z"}}
OFTEN: dict[str, Any] = {"schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 9}]}}
STILL, WAIT, GOING = "old-pods-still-terminating", "wait", "in-progress"

CASES = {
    "J01": Asked(
        stopping("Preempted", BY, JUST_NOW, pod("2026-01-01T12:00:10Z")),
        STILL,
        GOING,
        ("evicted 30 seconds ago (Preempted)", "1 of its pods has not gone", "within its grace period"),
        ("was-evicted",),
        move="nobody",
        stage="workload",
    ),
    "J01 hangs": Asked(
        stopping("Preempted", BY, LONG_AGO, pod("2026-01-01T10:00:30Z", finalizers=["example.com/hold"])),
        STILL,
        GOING,
        ("held by finalizer example.com/hold",),
        move="platform",
        stage="workload",
    ),
    "J01 J15 nobody stops it": Asked(
        stopping("PodsReadyTimeout", LATE, LONG_AGO, pod()),
        STILL,
        GOING,
        ("nobody has deleted it",),
        move="platform",
        stage="workload",
    ),
    "J01 of a stopped queue": Asked(
        stopping("ClusterQueueStopped", "The ClusterQueue is stopped", JUST_NOW, pod()).edit(
            "ClusterQueue", "ml-cq", STOPPED
        ),
        "cluster-queue-stopped",
        "fix",
        stage="queue",
        never=(STILL,),
    ),
    "J01 J10 deactivated": Asked(
        stopping("Deactivated", "The workload is deactivated", JUST_NOW, pod(), spec={"active": False}),
        "deactivated",
        "fix",
        stage="queue",
        never=(STILL,),
    ),
    "J02": Asked(
        evicted(
            "Preempted",
            BY,
            LONG_AGO,
            condition("Preempted", "True", "InCohortReclamation", BY),
            requeued("True", "Preempted"),
            now=SHORT,
        ),
        "quota-in-use",
        WAIT,
        also=("was-evicted", "was-preempted"),
    ),
    "J02 not looked at since": Asked(
        evicted("Preempted", BY, LONG_AGO, requeued("True", "Preempted")), "quota-in-use", WAIT, also=("was-evicted",)
    ),
    "J03": Asked(
        evicted("PodsReadyTimeout", LATE, JUST_NOW, requeued("False", "PodsReadyTimeout", JUST_NOW), **BACKOFF),
        "requeue-backoff",
        WAIT,
        ("2026-01-01 12:02 UTC", "not ready in time"),
        ("quota-in-use", "was-evicted"),
        stage="queue",
    ),
    "J05": Asked(
        evicted(
            "AdmissionCheck",
            'Evicted due to AdmissionCheck in Retry state: "prov" (no capacity)',
            JUST_NOW,
            requeued("False", "AdmissionCheck", JUST_NOW),
            **BACKOFF,
        ),
        "requeue-backoff",
        WAIT,
        ("prov", "no capacity"),
        stage="queue",
    ),
    "J06": Asked(
        evicted(
            "ClusterQueueStopped", "The ClusterQueue is stopped", LONG_AGO, requeued("False", "ClusterQueueStopped")
        ).edit("ClusterQueue", "ml-cq", STOPPED),
        "cluster-queue-stopped",
        "fix",
        ("evicted for it",),
        stage="queue",
    ),
    "J06 resumed": Asked(
        evicted(
            "ClusterQueueStopped", "The ClusterQueue is stopped", LONG_AGO, requeued("True", "ClusterQueueRestarted")
        ),
        "quota-in-use",
        WAIT,
        never=("cluster-queue-stopped",),
    ),
    "J07": Asked(
        evicted(
            "LocalQueueStopped", "The LocalQueue is stopped", LONG_AGO, requeued("False", "LocalQueueStopped")
        ).edit("LocalQueue", "train-queue", STOPPED),
        "local-queue-stopped",
        "fix",
        stage="queue",
    ),
    "J08": Asked(
        evicted(
            "NodeFailures",
            "Workload was evicted as there was no replacement for unhealthy node(s): n1",
            JUST_NOW,
            busy=1,
        ),
        "not-evaluated-yet",
        GOING,
        also=("was-evicted",),
    ),
    "J09": Asked(
        evicted(
            "FlavorMigration",
            "Evicted to accommodate a workload (UID: u) due to migration to more favorable resource flavor",
            JUST_NOW,
        ),
        "quota-in-use",
        WAIT,
        also=("was-evicted",),
    ),
    "J11": Asked(
        evicted("Preempted", BY, JUST_NOW, busy=1),
        "not-evaluated-yet",
        GOING,
        ("has not looked at it again yet", "Wait a moment"),
    ),
    "J11 for hours": Asked(
        evicted("Preempted", BY, busy=1), "not-evaluated-yet", GOING, ("should have looked in these 2 hours",)
    ),
    "J13 X23": Asked(
        evicted("PodsReadyTimeout", LATE, LONG_AGO, requeued("False", "PodsReadyTimeout"), busy=1, **PAST),
        "not-evaluated-yet",
        GOING,
        ("Requeued is still False (PodsReadyTimeout)",),
    ),
    "J14": Asked(evicted("Preempted", BY, LONG_AGO, now=SHORT, **OFTEN), "quota-in-use", WAIT, also=("was-evicted",)),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()


def test_pods_that_were_not_read_leave_it_open() -> None:
    answer = stopping("Preempted", BY, JUST_NOW).unread("pods").ask("team-a/train")
    assert STILL in {entry.rule for entry in answer.not_checked}
    assert not answer.complete
