"""Rule namespace-not-found."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/namespace-not-found").ask("taem-a/train")
    assert answer.headline.rule == "namespace-not-found"
    assert "team-a" in answer.headline.sentence
    assert [name for name in answer.headline.data["suggestions"] if "team-a" in name]
    assert answer.complete


def test_nothing_close() -> None:
    answer = recorded("v0.19.2/namespace-not-found").ask("zzz/train")
    assert answer.headline.rule == "namespace-not-found"
    assert answer.headline.data["suggestions"] == []


def test_near_miss() -> None:
    """Namespaces that were not read prove nothing, and a namespace that holds something is there."""
    unread = recorded("v0.19.2/namespace-not-found").unread("namespaces").ask("taem-a/train")
    assert "namespace-not-found" not in fired(unread)
    assert "namespace-not-found" in {entry.rule for entry in unread.not_checked}
    assert not unread.complete
    there = recorded("v0.19.2/quota-in-use").unread("namespaces").ask("team-a/train")
    assert "namespace-not-found" not in fired(there) | {entry.rule for entry in there.not_checked}
