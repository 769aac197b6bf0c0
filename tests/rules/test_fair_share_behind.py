"""Usage-based admission and Fair Sharing put others first: who, with both figures."""

from typing import Any

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/strict-fifo-head-blocks"


def _usage(mine: str, theirs: str, **spec: Any) -> Cluster:
    scope = {
        "queueingStrategy": "BestEffortFIFO",
        "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
    }
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": scope})
    queue = cluster.get("LocalQueue", "train-queue")

    def used(amount: str) -> dict[str, Any]:
        return {"fairSharing": {"admissionFairSharingStatus": {"consumedResources": {"cpu": amount}}}}

    other = {
        **queue,
        "metadata": {**queue["metadata"], "name": "light-queue", "uid": "q-light"},
        "spec": {**queue["spec"], **spec},
        "status": {**queue["status"], **used(theirs)},
    }
    big = cluster.named("Workload", "job-big")
    cluster = cluster.add(other).edit("LocalQueue", "train-queue", {"status": used(mine)})
    return cluster.edit("Workload", big, {"spec": {"queueName": "light-queue"}, "status": {"conditions": []}})


def test_fires() -> None:
    answer = _usage("40", "2").ask("team-a/train")
    assert answer.headline.rule == "fair-share-behind"
    assert "used less lately: 2 against 40" in answer.headline.sentence
    assert "big" in answer.headline.sentence


def test_a_weight_of_zero_comes_last() -> None:
    cluster = _usage("40", "2", fairSharing={"weight": "0"}).edit_every("Recording", {"visibility": None})
    answer = cluster.ask("team-a/train")
    assert "fair-share-behind" not in fired(answer)
    assert answer.ahead is not None
    assert answer.ahead.position == 0


def test_near_miss() -> None:
    answer = _usage("2", "40").ask("team-a/train")
    assert "fair-share-behind" not in fired(answer)


def test_near_miss_without_usage_based_admission() -> None:
    cluster = _usage("40", "2").edit("ClusterQueue", "gpu-cq", {"spec": {"admissionScope": None}})
    assert cluster.ask("team-a/train").headline.rule == "behind-in-queue"


def _cohort(mine: int, theirs: int) -> Cluster:
    """Two ClusterQueues of one cohort with Fair Sharing; in the other one a Workload waits of which Kueue says nothing."""
    cluster = recorded(SCENARIO)
    cluster = cluster.drop("Workload", cluster.named("Workload", "job-big")).drop("Job", "big")
    queue, local = cluster.get("ClusterQueue", "gpu-cq"), cluster.get("LocalQueue", "train-queue")
    waits = cluster.get("Workload", cluster.named("Workload", "job-train"))

    def other(kind: dict[str, Any], name: str, **parts: Any) -> dict[str, Any]:
        return {**kind, "metadata": {"name": name, "uid": name, "creationTimestamp": cluster.now}, **parts}

    spec = {**queue["spec"], "cohortName": "research"}
    rival = other(queue, "rival-cq", spec=spec, status={"fairSharing": {"weightedShare": theirs}})
    rival["status"]["flavorsReservation"] = [{"name": "default", "resources": [{"name": "cpu", "total": "0"}]}]
    route = other(local, "rival-queue", spec={"clusterQueue": "rival-cq"})
    head = other(waits, "job-rival", spec={**waits["spec"], "queueName": "rival-queue"})
    for item in (route, head):
        item["metadata"]["namespace"] = "team-b"
    patch = {"spec": {"cohortName": "research"}, "status": {"fairSharing": {"weightedShare": mine}}}
    return cluster.edit("ClusterQueue", "gpu-cq", patch).add(rival, route, head)


def test_fires_for_a_cluster_queue_with_a_smaller_share() -> None:
    answer = _cohort(50, 10).ask("team-a/train")
    assert answer.headline.rule == "fair-share-behind"
    assert "weighted share is 10, this one's 50" in answer.headline.sentence


def test_near_miss_a_larger_share() -> None:
    assert "fair-share-behind" not in fired(_cohort(10, 50).ask("team-a/train"))
