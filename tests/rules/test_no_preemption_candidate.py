"""Preemption is allowed, and nobody can be preempted."""

from bot.core.names import plain, show
from tests.clusters import Cluster, fired, recorded
from tests.small import holder, local_queue, queue, small, waiting

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


def test_near_miss_somebody_in_another_flavor() -> None:
    """Nobody in the flavor that comes first, but one who borrows in the second."""
    policy = {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}
    parts = waiting(gpu=1)
    parts[1]["spec"]["priority"] = 9
    cluster = small(
        queue("gpu-cq", {"f": {"gpu": 0}, "g": {"gpu": 0}}, "co", preemption=policy),
        queue("mid", {"f": {"gpu": 1}, "g": {"gpu": 0}}, "co"),
        queue("spare", {"g": {"gpu": 1}}, "co"),
        local_queue("train-queue", "gpu-cq"),
        holder("one", "mid", {"gpu": ("f", 1)}),
        holder("two", "mid", {"gpu": ("g", 1)}),
        parts,
    )
    assert "no-preemption-candidate" not in fired(cluster.ask("team-a/train"))


def test_fires_where_the_threshold_protects_them() -> None:
    policy = {
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 3},
    }
    parts = waiting(gpu=1)
    parts[1]["spec"]["priority"] = 9

    def with_priority(priority: int) -> Cluster:
        return small(
            queue("gpu-cq", {"f": {"gpu": 0}}, "co", preemption=policy),
            queue("mid", {"f": {"gpu": 0}}, "co"),
            queue("spare", {"f": {"gpu": 1}}, "co"),
            local_queue("train-queue", "gpu-cq"),
            holder("one", "mid", {"gpu": ("f", 1)}, priority=priority),
            parts,
        )

    (context,) = [f for f in with_priority(5).ask("team-a/train").context if f.rule == "no-preemption-candidate"]
    assert "priority 5 is above the maxPriorityThreshold 3 of borrowWithinCohort" in context.sentence
    assert "no-preemption-candidate" not in fired(with_priority(3).ask("team-a/train"))
    (context,) = [f for f in with_priority(9).ask("team-a/train").context if f.rule == "no-preemption-candidate"]
    assert "which borrowWithinCohort asks for" in context.sentence


def test_near_miss_its_cohort_reclaims_for_it() -> None:
    """Since 0.12 quota that a Cohort owns is taken back for the queues below it; before that it never was."""
    cluster = recorded("cases/P16")
    assert "no-preemption-candidate" in fired(cluster.ask("ml-a/guar"))
    first = {**cluster.items[0], "kueueVersion": "v0.13.0"}
    newer = Cluster((first, *cluster.items[1:]))
    assert "no-preemption-candidate" not in fired(newer.ask("ml-a/guar"))
