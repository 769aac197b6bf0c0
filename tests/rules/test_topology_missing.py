"""A Topology that does not exist is named; one that was not read is not called missing."""

import pytest

from tests.clusters import fired, recorded


@pytest.mark.parametrize("version", ["v0.10.6", "v0.16.9", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/topology-missing").ask("team-a/train")
    assert answer.headline.rule == "topology-missing"
    assert "rack" in answer.headline.sentence


def test_near_miss() -> None:
    assert "topology-missing" not in fired(recorded("v0.19.2/topology-no-fit").ask("team-a/train"))


def test_near_miss_not_read() -> None:
    answer = recorded("v0.19.2/topology-missing").unread("topologies").ask("team-a/train")
    assert "topology-missing" not in fired(answer)
    assert "topology-missing" in {n.rule for n in answer.not_checked}
