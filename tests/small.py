"""A small cluster written by hand, for quota questions that no recording asks: queues, cohorts, flavors and Workloads.

`small(queue("gpu-cq", {"a100": {"gpu": 8}}), waiting("train", gpu=4), holder("big", "gpu-cq", {"gpu": ("a100", 6)}))`
"""

from typing import Any

from tests.clusters import Cluster

NOW = "2026-01-01T12:00:00Z"
EARLIER = "2026-01-01T10:00:00Z"
GROUP = "kueue.x-k8s.io"
READ = [
    f"{GROUP}/v1beta2/{plural}"
    for plural in (
        "workloads",
        "localqueues",
        "clusterqueues",
        "cohorts",
        "resourceflavors",
        "topologies",
        "admissionchecks",
    )
] + [
    "v1/limitranges",
    "v1/namespaces",
    "v1/events",
    "v1/nodes",
    "v1/pods",
    "batch/v1/jobs",
    "node.k8s.io/v1/runtimeclasses",
]

Quotas = dict[str, dict[str, Any]]
"""Per flavor and resource: the nominal quota, or (nominal, borrowingLimit, lendingLimit) with None for no limit."""


def small(*objects: dict[str, Any] | tuple[dict[str, Any], ...], read: list[str] | None = None) -> Cluster:
    """A cluster with these objects, namespace team-a, and every flavor that a queue names unless it is given."""
    items = [item for entry in objects for item in (entry if isinstance(entry, tuple) else (entry,))]
    given = {(item["kind"], item["metadata"]["name"]) for item in items}
    names = {
        flavor["name"]
        for item in items
        if item["kind"] == "ClusterQueue"
        for group in item["spec"]["resourceGroups"]
        for flavor in group["flavors"]
    }
    items += [flavor(name) for name in sorted(names) if ("ResourceFlavor", name) not in given]
    queues = sorted(name for kind, name in given if kind == "ClusterQueue")
    if not any(kind == "LocalQueue" for kind, _ in given):
        items.append(local_queue("train-queue", queues[0]))
    recording = {
        "apiVersion": "whypending/v1", "kind": "Recording", "metadata": {"name": "small"}, "observedAt": NOW,
        "kueueVersion": "v0.19.2", "kubernetesVersion": "v1.36.2", "read": READ if read is None else read,
    }  # fmt: skip
    return Cluster((recording, thing("v1", "Namespace", "team-a", labels={"team": "a"}), *items))


def thing(api: str, kind: str, name: str, namespace: str = "", **parts: Any) -> dict[str, Any]:
    """Any object; `labels`, `annotations` and `ownerReferences` go into its metadata, the rest beside it."""
    meta: dict[str, Any] = {"name": name, "uid": f"{kind}-{namespace}-{name}", "creationTimestamp": EARLIER}
    if namespace:
        meta["namespace"] = namespace
    meta |= {key: parts.pop(key) for key in ("labels", "annotations", "ownerReferences") if key in parts}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **parts}


def _groups(quotas: Quotas | list[Quotas]) -> list[dict[str, Any]]:
    groups = []
    for group in quotas if isinstance(quotas, list) else [quotas]:
        flavors = []
        for name, resources in group.items():
            entries = []
            for resource, value in resources.items():
                nominal, borrowing, lending = value if isinstance(value, tuple) else (value, None, None)
                entry = {"name": resource, "nominalQuota": str(nominal)}
                entry |= {"borrowingLimit": str(borrowing)} if borrowing is not None else {}
                entry |= {"lendingLimit": str(lending)} if lending is not None else {}
                entries.append(entry)
            flavors.append({"name": name, "resources": entries})
        covered = list(dict.fromkeys(resource for resources in group.values() for resource in resources))
        groups.append({"coveredResources": covered, "flavors": flavors})
    return groups


def queue(name: str, quotas: Quotas | list[Quotas], cohort: str = "", **spec: Any) -> dict[str, Any]:
    """A ClusterQueue that is active; more of its spec by name."""
    body = {"resourceGroups": _groups(quotas), "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO", **spec}
    if cohort:
        body["cohortName"] = cohort
    active = {"type": "Active", "status": "True", "reason": "Ready", "message": "Can admit new workloads"}
    return thing(f"{GROUP}/v1beta2", "ClusterQueue", name, spec=body, status={"conditions": [active]})


def local_queue(name: str, cluster_queue: str, namespace: str = "team-a") -> dict[str, Any]:
    """A LocalQueue that is active."""
    active = {
        "type": "Active",
        "status": "True",
        "reason": "Ready",
        "message": "Can submit new workloads to localQueue",
    }
    spec, status = {"clusterQueue": cluster_queue}, {"conditions": [active]}
    return thing(f"{GROUP}/v1beta2", "LocalQueue", name, namespace, spec=spec, status=status)


def cohort(name: str, parent: str = "", quotas: Quotas | None = None) -> dict[str, Any]:
    """A Cohort."""
    spec: dict[str, Any] = {"resourceGroups": _groups(quotas)} if quotas else {}
    return thing(f"{GROUP}/v1beta2", "Cohort", name, spec=spec | ({"parentName": parent} if parent else {}))


def flavor(name: str, **spec: Any) -> dict[str, Any]:
    """A ResourceFlavor."""
    return thing(f"{GROUP}/v1beta2", "ResourceFlavor", name, spec=spec)


def pod_set(name: str = "main", count: int = 1, spec: dict[str, Any] | None = None, **requests: Any) -> dict[str, Any]:
    """A pod set; `requests` per pod, with "__" for "/" and "_" for "." in a name (nvidia_com__gpu)."""
    named = {key.replace("__", "/").replace("_", "."): str(value) for key, value in requests.items()}
    containers = [{"name": "main", "image": "example.com/app:1", "resources": {"requests": named}}]
    return {"name": name, "count": count, "template": {"spec": {"containers": containers, **(spec or {})}}}


def job(name: str, namespace: str = "team-a", annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """A suspended Job."""
    labels = {"kueue.x-k8s.io/queue-name": "train-queue"}
    return thing(
        "batch/v1", "Job", name, namespace, labels=labels, annotations=annotations or {}, spec={"suspend": True}
    )


def waiting(
    name: str = "train",
    *pod_sets: dict[str, Any],
    text: str = "",
    status: dict[str, Any] | None = None,
    **requests: Any,
) -> tuple[dict[str, Any], ...]:
    """A suspended Job and its Workload, which waits; `text` is the message of QuotaReserved=False."""
    sets = [*pod_sets] or [pod_set(**requests)]
    conditions = []
    if text:
        conditions.append({"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": text,
                           "lastTransitionTime": EARLIER})  # fmt: skip
    body = {"conditions": conditions, **(status or {})}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"Job-team-a-{name}", "controller": True}
    workload = thing(
        f"{GROUP}/v1beta2", "Workload", f"job-{name}", "team-a", ownerReferences=[owner],
        labels={"kueue.x-k8s.io/job-uid": f"Job-team-a-{name}"},
        spec={"queueName": "train-queue", "active": True, "priority": 0, "podSets": sets}, status=body,
    )  # fmt: skip
    return job(name), workload


def holder(
    name: str, cluster_queue: str, held: dict[str, tuple[str, Any]], namespace: str = "team-b", priority: int = 0
) -> tuple[dict[str, Any], ...]:
    """A Job that runs, its admitted Workload and its pod: per resource the flavor and the amount that it holds."""
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "uid": f"Job-{namespace}-{name}",
        "controller": True,
    }
    assignment = {
        "name": "main", "count": 1, "flavors": {resource: place for resource, (place, _) in held.items()},
        "resourceUsage": {resource: str(amount) for resource, (_, amount) in held.items()},
    }  # fmt: skip
    conditions = [
        {"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": EARLIER}
        for kind in ("QuotaReserved", "Admitted")
    ]
    workload = thing(
        f"{GROUP}/v1beta2", "Workload", f"job-{name}", namespace, ownerReferences=[owner],
        spec={"queueName": "q", "active": True, "priority": priority, "podSets": [pod_set(cpu=1)]},
        status={"admission": {"clusterQueue": cluster_queue, "podSetAssignments": [assignment]}, "conditions": conditions},
    )  # fmt: skip
    running = job(name, namespace)
    running["spec"] = {"suspend": False}
    meta = {
        "labels": {"job-name": name},
        "ownerReferences": [owner],
        "annotations": {"kueue.x-k8s.io/workload": f"job-{name}"},
    }
    pod = thing("v1", "Pod", f"{name}-0", namespace, **meta, spec={"nodeName": "n1"}, status={"phase": "Running"})
    return running, workload, pod
