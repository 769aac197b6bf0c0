"""How long Slack waits for the acknowledgement of a command while a hundred others are in flight and the cluster hangs."""

import asyncio
from collections.abc import Iterator

from bot.kube.client import Cluster
from bot.service import Service, Site
from tests.bench.row import Row
from tests.workspace import hanging_server, workspace

IN_FLIGHT = 100
TIMES = 20


async def _slowest(mode: str) -> float:
    async with (
        hanging_server() as (url, reads),
        Service({"": Site(Cluster(url=url))}, deadline=60) as service,
        workspace(service, slack_mode=mode, read_seconds=60, drain_seconds=0) as world,
    ):
        flight = [asyncio.ensure_future(world.ask(f"team-a/job-{n}")) for n in range(IN_FLIGHT)]
        await world.slack.until(lambda: reads or None)
        slowest = 0.0
        for n in range(TIMES):
            delivery = await world.ask(f"team-a/late-{n}")
            slowest = max(slowest, delivery.seconds or 60)
        deliveries = await asyncio.gather(*flight)
        return max(slowest, *(delivery.seconds or 60 for delivery in deliveries))


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    for mode in ("socket", "http"):
        slowest = asyncio.run(_slowest(mode))
        yield Row(f"slowest acknowledgement, {IN_FLIGHT} in flight, the cluster hangs ({mode})", slowest, 0.5, "s")
