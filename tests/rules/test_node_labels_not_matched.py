"""Rule node-labels-not-matched."""

from bot.core.names import subject
from tests.causes.world import JUST_NOW, QUEUE, Object, World, admission, admitted, condition, job, pod, workload
from tests.clusters import fired, recorded
from tests.made import refer


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


def test_fires_for_labels_of_the_users_own() -> None:
    """A group that was admitted early: its Workload does not know the later pods, so what they select is nobody else's."""
    answer = World().ask(*early_group())
    assert (answer.headline.rule, answer.move) == ("node-labels-not-matched", "asker")
    assert "2 pods" in answer.headline.sentence
    assert "ask for disk=none, which none of the 2 nodes carries" in answer.headline.sentence


def early_group() -> list[Object]:
    """A pod group of three: the first runs, two others select a label that no node has."""
    owner = job()
    marks = {**QUEUE, "kueue.x-k8s.io/pod-group-name": "finetune", "kueue.x-k8s.io/managed": "true"}
    said = condition("PodScheduled", "False", "Unschedulable", "0/2 nodes are available", JUST_NOW)
    waits = {"spec": {"nodeSelector": {"disk": "none"}}, "status": {"conditions": [said]}}
    pods = [pod(owner), *(pod(owner, number, phase="Pending", node="", **waits) for number in (1, 2))]
    for member in pods:
        member["metadata"].pop("ownerReferences")
        member["metadata"] |= {"labels": marks, "annotations": {"kueue.x-k8s.io/pod-group-total-count": "3"}}
    loads = workload(owner, *admitted(), name="finetune", status=admission(3))
    loads["metadata"] |= {"labels": {}, "ownerReferences": [refer(member, controller=False) for member in pods]}
    loads["spec"]["podSets"][0]["count"] = 3
    return [loads, *pods]
