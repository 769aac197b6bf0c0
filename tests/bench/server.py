"""A recorded cluster behind a server process of its own, so that what the stand-in costs does not count as the bot's CPU.

The child is this module run as a program: `python -m tests.bench.server NAME COUNT`; it prints its URL and serves until its
standard input is closed.
"""

import asyncio
import contextlib
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bot.demo.apiserver import RecordedApi
from tests.clusters import RECORDINGS
from tests.workload_generator import jobs, recording, workloads

Item = dict[str, Any]
OWN_QUEUE = "gpu-cq"


def _recorded(kueue: str = "v0.19.2") -> list[Item]:
    items: list[Item] = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"]
    items[0] = {**items[0], "kueueVersion": kueue}
    return items


def _waiting(items: list[Item]) -> Item:
    return next(item for item in items if item["kind"] == "Workload" and "train" in item["metadata"]["name"])


def empty(_: int) -> RecordedApi:
    """The recorded cluster: `team-a/train` waits for two GPUs that another job holds."""
    return RecordedApi(_recorded())


def crowd(count: int, kueue: str = "v0.19.2") -> RecordedApi:
    """The same, and `count` Workloads that wait for another ClusterQueue, from forty namespaces."""
    base = _recorded(kueue)
    own = next(item for item in base if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == OWN_QUEUE)
    waiting = _waiting(base)
    queue = {
        **own, "metadata": {**own["metadata"], "name": "crowd-cq", "uid": "crowd"},
        "status": {**own["status"], "pendingWorkloads": count, "reservingWorkloads": 0},
    }  # fmt: skip
    locals_ = [
        {
            "apiVersion": waiting["apiVersion"], "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": f"crowd-{n}"},
            "spec": {"clusterQueue": "crowd-cq"}, "status": {"pendingWorkloads": count // 40},
        }
        for n in range(40)
    ]  # fmt: skip
    others = [
        {
            **waiting, "spec": {**waiting["spec"], "queueName": "lq"},
            "metadata": {"name": f"job-c-{n:05}", "namespace": f"crowd-{n % 40}", "uid": f"c{n}", "labels": {}},
        }
        for n in range(count)
    ]  # fmt: skip
    return RecordedApi([*base, queue, *locals_, *others])


def crowd_unselectable(count: int) -> RecordedApi:
    """The same where Workloads cannot be selected by ClusterQueue: before Kueue 0.18."""
    return crowd(count, "v0.17.0")


def line(count: int) -> RecordedApi:
    """`count` Workloads wait in the asked job's own ClusterQueue, from forty namespaces, all behind it."""
    base = _recorded()
    waiting = _waiting(base)
    cluster = [_with_pending(item, count) if item["kind"] == "ClusterQueue" else item for item in base]
    locals_ = [
        {
            "apiVersion": waiting["apiVersion"], "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": f"crowd-{n}"},
            "spec": {"clusterQueue": OWN_QUEUE}, "status": {"pendingWorkloads": count // 40},
        }
        for n in range(40)
    ]  # fmt: skip
    others = [
        {
            **waiting, "spec": {**waiting["spec"], "queueName": "lq"},
            "metadata": {
                "name": f"job-c-{n:05}", "namespace": f"crowd-{n % 40}", "uid": f"c{n}", "labels": {},
                "creationTimestamp": "2099-01-01T00:00:00Z",
            },
        }
        for n in range(count)
    ]  # fmt: skip
    return RecordedApi([*cluster, *locals_, *others])


def _with_pending(item: Item, count: int) -> Item:
    return {**item, "status": {**item["status"], "pendingWorkloads": count}}


def namespace(count: int) -> RecordedApi:
    """`count` Workloads with their Jobs wait in the asked job's own namespace and queue; a tenth as many pods and events."""
    base = _recorded()
    waiting = _waiting(base)
    job = next(item for item in base if item["kind"] == "Job" and item["metadata"]["name"] == "train")
    cluster = [_with_pending(item, count) if item["kind"] in {"ClusterQueue", "LocalQueue"} else item for item in base]
    jobs = [
        {**job, "metadata": {**job["metadata"], "name": f"other-{n:05}", "uid": f"j{n}"}} for n in range(count)
    ]  # fmt: skip
    others = [
        {
            **waiting,
            "metadata": {
                **waiting["metadata"], "name": f"job-other-{n:05}", "uid": f"w{n}", "labels": {"kueue.x-k8s.io/job-uid": f"j{n}"},
                "ownerReferences": [{**waiting["metadata"]["ownerReferences"][0], "name": f"other-{n:05}", "uid": f"j{n}"}],
            },
        }
        for n in range(count)
    ]  # fmt: skip
    pods = [
        {
            "apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "example.com/train"}]},
            "metadata": {
                "name": f"done-{n:05}", "namespace": "team-a", "uid": f"p{n}",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "gone", "uid": "gone", "controller": True}],
            },
            "status": {"phase": "Succeeded"},
        }
        for n in range(count // 10)
    ]  # fmt: skip
    events = [
        {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"other-{n:05}", "namespace": "team-a"},
            "involvedObject": {"kind": "Workload", "name": f"job-other-{n:05}", "namespace": "team-a", "uid": f"w{n}"},
            "reason": "Pending", "type": "Warning", "message": "couldn't assign flavors to pod set main",
            "lastTimestamp": "2026-11-01T00:00:00Z",
        }
        for n in range(count // 10)
    ]  # fmt: skip
    return RecordedApi([*cluster, *jobs, *others, *pods, *events])


def wide(_: int) -> RecordedApi:
    """The recorded cluster among 2,000 LocalQueues, 200 ClusterQueues and 1,000 nodes."""
    base = _recorded()
    known = {
        kind: next(item for item in base if item["kind"] == kind) for kind in ("ClusterQueue", "LocalQueue", "Node")
    }

    def many(kind: str, count: int, **more: Any) -> list[Item]:
        model = known[kind]
        space = {"namespace": "crowd"} if kind == "LocalQueue" else {}
        return [
            {
                **model,
                **more,
                "metadata": {**model["metadata"], "name": f"{kind.lower()}-{n:04}", "uid": f"{kind}{n}", **space},
            }
            for n in range(count)
        ]

    queues = many("LocalQueue", 2000, spec={"clusterQueue": "clusterqueue-0001"})
    return RecordedApi([*base, *queues, *many("ClusterQueue", 200), *many("Node", 1000)])


def generated(count: int) -> RecordedApi:
    """The recorded cluster and `count` Workloads of realistic size, about 4 KB each, for walks through pages."""
    return RecordedApi([*_recorded(), *workloads(count)])


def pending(count: int) -> RecordedApi:
    """`count` Workloads of realistic size, half of them pending for mixed causes, with their queues and jobs, for digests."""
    return RecordedApi([*recording(count), *jobs(count)])


CLUSTERS: dict[str, Callable[[int], RecordedApi]] = {
    "empty": empty, "crowd": crowd, "crowd-unselectable": crowd_unselectable, "line": line, "namespace": namespace, "wide": wide,
    "generated": generated, "pending": pending,
}  # fmt: skip


@contextlib.contextmanager
def serving(name: str, count: int = 0) -> Iterator[str]:
    """Serve a cluster in a process of its own; give its URL."""
    command = [sys.executable, "-m", "tests.bench.server", name, str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield child.stdout.readline().strip()
        finally:
            child.stdin.close()
            child.wait(20)


async def _serve(name: str, count: int) -> None:
    api = CLUSTERS[name](count)
    gc.freeze()
    gc.disable()
    async with api.serve() as url:
        print(url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2])))
