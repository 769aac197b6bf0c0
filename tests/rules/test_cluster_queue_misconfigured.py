"""The ClusterQueue is not active for a reason of its own."""

from typing import Any

import pytest

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence

RULE = "cluster-queue-misconfigured"
MULTIKUEUE, PROVISIONING = "kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/provisioning-request"


def _second_flavor(cluster: Cluster) -> Cluster:
    groups = cluster.get("ClusterQueue", "gpu-cq")["spec"]["resourceGroups"]
    groups[0]["flavors"].append({**groups[0]["flavors"][0], "name": "t4"})
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "t4"}, "spec": {}}
    return cluster.add(flavor).edit("ClusterQueue", "gpu-cq", {"spec": {"resourceGroups": groups}})


def _cluster(checks: dict[str, str], rules: list[dict[str, Any]], reason: str, message: str) -> Cluster:
    cluster = recorded("v0.19.2/quota-in-use").add(
        *(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "AdmissionCheck",
                "metadata": {"name": name},
                "spec": {"controllerName": controller},
                "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active"}]},
            }
            for name, controller in checks.items()
        )
    )
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"admissionChecksStrategy": {"admissionChecks": rules}}})
    return cluster.condition("ClusterQueue", "gpu-cq", type="Active", status="False", reason=reason, message=message)


def test_fires() -> None:
    answer = recorded("cases/P34").ask("ml-a/mkp")
    assert answer.headline.rule == RULE
    assert "combines MultiKueue and provisioning checks (mk, prov)" in sentence(answer, RULE)


@pytest.mark.parametrize(
    ("checks", "rules", "reason", "part"),
    [
        (
            {"one": MULTIKUEUE, "two": MULTIKUEUE},
            [{"name": "one"}, {"name": "two"}],
            "MultipleMultiKueueAdmissionChecks",
            "more than one MultiKueue check (one, two)",
        ),
        (
            {"one": MULTIKUEUE},
            [{"name": "one", "onFlavors": ["a100"]}],
            "MultiKueueAdmissionCheckAppliedPerFlavor",
            "MultiKueue check (one) is bound to single flavors",
        ),
    ],
)
def test_combinations(checks: dict[str, str], rules: list[dict[str, Any]], reason: str, part: str) -> None:
    cluster = _second_flavor(_cluster(checks, rules, reason, "Can't admit new workloads: something new."))
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == RULE
    assert part in sentence(answer, RULE)
    assert finding(answer, RULE).certainty == "certain"


def test_a_reason_that_nobody_knows_is_quoted() -> None:
    answer = _cluster({}, [], "MoonPhase", "Can't admit new workloads: the moon is full.").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "the moon is full" in sentence(answer, RULE)
    assert finding(answer, RULE).certainty == "reported"


def test_near_miss() -> None:
    # the condition says so, but the provisioning check is gone from the spec
    disproved = _cluster(
        {"mk": MULTIKUEUE}, [{"name": "mk"}], "MultiKueueWithProvisioningRequest", "Cannot use both, found: mk, prov."
    )
    assert RULE not in fired(disproved.ask("team-a/train"))
    # bound to every flavor there is
    every = _cluster(
        {"mk": MULTIKUEUE}, [{"name": "mk", "onFlavors": ["a100"]}], "MultiKueueAdmissionCheckAppliedPerFlavor", "x"
    )
    assert RULE not in fired(every.ask("team-a/train"))
    # reasons that other rules name
    assert RULE not in fired(recorded("v0.19.2/flavor-missing").ask("team-a/train"))
    assert RULE not in fired(recorded("v0.19.2/topology-missing").ask("team-a/train"))
    # a combination that this version allows: it says that it is active
    allowed = _cluster({"mk": MULTIKUEUE, "p": PROVISIONING}, [{"name": "mk"}, {"name": "p"}], "", "").condition(
        "ClusterQueue", "gpu-cq", type="Active", status="True", reason="Ready", message=""
    )
    assert RULE not in fired(allowed.ask("team-a/train"))
