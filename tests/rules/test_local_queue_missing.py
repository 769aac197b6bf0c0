"""The queue name names no LocalQueue of the namespace."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "local-queue-missing"


def test_fires() -> None:
    answer = recorded("v0.19.2/local-queue-missing").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "train-queu does not exist" in sentence(answer, RULE)
    assert finding(answer, RULE).data == {"suggestions": ["train-queue"]}


def test_the_same_name_elsewhere_does_not_count() -> None:
    answer = recorded("cases/P02").ask("ml-a/bert-ft")
    assert answer.headline.rule == RULE
    assert finding(answer, RULE).data == {"suggestions": ["team-q"]}


def test_no_name_at_all() -> None:
    answer = recorded("cases/P25").ask("ml-a/debug", "Pod")
    assert answer.headline.rule == RULE
    assert "no label kueue.x-k8s.io/queue-name" in sentence(answer, RULE)


def test_the_workload_decides_over_the_label() -> None:
    cluster = recorded("v0.19.2/local-queue-missing")
    cluster = cluster.edit("Job", "train", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "train-queue"}}})
    assert cluster.ask("team-a/train").headline.rule == RULE


def test_one_that_is_being_deleted() -> None:
    gone = {"metadata": {"deletionTimestamp": "2026-11-30T14:00:00Z"}}
    answer = recorded("v0.19.2/quota-in-use").edit("LocalQueue", "train-queue", gone).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "train-queue is being deleted" in sentence(answer, RULE)


def test_a_young_workload_may_only_be_early() -> None:
    cluster = recorded("v0.19.2/local-queue-missing")
    name = cluster.named("Workload", "job-train")
    created = cluster.edit("Workload", name, {"metadata": {"creationTimestamp": cluster.now}})
    assert "this may pass by itself" in sentence(created.ask("team-a/train"), RULE)
    old = cluster.edit("Workload", name, {"metadata": {"creationTimestamp": "2026-11-30T10:00:00Z"}})
    assert "this may pass by itself" not in sentence(old.ask("team-a/train"), RULE)


def test_near_miss() -> None:
    cluster = recorded("v0.19.2/local-queue-missing")
    name = cluster.named("Workload", "job-train")
    answer = cluster.edit("Workload", name, {"spec": {"queueName": "train-queue"}}).ask("team-a/train")
    assert RULE not in fired(answer)
    unread = recorded("v0.19.2/local-queue-missing").unread("localqueues").ask("team-a/train")
    assert RULE not in fired(unread)
    assert RULE in {entry.rule for entry in unread.not_checked}
