"""Rule no-nodes."""

from tests.clusters import fired, recorded

BASE = "v0.19.2/no-nodes"


def test_fires() -> None:
    answer = recorded(BASE).ask("team-a/train")
    assert answer.headline.rule == "no-nodes"
    assert answer.headline.certainty == "certain"
    assert "no nodes" in answer.headline.sentence


def test_near_miss_one_node_is_not_none() -> None:
    node = recorded("v0.19.2/node-taint").get("Node", "n1")
    assert "no-nodes" not in fired(recorded(BASE).add(node).ask("team-a/train"))


def test_unread_nodes_are_not_absent_nodes() -> None:
    answer = recorded("v0.19.2/no-node-big-enough").unread("nodes").ask("team-a/train")
    assert "no-nodes" not in fired(answer)


def test_the_scheduler_may_say_it() -> None:
    answer = recorded(BASE).unread("nodes").ask("team-a/train")
    assert answer.headline.rule == "no-nodes"
    assert answer.headline.certainty == "reported"
