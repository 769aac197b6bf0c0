"""Rule prebuilt-workload-missing."""

from tests.clusters import fired
from tests.made import QUEUE, cluster, job, workload

LABELS = {**QUEUE, "kueue.x-k8s.io/prebuilt-workload-name": "ready-made"}


def test_fires() -> None:
    answer = cluster(job(labels=LABELS), workload(None, "ready-mode")).ask("team-a/train")
    assert answer.headline.rule == "prebuilt-workload-missing"
    assert answer.headline.data["suggestions"] == ["ready-mode"]


def test_fires_when_it_is_another_jobs() -> None:
    answer = cluster(job(labels=LABELS), workload(job("Job", "other"), "ready-made")).ask("team-a/train")
    assert answer.headline.rule == "prebuilt-workload-missing"
    assert "belongs to Job" in answer.headline.sentence


def test_near_miss() -> None:
    """It is there and nobody else's; the job names none."""
    assert "prebuilt-workload-missing" not in fired(
        cluster(job(labels=LABELS), workload(None, "ready-made")).ask("team-a/train")
    )
    assert "prebuilt-workload-missing" not in fired(cluster(job()).ask("team-a/train"))
