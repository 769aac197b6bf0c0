"""Moments and durations as words inside sentences; always UTC, so that the same answer reads the same everywhere."""

from datetime import UTC, datetime


def clock(moment: datetime) -> str:
    """Write a moment: "2026-01-01 10:08 UTC"."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def stamp(moment: datetime) -> str:
    """Write a moment as the API writes it: "2026-01-01T10:08:00Z"."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def lasting(seconds: float) -> str:
    """Write a duration in its two largest useful parts: "40 seconds", "5 minutes", "2 hours 10 minutes", "3 days"."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return _count(whole, "second")
    if whole < 3600:
        return _count(whole // 60, "minute")
    if whole < 2 * 86400:
        hours, minutes = whole // 3600, whole % 3600 // 60
        return _count(hours, "hour") + (f" {_count(minutes, 'minute')}" if minutes and hours < 10 else "")
    return _count(whole // 86400, "day")


def young(age: float | None, threshold: float, what: str = "It") -> str:
    """Give the sentence that a young object may only be on its way, with a space before it; "" for an older one.

    `age` and `threshold` in seconds; `what` is the object of that age where it is not the subject of the sentence before.
    """
    if age is None or age >= threshold:
        return ""
    return f" {what} is only {lasting(age)} old: this may pass by itself."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
