"""A check that is neither MultiKueue's nor one with a ProvisioningRequest has not answered."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import sentence, steps

RULE = "admission-check-pending"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.13.8", "v0.16.9", "v0.17.0", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/check-pending").ask("team-a/train")
    assert answer.headline.rule == RULE
    said = sentence(answer, RULE)
    assert "AdmissionCheck budget has not answered" in said
    assert "waiting for a budget owner to approve" in said
    assert "example.com/budget" in steps(answer, RULE)


def test_retry_with_the_quota_given_back() -> None:
    cluster = recorded("v0.19.2/quota-in-use").drop("Job", "holder")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.drop("Workload", cluster.named("Workload", "job-holder")).condition(
        "Workload",
        name,
        type="Evicted",
        status="True",
        reason="AdmissionCheck",
        message='Evicted due to AdmissionCheck in Retry state: "budget" (come back later)',
    )
    reset = [{"name": "budget", "state": "Pending", "message": "Reset to Pending after eviction. Previously: Retry"}]
    answer = cluster.edit("Workload", name, {"status": {"admissionChecks": reset}}).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert 'AdmissionCheck budget asked for a new try: "come back later"' in sentence(answer, RULE)


def test_asked_anew_after_a_retry() -> None:
    cluster = recorded("v0.19.2/check-pending")
    name = cluster.named("Workload", "job-train")
    reset = [{"name": "budget", "state": "Pending", "message": "Reset to Pending after eviction. Previously: Retry"}]
    said = sentence(cluster.edit("Workload", name, {"status": {"admissionChecks": reset}}).ask("team-a/train"), RULE)
    assert "since it said Retry and was asked anew" in said


def test_a_provisioning_check_without_a_request() -> None:
    cluster = recorded("cases/P32")
    answer = cluster.drop("ProvisioningRequest", cluster.named("ProvisioningRequest", "job-cc-1")).ask("ml-a/cc-1")
    assert answer.headline.rule == RULE
    assert "has made no ProvisioningRequest" in sentence(answer, RULE)


def test_a_check_that_is_not_even_listed() -> None:
    cluster = recorded("v0.19.2/check-pending")
    name = cluster.named("Workload", "job-train")
    answer = cluster.edit("Workload", name, {"status": {"admissionChecks": []}}).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "have not been asked yet" in sentence(answer, RULE) or "has not been asked yet" in sentence(answer, RULE)


def test_near_miss() -> None:
    # listed as Pending before any quota is reserved: not the cause
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    pending = [{"name": "budget", "state": "Pending", "message": ""}]
    answer = cluster.edit("Workload", name, {"status": {"admissionChecks": pending}}).ask("team-a/train")
    assert RULE not in fired(answer)
    ready = recorded("v0.19.2/check-pending")
    states = [{"name": "budget", "state": "Ready", "message": "approved"}]
    name = ready.named("Workload", "job-train")
    assert RULE not in fired(ready.edit("Workload", name, {"status": {"admissionChecks": states}}).ask("team-a/train"))
