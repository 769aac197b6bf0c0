"""Rule pods-not-created."""

from tests.clusters import Cluster, fired, recorded


def _bare(name: str) -> Cluster:
    """The cluster without the pods and events of the job."""
    return Cluster(tuple(item for item in recorded(name).items if item["kind"] not in {"Pod", "Event"}))


def test_fires() -> None:
    answer = _bare("v0.19.2/running").at("2026-11-30T15:30:00Z").ask("team-a/train")
    assert answer.headline.rule == "pods-not-created"
    assert "0 of 2 pods exist" in answer.headline.sentence
    assert answer.outlook == "fix"


def test_a_moment_after_the_admission_it_may_pass() -> None:
    cluster = _bare("v0.19.2/running")
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "pods-not-created"
    assert answer.outlook == "in-progress"


def test_near_miss_a_suspended_job_makes_no_pods() -> None:
    answer = _bare("v0.19.2/running").edit("Job", "train", {"spec": {"suspend": True}}).ask("team-a/train")
    assert "pods-not-created" not in fired(answer)


def test_near_miss_unread_pods_are_not_missing() -> None:
    answer = recorded("v0.19.2/running").unread("pods").ask("team-a/train")
    assert "pods-not-created" not in fired(answer)
    assert not answer.complete
