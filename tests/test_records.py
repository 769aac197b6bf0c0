"""Records behave as frozen dataclasses with slots do."""

import copy
import dataclasses
import pickle

import pytest

from bot.core.diagnosis import Evidence
from bot.core.snapshot import Gap


def test_a_record_cannot_be_changed() -> None:
    gap = Gap("Node", "forbidden for this identity")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(gap, "kind", "Pod")  # noqa: B010 - the type checker would refuse the plain form
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(gap, "kind")
    with pytest.raises(AttributeError):
        setattr(gap, "other", 1)  # noqa: B010 - the type checker would refuse the plain form
    assert gap.kind == "Node"


def test_records_compare_hash_copy_and_replace() -> None:
    one, two = Evidence("a", "b", "c"), Evidence("a", "b", "c")
    assert one == two
    assert len({one, two}) == 1
    assert one.__eq__(Gap("a", "b")) is NotImplemented
    assert dataclasses.replace(one, value="d").value == "d"
    assert copy.copy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).startswith("Evidence(subject='a'")
