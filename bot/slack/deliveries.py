"""Remembers what was delivered, since Slack delivers again what it believes to be lost, also to another replica.

This process's own memory answers at once. What it lets through is asked of the store before work begins, after the
acknowledgement: `taken` gives what was let through in the present request.
"""

from contextvars import ContextVar

from cachetools import TTLCache

from bot import telemetry

MOST, SECONDS = 50_000, 3600.0
"""Slack's last retry comes after five minutes."""

_LET_THROUGH: ContextVar[dict[str, str] | None] = ContextVar("let_through", default=None)


def taken() -> tuple[str, ...]:
    """Give the keys that the present request was let through with, for the store, and forget them."""
    keys = _LET_THROUGH.get() or {}
    _LET_THROUGH.set(None)
    return tuple(f"{entry}:{delivery}" for entry, delivery in sorted(keys.items()))


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
