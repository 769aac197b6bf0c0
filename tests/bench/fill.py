"""A big cluster, written into a control plane's etcd: tens of thousands of objects in seconds, with the counts of Kueue.

The API server reads and serves them as any other; what it would have checked is right by construction. Written through the
API, object by object and status by status, the same takes many minutes on two cores.
"""

import base64
import json
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from bot.core import kinds
from tests.controlplane.plane import ControlPlane
from tests.controlplane.scenario import collection
from tests.workload_generator import GPU, NAMESPACES, around, workloads

Item = dict[str, Any]
LOCAL_QUEUES, CLUSTER_QUEUES, NODES = 2_000, 200, 1_000
TREE = "organisation"
"""The Cohort above all cohorts."""
_BATCH = 100
"""Objects in one transaction; etcd takes 128."""
_FOLDERS = {"Node": "minions"}
"""Where the API server keeps what is not kept under its plural."""


def fill(plane: ControlPlane, count: int) -> None:
    """Put the big cluster with `count` Workloads beside what is there."""
    plain = around()
    for item in [_cohort(TREE), *plain["namespaces"], *plain["resourceflavors"], *plain["admissionchecks"]]:
        plane.call("POST", collection(item), _new(item))
    for item in plain["cohorts"]:
        plane.call("POST", collection(item), _new(item | {"spec": {"parentName": TREE}}))
    queues = list(_queues(plain, count))
    for batch in _batches((*queues, *nodes())):
        _put(plane, batch)
    for batch in _batches(workloads(count)):
        _put(plane, batch)
    # the API server has seen the last of them
    last = next(islice(workloads(count), count - 1, None))
    plane.wait(lambda: plane.call("GET", f"{collection(last)}/{last['metadata']['name']}"), "the last Workload")


def nodes() -> Iterator[Item]:
    """Give the nodes, of the size that a node without its images has."""
    room = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "8", "ephemeral-storage": "1Ti", "hugepages-2Mi": "0"}
    states = [("Ready", "True", "KubeletReady", "kubelet is posting ready status")]
    states += [
        (f"{what}Pressure", "False", f"KubeletHasSufficient{what}", f"kubelet has sufficient {what.lower()} available")
        for what in ("Memory", "Disk", "PID")
    ]
    at = "2026-11-30T00:00:00Z"
    conditions = [
        {"type": kind, "status": status, "reason": reason, "message": message, "lastHeartbeatTime": at, "lastTransitionTime": at}
        for kind, status, reason, message in states
    ]  # fmt: skip
    for number in range(NODES):
        name = f"node-{number:04}"
        labels = {
            "gpu": "a100", "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "gpu-8", "topology.kubernetes.io/region": "eu-1",
            "topology.kubernetes.io/zone": f"eu-1{'abc'[number % 3]}",
        }  # fmt: skip
        info = {"kernelVersion": "6.12.0", "osImage": "Linux", "containerRuntimeVersion": "containerd://2.1.0",
                "kubeletVersion": "v1.35.0", "operatingSystem": "linux", "architecture": "amd64"}  # fmt: skip
        yield {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "uid": f"Node-{name}", "creationTimestamp": at, "labels": labels},
            "spec": {"podCIDR": "", "providerID": f"example://{name}"},
            "status": {
                "capacity": room, "allocatable": room, "conditions": conditions, "nodeInfo": info,
                "addresses": [{"type": "Hostname", "address": name}],
            },
        }  # fmt: skip


def _queues(plain: dict[str, list[Item]], count: int) -> Iterator[Item]:
    """Give ClusterQueues and LocalQueues up to their numbers, in the same cohorts, with the counts that Kueue writes."""
    cluster, local = list(plain["clusterqueues"]), list(plain["localqueues"])
    model = cluster[0]
    for n in range(CLUSTER_QUEUES - len(cluster)):
        meta = {**model["metadata"], "name": f"more-{n:03}", "uid": f"ClusterQueue-more-{n:03}"}
        cluster.append({**model, "metadata": meta, "spec": {**model["spec"], "cohortName": f"cohort-{n % 4}"}})
    for n in range(LOCAL_QUEUES - len(local)):
        meta = {"name": f"more-{n:04}", "namespace": f"team-{n % NAMESPACES:02}", "uid": f"LocalQueue-more-{n:04}"}
        meta = {**local[0]["metadata"], **meta}
        local.append({**local[0], "metadata": meta, "spec": {"clusterQueue": f"more-{n % 120:03}"}})
    leads = {(item["metadata"]["namespace"], item["metadata"]["name"]): item["spec"]["clusterQueue"] for item in local}
    pending, reserving, used = _counts(leads, count)
    for item in cluster:
        name = item["metadata"]["name"]
        yield _counted(item, pending[name], reserving[name], used.get(name, Counter()))
    for item in local:
        key = (item["metadata"]["namespace"], item["metadata"]["name"])
        yield _counted(item, pending[key], reserving[key], used.get(key, Counter()))


Counts = Counter[Any]


def _counts(leads: dict[tuple[str, str], str], count: int) -> tuple[Counts, Counts, dict[Any, Counts]]:
    """How many wait and hold, and what is held, by ClusterQueue's name and by LocalQueue's namespace and name."""
    pending, reserving, used = Counter[Any](), Counter[Any](), dict[Any, Counts]()
    for item in workloads(count):
        local_queue = (item["metadata"]["namespace"], item["spec"]["queueName"])
        admission = item["status"].get("admission")
        if admission is not None:
            places = (admission["clusterQueue"], local_queue)
            reserving.update(places)
            for part in admission["podSetAssignments"]:
                for resource, amount in part["resourceUsage"].items():
                    for place in places:
                        used.setdefault(place, Counter())[part["flavors"][resource], resource] += int(amount)
        elif local_queue in leads and item["spec"]["active"]:
            pending.update((leads[local_queue], local_queue))
    return pending, reserving, used


def _counted(item: Item, pending: int, reserving: int, used: Counts) -> Item:
    flavors: dict[str, list[Item]] = {}
    for (flavor, resource), amount in sorted(used.items()):
        flavors.setdefault(flavor, []).append({"name": resource, "total": str(amount)})
    held = [{"name": flavor, "resources": resources} for flavor, resources in flavors.items()]
    counts = {"pendingWorkloads": pending, "reservingWorkloads": reserving, "admittedWorkloads": reserving}
    return item | {"status": {**item["status"], **counts, "flavorsReservation": held, "flavorsUsage": held}}


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _cohort(name: str) -> Item:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": {}}


def _new(item: Item) -> Item:
    """Give the object without what the API server sets itself."""
    return item | {"metadata": {key: value for key, value in item["metadata"].items() if key != "uid"}}


def _key(item: Item) -> str:
    known = kinds.of_object(item["apiVersion"], item["kind"])
    assert known is not None, item["kind"]
    folder = _FOLDERS.get(known.kind) or "/".join(part for part in (known.group, known.plural) if part)
    meta = item["metadata"]
    return "/".join(["/registry", folder, *([meta["namespace"]] if "namespace" in meta else []), meta["name"]])


def _put(plane: ControlPlane, items: Iterable[Item]) -> None:
    def text(value: str) -> str:
        return base64.b64encode(value.encode()).decode()

    puts = [{"requestPut": {"key": text(_key(item)), "value": text(json.dumps(item))}} for item in items]
    url = f"http://127.0.0.1:{plane.port['etcd']}/v3/kv/txn"
    request = urllib.request.Request(url, json.dumps({"success": puts}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    if not answer.get("succeeded"):
        raise RuntimeError(f"etcd did not take {len(puts)} objects: {answer}")
