"""The queue that a Workload is sent to: causes C01 to C24; each with quota free, so that nothing else holds it."""

from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import (
    EARLIER,
    JUST_NOW,
    Object,
    World,
    admission,
    admitted,
    asked,
    condition,
    event,
    pod,
    waits,
)
from tests.clusters import merge
from tests.made import made

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
LABEL = "kueue.x-k8s.io/queue-name"


def blocked(message: str, reason: str = "Inadmissible", **fields: Any) -> tuple[Object, Object]:
    return asked(waits(message, reason), **fields)


def elsewhere(name: str) -> tuple[Object, Object]:
    return blocked(f"LocalQueue {name} doesn't exist", spec={"queueName": name}, job_labels={LABEL: name})


def inactive(reason: str, message: str, **spec: Any) -> Object:
    return {
        "spec": spec,
        "status": {"conditions": [condition("Active", "False", reason, f"Can't admit new workloads: {message}.")]},
    }


def checks(*names: str) -> Object:
    return {"admissionChecksStrategy": {"admissionChecks": [{"name": name} for name in names]}}


def check_of(name: str, controller: str, kind: str = "", parameters: str = "", active: Object | None = None) -> Object:
    named = {"parameters": {"apiGroup": "kueue.x-k8s.io", "kind": kind, "name": parameters}} if kind else {}
    state = {"conditions": [active or condition("Active", "True", "Active", "The admission check is active")]}
    return made("AdmissionCheck", name, namespace="", spec={"controllerName": controller, **named}, status=state)


def multikueue(name: str) -> Object:
    return check_of(name, "kueue.x-k8s.io/multikueue", "MultiKueueConfig", "workers")


def running(*conditions: Object) -> tuple[Object, ...]:
    item, load = asked(*admitted(), *conditions, status=admission(), job_suspended=False)
    return item, load, pod(item, 0), pod(item, 1)


INACTIVE = blocked("ClusterQueue nlp-cq is inactive")
HELD = {
    "spec": {"stopPolicy": "Hold"},
    "status": {"conditions": [condition("Active", "False", "LocalQueueIsStopped", "stopped")]},
}
DRAINED = merge(HELD, {"spec": {"stopPolicy": "HoldAndDrain"}})
GOING = {"metadata": {"deletionTimestamp": EARLIER, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}}
WORKERS = made("MultiKueueConfig", "workers", namespace="", spec={"clusters": ["eu"]})
WORKER = made(
    "MultiKueueCluster", "eu", namespace="", status={"conditions": [condition("Active", "True", "Active", "Connected")]}
)
PROVISIONING = check_of("capacity", "kueue.x-k8s.io/provisioning-request", "ProvisioningRequestConfig", "pools")
POOLS = made("ProvisioningRequestConfig", "pools", namespace="", spec={"provisioningClassName": "x.example.com"})
RACKS = made("ResourceFlavor", "l40s", namespace="", spec={"nodeLabels": {"gpu": "l40s"}, "topologyName": "racks"})
TOPOLOGY = made("Topology", "racks", namespace="", spec={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]})
RING = (
    made("Cohort", "labs", namespace="", spec={"parentName": "root"}),
    made("Cohort", "root", namespace="", spec={"parentName": "labs"}),
)
NO_LOCAL_QUEUE, NO_QUEUE = (("LocalQueue", "batch"),), (("ClusterQueue", "nlp-cq"),)
BOTH = World(
    WORKERS,
    WORKER,
    POOLS,
    PROVISIONING,
    multikueue("mk"),
    cluster_queue=inactive(
        "MultiKueueWithProvisioningRequest",
        "Cannot use MultiKueue with ProvisioningRequest",
        **checks("mk", "capacity"),
    ),
)
SYNCING = asked(waits("ClusterQueue nlp-cq is inactive", at=JUST_NOW))


def stopped_by(what: str) -> tuple[Object, ...]:
    said = f"The {what} is stopped"
    return asked(
        waits(said),
        condition("Evicted", "True", f"{what}Stopped", said),
        condition("Requeued", "False", f"{what}Stopped", said),
    )


MISSING, STOPPED = ("local-queue-missing", "queue", "fix"), ("local-queue-stopped", "queue", "fix")
CQ_MISSING, CQ_STOPPED = ("cluster-queue-missing", "queue", "fix"), ("cluster-queue-stopped", "queue", "fix")
ODD = ("cluster-queue-misconfigured", "queue", "fix")
CASES = {
    "C01": Case(
        World(without=NO_LOCAL_QUEUE),
        blocked("LocalQueue batch doesn't exist"),
        *MISSING,
        ("nlp/batch", "nlp/interactive"),
        move="asker",
    ),
    "C01 close": Case(World(), elsewhere("batsch"), *MISSING, ("nlp/batch", f"{LABEL}=batch --overwrite")),
    "C01 of another namespace": Case(World(), elsewhere("main"), *MISSING, ("nlp/main",)),
    "C01 unread": Case(
        World(unread=("localqueues",)),
        blocked("LocalQueue batch doesn't exist"),
        "no-explanation-visible",
        "quota",
        "unknown",
        ("LocalQueue batch doesn't exist",),
        holes=True,
    ),
    "C02": Case(
        World(),
        blocked("LocalQueue  doesn't exist", spec={"queueName": ""}, job_labels={}),
        *MISSING,
        ("no label", "nlp/batch"),
    ),
    "C03": Case(
        World(local_queue=HELD),
        blocked("LocalQueue batch is inactive"),
        *STOPPED,
        ("Hold", '"stopPolicy":"None"'),
        move="queue-admin",
    ),
    "C03 beside quota": Case(World(full=True, local_queue=HELD), asked(waits(FULL)), *STOPPED, also=("quota-in-use",)),
    "C04": Case(World(local_queue=HELD), blocked("LocalQueue batch is stopped"), *STOPPED),
    "C21": Case(
        World(local_queue=DRAINED), stopped_by("LocalQueue"), *STOPPED, ("HoldAndDrain", "evicted"), ("was-evicted",)
    ),
    "C05": Case(World(without=NO_LOCAL_QUEUE), blocked("LocalQueue batch is terminating or missing"), *MISSING),
    "C05 terminating": Case(
        World(local_queue=GOING), blocked("LocalQueue batch is terminating or missing"), *MISSING, ("being deleted",)
    ),
    "C06": Case(World(without=NO_QUEUE), blocked("ClusterQueue nlp-cq doesn't exist"), *CQ_MISSING, ("nlp-cq",)),
    "C06 empty": Case(
        World(local_queue={"spec": {"clusterQueue": None}}),
        blocked("ClusterQueue  doesn't exist"),
        *CQ_MISSING,
        ("empty",),
    ),
    "C09b": Case(World(without=NO_QUEUE), asked(waits("ClusterQueue nlp-cq not found")), *CQ_MISSING),
    "C10": Case(
        World(cluster_queue=inactive("Stopped", "is stopped", stopPolicy="Hold")), INACTIVE, *CQ_STOPPED, ("Hold",)
    ),
    "C10 spec alone": Case(World(cluster_queue={"spec": {"stopPolicy": "Hold"}}), asked(waits(FULL)), *CQ_STOPPED),
    "C10 older": Case(
        World(api="v1beta1", kueue="v0.10.6", cluster_queue=inactive("Stopped", "is stopped", stopPolicy="Hold")),
        INACTIVE,
        *CQ_STOPPED,
    ),
    "C07 both stopped": Case(
        World(local_queue=HELD, cluster_queue=inactive("Stopped", "is stopped", stopPolicy="Hold")),
        INACTIVE,
        *STOPPED,
        also=("cluster-queue-stopped",),
    ),
    "C20": Case(
        World(cluster_queue=inactive("Stopped", "is stopped", stopPolicy="HoldAndDrain")),
        stopped_by("ClusterQueue"),
        *CQ_STOPPED,
        ("HoldAndDrain", "evicted"),
        ("was-evicted",),
    ),
    "C20 draining": Case(
        World(cluster_queue=inactive("Stopped", "is stopped", stopPolicy="HoldAndDrain")),
        running(condition("Evicted", "True", "ClusterQueueStopped", "The ClusterQueue is stopped", JUST_NOW)),
        *CQ_STOPPED,
    ),
    "C20 held, it runs on": Case(
        World(cluster_queue=inactive("Stopped", "is stopped", stopPolicy="Hold")),
        running(),
        "running",
        "running",
        "running",
        never=("cluster-queue-stopped",),
    ),
    "C11": Case(
        World(cluster_queue=merge(GOING, inactive("Terminating", "clusterQueue is terminating"))),
        INACTIVE,
        "cluster-queue-terminating",
        "queue",
        "fix",
        ("13:20",),
        move="queue-admin",
    ),
    "C12": Case(
        World(
            without=(("ResourceFlavor", "l40s"),),
            cluster_queue=inactive("FlavorNotFound", "references missing ResourceFlavor(s): l40s"),
        ),
        INACTIVE,
        "flavor-missing",
        "queue",
        "fix",
        ("l40s",),
    ),
    "C13": Case(
        World(
            cluster_queue=inactive(
                "AdmissionCheckNotFound", "references missing AdmissionCheck(s): budget", **checks("budget")
            )
        ),
        INACTIVE,
        "admission-check-missing",
        "queue",
        "fix",
        ("budget",),
    ),
    "C13 older": Case(
        World(
            api="v1beta1",
            kueue="v0.8.4",
            cluster_queue=inactive("CheckNotFoundOrInactive", "CheckNotFoundOrInactive", admissionChecks=["budget"]),
        ),
        INACTIVE,
        "admission-check-missing",
        "queue",
        "fix",
        ("budget",),
    ),
    "C14": Case(
        World(
            check_of("budget", "example.com/budget", active=condition("Active", "False", "Down", "接続なし")),
            cluster_queue=inactive(
                "AdmissionCheckInactive", "references inactive AdmissionCheck(s): budget", **checks("budget")
            ),
        ),
        INACTIVE,
        "admission-check-inactive",
        "queue",
        "fix",
        ("budget", "接続なし"),
        move="platform",
    ),
    "C14 nobody took it": Case(
        World(
            merge(check_of("budget", "example.com/budget"), {"status": {"conditions": []}}),
            cluster_queue=inactive(
                "AdmissionCheckInactive", "references inactive AdmissionCheck(s): budget", **checks("budget")
            ),
        ),
        INACTIVE,
        "admission-check-inactive",
        "queue",
        "fix",
        ("example.com/budget",),
    ),
    "C14 parameters": Case(
        World(
            PROVISIONING,
            cluster_queue=inactive(
                "AdmissionCheckInactive", "references inactive AdmissionCheck(s): capacity", **checks("capacity")
            ),
        ),
        INACTIVE,
        "admission-check-inactive",
        "queue",
        "fix",
        ("ProvisioningRequestConfig pools", "does not exist"),
    ),
    "C15": Case(
        World(
            WORKERS,
            WORKER,
            multikueue("mk"),
            multikueue("mk2"),
            cluster_queue=inactive("MultipleMultiKueueAdmissionChecks", "found: mk,mk2", **checks("mk", "mk2")),
        ),
        INACTIVE,
        *ODD,
        ("mk, mk2", "only one"),
    ),
    "C16b": Case(BOTH, INACTIVE, *ODD, ("MultiKueue and provisioning",)),
    "C17": Case(
        World(cluster_queue=inactive("TopologyNotFound", 'there is no Topology "racks" for TAS flavor "l40s"')),
        (*INACTIVE, RACKS),
        "topology-missing",
        "queue",
        "fix",
        ("racks",),
    ),
    "C17c": Case(World(cluster_queue=inactive("Unknown", "")), INACTIVE, *ODD),
    "a reason of tomorrow": Case(
        World(cluster_queue=inactive("Mondphase", "es ist Vollmond")), INACTIVE, *ODD, ("es ist Vollmond",)
    ),
    "C18 (X13)": Case(
        World(),
        (*asked(waits("ClusterQueue nlp-cq is inactive")), *RING),
        "cohort-cycle",
        "queue",
        "fix",
        ("labs → root → labs",),
    ),
    "C18 older": Case(
        World(api="v1beta1", kueue="v0.13.8"),
        (*asked(waits("ClusterQueue nlp-cq is inactive")), *RING),
        "cohort-cycle",
        "queue",
        "fix",
    ),
    "C18 newer": Case(
        World(kueue="v0.20.1", cluster_queue=inactive("CohortCycleDetected", "cohort has a cycle")),
        (*asked(waits("ClusterQueue nlp-cq is inactive", "Suspended")), *RING),
        "cohort-cycle",
        "queue",
        "fix",
    ),
    "C19": Case(
        World(TOPOLOGY),
        (*SYNCING, RACKS, event(SYNCING[1], "Pending", "ClusterQueue nlp-cq is inactive", at=JUST_NOW)),
        *ODD,
        ("topology", "may pass by itself"),
        move="platform",
    ),
    "C24": Case(
        World(cluster_queue={"spec": {"resourceGroups": []}}),
        asked(
            waits(
                "couldn't assign flavors to pod set main: resource cpu unavailable in ClusterQueue, "
                "resource nvidia.com/gpu unavailable in ClusterQueue"
            )
        ),
        "resource-not-covered",
        "quota",
        "never-as-written",
        ("cpu and nvidia.com/gpu",),
    ),
    "X11 resumed": Case(
        World(),
        blocked("LocalQueue batch is inactive"),
        "fits-but-not-admitted",
        "quota",
        "fix",
        also=("explanation-outdated",),
        never=("local-queue-stopped",),
    ),
    "X11 resumed, and full": Case(
        World(full=True), blocked("ClusterQueue nlp-cq is inactive"), "quota-in-use", "quota", "wait", ("8 of 8",)
    ),
    "X40 the flavor is back": Case(
        World(full=True),
        asked(waits("couldn't assign flavors to pod set main: flavor l40s not found")),
        "quota-in-use",
        "quota",
        "wait",
        never=("flavor-missing",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])
