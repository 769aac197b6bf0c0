"""Valid and queued, and Kueue has not looked at it, or not again: causes D01 to D13."""

from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import (
    EARLIER,
    JUST_NOW,
    RECENT,
    TEMPLATE,
    YESTERDAY,
    Object,
    World,
    asked,
    condition,
    event,
    holder,
    job,
    local_queue,
    waits,
    workload,
)
from tests.clusters import merge
from tests.made import made

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
NEVER = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor l40s, previously considered "
    "podsets requests (0) + current podset request (40) > maximum capacity (16)"
)
NOT_SELECTED = "workload namespace doesn't match ClusterQueue selector"
TIMED_OUT = "Exceeded the PodsReady timeout nlp/job-finetune-3fa5c"
BLOCKED = "waiting for all admitted workloads to be in PodsReady condition"
BYPASSED = "Bypassed scheduling evaluation because an equivalent workload recently failed"
STRICT = {"spec": {"queueingStrategy": "StrictFIFO"}}
BY_USAGE = {"spec": {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}}


def other(
    name: str,
    *conditions: Object,
    gpus: int = 6,
    queue: str = "batch",
    created: str = YESTERDAY,
    namespace: str = "nlp",
    **spec: Any,
) -> tuple[Object, Object]:
    """Another job that waits, older than the one in question unless told otherwise."""
    requests = {"cpu": "2", "nvidia.com/gpu": str(gpus)}
    container = {"name": "main", "image": "x", "resources": {"requests": requests}}
    template = merge(TEMPLATE, {"spec": {"containers": [container]}})
    owner = job(
        name=name,
        namespace=namespace,
        created=created,
        labels={"kueue.x-k8s.io/queue-name": queue},
        spec={"template": template},
    )
    pod_sets = [{"name": "main", "count": 1, "template": template}]
    status = {"resourceRequests": [{"name": "main", "resources": requests}]}
    return owner, workload(owner, *conditions, spec={"queueName": queue, "podSets": pod_sets, **spec}, status=status)


def twin(*conditions: Object) -> tuple[Object, Object]:
    """A job of the very same shape, a little older."""
    owner = job(name="twin", created=EARLIER)
    return owner, workload(owner, *conditions)


def used(name: str, amount: str) -> Object:
    usage = {"consumedResources": {"nvidia.com/gpu": amount}, "lastUpdate": RECENT}
    status = {"fairSharing": {"weightedShare": 0, "admissionFairSharingStatus": usage}}
    found: Object = merge(local_queue(name, "nlp-cq"), {"status": status})
    return found


def not_ready() -> list[Object]:
    """The job that holds quota, its pods never ready."""
    owner, load, *pods = holder("embed", "nlp", "nlp-cq", 4)
    load["status"]["conditions"].append(
        condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded", YESTERDAY)
    )
    others = holder("segment", "vision", "vision-cq", 8)
    others[1]["status"]["conditions"].append(
        condition("PodsReady", "True", "Started", "All pods reached readiness", YESTERDAY)
    )
    return [owner, load, *pods, *others]


def evicted(until: str, **status: Any) -> tuple[Object, Object]:
    state = {"requeueState": {"count": 3, "requeueAt": until}, **status}
    return asked(
        waits(TIMED_OUT),
        condition("Evicted", "True", "PodsReadyTimeout", TIMED_OUT),
        condition("Requeued", "False", "PodsReadyTimeout", TIMED_OUT),
        status=state,
    )


LATE = {"created": RECENT, "job_created": RECENT}
LEASE = made(
    "Lease",
    "c1f6bfd2.kueue.x-k8s.io",
    namespace="kueue-system",
    spec={"holderIdentity": "kueue-0", "leaseDurationSeconds": 15, "renewTime": "2026-11-30T13:30:00.000000Z"},
)
BEHIND, STRICTLY = ("behind-in-queue", "quota", "wait"), ("behind-in-strict-queue", "quota")
FITS = ("fits-but-not-admitted", "quota", "fix")
CASES = {
    "D01": Case(
        World(cluster_queue=STRICT),
        (*asked(), *other("giant", waits(NEVER), gpus=40)),
        *STRICTLY,
        "fix",
        ("nlp/giant", "24 more"),
        ("strict-fifo",),
        move="queue-admin",
    ),
    "D01 through another LocalQueue": Case(
        World(cluster_queue=STRICT),
        (*asked(), *other("big", waits(FULL), queue="interactive")),
        *STRICTLY,
        "wait",
        ("nlp/big", "2 more nvidia.com/gpu"),
        ("strict-fifo",),
    ),
    "D01 of higher priority": Case(
        World(cluster_queue=STRICT, api="v1beta1", kueue="v0.13.8"),
        (*asked(), *other("big", waits(FULL), created=RECENT, priority=100)),
        *STRICTLY,
        "wait",
    ),
    "D01 the head is off": Case(
        World(cluster_queue=STRICT),
        (*asked(), *other("big", waits(FULL), active=False)),
        *FITS,
        also=("strict-fifo",),
        never=("behind-in-strict-queue",),
    ),
    "D01 the head may not be here": Case(
        World(cluster_queue=merge(STRICT, {"spec": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}})),
        (
            *asked(),
            *other("big", waits(NOT_SELECTED), namespace="vision", queue="stray"),
            local_queue("stray", "nlp-cq", "vision"),
        ),
        *FITS,
        never=("behind-in-strict-queue",),
    ),
    "D01 of a queue that is not strict": Case(
        World(), (*asked(), *other("big", waits(FULL))), *FITS, never=("behind-in-strict-queue",)
    ),
    "D02 (X02)": Case(
        World(),
        asked(created=JUST_NOW, job_created=JUST_NOW),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        ("10 seconds",),
    ),
    "D02 a long queue": Case(
        World(),
        (*asked(), *(o for i in range(4) for o in other(f"q{i}", gpus=1))),
        *BEHIND,
        ("4 other Workloads", "nlp/q0"),
        move="nobody",
    ),
    "D03 silent": Case(
        World(), (*asked(**LATE), *twin(waits(FULL))), "behind-equivalent", "quota", "wait", ("nlp/twin",)
    ),
    "D03 said": Case(
        World(kueue="v0.20.1"),
        (*asked(waits(BYPASSED, "PendingEvaluation")), *twin(waits(FULL, "WaitingForQuota"))),
        "behind-equivalent",
        "quota",
        "wait",
        ("nlp/twin",),
    ),
    "D03 said, and full": Case(
        World(full=True, kueue="v0.20.1"),
        (*asked(waits(BYPASSED, "PendingEvaluation")), *twin(waits(FULL))),
        "quota-in-use",
        "quota",
        "wait",
        ("8 of 8",),
        ("behind-equivalent",),
    ),
    "D04 (J12)": Case(
        World(full=True),
        evicted(
            "2026-11-30T14:04:00Z",
            schedulingStats={
                "evictions": [{"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 3}]
            },
        ),
        "requeue-backoff",
        "queue",
        "wait",
        ("14:04", "4 minutes", "3 times"),
        ("was-evicted",),
        move="asker",
    ),
    "D04 over (X23)": Case(
        World(),
        evicted("2026-11-30T13:50:00Z"),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        also=("was-evicted",),
        never=("requeue-backoff",),
    ),
    "D05 (X01)": Case(
        World(),
        (*asked(waits(FULL)), event(asked()[1], "Pending", FULL)),
        *FITS,
        ("4 nvidia.com/gpu free for the 2",),
        ("explanation-outdated",),
        move="platform",
    ),
    "D06": Case(
        World(cluster_queue=BY_USAGE, local_queue={"status": used("batch", "900")["status"]}),
        (*asked(), *other("small", gpus=4, queue="interactive", created=RECENT), used("interactive", "1")),
        "fair-share-behind",
        "quota",
        "wait",
        ("nlp/small", "1 against 900"),
        ("behind-in-queue",),
    ),
    "D07": Case(
        World(),
        (*asked(waits(BLOCKED, "Waiting")), *not_ready()),
        "waiting-for-pods-ready",
        "quota",
        "wait",
        ("nlp/embed",),
        move="platform",
    ),
    "D07 newer": Case(
        World(kueue="v0.20.1"),
        (*asked(waits(BLOCKED, "WaitingForPodsReady")), *not_ready()),
        "waiting-for-pods-ready",
        "quota",
        "wait",
        ("nlp/embed",),
    ),
    "D08": Case(
        World(),
        (*asked(), *not_ready(), *other("x", waits(BLOCKED, "Waiting"), namespace="vision", queue="main")),
        "waiting-for-pods-ready",
        "quota",
        "wait",
        ("nlp/embed",),
    ),
    "D09": Case(
        World(),
        (*asked(), *other("sticky", waits(f"{FULL}. Pending the preemption of 2 workload(s)"), created=RECENT)),
        *BEHIND,
        ("nlp/sticky", "preemptions"),
    ),
    "D10": Case(
        World(LEASE, read=("coordination.k8s.io/v1/leases",)),
        asked(),
        "kueue-not-running",
        "workload",
        "fix",
        ("30 min",),
        move="platform",
    ),
    "D11": Case(
        World(),
        (*asked(), *other("vip", gpus=2, created=RECENT, priority=1000)),
        *BEHIND,
        ("nlp/vip", "1000 against 0"),
    ),
    "D12": Case(World(local_queue={"spec": {"stopPolicy": "Hold"}}), asked(), "local-queue-stopped", "queue", "fix"),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])
