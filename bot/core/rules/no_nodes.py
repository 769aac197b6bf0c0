"""Rule no-nodes."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def no_nodes(facts: Facts) -> Found | None:
    """The cluster has no nodes.

    When:
        Pods of the job wait for the scheduler, and the cluster has no node at all (or the scheduler says so, where
        nodes may not be read).
    Why it blocks:
        The job has its quota and its pods exist, but there is no machine to run them on. Kueue counts quota, not nodes.
    What to do:
        Add nodes, or see why the autoscaler or the node pool gives none. Nothing about the job needs to change.
    """
    waiting = facts.pods.unscheduled
    if not waiting:
        return None
    try:
        count = len(facts.nodes.all)
        certain = True
    except Unknown:
        verdict = facts.nodes.verdict(waiting[0])
        if verdict is None:
            raise
        count, certain = (0 if verdict.of("no-nodes") else 1), False
    if count:
        return None
    return Found(
        f"The cluster has no nodes, so {facts.pods.naming(waiting, inside=True)} cannot be scheduled.",
        (Evidence("Node", "metadata.name", "none", "cluster"), *facts.pods.said(waiting[0])),
        (Step("platform", "Add nodes or repair the node pool; the pods start by themselves then."),),
        facts.pods.subjects(waiting),
        "certain" if certain else "reported",
    )
