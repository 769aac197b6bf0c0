"""Active again, but Kueue's own deactivation still keeps it out."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import sentence, steps

RULE = "reactivation-ignored"


def _requeued(reason: str) -> Cluster:
    cluster = recorded("v0.19.2/check-rejected")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.edit("Workload", name, {"spec": {"active": True}})
    return cluster.condition("Workload", name, type="Requeued", status="False", reason=reason, message="x")


def test_fires() -> None:
    answer = _requeued("DeactivatedDueToAdmissionCheck").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "Requeued is False with reason DeactivatedDueToAdmissionCheck" in sentence(answer, RULE)
    assert "delete workloads" in steps(answer, RULE)


def test_near_miss() -> None:
    assert RULE not in fired(_requeued("Deactivated").ask("team-a/train"))
    assert RULE not in fired(_requeued("PodsReadyTimeout").ask("team-a/train"))
    assert RULE not in fired(recorded("v0.19.2/check-rejected").ask("team-a/train"))
