"""An equal Workload that failed explains a silence; an unequal one does not."""

from typing import Any

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/strict-fifo-head-blocks"
BYPASSED = "Bypassed scheduling evaluation because an equivalent workload recently failed"


def _twin(**changes: Any) -> Cluster:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    big = cluster.named("Workload", "job-big")
    requests = [{"name": "main", "resources": {"cpu": "1"}}]
    twin = {"spec": {"podSets": own["spec"]["podSets"], **changes}, "status": {"resourceRequests": requests}}
    return cluster.edit("Workload", big, twin).at("2026-11-30T14:55:00Z")


def test_fires() -> None:
    answer = _twin().ask("team-a/train")
    assert answer.headline.rule == "behind-equivalent"
    assert "big" in answer.headline.sentence
    assert "3 more needed" in answer.headline.sentence


def test_fires_on_kueues_own_words() -> None:
    cluster = _twin()
    name = cluster.named("Workload", "job-train")
    said = cluster.condition(
        "Workload", name, type="QuotaReserved", status="False", reason="WaitingForQuota", message=BYPASSED
    )
    answer = said.ask("team-a/train")
    assert answer.headline.rule == "behind-equivalent"
    assert answer.headline.certainty == "reported"


def test_near_miss() -> None:
    assert "behind-equivalent" not in fired(_twin(priority=7).ask("team-a/train"))


def test_near_miss_when_young() -> None:
    assert "behind-equivalent" not in fired(_twin().at("2026-11-30T14:53:10Z").ask("team-a/train"))


def test_near_miss_in_a_strict_queue() -> None:
    cluster = _twin().edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "StrictFIFO"}})
    assert "behind-equivalent" not in fired(cluster.ask("team-a/train"))
