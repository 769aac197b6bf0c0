"""Rule resource-not-advertised."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/no-gpu-nodes").ask("team-a/train")
    assert answer.headline.rule == "resource-not-advertised"
    assert "nvidia.com/gpu" in answer.headline.sentence
    assert "node-resources-insufficient" not in fired(answer)


def test_zero_is_not_advertised_and_the_device_plugin_is_named() -> None:
    answer = recorded("cases/P61").ask("ml-a/efa")
    assert answer.headline.rule == "resource-not-advertised"
    assert "aws-efa-k8s-device-plugin" in answer.headline.sentence
    assert "0 of 2 pods ready" in answer.headline.sentence


def test_near_miss_a_node_has_it_but_too_little() -> None:
    node = recorded("v0.19.2/no-gpu-nodes").named("Node", "node-1")
    cluster = recorded("v0.19.2/no-gpu-nodes").edit("Node", node, {"status": {"allocatable": {"nvidia.com/gpu": "1"}}})
    answer = cluster.ask("team-a/train")
    assert "resource-not-advertised" not in fired(answer)
    assert answer.headline.rule == "node-resources-insufficient"


def test_near_miss_only_a_taint_keeps_it_off_the_node_that_has_it() -> None:
    cluster = recorded("v0.19.2/no-gpu-nodes")
    gpu = cluster.get("Node", "node-1")
    gpu["metadata"] = {**gpu["metadata"], "name": "gpu-1", "uid": "gpu-1"}
    gpu["spec"] = {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}
    gpu["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    answer = cluster.add(gpu).ask("team-a/train")
    assert answer.headline.rule == "node-taint-not-tolerated"
    assert "resource-not-advertised" not in fired(answer)


def test_not_checked_without_nodes() -> None:
    answer = recorded("v0.19.2/no-gpu-nodes").unread("nodes").ask("team-a/train")
    assert not answer.complete
    assert "resource-not-advertised" in {entry.rule for entry in answer.not_checked}
