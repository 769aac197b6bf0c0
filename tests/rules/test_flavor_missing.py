"""The ClusterQueue names a ResourceFlavor that does not exist."""

from tests.clusters import fired, recorded
from tests.findings import finding, sentence

RULE = "flavor-missing"


def test_fires() -> None:
    answer = recorded("v0.19.2/flavor-missing").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "names ResourceFlavor a100, which does not exist" in sentence(answer, RULE)
    assert finding(answer, RULE).certainty == "certain"


def test_offers_close_names() -> None:
    answer = recorded("cases/P01").ask("ml-a/resnet-a")
    assert answer.headline.rule == RULE
    assert finding(answer, RULE).data["suggestions"] == ["default-flavor", "spot-flavor"]


def test_an_outdated_active_condition_loses() -> None:
    answer = recorded("v0.19.2/quota-in-use").drop("ResourceFlavor", "a100").ask("team-a/train")
    assert answer.headline.rule == RULE


def test_unread_flavors_leave_the_condition() -> None:
    answer = recorded("v0.19.2/flavor-missing").unread("resourceflavors").ask("team-a/train")
    assert finding(answer, RULE).certainty == "reported"
    unread = recorded("v0.19.2/quota-in-use").unread("resourceflavors").ask("team-a/train")
    assert RULE not in fired(unread)
    assert RULE in {entry.rule for entry in unread.not_checked}


def test_near_miss() -> None:
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "a100", "uid": "u"},
        "spec": {},
    }
    answer = recorded("v0.19.2/flavor-missing").add(flavor).ask("team-a/train")
    assert RULE not in fired(answer)
    assert "cluster-queue-misconfigured" not in fired(answer)
