"""Rule volume-claim-missing."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/pvc-unbound").drop("PersistentVolumeClaim").ask("team-a/train")
    assert answer.headline.rule == "volume-claim-missing"
    assert "data" in answer.headline.sentence


def test_near_miss_the_claim_is_there_and_pending() -> None:
    assert "volume-claim-missing" not in fired(recorded("v0.19.2/pvc-unbound").ask("team-a/train"))


def test_an_unread_claim_is_not_a_missing_one() -> None:
    answer = recorded("v0.19.2/pvc-unbound").unread("persistentvolumeclaims").ask("team-a/train")
    assert "volume-claim-missing" not in fired(answer)
    assert "volume-claim-missing" in {entry.rule for entry in answer.not_checked}
