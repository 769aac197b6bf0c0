"""Rule no-flavor-assigned."""

from tests.clusters import fired, recorded


def test_fires_beside_the_headline() -> None:
    answer = recorded("cases/P21").ask("ml-a/noreq")
    assert answer.headline.rule == "node-taint-not-tolerated"
    found = next(entry for entry in answer.context if entry.rule == "no-flavor-assigned")
    assert "has no requests that ClusterQueue team-cq covers" in found.sentence


def test_near_miss_a_flavor_was_assigned() -> None:
    assert "no-flavor-assigned" not in fired(recorded("v0.19.2/node-taint").ask("team-a/train"))
