"""Rule topology-spread-unsatisfied."""

from tests.clusters import Cluster, fired, recorded


def _spread(when: str) -> Cluster:
    """Two nodes in two zones; the pod that waits must be spread over zones, and the zone that is empty is full."""
    cluster = recorded("v0.19.2/some-pods-running")
    waiting = next(
        item["metadata"]["name"] for item in cluster.items if item["kind"] == "Pod" and not item["spec"].get("nodeName")
    )
    other = cluster.get("Node", "node-1")
    other["metadata"] = {**other["metadata"], "name": "node-2", "uid": "node-2"}
    other["metadata"]["labels"] = {"zone": "b"}
    other["status"]["allocatable"]["cpu"] = "1"
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"job-name": "train"}},
    }
    cluster = cluster.edit(
        "Node", "node-1", {"metadata": {"labels": {"zone": "a"}}, "status": {"allocatable": {"cpu": "64"}}}
    )
    return cluster.add(other).edit("Pod", waiting, {"spec": {"topologySpreadConstraints": [constraint]}})


def test_fires() -> None:
    answer = _spread("DoNotSchedule").ask("team-a/train")
    assert answer.headline.rule == "topology-spread-unsatisfied"
    assert "zone with maxSkew 1" in answer.headline.sentence


def test_near_miss_a_soft_constraint() -> None:
    assert "topology-spread-unsatisfied" not in fired(_spread("ScheduleAnyway").ask("team-a/train"))
