"""Rule not-managed-by-kueue."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/no-queue-label").ask("team-a/train")
    assert "not-managed-by-kueue" in {finding.rule for finding in answer.also}
    assert answer.headline.rule != "not-managed-by-kueue"


def test_near_miss() -> None:
    for name in ("no-queue-label-suspended", "running"):
        assert "not-managed-by-kueue" not in fired(recorded(f"v0.19.2/{name}").ask("team-a/train"))
