"""No Workload exists although a job does: causes A01 to A32."""

import hashlib
from typing import Any

import pytest

from tests.causes.case import Case, check
from tests.causes.world import (
    EARLIER,
    NOW,
    QUEUE,
    RECENT,
    TEMPLATE,
    Object,
    World,
    admission,
    admitted,
    condition,
    event,
    job,
    pod,
    waits,
    workload,
)
from tests.clusters import merge
from tests.made import made, refer

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
LABEL = "kueue.x-k8s.io/queue-name"
UNSCHEDULABLE = [condition("PodScheduled", "False", "Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")]
GATED = [
    condition("PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
]


def configured(text: str, *, also: tuple[Object, ...] = (), **more: Any) -> World:
    """A cluster whose Kueue configuration could be read."""
    body = f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{text}\n"
    config = made(
        "ConfigMap", "kueue-manager-config", namespace="kueue-system", data={"controller_manager_config.yaml": body}
    )
    return World({**config, "spec": None, "status": None}, *also, read=("v1/configmaps", *more.pop("read", ())), **more)


MINE = configured("integrations:\n  frameworks: ['batch/job', 'jobset.x-k8s.io/jobset', 'ray.io/rayjob', 'pod']")


def template(**changes: Any) -> Object:
    return {"template": merge(TEMPLATE, changes)}


def replicated(*templates: Object) -> Object:
    jobs = [
        {"name": f"w{i}", "replicas": 1, "template": {"spec": {"template": entry}}} for i, entry in enumerate(templates)
    ]
    return {"replicatedJobs": jobs}


def member(number: int, total: str = "4", queue: str = "batch", **changes: Any) -> Object:
    """A pod of the group `sweep`."""
    labels = {LABEL: queue, "kueue.x-k8s.io/pod-group-name": "sweep", "kueue.x-k8s.io/managed": "true"}
    total_count = {"kueue.x-k8s.io/pod-group-total-count": total} if total else {}
    made_so = made(
        "Pod",
        f"sweep-{number}",
        namespace="nlp",
        created=EARLIER,
        labels=labels,
        annotations=total_count,
        spec={**TEMPLATE["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        status={"phase": "Pending", "conditions": GATED},
    )
    found: Object = merge(made_so, changes)
    return found


def shaped(number: int) -> Object:
    spec = {"containers": [{"name": "m", "image": "x", "resources": {"requests": {"cpu": str(number + 1)}}}]}
    return member(number, "20", spec=spec)


def group(*pods: Object, owner: bool = True) -> tuple[Object, ...]:
    """A pod group with its Workload, which waits."""
    one = workload(pods[0], waits(FULL), name="sweep", labels={})
    owners = [refer(each, controller=False) for each in pods] if owner else []
    return (*pods, merge(one, {"metadata": {"ownerReferences": owners}}))


def leaving(of: Object, **changes: Any) -> Object:
    meta = {"deletionTimestamp": RECENT, "finalizers": ["example.com/数据"]}
    found: Object = merge(of, {"metadata": meta, **changes})
    return found


def labelled(key: str) -> Object:
    return job(labels={key: "batch"})


RUNS = job(labels={}, suspended=False)
CHILD_OF = job("JobSet", name="big", spec=replicated(TEMPLATE))
CHILD = job(name="big-w-0", labels={}, owner=CHILD_OF)
TRAIN = job("TrainJob", name="big")
TRAIN_SET = job("JobSet", name="big-set", labels={}, owner=TRAIN)
TRAIN_CHILD = job(name="big-set-node-0", labels={}, owner=TRAIN_SET)
FOREIGN = {"apiVersion": "example.com/v1", "kind": "Pipeline", "metadata": {"name": "flow", "uid": "u-1"}}
DEEP = job(labels={}, owner=FOREIGN)
NESTED = event(
    DEEP, "JobNestingTooDeep", "Terminated search for Kueue-managed Job because ancestor depth exceeded limit of 10"
)
CHOOSING = job("RayJob", spec={"clusterSelector": {"ray.io/cluster": "shared"}})
SHARED = job("RayCluster", name="shared")
FREE_CHOOSING = job("RayJob", suspended=False, spec={"clusterSelector": {"ray.io/cluster": "shared"}})
WEB = made(
    "Deployment",
    "serve",
    namespace="nlp",
    labels=QUEUE,
    spec={"replicas": 2, "template": TEMPLATE},
    status={"replicas": 2},
)
WEB_SET = made("ReplicaSet", "serve-1", namespace="nlp", owner=WEB, spec={"replicas": 2})
NIGHTLY = made(
    "CronJob",
    "nightly",
    namespace="nlp",
    spec={"schedule": "0 1 * * *", "jobTemplate": {"metadata": {"labels": QUEUE}, "spec": template()}},
)
DENIED = (
    'Error creating job: admission webhook "vjob.kb.io" denied the request: metadata.labels[kueue.x-k8s.io/'
    'max-exec-time-seconds]: Invalid value: "-1": should be greater than 0'
)
UNANSWERED = (
    'Error creating job: Internal error occurred: failed calling webhook "mjob.kb.io": failed to call webhook: Post '
    '"https://kueue-webhook-service.kueue-system.svc:443/mutate-batch-v1-job?timeout=10s": no endpoints available for service '
    '"kueue-webhook-service"'
)
CLASS = made("WorkloadPriorityClass", "prod-high", namespace="", value=1000)
DOWN = made(
    "Deployment",
    "kueue-controller-manager",
    namespace="kueue-system",
    spec={"replicas": 1},
    labels={"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"},
    status={"replicas": 1},
)
OWN_NAME = (
    "job-finetune-" + hashlib.sha1(b"Job\nbatch\nfinetune\njob-finetune-uid", usedforsecurity=False).hexdigest()[:5]
)
ELSE = job(name="else")


def serving(number: int) -> tuple[Object, Object]:
    one = made(
        "Pod",
        f"serve-1-{number}",
        namespace="nlp",
        owner=WEB_SET,
        labels={**QUEUE, "kueue.x-k8s.io/managed": "true"},
        spec={**TEMPLATE["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
        status={"phase": "Pending", "conditions": GATED},
    )
    return one, workload(
        one, waits(FULL.replace("2 more", "1 more")), labels={"kueue.x-k8s.io/job-uid": one["metadata"]["uid"]}
    )


def priority(name: str) -> dict[str, str]:
    return {**QUEUE, "kueue.x-k8s.io/priority-class": name}


def prebuilt(name: str = "mine") -> dict[str, str]:
    return {**QUEUE, "kueue.x-k8s.io/prebuilt-workload-name": name}


QUOTA = ("quota-in-use", "quota", "wait")
CASES = {
    "A01 suspended": Case(World(), (job(labels={}),), "suspended-by-owner", "workload", "fix", (LABEL, "spec.suspend")),
    "A01 beside pods": Case(
        World(),
        (
            RUNS,
            pod(
                RUNS,
                phase="Pending",
                node="",
                spec=template(spec={"containers": [{"name": "m", "resources": {"requests": {"cpu": "500"}}}]})[
                    "template"
                ]["spec"],
                status={"conditions": UNSCHEDULABLE},
            ),
        ),
        "node-resources-insufficient",
        "pods",
        "never-as-written",
        ("500",),
        also=("not-managed-by-kueue",),
    ),
    **{
        f"A02 {key}": Case(
            World(),
            (labelled(key),),
            "queue-name-misplaced",
            "workload",
            "fix",
            (key, f"{LABEL}=batch"),
            ("suspended-by-owner",),
        )
        for key in (
            "kueue.x-k8s.io/queue",
            "kueue.x-k8s.io/queue_name",
            "queue-name",
            "kueue.x-k8s.io/local-queue",
            "kueue.io/queue-name",
            "kueue.x-k8s.io/Queue-Name",
            "kueue.x-k8s.io/queue-nmae",
        )
    },
    "A02 annotation": Case(
        World(), (job(labels={}, annotations=QUEUE),), "queue-name-misplaced", "workload", "fix", ("annotation",)
    ),
    "A02 template": Case(
        World(),
        (
            job(
                "PyTorchJob",
                labels={},
                spec={"pytorchReplicaSpecs": {"Master": {"replicas": 1, **template(metadata={"labels": QUEUE})}}},
            ),
        ),
        "queue-name-misplaced",
        "workload",
        "fix",
        ("template",),
    ),
    "A03": Case(
        configured(
            "managedJobsNamespaceSelector:\n  matchLabels:\n    managed: 'true'\nintegrations:\n  frameworks: ['batch/job']"
        ),
        (job(),),
        "namespace-not-managed",
        "workload",
        "fix",
        ("nlp",),
        move="platform",
    ),
    "A03 unlabelled": Case(
        configured(
            "managedJobsNamespaceSelector:\n  matchLabels:\n    managed: 'true'\nintegrations:\n  frameworks: ['batch/job']"
        ),
        (job(labels={}),),
        "suspended-by-owner",
        "workload",
        "fix",
    ),
    "A05": Case(
        configured("integrations:\n  frameworks: ['pod']"),
        (job("RayJob"),),
        "integration-not-enabled",
        "workload",
        "fix",
        ("ray.io/rayjob",),
        move="platform",
    ),
    "A06": Case(
        World(kueue="v0.10.6", api="v1beta1", read=("trainer.kubeflow.org/v1alpha1/trainjobs",)),
        (job("TrainJob"),),
        "integration-not-enabled",
        "workload",
        "fix",
        ("0.14",),
        holes=True,
    ),
    "A07": Case(
        configured(
            "integrations:\n  frameworks: ['sparkoperator.k8s.io/sparkapplication']",
            read=("sparkoperator.k8s.io/v1beta2/sparkapplications",),
        ),
        (job("SparkApplication"),),
        "integration-not-enabled",
        "workload",
        "fix",
        ("SparkApplicationIntegration",),
    ),
    "A08": Case(
        World(),
        (NIGHTLY, event(NIGHTLY, "FailedCreate", UNANSWERED, by="cronjob-controller", at=RECENT)),
        "kueue-not-running",
        "workload",
        "fix",
        ("mjob.kb.io",),
        move="platform",
        name="nlp/nightly",
    ),
    "A08 deployment": Case(
        configured("integrations:\n  frameworks: ['batch/job']", also=(DOWN,)),
        (job(),),
        "kueue-not-running",
        "workload",
        "fix",
        ("0 of 1",),
    ),
    "A09": Case(
        MINE,
        (job(), event(job(), "Stopped", "Missing Workload; unable to restore pod templates", kind="Normal", at=RECENT)),
        "workload-not-created",
        "workload",
        "fix",
        ("40 minutes",),
    ),
    "A10": Case(MINE, (RUNS, pod(RUNS, 0), pod(RUNS, 1)), "running", "running", "running", ("2",)),
    "A11": Case(
        MINE,
        (job(), leaving(pod(job(), 0))),
        "old-pods-still-terminating",
        "workload",
        "in-progress",
        ("1 pod", "still terminating", "example.com/数据"),
    ),
    "A12": Case(
        configured("integrations:\n  frameworks: ['batch/job']", also=(CLASS,)),
        (job(labels=priority("prod-hihg")),),
        "priority-class-missing",
        "workload",
        "fix",
        ("prod-hihg", "priority-class=prod-high"),
    ),
    "A12 of the pods": Case(
        MINE,
        (job("JobSet", spec=replicated(merge(TEMPLATE, {"spec": {"priorityClassName": "gold"}}))),),
        "priority-class-missing",
        "workload",
        "fix",
        ("PriorityClass gold",),
    ),
    "A12 is there": Case(
        configured("integrations:\n  frameworks: ['batch/job']", also=(CLASS,)),
        (job(labels=priority("prod-high")),),
        "workload-not-created",
        "workload",
        "fix",
    ),
    "A12 unread": Case(
        World(unread=("workloadpriorityclasses",)),
        (job(labels=priority("prod-hihg")),),
        "workload-not-created",
        "workload",
        "fix",
        ("a missing priority class",),
        holes=True,
    ),
    "A13": Case(
        MINE, (job(labels=prebuilt()),), "prebuilt-workload-missing", "workload", "fix", ("nlp/mine", "does not exist")
    ),
    "A13 another's": Case(
        MINE,
        (ELSE, workload(ELSE, *admitted(), name="mine", status=admission()), job(labels=prebuilt())),
        "prebuilt-workload-missing",
        "workload",
        "fix",
        ("Job nlp/else",),
    ),
    "A14": Case(
        MINE,
        (
            *(member(i) for i in range(3)),
            event(
                member(0),
                "ErrWorkloadCompose",
                "'sweep' group has fewer runnable pods than expected",
                by="pod-kueue-controller",
            ),
        ),
        "pod-group-incomplete",
        "workload",
        "fix",
        ("3 of 4", "1 more"),
        name="nlp/sweep",
    ),
    "A14 by a pod": Case(
        MINE, tuple(member(i) for i in range(3)), "pod-group-incomplete", "workload", "fix", name="nlp/sweep-1"
    ),
    "A14 fast admission (L07)": Case(
        MINE,
        tuple(
            member(i, metadata={"annotations": {"kueue.x-k8s.io/pod-group-fast-admission": "true"}}) for i in range(3)
        ),
        "workload-not-created",
        "workload",
        "fix",
        never=("pod-group-incomplete",),
        name="nlp/sweep",
    ),
    "A14 stale event (X37)": Case(
        World(full=True),
        (
            *group(*(member(i) for i in range(4))),
            event(
                member(0),
                "ErrWorkloadCompose",
                "'sweep' group has fewer runnable pods than expected",
                by="pod-kueue-controller",
            ),
        ),
        *QUOTA,
        ("8 of 8",),
        never=("pod-group-incomplete",),
        name="nlp/sweep",
    ),
    "A15 queues": Case(
        MINE,
        (member(0, "2"), member(1, "2", "interactive")),
        "pod-group-inconsistent",
        "workload",
        "fix",
        ("batch, interactive",),
        name="nlp/sweep",
    ),
    "A15 totals": Case(
        MINE, (member(0, "2"), member(1, "3")), "pod-group-inconsistent", "workload", "fix", ("2, 3",), name="nlp/sweep"
    ),
    "A15 no total": Case(
        MINE, (member(0, "2"), member(1, "")), "pod-group-inconsistent", "workload", "fix", name="nlp/sweep"
    ),
    "A16": Case(
        MINE,
        tuple(shaped(i) for i in range(20)),
        "pod-group-inconsistent",
        "workload",
        "fix",
        ("20", "18"),
        name="nlp/sweep",
    ),
    "A17": Case(
        MINE,
        (*(member(i) for i in range(4)), ELSE, workload(ELSE, waits(FULL), name="sweep")),
        "pod-group-inconsistent",
        "workload",
        "fix",
        ("Job nlp/else",),
        name="nlp/sweep",
    ),
    "A19": Case(
        MINE, (job("JobSet", spec=replicated(*[TEMPLATE] * 20)),), "workload-rejected", "workload", "fix", ("20", "18")
    ),
    "A19 older": Case(
        configured("integrations:\n  frameworks: ['jobset.x-k8s.io/jobset']", kueue="v0.17.0"),
        (job("JobSet", spec=replicated(*[TEMPLATE] * 9)),),
        "workload-rejected",
        "workload",
        "fix",
        ("9", "at most 8"),
    ),
    "A19 fewer": Case(
        MINE, (job("JobSet", spec=replicated(*[TEMPLATE] * 9)),), "workload-not-created", "workload", "fix"
    ),
    "A19 said": Case(
        MINE,
        (
            job(),
            event(
                job(),
                "FailedCreateWorkload",
                'Workload.kueue.x-k8s.io "x" is invalid: spec.podSets: '
                "Invalid value: at most one podSet can use minCount",
                by="batch/job-kueue-controller",
                at=RECENT,
            ),
        ),
        "workload-rejected",
        "workload",
        "fix",
        ("minCount",),
    ),
    "A20": Case(
        World(full=True),
        (CHILD_OF, workload(CHILD_OF, waits(FULL)), CHILD),
        *QUOTA,
        ("8 of 8",),
        ("parent-decides",),
        name="nlp/big-w-0",
    ),
    "A20 two above": Case(
        World(full=True, read=("trainer.kubeflow.org/v1alpha1/trainjobs",)),
        (TRAIN, workload(TRAIN, waits(FULL)), TRAIN_SET, TRAIN_CHILD),
        *QUOTA,
        also=("parent-decides",),
        name="nlp/big-set-node-0",
    ),
    "A20 unread": Case(
        World(full=True, unread=("jobsets",)),
        (CHILD,),
        "parent-decides",
        "workload",
        "fix",
        ("nlp/jobset/big",),
        name="nlp/big-w-0",
        holes=True,
    ),
    "A21": Case(MINE, (DEEP, NESTED), "parent-decides", "workload", "fix", ("too many owners",)),
    "A22": Case(
        MINE, (CHOOSING,), "parent-decides", "workload", "fix", ("nlp/raycluster/shared", "spec.clusterSelector")
    ),
    "A22 its cluster waits": Case(
        World(full=True),
        (FREE_CHOOSING, SHARED, workload(SHARED, waits(FULL))),
        *QUOTA,
        ("8 of 8",),
        ("parent-decides",),
    ),
    "A23": Case(World(full=True), (WEB, WEB_SET, *serving(0), *serving(1)), *QUOTA, ("8 of 8",), name="nlp/serve"),
    "A23 no pods": Case(
        configured("integrations:\n  frameworks: ['deployment', 'pod']"),
        (WEB, WEB_SET),
        "pods-not-created",
        "pods",
        "fix",
        ("0 of 2",),
        name="nlp/serve",
    ),
    **{
        f"A24 {kind}": Case(
            World(),
            (made(kind, "serve", namespace="nlp", labels=QUEUE, spec={"replicas": 0, **template()}),),
            "scaled-to-zero",
            "workload",
            "fix",
            ("spec.replicas",),
            name="nlp/serve",
            holes=True,
        )
        for kind in ("StatefulSet", "LeaderWorkerSet")
    },
    "A25": Case(
        MINE,
        (
            made(
                "Pod",
                "solo",
                namespace="nlp",
                labels=QUEUE,
                created=EARLIER,
                spec={**TEMPLATE["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
                status={"phase": "Pending", "conditions": GATED},
            ),
        ),
        "workload-not-created",
        "workload",
        "fix",
        ("held by Kueue's gate",),
        name="nlp/solo",
    ),
    "A26": Case(
        World(),
        (
            job(
                suspended=False,
                status={
                    "succeeded": 2,
                    "conditions": [
                        condition("Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods")
                    ],
                },
            ),
        ),
        "finished",
        "finished",
        "finished",
        ("succeeded",),
    ),
    "A30": Case(
        World(),
        (NIGHTLY, event(NIGHTLY, "FailedCreate", DENIED, by="cronjob-controller", at=RECENT)),
        "workload-rejected",
        "workload",
        "fix",
        ("should be greater than 0",),
        name="nlp/nightly",
    ),
    "A31": Case(
        MINE,
        (leaving(job()),),
        "workload-not-created",
        "workload",
        "fix",
        ("being deleted", "example.com/数据"),
        move="asker",
    ),
    "A31 with its namespace": Case(
        MINE,
        (
            job(),
            merge(made("Namespace", "nlp", namespace="", created=EARLIER), {"metadata": {"deletionTimestamp": RECENT}}),
        ),
        "workload-not-created",
        "workload",
        "fix",
        ("namespace is being deleted",),
        move="asker",
    ),
    "A32": Case(
        MINE,
        (ELSE, workload(ELSE, waits(FULL), name=OWN_NAME), job()),
        "workload-rejected",
        "workload",
        "fix",
        (f"nlp/{OWN_NAME}", "Job nlp/else"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])


def test_a_young_job_may_pass_by_itself() -> None:
    answer = MINE.ask(job(created=NOW))
    assert answer.headline.rule == "workload-not-created"
    assert "may pass by itself" in answer.headline.sentence
