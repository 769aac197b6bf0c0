"""A Workload exists and may not stand in any queue: causes B01 to B16; and the misleading texts beside them."""

from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import (
    EARLIER,
    JUST_NOW,
    QUEUE,
    RECENT,
    TEMPLATE,
    Object,
    World,
    admission,
    admitted,
    asked,
    condition,
    job,
    waits,
    workload,
)
from tests.clusters import merge
from tests.made import made, refer

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
RESET = {
    "admissionChecks": [
        {"name": "予算", "state": "Pending", "message": "Reset to Pending after eviction. Previously: Rejected"}
    ]
}
NEVER = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor spot, previously considered "
    "podsets requests (0) + current podset request (2) > maximum capacity (0)"
)
PREEMPTED = "Preempted to accommodate a workload (UID: 3f, JobUID: 9c) due to prioritization in the ClusterQueue"
OFF = {"active": False}
LIMIT = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
LONG = "The workload is deactivated due to exceeding the maximum execution time"
REJECTED = 'The workload is deactivated due to AdmissionCheck(s) in Rejected state: "予算" (das Budget ist erschöpft)'
REJECTED_017 = "The workload is deactivated due to Admission check(s): budget, were rejected"
ON_MANAGER = "The workload is deactivated due to Evicted on manager: Preempted to accommodate a workload (UID: 3f)"
GATE = {"kueue.x-k8s.io/admission-gated-by": "example.com/審査"}


def evicted(reason: str, message: str, at: str = RECENT) -> Object:
    return condition("Evicted", "True", reason, message, at)


def off(reason: str, message: str, *more: Object, **fields: Any) -> tuple[Object, Object]:
    """The job, deactivated with a reason."""
    return asked(waits(message), evicted(reason, message), *more, **{"spec": OFF, **fields})


def serving(replicas: int, *conditions: Object) -> tuple[Object, Object]:
    owner = made(
        "StatefulSet",
        "serve",
        namespace="nlp",
        created=EARLIER,
        labels=QUEUE,
        spec={"replicas": replicas, "template": TEMPLATE},
    )
    return owner, workload(owner, *conditions)


def member(number: int, phase: str) -> Object:
    labels = {**QUEUE, "kueue.x-k8s.io/pod-group-name": "sweep", "kueue.x-k8s.io/managed": "true"}
    return made(
        "Pod",
        f"sweep-{number}",
        namespace="nlp",
        created=EARLIER,
        labels=labels,
        status={"phase": phase},
        annotations={"kueue.x-k8s.io/pod-group-total-count": "2"},
        spec={**TEMPLATE["spec"], "nodeName": "gpu-1"},
    )


def group(*pods: Object, conditions: tuple[Object, ...], **fields: Any) -> tuple[Object, ...]:
    one = workload(pods[0], *conditions, name="sweep", labels={}, **fields)
    return (*pods, merge(one, {"metadata": {"ownerReferences": [refer(each, controller=False) for each in pods]}}))


def single(*conditions: Object) -> tuple[Object, Object]:
    pod = made(
        "Pod",
        "solo",
        namespace="nlp",
        created=EARLIER,
        labels=QUEUE,
        spec=TEMPLATE["spec"],
        status={"phase": "Running"},
    )
    return pod, workload(pod, *conditions)


def leaving(*objects: Object) -> tuple[Object, ...]:
    meta = {"deletionTimestamp": EARLIER, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}
    return (objects[0], merge(objects[1], {"metadata": meta}))


JOB, PARENT = asked(
    labels={"kueue.x-k8s.io/concurrent-admission-parent": "true", "kueue.x-k8s.io/job-uid": "job-finetune-uid"}
)
SPOT = made("ResourceFlavor", "spot", namespace="", spec={"nodeLabels": {"gpu": "spot"}})
FLAVORS = {
    "spec": {
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": name,
                        "resources": [
                            {"name": "cpu", "nominalQuota": "64"},
                            {"name": "nvidia.com/gpu", "nominalQuota": gpus},
                        ],
                    }
                    for name, gpus in (("spot", "0"), ("l40s", "8"))
                ],
            }
        ]
    }
}


def variant(flavor: str, *conditions: Object, **fields: Any) -> Object:
    held = {"kueue.x-k8s.io/workload-allowed-resource-flavors": flavor}
    return workload(PARENT, *conditions, name=f"job-finetune-variant-{flavor}", labels={}, annotations=held, **fields)


def variants() -> World:
    return World(SPOT, full=True, cluster_queue=FLAVORS)


QUOTA = ("quota-in-use", "quota", "wait")
SWEEP = "nlp/sweep"
CASES = {
    "B01": Case(
        World(full=True),
        off("Deactivated", "The workload is deactivated", condition("Requeued", "False", "Deactivated", "")),
        "deactivated",
        "queue",
        "fix",
        ("2026-11-30 13:58", '{"spec":{"active":true}}'),
        ("was-evicted",),
    ),
    "B01 older reason": Case(
        World(api="v1beta1", kueue="v0.9.5"),
        off("InactiveWorkload", "The workload is deactivated"),
        "deactivated",
        "queue",
        "fix",
    ),
    "B01 without a condition (B16)": Case(
        World(), asked(spec=OFF), "deactivated", "queue", "fix", ("a person or a tool",)
    ),
    "B14": Case(
        World(full=True),
        asked(waits(PREEMPTED), evicted("Preempted", PREEMPTED), spec=OFF),
        "deactivated",
        "queue",
        "fix",
        ("a person or a tool",),
        ("was-evicted",),
    ),
    "B02": Case(
        World(),
        off(
            "DeactivatedDueToRequeuingLimitExceeded",
            LIMIT,
            status={
                "schedulingStats": {
                    "evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 6}]
                }
            },
        ),
        "deactivated-requeue-limit",
        "queue",
        "fix",
        ("6 times",),
        never=("deactivated",),
    ),
    "B02 older reason": Case(
        World(api="v1beta1", kueue="v0.9.5"),
        off("InactiveWorkloadRequeuingLimitExceeded", LIMIT),
        "deactivated-requeue-limit",
        "queue",
        "fix",
    ),
    "B03": Case(
        World(),
        off(
            "DeactivatedDueToMaximumExecutionTimeExceeded",
            LONG,
            spec={**OFF, "maximumExecutionTimeSeconds": 7200},
            status={"accumulatedPastExecutionTimeSeconds": 7200},
        ),
        "deactivated-max-execution-time",
        "queue",
        "fix",
        ("2 hours",),
    ),
    "B03 older field": Case(
        World(api="v1beta1", kueue="v0.13.8"),
        off(
            "DeactivatedDueToMaximumExecutionTimeExceeded",
            LONG,
            spec={**OFF, "maximumExecutionTimeSeconds": 7200},
            status={"accumulatedPastExexcutionTimeSeconds": 7200},
        ),
        "deactivated-max-execution-time",
        "queue",
        "fix",
        ("2 hours",),
    ),
    "B04": Case(
        World(),
        off(
            "DeactivatedDueToAdmissionCheck",
            REJECTED,
            status=RESET,
        ),
        "admission-check-rejected",
        "queue",
        "fix",
        ("予算", "das Budget ist erschöpft"),
        move="queue-admin",
    ),
    "B04 after an earlier retry (B14)": Case(
        World(api="v1beta1", kueue="v0.11.4"),
        off(
            "AdmissionCheck",
            "At least one admission check is false",
            status=RESET,
        ),
        "admission-check-rejected",
        "queue",
        "fix",
        ("予算",),
        never=("admission-check-pending",),
    ),
    "B04 older text": Case(
        World(api="v1beta1", kueue="v0.17.0"),
        off("DeactivatedDueToAdmissionCheck", REJECTED_017),
        "admission-check-rejected",
        "queue",
        "fix",
        ("budget",),
    ),
    "B05": Case(
        World(),
        off("DeactivatedDueToEvictedOnManagerCluster", ON_MANAGER),
        "deactivated",
        "queue",
        "fix",
        ("MultiKueue", "manager cluster"),
    ),
    "B06": Case(
        World(full=True),
        asked(waits("Admission is gated by: example.com/審査", "AdmissionGated"), annotations=GATE),
        "admission-gated",
        "queue",
        "fix",
        ("example.com/審査",),
        ("quota-in-use",),
    ),
    "B06 at once": Case(World(), asked(annotations=GATE), "admission-gated", "queue", "fix", ("example.com/審査",)),
    "B06b": Case(
        World(),
        asked(waits("AdmissionGatedBy cleared, waiting for quota reservation", at=JUST_NOW)),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        ("13:59",),
    ),
    "B07": Case(
        World(),
        serving(0, waits("StatefulSet scaled to zero; workload on hold", "OnHold")),
        "scaled-to-zero",
        "workload",
        "fix",
        ("spec.replicas is 0",),
        ("on-hold",),
        name="nlp/serve",
    ),
    "B07 not released": Case(
        World(),
        serving(2, waits("StatefulSet scaled to zero; workload on hold", "OnHold")),
        "on-hold",
        "queue",
        "fix",
        ("wants 2 replicas again",),
        name="nlp/serve",
    ),
    "B07b": Case(
        World(),
        serving(2, waits("Workload no longer on hold; waiting for quota reservation", at=JUST_NOW)),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        name="nlp/serve",
    ),
    "B08": Case(
        World(),
        asked(
            waits("Job is on hold", "OnHold"),
            kind="RayJob",
            job_status={"jobDeploymentStatus": "ValidationFailed", "message": "the RayJob spec is invalid: 不正"},
        ),
        "on-hold",
        "queue",
        "fix",
        ("不正",),
        ("job-spec-rejected-by-operator",),
    ),
    "B09": Case(
        World(),
        group(
            member(0, "Failed"),
            member(1, "Running"),
            conditions=(
                *admitted(),
                condition("WaitingForReplacementPods", "True", "PodsFailed", "Some Failed pods need replacement"),
            ),
            status=admission(),
        ),
        "replacement-pods-needed",
        "queue",
        "in-progress",
        ("wants 2 pods", "1 of them failed and 1 is left"),
        move="asker",
        name=SWEEP,
    ),
    "B09 evicted": Case(
        World(),
        group(
            member(0, "Failed"),
            conditions=(
                waits(PREEMPTED),
                evicted("Preempted", PREEMPTED),
                condition("Preempted", "True", "InClusterQueue", PREEMPTED),
                condition("WaitingForReplacementPods", "True", "Preempted", PREEMPTED),
            ),
        ),
        "replacement-pods-needed",
        "queue",
        "in-progress",
        ("none is left",),
        ("was-preempted",),
        name=SWEEP,
    ),
    "B10": Case(
        World(),
        asked(
            waits(FULL),
            condition("DeactivationTarget", "True", "RequeuingLimitExceeded", "zu viele Versuche", JUST_NOW),
        ),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        ("zu viele Versuche",),
    ),
    "B11": Case(
        World(),
        single(
            waits(PREEMPTED), evicted("Preempted", PREEMPTED), condition("Requeued", "False", "Preempted", PREEMPTED)
        ),
        "replacement-pods-needed",
        "queue",
        "in-progress",
        ("solo",),
        ("was-evicted",),
        name="nlp/solo",
    ),
    "B12": Case(
        variants(),
        (JOB, PARENT, variant("spot", waits(NEVER)), variant("l40s", waits(FULL))),
        *QUOTA,
        ("8 of 8",),
        ("parent-decides",),
        never=("behind-equivalent",),
    ),
    "B12 one is off (M07)": Case(
        variants(),
        (JOB, PARENT, variant("spot", waits(NEVER), spec=OFF), variant("l40s", waits(FULL))),
        *QUOTA,
        ("8 of 8",),
        ("parent-decides",),
        never=("deactivated",),
    ),
    "B13": Case(
        World(), leaving(*asked(waits(FULL))), "workload-terminating", "queue", "fix", ("resource-in-use", "40 minutes")
    ),
    "B15 (X45)": Case(
        World(),
        asked(
            waits(LIMIT),
            evicted("DeactivatedDueToRequeuingLimitExceeded", LIMIT),
            condition("Requeued", "False", "DeactivatedDueToRequeuingLimitExceeded", LIMIT),
        ),
        "reactivation-ignored",
        "queue",
        "fix",
        ("kubectl -n nlp delete workloads.kueue.x-k8s.io job-finetune-3fa5c",),
    ),
    "B15 cleared": Case(
        World(full=True),
        asked(waits(FULL), condition("Requeued", "True", "Reactivated", "The workload was reactivated")),
        *QUOTA,
        never=("reactivation-ignored", "deactivated"),
    ),
    "M07 by name": Case(
        variants(),
        (JOB, PARENT, variant("l40s", waits(FULL), spec=OFF), variant("spot", waits(NEVER))),
        "deactivated",
        "queue",
        "fix",
        ("other variants",),
        name="nlp/job-finetune-variant-l40s",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])


def test_a_job_that_only_runs_low_on_labels_is_not_deactivated() -> None:
    answer = World().ask(job(), *asked(waits(FULL))[1:])
    assert answer.headline.rule == "fits-but-not-admitted"
