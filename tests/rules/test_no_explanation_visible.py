"""The rule of last resort says what was not read, and never more than it knows."""

from tests.clusters import recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/quota-in-use").unread("workloads", "jobs", "pods").ask("team-a/train")
    assert answer.headline.rule == "no-explanation-visible"
    assert answer.outlook == "unknown"
    assert not answer.complete
    assert "not read" in answer.headline.sentence


def test_near_miss() -> None:
    assert recorded("v0.19.2/quota-in-use").ask("team-a/train").headline.rule != "no-explanation-visible"
