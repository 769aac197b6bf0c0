"""The autoscaler said no, and no attempt is open."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence

RULE = "provisioning-failed"
WORKLOAD = "job-a100x4-5129a"


def test_fires() -> None:
    answer = recorded("cases/P31").ask("ml-a/a100x4")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert f"ProvisioningRequest ml-a/{WORKLOAD}-dws-prov-1 (attempt 1)" in said
    assert "Max nodepool size reached, affected nodepools: dws-a100-pool" in said
    assert "Kueue gave the quota back" in said
    assert "3 more attempts are allowed" in said


def _second_attempt(cluster: Cluster, conditions: list[dict[str, str]]) -> Cluster:
    again = cluster.get("ProvisioningRequest", f"{WORKLOAD}-dws-prov-1")
    again["metadata"] |= {"name": f"{WORKLOAD}-dws-prov-2", "creationTimestamp": "2025-07-08T12:30:00Z", "uid": "two"}
    return cluster.add(again | {"status": {"conditions": conditions}})


def test_the_newest_attempt_counts() -> None:
    revoked = [{"type": "CapacityRevoked", "status": "True", "reason": "Gone", "message": "spot nodes were taken"}]
    said = sentence(_second_attempt(recorded("cases/P31"), revoked).ask("ml-a/a100x4"), RULE)
    assert "took the nodes back" in said
    assert "(attempt 2)" in said
    assert "2 more attempts are allowed" in said


def test_without_the_requests_the_check_tells() -> None:
    answer = recorded("cases/P31").unread("provisioningrequests").ask("ml-a/a100x4")
    assert answer.headline.rule == RULE
    assert finding(answer, RULE).certainty == "reported"


def test_near_miss() -> None:
    answer = _second_attempt(recorded("cases/P31"), []).ask("ml-a/a100x4")
    assert RULE not in fired(answer)
    assert answer.headline.rule == "provisioning-pending"
    assert RULE not in fired(recorded("cases/P32").ask("ml-a/cc-1"))
