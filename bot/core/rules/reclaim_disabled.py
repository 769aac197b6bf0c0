"""Rule reclaim-disabled."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.candidates import policies
from bot.core.facts.quota import NEEDS
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="wait", phases=("waiting",), needs=NEEDS, context=True)
def reclaim_disabled(facts: Facts) -> Found | None:
    """Kueue does not take lent quota back.

    When:
        The ClusterQueue's own quota is lent out to other queues of the cohort, and its `preemption.reclaimWithinCohort`
        is Never, which is also the default.
    Why it blocks:
        Without reclaiming, the queue gets its own quota back only when the borrowers finish by themselves.
    What to do:
        Set `preemption.reclaimWithinCohort` to LowerPriority or Any, if the quota is meant to be guaranteed.
    """
    short, queue = facts.quota.shortfall, facts.quota.queue
    if short is None or queue is None or short.cause != "quota-lent-out" or policies(queue).reclaim != "Never":
        return None
    name = subject("ClusterQueue", queue.name)
    here = f"ClusterQueue {named('ClusterQueue', queue.name)}"
    return Found(
        f"{here} does not reclaim what it has lent: reclaimWithinCohort is Never.",
        (Evidence(name, "spec.preemption.reclaimWithinCohort", "Never"),),
        (Step("queue-admin", f"Set preemption.reclaimWithinCohort of {here} to LowerPriority or Any."),),
        (name,),
    )
