"""The room in a domain is counted from nodes and pods, and told apart: never, not now, or not to be known."""

from typing import Any

import pytest

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/topology-no-fit"


def _count(cluster: Cluster, count: int, request: object = None) -> Cluster:
    name = cluster.named("Workload", "job-train")
    sets = cluster.get("Workload", name)["spec"]["podSets"]
    sets[0]["count"] = count
    if request is not None:
        sets[0]["topologyRequest"] = request
    requests = [{"name": "main", "resources": {"cpu": str(count)}}]
    return cluster.edit("Workload", name, {"spec": {"podSets": sets}, "status": {"resourceRequests": requests}})


def _pod(name: str, node: str, cpu: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "serve", "uid": f"p-{name}"},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running"},
    }  # fmt: skip


@pytest.mark.parametrize("version", ["v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/topology-no-fit").ask("team-a/train")
    assert answer.headline.rule == "topology-does-not-fit"
    assert answer.outlook == "never-as-written"
    assert "All 12 pods" in answer.headline.sentence
    assert "room for 8" in answer.headline.sentence
    assert "cloud/rack" in answer.headline.sentence


def test_waits_when_an_emptied_domain_would_do() -> None:
    cluster = _count(recorded(SCENARIO), 8).add(_pod("a", "t0", "3"), _pod("b", "t2", "1"))
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "topology-does-not-fit"
    assert answer.outlook == "wait"
    assert "r1) has room for 7; emptied it would hold 8" in answer.headline.sentence


def test_names_the_label_that_the_nodes_lack() -> None:
    answer = recorded("cases/P40").ask("ml-a/tas-a")
    assert answer.headline.rule == "topology-does-not-fit"
    assert answer.move == "platform"
    assert "2 of 2 nodes of flavor tas lack the label example.com/island" in answer.headline.sentence


def test_counts_cordoned_and_tainted_nodes() -> None:
    cluster = _count(recorded(SCENARIO), 8)
    taints = [{"key": "maint", "value": "true", "effect": "NoSchedule"}]
    cluster = cluster.edit("Node", "t0", {"spec": {"unschedulable": True}}).edit(
        "Node", "t2", {"spec": {"taints": taints}}
    )
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "topology-does-not-fit"
    assert "1 cordoned" in answer.headline.sentence
    assert "1 taint maint=true:NoSchedule" in answer.headline.sentence


def test_kueues_own_words_where_nodes_cannot_be_read() -> None:
    answer = recorded(SCENARIO).unread("nodes").ask("team-a/train")
    assert answer.headline.rule == "topology-does-not-fit"
    assert answer.headline.certainty == "reported"
    assert "8 of 12 pods" in answer.headline.sentence


def test_near_miss() -> None:
    assert "topology-does-not-fit" not in fired(_count(recorded(SCENARIO), 8).ask("team-a/train"))


def test_near_miss_preferred() -> None:
    cluster = _count(recorded(SCENARIO), 12, {"preferred": "cloud/rack"})
    assert "topology-does-not-fit" not in fired(cluster.ask("team-a/train"))


def test_near_miss_pods_not_read() -> None:
    cluster = _count(recorded(SCENARIO), 8).unread("pods")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.edit("Workload", name, {"status": {"conditions": []}})
    answer = cluster.ask("team-a/train")
    assert "topology-does-not-fit" not in fired(answer)
    assert "topology-does-not-fit" in {n.rule for n in answer.not_checked}
