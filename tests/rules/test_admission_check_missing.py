"""The ClusterQueue names an AdmissionCheck that does not exist."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "admission-check-missing"


def test_fires() -> None:
    answer = recorded("v0.19.2/admission-check-missing").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "names AdmissionCheck prov, which does not exist" in sentence(answer, RULE)


def test_older_form_of_the_spec() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit("ClusterQueue", "gpu-cq", {"spec": {"admissionChecks": ["budget"]}})
    assert cluster.ask("team-a/train").headline.rule == RULE


def test_unread_checks_leave_the_condition() -> None:
    answer = recorded("v0.19.2/admission-check-missing").unread("admissionchecks").ask("team-a/train")
    assert finding(answer, RULE).certainty == "reported"


def test_near_miss() -> None:
    check = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": "prov"},
        "spec": {"controllerName": "example.com/prov"},
        "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]},
    }
    assert RULE not in fired(recorded("v0.19.2/admission-check-missing").add(check).ask("team-a/train"))
