"""Moments and durations as words."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.core.moments import clock, lasting, stamp, young


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 seconds"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (3599, "59 minutes"),
        (3600, "1 hour"),
        (7860, "2 hours 11 minutes"),
        (11 * 3600 + 60, "11 hours"),
        (2 * 86400, "2 days"),
    ],
)
def test_lasting(seconds: float, words: str) -> None:
    assert lasting(seconds) == words


def test_always_utc() -> None:
    moment = datetime(2026, 1, 1, 12, 8, tzinfo=timezone(timedelta(hours=2)))
    assert clock(moment) == "2026-01-01 10:08 UTC"
    assert stamp(moment) == "2026-01-01T10:08:00Z"
    assert stamp(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00Z"


def test_young() -> None:
    assert young(5, 30) == " It is only 5 seconds old: this may pass by itself."
    assert young(30, 30) == ""
    assert young(None, 30) == ""
