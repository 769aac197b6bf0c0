"""The admission gate annotation, and preemption gates."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import sentence

RULE = "admission-gated"
GATE = "kueue.x-k8s.io/admission-gated-by"


def _waiting(reason: str, message: str, gate: str = "example.com/budget") -> Cluster:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.condition("Workload", name, type="QuotaReserved", status="False", reason=reason, message=message)
    return cluster.edit("Workload", name, {"metadata": {"annotations": {GATE: gate}}})


def test_fires() -> None:
    answer = _waiting("AdmissionGated", "Admission is gated by: example.com/budget").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "is gated by example.com/budget" in sentence(answer, RULE)


def test_preemption_gate() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.condition(
        "Workload",
        name,
        type="BlockedOnPreemptionGates",
        status="True",
        reason="PreemptionGated",
        message="Workload requires preemption, but it's gated",
    ).edit("Workload", name, {"spec": {"preemptionGates": [{"name": "kueue.x-k8s.io/multikueue"}]}})
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "kueue.x-k8s.io/multikueue is closed" in sentence(answer, RULE)


def test_near_miss() -> None:
    looked = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor a100, 1 more needed"
    assert RULE not in fired(_waiting("Pending", looked).ask("team-a/train"))
    assert RULE not in fired(_waiting("AdmissionGated", "Admission is gated by: ", gate="").ask("team-a/train"))
