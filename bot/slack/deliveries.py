"""Remembers what was delivered, since Slack delivers again what it believes to be lost."""

from cachetools import TTLCache

from bot import telemetry

MOST, SECONDS = 50_000, 3600.0
"""Slack's last retry comes after five minutes."""


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
        return True
