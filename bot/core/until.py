"""Until when: "18:00", "6 pm", "tomorrow 9:00", "2026-12-01 09:00", "2 h". Pure: the present and the time zone come in."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

EXAMPLES = "18:00, tomorrow 9:00, 2026-12-01 09:00 or 2 h"

_SPAN = re.compile(r"(?:in )?(\d{1,4}) ?(m|min|mins|minutes?|h|hours?|d|days?)")
_CLOCK = re.compile(r"(?:(tomorrow|today|\d{4}-\d{2}-\d{2})[ t])?(?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm)?")
_UNITS = {"m": 60, "h": 3600, "d": 86400}


class BadMomentError(ValueError):
    """A text that is no moment; the message says what is one."""


@dataclass(frozen=True, slots=True)
class Until:
    """A moment that was typed: a span of seconds from now, or a clock time on a day ("", "tomorrow" or an ISO date)."""

    seconds: int = 0
    clock: time | None = None
    day: str = ""

    def moment(self, now: float, offset: int = 0) -> float:
        """Give it in Unix seconds.

        Args:
            now: the present, in Unix seconds.
            offset: the time zone of whoever typed it, in seconds east of UTC.
        """
        if self.clock is None:
            return now + self.seconds
        here = datetime.fromtimestamp(now, timezone(timedelta(seconds=offset)))
        day = here.date()
        if self.day == "tomorrow":
            day += timedelta(days=1)
        elif self.day not in {"", "today"}:
            day = date.fromisoformat(self.day)
        moment = datetime.combine(day, self.clock, here.tzinfo)
        if not self.day and moment <= here:
            moment += timedelta(days=1)
        return moment.astimezone(UTC).timestamp()


def split(text: str) -> tuple[str, Until | None]:
    """Take "until …" off the end of a text. Raises BadMomentError when what follows is no moment."""
    before, word, after = text.rpartition(" until ")
    return (before.strip(), parse(after)) if word else (text.strip(), None)


def parse(text: str) -> Until:
    """Read a moment. Raises BadMomentError."""
    typed = " ".join(text.lower().strip().rstrip(".").split())
    bad = BadMomentError(f"“{text.strip()[:40]}” is no moment. Write for example {EXAMPLES}.")
    if span := _SPAN.fullmatch(typed):
        return Until(int(span[1]) * _UNITS[span[2][0]])
    clock = _CLOCK.fullmatch(typed)
    if clock is None or (clock[3] is None and clock[4] is None):
        raise bad
    hour, minute = int(clock[2]), int(clock[3] or 0)
    if clock[4]:
        if not 1 <= hour <= 12:
            raise bad
        hour = hour % 12 + (12 if clock[4] == "pm" else 0)
    try:
        if clock[1] and clock[1] not in {"today", "tomorrow"}:
            date.fromisoformat(clock[1])
        return Until(0, time(hour, minute), clock[1] or "")
    except ValueError:
        raise bad from None


def clock(moment: float) -> str:
    """Write a moment in UTC: "2026-12-01 09:00 UTC"."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")
