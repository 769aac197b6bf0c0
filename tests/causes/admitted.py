"""An admitted Job, its pods, the nodes and the pods of others, for what holds pods back after admission."""

from typing import Any

from tests.causes.asked import condition
from tests.clusters import Cluster, merge

Object = dict[str, Any]
GPU, HOST = "nvidia.com/gpu", "kubernetes.io/hostname"
NOW, EARLIER, RECENT = "2026-01-01T12:00:00Z", "2026-01-01T10:00:00Z", "2026-01-01T11:58:00Z"
_KUEUE = ("admissionchecks", "clusterqueues", "cohorts", "localqueues", "resourceflavors", "topologies", "workloads")
READ = [f"kueue.x-k8s.io/v1beta2/{plural}" for plural in _KUEUE] + [
    "apps/v1/daemonsets",
    "batch/v1/jobs",
    "node.k8s.io/v1/runtimeclasses",
    "resource.k8s.io/v1/resourceclaims",
    "resource.k8s.io/v1/resourceclaimtemplates",
    "storage.k8s.io/v1/storageclasses",
    "v1/events",
    "v1/limitranges",
    "v1/namespaces",
    "v1/nodes",
    "v1/persistentvolumeclaims",
    "v1/persistentvolumes",
    "v1/pods",
    "v1/resourcequotas",
]
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "Job-team-a-train", "controller": True}
DAEMON = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}
STATIC = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "n1", "controller": True}


def thing(api: str, kind: str, name: str, namespace: str = "", **parts: Any) -> Object:
    """Any object; what belongs to its metadata goes there."""
    meta: Object = {"name": name, "uid": f"{kind}-{namespace}-{name}", "creationTimestamp": EARLIER}
    if namespace:
        meta["namespace"] = namespace
    own = ("annotations", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "labels", "ownerReferences")
    meta |= {key: parts.pop(key) for key in own if key in parts}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **parts}


def node(
    name: str,
    cpu: int = 16,
    gpu: int | None = None,
    *,
    taints: tuple[Object, ...] = (),
    cordoned: bool = False,
    ready: str = "True",
    room: Object | None = None,
    **labels: str,
) -> Object:
    """A node; "__" in the name of a label stands for "/", "_" for "."."""
    offers = {"cpu": str(cpu), "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi", **(room or {})}
    offers |= {GPU: str(gpu)} if gpu is not None else {}
    marks = [*taints]
    if cordoned:
        marks.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if ready != "True":
        key = "node.kubernetes.io/not-ready" if ready == "False" else "node.kubernetes.io/unreachable"
        marks += [{"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    named = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
    return thing(
        "v1",
        "Node",
        name,
        labels={HOST: name, "kubernetes.io/os": "linux", **named},
        spec={"taints": marks, **({"unschedulable": True} if cordoned else {})},
        status={"allocatable": offers, "capacity": offers, "conditions": [condition("Ready", ready, "Kubelet")]},
    )


def pod(
    name: str = "train-0",
    said: str | None = None,
    *,
    on: str = "",
    phase: str = "Pending",
    spec: Object | None = None,
    owner: Object | None = JOB,
    namespace: str = "team-a",
    status: Object | None = None,
    labels: Object | None = None,
    **requests: Any,
) -> Object:
    """A pod of the job, unless it has another owner; `said` is what the scheduler says of it, `requests` as in `tests.small`."""
    asks = {key.replace("__", "/").replace("_", "."): str(value) for key, value in (requests or {"cpu": 2}).items()}
    lasting = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    body = {
        "containers": [{"name": "main", "image": "example.com/app:1", "resources": {"requests": asks}}],
        "tolerations": lasting,
    }
    scheduled = [condition("PodScheduled", "True", "Scheduled")] if on else []
    if said is not None:
        scheduled = [condition("PodScheduled", "False", "Unschedulable", said)]
    mine = owner is JOB
    return thing(
        "v1",
        "Pod",
        name,
        namespace,
        spec=merge(body | ({"nodeName": on} if on else {}), spec or {}),
        labels=({"job-name": "train", "batch.kubernetes.io/job-name": "train"} if mine else {}) | (labels or {}),
        annotations={"kueue.x-k8s.io/workload": "job-train"} if mine else {},
        ownerReferences=[owner] if owner else [],
        status={"phase": phase, "conditions": scheduled, **(status or {})},
    )


def other(name: str, on: str, owner: Object | None = None, **more: Any) -> Object:
    """A pod of somebody else that runs."""
    return pod(name, on=on, phase="Running", owner=owner, namespace="team-b", **more)


def event(about: Object, reason: str, message: str, by: str = "default-scheduler", kind: str = "Warning") -> Object:
    """An event about an object."""
    meta = about["metadata"]
    reference = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        **{k: meta.get(k, "") for k in ("name", "namespace", "uid")},
    }
    return thing(
        "v1",
        "Event",
        f"{meta['name']}.{reason.lower()}",
        meta["namespace"],
        involvedObject=reference,
        reason=reason,
        message=message,
        type=kind,
        count=3,
        firstTimestamp=EARLIER,
        lastTimestamp=RECENT,
        source={"component": by},
        reportingComponent=by,
    )


def refused(message: str) -> Object:
    """The Job controller could not make a pod."""
    job = thing("batch/v1", "Job", "train", "team-a")
    return event(job, "FailedCreate", f"Error creating: {message}", "job-controller")


def container(
    name: str = "main", *, waiting: Object | None = None, running: bool = False, ready: bool = False, **more: Any
) -> Object:
    """The status of a container."""
    state: Object = {"waiting": waiting} if waiting else {"running": {"startedAt": EARLIER}} if running else {}
    return {"name": name, "image": "example.com/app:1", "ready": ready, "restartCount": 0, "state": state, **more}


def admitted(
    *objects: Object,
    count: int = 1,
    template: Object | None = None,
    flavor: Object | None = None,
    job: Object | None = None,
    read: list[str] | None = None,
    place: str = "",
) -> Cluster:
    """A Job that was admitted into flavor std, and everything around; `place` is the node of its topology assignment."""
    main = {"name": "main", "image": "example.com/app:1", "resources": {"requests": {"cpu": "2"}}}
    body = {"metadata": {}, "spec": merge({"containers": [main], "restartPolicy": "Never"}, template or {})}
    part: Object = {"name": "main", "count": count, "flavors": {"cpu": "std"}, "resourceUsage": {"cpu": str(2 * count)}}
    if place:
        levels = [{"domainCount": 1, "valuesPerLevel": [{"universal": place}], "podCounts": {"universal": count}}]
        part["topologyAssignment"] = {"levels": [HOST], "slices": levels}
    kueue, active = "kueue.x-k8s.io/v1beta2", [condition("Active", "True", "Ready")]
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "std", "resources": [{"name": "cpu", "nominalQuota": "1000"}]}],
    }
    has = [condition("QuotaReserved", "True", "QuotaReserved"), condition("Admitted", "True", "Admitted")]
    spec = {"suspend": False, "parallelism": count, "completions": count, "template": body}
    own = thing(
        "batch/v1",
        "Job",
        "train",
        "team-a",
        labels={"kueue.x-k8s.io/queue-name": "train-queue"},
        spec=spec,
        status={"active": count, "ready": 0, "startTime": EARLIER},
    )
    head = {
        "apiVersion": "whypending/v1",
        "kind": "Recording",
        "metadata": {"name": "admitted"},
        "observedAt": NOW,
        "kueueVersion": "v0.19.2",
        "kubernetesVersion": "v1.36.2",
        "read": READ if read is None else read,
    }
    return Cluster(
        (
            head,
            thing("v1", "Namespace", "team-a"),
            thing("v1", "Namespace", "team-b"),
            thing(
                kueue,
                "LocalQueue",
                "train-queue",
                "team-a",
                spec={"clusterQueue": "ml-cq"},
                status={"conditions": active},
            ),
            thing(
                kueue,
                "ClusterQueue",
                "ml-cq",
                spec={"namespaceSelector": {}, "resourceGroups": [group]},
                status={"conditions": active},
            ),
            thing(kueue, "ResourceFlavor", "std", spec=flavor or {}),
            merge(own, job or {}),
            thing(
                kueue,
                "Workload",
                "job-train",
                "team-a",
                labels={"kueue.x-k8s.io/job-uid": JOB["uid"]},
                ownerReferences=[JOB],
                spec={
                    "queueName": "train-queue",
                    "active": True,
                    "podSets": [{"name": "main", "count": count, "template": body}],
                },
                status={"admission": {"clusterQueue": "ml-cq", "podSetAssignments": [part]}, "conditions": has},
            ),
            *objects,
        )
    )
