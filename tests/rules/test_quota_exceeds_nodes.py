"""The quota promises more than the nodes hold."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P13").ask("ml-a/jd-2")
    (context,) = [finding for finding in answer.context if finding.rule == "quota-exceeds-nodes"]
    assert "may give out 40 CPUs of flavor default, and its 2 nodes hold 16 CPUs" in show(context.sentence, plain)


def test_near_miss() -> None:
    """With nodes as large as the quota it is not said; nor where the nodes were not read."""
    cluster = recorded("cases/P13")
    large = cluster.edit_every("Node", {"status": {"allocatable": {"cpu": "20"}}})
    assert "quota-exceeds-nodes" not in fired(large.ask("ml-a/jd-2"))
    assert "quota-exceeds-nodes" not in fired(cluster.unread("nodes").ask("ml-a/jd-2"))
