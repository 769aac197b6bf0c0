"""A pod group that lost pods, and a single pod that does not come back."""

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "replacement-pods-needed"


def test_fires() -> None:
    answer = recorded("cases/P39").ask("ml-a/grp-b")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "wants 3 pods" in said
    assert "evicted the group 5 times" in said


def test_single_pod_dies_with_its_workload() -> None:
    cluster = recorded("v0.19.2/plain-pod")
    name = cluster.named("Workload", "pod-train")
    text = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"
    for kind, status in (("Evicted", "True"), ("Requeued", "False")):
        cluster = cluster.condition("Workload", name, type=kind, status=status, reason="Preempted", message=text)
    answer = cluster.ask("team-a/train", "Pod")
    assert answer.headline.rule == RULE
    assert "a single pod does not start again" in sentence(answer, RULE)


def test_near_miss() -> None:
    # an older Kueue sets the condition on a group that never started, and looks at the group all the same
    assert RULE not in fired(recorded("v0.10.6/statefulset").ask("team-a/serve", "StatefulSet"))
    cluster = recorded("cases/P39").condition(
        "Workload",
        "grp-b",
        type="WaitingForReplacementPods",
        status="False",
        reason="PodsReady",
        message="No pods need replacement",
    )
    assert RULE not in fired(cluster.ask("ml-a/grp-b"))
