"""Wide clusters: long lists that hardly change are kept, what matters is read anew, and nothing kept proves an absence."""

import asyncio
import itertools
import json
import threading
from typing import Any

import pytest

from bot.core import engine
from bot.core import snapshot as s
from bot.core.facts import Facts
from bot.core.objects import LocalQueue
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.demo.apiserver import RecordedApi
from bot.kube import client as clients
from bot.kube.client import Client, Cluster
from bot.kube.reader import REQUESTS, Reader
from bot.kube.turns import MANY, Turns
from bot.render import json_v1, terminal
from tests.clusters import RECORDINGS, merge

TRAIN = JobRef("team-a", "train")
OTHERS = 600
Item = dict[str, Any]


def items() -> list[Item]:
    found: list[Item] = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"]
    return found


def local_queue(namespace: str, name: str, queue: str, **spec: Any) -> Item:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": queue, **spec}, "status": {},
    }  # fmt: skip


def wide(others: int = OTHERS, *more: Item) -> RecordedApi:
    """The recorded cluster among many LocalQueues of other namespaces and ClusterQueues, and many nodes."""
    base = items()
    node = next(item for item in base if item["kind"] == "Node")
    nodes = [{**node, "metadata": {**node["metadata"], "name": f"n-{n}", "uid": f"n{n}"}} for n in range(others)]
    queues = [local_queue(f"team-{n % 40 + 100}", f"q-{n}", "other-cq") for n in range(others)]
    return RecordedApi([*base, *nodes, *queues, *more])


def waiting(name: str, namespace: str, queue: str) -> Item:
    own = next(item for item in items() if item["kind"] == "Workload" and "train" in item["metadata"]["name"])
    meta = {"name": name, "namespace": namespace, "uid": name, "creationTimestamp": "2020-01-01T00:00:00Z"}
    return {**own, "metadata": meta, "spec": {**own["spec"], "queueName": queue}}


def counting(server: RecordedApi, pending: int) -> None:
    queue = next(item for item in items() if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == "gpu-cq")
    server.put({**queue, "status": {**queue["status"], "pendingWorkloads": pending}})


def paths(server: RecordedApi) -> list[str]:
    return [request.path.partition("/v1beta2/")[2] or request.path for request in server.log]


async def asked_twice(server: RecordedApi, change: Any = None, ref: JobRef = TRAIN) -> tuple[Snapshot, Snapshot]:
    """Ask, change the cluster, and ask again with nothing shared but what is kept; the log is that of the second."""
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        first = await reader.read(ref)
        if change is not None:
            change(server)
        server.log.clear()
        await asyncio.sleep(0)
        return first, await reader.read(ref)


def in_full(snapshot: Snapshot) -> bool:
    return Facts(snapshot, TRAIN).order.full


async def test_long_lists_are_not_read_for_every_question() -> None:
    server = wide()
    first, second = await asked_twice(server)
    assert "localqueues" not in paths(server)
    assert "namespaces/team-a/localqueues" in paths(server)
    assert "/api/v1/nodes" not in paths(server)
    assert len(server.log) <= REQUESTS
    assert first.older == {}
    assert set(second.older) == {"LocalQueue", "Node"}
    before, after = (engine.diagnose(snapshot, TRAIN) for snapshot in (first, second))
    assert after.complete
    assert in_full(second)
    assert (after.headline, after.quota, after.ahead) == (before.headline, before.quota, before.ahead)


async def test_short_lists_are_always_read_anew() -> None:
    server = wide(20)
    _, second = await asked_twice(server)
    assert {"localqueues", "/api/v1/nodes"} <= set(paths(server))
    assert second.older == {}


async def test_a_local_queue_that_is_newer_than_the_kept_list_is_noticed() -> None:
    def change(server: RecordedApi) -> None:
        server.put(local_queue("team-z", "late", "gpu-cq"))
        server.put(waiting("ahead", "team-z", "late"))
        counting(server, 2)

    server = wide()
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        change(server)
        unsure = await reader.read(TRAIN)
        sure = await reader.read(TRAIN)
    assert not in_full(unsure), "one waits that was not found: the line is not known"
    assert [gap.reason for gap in unsure.gaps if gap.kind == "LocalQueue"] == [
        "ClusterQueue gpu-cq counts 2 that wait, 1 were found"
    ]
    assert in_full(sure), "then all are read anew"
    assert sure.look("LocalQueue", "late", "team-z") is not None
    ahead = engine.diagnose(sure, TRAIN).ahead
    assert ahead is not None
    assert ahead.position == 1


NOT_COUNTED: dict[str, Item] = {
    "deactivated": {"spec": {"active": False}},
    "deleted": {"metadata": {"deletionTimestamp": "2020-01-02T00:00:00Z"}},
    "gated": {"metadata": {"annotations": {"kueue.x-k8s.io/admission-gated-by": "example.com/gate"}}},
    "held": {
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "OnHold", "message": ""}]}
    },
}


@pytest.mark.parametrize("how", NOT_COUNTED)
async def test_what_kueue_does_not_count_does_not_stand_for_what_was_not_found(how: str) -> None:
    def change(server: RecordedApi) -> None:
        server.put(local_queue("team-z", "late", "gpu-cq"))
        server.put(waiting("ahead", "team-z", "late"))
        counting(server, 2)

    other: Item = merge(waiting("other", "team-a", "train-queue"), NOT_COUNTED[how])
    _, second = await asked_twice(wide(OTHERS, other), change)
    assert not in_full(second), f"the Workload that is {how} is none of the two that wait"


async def test_the_own_namespace_s_local_queues_are_never_kept_ones() -> None:
    def change(server: RecordedApi) -> None:
        server.remove("LocalQueue", "train-queue", "team-a")

    _, second = await asked_twice(wide(), change)
    assert engine.diagnose(second, TRAIN).headline.rule == "local-queue-missing"


@pytest.mark.parametrize("gone", [False, True])
async def test_other_namespaces_that_feed_the_queue_are_read_anew(gone: bool) -> None:  # noqa: FBT001
    def change(server: RecordedApi) -> None:
        if gone:
            server.remove("LocalQueue", "second", "team-b")
        else:
            server.put(local_queue("team-b", "second", "gpu-cq", stopPolicy="Hold"))

    server = wide(OTHERS, local_queue("team-b", "second", "gpu-cq"), waiting("other", "team-b", "second"))
    counting(server, 1)
    _, second = await asked_twice(server, change)
    assert "namespaces/team-b/localqueues" in paths(server)
    found = second.look_of(LocalQueue, "second", "team-b")
    assert found is None if gone else found is not None and found.spec.stop_policy == "Hold"
    assert in_full(second)
    ahead = engine.diagnose(second, TRAIN).ahead
    assert ahead is not None
    assert (ahead.position, ahead.total) == (0, 1), "what waits in a queue that is stopped or gone is not in the line"


async def test_where_many_namespaces_feed_the_queue_all_are_read_anew() -> None:
    server = wide(OTHERS, *[local_queue(f"feed-{n}", "q", "gpu-cq") for n in range(5)])
    _, second = await asked_twice(server)
    assert "localqueues" in paths(server)
    assert "LocalQueue" not in second.older
    assert in_full(second)


async def test_a_kept_list_that_is_old_is_renewed_beside_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "RENEWED_SECONDS", -1.0)
    server = wide()
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        server.put(local_queue("team-z", "late", "other-cq"))
        await reader.read(TRAIN)
        found = None
        async with asyncio.timeout(10):
            while found is None:
                found = (await reader.read(TRAIN)).look("LocalQueue", "late", "team-z")


async def test_a_list_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "KEPT_SECONDS", {"LocalQueue": -1.0, "Node": -1.0})
    server = wide()
    _, second = await asked_twice(server)
    assert {"localqueues", "/api/v1/nodes"} <= set(paths(server))
    assert second.older == {}


async def test_nodes_are_read_anew_where_preemption_may_hang_on_one() -> None:
    server = wide()
    own = next(item for item in items() if item["kind"] == "Workload" and "train" in item["metadata"]["name"])
    conditions = [
        {**entry, "message": f"{entry['message']}. Pending the preemption of 1 workload(s)"}
        for entry in own["status"]["conditions"]
    ]
    server.put({**own, "status": {**own["status"], "conditions": conditions}})
    _, second = await asked_twice(server)
    assert "/api/v1/nodes" in paths(server)
    assert "Node" not in second.older


async def test_neighbours_that_hold_something_else_are_not_read() -> None:
    """In a cohort of a big cluster the holders of other ClusterQueues are read only where they hold what is asked for."""
    base = items()
    gpu = next(item for item in base if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == "gpu-cq")

    def neighbour(name: str, flavor: str) -> Item:
        held = [{"name": flavor, "resources": [{"name": "nvidia.com/gpu", "total": "4"}]}]
        status = {**gpu["status"], "pendingWorkloads": 900, "reservingWorkloads": 2, "flavorsReservation": held}
        return {
            **gpu,
            "metadata": {"name": name, "uid": name},
            "spec": {**gpu["spec"], "cohortName": "all"},
            "status": status,
        }

    flavor = gpu["spec"]["resourceGroups"][0]["flavors"][0]["name"]
    own = {**gpu, "spec": {**gpu["spec"], "cohortName": "all"}}
    others = [item for item in base if item is not gpu]
    server = RecordedApi([*others, own, neighbour("same-cq", flavor), neighbour("other-cq", "elsewhere")])
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        snapshot = await Reader.of(client).read(TRAIN)
    assert snapshot.covers("Workload", selector=s.holders("same-cq"))
    assert not snapshot.covers("Workload", selector=s.holders("other-cq"))


@pytest.mark.parametrize("gone", [0, 1])
async def test_who_holds_in_a_small_queue_is_read_by_its_namespaces(gone: int) -> None:
    """Unless somebody holds on whose LocalQueue is gone: that one is found among the Workloads of the whole cluster alone."""
    server, base = wide(), items()
    queue = next(item for item in base if item["kind"] == "ClusterQueue" and item["metadata"]["name"] == "gpu-cq")
    local = next(item for item in base if item["kind"] == "LocalQueue" and item["spec"]["clusterQueue"] == "gpu-cq")
    counted = local.get("status", {}).get("reservingWorkloads", 0)
    crowd = {**queue, "metadata": {"name": "crowd", "uid": "crowd"}, "status": {"pendingWorkloads": 900}}
    server.put(crowd)
    server.put({**queue, "status": {**queue["status"], "reservingWorkloads": counted + gone}})
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        snapshot = await Reader.of(client).read(TRAIN)
    selected = [r for r in server.log if "status.admission.clusterQueue" in r.query and "gpu-cq" in r.query]
    assert bool(selected) == bool(gone)
    assert snapshot.covers("Workload", selector=s.holders("gpu-cq"))


async def test_what_was_read_before_is_said_with_its_time() -> None:
    _, second = await asked_twice(wide())
    ago = {kind: at.replace(year=at.year - 1) for kind, at in second.older.items()}
    values = {name: getattr(second, name) for name in Snapshot.__dataclass_fields__}
    answer = engine.diagnose(Snapshot(**{**values, "older": ago}), TRAIN)
    assert f"nodes as of {ago['Node']:%H:%M} UTC" in terminal.render(answer, 200)
    assert [entry.kind for entry in json_v1.document(answer).older] == ["LocalQueue", "Node"]


# --- turns of the event loop ---


@pytest.mark.parametrize("objects", [0, MANY + 1])
async def test_between_two_pieces_of_work_everybody_else_has_a_turn(objects: int) -> None:
    turns, order = Turns(), list[str]()

    async def beat() -> None:
        while True:
            order.append("beat")
            await asyncio.sleep(0)

    heart = asyncio.create_task(beat())
    ready = asyncio.Event()

    async def question() -> None:
        await ready.wait()  # reads that are shared end for all at once
        await turns.take(lambda: order.append("work"), objects)

    asking = [asyncio.create_task(question()) for _ in range(20)]
    await asyncio.sleep(0)
    ready.set()
    await asyncio.gather(*asking)
    heart.cancel()
    assert order.count("work") == 20
    assert ("work", "work") not in set(itertools.pairwise(order))


async def test_work_that_is_given_up_ends_before_other_work_begins() -> None:
    turns, order, end = Turns(), list[str](), threading.Event()
    loop, begun = asyncio.get_running_loop(), asyncio.Event()

    def work() -> None:
        order.append("began")
        loop.call_soon_threadsafe(begun.set)
        end.wait(10)
        order.append("ended")

    given_up = asyncio.create_task(turns.take(work, MANY + 1))
    async with asyncio.timeout(10):
        await begun.wait()
    given_up.cancel()
    other = asyncio.create_task(turns.take(lambda: order.append("other")))
    for _ in range(10):
        await asyncio.sleep(0)
    end.set()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await other
    assert order == ["began", "ended", "other"]
