"""Until when somebody wants to be told, as people write it."""

from datetime import UTC, datetime

import pytest

from bot.core import until

NOW = datetime(2026, 11, 30, 15, 30, tzinfo=UTC).timestamp()
BERLIN = 3600


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("18:00", "2026-11-30T17:00:00+00:00"),
        ("16:29", "2026-12-01T15:29:00+00:00"),
        ("6pm", "2026-11-30T17:00:00+00:00"),
        ("6:15 pm", "2026-11-30T17:15:00+00:00"),
        ("12 am", "2026-11-30T23:00:00+00:00"),
        ("tomorrow 9:00", "2026-12-01T08:00:00+00:00"),
        ("2026-12-24 09:30", "2026-12-24T08:30:00+00:00"),
        ("2 h", "2026-11-30T17:30:00+00:00"),
        ("in 90 minutes", "2026-11-30T17:00:00+00:00"),
        ("1d", "2026-12-01T15:30:00+00:00"),
    ],
)
def test_moments_are_read_in_the_time_zone_of_whoever_wrote_them(text: str, moment: str) -> None:
    assert until.parse(text).moment(NOW, BERLIN) == datetime.fromisoformat(moment).timestamp()


@pytest.mark.parametrize(
    "text", ["", "noon", "25:00", "12:60", "13 pm", "9", "2026-13-01 9:00", "-5 h", "yesterday 9:00"]
)
def test_what_is_no_moment_is_said_with_an_example(text: str) -> None:
    with pytest.raises(until.BadMomentError, match=r"18:00"):
        until.parse(text)


def test_it_is_taken_off_the_end_of_a_question() -> None:
    assert until.split("team-a/train until 18:00")[0] == "team-a/train"
    assert until.split("team-a/train") == ("team-a/train", None)
    with pytest.raises(until.BadMomentError):
        until.split("team-a/train until tea")
