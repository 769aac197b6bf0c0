"""Hold or HoldAndDrain on the ClusterQueue, from its spec."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "cluster-queue-stopped"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/cluster-queue-hold").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "ClusterQueue gpu-cq is stopped (stopPolicy Hold): nothing new is admitted" in sentence(answer, RULE)


def test_drained_one_names_the_eviction() -> None:
    answer = recorded("v0.19.2/cluster-queue-drained").ask("team-a/train")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "HoldAndDrain" in said
    assert "This job was evicted for it" in said


def test_near_miss() -> None:
    cluster = recorded("v0.19.2/cluster-queue-hold").edit("ClusterQueue", "gpu-cq", {"spec": {"stopPolicy": "None"}})
    assert RULE not in fired(cluster.ask("team-a/train"))
    running = recorded("v0.19.2/running").edit("ClusterQueue", "gpu-cq", {"spec": {"stopPolicy": "Hold"}})
    assert RULE not in fired(running.ask("team-a/train"))
