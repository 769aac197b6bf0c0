"""Rule suspended-by-owner."""

from tests.clusters import fired, recorded
from tests.made import cluster, job


def test_fires() -> None:
    answer = recorded("v0.19.2/no-queue-label-suspended").ask("team-a/train")
    assert answer.headline.rule == "suspended-by-owner"
    assert answer.complete
    assert any(step.command and "train-queue" in step.command for step in answer.headline.next)


def test_fires_for_every_way_to_suspend() -> None:
    for kind in ("JobSet", "PyTorchJob", "RayService"):
        assert cluster(job(kind, labels={})).ask("team-a/train").headline.rule == "suspended-by-owner"
    cron = cluster(job("CronJob", "nightly", labels={})).ask("team-a/nightly")
    assert cron.headline.rule == "suspended-by-owner"
    assert "creates no Jobs" in cron.headline.sentence


def test_near_miss() -> None:
    """With a queue name it is Kueue's; running it is nobody's; below an owner that was not read it is not known."""
    assert "suspended-by-owner" not in fired(recorded("v0.19.2/kueue-down").ask("team-a/train"))
    assert "suspended-by-owner" not in fired(cluster(job(labels={}, suspended=False)).ask("team-a/train"))
    below = job("Job", "low", owner=job("JobSet", "top"), labels={})
    unread = cluster(below, read=["batch/v1/jobs", "kueue.x-k8s.io/v1beta2/workloads"]).ask("team-a/low")
    assert "suspended-by-owner" not in fired(unread)
    assert "suspended-by-owner" in {entry.rule for entry in unread.not_checked}
