"""QuotaReserved is False with the reason OnHold."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import sentence

RULE = "on-hold"


def _hold(scenario: str, owner: str, reason: str, message: str) -> Cluster:
    cluster = recorded(f"v0.19.2/{scenario}")
    name = cluster.named("Workload", owner)
    return cluster.condition("Workload", name, type="QuotaReserved", status="False", reason=reason, message=message)


def test_fires() -> None:
    message = "StatefulSet scaled to zero; workload on hold"
    answer = _hold("quota-in-use", "job-train", "OnHold", message).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "its StatefulSet is scaled to zero replicas" in sentence(answer, RULE)


def test_refused_ray_job() -> None:
    cluster = _hold("rayjob", "rayjob-ray", "OnHold", "Job is on hold")
    cluster = cluster.edit(
        "RayJob", "ray", {"status": {"jobDeploymentStatus": "ValidationFailed", "message": "no head"}}
    )
    answer = cluster.ask("team-a/ray", "RayJob")
    assert answer.headline.rule == RULE
    assert 'KubeRay refused the RayJob: "no head"' in sentence(answer, RULE)


def test_near_miss() -> None:
    released = "Workload no longer on hold; waiting for quota reservation"
    assert RULE not in fired(_hold("quota-in-use", "job-train", "Pending", released).ask("team-a/train"))
