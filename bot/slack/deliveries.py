"""Remembers what was delivered, since Slack delivers again what it believes to be lost, also to another replica.

This process's own memory answers at once. What it lets through is written into the store (`taken` gives what was let
through in the present request), together with the question, before it is acknowledged: once Slack has the
acknowledgement it delivers nothing again, and a process that dies then must have left a trace. A store that does not
answer holds an acknowledgement up for a moment only.
"""

import asyncio
from contextvars import ContextVar

from cachetools import TTLCache

from bot import telemetry

MOST, SECONDS = 50_000, 3600.0
"""Slack's last retry comes after five minutes."""
WRITTEN_SECONDS = 0.2
"""How long an acknowledgement waits for the store."""

_LET_THROUGH: ContextVar[dict[str, str] | None] = ContextVar("let_through", default=None)


def taken() -> tuple[str, ...]:
    """Give the keys that the present request was let through with, for the store, and forget them."""
    keys = _LET_THROUGH.get() or {}
    _LET_THROUGH.set(None)
    return tuple(f"{entry}:{delivery}" for entry, delivery in sorted(keys.items()))


class Receipt(asyncio.Event):
    """Set once an acknowledgement is on its way. Before, it waits a moment for what is written down about the delivery."""

    def __init__(self) -> None:
        """Start with nothing to wait for."""
        super().__init__()
        self._writing: list[asyncio.Future[bool]] = []

    def after(self, writing: asyncio.Future[bool]) -> None:
        """Let the acknowledgement wait for something."""
        self._writing.append(writing)

    async def written(self) -> None:
        """Wait until everything is written, but never for long."""
        for _ in range(2):  # Bolt acknowledges an event before its listener has begun: the turns that it takes to begin
            await asyncio.sleep(0)
        if self._writing:
            await asyncio.wait(self._writing, timeout=WRITTEN_SECONDS)


class Deliveries:
    """The deliveries that were seen, for an hour."""

    def __init__(self) -> None:
        """Start with none."""
        self._seen: TTLCache[tuple[str, str], None] = TTLCache(maxsize=MOST, ttl=SECONDS)

    def first(self, entry: str, delivery: str) -> bool:
        """Tell whether a delivery is here for the first time, and remember it.

        Args:
            entry: where it came in: "command", "event", "action", "shortcut", "view".
            delivery: the trigger id, or an event's id; what has none always counts as new.
        """
        if not delivery:
            return True
        if (entry, delivery) in self._seen:
            telemetry.REPEATED.labels(entry=entry).inc()
            return False
        self._seen[entry, delivery] = None
        _LET_THROUGH.set({**(_LET_THROUGH.get() or {}), entry: delivery})
        return True
