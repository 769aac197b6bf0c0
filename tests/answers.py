"""The answers to the question of every recording and case, and one answer that has everything, for tests of renderings."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bot.core.diagnosis import (
    Ahead,
    AheadJob,
    Diagnosis,
    Evidence,
    Finding,
    Holder,
    JobId,
    KueueSaid,
    Link,
    NotChecked,
    PodCounts,
    QuotaRow,
    Step,
    Withheld,
)
from bot.core.names import named, subject
from bot.core.snapshot import Gap, Snapshot, Versions
from tests.clusters import CASES, RECORDINGS, expectations, recorded

NOW = datetime(2026, 11, 30, 14, 52, 11, tzinfo=UTC)


@lru_cache(maxsize=1)
def questions() -> dict[str, tuple[str, str]]:
    """By the recording's name, what is asked about it: (namespace/name, kind or "")."""
    found = {}
    for folder, prefix in ((RECORDINGS, ""), (CASES, "cases/")):
        expected = {entry["name"]: entry for entry in expectations(folder)}
        for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
            if entry := expected.get(path.stem):
                name = prefix + str(path.relative_to(folder)).removesuffix(".json")
                found[name] = (str(entry["ask"]), str(entry.get("kind", "")))
    return found


@lru_cache(maxsize=512)
def answered(name: str) -> tuple[Diagnosis, Snapshot]:
    """The answer, not yet disclosed, and the snapshot it was made from."""
    ask, kind = questions()[name]
    cluster = recorded(name)
    return cluster.ask(ask, kind), cluster.snapshot()


def namespace(name: str) -> str:
    """The namespace that is asked about in a recording."""
    return questions()[name][0].partition("/")[0]


def full(**changes: object) -> Diagnosis:
    """An answer with something in every section, names marked, three other namespaces, other queues and a cohort."""
    quota = [
        QuotaRow(
            ("main",),
            "a100",
            "nvidia.com/gpu",
            4,
            8,
            6,
            2,
            8,
            2,
            "wait",
            None,
            f"{subject('ClusterQueue', 'gpu-cq')} nominalQuota",
        ),
        QuotaRow(("main",), "a100", "cpu", 1500, 64000, 4000, 60000, 64000, 0, "fits"),
        QuotaRow(
            ("main",),
            "spot",
            "nvidia.com/gpu",
            4,
            None,
            None,
            None,
            None,
            None,
            "excluded",
            "taint spot=true:NoSchedule",
        ),
        QuotaRow(("main",), "h100", "memory", 2**34, 2**33, 0, 2**33, 2**33, 2**33, "never", None, None),
    ]
    holders = [
        Holder(
            "team-b",
            "Job/secret-b",
            "job-secret-b-1a2b3",
            "gpu-cq",
            "a100",
            "nvidia.com/gpu",
            4,
            NOW - timedelta(hours=3),
        ),
        Holder("team-c", "Job/secret-c", "job-secret-c-4d5e6", "other-cq", "a100", "nvidia.com/gpu", 1, NOW),
        Holder("team-b", "Job/hidden-b", "job-hidden-b-7f8a9", "gpu-cq", "a100", "nvidia.com/gpu", 1, None),
        Holder(
            "team-a", "Job/mine", "job-mine-0c0c0", "gpu-cq", "a100", "nvidia.com/gpu", 1, NOW - timedelta(minutes=5)
        ),
    ]
    there = named("Workload", "job-secret-b-1a2b3", "team-b")
    headline = Finding(
        "quota-in-use",
        "quota",
        "certain",
        f"Needs 2 more nvidia.com/gpu in flavor a100: 6 of 8 are in use, most by the Workload {there}.",
        (
            subject("ClusterQueue", "gpu-cq"),
            subject("ResourceFlavor", "a100"),
            subject("Workload", "job-secret-b-1a2b3", "team-b"),
        ),
        (
            Evidence(subject("ClusterQueue", "gpu-cq"), "status.flavorsReservation[a100][nvidia.com/gpu].total", "6"),
            Evidence(subject("Workload", "job-secret-b-1a2b3", "team-b"), "status.admission", "holds 4", "computed"),
            Evidence(
                subject("Workload", "job-train-6cac3", "team-a"),
                "status.conditions[QuotaReserved].message",
                "preempted by team-b/job-secret-b-1a2b3 on path: /research/other-cq",
                "kueue",
            ),
        ),
        (
            Step("nobody", "Wait: it starts when 2 nvidia.com/gpu are released."),
            Step(
                "asker",
                "Or ask for 2 nvidia.com/gpu: that fits now.",
                "kubectl -n team-a patch job train --type merge -p '{}'",
            ),
            Step("platform", f"Or look at {there}.", f"kubectl get workload {there}"),
        ),
        {"holders": [there, named("Workload", "job-mine-0c0c0", "team-a")], "by": {there: 4}},
        "nobody",
        "wait",
    )
    also = Finding(
        "behind-in-queue",
        "quota",
        "reported",
        f"Stands behind {named('Job', 'secret-b', 'team-b')}, {named('Job', 'hidden-b', 'team-b')}"
        f" and {named('Job', 'secret-c', 'team-c')}.",
        (),
        (Evidence(subject("ClusterQueue", "other-cq"), "status.pendingWorkloads", "3"),),
        (),
        {},
        "nobody",
        "wait",
    )
    context = Finding(
        "was-preempted",
        "quota",
        "likely",
        f"Was preempted for a Job in namespace {named('Namespace', 'team-d')} 5 min ago.",
        (),
        (Evidence(subject("Workload", "job-train-6cac3", "team-a"), "status.conditions[Preempted]", "True"),),
        (),
        {},
        "nobody",
        "wait",
    )
    values: dict[str, object] = {
        "asked": "team-a/train",
        "read_as": "Job train in namespace team-a",
        "cluster": "",
        "job": JobId("batch/v1", "Job", "team-a", "train"),
        "stage": "quota",
        "admitted": False,
        "outlook": "wait",
        "move": "nobody",
        "headline": headline,
        "also": (also,),
        "context": (context,),
        "not_checked": (
            NotChecked("node-resources-insufficient", "nodes: forbidden for this identity"),
            NotChecked("behind-in-queue", "workloads in team-d: timed out after 8 s"),
        ),
        "complete": False,
        "chain": (
            Link("Workload", "job-train-6cac3", "not admitted", ok=False, namespace="team-a"),
            Link("LocalQueue", "train-queue", "active", ok=True, namespace="team-a"),
            Link("ClusterQueue", "gpu-cq", "active, BestEffortFIFO", ok=True),
            Link("ResourceFlavor", "a100", "2 nvidia.com/gpu short", ok=False),
            Link("Cohort", "research", "", ok=None),
        ),
        "quota": tuple(quota),
        "holders": tuple(holders),
        "ahead": Ahead(
            2, 5, (AheadJob("team-b", "Job/queued-b", "higher priority"), AheadJob("team-a", "Job/mine-too", "older"))
        ),
        "pods": PodCounts(4, 4, 3, 3),
        "kueue_said": KueueSaid(
            "couldn't assign flavors: team-b/secret-b holds them", "Pending", NOW - timedelta(minutes=14), None
        ),
        "withheld": Withheld(),
        "versions": Versions("v0.19.2", "v1.36.2", "v1beta2"),
        "observed_at": NOW,
        "gaps": (Gap("Workload", "timed out after 8 s", "team-d"), Gap("Node", "forbidden for this identity")),
    }
    return Diagnosis(**(values | changes))  # type: ignore[arg-type]


FOREIGN = (
    "team-b",
    "team-c",
    "team-d",
    "secret-b",
    "secret-c",
    "hidden-b",
    "queued-b",
    "1a2b3",
    "4d5e6",
    "7f8a9",
    "other-cq",
)
"""What in `full()` belongs to others."""
