"""Rule job-not-found."""

from tests.clusters import fired, recorded
from tests.made import cluster, event, job, made, pod, workload


def test_fires() -> None:
    answer = recorded("v0.19.2/job-not-found").ask("team-a/trian")
    assert answer.headline.rule == "job-not-found"
    assert answer.headline.data["suggestions"] == ["train"]
    assert answer.job is None
    assert any("sparkapplications" in entry.reason for entry in answer.not_checked)
    assert not answer.complete


def test_complete_when_every_kind_was_read() -> None:
    answer = cluster(job()).ask("team-a/trian")
    assert answer.headline.rule == "job-not-found"
    assert answer.complete


def test_event_about_the_missing_object_is_quoted() -> None:
    answer = recorded("cases/P30").ask("ml-a/raycluster-cpu")
    assert answer.headline.rule == "job-not-found"
    assert "kueue.x-k8s.io/queue-name" in answer.headline.sentence
    assert any("lq-gpu" in step.do for step in answer.headline.next)


def test_other_kind_and_other_namespace_are_offered() -> None:
    found = cluster(job("JobSet"), job("Job", "late", namespace="team-b"))
    assert found.ask("team-a/train", "Job").headline.data["suggestions"][0] == "team-a/jobset/train"
    assert "team-b" in found.ask("team-a/late").headline.data["suggestions"][0]


def test_leftover_workload_is_named() -> None:
    """The owner is proven to be gone: its Workload is what is left."""
    answer = cluster(workload(job(), "left-over")).ask("team-a/train")
    assert answer.headline.rule == "job-not-found"
    assert "left-over" in answer.headline.sentence


def test_near_miss() -> None:
    """A core kind that was not read, a pod group, and a job of an unread kind that a Workload names."""
    unread = recorded("v0.19.2/job-not-found").unread("jobs").ask("team-a/trian")
    assert "job-not-found" not in fired(unread)
    assert "job-not-found" in {entry.rule for entry in unread.not_checked}
    group = pod("p-0", labels={"kueue.x-k8s.io/pod-group-name": "grp"})
    assert "job-not-found" not in fired(cluster(group).ask("team-a/grp"))
    assert "job-not-found" not in fired(cluster(workload(made("Notebook", "nb"))).ask("team-a/nb"))
    assert "job-not-found" not in fired(cluster(event(job(), "FailedCreate", "no"), read=[]).ask("team-a/train"))


def test_what_an_object_of_another_kind_owns_is_offered() -> None:
    """An Argo Workflow is no job of Kueue's; its pods may be, and the held one comes first."""
    flow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "etl", "uid": "flow"}}
    cluster_of = cluster(pod("etl-a", owner=flow), pod("etl-b", owner=flow, gated=True))
    for kind in ("", "Workflow"):
        answer = cluster_of.ask("team-a/etl", kind)
        assert answer.headline.rule == "job-not-found"
        assert answer.headline.data["suggestions"] == ["etl-b", "etl-a"]
        assert "is of no kind that Kueue integrates" in answer.headline.sentence
    assert "is of no kind" not in cluster_of.ask("team-a/elt").headline.sentence
