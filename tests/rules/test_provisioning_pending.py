"""The autoscaler has been asked and has not finished."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "provisioning-pending"


@pytest.mark.parametrize(("case", "ask"), [("P32", "ml-a/cc-1"), ("P33", "ml-a/one-gpu")])
def test_fires(case: str, ask: str) -> None:
    answer = recorded(f"cases/{case}").ask(ask)
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "Capacity is not found, CA will try to find it later" in said
    assert "(attempt 1)" in said
    assert "The quota stays reserved meanwhile" in said


def test_nobody_has_answered() -> None:
    cluster = recorded("cases/P32")
    name = cluster.named("ProvisioningRequest", "job-cc-1")
    said = sentence(cluster.edit("ProvisioningRequest", name, {"status": None}).ask("ml-a/cc-1"), RULE)
    assert "no autoscaler has answered it yet" in said


def test_without_the_requests_the_check_tells() -> None:
    cluster = recorded("cases/P32").unread("provisioningrequests")
    states = [{"name": "cap", "state": "Pending", "message": "nodes in about 4 minutes"}]
    told = cluster.edit("Workload", cluster.named("Workload", "job-cc-1"), {"status": {"admissionChecks": states}})
    answer = told.ask("ml-a/cc-1")
    assert answer.headline.rule == RULE
    assert finding(answer, RULE).certainty == "reported"
    assert "nodes in about 4 minutes" in sentence(answer, RULE)


def test_near_miss() -> None:
    cluster = recorded("cases/P32")
    name = cluster.named("ProvisioningRequest", "job-cc-1")
    done = [{"type": "Provisioned", "status": "True", "reason": "Provisioned", "message": "done"}]
    answer = cluster.edit("ProvisioningRequest", name, {"status": {"conditions": done}}).ask("ml-a/cc-1")
    assert RULE not in fired(answer)
    assert "although its ProvisioningRequest is provisioned" in sentence(answer, "admission-check-pending")
