"""Flavors and quota: causes F01 to F33, the arithmetic through cohorts and the units."""

from typing import Any

import pytest

from tests.causes.asked import Asked
from tests.clusters import Cluster
from tests.small import cohort, flavor, holder, local_queue, pod_set, queue, small, thing, waiting

GPU = "nvidia.com/gpu"
EIGHT = {"a100": {"cpu": 100, "memory": "400Gi", GPU: 8}}
SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
LANE = local_queue("train-queue", "ml-cq")
SHORT = "insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"
TAINTED = "untolerated taint {spot true NoSchedule <nil>} in flavor spot"
NOT_IN = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["b", "c"]}]}
                ]
            }
        }
    }
}


def said(*parts: str) -> str:
    return f"couldn't assign flavors to pod set main: {', '.join(parts)}"


def gpus(name: str, held: int, where: str = "ml-cq", in_flavor: str = "a100") -> tuple[dict[str, Any], ...]:
    return holder(name, where, {GPU: (in_flavor, held)})


def want(count: int, *reasons: str, **more: Any) -> tuple[dict[str, Any], ...]:
    return waiting("train", text=said(*reasons or (SHORT,)), nvidia_com__gpu=count, **more)


def selecting(**labels: str) -> dict[str, Any]:
    return pod_set(nvidia_com__gpu=1, spec={"nodeSelector": labels})


def changed(of: Cluster, name: str, **status: Any) -> Cluster:
    return of.edit("Workload", name, {"status": status})


def reserved_only(of: Cluster, name: str) -> Cluster:
    """The holder has quota and is not admitted."""
    kept = [c for c in of.get("Workload", name)["status"]["conditions"] if c["type"] != "Admitted"]
    return (
        changed(of, name, conditions=kept)
        .drop("Pod")
        .edit("Job", name.removeprefix("job-"), {"spec": {"suspend": True}})
    )


LIMITS = thing(
    "v1",
    "LimitRange",
    "defaults",
    "team-a",
    spec={"limits": [{"type": "Container", "defaultRequest": {"memory": "1Gi"}, "default": {"memory": "2Gi"}}]},
)
KATA = thing("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata", overhead={"podFixed": {"cpu": "2"}})
NEVER, WAIT, FIX = "never-as-written", "wait", "fix"
FULL = small(queue("ml-cq", EIGHT), gpus("big", 6), want(4))
TREE = small(
    queue("ml-cq", {"a100": {GPU: (4, 2, None)}}, "lab", preemption={"reclaimWithinCohort": "Any"}),
    queue("sib", {"a100": {GPU: (4, None, 2)}}, "lab"),
    cohort("lab", "org", {"a100": {GPU: (0, 6, None)}}),
    cohort("org", "", {"a100": {GPU: 8}}),
    LANE,
    gpus("h", 4),
    gpus("s", 3, "sib"),
    want(3),
)
PARENT = small(
    queue("ml-cq", {"a100": {GPU: 8}}, "lab"),
    queue("sib", {"a100": {GPU: 4}}, "lab"),
    queue("far", {"a100": {GPU: 20}}, "org"),
    cohort("lab", "org", {"a100": {GPU: (0, 4, None)}}),
    LANE,
    gpus("big", 8),
    gpus("other", 6, "sib"),
    want(4),
)

CASES = {
    "F01": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10}}),
            waiting(
                "train", text=said("resource nvidia.com/gpu unavailable in ClusterQueue"), cpu=1, nvidia_com__gpu=1
            ),
        ),
        "resource-not-covered",
        NEVER,
        (GPU, "it covers cpu"),
    ),
    "F01 nothing asked": Asked(
        small(queue("ml-cq", {"a100": {"cpu": 10}}), waiting("train", text=said("x"), cpu=1, nvidia_com__gpu=0)),
        "fits-but-not-admitted",
        FIX,
    ),
    "F01 covered since (X39)": Asked(
        small(queue("ml-cq", EIGHT), want(1, "resource nvidia.com/gpu unavailable in ClusterQueue")),
        "fits-but-not-admitted",
        FIX,
        also=("explanation-outdated",),
    ),
    "F01 by a LimitRange": Asked(
        small(queue("ml-cq", {"a100": {"cpu": 10}}), LIMITS, waiting("train", text=said("x"), cpu=1)),
        "resource-not-covered",
        NEVER,
        ("LimitRange team-a/defaults adds memory",),
    ),
    "F02": Asked(
        small(queue("ml-cq", EIGHT), want(1, "flavor a100 not found")).drop("ResourceFlavor", "a100"),
        "flavor-missing",
        FIX,
        ("a100",),
        stage="queue",
    ),
    "F02 made since (X40)": Asked(
        small(queue("ml-cq", EIGHT), want(1, "flavor a100 not found")), "fits-but-not-admitted", FIX
    ),
    "F03": Asked(
        small(queue("ml-cq", {"spot": {GPU: 8}}), flavor("spot", nodeTaints=[SPOT]), want(1, TAINTED)),
        "flavor-taint-not-tolerated",
        NEVER,
        ("spot=true:NoSchedule", "flavor spot has room now"),
        rows=(("spot", GPU, "1", "8", "0", "8", "8", "excluded"),),
    ),
    "F03 preferred": Asked(
        small(
            queue("ml-cq", {"spot": {GPU: 8}}),
            flavor("spot", nodeTaints=[SPOT | {"effect": "PreferNoSchedule"}]),
            want(1, "x"),
        ),
        "fits-but-not-admitted",
        FIX,
    ),
    "F03 tolerated by the flavor": Asked(
        small(
            queue("ml-cq", {"spot": {GPU: 8}}),
            flavor("spot", nodeTaints=[SPOT], tolerations=[{"key": "spot", "operator": "Exists"}]),
            want(1, TAINTED),
        ),
        "fits-but-not-admitted",
        FIX,
        ("which the flavor itself tolerates",),
    ),
    "F03 beside a full flavor": Asked(
        small(
            queue("ml-cq", {"spot": {GPU: 8}, "a100": {GPU: 8}}),
            flavor("spot", nodeTaints=[SPOT]),
            gpus("big", 8),
            want(2, SHORT, TAINTED),
        ),
        "quota-in-use",
        WAIT,
        ("Flavor spot is excluded (taint spot=true:NoSchedule)",),
    ),
    "F03 beside labels": Asked(
        small(
            queue("ml-cq", {"spot": {GPU: 8}, "lab": {GPU: 8}}),
            flavor("spot", nodeTaints=[SPOT]),
            flavor("lab", nodeLabels={"zone": "b"}),
            waiting("train", selecting(zone="a"), text=said("x")),
        ),
        "flavor-taint-not-tolerated",
        NEVER,
        ("labels zone",),
    ),
    "F03 beside a small flavor": Asked(
        small(
            queue("ml-cq", {"spot": {GPU: 8}, "tiny": {GPU: 1}}), flavor("spot", nodeTaints=[SPOT]), want(2, TAINTED)
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("flavor tiny", "1 too many"),
    ),
    "F04": Asked(
        small(
            queue("ml-cq", {"lab": {GPU: 8}, "lac": {GPU: 8}}),
            flavor("lab", nodeLabels={"zone": "b"}),
            flavor("lac", nodeLabels={"zone": "c"}),
            waiting("train", selecting(zone="a"), text=said("x")),
        ),
        "flavor-labels-not-selected",
        NEVER,
        ("zone=a", "lab (zone=b)", "Select zone=b instead"),
    ),
    "F04 by affinity": Asked(
        small(
            queue("ml-cq", {"lab": {GPU: 8}}),
            flavor("lab", nodeLabels={"zone": "b"}),
            waiting("train", pod_set(nvidia_com__gpu=1, spec=NOT_IN), text=said("x")),
        ),
        "flavor-labels-not-selected",
        NEVER,
        ("zone NotIn b, c",),
    ),
    "F05": Asked(
        small(
            queue("ml-cq", EIGHT),
            want(1, "skipping flavor a100 as it is not found in the nomination mapping for resource nvidia.com/gpu"),
        ),
        "fits-but-not-admitted",
        FIX,
    ),
    "F06": Asked(
        small(queue("ml-cq", {"a100": {GPU: 8}, "b": {GPU: 8}}), gpus("big", 8), want(2)).edit(
            "Workload",
            "job-train",
            {"metadata": {"annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": "a100"}}},
        ),
        "quota-in-use",
        WAIT,
        ("Flavor b is excluded",),
    ),
    "F08 F11": Asked(
        small(
            queue("ml-cq", EIGHT),
            want(
                16,
                "insufficient quota for nvidia.com/gpu in flavor a100, previously considered "
                "podsets requests (0) + current podset request (16) > maximum capacity (8)",
            ),
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("asks for 16", "never give more than 8", "8 too many"),
        move="asker",
    ),
    "F08 old": Asked(
        small(
            queue("ml-cq", EIGHT),
            want(16, "insufficient quota for nvidia.com/gpu in flavor a100, request > maximum capacity (16 > 8)"),
        ),
        "exceeds-queue-capacity",
        NEVER,
    ),
    "F12 zero": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: (8, 0, None)}}, "lab"), queue("o", {"a100": {GPU: 16}}, "lab"), LANE, want(16)
        ),
        "exceeds-borrowing-limit",
        NEVER,
        ("may borrow 0 on top of its 8",),
        move="queue-admin",
    ),
    "F12 more than the tree": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: (8, 4, None)}}, "lab"),
            queue("o", {"a100": {GPU: 16}}, "lab"),
            LANE,
            want(100),
        ),
        "exceeds-borrowing-limit",
        NEVER,
        ("never have more than 12",),
        rows=(("a100", GPU, "100", "8", "0", "12", "12", "never"),),
    ),
    "F12 slack": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: (8, 50, None)}}, "lab"),
            queue("o", {"a100": {GPU: (16, None, 2)}}, "lab"),
            LANE,
            want(16),
        ),
        "exceeds-cohort-capacity",
        NEVER,
        ("o keeps 14 by lendingLimit",),
    ),
    "F13": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}}, "lab"),
            cohort("lab", "org", {"a100": {GPU: (0, 2, None)}}),
            cohort("org", "", {"a100": {GPU: 20}}),
            want(16),
        ),
        "exceeds-borrowing-limit",
        NEVER,
        ("Cohort lab may borrow 2",),
    ),
    "F14": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 0}}, "lab"), queue("o", {"a100": {GPU: (8, None, 0)}}, "lab"), LANE, want(1)
        ),
        "exceeds-cohort-capacity",
        NEVER,
        ("never have more than 0",),
        never=("exceeds-borrowing-limit",),
    ),
    "F15": Asked(
        small(queue("ml-cq", {"a100": {GPU: 0}}), want(1)),
        "exceeds-queue-capacity",
        NEVER,
        ("more than 0",),
        move="queue-admin",
    ),
    "F15 may borrow": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 0}}, "lab"),
            queue("o", {"a100": {GPU: 8}}, "lab"),
            LANE,
            gpus("big", 8, "o"),
            want(1),
        ),
        "cohort-exhausted",
        WAIT,
        ("o uses 8",),
    ),
    "F16": Asked(
        small(
            queue("ml-cq", EIGHT),
            waiting(
                "train",
                pod_set("head", 1, cpu=1, nvidia_com__gpu=2),
                pod_set("workers", 4, cpu=1, nvidia_com__gpu=2),
                text="couldn't assign flavors to pod set workers: x",
            ),
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("asks for 10", "3 pods of pod set workers instead of 4"),
        ("pod-sets-compete",),
    ),
    "F09 F17 F24": Asked(
        FULL,
        "quota-in-use",
        WAIT,
        ("Needs 2 more", "6 of 8", "team-b/big holds 6"),
        rows=(("a100", GPU, "4", "8", "6", "2", "8", "wait"),),
        move="nobody",
    ),
    "F17 in a cohort": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}}, "lab"),
            queue("o", {"a100": {GPU: 8}}, "lab"),
            LANE,
            gpus("big", 8),
            gpus("ob", 8, "o"),
            want(2),
        ),
        "quota-in-use",
        WAIT,
        ("the cohort has no more to lend",),
    ),
    "F18 (X08)": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}}, "lab"),
            queue("o", {"a100": {GPU: 8}}, "lab"),
            LANE,
            gpus("ob", 14, "o"),
            want(4),
        ),
        "quota-lent-out",
        WAIT,
        ("uses 0 of its own 8", "o borrows 6", "reclaiming is off"),
        ("reclaim-disabled",),
    ),
    "F19": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: (8, 4, None)}}, "lab"),
            queue("o", {"a100": {GPU: 8}}, "lab"),
            LANE,
            gpus("big", 10),
            want(4),
        ),
        "borrowing-limit-reached",
        WAIT,
        ("uses 10 of the 12", "8 of its own and 4 borrowed"),
    ),
    "F19 of the Cohort": Asked(PARENT, "borrowing-limit-reached", WAIT, ("Cohort lab uses 14 of the 16",)),
    "F19 deep": Asked(
        TREE,
        "borrowing-limit-reached",
        WAIT,
        ("uses 4 of the 6",),
        rows=(("a100", GPU, "3", "4", "4", "2", "6", "wait"),),
    ),
    "F20": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 4}}, "lab"),
            queue("o", {"a100": {GPU: 8}}, "lab"),
            LANE,
            gpus("ob", 8, "o"),
            want(6),
        ),
        "cohort-exhausted",
        WAIT,
        ("has 4 of its own", "o uses 8"),
    ),
    "F20 higher": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 4}}, "lab"),
            cohort("lab", "org"),
            queue("o", {"a100": {GPU: 8}}, "org"),
            LANE,
            gpus("ob", 8, "o"),
            want(6),
        ),
        "cohort-exhausted",
        WAIT,
        ("Cohort org",),
    ),
    "F21 (X09)": Asked(reserved_only(FULL, "job-big"), "quota-in-use", WAIT, ("team-b/big holds 6, not admitted yet",)),
    "F22": Asked(
        FULL.condition(
            "Workload",
            "job-big",
            type="Evicted",
            status="True",
            reason="Preempted",
            message="Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue",
            lastTransitionTime="2026-01-01T10:00:00Z",
        ),
        "quota-held-by-stale-workload",
        FIX,
        ("evicted (Preempted) 2 hours ago",),
        ("quota-in-use",),
    ),
    "F23": Asked(
        small(queue("ml-cq", {"a100": {GPU: 4}}), gpus("big", 6), want(2)),
        "quota-in-use",
        WAIT,
        ("6 of 4",),
        rows=(("a100", GPU, "2", "4", "6", "0", "4", "wait"),),
    ),
    "F25": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 100, "pods": 2}}),
            holder("big", "ml-cq", {"pods": ("a100", 2)}),
            waiting("train", cpu=1, text=said("x")),
        ),
        "quota-in-use",
        WAIT,
        ("1 more Pod",),
    ),
    "F25 never": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 100, "pods": 2}}),
            waiting("train", pod_set("main", 5, cpu=1), text=said("x")),
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("5 Pods", "3 too many"),
    ),
    "F27 F28": Asked(
        small(
            queue("ml-cq", {"a": {"cpu": 10, GPU: 8}, "b": {"cpu": 10, GPU: 8}}),
            holder("x", "ml-cq", {"cpu": ("a", 10)}),
            gpus("y", 8, in_flavor="b"),
            waiting("train", cpu=2, nvidia_com__gpu=2, text=said("x")),
        ),
        "quota-in-use",
        WAIT,
        ("2 more CPUs in flavor a", "Flavor b lacks 2 nvidia.com/gpu"),
    ),
    "F30 L05": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10}}),
            holder("x", "ml-cq", {"cpu": ("a100", 8)}),
            waiting("train", pod_set("main", 8, cpu=1) | {"minCount": 4}, text=said("x")),
        ),
        "quota-in-use",
        WAIT,
        ("it starts with 4 of its 8 pods when 2 CPUs are released, and in full when 6 CPUs are released",),
    ),
    "F30 fits at its smallest": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10}}),
            holder("x", "ml-cq", {"cpu": ("a100", 6)}),
            waiting("train", pod_set("main", 8, cpu=1) | {"minCount": 4}, text=said("x")),
        ),
        "fits-but-not-admitted",
        FIX,
    ),
    "F31 counted by Kueue": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10}}),
            holder("x", "ml-cq", {"cpu": ("a100", 8)}),
            waiting(
                "train",
                cpu=1,
                text=said("x"),
                status={"resourceRequests": [{"name": "main", "resources": {"cpu": "3"}}]},
            ),
        ),
        "quota-in-use",
        WAIT,
        ("1 more CPU", "Kueue counts 3 CPUs; the pod templates state 1"),
    ),
    "F31 overhead": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 4}}),
            KATA,
            holder("x", "ml-cq", {"cpu": ("a100", 2)}),
            waiting("train", pod_set("main", 1, {"runtimeClassName": "kata"}, cpu=1), text=said("x")),
        ),
        "quota-in-use",
        WAIT,
        ("1 more CPU", "overhead of RuntimeClass kata"),
    ),
    "F31 LimitRange": Asked(
        small(
            queue("ml-cq", {"a100": {"cpu": 10, "memory": "512Mi"}}), LIMITS, waiting("train", cpu=1, text=said("x"))
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("512Mi too many", "which LimitRange team-a/defaults adds"),
    ),
    "F32": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 8}}),
            gpus("x", 4),
            waiting(
                "train",
                pod_set("head", 1, nvidia_com__gpu=3),
                pod_set("workers", 1, nvidia_com__gpu=4),
                text="couldn't assign flavors to pod set workers: x",
            ),
        ),
        "quota-in-use",
        WAIT,
        ("3 more",),
        ("pod-sets-compete",),
        rows=(("a100", GPU, "7", "8", "4", "4", "8", "wait"),),
    ),
    "finished holders do not count": Asked(
        FULL.condition("Workload", "job-big", type="Finished", status="True", reason="Succeeded", message="done"),
        "fits-but-not-admitted",
        FIX,
    ),
    "reclaimable pods of a holder": Asked(
        changed(
            small(queue("ml-cq", EIGHT), gpus("big", 8), want(4)),
            "job-big",
            reclaimablePods=[{"name": "main", "count": 1}],
            admission={
                "podSetAssignments": [
                    {"name": "main", "count": 2, "flavors": {GPU: "a100"}, "resourceUsage": {GPU: "8"}}
                ]
            },
        ),
        "fits-but-not-admitted",
        FIX,
    ),
    "never in one group, wait in another": Asked(
        small(
            queue("ml-cq", [{"d": {"cpu": 2}}, {"g": {GPU: 4}}]),
            gpus("x", 4, in_flavor="g"),
            waiting("train", cpu=3, nvidia_com__gpu=1, text=said("x")),
        ),
        "exceeds-queue-capacity",
        NEVER,
        ("3 CPUs in flavor d",),
        rows=(("d", "cpu", "3", "2", "0", "2", "2", "never"), ("g", GPU, "1", "4", "4", "0", "4", "wait")),
    ),
    "the flavor with the smaller shortage": Asked(
        small(
            queue("ml-cq", {"a": {GPU: 8}, "b": {GPU: 8}}),
            gpus("x", 8, in_flavor="a"),
            gpus("y", 7, in_flavor="b"),
            want(2),
        ),
        "quota-in-use",
        WAIT,
        ("1 more nvidia.com/gpu in flavor b", "Flavor a lacks 2"),
    ),
    "one flavor never, one wait": Asked(
        small(queue("ml-cq", {"a": {GPU: 1}, "b": {GPU: 8}}), gpus("y", 7, in_flavor="b"), want(2)),
        "quota-in-use",
        WAIT,
        ("Flavor a can never give more than 1 nvidia.com/gpu",),
    ),
    "limits stand for requests": Asked(
        small(
            queue("ml-cq", EIGHT),
            gpus("big", 6),
            waiting(
                "train",
                pod_set("main", 1, {"containers": [{"name": "m", "resources": {"limits": {GPU: "4"}}}]}),
                text=said(SHORT),
            ),
        ),
        "quota-in-use",
        WAIT,
        ("Needs 2 more",),
    ),
    "no status anywhere": Asked(
        FULL.edit("ClusterQueue", "ml-cq", {"status": None})
        .edit("LocalQueue", "train-queue", {"status": None})
        .edit("Workload", "job-train", {"status": None}),
        "quota-in-use",
        WAIT,
        ("6 of 8",),
    ),
    "effective quotas": Asked(
        FULL.edit(
            "ClusterQueue",
            "ml-cq",
            {
                "spec": {
                    "resourceGroups": [
                        {
                            "coveredResources": [GPU],
                            "flavors": [{"name": "a100", "resources": [{"name": GPU, "nominalQuota": "100"}]}],
                        }
                    ]
                },
                "status": {"effectiveQuotas": [{"name": "a100", "resources": [{"name": GPU, "nominalQuota": "8"}]}]},
            },
        ),
        "quota-in-use",
        WAIT,
        ("6 of 8",),
    ),
    "unlimited": Asked(
        small(
            queue("ml-cq", {"a100": {GPU: 1}}, "lab"),
            queue("o", {"a100": {GPU: "9223372036854775807"}}, "lab"),
            LANE,
            gpus("hh", 5, "o"),
            want(4),
        ),
        "fits-but-not-admitted",
        FIX,
    ),
    "until when": Asked(
        FULL.edit("Workload", "job-big", {"spec": {"maximumExecutionTimeSeconds": 14400}}),
        "quota-in-use",
        WAIT,
        ("Enough is released until 2026-01-01 14:00 UTC by their maximum execution time",),
    ),
}

UNITS = [
    (
        {"cpu": "1500m"},
        {"cpu": "0.75"},
        {"cpu": "1"},
        "250m more CPU",
        ("cpu", "1", "1500m", "750m", "750m", "1500m", "wait"),
    ),
    (
        {"cpu": "0.3"},
        {"cpu": "250m"},
        {"cpu": "0.0505"},
        "1m more CPU",
        ("cpu", "51m", "300m", "250m", "50m", "300m", "wait"),
    ),
    (
        {"cpu": "1e1"},
        {"cpu": "9500m"},
        {"cpu": "0.75"},
        "250m more CPU",
        ("cpu", "750m", "10", "9.5", "0.5", "10", "wait"),
    ),
    (
        {"memory": "1.5Gi"},
        {"memory": "1073741824"},
        {"memory": "600Mi"},
        "88Mi more memory",
        ("memory", "600Mi", "1536Mi", "1Gi", "512Mi", "1.5Gi", "wait"),
    ),
    (
        {"memory": "1G"},
        {"memory": "900M"},
        {"memory": "128M"},
        "more memory",
        ("memory", "128M", "1G", "900M", "100M", "1G", "wait"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()


@pytest.mark.parametrize(("quota", "used", "asks", "says", "row"), UNITS)
def test_units(
    quota: dict[str, str], used: dict[str, str], asks: dict[str, str], says: str, row: tuple[str, ...]
) -> None:
    held = {resource: ("a", value) for resource, value in used.items()}
    cluster = small(queue("ml-cq", {"a": quota}), holder("x", "ml-cq", held), waiting("train", text=said("x"), **asks))  # type: ignore[arg-type]
    resource, *figures = row
    answer = Asked(cluster, "quota-in-use", WAIT, (says,), rows=(("a", resource, *figures),)).check()  # type: ignore[arg-type]
    assert answer.outlook == "wait"


def test_older_versions_of_the_api_say_the_same() -> None:
    """Cohorts as v1alpha1 and v1beta1 have them."""
    items = []
    for item in TREE.items:
        spec = dict(item.get("spec") or {})
        if "cohortName" in spec:
            spec["cohort"] = spec.pop("cohortName")
        if item["kind"] == "Cohort" and "parentName" in spec:
            spec["parent"] = spec.pop("parentName")
        version = item["apiVersion"].replace("v1beta2", "v1alpha1" if item["kind"] == "Cohort" else "v1beta1")
        read = [
            entry.replace("v1beta2", "v1beta1").replace("v1beta1/cohorts", "v1alpha1/cohorts")
            for entry in item.get("read", ())
        ]
        items.append(
            {**item, "apiVersion": version, **({"spec": spec} if spec else {}), **({"read": read} if read else {})}
        )
    old, new = Asked(Cluster(tuple(items)), "borrowing-limit-reached", WAIT).check(), CASES["F19 deep"].check()
    assert (old.headline.sentence, old.quota) == (new.headline.sentence, new.quota)


def test_labels_of_the_whole_group() -> None:
    """An older Kueue compares pods with the labels of every flavor of the group (F04); a newer one does not."""
    text = said("flavor lab doesn't match node affinity", "flavor lac doesn't match node affinity")
    cluster = small(
        queue("ml-cq", {"lab": {GPU: 8}, "lac": {GPU: 8}}),
        flavor("lab", nodeLabels={"zone": "b"}),
        flavor("lac", nodeLabels={"rack": "c"}),
        waiting("train", selecting(zone="b", rack="c"), text=text),
    )
    head, *rest = cluster.items
    older = Cluster(({**head, "kueueVersion": "v0.17.3"}, *rest))
    answer = Asked(
        older, "flavor-labels-not-selected", NEVER, ("Do not select rack", "flavor lab has room now")
    ).check()
    issue = next(finding for finding in answer.context if finding.rule == "known-kueue-issue")
    assert "kubernetes-sigs/kueue#12446" in issue.sentence
    assert "Upgrade Kueue to 0.17.6" in issue.next[0].do
    assert "known-kueue-issue" not in {finding.rule for finding in cluster.ask("team-a/train").context}


def growing(pods: int, busy: int, flavors: dict[str, Any] | None = None) -> Cluster:
    """An elastic Job that runs with 2 pods and wants more, others holding some of 8."""
    queue_ = queue("ml-cq", flavors or {"a100": {GPU: 8}})
    cluster = small(
        queue_, gpus("big", busy), waiting("train", pod_set("main", pods, nvidia_com__gpu=1), text=said(SHORT))
    )
    elastic = {"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}}
    old = cluster.get("Workload", "job-big")
    mine = cluster.get("Workload", "job-train")["metadata"]
    old["metadata"] |= {
        **mine,
        "name": "job-train-1",
        "uid": "job-train-1",
        "annotations": elastic["metadata"]["annotations"],
    }
    part = {"name": "main", "count": 2, "flavors": {GPU: "a100"}, "resourceUsage": {GPU: "2"}}
    old["spec"]["podSets"] = [pod_set("main", 2, nvidia_com__gpu=1)]
    old["status"]["admission"] = {"clusterQueue": "ml-cq", "podSetAssignments": [part]}
    replaces = {"metadata": {"annotations": {"kueue.x-k8s.io/workload-slice-replacement-for": "team-a/job-train-1"}}}
    return (
        cluster.add(old)
        .edit("Job", "train", elastic | {"spec": {"suspend": False}})
        .edit("Workload", "job-train", replaces)
    )


def test_an_elastic_job_asks_for_the_difference() -> None:
    """F33, L01: 4 pods beside the 2 that run need 2 more GPUs, of which one is free."""
    rows = (("a100", GPU, "2", "8", "7", "1", "8", "wait"),)
    answer = Asked(growing(4, 5), "quota-in-use", WAIT, ("Needs 1 more", "3 pods instead of 4"), rows=rows).check()
    assert not [step for step in answer.headline.next if "per pod" in step.do or "partial admission" in step.do]


def test_an_elastic_job_keeps_its_flavor() -> None:
    """F07: flavor b is free and of no use."""
    cluster = growing(4, 6, {"a100": {GPU: 8}, "b": {GPU: 8}})
    answer = Asked(cluster, "quota-in-use", WAIT, ("the slice it replaces is in flavor a100",)).check()
    assert not [step for step in answer.headline.next if "pods instead of" in step.do]
