"""Rule parent-decides."""

from tests.clusters import fired, recorded
from tests.made import cluster, job, workload


def test_fires() -> None:
    """Beside the ancestor's own rule."""
    found = recorded("v0.19.2/running")
    pod = next(item["metadata"]["name"] for item in found.items if item["kind"] == "Pod")
    answer = found.ask(f"team-a/{pod}")
    assert answer.headline.rule == "running"
    assert "parent-decides" in {finding.rule for finding in answer.also}
    assert answer.job is not None
    assert answer.job.name == pod


def test_fires_as_the_headline_when_nothing_is_known_above() -> None:
    below = job("Job", "low", owner=job("JobSet", "top"), labels={})
    answer = cluster(below, read=["batch/v1/jobs", "kueue.x-k8s.io/v1beta2/workloads"]).ask("team-a/low")
    assert answer.headline.rule == "parent-decides"
    assert "JobSet" in answer.headline.sentence
    assert "could not be read" in answer.headline.sentence
    assert not answer.complete


def test_near_miss() -> None:
    """It decides for itself: it has no owner, or a Workload of its own (its parent's holds what it waits for)."""
    assert "parent-decides" not in fired(recorded("v0.19.2/running").ask("team-a/train"))
    assert "parent-decides" not in fired(recorded("cases/P78").ask("ml-a/rj-c1"))
    top = job("JobSet", "top")
    own = job("Job", "low", owner=top)
    assert "parent-decides" not in fired(cluster(top, own, workload(top), workload(own)).ask("team-a/low"))
