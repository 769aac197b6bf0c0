"""What a big cluster costs one question, beside an empty one: wall time, the bot's CPU, requests."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bot.core import engine
from bot.core.reference import JobRef
from bot.kube.client import Client, Cluster, preload, tune_gc
from bot.kube.reader import Reader
from tests.bench.row import Row, middle
from tests.bench.server import serving

COUNT = 20_000
TIMES = 9
JOB = JobRef("team-a", "train")


@dataclass(frozen=True)
class Cost:
    """The medians for one question, in seconds and requests, and its headline."""

    wall: float
    cpu: float
    requests: float
    rule: str


async def _ask(clients: list[Client], refs: list[JobRef]) -> list[Cost]:
    readers = [Reader.of(client) for client in clients]
    for reader, ref in zip(readers, refs, strict=True):
        await reader.read(ref)
    tune_gc()
    spent: list[list[tuple[float, float, int]]] = [[] for _ in readers]
    rules = [""] * len(readers)
    # in turns, so that a busy moment of the machine meets all of them
    for _ in range(TIMES):
        for at, (reader, ref) in enumerate(zip(readers, refs, strict=True)):
            await asyncio.sleep(0.05)
            before, wall, cpu = reader.client.requests, time.perf_counter(), time.process_time()
            answer = engine.diagnose(await reader.read(ref), ref)
            times = time.perf_counter() - wall, time.process_time() - cpu
            spent[at].append((*times, reader.client.requests - before))
            rules[at] = answer.headline.rule
    return [
        Cost(middle(run[0] for run in runs), middle(run[1] for run in runs), middle(run[2] for run in runs), rule)
        for runs, rule in zip(spent, rules, strict=True)
    ]


def compare(urls: list[str], refs: list[JobRef]) -> list[Cost]:
    """Ask each question of its server several times, in turns, nothing shared between the times."""

    async def ask() -> list[Cost]:
        preload()
        async with contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(Client(Cluster(url=url), shared_seconds=0)) for url in urls]
            return await _ask(clients, refs)

    return asyncio.run(ask())


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    cases: list[tuple[str, str, JobRef | None]] = [
        ("another queue is crowded", "crowd", JOB),
        ("the same, Workloads not selectable by ClusterQueue", "crowd-unselectable", JOB),
        ("its own queue is crowded", "line", JOB),
        ("its own namespace is crowded", "namespace", JOB),
        ("its own namespace is crowded, asked by a Workload's name", "namespace", None),
    ]
    for title, server, ref in cases:
        with serving("empty") as small, serving(server, COUNT) as big:
            asked = ref or JobRef("team-a", "job-other-00017")
            alone, crowded = compare([small, big], [JOB, asked])
        note = f"CPU {crowded.cpu / alone.cpu:.1f} ×, {crowded.requests:.0f} requests against {alone.requests:.0f}"
        yield Row(f"one question, {COUNT:,} Workloads against none: {title}", crowded.wall / alone.wall, 2, note=note)
    with serving("empty") as small, serving("wide") as big:
        alone, crowded = compare([small, big], [JOB, JOB])
    note = f"CPU {crowded.cpu / alone.cpu:.1f} ×, {crowded.requests:.0f} requests against {alone.requests:.0f}"
    what = "one question, 2,000 LocalQueues, 200 ClusterQueues and 1,000 nodes against one each"
    yield Row(what, crowded.wall / alone.wall, note=note)
