"""Requests and sequential rounds of every recorded question, by the phase its job is in."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator

from bot.core import engine
from bot.core.reference import JobRef
from bot.demo.apiserver import RecordedApi
from bot.kube.client import Client, Cluster
from bot.kube.reader import Reader
from tests.bench.row import Row
from tests.clusters import RECORDINGS, expectations
from tests.test_reader import question, rounds


async def _ask(server: RecordedApi, ref: JobRef) -> tuple[str, int, int]:
    """Ask anew; give the phase, requests and rounds."""
    async with server.serve() as url, Client(Cluster(url=url)) as client:
        answer = engine.diagnose(await Reader.of(client).read(ref), ref)
        return answer.stage, len(server.log), rounds(server)


async def _all() -> dict[str, tuple[int, int]]:
    worst: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for expected in expectations(RECORDINGS):
        path = RECORDINGS / "v0.19.2" / f"{expected['name']}.json"
        if not path.exists():
            continue
        ref = question(expected)
        # one after the other with a wait: what is not sequential overlaps
        stage, requests, sequence = await _ask(RecordedApi.load(path, latency=0.2), ref)
        key = "search for a bare name" if stage == "lookup" and not ref.kind else stage
        worst[key] = max(worst[key][0], requests), max(worst[key][1], sequence)
    return worst


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    for key, (requests, sequence) in sorted(asyncio.run(_all()).items()):
        searching = key.startswith("search")
        yield Row(f"requests, first question of a process: {key}", requests, None if searching else 20, "")
        yield Row(f"rounds, first question of a process: {key}", sequence, 3, "")
