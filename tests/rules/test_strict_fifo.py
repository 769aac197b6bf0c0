"""Beside another cause, a strict queue says whom the Workload holds up or waits behind."""

from tests.clusters import fired, recorded

SCENARIO = "v0.19.2/strict-fifo-head-blocks"


def test_fires() -> None:
    answer = recorded(SCENARIO).ask("team-a/big")
    found = next(f for f in answer.context if f.rule == "strict-fifo")
    assert "holds up 1 behind it" in found.sentence


def test_near_miss() -> None:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    assert "strict-fifo" not in fired(cluster.ask("team-a/big"))
