"""Preemption is allowed, and nobody can be preempted."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import holder, queue, small, waiting

LOWER = {"withinClusterQueue": "LowerPriority"}


def test_fires() -> None:
    answer = recorded("cases/P69").ask("ml-a/hi")
    (context,) = [finding for finding in answer.context if finding.rule == "no-preemption-candidate"]
    assert "ml-b/lo holds 4, but ClusterQueue b-cq does not borrow" in show(context.sentence, plain)


def test_fires_for_equal_priorities() -> None:
    only = queue("gpu-cq", {"f": {"gpu": 8}}, preemption=LOWER)
    answer = small(only, holder("a", "gpu-cq", {"gpu": ("f", 8)}), waiting(gpu=1)).ask("team-a/train")
    (context,) = [finding for finding in answer.context if finding.rule == "no-preemption-candidate"]
    assert "priority 0 is not lower than 0" in context.sentence


def test_near_miss() -> None:
    """A lower priority can be preempted; without any policy preemption is simply off."""
    only = queue("gpu-cq", {"f": {"gpu": 8}}, preemption=LOWER)
    low = holder("a", "gpu-cq", {"gpu": ("f", 8)}, priority=-1)
    assert "no-preemption-candidate" not in fired(small(only, low, waiting(gpu=1)).ask("team-a/train"))
    off = queue("gpu-cq", {"f": {"gpu": 8}})
    equal = holder("a", "gpu-cq", {"gpu": ("f", 8)})
    assert "no-preemption-candidate" not in fired(small(off, equal, waiting(gpu=1)).ask("team-a/train"))
