"""Takes what the last digests counted from the store into the metrics: digests run in processes of their own."""

import asyncio
from functools import partial

from bot import telemetry
from bot.settings import Settings
from bot.slack.memory import Memory
from bot.store import DigestRun, Store

SECONDS = 60.0
"""Between two looks at the store."""


class LastDigests:
    """The last run of each configured digest, as metrics. The store must be the one that the digests write to."""

    def __init__(self, settings: Settings, memory: Memory) -> None:
        """Take the names and the store."""
        self._names = [digest.name for digest in settings.digests]
        self._memory = memory

    async def run(self) -> None:
        """Look again and again; at once ended where no digest is configured."""
        while self._names:
            await self.look()
            await asyncio.sleep(SECONDS)

    async def look(self) -> None:
        """Look once."""
        for name in self._names:
            nothing: tuple[DigestRun, ...] = ()
            runs = await self._memory.ask("digests", partial(_newest, name), nothing)
            for run in runs:
                telemetry.told_of_digest(run.name, run.at, run.complete, run.counts)


async def _newest(name: str, store: Store) -> tuple[DigestRun, ...]:
    return await store.digests(name, limit=1)
