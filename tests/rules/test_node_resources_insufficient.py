"""Rule node-resources-insufficient."""

from tests.clusters import fired, recorded


def test_fires_and_never_fits() -> None:
    answer = recorded("v0.19.2/no-node-big-enough").ask("team-a/train")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.outlook == "never-as-written"
    assert "needs 40 CPUs on one node" in answer.headline.sentence
    assert "the largest node has 16" in answer.headline.sentence


def test_fires_and_waits_when_an_emptied_node_would_do() -> None:
    answer = recorded("v0.19.2/some-pods-running").ask("team-a/train")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.outlook == "wait"
    assert "the largest free is 1" in answer.headline.sentence
    assert "3 of 4 pods run." in answer.headline.sentence


def test_what_is_free_may_be_scattered() -> None:
    answer = recorded("cases/P64").ask("ml-a/frag")
    assert "8 nvidia.com/gpu are free, but scattered" in answer.headline.sentence


def test_the_number_of_pods_counts() -> None:
    assert "runs 110 of at most 110" in str(recorded("cases/P68").ask("ml-a/tmp").also)


def test_near_miss_the_pods_there_are_over() -> None:
    cluster = recorded("v0.19.2/some-pods-running")
    running = [i["metadata"]["name"] for i in cluster.items if i["kind"] == "Pod" and i["spec"].get("nodeName")]
    cluster = cluster.edit("Pod", running[0], {"status": {"phase": "Succeeded"}})
    assert "node-resources-insufficient" not in fired(cluster.ask("team-a/train"))


def test_unread_pods_are_not_free_room() -> None:
    answer = recorded("v0.19.2/some-pods-running").unread("pods").ask("team-a/train")
    assert not answer.complete
    assert answer.outlook not in {"running", "finished"}


def test_the_schedulers_words_do_where_nodes_are_not_read() -> None:
    answer = recorded("v0.19.2/some-pods-running").unread("nodes").ask("team-a/train")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.headline.certainty == "reported"
