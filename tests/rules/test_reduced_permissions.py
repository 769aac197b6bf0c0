"""Rule reduced-permissions."""

from tests.clusters import Cluster, recorded


def gap(reason: str) -> Cluster:
    """A recording with a gap."""
    found = recorded("v0.19.2/quota-in-use")
    return Cluster(({**found.items[0], "gaps": [{"kind": "Node", "reason": reason}]}, *found.items[1:]))


def test_fires() -> None:
    answer = gap("forbidden for this identity").ask("team-a/train")
    [finding] = [finding for finding in answer.context if finding.rule == "reduced-permissions"]
    assert "nodes: forbidden for this identity" in finding.sentence


def test_near_miss() -> None:
    for reason in ("timed out after 8 s", "429"):
        assert "reduced-permissions" not in {finding.rule for finding in gap(reason).ask("team-a/train").context}
