"""The autoscaler says no while nodes have the room: the free amount is named."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P33").ask("ml-a/one-gpu")
    found = next(f for f in answer.context if f.rule == "provisioning-contradicts-nodes")
    assert "2 nodes of its flavor have 16 nvidia.com/gpu free" in found.sentence
    assert answer.headline.rule == "provisioning-pending"


def test_near_miss_full_nodes() -> None:
    cluster = recorded("cases/P33")
    for node in ("g1", "g2"):
        cluster = cluster.edit("Node", node, {"status": {"allocatable": {"nvidia.com/gpu": "0"}}})
    assert "provisioning-contradicts-nodes" not in fired(cluster.ask("ml-a/one-gpu"))


def test_near_miss_pods_not_read() -> None:
    answer = recorded("cases/P33").unread("pods").ask("ml-a/one-gpu")
    assert "provisioning-contradicts-nodes" not in fired(answer)
    assert "provisioning-contradicts-nodes" in {n.rule for n in answer.not_checked}
