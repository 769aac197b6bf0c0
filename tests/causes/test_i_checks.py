"""Quota is reserved and a check has not said yes: causes I01 to I28."""

from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import EARLIER, JUST_NOW, Object, World, admission, admitted, asked, condition, reserved, waits
from tests.clusters import merge
from tests.made import made

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
NO_ROOM = "Out of capacity in 地域"


def demands(*names: str) -> Object:
    return {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": name} for name in names]}}}


def of(name: str, controller: str, parameters: Object | None = None, active: Object | None = None) -> Object:
    spec = {"controllerName": controller, **({"parameters": parameters} if parameters else {})}
    state = {"conditions": [active or condition("Active", "True", "Active", "The admission check is active")]}
    return made("AdmissionCheck", name, namespace="", spec=spec, status=state)


def says(name: str, state: str, message: str = "", **more: Any) -> Object:
    return {"name": name, "state": state, "message": message, "lastTransitionTime": EARLIER, **more}


def holds(*states: Object, conditions: tuple[Object, ...] = (), **fields: Any) -> tuple[Object, Object]:
    """The job with quota and these checks."""
    status = {**admission(), "admissionChecks": list(states), **fields.pop("status", {})}
    return asked(reserved(), *conditions, status=status, **fields)


def gave_back(text: str, *states: Object, again: str = "", **fields: Any) -> tuple[Object, Object]:
    """The job after a check said Retry and Kueue took the quota back; `again`: until when it waits."""
    requeued = condition("Requeued", *(("False", "AdmissionCheck") if again else ("True", "BackoffFinished")))
    state = {"count": 1, **({"requeueAt": again} if again else {})}
    return asked(
        waits(text),
        condition("Evicted", "True", "AdmissionCheck", text),
        requeued,
        status={"admissionChecks": list(states), "requeueState": state},
        **fields,
    )


BUDGET = of("予算", "example.com/budget")
RESET = "Reset to Pending after eviction. Previously: Retry"
RETRY = 'Evicted due to AdmissionCheck in Retry state: "予算" (morgen wieder)'
PARAMETERS = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "pools"}
CAPACITY = of("capacity", "kueue.x-k8s.io/provisioning-request", PARAMETERS)
POOLS = made(
    "ProvisioningRequestConfig",
    "pools",
    namespace="",
    spec={
        "provisioningClassName": "queued-provisioning.gke.io",
        "managedResources": ["nvidia.com/gpu"],
        "retryStrategy": {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800},
    },
)
FAILED = condition("Failed", "True", "FailedToProvision", NO_ROOM)
BOOKED = condition("Provisioned", "True", "Provisioned", "")
EXPIRED = condition("BookingExpired", "True", "BookingExpired", "Buchung verfallen")
REVOKED = condition("CapacityRevoked", "True", "CapacityRevoked", "nodes taken away")
ETA = "Waiting for resources, ETA: 2026-11-30T15:00:00Z"


def request(number: int, *conditions: Object) -> Object:
    owner = holds()[1]
    spec = {
        "provisioningClassName": "queued-provisioning.gke.io",
        "podSets": [{"count": 2, "podTemplateRef": {"name": "ppt"}}],
    }
    name = f"job-finetune-3fa5c-capacity-{number}"
    return made(
        "ProvisioningRequest",
        name,
        namespace="nlp",
        owner=owner,
        created=EARLIER,
        spec=spec,
        status={"conditions": list(conditions)},
    )


WORKERS = made("MultiKueueConfig", "workers", namespace="", spec={"clusters": ["eu", "us"]})
MULTI = of(
    "mk", "kueue.x-k8s.io/multikueue", {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "workers"}
)
MANAGED = {"managedBy": "kueue.x-k8s.io/multikueue"}


def worker(name: str, status: str = "True", reason: str = "Active", message: str = "Connected") -> Object:
    return made(
        "MultiKueueCluster", name, namespace="", status={"conditions": [condition("Active", status, reason, message)]}
    )


ONE, TWO = (
    World(BUDGET, cluster_queue=demands("予算")),
    World(BUDGET, of("scan", "example.com/scan"), cluster_queue=demands("予算", "scan")),
)
OLD_ONE = World(BUDGET, cluster_queue=demands("予算"), api="v1beta1", kueue="v0.17.0")
NODES = World(CAPACITY, POOLS, cluster_queue=demands("capacity"))
FLEET = World(MULTI, WORKERS, worker("eu"), worker("us"), cluster_queue=demands("mk"))
CUT_OFF = World(
    MULTI, WORKERS, worker("eu"), worker("us", "False", "BadKubeConfig", "Secret fehlt"), cluster_queue=demands("mk")
)
AUDITED = World(MULTI, WORKERS, worker("eu"), worker("us"), BUDGET, cluster_queue=demands("mk", "予算"))
LOST = (
    'Evicted due to AdmissionCheck in Retry state: "mk" (Workload evicted on worker cluster: "us", resetting for re-admission. '
    'Previously: "Ready")'
)
GONE = f'Evicted due to AdmissionCheck in Retry state: "capacity" (Retrying after failure: {NO_ROOM})'
PENDING, REJECTED = ("admission-check-pending", "checks", "in-progress"), ("admission-check-rejected", "queue", "fix")
NO_NODES, NODES_COMING = ("provisioning-failed", "checks", "fix"), ("provisioning-pending", "checks", "in-progress")
UNTAKEN, REMOTE = ("multikueue-waiting", "checks", "in-progress"), ("runs-on-another-cluster", "pods", "in-progress")
CASES = {
    "I01 (X20)": Case(
        ONE, holds(says("予算", "Pending")), *PENDING, ("予算", "says nothing", "example.com/budget"), move="platform"
    ),
    "I02": Case(
        ONE,
        holds(says("予算", "Pending", "待機中: 承認を待っています")),
        *PENDING,
        ("承認を待っています", "40 minutes"),
    ),
    "I02 of two": Case(
        TWO, holds(says("予算", "Ready", "ok"), says("scan", "Pending", "läuft")), *PENDING, ("scan", "läuft")
    ),
    "I02 not active": Case(
        World(
            of("予算", "example.com/budget", active=condition("Active", "False", "Down", "weg")),
            cluster_queue=demands("予算"),
        ),
        holds(says("予算", "Pending")),
        *PENDING,
        ("not active", "weg"),
        never=("admission-check-inactive",),
    ),
    "I03": Case(
        ONE,
        holds(
            says("予算", "Retry", "morgen wieder"),
            conditions=(condition("Evicted", "True", "AdmissionCheck", RETRY, JUST_NOW),),
        ),
        *PENDING,
        ("morgen wieder",),
        ("was-evicted",),
    ),
    "I04": Case(ONE, holds(says("予算", "Rejected", "nein")), *REJECTED, ("予算", "nein"), move="queue-admin"),
    "I05 (X19)": Case(ONE, gave_back(RETRY, says("予算", "Pending", RESET)), *PENDING, ("morgen wieder", "went back")),
    "I05 older": Case(
        OLD_ONE,
        gave_back("At least one admission check is false", says("予算", "Pending", RESET)),
        *PENDING,
        ("new try",),
    ),
    "I05 in backoff": Case(
        ONE,
        gave_back(RETRY, says("予算", "Pending", RESET), again="2026-11-30T14:10:00Z"),
        "requeue-backoff",
        "queue",
        "wait",
        ("14:10", "morgen wieder"),
        ("admission-check-pending",),
    ),
    "X18 no quota yet": Case(
        World(BUDGET, cluster_queue=demands("予算"), full=True),
        asked(waits(FULL), status={"admissionChecks": [says("予算", "Pending")]}),
        "quota-in-use",
        "quota",
        "wait",
        never=("admission-check-pending",),
    ),
    "every check is Ready": Case(
        ONE,
        holds(says("予算", "Ready")),
        "no-explanation-visible",
        "quota",
        "unknown",
        ("held quota", "every admission check is Ready"),
    ),
    "X18 a draining queue comes first": Case(
        World(BUDGET, cluster_queue=merge(demands("予算"), {"spec": {"stopPolicy": "HoldAndDrain"}})),
        holds(says("予算", "Pending")),
        "cluster-queue-stopped",
        "queue",
        "fix",
        also=("admission-check-pending",),
    ),
    "a held queue keeps nothing that has quota": Case(
        World(BUDGET, cluster_queue=merge(demands("予算"), {"spec": {"stopPolicy": "Hold"}})),
        holds(says("予算", "Pending")),
        *PENDING,
        never=("cluster-queue-stopped",),
    ),
    "I06": Case(
        World(CAPACITY, cluster_queue=demands("capacity")),
        holds(says("capacity", "Pending", "the check is not active")),
        *PENDING,
    ),
    "I07": Case(
        World(CAPACITY, POOLS, BUDGET, cluster_queue=demands("capacity", "予算")),
        holds(says("capacity", "Ready", "the provisioning request is not needed"), says("予算", "Pending")),
        *PENDING,
        ("予算",),
    ),
    "I08": Case(
        NODES,
        holds(says("capacity", "Pending", 'Error creating ProvisioningRequest "x": forbidden')),
        *PENDING,
        ("forbidden",),
    ),
    "I09": Case(
        NODES,
        (*holds(says("capacity", "Pending")), request(1)),
        *NODES_COMING,
        ("attempt 1", "no autoscaler"),
        move="nobody",
    ),
    "I10": Case(
        NODES,
        (
            *holds(says("capacity", "Pending", ETA)),
            request(
                1,
                condition("Accepted", "True", "Accepted"),
                condition("Provisioned", "False", "ResourcePoolExhausted", ETA),
            ),
        ),
        *NODES_COMING,
        ("15:00:00",),
    ),
    "I11": Case(
        NODES,
        (*holds(says("capacity", "Retry", f"Retrying after failure: {NO_ROOM}")), request(1, FAILED)),
        *NO_NODES,
        (NO_ROOM, "3 more attempts"),
        move="platform",
    ),
    "I11 given back": Case(
        NODES, (*gave_back(GONE, says("capacity", "Pending", RESET)), request(1, FAILED)), *NO_NODES, (NO_ROOM,)
    ),
    "I11 in backoff": Case(
        NODES,
        (*gave_back(GONE, says("capacity", "Pending", RESET), again="2026-11-30T14:02:00Z"), request(1, FAILED)),
        "requeue-backoff",
        "queue",
        "wait",
        (NO_ROOM,),
        ("provisioning-failed",),
    ),
    "I11 the next one is open": Case(
        NODES,
        (*holds(says("capacity", "Pending")), request(1, FAILED), request(2)),
        *NODES_COMING,
        ("attempt 2",),
        never=("provisioning-failed",),
    ),
    "I12": Case(NODES, (*holds(says("capacity", "Rejected", NO_ROOM)), request(4, FAILED)), *REJECTED, (NO_ROOM,)),
    "I13": Case(
        NODES,
        (
            *holds(says("capacity", "Retry", "Retrying after booking expired: Buchung verfallen")),
            request(1, BOOKED, EXPIRED),
        ),
        *NO_NODES,
        ("Buchung verfallen",),
    ),
    "I14": Case(
        NODES, (*holds(says("capacity", "Rejected", "Buchung verfallen")), request(4, BOOKED, EXPIRED)), *REJECTED
    ),
    "I15": Case(
        NODES,
        (*holds(says("capacity", "Rejected", "nodes taken away")), request(1, BOOKED, REVOKED)),
        *REJECTED,
        ("nodes taken away",),
    ),
    "I16 no request": Case(NODES, holds(says("capacity", "Pending")), *PENDING, ("no ProvisioningRequest",)),
    "I17": Case(
        FLEET,
        holds(says("mk", "Pending"), status={"nominatedClusterNames": ["eu"]}, job_spec=MANAGED),
        *UNTAKEN,
        ("has asked eu",),
        move="nobody",
    ),
    "I18": Case(
        AUDITED,
        holds(says("mk", "Pending"), says("予算", "Pending", "wartet"), job_spec=MANAGED),
        *UNTAKEN,
        ("until AdmissionCheck 予算 is Ready",),
        ("admission-check-pending",),
    ),
    "I19": Case(
        FLEET,
        holds(says("mk", "Rejected", 'No multikueue adapter found for owner kind "batch/v1, Kind=Job"')),
        *REJECTED,
    ),
    "I20": Case(
        FLEET,
        holds(says("mk", "Rejected", 'The owner is not managed by Kueue: Expecting spec.managedBy to be "x" not ""')),
        *REJECTED,
        ("spec.managedBy: kueue.x-k8s.io/multikueue",),
    ),
    "I21": Case(
        CUT_OFF,
        holds(says("mk", "Retry", 'Admitting remote lost, Previously: "Ready"'), job_spec=MANAGED),
        *UNTAKEN,
        ("Admitting remote lost", "Secret fehlt"),
    ),
    "I25": Case(
        FLEET,
        gave_back(LOST, says("mk", "Pending", RESET), job_spec=MANAGED),
        *UNTAKEN,
        ("evicted on worker cluster: 'us'",),
    ),
    "I26 (N08, X24)": Case(
        FLEET,
        asked(
            *admitted(),
            status={
                **admission(),
                "clusterName": "us",
                "admissionChecks": [says("mk", "Ready", 'The workload was admitted on "us"')],
            },
            job_spec=MANAGED,
        ),
        *REMOTE,
        ("us",),
        never=("job-still-suspended", "managed-by-other-controller"),
    ),
    "I26 older": Case(
        FLEET,
        asked(
            *admitted(),
            status={**admission(), "admissionChecks": [says("mk", "Ready", 'The workload got reservation on "us"')]},
            job_spec=MANAGED,
        ),
        *REMOTE,
        ("us",),
    ),
    "I27": Case(
        World(
            merge(
                MULTI,
                {
                    "status": {
                        "conditions": [condition("Active", "False", "NoUsableClusters", "Missing clusters: [eu us]")]
                    }
                },
            ),
            WORKERS,
            cluster_queue=merge(
                demands("mk"),
                {
                    "status": {
                        "conditions": [
                            condition(
                                "Active",
                                "False",
                                "AdmissionCheckInactive",
                                "Can't admit new workloads: references inactive AdmissionCheck(s): mk.",
                            )
                        ]
                    }
                },
            ),
        ),
        asked(waits("ClusterQueue nlp-cq is inactive", "Inadmissible"), job_spec=MANAGED),
        "admission-check-inactive",
        "queue",
        "fix",
        ("Missing clusters",),
    ),
    "I28": Case(
        CUT_OFF,
        holds(says("mk", "Pending"), status={"nominatedClusterNames": ["us"]}, job_spec=MANAGED),
        *UNTAKEN,
        ("Secret fehlt",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])
