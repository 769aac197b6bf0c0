"""Rule autoscaler-cannot-help."""

from bot.core.diagnosis import Diagnosis
from bot.core.names import plain, show
from tests.clusters import fired, recorded


def _sentence(answer: Diagnosis) -> str:
    return next(found.sentence for found in answer.also if found.rule == "autoscaler-cannot-help")


def test_fires_with_the_part_that_matters() -> None:
    sentence = _sentence(recorded("cases/P56").ask("ml-a/mx"))
    assert "3 max node group size reached" in sentence
    assert "12 node(s)" not in sentence


def test_karpenters_limit_and_pool() -> None:
    sentence = show(_sentence(recorded("cases/P70").ask("ml-a/np")), plain)
    assert "NodePool gpu-pool has 1 of 1 nvidia.com/gpu in use." in sentence
    assert "cpu-pool" not in sentence


def test_a_node_claim_that_cannot_be_launched() -> None:
    sentence = show(_sentence(recorded("cases/P55").ask("ml-a/vl")), plain)
    assert "NodeClaim gpu-x7" in sentence
    assert "insufficient capacity" in sentence


def test_near_miss_it_adds_a_node_now() -> None:
    cluster = recorded("cases/P56")
    event = next(i for i in cluster.items if i.get("reason") == "NotTriggerScaleUp")
    newer = {**event, "metadata": {**event["metadata"], "name": "mx-1.up"}, "reason": "TriggeredScaleUp"}
    answer = cluster.add({**newer, "lastTimestamp": cluster.now}).ask("ml-a/mx")
    assert "autoscaler-cannot-help" not in fired(answer)
