"""Rule no-preemption-candidate."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.candidates import candidates, elsewhere, policies
from bot.core.facts.order import priority_of
from bot.core.facts.quota import NEEDS
from bot.core.names import named, subject
from bot.core.quantity import human
from bot.core.rule import rule
from bot.core.workloads import job_of


@rule("quota", move="queue-admin", outlook="wait", phases=("waiting",), needs=NEEDS, context=True)
def no_preemption_candidate(facts: Facts) -> Found | None:
    """Preemption is allowed, and yet nobody can be preempted for it.

    When:
        The Workload waits for quota, its ClusterQueue allows some preemption, and none of the Workloads that hold what is
        missing may be preempted, in no flavor that it could use: their priority is not lower, or their queue does not borrow.
    Why it blocks:
        `withinClusterQueue` looks at priorities in the same ClusterQueue. `reclaimWithinCohort` takes only from queues that
        use more than their own quota, whatever the priorities are.
    What to do:
        Nothing is wrong by itself. Raise the job's priority, or let the owner of the queue add quota or allow more.
    """
    short, queue = facts.quota.shortfall, facts.quota.queue
    if short is None or short.main is None or short.verdict != "wait" or queue is None or not policies(queue).any:
        return None
    if facts.order.preemption.victims or facts.order.preemption.announced is not None:
        return None  # somebody is preempted for it, or could be
    found = candidates(facts, short)
    if not found or any(not candidate.refused for candidate in found) or elsewhere(facts, short):
        return None
    parts = []
    for entry in found[:3]:
        kind, namespace, name = job_of(entry.workload)
        amount = human(short.main.resource, entry.amount)
        parts.append(f"{named(kind, name, namespace)} holds {amount}, but {entry.refused}")
    rest = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    mine = facts.identity.want()
    proof = [Evidence(subject("Workload", mine.name, mine.namespace), "spec.priority", str(priority_of(mine)))]
    proof += [
        Evidence(
            subject("Workload", entry.workload.name, entry.workload.namespace),
            "spec.priority",
            str(priority_of(entry.workload)),
        )
        for entry in found[:3]
    ]
    rules = policies(queue)
    policy = (
        f"withinClusterQueue {rules.within}, reclaimWithinCohort {rules.reclaim}, borrowWithinCohort {rules.borrow}"
    )
    proof.append(Evidence(subject("ClusterQueue", queue.name), "spec.preemption", policy))
    others = any(entry.queue != queue.name for entry in found)
    return Found(
        f"Nobody can be preempted for it: {'; '.join(parts)}{rest}.",
        tuple(proof),
        subjects=(subject("ClusterQueue", queue.name),),
        certainty="likely" if others else "certain",
        data={"holders": len(found), "short": words.lacking(short)},
    )
