"""How long the event loop stands still while 20,000 Workloads are walked page by page and questions are answered."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator

from bot.core import engine
from bot.core.reference import JobRef
from bot.kube.client import Client, Cluster, preload, tune_gc
from bot.kube.reader import Reader
from tests.bench.row import Row
from tests.bench.server import serving

COUNT = 20_000
PATH = "/apis/kueue.x-k8s.io/v1beta2/workloads"


class Heartbeat:
    """Measures between two turns of the event loop, in seconds: `longest` on the clock, `busiest` of this thread's CPU.

    On a busy machine the clock also shows what others do; the CPU shows what the loop itself does at a stretch.
    """

    def __init__(self) -> None:
        self.longest = self.busiest = 0.0

    async def _beat(self) -> None:
        last, spent = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now, used = time.perf_counter(), time.thread_time()
            self.longest = max(self.longest, now - last - 0.001)
            self.busiest = max(self.busiest, used - spent)
            last, spent = now, used

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Measure while the body runs."""
        task = asyncio.ensure_future(self._beat())
        try:
            await asyncio.sleep(0.01)
            self.longest = self.busiest = 0.0
            yield
        finally:
            task.cancel()


async def _walk(url: str) -> tuple[float, float, int]:
    """The least of three walks: CPU at a stretch, the same on the clock, and how many came."""
    preload()
    best, clock, count = float("inf"), float("inf"), 0
    heart = Heartbeat()
    async with Client(Cluster(url=url), timeout=60) as client:
        await client.body("/version")
        tune_gc()
        for _ in range(3):
            kept: list[object] = []
            async with heart.beating():
                async for page in client.pages(PATH, "Workload", "kueue.x-k8s.io/v1beta2"):
                    kept += page.objects if page is not None else []
            best, clock, count = min(best, heart.busiest), min(clock, heart.longest), len(kept)
    return best, clock, count


async def _question(url: str) -> float:
    preload()
    heart, ref = Heartbeat(), JobRef("team-a", "train")
    best = float("inf")
    async with Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(ref)
        tune_gc()
        for _ in range(5):
            await asyncio.sleep(0.05)
            async with heart.beating():
                engine.diagnose(await reader.read(ref), ref)
                await asyncio.sleep(0.002)
            best = min(best, heart.busiest)
    return best


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    with serving("generated", COUNT) as url:
        stall, clock, count = asyncio.run(_walk(url))
    what = f"event-loop stall (CPU at a stretch), a walk of {count:,} Workloads kept in memory"
    yield Row(what, stall * 1000, 50, "ms", f"on the clock {clock * 1000:.0f} ms")
    with serving("line", COUNT) as url:
        yield Row(
            "event-loop stall (CPU at a stretch), one question about a crowded queue",
            asyncio.run(_question(url)) * 1000,
            50,
            "ms",
        )
