"""What misleads: X01 to X46, as far as it is about quota, texts and state. Each has a tempting wrong cause beside it."""

from typing import Any

import pytest

from tests.causes.asked import Asked, condition, says
from tests.clusters import Cluster
from tests.small import GROUP, cohort, holder, pod_set, queue, small, thing, waiting

GPU, LONG_AGO, JUST_NOW = "nvidia.com/gpu", "2026-01-01T10:00:00Z", "2026-01-01T11:59:30Z"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"
WAIT, FIX = "wait", "fix"


def full(text: str = SHORT, **spec: Any) -> Cluster:
    return small(
        queue("ml-cq", {"a100": {"cpu": 100, GPU: 8}}, **spec),
        holder("big", "ml-cq", {GPU: ("a100", 6)}),
        waiting("train", text=text, nvidia_com__gpu=4),
    )


def free(of: Cluster) -> Cluster:
    return of.drop("Workload", "job-big")


def told(of: Cluster, reason: str, text: str) -> Cluster:
    return says(of, "job-train", condition("QuotaReserved", "False", reason, text))


CHECK = thing(
    f"{GROUP}/v1beta2",
    "AdmissionCheck",
    "prov",
    spec={"controllerName": "example.com/checks"},
    status={"conditions": [condition("Active", "True", "Active")]},
)
CHECKED = {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]}}}


def check_says(state: str) -> dict[str, Any]:
    return {
        "admissionChecks": [{"name": "prov", "state": state, "message": "no capacity", "lastTransitionTime": LONG_AGO}]
    }


RING = small(
    queue("ml-cq", {"a100": {GPU: 8}}, "a"), cohort("a", "b"), cohort("b", "a"), waiting("train", nvidia_com__gpu=1)
)
SILENT: dict[str, Any] = {"status": {"conditions": []}}
YOUNG = {"metadata": {"creationTimestamp": "2026-01-01T11:59:50Z"}}
OTHERS = {"namespaceSelector": {"matchLabels": {"team": "b"}}}

CASES = {
    "X01": Asked(free(full()), "fits-but-not-admitted", FIX, also=("explanation-outdated",)),
    "X02 short": Asked(full().edit("Workload", "job-train", SILENT), "quota-in-use", WAIT, ("6 of 8",)),
    "X02 fits": Asked(free(full().edit("Workload", "job-train", SILENT)), "fits-but-not-admitted", FIX),
    "X02 young": Asked(
        free(full()).edit("Workload", "job-train", SILENT | YOUNG), "not-evaluated-yet", "in-progress", ("10 seconds",)
    ),
    "X03": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}, "h100": {GPU: 8}}),
            holder("big", "ml-cq", {GPU: ("a100", 8)}),
            holder("huge", "ml-cq", {GPU: ("h100", 7)}),
            waiting("train", text=SHORT, nvidia_com__gpu=2),
        ),
        "quota-in-use",
        WAIT,
        ("1 more nvidia.com/gpu in flavor h100", "Flavor a100 lacks 2"),
    ),
    "X05": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10, GPU: 8}}),
            holder("b", "ml-cq", {GPU: ("a100", 8)}),
            waiting(
                "train", pod_set("head", nvidia_com__gpu=2), pod_set("w", cpu=20), text=SHORT.replace("main", "head")
            ),
        ),
        "exceeds-queue-capacity",
        "never-as-written",
        ("20 CPUs",),
    ),
    "X10": Asked(
        full("Workload namespace doesn't match ClusterQueue selector", **OTHERS),
        "namespace-not-selected",
        FIX,
        ("team=b",),
        stage="queue",
    ),
    "X10 nothing selected": Asked(
        full("workload namespace doesn't match ClusterQueue selector").edit(
            "ClusterQueue", "ml-cq", {"spec": {"namespaceSelector": None}}
        ),
        "namespace-not-selected",
        FIX,
        ("no namespaceSelector",),
        stage="queue",
    ),
    "X10 selected since": Asked(
        full("workload namespace doesn't match ClusterQueue selector"),
        "quota-in-use",
        WAIT,
        also=("explanation-outdated",),
        never=("namespace-not-selected",),
    ),
    "X11": Asked(
        told(full(), "Inadmissible", "ClusterQueue ml-cq is inactive"),
        "quota-in-use",
        WAIT,
        also=("explanation-outdated",),
        never=("cluster-queue-stopped", "cluster-queue-misconfigured"),
    ),
    "X11 and room": Asked(
        free(told(full(), "Inadmissible", "LocalQueue train-queue is inactive")), "fits-but-not-admitted", FIX
    ),
    "X12": Asked(
        told(full(), "Inadmissible", "LocalQueue train-queue is inactive").edit(
            "LocalQueue", "train-queue", {"spec": {"stopPolicy": "Hold"}, "status": {"pendingWorkloads": 0}}
        ),
        "local-queue-stopped",
        FIX,
        stage="queue",
    ),
    "X13": Asked(
        told(RING, "Inadmissible", "ClusterQueue ml-cq is inactive"), "cohort-cycle", FIX, ("a → b → a",), stage="queue"
    ),
    "X14": Asked(
        says(
            full(),
            "job-train",
            condition("Evicted", "True", "Preempted", "x"),
            condition("Preempted", "True", "InClusterQueue", "x"),
        ),
        "quota-in-use",
        WAIT,
        also=("was-evicted",),
    ),
    "X18": Asked(
        says(full(), "job-train", status=check_says("Pending")).edit("ClusterQueue", "ml-cq", CHECKED).add(CHECK),
        "quota-in-use",
        WAIT,
        never=("admission-check-pending",),
    ),
    "E08, a check that says Retry": Asked(
        says(full(), "job-train", status=check_says("Retry")).edit("ClusterQueue", "ml-cq", CHECKED).add(CHECK),
        "admission-check-pending",
        "in-progress",
        ("no capacity",),
        never=("quota-in-use",),
        stage="checks",
    ),
    "X22": Asked(
        says(
            full(),
            "job-train",
            condition("Evicted", "True", "Deactivated", "The workload is deactivated"),
            spec={"active": False},
        ),
        "deactivated",
        FIX,
        stage="queue",
    ),
    "X28": Asked(
        says(
            full(), "job-train", condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded")
        ),
        "quota-in-use",
        WAIT,
        never=("waiting-for-pods-ready",),
    ),
    "X45": Asked(
        says(
            full(),
            "job-train",
            condition("Requeued", "False", "DeactivatedDueToRequeuingLimitExceeded", "x"),
            condition("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded", "x"),
        ),
        "reactivation-ignored",
        FIX,
        stage="queue",
    ),
    "granular: more than the maximum": Asked(
        told(
            small(queue("ml-cq", {"a100": {GPU: 2}}), waiting("train", nvidia_com__gpu=4)),
            "ExceedsMaxQuota",
            "couldn't assign flavors to pod set "
            "main: insufficient quota for nvidia.com/gpu in flavor a100, previously considered podsets requests "
            "(0) + current podset request (4) > maximum capacity (2)",
        ),
        "exceeds-queue-capacity",
        "never-as-written",
    ),
    "granular: bypassed": Asked(
        told(
            free(full()),
            "PendingEvaluation",
            "Bypassed scheduling evaluation because an equivalent workload recently failed",
        ),
        "behind-equivalent",
        WAIT,
    ),
    "granular: not looked at, and short": Asked(
        told(full(), "PendingEvaluation", "Workload is pending evaluation in the scheduling queue"),
        "quota-in-use",
        WAIT,
    ),
    "granular: suspended": Asked(
        told(full(stopPolicy="Hold"), "Suspended", "ClusterQueue ml-cq is inactive"),
        "cluster-queue-stopped",
        FIX,
        stage="queue",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()


def test_usage_by_the_queues_status_where_workloads_are_not_read() -> None:
    """X09: reserved counts, not admitted."""
    mine = full().get("Workload", "job-train")
    reserved = [{"name": "a100", "resources": [{"name": GPU, "total": "6", "borrowed": "0"}]}]
    used = [{"name": "a100", "resources": [{"name": GPU, "total": "1", "borrowed": "0"}]}]
    status = {"flavorsReservation": reserved, "flavorsUsage": used}
    cluster = full().unread("workloads").add(mine).edit("ClusterQueue", "ml-cq", {"status": status})
    rows = (("a100", GPU, "4", "8", "6", "2", "8", "wait"),)
    Asked(cluster, "quota-in-use", WAIT, ("6 of 8",), rows=rows).check()
