"""Rule kueue-not-installed."""

from dataclasses import replace

from bot.core import engine, kinds
from bot.core.reference import JobRef
from tests.clusters import fired, recorded
from tests.made import cluster, job

REF = JobRef("team-a", "train")


def test_fires_on_what_the_server_serves() -> None:
    served = frozenset(kind.kind for kind in kinds.KINDS if kind.group != "kueue.x-k8s.io")
    bare = cluster(job(labels={})).drop("LocalQueue").drop("ClusterQueue").snapshot()
    answer = engine.diagnose(replace(bare, served=served), REF)
    assert answer.headline.rule == "kueue-not-installed"


def test_stands_beside_a_job_that_nobody_holds() -> None:
    """Without Kueue a job that is not suspended runs, or waits at the scheduler, as everywhere."""
    served = frozenset(kind.kind for kind in kinds.KINDS if kind.group != "kueue.x-k8s.io")
    ended = {
        "conditions": [{"type": "Complete", "status": "True", "message": "Reached expected number of succeeded pods"}]
    }
    for item, headline in (
        (job(suspended=False), "operator-not-running"),
        (job(suspended=False, status=ended), "finished"),
    ):
        bare = cluster(item).drop("LocalQueue").drop("ClusterQueue").snapshot()
        answer = engine.diagnose(replace(bare, served=served), REF)
        assert answer.headline.rule == headline
        assert "kueue-not-installed" in {finding.rule for finding in answer.also}


def test_fires_without_the_definition() -> None:
    """CustomResourceDefinitions were read in full, and Kueue's is not among them."""
    read = ["apiextensions.k8s.io/v1/customresourcedefinitions", "batch/v1/jobs"]
    bare = cluster(job(labels={}), read=read).drop("LocalQueue").drop("ClusterQueue")
    assert bare.ask("team-a/train").headline.rule == "kueue-not-installed"


def test_near_miss() -> None:
    """Kueue's objects are there, or nobody looked."""
    assert "kueue-not-installed" not in fired(recorded("v0.19.2/no-queue-label-suspended").ask("team-a/train"))
    bare = cluster(job(labels={}), read=["batch/v1/jobs"]).drop("LocalQueue").drop("ClusterQueue").ask("team-a/train")
    assert "kueue-not-installed" not in fired(bare)
    assert "kueue-not-installed" in {entry.rule for entry in bare.not_checked}
