"""Rule priority-class-missing."""

from tests.clusters import fired, recorded
from tests.made import QUEUE, cluster, job, made


def test_fires() -> None:
    answer = recorded("cases/P23").ask("ml-a/lowp")
    assert answer.headline.rule == "priority-class-missing"
    assert "kueue.x-k8s.io/priority-class" in answer.headline.sentence
    assert answer.headline.data["suggestions"] == ["low-priority"]


def test_fires_on_the_pod_templates_class() -> None:
    spec = {"template": {"spec": {"priorityClassName": "urgent"}}}
    answer = cluster(job(spec=spec)).ask("team-a/train")
    assert answer.headline.rule == "priority-class-missing"
    assert "PriorityClass" in answer.headline.sentence


def test_near_miss() -> None:
    """The class is there; the label decides over the template; classes that were not read prove nothing."""
    labels = {**QUEUE, "kueue.x-k8s.io/priority-class": "low"}
    item = job(labels=labels, spec={"template": {"spec": {"priorityClassName": "urgent"}}})
    there = cluster(item, made("WorkloadPriorityClass", "low", value=1))
    assert "priority-class-missing" not in fired(there.ask("team-a/train"))
    unread = recorded("cases/P23").unread("workloadpriorityclasses").ask("ml-a/lowp")
    assert "priority-class-missing" not in fired(unread)
    assert "priority-class-missing" in {entry.rule for entry in unread.not_checked}
    system = job(spec={"template": {"spec": {"priorityClassName": "system-node-critical"}}})
    assert "priority-class-missing" not in fired(cluster(system).ask("team-a/train"))
