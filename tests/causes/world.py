"""A cluster with a life of its own, in which one job is asked about: two teams' queues in a cohort, nodes, other jobs.

`World().ask(*asked(conditions=[...]))`; everything has the shape that Kueue and Kubernetes give it. `nlp/finetune` is the
job in question: it wants 2 pods of 1 GPU, of which there is room unless `full` says otherwise.
"""

import copy
from typing import Any

from bot.core import kinds
from bot.core.diagnosis import Diagnosis
from tests.clusters import Cluster, merge
from tests.made import job as _job
from tests.made import made, refer

Object = dict[str, Any]
NOW, JUST_NOW, RECENT, EARLIER, YESTERDAY = (
    "2026-11-30T14:00:00Z",
    "2026-11-30T13:59:50Z",
    "2026-11-30T13:58:00Z",
    "2026-11-30T13:20:00Z",
    "2026-11-29T18:00:00Z",
)
OTHERS = (
    "apps/v1/deployments",
    "apps/v1/replicasets",
    "apps/v1/statefulsets",
    "batch/v1/cronjobs",
    "batch/v1/jobs",
    "autoscaling.x-k8s.io/v1/provisioningrequests",
    "jobset.x-k8s.io/v1alpha2/jobsets",
    "kubeflow.org/v1/pytorchjobs",
    "kubeflow.org/v2beta1/mpijobs",
    "leaderworkerset.x-k8s.io/v1/leaderworkersets",
    "node.k8s.io/v1/runtimeclasses",
    "ray.io/v1/rayclusters",
    "ray.io/v1/rayjobs",
    "scheduling.k8s.io/v1/priorityclasses",
    "storage.k8s.io/v1/storageclasses",
    "v1/events",
    "v1/limitranges",
    "v1/namespaces",
    "v1/nodes",
    "v1/persistentvolumeclaims",
    "v1/persistentvolumes",
    "v1/pods",
    "v1/resourcequotas",
    "v1/services",
    "workload.codeflare.dev/v1beta2/appwrappers",
)
KUEUE = (
    "admissionchecks",
    "clusterqueues",
    "cohorts",
    "localqueues",
    "multikueueclusters",
    "multikueueconfigs",
    "provisioningrequestconfigs",
    "resourceflavors",
    "topologies",
    "workloadpriorityclasses",
    "workloads",
)
QUEUE = {"kueue.x-k8s.io/queue-name": "batch"}
TEMPLATE = {
    "metadata": {},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "registry.example/モデル:1",
                "resources": {"requests": {"cpu": "2", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}},
            }
        ],
        "restartPolicy": "Never",
    },
}


def condition(kind: str, status: str, reason: str, message: str = "", at: str = EARLIER) -> Object:
    """A condition."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": at,
        "observedGeneration": 1,
    }


def waits(message: str, reason: str = "Pending", at: str = EARLIER) -> Object:
    """QuotaReserved=False."""
    return condition("QuotaReserved", "False", reason, message, at)


def reserved(at: str = EARLIER) -> Object:
    """QuotaReserved=True."""
    return condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue nlp-cq", at)


def admitted(at: str = EARLIER) -> list[Object]:
    """QuotaReserved and Admitted."""
    return [reserved(at), condition("Admitted", "True", "Admitted", "The workload is admitted", at)]


def admission(count: int = 2) -> Object:
    """The status of a Workload that holds 2 GPUs."""
    usage = {"cpu": str(2 * count), "nvidia.com/gpu": str(count)}
    flavors = {"cpu": "l40s", "nvidia.com/gpu": "l40s"}
    return {
        "admission": {
            "clusterQueue": "nlp-cq",
            "podSetAssignments": [{"name": "main", "count": count, "flavors": flavors, "resourceUsage": usage}],
        }
    }


def job(
    kind: str = "Job", name: str = "finetune", namespace: str = "nlp", *, spec: Object | None = None, **fields: Any
) -> Object:
    """The job in question, suspended."""
    body: Object = {"parallelism": 2, "completions": 2, "template": TEMPLATE} if kind == "Job" else {}
    fields = {"labels": QUEUE, "created": EARLIER, **fields}
    return _job(kind, name, namespace=namespace, spec={**body, **(spec or {})}, **fields)


def workload(of: Object, *conditions: Object, name: str = "", **fields: Any) -> Object:
    """Its Workload."""
    meta = of["metadata"]
    spec = {
        "active": True,
        "priority": 0,
        "queueName": "batch",
        "podSets": [{"name": "main", "count": 2, "template": copy.deepcopy(TEMPLATE)}],
        **fields.pop("spec", {}),
    }
    status: Object = {"conditions": list(conditions), **fields.pop("status", {})}
    if not any(c["type"] == "QuotaReserved" and c["status"] == "True" for c in conditions):
        status.setdefault("resourceRequests", [{"name": "main", "resources": {"cpu": "4", "nvidia.com/gpu": "2"}}])
    title = name or f"{of['kind'].lower()}-{meta['name']}-3fa5c"
    fields = {"labels": {"kueue.x-k8s.io/job-uid": meta["uid"]}, "created": meta["creationTimestamp"], **fields}
    return made("Workload", title, namespace=meta["namespace"], owner=of, spec=spec, status=status, **fields)


def asked(*conditions: Object, kind: str = "Job", **fields: Any) -> tuple[Object, Object]:
    """The job in question and its Workload; `job_` in front of a field is the job's."""
    mine = {key.removeprefix("job_"): fields.pop(key) for key in list(fields) if key.startswith("job_")}
    owner = job(kind, **mine)
    return owner, workload(owner, *conditions, **fields)


def queue(name: str, gpus: int, *, cohort: str = "labs", active: Object | None = None, **spec: Any) -> Object:
    """A ClusterQueue."""
    resources = [
        {"name": "cpu", "nominalQuota": "64"},
        {"name": "memory", "nominalQuota": "256Gi"},
        {"name": "nvidia.com/gpu", "nominalQuota": str(gpus)},
    ]
    body = {
        "cohortName": cohort,
        "namespaceSelector": {},
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "preemption": {
            "borrowWithinCohort": {"policy": "Never"},
            "reclaimWithinCohort": "Never",
            "withinClusterQueue": "Never",
        },
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
                "flavors": [{"name": "l40s", "resources": resources}],
            }
        ],
    }
    ready = active or condition("Active", "True", "Ready", "Can admit new workloads", YESTERDAY)
    return made(
        "ClusterQueue", name, namespace="", created=YESTERDAY, spec=merge(body, spec), status={"conditions": [ready]}
    )


def local_queue(name: str, cluster_queue: str, namespace: str = "nlp", **spec: Any) -> Object:
    """A LocalQueue."""
    ready = condition("Active", "True", "Ready", "Can submit new workloads to localQueue", YESTERDAY)
    return made(
        "LocalQueue",
        name,
        namespace=namespace,
        created=YESTERDAY,
        spec={"clusterQueue": cluster_queue, "stopPolicy": "None", **spec},
        status={"conditions": [ready]},
    )


def pod(of: Object, number: int = 0, *, phase: str = "Running", node: str = "gpu-1", **fields: Any) -> Object:
    """A pod of a job."""
    meta = of["metadata"]
    spec = {**copy.deepcopy(TEMPLATE["spec"]), **({"nodeName": node} if node else {}), **fields.pop("spec", {})}
    ready = [condition("Ready", "True", "", "")] if phase == "Running" else []
    status = {"phase": phase, "conditions": ready, **fields.pop("status", {})}
    labels = {"job-name": meta["name"], "batch.kubernetes.io/job-name": meta["name"]}
    name = fields.pop("name", f"{meta['name']}-{number}")
    return made("Pod", name, namespace=meta["namespace"], owner=of, labels=labels, spec=spec, status=status, **fields)


def event(
    about: Object, reason: str, message: str, *, at: str = EARLIER, by: str = "kueue-admission", kind: str = "Warning"
) -> Object:
    """An event about an object, as Kueue writes it."""
    meta = about["metadata"]
    return made(
        "Event",
        f"{meta['name']}.{abs(hash((reason, message))) % 10**8:08x}",
        namespace=meta.get("namespace", "default"),
        created=at,
        involvedObject={**refer(about), "namespace": meta.get("namespace", "")},
        reason=reason,
        message=message,
        type=kind,
        eventTime=at.replace("Z", ".000000Z"),
        firstTimestamp=None,
        lastTimestamp=None,
        reportingComponent=by,
        reportingInstance=f"{by}-0",
        action=reason,
    )


def holder(name: str, namespace: str, cluster_queue: str, gpus: int, *, ready: bool = True) -> list[Object]:
    """A job that runs, with Workload and pods."""
    owner = _job(
        "Job",
        name,
        namespace=namespace,
        suspended=False,
        labels=QUEUE,
        created=YESTERDAY,
        spec={"parallelism": gpus, "completions": gpus, "template": TEMPLATE},
    )
    owner["status"] = {"active": gpus, "ready": gpus if ready else 0, "startTime": YESTERDAY}
    loads = workload(
        owner,
        *admitted(YESTERDAY),
        spec={"podSets": [{"name": "main", "count": gpus, "template": TEMPLATE}]},
        status=merge(admission(gpus), {"admission": {"clusterQueue": cluster_queue}}),
    )
    pods = [pod(owner, i, node=f"gpu-{1 if namespace == 'nlp' else 2}") for i in range(gpus)]
    return [owner, loads, *pods]


def node(name: str) -> Object:
    """A node with 8 GPUs."""
    room = {"cpu": "96", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    ready = condition("Ready", "True", "KubeletReady", "kubelet is ready", YESTERDAY)
    return made(
        "Node",
        name,
        namespace="",
        created=YESTERDAY,
        labels={"gpu": "l40s", "kubernetes.io/hostname": name},
        status={"allocatable": room, "capacity": room, "conditions": [ready]},
    )


class World:
    """The cluster around; `full` lets others hold all GPUs, `cluster_queue` and `local_queue` change the asked path."""

    def __init__(
        self,
        *more: Object,
        full: bool = False,
        cluster_queue: Object | None = None,
        local_queue: Object | None = None,
        kueue: str = "v0.19.2",
        api: str = "v1beta2",
        unread: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
        without: tuple[tuple[str, str], ...] = (),
        visibility: Object | None = None,
    ) -> None:
        """Take what differs from a healthy cluster."""
        self.api, self.kueue, self.visibility = api, kueue, visibility
        self.read = [f"kueue.x-k8s.io/{api}/{plural}" for plural in KUEUE] + list(OTHERS) + list(read)
        self.read = [resource for resource in self.read if resource.rpartition("/")[2] not in unread]
        labels = {"kubernetes.io/metadata.name": "nlp", "env": "prod"}
        mine = merge(queue("nlp-cq", 8), cluster_queue or {})
        own = merge(_LOCAL_QUEUE, local_queue or {})
        around = [
            made("Namespace", "nlp", namespace="", labels=labels, created=YESTERDAY),
            made(
                "Namespace", "vision", namespace="", labels={"kubernetes.io/metadata.name": "vision"}, created=YESTERDAY
            ),
            made("ResourceFlavor", "l40s", namespace="", spec={"nodeLabels": {"gpu": "l40s"}}, created=YESTERDAY),
            made("Cohort", "labs", namespace="", created=YESTERDAY),
            mine,
            queue("vision-cq", 8),
            own,
            _other_local_queue("interactive", "nlp-cq"),
            _other_local_queue("main", "vision-cq", "vision"),
            node("gpu-1"),
            node("gpu-2"),
            *holder("embed", "nlp", "nlp-cq", 8 if full else 4),
            *holder("segment", "vision", "vision-cq", 8),
            *_waiting("track", "vision"),
        ]
        gone = {kind.kind for kind in kinds.KINDS if kind.plural in unread}
        self.items = [
            item
            for item in (*around, *more)
            if item["kind"] not in gone and (item["kind"], item["metadata"]["name"]) not in without
        ]

    def cluster(self, *objects: Object) -> Cluster:
        """The cluster with these objects."""
        head: Object = {
            "apiVersion": "whypending/v1",
            "kind": "Recording",
            "metadata": {"name": "world"},
            "observedAt": NOW,
            "kueueVersion": self.kueue,
            "kubernetesVersion": "v1.36.2",
            "read": self.read,
        }
        if self.visibility is not None:
            head["visibility"] = self.visibility
        given = {(i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in objects}
        kept = [
            i for i in self.items if (i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) not in given
        ]
        items = [copy.deepcopy(item) for item in (*kept, *objects)]
        return Cluster((head, *(older(item) if self.api == "v1beta1" else item for item in items)))

    def ask(self, *objects: Object, name: str = "nlp/finetune", kind: str = "") -> Diagnosis:
        """Ask about the job in question."""
        return self.cluster(*objects).ask(name, kind)


_LOCAL_QUEUE = local_queue("batch", "nlp-cq")
_other_local_queue = local_queue


def _waiting(name: str, namespace: str) -> list[Object]:
    owner = job(name=name, namespace=namespace, labels={"kueue.x-k8s.io/queue-name": "main"})
    text = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
    return [owner, workload(owner, waits(text), spec={"queueName": "main"})]


def older(item: Object) -> Object:
    """The object as v1beta1 has it."""
    if not item["apiVersion"].startswith("kueue.x-k8s.io/"):
        return item
    item["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    spec = item.get("spec", {})
    if item["kind"] == "ClusterQueue" and "cohortName" in spec:
        spec["cohort"] = spec.pop("cohortName")
    if item["kind"] == "Workload" and "priorityClassRef" in spec:
        reference = spec.pop("priorityClassRef")
        spec["priorityClassName"] = reference["name"]
        spec["priorityClassSource"] = "kueue.x-k8s.io/workloadpriorityclass"
    return item
