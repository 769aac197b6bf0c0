"""Rule workload-not-created."""

from tests.clusters import fired, recorded
from tests.made import cluster, job, pod, workload


def test_fires() -> None:
    answer = recorded("v0.19.2/kueue-down").ask("team-a/train")
    assert answer.headline.rule == "workload-not-created"
    assert "This may pass by itself" in answer.headline.sentence
    assert "configmaps kueue-manager-config" in answer.headline.sentence
    assert {entry.rule for entry in answer.not_checked} >= {"namespace-not-managed", "integration-not-enabled"}


def test_fires_for_gated_pods_and_older_jobs() -> None:
    gated = pod("train", gated=True, labels={"kueue.x-k8s.io/queue-name": "train-queue"})
    assert "held by Kueue's gate" in cluster(gated).ask("team-a/train").headline.sentence
    old = cluster(job()).ask("team-a/train").headline.sentence
    assert "for 10 minutes" in old
    assert "pass by itself" not in old


def test_near_miss() -> None:
    """There is a Workload; the job is not held; Workloads were not read."""
    item = job()
    assert "workload-not-created" not in fired(cluster(item, workload(item)).ask("team-a/train"))
    assert "workload-not-created" not in fired(cluster(job(suspended=False)).ask("team-a/train"))
    unread = recorded("v0.19.2/kueue-down").unread("workloads").ask("team-a/train")
    assert "workload-not-created" not in fired(unread)
    assert "workload-not-created" in {entry.rule for entry in unread.not_checked}
