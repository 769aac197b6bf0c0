"""Clusters made by hand, for what no recording has: jobs of every kind, their Workloads, pods, events and owners."""

from typing import Any

from bot.core import kinds
from tests.clusters import Cluster

NOW, BEFORE, LONG_AGO = "2026-11-30T14:00:00Z", "2026-11-30T13:50:00Z", "2026-11-30T12:00:00Z"
EVERYTHING = [kind.resource(kind.versions[0]) for kind in kinds.KINDS]
QUEUE = {"kueue.x-k8s.io/queue-name": "train-queue"}
GATE = [{"name": "kueue.x-k8s.io/admission"}]
Object = dict[str, Any]


def cluster(*objects: Object, read: list[str] | None = None, **recording: Any) -> Cluster:
    """Give a cluster with a namespace, a LocalQueue and a ClusterQueue, in which everything was read, and these objects."""
    head = {"apiVersion": "whypending/v1", "kind": "Recording", "metadata": {"name": "made"}, "observedAt": NOW}
    around: list[Object] = [
        {**head, "read": EVERYTHING if read is None else read, **recording},
        made("Namespace", "team-a", namespace="", labels={"kubernetes.io/metadata.name": "team-a"}),
        made("LocalQueue", "train-queue", spec={"clusterQueue": "gpu-cq"}),
        made("ClusterQueue", "gpu-cq", namespace="", spec={"namespaceSelector": {}}),
    ]
    return Cluster((*around, *objects))


def made(
    kind: str,
    name: str,
    *,
    namespace: str = "team-a",
    uid: str = "",
    owner: Object | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    created: str = BEFORE,
    spec: Object | None = None,
    status: Object | None = None,
    api_version: str = "",
    **more: Any,
) -> Object:
    """Give an object; its UID is made from kind and name unless it is given."""
    known = kinds.BY_NAME.get(kind)
    meta: Object = {"name": name, "uid": uid or f"{kind.lower()}-{name}-uid", "creationTimestamp": created}
    if namespace and (known is None or known.namespaced):
        meta["namespace"] = namespace
    if labels:
        meta["labels"] = labels
    if annotations:
        meta["annotations"] = annotations
    if owner is not None:
        meta["ownerReferences"] = [refer(owner)]
    version = api_version or (known.api_version(known.versions[0]) if known else "example.com/v1")
    found = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec or {}, "status": status or {}}
    return {**found, **more}


def refer(owner: Object, *, controller: bool = True) -> Object:
    """Give an owner reference."""
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": controller,
    }


def job(kind: str = "Job", name: str = "train", *, suspended: bool = True, **fields: Any) -> Object:
    """Give a job of any kind with a queue name (`labels={}` leaves it out), suspended where its kind can be."""
    known = kinds.BY_NAME.get(kind)
    spec: Object = fields.pop("spec", {})
    path = known.job.suspend if known is not None and known.job is not None else "spec.suspend"
    if path:
        *steps, last = path.split(".")[1:]
        spec = {**spec}
        place = spec
        for step in steps:
            place[step] = {**place.get(step, {})}
            place = place[step]
        place[last] = suspended
    return made(kind, name, spec=spec, **{"labels": QUEUE, **fields})


def workload(of: Object | None, name: str = "", **fields: Any) -> Object:
    """Give a Workload of a job, waiting unless `conditions` (type to status) or `status` say otherwise."""
    conditions = fields.pop("conditions", {"QuotaReserved": "False"})
    status = {
        "conditions": [
            {"type": kind, "status": state, "reason": kind, "lastTransitionTime": BEFORE}
            for kind, state in conditions.items()
        ],
        **fields.pop("status", {}),
    }
    title = name or (f"{of['kind'].lower()}-{of['metadata']['name']}-1a2b3" if of else "loose")
    spec = {"queueName": "train-queue", "podSets": [{"name": "main", "count": 1}], **fields.pop("spec", {})}
    labels = {"kueue.x-k8s.io/job-uid": of["metadata"]["uid"]} if of else {}
    return made("Workload", title, spec=spec, status=status, **{"owner": of, "labels": labels, **fields})


def pod(name: str = "train-0", *, gated: bool = False, phase: str = "Pending", **fields: Any) -> Object:
    """Give a pod with one container."""
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}], **fields.pop("spec", {})}
    if gated:
        spec["schedulingGates"] = GATE
    return made("Pod", name, spec=spec, status={"phase": phase, **fields.pop("status", {})}, **fields)


def event(about: Object, reason: str, message: str, *, at: str = BEFORE, **fields: Any) -> Object:
    """Give an event about an object."""
    meta = about["metadata"]
    reference = {
        "apiVersion": about["apiVersion"],
        "kind": about["kind"],
        "name": meta["name"],
        "namespace": meta.get("namespace", ""),
        "uid": meta["uid"],
    }
    name = f"{meta['name']}.{reason.lower()}{fields.pop('suffix', '')}"
    return made(
        "Event",
        name,
        involvedObject=reference,
        reason=reason,
        message=message,
        lastTimestamp=at,
        **{"type": "Normal", **fields},
    )


def admitted() -> dict[str, str]:
    """The conditions of an admitted Workload."""
    return {"QuotaReserved": "True", "Admitted": "True"}
