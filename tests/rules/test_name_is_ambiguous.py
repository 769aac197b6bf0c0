"""Rule name-is-ambiguous."""

from tests.clusters import fired
from tests.made import admitted, cluster, job, pod, workload


def test_fires() -> None:
    """A Job and a JobSet of one name wait, each for a reason of its own."""
    plain, other = job(), job("JobSet", labels={})
    answer = cluster(plain, workload(plain, "w", spec={"queueName": "nowhere"}), other).ask("team-a/train")
    assert answer.headline.rule == "name-is-ambiguous"
    assert answer.job is None
    assert answer.headline.data["candidates"] == [
        {"kind": "Job", "name": "train", "rule": "local-queue-missing", "outlook": "fix", "ask": "team-a/job/train"},
        {
            "kind": "JobSet",
            "name": "train",
            "rule": "suspended-by-owner",
            "outlook": "fix",
            "ask": "team-a/jobset/train",
        },
    ]
    assert fired(answer) == {"name-is-ambiguous"}
    for kind, rule in (("Job", "local-queue-missing"), ("JobSet", "suspended-by-owner")):
        found = cluster(plain, workload(plain, "w", spec={"queueName": "nowhere"}), other)
        assert found.ask("team-a/train", kind).headline.rule == rule


def test_job_and_pod_group() -> None:
    """A pod group counts as well."""
    group = pod("p-0", gated=True, labels={"kueue.x-k8s.io/pod-group-name": "train"})
    answer = cluster(job(labels={}), group).ask("team-a/train")
    assert answer.headline.rule == "name-is-ambiguous"
    assert [entry["kind"] for entry in answer.headline.data["candidates"]] == ["Job", "PodGroup"]


def test_near_miss() -> None:
    """Of two of one name only one waits: that one is answered. So is a job with a child of its name."""
    plain, other = job(), job("JobSet", suspended=False)
    runs = pod("p-0", phase="Running", owner=other, spec={"nodeName": "n1"})
    found = cluster(plain, other, workload(other, "runs", conditions=admitted()), runs)
    answer = found.ask("team-a/train")
    assert "name-is-ambiguous" not in fired(answer)
    assert answer.job is not None
    assert answer.job.kind == "Job"
    top = job("AppWrapper")
    below = job("JobSet", owner=top, labels={})
    assert "name-is-ambiguous" not in fired(cluster(top, below, workload(top)).ask("team-a/train"))
