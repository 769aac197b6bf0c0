"""Rule sandbox-not-created."""

from tests.clusters import Cluster, fired, recorded


def _silent(ready: str) -> Cluster:
    cluster = recorded("cases/P71")
    event = next(i for i in cluster.items if i.get("reason") == "FailedCreatePodSandBox")
    condition = {"type": "Ready", "status": ready, "reason": "NodeStatusUnknown"}
    return cluster.drop("Event", event["metadata"]["name"]).edit("Node", "n1", {"status": {"conditions": [condition]}})


def test_fires() -> None:
    answer = recorded("cases/P71").ask("ml-a/ipx")
    assert answer.headline.rule == "sandbox-not-created"
    assert "failed to assign an IP address" in answer.headline.sentence
    assert "1642 times" in answer.headline.sentence


def test_a_lost_node_says_nothing() -> None:
    answer = _silent("Unknown").ask("ml-a/ipx")
    assert answer.headline.rule == "sandbox-not-created"
    assert "the node is not ready (NodeStatusUnknown)" in answer.headline.sentence


def test_near_miss_the_image_is_what_fails() -> None:
    assert "sandbox-not-created" not in fired(recorded("v0.19.2/image-pull").ask("team-a/train"))
