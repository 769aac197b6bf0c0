"""Device claims (K), slices (L), variants and gates (M), admitted and idle (N), finished without a run (O), newer Kueue (19)."""

from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import (
    EARLIER,
    JUST_NOW,
    QUEUE,
    RECENT,
    TEMPLATE,
    YESTERDAY,
    Object,
    World,
    admission,
    admitted,
    asked,
    condition,
    event,
    holder,
    job,
    pod,
    reserved,
    waits,
    workload,
)
from tests.clusters import merge
from tests.made import made

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
AT = "spec.podSets[0].template.spec.resourceClaims[0]: "
QUOTA, DEVICES = ("quota-in-use", "quota", "wait"), ("device-claims-unsupported", "queue", "fix")


def claiming(**claim: str) -> Object:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "2"}, "claims": [{"name": "gpu"}]}}
    found: Object = merge(TEMPLATE, {"spec": {"resourceClaims": [{"name": "gpu", **claim}], "containers": [container]}})
    return found


TEMPLATED, BY_NAME = claiming(resourceClaimTemplateName="one-gpu"), claiming(resourceClaimName="shared")


def devices(
    text: str, template: Object = TEMPLATED, reason: str = "Inadmissible", **status: Any
) -> tuple[Object, Object]:
    requests = {"resourceRequests": [{"name": "main", "resources": {"cpu": "4"}}], **status}
    return asked(
        waits(text, reason),
        condition("Requeued", "False", reason, text),
        status=requests,
        job_spec={"template": template},
        spec={"podSets": [{"name": "main", "count": 2, "template": template}]},
    )


TOO_FEW = (
    f"{AT}Internal error: insufficient matching devices for CEL selector in DeviceClass gpu.example.com: 1 device(s) match in "
    "the cluster but 2 requested"
)
TEXTS = {
    "K01": (
        "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled",
        TEMPLATED,
        "feature gate",
    ),
    "K02": ("KueueDRAIntegration feature does not support use of resource claims", BY_NAME, "ResourceClaimTemplate"),
    "K02 older": ("DynamicResourceAllocation feature does not support use of resource claims", BY_NAME, "nlp/shared"),
    "K03": (f"{AT}Invalid value: {{}}: FirstAvailable device selection is not supported", TEMPLATED, "FirstAvailable"),
    "K04": (
        f'{AT}Not found: "DeviceClass gpu.example.com is not mapped in DRA configuration for podset main"',
        TEMPLATED,
        "gpu.example.com",
    ),
    "K05": (
        f"{AT}Internal error: failed to get claim spec for ResourceClaimTemplate one-gpu in podset main: not found",
        TEMPLATED,
        "one-gpu",
    ),
    "K06": (f'{AT}Invalid value: "device.foo": CEL selector compile error: undeclared reference', TEMPLATED, "CEL"),
    "K07": (
        TOO_FEW,
        TEMPLATED,
        "1 device(s)",
    ),
    "K08": (
        f"{AT}Internal error: insufficient matching devices for counter driver: gpu.example.com",
        TEMPLATED,
        "too few devices",
    ),
    "K09": (
        f'{AT}Internal error: matched devices have no capacity dimension "memory"',
        TEMPLATED,
        "capacity dimension",
    ),
    "K10": (
        f'{AT}Internal error: failed to get DeviceClass gpu.example.com: "gpu.example.com" not found',
        TEMPLATED,
        "gpu.example.com",
    ),
    "K11": (
        f'{AT}Invalid value: "x": extended resource example.com/gpu is ambiguous: DeviceClasses a, b',
        TEMPLATED,
        "ambiguous",
    ),
}
UNCOVERED = "couldn't assign flavors to pod set main: resource example.com/gpus unavailable in ClusterQueue"

ELASTIC = job(annotations={"kueue.x-k8s.io/elastic-job": "true"}, suspended=False, spec={"parallelism": 4})
REPLACES = {"kueue.x-k8s.io/workload-slice-replacement-for": "nlp/job-finetune-old11"}
OLD = workload(ELASTIC, *admitted(YESTERDAY), name="job-finetune-old11", status=admission(), created=YESTERDAY)
FOUR = {"podSets": [{"name": "main", "count": 4, "template": TEMPLATE}]}
ASKS_FOUR = {"resourceRequests": [{"name": "main", "resources": {"cpu": "8", "nvidia.com/gpu": "4"}}]}
REPLACED = merge(
    OLD,
    {
        "status": {
            "conditions": [
                *OLD["status"]["conditions"],
                condition(
                    "Finished",
                    "True",
                    "WorkloadSliceReplaced",
                    "Replaced to accommodate a workload (UID: u, JobUID: j) due to workload slice aggregation",
                ),
            ]
        }
    },
)
SIX = holder("embed", "nlp", "nlp-cq", 6)


def larger(*conditions: Object, **status: Any) -> Object:
    return workload(ELASTIC, *conditions, name="job-finetune-new22", annotations=REPLACES, spec=FOUR, status=status)


def gated(of: Object, number: int, gate: str) -> Object:
    conditions = [
        condition("PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
    ]
    return pod(
        of,
        number,
        phase="Pending",
        node="",
        spec={"schedulingGates": [{"name": gate}]},
        status={"conditions": conditions},
    )


JOB, PARENT = asked(
    labels={"kueue.x-k8s.io/concurrent-admission-parent": "true", "kueue.x-k8s.io/job-uid": "job-finetune-uid"}
)
FREED = merge(JOB, {"spec": {"suspend": False}})
WON = workload(
    JOB,
    reserved(),
    condition("Admitted", "True", "Admitted", "The variant job-finetune-variant-spot is admitted"),
    labels=PARENT["metadata"]["labels"],
    status=admission(),
)
SPOT = made("ResourceFlavor", "spot", namespace="", spec={"nodeLabels": {"gpu": "spot"}})
FLAVORS = [
    {
        "name": name,
        "resources": [{"name": "cpu", "nominalQuota": "64"}, {"name": "nvidia.com/gpu", "nominalQuota": "8"}],
    }
    for name in ("l40s", "spot")
]
VARIANTS = World(
    SPOT,
    full=True,
    cluster_queue={"spec": {"resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": FLAVORS}]}},
)
MIGRATES = (
    "Evicted to accommodate a workload (UID: workload-job-finetune-variant-l40s-uid) due to migration to more favorable "
    "resource flavor"
)
GATED = "Workload requires preemption, but it's gated"
BLOCKED = condition("BlockedOnPreemptionGates", "True", "PreemptionGated", GATED)


def variant(flavor: str, *conditions: Object, **fields: Any) -> Object:
    held = {"kueue.x-k8s.io/workload-allowed-resource-flavors": flavor}
    return workload(PARENT, *conditions, name=f"job-finetune-variant-{flavor}", labels={}, annotations=held, **fields)


def spot_status() -> Object:
    found: Object = merge(
        admission(),
        {
            "admission": {
                "podSetAssignments": [
                    {
                        "name": "main",
                        "count": 2,
                        "flavors": {"cpu": "spot", "nvidia.com/gpu": "spot"},
                        "resourceUsage": {"cpu": "4", "nvidia.com/gpu": "2"},
                    }
                ]
            }
        },
    )
    return found


FREE, HELD = asked(*admitted(), status=admission(), job_suspended=False, job_status={"active": 2, "ready": 0})


def lost(reason: str, message: str) -> Object:
    return {"conditions": [condition("PodScheduled", "False", reason, message)]}


def pending(number: int, message: str, **spec: Any) -> Object:
    return pod(FREE, number, phase="Pending", node="", spec=spec, status=lost("Unschedulable", message))


def refuses(message: str) -> tuple[Object, ...]:
    return FREE, HELD, event(FREE, "FailedCreate", f"Error creating: {message}", by="job-controller", at=RECENT)


PULLING = {
    "containerStatuses": [
        {
            "name": "main",
            "ready": False,
            "restartCount": 0,
            "image": "registry.example/モデル:1",
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}},
        }
    ],
    "conditions": [condition("PodScheduled", "True", "")],
}
SET = job(
    "JobSet",
    suspended=False,
    spec={
        "replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": {"parallelism": 2, "template": TEMPLATE}}}]
    },
)
SET_LOAD = workload(SET, *admitted(), status=admission())
BELOW = job(name="finetune-w-0", labels={}, owner=SET)
COMPUTE = made(
    "ResourceQuota",
    "compute",
    namespace="nlp",
    spec={"hard": {"requests.cpu": "20"}},
    status={"hard": {"requests.cpu": "20"}, "used": {"requests.cpu": "19"}},
)


def over(reason: str, message: str, *conditions: Object, **fields: Any) -> tuple[Object, Object]:
    return asked(*(conditions or (waits(FULL),)), condition("Finished", "True", reason, message), **fields)


ENDED = ("finished-without-running", "finished", "finished")
TIMED_OUT = "Exceeded the PodsReady timeout nlp/job-finetune-3fa5c"
CASES = {
    **{id_: Case(World(), devices(text, template), *DEVICES, (part,)) for id_, (text, template, part) in TEXTS.items()},
    "K01 newer": Case(World(kueue="v0.20.1"), devices(TEXTS["K01"][0], reason="Misconfigured"), *DEVICES),
    "K05 unresolved": Case(
        World(kueue="v0.20.1"), devices(TEXTS["K05"][0], reason="DRAResourcesUnresolved"), *DEVICES, ("one-gpu",)
    ),
    "K05 resolved since": Case(
        World(full=True),
        asked(waits(FULL), condition("Requeued", "True", "DRAResourcesResolved")),
        *QUOTA,
        never=("device-claims-unsupported",),
    ),
    "K stays Requeued=False": Case(
        World(full=True),
        asked(waits(FULL), condition("Requeued", "False", "Inadmissible", TEXTS["K05"][0])),
        *QUOTA,
        never=("device-claims-unsupported",),
    ),
    "K12": Case(
        World(),
        devices(
            UNCOVERED,
            reason="Pending",
            resourceRequests=[{"name": "main", "resources": {"cpu": "4", "example.com/gpus": "2"}}],
        ),
        "resource-not-covered",
        "quota",
        "never-as-written",
        ("example.com/gpus",),
    ),
    "K12 only Kueue knows": Case(
        World(),
        devices(UNCOVERED, reason="Pending"),
        "resource-not-covered",
        "quota",
        "never-as-written",
        ("example.com/gpus",),
    ),
    "K13": Case(
        World(),
        (
            FREE,
            HELD,
            pending(
                0,
                "0/2 nodes are available: 2 cannot allocate all claims.",
                resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
            ),
        ),
        "device-claim-unallocated",
        "pods",
        "fix",
    ),
    "L01 (X29)": Case(
        World(),
        (
            ELASTIC,
            OLD,
            larger(waits(FULL), **ASKS_FOUR),
            pod(ELASTIC, 0),
            pod(ELASTIC, 1),
            gated(ELASTIC, 2, "kueue.x-k8s.io/elastic-job"),
            gated(ELASTIC, 3, "kueue.x-k8s.io/elastic-job"),
            *SIX,
        ),
        *QUOTA,
        ("Needs 2 more",),
        never=("quota-held-by-stale-workload",),
    ),
    "L02": Case(
        World(),
        (ELASTIC, REPLACED, larger(*admitted(), **admission(4)), *(pod(ELASTIC, i) for i in range(4))),
        "running",
        "running",
        "running",
    ),
    "L02 a gate stays": Case(
        World(),
        (
            ELASTIC,
            REPLACED,
            larger(*admitted(), **admission(4)),
            pod(ELASTIC, 0),
            pod(ELASTIC, 1),
            gated(ELASTIC, 2, "kueue.x-k8s.io/elastic-job"),
            gated(ELASTIC, 3, "kueue.x-k8s.io/elastic-job"),
        ),
        "kueue-gate-remains",
        "pods",
        "fix",
        ("and 1 more still carry",),
    ),
    "L03": Case(
        World(),
        (
            ELASTIC,
            OLD,
            larger(
                waits(
                    "couldn't assign flavors to pod set main: could not assign spot flavor since the "
                    "original workload is assigned: l40s"
                ),
                **ASKS_FOUR,
            ),
            pod(ELASTIC, 0),
            pod(ELASTIC, 1),
            *SIX,
        ),
        *QUOTA,
    ),
    "M01": Case(
        VARIANTS,
        (JOB, PARENT, variant("l40s", waits(FULL)), variant("spot", waits("maximum capacity"))),
        *QUOTA,
        ("l40s",),
        ("parent-decides",),
    ),
    "M02": Case(
        VARIANTS,
        (
            FREED,
            WON,
            variant("l40s", waits(FULL)),
            variant("spot", *admitted(), status=spot_status()),
            pod(FREED, 0),
            pod(FREED, 1),
        ),
        "running",
        "running",
        "running",
        never=("quota-in-use",),
    ),
    "M02 by name": Case(
        VARIANTS,
        (
            FREED,
            WON,
            variant("l40s", *admitted(), status=admission()),
            variant("spot", waits("A more favorable variant is already admitted")),
            pod(FREED, 0),
            pod(FREED, 1),
        ),
        "running",
        "running",
        "running",
        also=("better-variant-admitted",),
        name="nlp/job-finetune-variant-spot",
    ),
    "M04": Case(
        World(full=True, kueue="v0.20.1"),
        asked(
            waits(GATED, "AdmissionGated"),
            BLOCKED,
            spec={"preemptionGates": [{"name": "kueue.x-k8s.io/concurrent-admission"}]},
        ),
        "preemption-pending",
        "quota",
        "in-progress",
        ("concurrent-admission", "closed"),
        ("quota-in-use",),
    ),
    "H06": Case(
        World(full=True, kueue="v0.20.1"),
        asked(
            waits(GATED, "AdmissionGated"), BLOCKED, spec={"preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}]}
        ),
        "admission-gated",
        "queue",
        "fix",
        ("multikueue",),
    ),
    "H06 by its text": Case(
        World(full=True),
        asked(waits(GATED), spec={"preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}]}),
        "admission-gated",
        "queue",
        "fix",
        ("multikueue",),
    ),
    "M05": Case(
        VARIANTS,
        (
            FREED,
            PARENT,
            variant("l40s", waits(f"{FULL}. Pending the migration of 1 workload(s)")),
            variant(
                "spot",
                *admitted(),
                condition("Evicted", "True", "FlavorMigration", MIGRATES, JUST_NOW),
                status=spot_status(),
            ),
            pod(FREED, 0),
        ),
        "preemption-pending",
        "quota",
        "in-progress",
        ("variant-spot",),
        ("parent-decides",),
    ),
    "N01": Case(
        World(full=True),
        (FREE, HELD, pending(0, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")),
        "node-resources-insufficient",
        "pods",
        "wait",
        ("1 nvidia.com/gpu",),
    ),
    "N02": Case(
        World(),
        (
            FREE,
            merge(HELD, {}),
            pending(
                0,
                "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
                nodeSelector={"gpu": "l40s-neu"},
            ),
            made("ResourceFlavor", "l40s", namespace="", spec={"nodeLabels": {"gpu": "l40s-neu"}}),
        ),
        "node-labels-not-matched",
        "pods",
        "fix",
        ("gpu=l40s-neu", "ResourceFlavor l40s"),
        move="queue-admin",
    ),
    "N03": Case(
        World(),
        (FREE, HELD, pod(FREE, 0, phase="Pending", status=PULLING), pod(FREE, 1)),
        "image-not-pulled",
        "start",
        "fix",
        ("registry.example/モデル:1", "1 of 2"),
    ),
    "N04": Case(
        World(),
        (FREE, HELD, gated(FREE, 0, "example.com/データ"), pod(FREE, 1)),
        "scheduling-gated",
        "pods",
        "fix",
        ("example.com/データ",),
    ),
    "N05": Case(
        World(),
        (FREE, HELD, gated(FREE, 0, "kueue.x-k8s.io/topology")),
        "kueue-gate-remains",
        "pods",
        "fix",
        ("kueue.x-k8s.io/topology", "still carries"),
    ),
    "N06": Case(World(), asked(*admitted(), status=admission()), "job-still-suspended", "pods", "fix", ("40 minutes",)),
    "N07": Case(
        World(),
        asked(*admitted(), status=admission(), job_spec={"managedBy": "kueue.x-k8s.io/multikueue"}),
        "managed-by-other-controller",
        "pods",
        "fix",
        ("spec.managedBy",),
        never=("job-still-suspended",),
    ),
    "N09": Case(
        World(),
        (SET, SET_LOAD, BELOW, event(BELOW, "Suspended", "Kueue managed child job suspended", kind="Normal")),
        "child-job-suspended",
        "pods",
        "fix",
        ("finetune-w-0",),
    ),
    "N10 quota": Case(
        World(COMPUTE),
        refuses(
            'pods "x" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: '
            "requests.cpu=19, limited: requests.cpu=20"
        ),
        "pod-creation-forbidden-quota",
        "pods",
        "fix",
        ("compute",),
    ),
    "N10 level": Case(
        World(),
        refuses('pods "x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation'),
        "pod-creation-forbidden-policy",
        "pods",
        "fix",
        ("restricted:latest",),
    ),
    "N10 webhook": Case(
        World(),
        refuses('admission webhook "policy.example.com" denied the request: イメージ不可'),
        "pod-creation-forbidden-policy",
        "pods",
        "fix",
        ("イメージ不可",),
    ),
    "N10 account": Case(
        World(),
        refuses(
            'pods "x" is forbidden: error looking up service account nlp/trainer: serviceaccount "trainer" not found'
        ),
        "service-account-missing",
        "pods",
        "fix",
        ("nlp/trainer",),
    ),
    "N11": Case(
        World(),
        asked(
            *admitted(),
            status=admission(),
            kind="RayJob",
            job_suspended=False,
            job_spec={"rayClusterSpec": {"headGroupSpec": {"template": TEMPLATE}}},
        ),
        "operator-not-running",
        "pods",
        "fix",
        ("KubeRay",),
    ),
    "N12": Case(
        World(),
        (
            *asked(*admitted(), status=admission()),
            event(asked()[0], "Stopped", "Not admitted by cluster queue", kind="Normal", at=RECENT),
        ),
        "job-still-suspended",
        "pods",
        "fix",
        ("stopped it once",),
    ),
    "X28 PodsReady before any start": Case(
        World(full=True),
        asked(waits(FULL), condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded")),
        *QUOTA,
    ),
    "O01": Case(
        World(full=True),
        over("OutOfSync", "The prebuilt workload is out of sync with its user job"),
        *ENDED,
        ("OutOfSync",),
        never=("quota-in-use",),
    ),
    "O02": Case(
        World(),
        over(
            "FailedToStart",
            "invalid admission check PodSetUpdate: conflict for nodeSelector: conflict for key=gpu",
            *admitted(),
            status=admission(),
        ),
        *ENDED,
        ("key=gpu",),
    ),
    "O03": Case(
        World(),
        over("OwnerNotFound", "The workload's owner no longer exists")[1:],
        *ENDED,
        ("owner",),
        name="nlp/job-finetune-3fa5c",
    ),
    "O05": Case(
        World(api="v1beta1", kueue="v0.6.3"),
        over("AdmissionChecksRejected", "Admission checks [budget] are rejected"),
        *ENDED,
        ("budget",),
    ),
    "O06": Case(
        World(),
        over(
            "Failed",
            "Job has reached the specified backoff limit",
            *admitted(),
            job_suspended=False,
            job_status={
                "failed": 7,
                "conditions": [
                    condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
                ],
            },
        ),
        "finished",
        "finished",
        "finished",
        ("backoff limit",),
    ),
    "19 granular": Case(World(full=True, kueue="v0.20.1"), asked(waits(FULL, "WaitingForQuota")), *QUOTA),
    "19 two faces of one wait": Case(
        World(full=True, kueue="v0.20.1"), asked(waits(FULL, "WaitingForPreemptedWorkloads")), *QUOTA
    ),
    "19 unscheduled in time": Case(
        World(kueue="v0.20.1"),
        asked(
            waits(TIMED_OUT),
            condition("Evicted", "True", "PodsReadyTimeout", TIMED_OUT),
            condition("Requeued", "False", "PodsReadyTimeout", TIMED_OUT),
            status={
                "requeueState": {"count": 1, "requeueAt": "2026-11-30T14:01:00Z"},
                "schedulingStats": {
                    "evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForScheduling", "count": 1}]
                },
            },
        ),
        "requeue-backoff",
        "queue",
        "wait",
        ("14:01",),
    ),
    "19 PodsScheduled": Case(
        World(full=True, kueue="v0.20.1"),
        (
            FREE,
            merge(
                HELD,
                {
                    "status": {
                        "conditions": [
                            *admitted(),
                            condition("PodsScheduled", "False", "WaitForScheduling", "1 of 2 pods are scheduled"),
                            condition("PodsReady", "False", "WaitForScheduling", "Not all pods are scheduled"),
                        ]
                    }
                },
            ),
            pod(FREE, 0),
            pending(1, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."),
        ),
        "node-resources-insufficient",
        "pods",
        "wait",
        ("1 of 2",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])


def test_the_workload_of_a_deployment_may_carry_the_deployments_uid() -> None:
    web = made(
        "Deployment",
        "serve",
        namespace="nlp",
        labels=QUEUE,
        created=EARLIER,
        spec={"replicas": 1, "template": TEMPLATE},
    )
    between = made("ReplicaSet", "serve-1", namespace="nlp", owner=web, spec={"replicas": 1})
    one = gated(web, 0, "kueue.x-k8s.io/admission")
    one = merge(
        one,
        {
            "metadata": {
                "labels": QUEUE,
                "ownerReferences": made("X", "y", owner=between)["metadata"]["ownerReferences"],
            }
        },
    )
    load = workload(one, waits(FULL), labels={"kueue.x-k8s.io/job-uid": web["metadata"]["uid"]})
    answer = World(full=True, kueue="v0.20.1").ask(web, between, one, load, name="nlp/serve")
    assert answer.headline.rule == "quota-in-use"
