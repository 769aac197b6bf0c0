"""Pods that Kueue pinned to nodes which refuse them: which node, why, and which other node would take them."""

import pytest

from tests.clusters import fired, recorded


@pytest.mark.parametrize(
    ("case", "job", "words"),
    [
        ("P41", "tas-t", ("n2", "maint=true:NoSchedule", "example.com/rack=r1", "tas-t-0")),
        ("P43", "sel", ("n1", "disk=nvme", "n2 would take it")),
        ("P44", "full", ("n1", "0 of 8 nvidia.com/gpu", "inference-0")),
        ("P68", "tmp", ("n1", "110 pods of 110")),
    ],
)
def test_fires(case: str, job: str, words: tuple[str, ...]) -> None:
    from bot.core import names

    answer = recorded(f"cases/{case}").ask(f"ml-a/{job}")
    assert answer.headline.rule == "topology-assignment-unusable"
    sentence = names.show(answer.headline.sentence, names.plain)
    assert not [word for word in words if word not in sentence]


def test_fires_when_the_node_is_gone() -> None:
    answer = recorded("cases/P43").drop("Node", "n1").ask("ml-a/sel")
    assert answer.headline.rule == "topology-assignment-unusable"
    assert "no node any more" in answer.headline.sentence


def test_fires_when_more_pods_are_pinned_than_assigned() -> None:
    cluster = recorded("cases/P44")
    twin = cluster.get("Pod", "full-1")
    twin["metadata"] = {**twin["metadata"], "name": "full-2", "uid": "full-2"}
    answer = cluster.add(twin).ask("ml-a/full")
    assert answer.headline.rule == "topology-assignment-unusable"
    assert "2 pods where the topology assignment gives it 1" in answer.headline.sentence


def test_near_miss() -> None:
    cluster = recorded("cases/P44").drop("Pod", "inference-0")
    assert "topology-assignment-unusable" not in fired(cluster.ask("ml-a/full"))


def test_near_miss_nodes_not_read() -> None:
    answer = recorded("cases/P44").unread("nodes").ask("ml-a/full")
    assert "topology-assignment-unusable" not in fired(answer)
    assert "topology-assignment-unusable" in {n.rule for n in answer.not_checked}


def test_fires_while_kueue_looks_for_a_replacement() -> None:
    cluster = recorded("cases/P44").drop("Pod", "full-1")
    cluster = cluster.edit("Workload", "job-full-10116", {"status": {"unhealthyNodes": [{"name": "n1"}]}})
    answer = cluster.ask("ml-a/full")
    found = next(f for f in (answer.headline, *answer.also) if f.rule == "topology-assignment-unusable")
    assert "1 of 1 pods are missing" in found.sentence
    assert "n1" in found.sentence
