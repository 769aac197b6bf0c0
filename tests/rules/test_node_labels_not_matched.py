"""Rule node-labels-not-matched."""

from bot.core.names import subject
from tests.clusters import fired, recorded


def test_fires_for_the_flavors_labels() -> None:
    answer = recorded("v0.19.2/flavor-labels-match-no-node").ask("team-a/train")
    assert answer.headline.rule == "node-labels-not-matched"
    assert answer.headline.move == "queue-admin"
    assert "cloud/gpu=h100 (injected from ResourceFlavor h100)" in answer.headline.sentence
    assert subject("ResourceFlavor", "h100") in answer.headline.subjects


def test_fires_for_the_users_own_labels() -> None:
    answer = recorded("cases/P63").ask("ml-a/tpu")
    assert answer.headline.rule == "node-labels-not-matched"
    assert answer.headline.move == "asker"
    assert "gke-tpu-topology=1x1" in answer.headline.sentence
    assert "gke-tpu-topology=2x2" in answer.headline.sentence


def test_near_miss_a_node_carries_the_labels_and_is_full() -> None:
    answer = recorded("cases/P56").ask("ml-a/mx")
    assert answer.headline.rule == "node-resources-insufficient"
    assert "node-labels-not-matched" not in fired(answer)


def test_labels_that_match_put_it_on_the_node() -> None:
    cluster = recorded("v0.19.2/flavor-labels-match-no-node")
    cluster = cluster.edit_every("Node", {"metadata": {"labels": {"cloud/gpu": "h100"}}})
    assert "node-labels-not-matched" not in fired(cluster.ask("team-a/train"))


def test_the_schedulers_words_do_where_nodes_are_not_read() -> None:
    answer = recorded("v0.19.2/flavor-labels-match-no-node").unread("nodes").ask("team-a/train")
    assert answer.headline.rule == "node-labels-not-matched"
    assert answer.headline.certainty == "reported"
