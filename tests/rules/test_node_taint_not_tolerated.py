"""Rule node-taint-not-tolerated."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/node-taint").ask("team-a/train")
    assert answer.headline.rule == "node-taint-not-tolerated"
    assert "dedicated=infra:NoSchedule" in answer.headline.sentence


def test_a_lost_node_is_the_platforms() -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    answer = recorded("v0.19.2/node-taint").edit("Node", "n1", {"spec": {"taints": [taint]}}).ask("team-a/train")
    assert answer.headline.rule == "node-taint-not-tolerated"
    assert answer.headline.move == "platform"
    assert "it is unreachable" in answer.headline.sentence


def test_near_miss_a_soft_taint_keeps_nobody_off() -> None:
    taint = {"key": "dedicated", "value": "infra", "effect": "PreferNoSchedule"}
    answer = recorded("v0.19.2/node-taint").edit("Node", "n1", {"spec": {"taints": [taint]}}).ask("team-a/train")
    assert "node-taint-not-tolerated" not in fired(answer)


def test_near_miss_the_pod_tolerates_it() -> None:
    cluster = recorded("v0.19.2/node-taint")
    pod = cluster.named("Pod", "train-")
    answer = cluster.edit("Pod", pod, {"spec": {"tolerations": [{"operator": "Exists"}]}}).ask("team-a/train")
    assert "node-taint-not-tolerated" not in fired(answer)


def test_a_lost_node_is_the_platforms_by_the_schedulers_words_too() -> None:
    """Where nodes are not read, nobody is told to tolerate what the system sets on a lost node."""
    cluster = recorded("v0.19.2/node-taint").unread("nodes")
    pod = cluster.named("Pod", "train-")
    lost = "0/2 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }."
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    answer = cluster.condition("Pod", pod, **unscheduled, message=lost).ask("team-a/train")
    assert (answer.headline.rule, answer.headline.move) == ("node-taint-not-tolerated", "platform")
    assert "node.kubernetes.io/unreachable (the node is unreachable)" in answer.headline.sentence
    both = lost.replace("2 node(s)", "1 node(s)").replace(
        "}.", "}, 1 node(s) had untolerated taint {dedicated: infra}."
    )
    answer = cluster.condition("Pod", pod, **unscheduled, message=both).ask("team-a/train")
    assert answer.headline.move == "asker"
    assert answer.headline.next[0].do.startswith("Add a toleration for dedicated=infra to the pod template")
