"""Rule queue-name-misplaced."""

import pytest

from tests.clusters import fired, recorded
from tests.made import cluster, job, made, pod


def test_fires() -> None:
    answer = recorded("v0.19.2/queue-label-typo").ask("team-a/train")
    assert answer.headline.rule == "queue-name-misplaced"
    assert "kueue.x-k8s.io/queue instead of kueue.x-k8s.io/queue-name" in answer.headline.sentence
    assert answer.headline.next[0].command == "kubectl label -n team-a job/train kueue.x-k8s.io/queue-name=train-queue"


@pytest.mark.parametrize(
    "key",
    ["kueue.x-k8s.io/queue_name", "kueue.x-k8s.io/queueName", "kueue.x-k8s.io/local-queue", "kueue.sigs.k8s.io/queue-name",
     "kueue.k8s.io/queue-name", "kueue.x-k8s.io/quene-name", "queue-name", "queue"],
)  # fmt: skip
def test_fires_on_every_near_key(key: str) -> None:
    answer = cluster(job(labels={key: "train-queue"})).ask("team-a/train")
    assert answer.headline.rule == "queue-name-misplaced"
    assert key in answer.headline.evidence[0].field


def test_fires_on_an_annotation_and_on_a_template_alone() -> None:
    right = {"kueue.x-k8s.io/queue-name": "train-queue"}
    annotated = cluster(job(labels={}, annotations=right)).ask("team-a/train")
    assert (annotated.headline.rule, "annotation" in annotated.headline.sentence) == ("queue-name-misplaced", True)
    template = {"template": {"metadata": {"labels": right}}}
    inside = cluster(job(labels={}, spec=template)).ask("team-a/train")
    assert (inside.headline.rule, "template" in inside.headline.sentence) == ("queue-name-misplaced", True)


def test_fires_on_a_cron_jobs_own_label() -> None:
    """The Jobs of a CronJob get the labels of its job template, not the CronJob's."""
    right = {"kueue.x-k8s.io/queue-name": "train-queue"}
    cron = job("CronJob", "nightly", suspended=False, labels=right)
    run = job("Job", "nightly-1", owner=cron, labels={})
    for name in ("nightly", "nightly-1"):
        answer = cluster(cron, run).ask(f"team-a/{name}")
        assert answer.headline.rule == "queue-name-misplaced"
        assert "spec.jobTemplate.metadata.labels" in answer.headline.next[0].do


@pytest.mark.parametrize(
    "labels",
    [
        {"kueue.x-k8s.io/queue-name": "train-queue", "queue": "train-queue"},
        {"kueue.x-k8s.io/priority-class": "high"},
        {"scheduling.example.com/queue-name": "train-queue"},
        {"queue": "blue"},
        {"app": "queue"},
        {},
    ],
)
def test_near_miss(labels: dict[str, str]) -> None:
    """The right label, other keys of Kueue, other schedulers' queues, labels that mean something else."""
    assert "queue-name-misplaced" not in fired(cluster(job(labels=labels)).ask("team-a/train"))


def test_near_miss_running() -> None:
    """A job that runs is not held by a misspelt label; it is only said beside."""
    item = job(labels={"kueue.x-k8s.io/queue": "train-queue"}, suspended=False)
    runs = pod("train-0", phase="Running", owner=item, spec={"nodeName": "n1"})
    answer = cluster(item, runs, made("Node", "n1")).ask("team-a/train")
    assert answer.headline.rule != "queue-name-misplaced"
    assert "queue-name-misplaced" in fired(answer)
