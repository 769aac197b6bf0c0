"""Kueue has not looked at it yet."""

from tests.causes.world import JUST_NOW, World, admission, admitted, asked, condition, pod
from tests.clusters import fired
from tests.small import EARLIER, queue, small, waiting

ROOM = queue("gpu-cq", {"f": {"gpu": 8}})
EVICTED = "Exceeded the PodsReady timeout team-a/job-train"


def young() -> tuple[dict[str, object], ...]:
    parts = waiting(gpu=1)
    for item in parts:
        item["metadata"]["creationTimestamp"] = "2026-01-01T11:59:57Z"
    return parts


def test_fires() -> None:
    answer = small(ROOM, young()).ask("team-a/train")
    assert answer.headline.rule == "not-evaluated-yet"
    assert (answer.outlook, answer.move) == ("in-progress", "nobody")
    assert "it is 3 seconds old" in answer.headline.sentence


def test_fires_after_an_eviction_without_a_look() -> None:
    evicted = {
        "type": "Evicted",
        "status": "True",
        "reason": "PodsReadyTimeout",
        "message": EVICTED,
        "lastTransitionTime": EARLIER,
    }
    pending = {**evicted, "type": "QuotaReserved", "status": "False", "reason": "Pending"}
    answer = small(ROOM, waiting(gpu=1, status={"conditions": [evicted, pending]})).ask("team-a/train")
    assert answer.headline.rule == "not-evaluated-yet"
    assert "was evicted at 2026-01-01 10:00" in answer.headline.sentence


def test_near_miss() -> None:
    """Old without a condition is not "yet"; a verdict is a look; and what something else holds back is not this."""
    assert "not-evaluated-yet" not in fired(small(ROOM, waiting(gpu=1)).ask("team-a/train"))
    text = "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor f, 1 more needed"
    assert "not-evaluated-yet" not in fired(small(ROOM, waiting(gpu=1, text=text)).ask("team-a/train"))
    stopped = queue("gpu-cq", {"f": {"gpu": 8}}, stopPolicy="Hold")
    assert "not-evaluated-yet" not in fired(small(stopped, young()).ask("team-a/train"))


def test_fires_while_kueue_takes_the_quota_back() -> None:
    answer = World().ask(*asked(*admitted(), evicted(JUST_NOW), status=admission()))
    assert answer.headline.rule == "not-evaluated-yet"
    assert answer.headline.sentence.startswith("It was evicted 10 seconds ago (Preempted)")
    assert answer.kueue_said is not None
    assert answer.kueue_said.reason == "Preempted"


def test_near_miss_its_pods_have_not_gone() -> None:
    job, loads = asked(*admitted(), evicted(JUST_NOW), status=admission())
    assert "not-evaluated-yet" not in fired(World().ask(job, loads, pod(job)))


def evicted(at: str) -> dict[str, object]:
    text = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"
    return condition("Evicted", "True", "Preempted", text, at)
