"""Rule managed-by-other-controller."""

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, job, pod, workload


def test_fires() -> None:
    """MultiKueue is to run it, and its queue has no such check."""
    item = job(spec={"managedBy": "kueue.x-k8s.io/multikueue"})
    answer = cluster(item, workload(item, conditions=admitted())).ask("team-a/train")
    assert answer.headline.rule == "managed-by-other-controller"
    assert "kueue.x-k8s.io/multikueue" in answer.headline.sentence
    assert "job-still-suspended" not in fired(answer)


def test_fires_for_training_jobs() -> None:
    item = job("PyTorchJob", suspended=False, spec={"runPolicy": {"managedBy": "example.com/other"}}, labels={})
    answer = cluster(item).ask("team-a/train")
    assert answer.headline.rule == "managed-by-other-controller"
    assert "spec.runPolicy.managedBy" in answer.headline.sentence


def test_near_miss() -> None:
    """The kind's own controller; a worker cluster has it; the other controller made pods."""
    own = job(spec={"managedBy": "kubernetes.io/job-controller"})
    assert "managed-by-other-controller" not in fired(
        cluster(own, workload(own, conditions=admitted())).ask("team-a/train")
    )
    assert "managed-by-other-controller" not in fired(recorded("cases/P50").ask("ml-a/mk1"))
    other = job(suspended=False, spec={"managedBy": "example.com/other"}, labels={})
    assert "managed-by-other-controller" not in fired(cluster(other, pod("p", owner=other)).ask("team-a/train"))
