"""Somebody set spec.active to false; Kueue's own causes belong to other rules."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence, steps

SCENARIO = "v0.19.2/deactivated-by-user"


def test_fires() -> None:
    answer = recorded(SCENARIO).ask("team-a/train")
    assert answer.headline.rule == "deactivated"
    assert "spec.active was set to false by a person or a tool" in sentence(answer, "deactivated")
    assert '"active":true' in steps(answer, "deactivated")


def test_older_eviction_reason_does_not_hide_it() -> None:
    cluster = recorded("v0.19.2/preempted")
    name = cluster.named("Workload", "job-train")
    answer = cluster.edit("Workload", name, {"spec": {"active": False}}).ask("team-a/train")
    assert answer.headline.rule == "deactivated"
    assert "by a person or a tool" in finding(answer, "deactivated").sentence


def test_near_miss() -> None:
    cluster = recorded("v0.19.2/check-rejected")
    assert "deactivated" not in fired(cluster.ask("team-a/train"))
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    assert "deactivated" not in fired(cluster.edit("Workload", name, {"spec": {"active": True}}).ask("team-a/train"))
