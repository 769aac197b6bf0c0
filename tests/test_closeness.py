"""Close names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.closeness import closest, score


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("trian", "train"),
        ("taem-a", "team-a"),
        ("teamq", "team-q"),
        ("low", "low-priority"),
        ("gpu-queue", "gpu"),
        ("Train", "train"),
        ("train_queue", "train-queue"),
        ("user-queue", "users-queue"),
        ("a10", "a100"),
    ],
)
def test_close(wanted: str, there: str) -> None:
    """A slip of the keyboard and a shortened name are found."""
    assert closest(wanted, ["unrelated", there, "zzz"]) == (there,)


@pytest.mark.parametrize(("wanted", "there"), [("train", "serve"), ("default", "gpu"), ("a", "b"), ("", "x")])
def test_not_close(wanted: str, there: str) -> None:
    """Names that have nothing in common are not offered."""
    assert closest(wanted, [there]) == ()


def test_best_first_and_limited() -> None:
    """The best is first, there are at most `limit`, the name itself is never offered."""
    names = ["train", "train-2", "training", "train-3", "train-4"]
    assert closest("train", names, limit=2) == ("train-2", "train-3")
    assert "train" not in closest("train", names)


@given(st.lists(st.text(alphabet="abc-1", max_size=6), max_size=8), st.text(alphabet="abc-1", max_size=6))
def test_order_does_not_matter(names: list[str], wanted: str) -> None:
    """The same names in another order give the same answer."""
    assert closest(wanted, names) == closest(wanted, list(reversed(names)))


@given(st.text(max_size=20), st.text(max_size=20))
def test_score_is_symmetric(one: str, other: str) -> None:
    """Closeness has no direction and stays within 0 and 1."""
    assert score(one, other) == score(other, one)
    assert 0 <= score(one, other) <= 1


def test_many_names_are_cheap() -> None:
    """A namespace with very many jobs is answered from the similar ones."""
    assert closest("trian", [f"job-{number}" for number in range(20_000)] + ["train"]) == ("train",)
