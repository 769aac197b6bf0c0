"""Preemption and what happens within one round of the scheduler: causes H01 to H13."""

from typing import Any

import pytest

from tests.causes.asked import Asked, condition, says
from tests.clusters import Cluster, merge
from tests.small import holder, local_queue, queue, small, waiting

GPU = "nvidia.com/gpu"
JUST_NOW = "2026-01-01T11:59:30Z"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"
FOR_IT = (
    "Preempted to accommodate a workload (UID: Workload-team-a-job-train, JobUID: Job-team-a-train) due to prioritization in the "
    "ClusterQueue; preemptor path: /ml-cq; preemptee path: /ml-cq"
)
POLICY = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
OVERLAP = "Workload has overlapping preemption targets with another workload"
LOST = "Workload no longer fits after processing another workload"


def waits(text: str, reason: str = "Pending", at: str = "2026-01-01T10:00:00Z") -> dict[str, str]:
    return condition("QuotaReserved", "False", reason, text, at)


def victim(of: Cluster, at: str = JUST_NOW, message: str = FOR_IT) -> Cluster:
    evicted = condition("Evicted", "True", "Preempted", message, at)
    return says(of, "job-big", evicted, condition("Preempted", "True", "InClusterQueue", message, at))


BASE = small(
    queue("ml-cq", {"a100": {"cpu": 100, GPU: 8}}, preemption=POLICY),
    holder("big", "ml-cq", {GPU: ("a100", 6)}),
    waiting("train", text=f"{SHORT}. Pending the preemption of 1 workload(s)", nvidia_com__gpu=4),
    waiting("other", nvidia_com__gpu=1),
)


def rivals(head_text: str = SHORT, *, priority: int = 0, **policy: Any) -> Cluster:
    """Its queue has to borrow 2 of 8 that the cohort has left 4 of; the head of the other queue wants 6 of its own 8."""
    theirs = {"preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Never"}, **policy}
    cluster = small(
        queue("ml-cq", {"a100": {GPU: 4}}, "lab"),
        queue("o-cq", {"a100": {GPU: 8}}, "lab", **theirs),
        local_queue("train-queue", "ml-cq"),
        local_queue("oq", "o-cq", "team-b"),
        holder("mine", "ml-cq", {GPU: ("a100", 4)}),
        holder("theirs", "o-cq", {GPU: ("a100", 4)}),
        waiting("train", text=LOST, nvidia_com__gpu=2),
    )
    job, head = (
        merge(item, {"metadata": {"namespace": "team-b"}})
        for item in waiting("need", text=head_text, nvidia_com__gpu=6)
    )
    return cluster.add(job, merge(head, {"spec": {"queueName": "oq", "priority": priority}}))


HANGS = {"metadata": {"deletionTimestamp": "2026-01-01T10:00:30Z", "finalizers": ["example.com/hold"]}}
GATED = "Workload requires preemption, but it's gated"
PENDING, STALLED, WAIT = "preemption-pending", "preemption-not-progressing", "wait"

CASES = {
    "H01": Asked(
        victim(BASE),
        PENDING,
        "in-progress",
        ("team-b/job-big", "30 seconds"),
        ("quota-in-use",),
        ("no-preemption-candidate",),
    ),
    "H01 older text": Asked(
        victim(BASE, message="Preempted to accommodate a higher priority Workload"), PENDING, "in-progress"
    ),
    "H01 hangs": Asked(
        victim(BASE, "2026-01-01T10:00:00Z").edit("Pod", "big-0", HANGS),
        STALLED,
        "fix",
        ("team-b/big-0",),
        move="platform",
    ),
    "H01 the victims have gone": Asked(BASE.drop("Workload", "job-big").drop("Pod"), "fits-but-not-admitted", "fix"),
    "H02": Asked(
        says(BASE, "job-train", waits(f"{SHORT}. Preempting 1 workload(s) failed, will retry.")),
        STALLED,
        "fix",
        ("fails",),
    ),
    "H02 a moment ago": Asked(
        says(BASE, "job-train", waits(f"{SHORT}. Preempting 1 workload(s) failed, will retry.", at=JUST_NOW)),
        "quota-in-use",
        WAIT,
    ),
    "H03": Asked(says(BASE, "job-train", waits(OVERLAP, at=JUST_NOW)), PENDING, "in-progress", ("the same victims",)),
    "H03 for long": Asked(says(BASE, "job-train", waits(OVERLAP, "WaitingForQuota")), STALLED, "fix"),
    "H04": Asked(
        says(BASE, "job-train", waits(f"{OVERLAP}, but will fit after these preemptions complete", at=JUST_NOW)),
        PENDING,
        "in-progress",
    ),
    "H05": Asked(
        small(queue("ml-cq", {"a100": {GPU: 8}}), waiting("train", text=LOST, nvidia_com__gpu=2)),
        "behind-in-queue",
        WAIT,
        ("went first",),
    ),
    "H05 and short": Asked(says(BASE, "job-train", waits(LOST, "WaitingForQuota")), "quota-in-use", WAIT),
    "H06 M04": Asked(
        says(
            BASE,
            "job-train",
            waits(GATED, "AdmissionGated"),
            condition("BlockedOnPreemptionGates", "True", "PreemptionGated", GATED),
            spec={"preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}]},
        ),
        "admission-gated",
        "fix",
        ("kueue.x-k8s.io/multikueue",),
        (PENDING,),
        stage="queue",
    ),
    "H07": Asked(says(BASE, "job-train", waits(SHORT)), "quota-in-use", WAIT, also=("no-preemption-candidate",)),
    "H07 somebody could be preempted": Asked(
        says(BASE, "job-train", waits(SHORT), spec={"priority": 10}),
        "quota-in-use",
        WAIT,
        never=("no-preemption-candidate",),
    ),
    "H08": Asked(
        rivals(),
        "behind-in-queue",
        WAIT,
        (
            "sets 6 nvidia.com/gpu in flavor a100 aside for Job team-b/need",
            "leaves 0 of the 2",
            "reclaimWithinCohort of ClusterQueue o-cq to Any",
        ),
        never=("fits-but-not-admitted",),
    ),
    "H08 whatever the last words are, for a strict queue": Asked(
        says(rivals(queueingStrategy="StrictFIFO"), "job-train", waits(SHORT)), "behind-in-queue", WAIT, ("aside",)
    ),
    "H08 parked long ago": Asked(says(rivals(), "job-train", waits(SHORT)), "fits-but-not-admitted", "fix"),
    "H08 nothing is set aside who may reclaim": Asked(
        says(
            rivals(queueingStrategy="StrictFIFO", preemption={"reclaimWithinCohort": "Any"}), "job-train", waits(SHORT)
        ),
        "fits-but-not-admitted",
        "fix",
    ),
    "H09": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}}),
            waiting("train", text="other workloads in the cohort were prioritized", nvidia_com__gpu=2),
        ),
        "behind-in-queue",
        WAIT,
    ),
    "H12": Asked(
        rivals("")
        .edit("ClusterQueue", "ml-cq", {"status": {"fairSharing": {"weightedShare": 300}}})
        .edit("ClusterQueue", "o-cq", {"status": {"fairSharing": {"weightedShare": 0}}}),
        "fair-share-behind",
        WAIT,
        ("is 0, this one's 300",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()
