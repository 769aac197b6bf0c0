"""Resource claims that Kueue cannot count."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence, steps

RULE = "device-claims-unsupported"
NAME = "job-dra1-69490"


def _said(message: str, reason: str = "Inadmissible") -> Cluster:
    cluster = recorded("cases/P51")
    return cluster.condition("Workload", NAME, type="QuotaReserved", status="False", reason=reason, message=message)


def test_fires() -> None:
    answer = recorded("cases/P51").ask("ml-a/dra1")
    assert answer.headline.rule == RULE
    assert "DeviceClass gpu.example.com is mapped to no quota" in sentence(answer, RULE)
    assert "deviceClassMappings" in steps(answer, RULE)
    assert finding(answer, RULE).move == "platform"


def test_template_that_is_not_there() -> None:
    text = "failed to get claim spec for ResourceClaimTemplate two in podset main: not found"
    answer = _said(text).ask("ml-a/dra1")
    assert answer.headline.rule == RULE
    assert "cannot read ResourceClaimTemplate ml-a/two" in sentence(answer, RULE)
    assert finding(answer, RULE).move == "asker"


def test_claims_by_name() -> None:
    cluster = _said("KueueDRAIntegration feature does not support use of resource claims")
    sets = cluster.get("Workload", NAME)["spec"]["podSets"]
    sets[0]["template"]["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": "mine"}]
    answer = cluster.edit("Workload", NAME, {"spec": {"podSets": sets}}).ask("ml-a/dra1")
    assert "use ResourceClaims by name (ml-a/mine)" in sentence(answer, RULE)


def test_a_new_reason_is_quoted() -> None:
    answer = _said("nobody has heard of this", "DRAResourcesUnresolved").ask("ml-a/dra1")
    assert "nobody has heard of this" in sentence(answer, RULE)


def test_near_miss() -> None:
    # the template exists by now
    gone = _said("failed to get claim spec for ResourceClaimTemplate one-gpu in podset main: not found")
    assert RULE not in fired(gone.ask("ml-a/dra1"))
    assert RULE not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
