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
    """Measures the longest time between two turns of the event loop, in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def _beat(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest = max(self.longest, now - last - 0.001)
            last = now

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Measure while the body runs."""
        self.longest = 0.0
        task = asyncio.ensure_future(self._beat())
        try:
            await asyncio.sleep(0.01)
            self.longest = 0.0
            yield
        finally:
            task.cancel()


async def _walk(url: str) -> tuple[float, int]:
    """The least of three walks: what the machine does beside is not meant. Gives the stall and how many came."""
    preload()
    best, count = float("inf"), 0
    heart = Heartbeat()
    async with Client(Cluster(url=url), timeout=60) as client:
        await client.body("/version")
        tune_gc()
        for _ in range(3):
            kept = []
            async with heart.beating():
                async for page in client.pages(PATH, "Workload", "kueue.x-k8s.io/v1beta2"):
                    kept += page.objects if page is not None else []
            best, count = min(best, heart.longest), len(kept)
    return best, count


async def _question(url: str) -> float:
    preload()
    heart, ref = Heartbeat(), JobRef("team-a", "train")
    best = float("inf")
    async with Client(Cluster(url=url), shared_seconds=0.01) as client:
        reader = Reader.of(client)
        await reader.read(ref)
        tune_gc()
        for _ in range(5):
            await asyncio.sleep(0.05)
            async with heart.beating():
                engine.diagnose(await reader.read(ref), ref)
                await asyncio.sleep(0.002)
            best = min(best, heart.longest)
    return best


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    with serving("generated", COUNT) as url:
        stall, count = asyncio.run(_walk(url))
    yield Row(f"event-loop stall, a walk of {count:,} Workloads kept in memory", stall * 1000, 50, "ms")
    with serving("line", COUNT) as url:
        yield Row("event-loop stall, one question about a crowded queue", asyncio.run(_question(url)) * 1000, 50, "ms")
