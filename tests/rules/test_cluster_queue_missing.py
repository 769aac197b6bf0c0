"""The LocalQueue points nowhere."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "cluster-queue-missing"


def test_fires() -> None:
    answer = recorded("v0.19.2/cluster-queue-missing").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "ClusterQueue gpu-cluster-queue, which does not exist" in sentence(answer, RULE)


def test_offers_close_names() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit("LocalQueue", "train-queue", {"spec": {"clusterQueue": "gpu-cqs"}})
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == RULE
    assert finding(answer, RULE).data == {"suggestions": ["gpu-cq"]}


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/local-queue-missing").ask("team-a/train"))
    unread = recorded("v0.19.2/cluster-queue-missing").unread("clusterqueues").ask("team-a/train")
    assert RULE not in fired(unread)
    assert RULE in {entry.rule for entry in unread.not_checked}
