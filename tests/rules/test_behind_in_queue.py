"""Those who stand before it are named while Kueue has yet to decide about them, and passed over once they are parked."""

from typing import Any

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/strict-fifo-head-blocks"


def _lenient(**big: Any) -> Cluster:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    return cluster.edit("Workload", cluster.named("Workload", "job-big"), big) if big else cluster


def test_fires() -> None:
    answer = _lenient(status={"conditions": []}).ask("team-a/train")
    assert answer.headline.rule == "behind-in-queue"
    assert answer.outlook == "wait"
    assert " stands before it in ClusterQueue" in answer.headline.sentence
    assert "big" in answer.headline.sentence
    assert "4 cpu" in answer.headline.sentence


def test_fires_behind_one_that_waits_for_its_preemptions() -> None:
    text = (
        "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 3 more needed."
        " Pending the preemption of 1 workload(s)"
    )
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    name = cluster.named("Workload", "job-big")
    cluster = cluster.condition("Workload", name, type="QuotaReserved", status="False", reason="Pending", message=text)
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "behind-in-queue"
    assert "its own preemptions" in answer.headline.sentence


def test_fires_behind_a_higher_priority() -> None:
    answer = _lenient(spec={"priority": 1000}, status={"conditions": []}).ask("team-a/train")
    assert answer.headline.rule == "behind-in-queue"
    assert "higher priority (1000 against 0)" in answer.headline.sentence


def test_near_miss() -> None:
    assert "behind-in-queue" not in fired(_lenient().ask("team-a/train"))


def test_near_miss_before_a_lower_priority() -> None:
    answer = _lenient(spec={"priority": -5}, status={"conditions": []}).ask("team-a/train")
    assert "behind-in-queue" not in fired(answer)
    assert answer.ahead is not None
    assert answer.ahead.position == 0


def test_the_line_is_not_known_where_the_others_were_not_read() -> None:
    cluster = recorded(SCENARIO)
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    answer = cluster.unread("workloads").add(own).edit_every("Recording", {"visibility": None}).ask("team-a/train")
    assert answer.ahead is not None
    assert answer.ahead.position is None
    assert "behind-in-queue" in {n.rule for n in answer.not_checked}


def test_kueues_own_order_where_the_others_were_not_read() -> None:
    cluster = recorded(SCENARIO).edit("ClusterQueue", "gpu-cq", {"spec": {"queueingStrategy": "BestEffortFIFO"}})
    own = cluster.get("Workload", cluster.named("Workload", "job-train"))
    answer = cluster.unread("workloads").add(own).ask("team-a/train")
    assert answer.headline.rule == "behind-in-queue"
    assert answer.headline.certainty == "likely"
    assert "number 2 of 2" in answer.headline.sentence
