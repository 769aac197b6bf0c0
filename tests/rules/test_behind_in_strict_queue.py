"""The head of a StrictFIFO queue is named with what it waits for; a queue that lets others pass is none."""

import pytest

from tests.clusters import Cluster, fired, recorded

VERSIONS = ("v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08")
SCENARIO = "v0.19.2/strict-fifo-head-blocks"


@pytest.mark.parametrize("version", VERSIONS)
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/strict-fifo-head-blocks").ask("team-a/train")
    assert answer.headline.rule == "behind-in-strict-queue"
    assert answer.outlook == "wait"
    assert "big" in answer.headline.sentence
    assert "3 more cpu in flavor default" in answer.headline.sentence
    assert answer.ahead is not None
    assert (answer.ahead.position, answer.ahead.total) == (1, 2)
    assert "strict-fifo" in fired(answer)


def _bigger(cluster: Cluster) -> Cluster:
    name = cluster.named("Workload", "job-big")
    sets = cluster.get("Workload", name)["spec"]["podSets"]
    sets[0]["count"] = 40
    requests = [{"name": "main", "resources": {"cpu": "40"}}]
    return cluster.edit("Workload", name, {"spec": {"podSets": sets}, "status": {"resourceRequests": requests}})


def test_a_head_that_can_never_start_needs_somebody() -> None:
    answer = _bigger(recorded(SCENARIO)).ask("team-a/train")
    assert answer.headline.rule == "behind-in-strict-queue"
    assert answer.outlook == "fix"
    assert "never" in answer.headline.sentence


def test_fires_across_local_queues() -> None:
    cluster = recorded(SCENARIO)
    queue = cluster.get("LocalQueue", "train-queue")
    other = {**queue, "metadata": {**queue["metadata"], "namespace": "team-b", "uid": "q-b"}}
    namespace = cluster.get("Namespace", "team-a")
    namespace["metadata"] = {**namespace["metadata"], "name": "team-b", "uid": "n-b"}
    cluster = cluster.add(other, namespace)
    for kind, start in (("Workload", "job-big"), ("Job", "big")):
        name = cluster.named(kind, start)
        moved = cluster.get(kind, name)
        moved["metadata"]["namespace"] = "team-b"
        cluster = cluster.drop(kind, name).add(moved)
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "behind-in-strict-queue"


def test_near_miss() -> None:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    assert "behind-in-strict-queue" not in fired(cluster.ask("team-a/train"))


def test_near_miss_when_it_does_not_fit_itself() -> None:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "StrictFIFO"}})
    name = cluster.named("Workload", "job-holder")
    admission = cluster.get("Workload", name)["status"]["admission"]
    admission["podSetAssignments"][0]["resourceUsage"]["cpu"] = "4"
    answer = cluster.edit("Workload", name, {"status": {"admission": admission}}).ask("team-a/train")
    assert answer.headline.rule == "quota-in-use"


def test_near_miss_a_head_from_a_namespace_that_is_not_selected() -> None:
    cluster = recorded(SCENARIO)
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "team-a"}}
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"namespaceSelector": selector}})
    queue = cluster.get("LocalQueue", "train-queue")
    namespace = cluster.get("Namespace", "team-a")
    namespace["metadata"] = {"name": "team-b", "uid": "n-b", "labels": {"kubernetes.io/metadata.name": "team-b"}}
    cluster = cluster.add({**queue, "metadata": {**queue["metadata"], "namespace": "team-b", "uid": "q-b"}}, namespace)
    moved = cluster.get("Workload", cluster.named("Workload", "job-big"))
    cluster = cluster.drop("Workload", moved["metadata"]["name"])
    moved["metadata"]["namespace"] = "team-b"
    assert "behind-in-strict-queue" not in fired(cluster.add(moved).ask("team-a/train"))


def test_near_miss_behind_it() -> None:
    answer = recorded(SCENARIO).ask("team-a/big")
    assert answer.headline.rule == "quota-in-use"
    assert answer.ahead is not None
    assert answer.ahead.position == 0


def test_kueues_own_order_where_the_head_was_not_read() -> None:
    cluster = recorded(SCENARIO)
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    answer = cluster.unread("workloads").add(own).ask("team-a/train")
    assert answer.headline.rule == "behind-in-strict-queue"
    assert answer.headline.certainty == "likely"
    assert "job-big" in answer.headline.sentence
    assert "number 2 of 2" in answer.headline.sentence
