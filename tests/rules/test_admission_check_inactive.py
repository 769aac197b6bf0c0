"""An AdmissionCheck of the ClusterQueue is not active."""

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence, steps

RULE = "admission-check-inactive"


def _with_check(**check: object) -> Cluster:
    item = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "budget"},
        "spec": {"controllerName": "example.com/budget"},
        **check,
    }
    cluster = recorded("v0.19.2/quota-in-use").add(item)
    return cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"admissionChecks": ["budget"]}})


def test_fires() -> None:
    answer = recorded("cases/P35").ask("ml-a/acx")
    assert answer.headline.rule == RULE
    assert "its parameters name ProvisioningRequestConfig prov-cfg, which does not exist" in sentence(answer, RULE)
    assert "Create ProvisioningRequestConfig prov-cfg" in steps(answer, RULE)


def test_parameters_that_are_gone_outweigh_an_older_condition() -> None:
    cluster = recorded("cases/P35").condition("AdmissionCheck", "prov", type="Active", status="True", reason="Active")
    cluster = cluster.condition("ClusterQueue", "team-cq", type="Active", status="True", reason="Ready", message="")
    assert cluster.ask("ml-a/acx").headline.rule == RULE


def test_no_controller() -> None:
    answer = _with_check().ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "no controller has taken it (its controller is example.com/budget)" in sentence(answer, RULE)


def test_unread_checks_leave_the_condition() -> None:
    answer = recorded("cases/P35").unread("admissionchecks").ask("ml-a/acx")
    assert finding(answer, RULE).certainty == "reported"
    unread = _with_check().unread("admissionchecks").ask("team-a/train")
    assert RULE not in fired(unread)
    assert RULE in {entry.rule for entry in unread.not_checked}


def test_near_miss() -> None:
    active = {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "ok"}]}
    assert RULE not in fired(_with_check(status=active).ask("team-a/train"))
    assert RULE not in fired(recorded("v0.19.2/check-pending").ask("team-a/train"))
