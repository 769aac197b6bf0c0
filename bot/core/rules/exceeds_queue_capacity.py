"""Rule exceeds-queue-capacity."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import raise_quota, steps
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="asker",
    outlook="never-as-written",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
def exceeds_queue_capacity(facts: Facts) -> Found | None:
    """It asks for more than its ClusterQueue could ever give.

    When:
        In every flavor that the pods can use, some resource is asked for in a larger amount than the ClusterQueue's
        nominalQuota, and the ClusterQueue is in no cohort, so there is nothing to borrow. All pod sets count together.
    Why it blocks:
        Kueue admits a Workload whole. Waiting does not help: even an empty queue is too small for it.
    What to do:
        Make the job smaller or split it. Or let the owner of the ClusterQueue raise its nominalQuota, or put it into a
        cohort from which it can borrow.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "exceeds-queue-capacity":
        return None
    queue = facts.queue.cluster_queue_name
    named_queue, flavor = named("ClusterQueue", queue), quoted(short.flavor)
    if short.figures:
        sentence = (
            f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {flavor}, and ClusterQueue"
            f" {named_queue} can never give more than {words.capacities(short)}; {words.too_many(short)}."
            f"{words.elsewhere(short)}"
        )
    else:
        sentence = (
            f"Never as written: Kueue says that it asks for more than ClusterQueue {named_queue} could ever give"
            f"{words.told(short)}."
        )
    ways = [*steps(facts)]
    if not any(step.do.startswith("Or ask for") for step in ways):
        ways.insert(0, Step("asker", "Make the job smaller, or split it into jobs that each fit."))
    elif short.main is not None:
        ways.append(Step("asker", f"Or split the job into parts of at most {words.capacities(short)} each."))
    more = raise_quota(facts)
    ways += [more] if more is not None else []
    ways.append(
        Step(
            "queue-admin", f"Or put ClusterQueue {named_queue} into a cohort from which it can borrow what is missing."
        )
    )
    empty = short.main is not None and short.main.capacity.amount == 0
    return Found(
        sentence,
        words.evidence(facts, short),
        tuple(ways),
        (subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor)),
        certainty=short.certainty,
        move="queue-admin" if empty else None,
    )
