"""Quota is there and the second pass has yet to place the pods."""

from typing import Any

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/topology-no-fit"


def _reserved(**changes: Any) -> Cluster:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    part = {
        "name": "main", "count": 12, "flavors": {"cpu": "tas"}, "resourceUsage": {"cpu": "12"},
        "delayedTopologyRequest": "Pending",
    } | changes  # fmt: skip
    admission = {"clusterQueue": "gpu-cq", "podSetAssignments": [part]}
    conditions = [
        {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "Quota reserved in ClusterQueue gpu-cq",
         "lastTransitionTime": cluster.now},
    ]  # fmt: skip
    return cluster.edit("Workload", name, {"status": {"admission": admission, "conditions": conditions}})


def test_fires() -> None:
    answer = _reserved().ask("team-a/train")
    assert answer.headline.rule == "topology-assignment-pending"
    assert answer.stage == "checks"
    assert "pod set main" in answer.headline.sentence
    assert "room for 8 of 12" in answer.headline.sentence


def test_fires_on_an_event_alone() -> None:
    cluster = _reserved(delayedTopologyRequest=None)
    workload = cluster.get("Workload", cluster.named("Workload", "job-train"))["metadata"]
    event = {
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "team-a", "creationTimestamp": cluster.now},
        "involvedObject": {"kind": "Workload", "name": workload["name"], "namespace": "team-a", "uid": workload["uid"]},
        "reason": "SecondPassFailed", "type": "Warning", "lastTimestamp": cluster.now,
        "message": "couldn't assign flavors to pod set main: topology \"rack\" allows to fit only 8 out of 12 pod(s)",
    }  # fmt: skip
    answer = cluster.add(event).ask("team-a/train")
    assert answer.headline.rule == "topology-assignment-pending"
    assert "8 out of 12" in answer.headline.sentence


def test_near_miss() -> None:
    assert "topology-assignment-pending" not in fired(_reserved(delayedTopologyRequest="Ready").ask("team-a/train"))


def test_near_miss_checks_come_first() -> None:
    cluster = _reserved()
    checks = [{"name": "prov", "state": "Pending", "message": "", "lastTransitionTime": cluster.now}]
    name = cluster.named("Workload", "job-train")
    cluster = cluster.edit("Workload", name, {"status": {"admissionChecks": checks}})
    assert "topology-assignment-pending" not in fired(cluster.ask("team-a/train"))
