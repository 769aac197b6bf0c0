"""A large cluster in which half of the Workloads wait, for mixed causes; the size is the only argument that matters.

What comes out is what an API server would send: full objects with managed fields and pod templates, about 4 KB each.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

Object = dict[str, Any]
NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
QUEUES, NAMESPACES = 20, 40
GPU = "nvidia.com/gpu"

CAUSES = (
    "quota", "quota", "quota", "too-big", "queue-missing", "taint", "stopped", "check", "backoff", "deactivated",
)  # fmt: skip
"""What holds the waiting ones back, in turns; quota is the most frequent cause."""


def stamp(moment: datetime) -> str:
    """Give a moment as the API writes it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def around() -> dict[str, list[Object]]:
    """Give what stands around the Workloads, by plural: namespaces, queues, flavors, cohorts, one check."""
    namespaces = [_object("v1", "Namespace", f"team-{n:02}") for n in range(NAMESPACES)]
    flavors = [
        _object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "a100", spec={"nodeLabels": {"gpu": "a100"}}),
        _object(
            "kueue.x-k8s.io/v1beta2", "ResourceFlavor", "spot",
            spec={"nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]},
        ),
    ]  # fmt: skip
    queues = [_cluster_queue(n) for n in range(QUEUES)]
    local = [
        _object(
            "kueue.x-k8s.io/v1beta2", "LocalQueue", name, f"team-{n:02}", spec={"clusterQueue": f"{target}-{n % QUEUES:02}"},
            status={"conditions": [_condition("Active", "True", "Ready", "Can submit new workloads to localQueue", NOW)]},
        )
        for n in range(NAMESPACES)
        for name, target in (("train", "gpu"), ("spot", "spot"), ("closed", "closed"), ("checked", "checked"))
    ]  # fmt: skip
    for kind in ("spot", "closed", "checked"):
        queues += [_cluster_queue(n, kind) for n in range(QUEUES)]
    cohorts = [_object("kueue.x-k8s.io/v1beta2", "Cohort", f"cohort-{n}") for n in range(4)]
    check = _object(
        "kueue.x-k8s.io/v1beta2", "AdmissionCheck", "capacity", spec={"controllerName": "example.com/capacity"},
        status={"conditions": [_condition("Active", "True", "Active", "The admission check is active", NOW)]},
    )  # fmt: skip
    return {
        "namespaces": namespaces, "resourceflavors": flavors, "clusterqueues": queues, "localqueues": local,
        "cohorts": cohorts, "admissionchecks": [check],
    }  # fmt: skip


def _cluster_queue(number: int, kind: str = "gpu") -> Object:
    flavor = "spot" if kind == "spot" else "a100"
    spec: Object = {
        "cohortName": f"cohort-{number % 4}", "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [
            {"coveredResources": ["cpu", GPU],
             "flavors": [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": "4000"},
                                                        {"name": GPU, "nominalQuota": "64", "borrowingLimit": "0"}]}]}
        ],
    }  # fmt: skip
    if kind == "closed":
        spec["stopPolicy"] = "Hold"
    if kind == "checked":
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": "capacity"}]}
    active = _condition("Active", "True", "Ready", "Can admit new workloads", NOW - timedelta(days=9))
    if kind == "closed":
        active = _condition("Active", "False", "Stopped", "Can't admit new workloads: is stopped.", NOW)
    return _object(
        "kueue.x-k8s.io/v1beta2", "ClusterQueue", f"{kind}-{number:02}", spec=spec, status={"conditions": [active]}
    )


def workloads(count: int) -> Iterator[Object]:
    """Give so many Workloads; every other one is admitted and fills its queue, the others wait."""
    for number in range(count):
        yield _admitted(number, count) if number % 2 else _waiting(number, CAUSES[number // 2 % len(CAUSES)])


def pages(count: int, size: int = 500) -> Iterator[bytes]:
    """Give the same as the bodies of list pages."""
    page: list[Object] = []
    for number, item in enumerate(workloads(count), 1):
        page.append(item)
        if len(page) == size or number == count:
            more = {"continue": str(number), "remainingItemCount": count - number} if number < count else {}
            head = {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "WorkloadList",
                "metadata": {"resourceVersion": "1", **more},
            }
            yield json.dumps({**head, "items": page}, separators=(",", ":")).encode()
            page = []


def recording(count: int) -> list[Object]:
    """Give the whole cluster as a recording: its own document, what stands around, and so many Workloads."""
    read = [
        *("kueue.x-k8s.io/v1beta2/" + plural for plural in (
            "workloads", "localqueues", "clusterqueues", "cohorts", "resourceflavors", "topologies", "admissionchecks",
            "provisioningrequestconfigs", "multikueueconfigs", "multikueueclusters", "workloadpriorityclasses")),
        "v1/namespaces", "v1/nodes", "v1/limitranges", "v1/pods", "v1/events", "batch/v1/jobs",
        "scheduling.k8s.io/v1/priorityclasses", "node.k8s.io/v1/runtimeclasses",
    ]  # fmt: skip
    head = {
        "apiVersion": "whypending/v1", "kind": "Recording", "metadata": {"name": "generated"}, "observedAt": stamp(NOW),
        "kueueVersion": "v0.19.2", "kubernetesVersion": "v1.36.2", "read": read,
    }  # fmt: skip
    return [head, *(item for items in around().values() for item in items), *workloads(count)]


def jobs(count: int) -> Iterator[Object]:
    """Give the Jobs of the admitted Workloads among so many."""
    for item in workloads(count):
        if "admission" in item["status"]:
            (owner,) = item["metadata"]["ownerReferences"]
            made = _object("batch/v1", "Job", owner["name"], item["metadata"]["namespace"], spec={"suspend": False})
            made["metadata"]["uid"] = owner["uid"]
            yield made


def _admitted(number: int, count: int) -> Object:
    namespace, gpus = number // 2 % NAMESPACES, 1
    queue = namespace % QUEUES
    each = max(1, -(-QUEUES * 64 // (count // 2)))
    if number // 2 // QUEUES >= 64 // each:
        gpus = 0  # the queue is full: the rest wants CPUs alone
    usage = {"cpu": "1", **({GPU: str(gpus * each)} if gpus else {})}
    since = NOW - timedelta(hours=1 + number % 50)
    stuck = number % 400 == 1
    conditions = [
        _condition("QuotaReserved", "True", "QuotaReserved", f"Quota reserved in ClusterQueue gpu-{queue:02}", since),
        _condition("Admitted", "True", "Admitted", "The workload is admitted", since),
        _condition("PodsReady", "False", "WaitForStart", "Not all pods are ready or succeeded", since)
        if stuck
        else _condition(
            "PodsReady", "True", "Started", "All pods reached readiness and the workload is running", since
        ),
    ]
    assignment = {"name": "main", "count": 1, "flavors": dict.fromkeys(usage, "a100"), "resourceUsage": usage}
    status = {
        "admission": {"clusterQueue": f"gpu-{queue:02}", "podSetAssignments": [assignment]},
        "conditions": conditions,
    }
    return _workload(number, f"team-{namespace:02}", "train", int(usage.get(GPU, "0")), status, since)


def _waiting(number: int, cause: str) -> Object:
    namespace, gpus, queue = number // 20 % NAMESPACES, (1, 2, 4, 8)[number // 800 % 4], "train"
    since = NOW - timedelta(minutes=7 * (number % 900) + 10)
    status: Object = {}
    spec: Object = {}
    text = f"couldn't assign flavors to pod set main: insufficient unused quota for {GPU} in flavor a100, {gpus} more needed"
    if cause == "too-big":
        gpus = 128
        text = (
            f"couldn't assign flavors to pod set main: insufficient quota for {GPU} in flavor a100, previously considered "
            "podsets requests (0) + current podset request (128) > maximum capacity (64)"
        )
    elif cause == "queue-missing":
        queue, text = "trian", "LocalQueue trian doesn't exist"
    elif cause == "taint":
        queue = "spot"
        text = "couldn't assign flavors to pod set main: untolerated taint {spot true NoSchedule <nil>} in flavor spot"
    elif cause == "stopped":
        queue, text = "closed", f"ClusterQueue closed-{namespace % QUEUES:02} is inactive"
    elif cause == "deactivated":
        text, spec = "The workload is deactivated", {"active": False}
    elif cause == "backoff":
        status["requeueState"] = {"count": 2 + number % 4, "requeueAt": stamp(NOW + timedelta(minutes=5))}
        status["conditions"] = [
            _condition("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout team", since),
            _condition("Requeued", "False", "PodsReadyTimeout", "Exceeded the PodsReady timeout team", since),
        ]
    elif cause == "check":
        queue = "checked"
        status = {
            "admission": {"clusterQueue": f"checked-{namespace % QUEUES:02}", "podSetAssignments": [
                {"name": "main", "count": 1, "flavors": {"cpu": "a100"}, "resourceUsage": {"cpu": "1"}}]},
            "admissionChecks": [{"name": "capacity", "state": "Pending", "message": "", "lastTransitionTime": stamp(since)}],
            "conditions": [_condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved", since)],
        }  # fmt: skip
    if cause != "check":
        refused = _condition("QuotaReserved", "False", "Pending", text, since)
        status["conditions"] = [*status.get("conditions", []), refused]
        status["resourceRequests"] = [{"name": "main", "resources": {"cpu": "1", GPU: str(gpus)}}]
    return _workload(number, f"team-{namespace:02}", queue, gpus, status, since, **spec)


def _workload(  # noqa: PLR0917 - a maker of test data
    number: int, namespace: str, queue: str, gpus: int, status: Object, since: datetime, **spec: Any
) -> Object:
    name = f"train-{number:05}"
    resources = {"cpu": "1", **({GPU: str(gpus)} if gpus else {})}
    container = {
        "name": "main", "image": "registry.example.com/research/train:2026.11", "imagePullPolicy": "IfNotPresent",
        "command": ["python", "-m", "train", "--config", f"/etc/train/{name}.yaml"],
        "env": [{"name": f"SETTING_{n}", "value": f"value-{n}-of-{name}"} for n in range(12)],
        "resources": {"limits": resources, "requests": resources},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "scratch", "mountPath": "/scratch"}],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    }  # fmt: skip
    template = {
        "metadata": {"labels": {"batch.kubernetes.io/job-name": name, "app": "train"}},
        "spec": {
            "containers": [container], "restartPolicy": "Never", "dnsPolicy": "ClusterFirst", "securityContext": {},
            "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30,
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "scratch", "emptyDir": {}}],
        },
    }  # fmt: skip
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"00000000-0000-4000-8000-{number:012}",
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    made = _object(
        "kueue.x-k8s.io/v1beta2", "Workload", f"job-{name}-{number:05x}", namespace,
        spec={"active": True, "queueName": queue, "priority": 0, "podSets": [{"name": "main", "count": 1, "template": template}],
              **spec},
        status=status,
    )  # fmt: skip
    fields: dict[str, object] = {
        f"f:{key}": {f"f:{inner}": {} for inner in ("name", "value", "spec", "status")} for key in "abcdefghijkl"
    }
    made["metadata"] |= {
        "creationTimestamp": stamp(since), "ownerReferences": [owner], "generation": 1,
        "finalizers": ["kueue.x-k8s.io/resource-in-use"], "labels": {"kueue.x-k8s.io/job-uid": owner["uid"]},
        "managedFields": [
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": manager,
             "operation": "Apply", "time": stamp(since)}
            for manager in ("kueue-admission", "kueue")
        ],
    }  # fmt: skip
    return made


def _condition(kind: str, status: str, reason: str, message: str, at: datetime) -> Object:
    return {
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": stamp(at),
        "observedGeneration": 1,
    }  # fmt: skip


def _object(api: str, kind: str, name: str, namespace: str = "", **parts: Any) -> Object:
    meta: Object = {
        "name": name,
        "uid": f"{kind}-{namespace}-{name}",
        "creationTimestamp": stamp(NOW - timedelta(days=30)),
    }
    if namespace:
        meta["namespace"] = namespace
    if kind == "Namespace":
        meta["labels"] = {"kubernetes.io/metadata.name": name}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **parts}
