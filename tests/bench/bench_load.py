"""The bot against a real API server that holds a big cluster: a hundred people ask at once while a digest runs.

On request: `python -m tests.bench load`, some minutes; LOAD in the environment is the number of Workloads. SOAK seconds
make it ask on for so long and show that memory, descriptors and the store do not grow. Kueue, the controllers and the
simulated kubelets are paused once the big cluster is there: it is looked at, not run.
"""

import asyncio
import os
import resource
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from bot.core import engine
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience
from bot.core.reference import JobRef
from bot.kube.client import Client, Cluster, preload, tune_gc
from bot.kube.reader import Reader
from bot.service import Service, Site
from tests.bench.bench_stall import Heartbeat
from tests.bench.row import Row, middle
from tests.clusters import merge
from tests.controlplane.plane import ControlPlane, what_is_missing
from tests.controlplane.scenario import BASES, Player, Scenario, collection
from tests.workload_generator import NAMESPACES, around, workloads
from tests.workspace import workspace

ON_REQUEST = True
COUNT, LOCAL_QUEUES, CLUSTER_QUEUES, NODES, PEOPLE = int(os.environ.get("LOAD", "20000")), 2_000, 200, 1_000, 100
TIMES = 30
TRAIN = JobRef("team-a", "train")
SCENE = {
    "jobs": {"team-a/holder": {"queue": "main", "requests": {"cpu": "3"}}},
    "steps": [
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "holder", "condition": "Admitted"}},
        {"jobs": {"team-a/train": {"queue": "main", "requests": {"cpu": "2"}}}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "train", "condition": "QuotaReserved=False"}},
    ],
}
_WORKLOADS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
Item = dict[str, Any]


def rows() -> Iterator[Row]:
    """Build the cluster, measure and give the rows."""
    missing = what_is_missing()
    if missing is not None:
        print(f"no control plane here: {missing}", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="whypending-load-") as folder:
        plane = ControlPlane(Path(folder))
        try:
            plane.start()
            yield from _measured(plane)
        finally:
            plane.close()


def _measured(plane: ControlPlane) -> Iterator[Row]:
    Player(plane).play(Scenario("load", merge(BASES["small"], SCENE)))
    # both are asked without Kueue, so that its visibility API makes no difference between them
    for name in ("kueue", "kube-controller-manager", "kube-scheduler", "kwok"):
        plane.pause(name)
    cluster = Cluster(kubeconfig=str(plane.kubeconfig()))
    empty = asyncio.run(_questions(cluster))
    began = time.monotonic()
    asyncio.run(_fill(plane))
    print(f"{'':<74} (the cluster took {time.monotonic() - began:.0f} s to fill)", file=sys.stderr, flush=True)
    for title in ("not selectable by ClusterQueue", "selectable"):
        if title == "selectable":
            _make_selectable(plane)
        full = asyncio.run(_questions(cluster))
        what = f"one question, {COUNT:,} Workloads on a real API server, {title}"
        note = f"{full.requests:.0f} requests, {full.rule}"
        yield Row(f"{what}: p50 against empty", middle(full.times) / middle(empty.times), 2, note=note)
        yield Row(f"{what}: p99 against empty", _p99(full.times) / _p99(empty.times), note=f"{_p99(full.times):.2f} s")
    yield from asyncio.run(_people(cluster, middle(empty.times)))
    yield from _digest(plane)
    soak = int(os.environ.get("SOAK", "0"))
    if soak:
        yield from asyncio.run(_soak(cluster, soak))


@dataclass
class _Asked:
    times: list[float] = field(default_factory=list)
    requests: float = 0
    rule: str = ""


async def _questions(cluster: Cluster) -> _Asked:
    preload()
    asked = _Asked()
    async with Client(cluster, shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        tune_gc()
        for _ in range(TIMES):
            await asyncio.sleep(0.05)
            before, began = client.requests, time.perf_counter()
            answer = engine.diagnose(await reader.read(TRAIN), TRAIN)
            asked.times.append(time.perf_counter() - began)
            asked.requests, asked.rule = client.requests - before, answer.headline.rule
    return asked


def _p99(times: Iterable[float]) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


@dataclass
class _Timed:
    """A service that notes how long its answers take."""

    service: Service
    times: list[float] = field(default_factory=list)
    answers: list[Diagnosis] = field(default_factory=list)

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        began = time.perf_counter()
        answer = await self.service.explain_to(ref, audience)
        self.times.append(time.perf_counter() - began)
        self.answers.append(answer)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.service, name)


def _jobs() -> list[str]:
    """Give what the people ask about: waiting Workloads of all namespaces."""
    found = [item for item in workloads(COUNT) if "admission" not in item["status"]]
    step = len(found) // PEOPLE
    return [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found[::step][:PEOPLE]]


async def _people(cluster: Cluster, alone: float) -> list[Row]:
    heart = Heartbeat()
    async with Service({"": Site(cluster)}) as service:
        timed = _Timed(service)
        async with workspace(timed, questions_at_once=50, questions_waiting=200) as world:
            await timed.explain_to(TRAIN, Audience("namespace", "team-a"))
            timed.times.clear()
            timed.answers.clear()
            before = service.reader().client.requests
            tune_gc()
            async with heart.beating():
                deliveries = await asyncio.gather(*(world.ask(job) for job in _jobs()))
                await world.slack.until(lambda: len(timed.times) >= PEOPLE or None, seconds=120)
            sent = service.reader().client.requests - before
    acknowledged = max(delivery.seconds or 60 for delivery in deliveries)
    whole = sum(answer.complete for answer in timed.answers)
    rules = {answer.headline.rule for answer in timed.answers}
    stall = f"on the clock {heart.longest * 1000:.0f} ms"
    unknown = sum(answer.headline.rule == "no-explanation-visible" for answer in timed.answers)
    return [
        Row(f"{PEOPLE} people ask at once: slowest acknowledgement", acknowledged, 0.5, "s"),
        Row(f"{PEOPLE} people ask at once: p50 of the answer", middle(timed.times), 8, "s",
            f"{middle(timed.times) / alone:.0f} times one alone; {whole} whole, {unknown} without a cause, {len(rules)} causes"),
        Row(f"{PEOPLE} people ask at once: p99 of the answer", _p99(timed.times), 9, "s"),
        Row(f"{PEOPLE} people ask at once: requests for each answer", sent / PEOPLE, 20, ""),
        Row(f"{PEOPLE} people ask at once: event-loop stall", heart.busiest * 1000, 50, "ms", stall),
        Row("peak memory of the process with the bot, the local Slack and the filler", _peak(), None, "MiB"),
    ]  # fmt: skip


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _digest(plane: ControlPlane) -> Iterator[Row]:
    environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
    kubectl, ours = [], []
    for _ in range(2):
        kubectl.append(_run([str(plane.bin / "kubectl"), "get", "workloads", "-A"], environment))
        code = "import sys; from bot.cli import main; sys.exit(main(['digest']))"
        ours.append(_run([sys.executable, "-c", code], environment))
    wall, cpu, peak = (min(one[part] for one in ours) for part in range(3))
    their_wall, their_cpu, their_peak = (min(one[part] for one in kubectl) for part in range(3))
    yield Row(
        "`whypending digest` against `kubectl get workloads -A`: wall", wall / their_wall, None, note=f"{wall:.1f} s"
    )
    yield Row("`whypending digest` against `kubectl get workloads -A`: CPU", cpu / their_cpu, None, note=f"{cpu:.1f} s")
    yield Row(
        "`whypending digest` against `kubectl get workloads -A`: memory",
        peak / their_peak,
        None,
        note=f"{peak:.0f} MiB",
    )


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Wall and CPU seconds and MiB of one process."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


async def _soak(cluster: Cluster, seconds: int) -> list[Row]:
    """Ask on and on; what is there after a first tenth is compared with what is there at the end."""

    def standing() -> tuple[float, int, int]:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * 4096 / 2**20, len(list(Path("/proc/self/fd").iterdir())), store.stat().st_size

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite3"
        async with (
            Service({"": Site(cluster)}) as service,
            workspace(service, store_url=f"sqlite:///{store}") as world,
        ):
            jobs, count, end = _jobs(), 0, time.monotonic() + seconds
            first: tuple[float, int, int] | None = None
            while time.monotonic() < end:
                await asyncio.gather(*(world.ask(jobs[(count + n) % len(jobs)]) for n in range(5)))
                count += 5
                await world.slack.until(lambda: not len(world.bot.work) or None, seconds=120)
                world.ml.messages.clear()
                world.slack.calls.clear()
                if first is None and time.monotonic() > end - seconds * 0.9:
                    first = standing()
            last = standing()
    assert first is not None
    return [
        Row(f"after {count:,} questions in {seconds} s, memory against that after a tenth", last[0] / first[0], 1.1,
            note=f"{first[0]:.0f} → {last[0]:.0f} MiB"),
        Row("the same, open descriptors", last[1] / first[1], 1.1, note=f"{first[1]} → {last[1]}"),
        Row("the same, store in bytes for each question", (last[2] - first[2]) / max(1, count), None, "B"),
    ]  # fmt: skip


# --- the big cluster ---


def _make_selectable(plane: ControlPlane) -> None:
    """Let Workloads be selected by ClusterQueue, as Kueue's own definition does from 0.18 on."""
    spec = plane.call("GET", _WORKLOADS)["spec"]
    for version in spec["versions"]:
        if version["name"] == "v1beta2":
            version["selectableFields"] = [{"jsonPath": ".status.admission.clusterQueue"}]
    plane.call("PATCH", _WORKLOADS, {"spec": {"versions": spec["versions"]}})
    path = "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=1&fieldSelector=status.admission.clusterQueue%3Dcq"
    plane.wait(lambda: plane.call("GET", path), "selectable Workloads")


async def _fill(plane: ControlPlane) -> None:
    trusted = ssl.create_default_context(cafile=str(plane.dir / "ca.crt"))
    headers = {"Authorization": "Bearer token-admin"}
    async with aiohttp.ClientSession(
        plane.url, connector=aiohttp.TCPConnector(ssl=trusted, limit=32), headers=headers
    ) as session:
        for kind in around().values():
            await _make(session, kind)
        await _make(session, _more_queues())
        await _make(session, _nodes())
        await _make(session, workloads(COUNT))


async def _make(session: aiohttp.ClientSession, items: Iterable[Item]) -> None:
    """Create objects, thirty-two at a time, and write their status."""
    todo = iter(items)

    async def work() -> None:
        for item in todo:
            item["metadata"].pop("managedFields", None)
            item["metadata"].pop("uid", None)
            path = collection(item)
            async with session.post(path, json=item) as answer:
                if answer.status not in {201, 409}:
                    raise RuntimeError(f"{path}: {await answer.text()}")
            if "status" in item:
                place = f"{path}/{item['metadata']['name']}/status"
                kind = {"Content-Type": "application/merge-patch+json"}
                async with session.patch(place, json={"status": item["status"]}, headers=kind) as answer:
                    if answer.status != 200:
                        raise RuntimeError(f"{place}: {await answer.text()}")

    await asyncio.gather(*(work() for _ in range(32)))


def _more_queues() -> Iterator[Item]:
    """Further ClusterQueues and LocalQueues, up to their numbers, in the same cohorts."""
    plain = around()
    model = plain["clusterqueues"][0]
    for n in range(CLUSTER_QUEUES - len(plain["clusterqueues"])):
        yield {
            **model,
            "metadata": {"name": f"more-{n:03}"},
            "spec": {**model["spec"], "cohortName": f"cohort-{n % 4}"},
        }
    queue = plain["localqueues"][0]
    for n in range(LOCAL_QUEUES - len(plain["localqueues"])):
        meta = {"name": f"more-{n:04}", "namespace": f"team-{n % NAMESPACES:02}"}
        yield {**queue, "metadata": meta, "spec": {"clusterQueue": f"more-{n % 120:03}"}}


def _nodes() -> Iterator[Item]:
    room = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    for n in range(NODES):
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "lastTransitionTime": "2026-11-30T00:00:00Z",
        }
        yield {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{n:04}", "labels": {"gpu": "a100"}}, "spec": {},
            "status": {"capacity": room, "allocatable": room, "conditions": [ready]},
        }  # fmt: skip
