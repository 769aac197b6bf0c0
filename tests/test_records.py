"""Records behave as frozen dataclasses with slots do, but for being frozen at run time."""

import copy
import dataclasses
import pickle

import pytest

from bot.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0
    tags: tuple[str, ...] = dataclasses.field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Other:
    x: int
    y: int = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            msg = "negative"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Empty:
    pass


def test_equal_by_class_and_values() -> None:
    assert Point(1) == Point(1, 0, ())
    assert Point(1) != Point(2)
    others: list[object] = [Other(1), 1, None]
    assert all(other != Point(1) for other in others)
    assert Checked(1) == Checked(1)
    assert Empty() == Empty()


def test_hashable_by_values() -> None:
    assert len({Point(1), Point(1), Point(2), Checked(1), Checked(1), Empty(), Empty()}) == 4


def test_shown_and_matched_and_replaced() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2, tags=())"
    assert dataclasses.replace(Point(1), y=3) == Point(1, 3)
    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y", "tags"]
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_copied_and_pickled() -> None:
    assert copy.deepcopy(Point(1, 2, ("a",))) == pickle.loads(pickle.dumps(Point(1, 2, ("a",)))) == Point(1, 2, ("a",))


def test_has_slots_and_runs_its_checks() -> None:
    assert not hasattr(Point(1), "__dict__")
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)
    with pytest.raises(ValueError, match="negative"):
        dataclasses.replace(Checked(1), x=-1)


def test_any_other_dataclass_is_a_plain_one() -> None:
    @dataclass(frozen=True)
    class Frozen:
        x: int

    with pytest.raises(dataclasses.FrozenInstanceError):
        Frozen(1).x = 2  # type: ignore[misc]
