"""The bot against real API servers, one nearly empty and one that holds a big cluster: a hundred people ask while it is digested.

On request: `python -m tests.bench load`, some minutes; LOAD in the environment is the number of Workloads. With SOAK
seconds it asks on for so long instead, and shows that memory, descriptors and the store do not grow. Kueue, the
controllers and the simulated kubelets are paused once the clusters are there: they are looked at, not run.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bot.core import digest, engine
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.kube.client import Answer, Client, Cluster, preload, tune_gc
from bot.kube.client import object_path as place
from bot.kube.reader import Reader
from bot.render import card
from bot.render import digest as rendered
from bot.service import Service, Site
from bot.store import Store, Watch, new_id
from bot.survey import seen, survey
from tests.bench.bench_digest import json_alone
from tests.bench.bench_stall import Heartbeat
from tests.bench.fill import CLUSTER_QUEUES, LOCAL_QUEUES, NODES, fill
from tests.bench.row import Row, cpu, middle
from tests.clusters import merge
from tests.controlplane.plane import ControlPlane, what_is_missing
from tests.controlplane.scenario import BASES, Player, Scenario
from tests.workload_generator import workloads
from tests.workspace import World, workspace

ON_REQUEST = True
COUNT, PEOPLE, WATCHED = int(os.environ.get("LOAD", "20000")), 100, 500
FEW = 4
"""Namespaces of forty that are digested alone: a tenth of the Workloads."""
TIMES, WATCHING = 30, 45
TRAIN = JobRef("team-a", "train")
SCENE = {
    "clusterQueues": {"cq": {"cohortName": "cohort-0"}},
    "jobs": {"team-a/holder": {"queue": "main", "requests": {"cpu": "3"}}},
    "steps": [
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "holder", "condition": "Admitted"}},
        {"jobs": {"team-a/train": {"queue": "main", "requests": {"cpu": "2"}}}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "train", "condition": "QuotaReserved=False"}},
        {"seconds": 3},  # Kueue counts who waits and who holds a little later
    ],
}
_WORKLOADS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
Item = dict[str, Any]


def rows() -> Iterator[Row]:
    """Build the clusters, measure and give the rows."""
    missing = what_is_missing()
    if missing is not None:
        print(f"no control plane here: {missing}", file=sys.stderr)
        return
    with _plane() as small, _plane() as big:
        began = time.monotonic()
        fill(big, COUNT)
        _say(f"the cluster took {time.monotonic() - began:.0f} s to fill")
        soak = int(os.environ.get("SOAK", "0"))
        if soak:
            yield from asyncio.run(_soak(Cluster(kubeconfig=str(big.kubeconfig())), soak))
        else:
            yield from _measured(small, big)


def _say(text: str) -> None:
    print(f"{'':<74} ({text})", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _plane() -> Iterator[ControlPlane]:
    """Start a control plane with one job that waits, and leave only its API server running.

    Without Kueue its visibility API makes no difference between the clusters.
    """
    with tempfile.TemporaryDirectory(prefix="whypending-load-") as folder:
        plane = ControlPlane(Path(folder))
        try:
            plane.start()
            plane.wait(lambda: plane.call("GET", "/apis/visibility.kueue.x-k8s.io/v1beta1"), "Kueue's visibility API")
            Player(plane).play(Scenario("load", merge(BASES["small"], SCENE)))
            for name in ("kueue", "kube-controller-manager", "kube-scheduler", "kwok"):
                plane.pause(name)
            yield plane
        finally:
            plane.close()


def _measured(small: ControlPlane, big: ControlPlane) -> Iterator[Row]:
    empty, full = (Cluster(kubeconfig=str(plane.kubeconfig())) for plane in (small, big))
    wide = f"{COUNT:,} Workloads, {LOCAL_QUEUES:,} LocalQueues, {CLUSTER_QUEUES} ClusterQueues, {NODES:,} nodes"
    _say(f"on a real API server: {wide}")
    for title in ("not selectable by ClusterQueue", "selectable"):
        if title == "selectable":
            for plane in (small, big):
                _make_selectable(plane)
        yield from asyncio.run(_questions(empty, full, title))
    yield from asyncio.run(_walk(full))
    yield from asyncio.run(_people(full, big))
    yield from _digest(big)


# --- one question ---


class _Logged(Client):
    """A client that notes when each request began and ended, in seconds."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster, shared_seconds=0)
        self.spans: list[tuple[float, float]] = []

    async def body(self, *arguments: Any, **options: Any) -> Answer:
        began = time.perf_counter()
        try:
            return await super().body(*arguments, **options)
        finally:
            self.spans.append((began, time.perf_counter()))

    def rounds(self) -> int:
        """How many requests stood one after the other."""
        count, end = 0, -1.0
        for began, ended in sorted(self.spans):
            if began >= end:
                count, end = count + 1, ended
            else:
                end = max(end, ended)
        return count


@dataclass
class _Asked:
    times: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    first: float = 0.0
    rule: str = ""
    snapshot: Snapshot | None = None

    async def ask(self, client: _Logged, reader: Reader) -> None:
        client.spans.clear()
        began, used = time.perf_counter(), time.process_time()
        self.snapshot = await reader.read(TRAIN)
        answer = engine.diagnose(self.snapshot, TRAIN)
        self.times.append(time.perf_counter() - began)
        self.spent.append(time.process_time() - used)
        self.requests.append(len(client.spans))
        self.rounds.append(client.rounds())
        self.rule = answer.headline.rule


async def _questions(empty: Cluster, full: Cluster, title: str) -> list[Row]:
    """Ask both clusters in turns, so that a busy moment of the machine meets both; nothing is shared between the times."""
    preload()
    asked = (_Asked(), _Asked())
    async with _Logged(empty) as small, _Logged(full) as big:
        pairs = [(one, client, Reader.of(client)) for one, client in zip(asked, (small, big), strict=True)]
        for one, client, _ in pairs:
            await client.body("/version")  # the connection stands
            await one.ask(client, Reader.of(client))
            one.first = one.times.pop()
            for measured in (one.spent, one.requests, one.rounds):
                measured.clear()
        for _, _, reader in pairs:
            await reader.read(TRAIN)
        tune_gc()
        for _ in range(TIMES):
            for one, client, reader in pairs:
                await asyncio.sleep(0.05)
                await one.ask(client, reader)
    alone, crowded = asked
    assert crowded.snapshot is not None
    what, times = f"one question, {COUNT:,} Workloads against none, {title}", middle(crowded.times)
    note = f"{times * 1000:.0f} ms, CPU {middle(crowded.spent) / middle(alone.spent):.1f} ×, {crowded.rule}"
    spent = cpu(lambda: _worked_out(crowded.snapshot), 3)
    return [
        Row(f"{what}: p50", times / middle(alone.times), 2, note=note),
        Row(f"{what}: p99", _p99(crowded.times) / _p99(alone.times), note=f"{_p99(crowded.times) * 1000:.0f} ms"),
        Row(f"{what}: the first of a process", crowded.first / alone.first, note=f"{crowded.first * 1000:.0f} ms"),
        Row(f"one question, {title}: requests", max(crowded.requests), 20, ""),
        Row(f"one question, {title}: rounds", middle(crowded.rounds), 3, "", f"at most {max(crowded.rounds)}"),
        Row(f"one question, {title}: rules and rendering", spent * 1000, 10, "ms"),
    ]  # fmt: skip


def _worked_out(snapshot: Snapshot | None) -> None:
    """From what was read to the card."""
    assert snapshot is not None
    # another object each time: what was worked out from a snapshot is kept with it
    fresh = Snapshot(**{name: getattr(snapshot, name) for name in Snapshot.__dataclass_fields__})
    shown = disclose(engine.diagnose(fresh, TRAIN), Audience("namespace", TRAIN.namespace), fresh)
    card.root(shown)
    card.card(shown)


def _p99(times: Iterable[float]) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


async def _walk(cluster: Cluster) -> list[Row]:
    """Walk all Workloads page by page and keep them."""
    best, clock, count, heart = float("inf"), float("inf"), 0, Heartbeat()
    async with Client(cluster, timeout=60) as client:
        await client.body("/version")
        tune_gc()
        for _ in range(3):
            kept: list[object] = []
            async with heart.beating():
                async for page in client.pages(_path(), "Workload", "kueue.x-k8s.io/v1beta2"):
                    kept += page.objects if page is not None else []
            best, clock, count = min(best, heart.busiest), min(clock, heart.longest), len(kept)
    what = f"event-loop stall (CPU at a stretch), a walk of {count:,} Workloads kept in memory"
    return [Row(what, best * 1000, 50, "ms", f"on the clock {clock * 1000:.0f} ms")]


# --- many people, watches and a digest at once ---


@dataclass
class _Timed:
    """A service that notes how long its answers take, and when they are there, in seconds."""

    service: Service
    times: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    answers: list[Diagnosis] = field(default_factory=list)

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        began = time.perf_counter()
        answer = await self.service.explain_to(ref, audience)
        self.moments.append(time.perf_counter())
        self.times.append(self.moments[-1] - began)
        self.answers.append(answer)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.service, name)


def _jobs(count: int) -> list[Item]:
    """Give what people ask about: waiting Workloads of all namespaces."""
    found = [item for item in workloads(COUNT) if "admission" not in item["status"]]
    step = max(1, len(found) // count)
    return [found[(n * step + n % step) % len(found)] for n in range(count)]  # of all causes


async def _people(cluster: Cluster, plane: ControlPlane) -> list[Row]:
    async with Service({"": Site(cluster)}) as service:
        timed = _Timed(service)
        settings: dict[str, Any] = {
            "drain_seconds": 0,
            "watches_total": WATCHED,
        }
        async with workspace(timed, **settings) as world:
            await timed.explain_to(TRAIN, Audience("namespace", "team-a"))
            tune_gc()
            rows = await _watched(world, service)
            rows += await _burst(world, timed, plane)
            rows.append(await _hanging(world, plane))
    return rows


async def _watched(world: World, service: Service) -> list[Row]:
    """Begin the watches, let them look once, and count what they cost from then on."""
    heart, client, now = Heartbeat(), service.reader().client, time.time()
    for item in _jobs(WATCHED):
        meta = item["metadata"]
        watch = Watch(
            new_id(), world.ann.team, world.ann.id, world.ml.id, f"{now:.6f}", meta["namespace"], meta["name"], "namespace",
            now, now + 86_400, kind="Workload", uid=meta["ownerReferences"][0]["uid"],
        )  # fmt: skip
        await world.bot.memory.ask("watch", partial(Store.add_watch, watch=watch), None)
    before, began = client.requests, time.monotonic()
    async with heart.beating():
        await world.bot.watches.round()
    first, took = client.requests - before, time.monotonic() - began
    _say(f"{WATCHED} watches looked at for the first time in {took:.0f} s")
    before = client.requests
    async with heart.beating():
        await asyncio.sleep(WATCHING)
    each = (client.requests - before) * 60 / WATCHING
    return [
        Row(f"{WATCHED} watches: requests for the first look at all", first, None, "", f"{took:.0f} s"),
        Row(f"{WATCHED} watches: requests a minute from then on", each, None, ""),
        Row(f"{WATCHED} watches: event-loop stall (CPU at a stretch)", heart.busiest * 1000, 50, "ms"),
    ]


async def _burst(world: World, timed: _Timed, plane: ControlPlane) -> list[Row]:
    """A hundred people ask at once, while the watches go on and the cluster is digested by another process."""
    heart, client = Heartbeat(), timed.service.reader().client
    for noted in (timed.times, timed.moments, timed.answers):
        noted.clear()
    jobs = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in _jobs(PEOPLE)]
    before = client.requests
    command = [sys.executable, "-c", _COMMAND, "digest"]
    digesting = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL, env=_environment(plane))
    began = time.perf_counter()
    async with heart.beating():
        deliveries = await asyncio.gather(*(world.ask(job) for job in jobs))
        with contextlib.suppress(TimeoutError):
            await world.slack.until(lambda: len(timed.times) >= PEOPLE or None, seconds=120)
    sent = client.requests - before
    if digesting.returncode is None:
        digesting.kill()
    await digesting.wait()
    acknowledged = max(delivery.seconds or 60 for delivery in deliveries)
    whole = sum(answer.complete for answer in timed.answers)
    causes = Counter(answer.headline.rule for answer in timed.answers)
    unknown = causes["no-explanation-visible"]
    stall = f"on the clock {heart.longest * 1000:.0f} ms"
    what = f"{PEOPLE} people ask at once, a digest and {WATCHED} watches meanwhile"
    return [
        Row(f"{what}: slowest acknowledgement", acknowledged, 0.5, "s"),
        Row(f"{what}: p50 of the answer", middle(timed.times), 8, "s",
            f"{len(timed.times)} answered, {whole} whole, {unknown} without a cause, {len(causes)} causes"),
        Row(f"{what}: p99 of the answer", _p99(timed.times), 9, "s"),
        Row(f"{what}: p50 with the wait for one's turn", middle(timed.moments) - began, unit="s",
            note=f"p99 {_p99(timed.moments) - began:.1f} s"),
        Row(f"{what}: requests for each answer", sent / PEOPLE, 20, ""),
        Row(f"{what}: event-loop stall (CPU at a stretch)", heart.busiest * 1000, 50, "ms", stall),
        Row("peak memory of the process with the bot, the local Slack and the bench", _peak(), None, "MiB"),
    ]  # fmt: skip


async def _hanging(world: World, plane: ControlPlane) -> Row:
    """The API server stops answering with a hundred questions in flight."""
    server = plane.processes["kube-apiserver"]
    server.send_signal(signal.SIGSTOP)
    try:
        flight = [asyncio.ensure_future(world.ask(f"team-a/job-{n}")) for n in range(PEOPLE)]
        slowest = 0.0
        for n in range(20):
            delivery = await world.ask(f"team-a/late-{n}")
            slowest = max(slowest, delivery.seconds or 60)
        deliveries = await asyncio.gather(*flight)
    finally:
        server.send_signal(signal.SIGCONT)
    slowest = max(slowest, *(delivery.seconds or 60 for delivery in deliveries))
    return Row(f"slowest acknowledgement, {PEOPLE} in flight, the API server hangs", slowest, 0.5, "s")


def _peak() -> float:
    """MiB that this process has held at most; what its parent held does not count."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


# --- the digest ---

_COMMAND = "import sys; from bot.cli import main; sys.exit(main(sys.argv[1:]))"


def _environment(plane: ControlPlane) -> dict[str, str]:
    return {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}


def _digest(plane: ControlPlane) -> Iterator[Row]:
    environment, config = _environment(plane), str(plane.kubeconfig())
    kubectl, objects, ours, plain, whole, part = [], [], [], [], [], []
    few = [f"team-{n:02}" for n in range(FEW)]
    for _ in range(2):  # in turns, so that a busy moment of the machine meets all of them
        kubectl.append(_run([str(plane.bin / "kubectl"), "get", "workloads", "-A"], environment))
        objects.append(_run([str(plane.bin / "kubectl"), "get", "workloads", "-A", "-o", "json"], environment))
        ours.append(_run([sys.executable, "-c", _COMMAND, "digest"], environment))
        plain.append(_apart("json", config))
        whole.append(_apart("digest", config))
        part.append(_apart("digest", config, *few))
    mine, theirs = min(one["cpu"] for one in whole), min(one["cpu"] for one in plain)
    note = f"CPU {mine:.2f} s against {theirs:.2f} s, {whole[0]['bytes'] / 2**20:.0f} MiB read"
    yield Row(f"digest of {COUNT:,} Workloads, CPU against json.loads over the same pages", mine / theirs, 1, note=note)
    high, low = (middle(one["peak"] for one in many) for many in (whole, part))
    note = f"{high:.0f} MiB against {low:.0f} MiB"
    yield Row(f"digest, peak memory of the process, {COUNT:,} Workloads against a tenth", high / low, 1.5, note=note)
    # kubectl lets the server print: it gets a table of five columns, and nothing of what a cause can be told from
    table, page = asyncio.run(_page_of_each(Cluster(kubeconfig=config)))
    yield Row("bytes of a page of Workloads, whole objects against kubectl's table", page / table, note=f"{page:,} B")
    for command, theirs_too in (("", kubectl), (" -o json", objects)):
        for at, (name, unit) in enumerate((("wall", "s"), ("CPU", "s"), ("memory", "MiB"))):
            own, other = (min(one[at] for one in many) for many in (ours, theirs_too))
            note = f"{own:.1f} {unit} against {other:.1f} {unit}"
            yield Row(
                f"`whypending digest` against `kubectl get workloads -A{command}`: {name}", own / other, note=note
            )


async def _page_of_each(cluster: Cluster) -> tuple[int, int]:
    """Bytes of the first page as the table that kubectl asks for, and as it is read here."""
    table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    async with Client(cluster) as client:
        bodies = [await client.body(_path(), (("limit", "500"),), accept=kind) for kind in (table, "application/json")]
    return len(bodies[0].body), len(bodies[1].body)


_MEASURED = """
import json, resource, subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""A small program that starts another: what this big process has used would count as that one's peak."""


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Wall and CPU seconds and MiB of one process."""
    program = [sys.executable, "-c", _MEASURED, *command]
    told = subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout
    wall, spent, peak = json.loads(told)
    return wall, spent, peak


def _apart(what: str, config: str, *namespaces: str) -> dict[str, float]:
    """Measure in a process of its own: `python -m tests.bench.bench_load digest|json KUBECONFIG [NAMESPACE…]`."""
    command = [sys.executable, "-m", "tests.bench.bench_load", what, config, *namespaces]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


async def _digested(config: str, namespaces: tuple[str, ...]) -> dict[str, float]:
    preload()
    read = 0
    async with Service({"": Site(Cluster(kubeconfig=config))}) as service:
        client = service.reader().client
        body = client.body

        async def counted(*arguments: Any, **options: Any) -> Answer:
            nonlocal read
            answer = await body(*arguments, **options)
            read += len(answer.body)
            return answer

        client.body = counted  # type: ignore[method-assign]
        await client.body("/version")
        tune_gc()
        spent = time.process_time()
        found = await survey(service, digest.Selection(namespaces=namespaces))
        rendered.text(await seen(found, found.selection))
        return {"cpu": time.process_time() - spent, "peak": _peak(), "bytes": read}


def _path() -> str:
    return place("kueue.x-k8s.io", "v1beta2", "workloads")


# --- on and on ---


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
            jobs = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in _jobs(PEOPLE)]
            count, end = 0, time.monotonic() + seconds
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


def _make_selectable(plane: ControlPlane) -> None:
    """Let Workloads be selected by ClusterQueue, as Kueue's own definition does from 0.18 on."""
    spec = plane.call("GET", _WORKLOADS)["spec"]
    for version in spec["versions"]:
        if version["name"] == "v1beta2":
            version["selectableFields"] = [{"jsonPath": ".status.admission.clusterQueue"}]
    plane.call("PATCH", _WORKLOADS, {"spec": {"versions": spec["versions"]}})
    path = "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=1&fieldSelector=status.admission.clusterQueue%3Dcq"
    plane.wait(lambda: plane.call("GET", path), "selectable Workloads")


if __name__ == "__main__":
    what, config, *names = sys.argv[1:]
    measuring = _digested(config, tuple(names)) if what == "digest" else json_alone(Cluster(kubeconfig=config))
    print(json.dumps(asyncio.run(measuring)))
