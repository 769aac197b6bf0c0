"""A preemption that does not get on is told apart from one that is under way, and the pod and node that hold it are named."""

from tests.clusters import recorded


def test_fires() -> None:
    answer = recorded("cases/P77").ask("ml-a/pre")
    assert answer.headline.rule == "preemption-not-progressing"
    assert answer.outlook == "fix"
    assert "vic-1" in answer.headline.sentence
    assert "g7" in answer.headline.sentence
    assert "unreachable" in answer.headline.sentence
    assert any(e.field == "metadata.deletionTimestamp" for e in answer.headline.evidence)


def test_fires_when_the_same_victims_come_back() -> None:
    answer = recorded("cases/P17").ask("ml-a/reclaimer")
    assert answer.headline.rule == "preemption-not-progressing"
    assert "14 times" in answer.headline.sentence


def test_fires_when_nothing_is_left_of_the_victim_but_its_quota() -> None:
    answer = recorded("v0.19.2/preemption-pending").at("2026-11-30T15:20:00Z").ask("team-a/train")
    assert answer.headline.rule == "preemption-not-progressing"
    assert "19 minutes" in answer.headline.sentence


def test_near_miss() -> None:
    assert recorded("v0.19.2/preemption-pending").ask("team-a/train").headline.rule == "preemption-pending"


def test_near_miss_within_a_long_grace_period() -> None:
    pod = {"metadata": {"deletionTimestamp": "2026-02-02T11:30:00Z"}}
    answer = recorded("cases/P77").edit("Pod", "vic-1", pod).ask("ml-a/pre")
    assert answer.headline.rule == "preemption-pending"


def test_near_miss_when_a_victim_was_preempted_once() -> None:
    once = {"status": {"schedulingStats": {"evictions": [{"reason": "Preempted", "count": 1}]}}}
    cluster = recorded("cases/P17").edit("Workload", "job-vic-a-1", once).edit("Workload", "job-vic-b-1", once)
    assert cluster.ask("ml-a/reclaimer").headline.rule == "preemption-pending"
