"""Rule pod-rejected-by-node."""

from tests.clusters import Cluster, fired, recorded


def _rejected(reason: str) -> Cluster:
    cluster = recorded("v0.19.2/running")
    pods = sorted(item["metadata"]["name"] for item in cluster.items if item["kind"] == "Pod")
    status = {"phase": "Failed", "reason": reason, "message": "Pod was rejected: not enough", "conditions": None}
    return cluster.edit("Pod", pods[0], {"status": status})


def test_fires() -> None:
    answer = _rejected("OutOfcpu").ask("team-a/train")
    assert answer.headline.rule == "pod-rejected-by-node"
    assert "OutOfcpu" in answer.headline.sentence
    assert "node-1" in answer.headline.sentence


def test_near_miss_a_pod_that_failed_by_itself() -> None:
    answer = _rejected("Evicted").ask("team-a/train")
    assert "pod-rejected-by-node" not in fired(answer)
    assert answer.headline.rule == "container-crashing"


def test_near_miss_all_wanted_pods_run() -> None:
    assert "pod-rejected-by-node" not in fired(recorded("v0.19.2/running").ask("team-a/train"))
