"""Rule access-denied."""

from tests.clusters import Cluster, fired, recorded


def refused(found: Cluster, plural: str, kind: str, reason: str = "forbidden for this identity") -> Cluster:
    """The same cluster with one kind refused."""
    unread = found.unread(plural)
    gap = {"kind": kind, "namespace": "team-a", "name": "", "reason": reason}
    return Cluster(({**unread.items[0], "gaps": [gap]}, *unread.items[1:]))


def test_fires() -> None:
    """Workloads may not be read: nothing can be said of how far the job is."""
    answer = refused(recorded("v0.19.2/quota-in-use"), "workloads", "Workload").ask("team-a/train")
    assert answer.headline.rule == "access-denied"
    assert answer.outlook == "unknown"
    assert "workloads in team-a: forbidden" in answer.headline.sentence
    assert not answer.complete


def test_fires_when_the_job_may_not_be_read() -> None:
    answer = refused(recorded("v0.19.2/job-not-found"), "jobs", "Job").ask("team-a/trian")
    assert answer.headline.rule == "access-denied"


def test_near_miss() -> None:
    """A time-out is no refusal, a refusal that the question does not need is none of its, a finished job needs no Workload."""
    slow = refused(recorded("v0.19.2/quota-in-use"), "workloads", "Workload", "timed out after 8 s").ask("team-a/train")
    assert "access-denied" not in fired(slow)
    assert not slow.complete
    other = refused(recorded("v0.19.2/quota-in-use"), "nodes", "Node").ask("team-a/train")
    assert "access-denied" not in fired(other)
    over = refused(recorded("v0.19.2/finished"), "workloads", "Workload").ask("team-a/train")
    assert over.headline.rule == "finished"
