"""Rule nodes-cordoned."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/node-cordoned").ask("team-a/train")
    assert answer.headline.rule == "nodes-cordoned"
    assert answer.headline.move == "platform"
    assert "is cordoned and would take it otherwise" in answer.headline.sentence


def test_near_miss_the_node_is_open_and_something_else_is_wrong() -> None:
    cluster = recorded("v0.19.2/node-cordoned")
    taint = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
    answer = cluster.edit("Node", "n1", {"spec": {"unschedulable": None, "taints": [taint]}}).ask("team-a/train")
    assert "nodes-cordoned" not in fired(answer)
    assert answer.headline.rule == "node-taint-not-tolerated"


def test_near_miss_the_cordoned_node_is_too_small_and_an_open_one_is_full() -> None:
    cluster = recorded("v0.19.2/no-node-big-enough")
    other = cluster.get("Node", "node-1")
    other["metadata"] = {**other["metadata"], "name": "node-2", "uid": "node-2"}
    other["spec"] = {"unschedulable": True}
    answer = cluster.add(other).ask("team-a/train")
    assert answer.headline.rule == "node-resources-insufficient"
