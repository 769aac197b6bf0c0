"""Rule pod-group-inconsistent."""

from typing import Any

from tests.clusters import fired
from tests.made import cluster, job, pod, workload


def member(number: int, total: str = "2", queue: str = "train-queue") -> dict[str, Any]:
    """One gated pod of the group grp."""
    labels = {"kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/pod-group-name": "grp"}
    return pod(f"p-{number}", gated=True, labels=labels, annotations={"kueue.x-k8s.io/pod-group-total-count": total})


def test_fires_on_different_queues() -> None:
    answer = cluster(member(0), member(1, queue="other")).ask("team-a/grp")
    assert answer.headline.rule == "pod-group-inconsistent"
    assert "other, train-queue" in answer.headline.sentence


def test_fires_on_different_counts_or_none() -> None:
    for other in ("3", "many", ""):
        answer = cluster(member(0), member(1, total=other)).ask("team-a/grp")
        assert answer.headline.rule == "pod-group-inconsistent"


def test_fires_on_a_name_that_is_taken() -> None:
    answer = cluster(member(0), member(1), workload(job("Job", "other"), "grp")).ask("team-a/p-0")
    assert answer.headline.rule == "pod-group-inconsistent"
    assert "is taken" in answer.headline.sentence


def test_near_miss() -> None:
    assert "pod-group-inconsistent" not in fired(cluster(member(0), member(1)).ask("team-a/grp"))
