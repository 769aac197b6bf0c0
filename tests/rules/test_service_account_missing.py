"""Rule service-account-missing."""

from tests.clusters import fired, recorded

_ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "trainer", "namespace": "ml-a"}}


def test_fires() -> None:
    answer = recorded("cases/P60").ask("ml-a/sa")
    assert answer.headline.rule == "service-account-missing"
    assert "trainer" in answer.headline.sentence


def test_near_miss_the_account_is_there_now() -> None:
    answer = recorded("cases/P60").read("v1/serviceaccounts").add(_ACCOUNT).ask("ml-a/sa")
    assert "service-account-missing" not in fired(answer)


def test_near_miss_pods_that_exist_have_their_account() -> None:
    assert "service-account-missing" not in fired(recorded("v0.19.2/running").ask("team-a/train"))
