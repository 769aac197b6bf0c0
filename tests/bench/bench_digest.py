"""What a digest of a big cluster costs: CPU beside json.loads over the same pages, memory beside a small one, stalls.

Each measurement is a process of its own: `python -m tests.bench.bench_digest digest|json URL` prints one line of JSON.
"""

import asyncio
import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from bot.core.digest import Selection
from bot.kube.client import Client, Cluster, preload, tune_gc
from bot.kube.client import object_path as place
from bot.render import digest as rendered
from bot.service import Service, Site
from bot.survey import seen, survey
from tests.bench.row import Row, middle
from tests.bench.server import serving

COUNT, SMALL, TIMES = 20_000, 2_000, 3
BEAT = 0.002
"""Seconds between two beats of the heart that shows stalls."""


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    big, small, plain = [], [], []
    with serving("pending", COUNT) as many, serving("pending", SMALL) as few:
        for _ in range(TIMES):  # in turns, so that a busy moment of the machine meets all of them
            plain.append(_measure("json", many))
            big.append(_measure("digest", many))
            small.append(_measure("digest", few))
    parsing = min(one["cpu"] for one in plain)
    cpu, wall = min(one["cpu"] for one in big), middle(one["wall"] for one in big)
    note = f"CPU {cpu:.2f} s against {parsing:.2f} s, {wall:.1f} s in all, {big[0]['entries']:,} pending"
    yield Row(f"digest of {COUNT:,} Workloads, CPU against json.loads over the same pages", cpu / parsing, 1, note=note)
    peak, low = (middle(one["peak"] for one in many) for many in (big, small))
    note = f"{peak / 1024:.0f} MiB against {low / 1024:.0f} MiB"
    yield Row(f"digest, peak memory of the process, {COUNT:,} against {SMALL:,} Workloads", peak / low, 1.5, note=note)
    stalls = ", ".join(f"{one['stall'] * 1000:.0f}" for one in big)
    what = "digest, longest stall of the event loop (this process's CPU between two beats)"
    yield Row(what, min(one["go"] for one in big) * 1000, 50, "ms", f"on the clock, in {TIMES} runs: {stalls} ms")


def _measure(what: str, url: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.bench_digest", what, url]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


async def _digest(url: str) -> dict[str, Any]:
    preload()
    tune_gc()
    beating = asyncio.create_task(_heart())
    await asyncio.sleep(0)
    async with Service({"": Site(Cluster(url=url))}) as service:
        cpu, wall = time.process_time(), time.perf_counter()
        found = await survey(service, Selection())
        await asyncio.sleep(0)
        shown = await seen(found, found.selection)
        text = rendered.text(shown)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    beating.cancel()
    stall, go = (await asyncio.gather(beating, return_exceptions=True))[0].args[0]  # type: ignore[union-attr]
    assert not shown.missing, shown.missing
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entries = shown.stuck + shown.waiting
    return {"cpu": cpu, "wall": wall, "peak": peak, "stall": stall, "go": go, "entries": entries, "text": len(text)}


class _Beaten(Exception):  # noqa: N818 - carries what was measured out of a cancelled task
    pass


async def _heart() -> None:
    """Beat, and raise how late the latest beat was: by the clock, and by the CPU that this process spent meanwhile.

    The second is what the loop had to wait for, its own work or another thread's; a busy machine does not count.
    """
    latest = busiest = 0.0
    try:
        while True:
            before, spent = time.perf_counter(), time.process_time()
            await asyncio.sleep(BEAT)
            latest = max(latest, time.perf_counter() - before - BEAT)
            busiest = max(busiest, time.process_time() - spent)
    except asyncio.CancelledError:
        raise _Beaten((latest, busiest)) from None


async def json_alone(cluster: Cluster) -> dict[str, float]:
    """Read all pages of Workloads, then measure `json.loads` over them: CPU seconds, bytes, pages."""
    path, bodies, token = place("kueue.x-k8s.io", "v1beta2", "workloads"), [], ""
    async with Client(cluster) as client:
        while True:
            query = (("limit", "500"), *((("continue", token),) if token else ()))
            bodies.append((await client.body(path, query)).body)
            token = json.loads(bodies[-1])["metadata"].get("continue", "")
            if not token:
                break
    gc.collect()
    spent = time.process_time()
    for body in bodies:
        json.loads(body)
    return {"cpu": time.process_time() - spent, "bytes": sum(map(len, bodies)), "pages": len(bodies)}


if __name__ == "__main__":
    print(
        json.dumps(
            asyncio.run(_digest(sys.argv[2]) if sys.argv[1] == "digest" else json_alone(Cluster(url=sys.argv[2])))
        )
    )
