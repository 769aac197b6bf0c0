"""Rule operator-not-running."""

from tests.clusters import fired, recorded
from tests.made import BEFORE, admitted, cluster, event, job, made, pod, workload


def test_fires() -> None:
    item = job("JobSet", suspended=False)
    answer = cluster(item, workload(item, conditions=admitted())).ask("team-a/train")
    assert answer.headline.rule == "operator-not-running"
    assert "the JobSet controller has not reacted" in answer.headline.sentence
    assert "10 minutes" in answer.headline.sentence
    assert answer.headline.certainty == "likely"


def test_fires_surely_when_its_deployment_is_down() -> None:
    item = job("RayJob", suspended=False)
    operator = made("Deployment", "kuberay-operator", namespace="ray", spec={"replicas": 1}, status={"replicas": 1})
    answer = cluster(item, workload(item, conditions=admitted()), operator).ask("team-a/train")
    assert answer.headline.rule == "operator-not-running"
    assert answer.headline.certainty == "certain"


def test_near_miss() -> None:
    """It wrote a status, made something, or said something; the job is suspended; pods were not read."""
    item = job("JobSet", suspended=False)
    own = workload(item, conditions=admitted())
    wrote = job(
        "JobSet",
        suspended=False,
        status={"conditions": [{"type": "StartupPolicyCompleted", "lastTransitionTime": BEFORE}]},
    )
    said = event(item, "Resumed", "resumed", reportingComponent="jobset")
    for objects in ((wrote, own), (item, own, pod("p", owner=item)), (item, own, said), (job("JobSet"), own)):
        assert "operator-not-running" not in fired(cluster(*objects).ask("team-a/train"))
    assert "operator-not-running" not in fired(recorded("v0.19.2/running").ask("team-a/train"))
    unread = cluster(item, own, read=["jobset.x-k8s.io/v1alpha2/jobsets", "kueue.x-k8s.io/v1beta2/workloads"]).ask(
        "team-a/train"
    )
    assert "operator-not-running" in {entry.rule for entry in unread.not_checked}
