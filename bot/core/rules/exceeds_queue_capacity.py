"""Rule exceeds-queue-capacity."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import raise_quota, steps, ways
from bot.core.names import quoted
from bot.core.rule import rule


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def exceeds_queue_capacity(facts: Facts) -> Found | None:
    """It asks for more than its ClusterQueue could ever give.

    When:
        In every flavor that the pods can use, some resource is asked for in a larger amount than the ClusterQueue's
        nominalQuota, and the ClusterQueue is in no cohort, so there is nothing to borrow. All pod sets count together.
    Why it blocks:
        Kueue admits a Workload whole. Waiting does not help: even an empty queue is too small for it.
    What to do:
        Make the job smaller or split it. Or let the owner of the ClusterQueue raise its nominalQuota, or put it into a cohort
        from which it can borrow. The quota stands in `spec.resourceGroups` of `kubectl get clusterqueues.kueue.x-k8s.io NAME
        -o yaml`.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "exceeds-queue-capacity":
        return None
    here, main = words.here(facts), short.main
    if main is None:
        sentence = f"Never as written: Kueue says that it asks for more than {here} could ever give{words.told(short)}."
        split: Step | None = Step("asker", "Make the job smaller, or split it into jobs that each fit.")
    else:
        sentence = (
            f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {quoted(short.flavor)}, and"
            f" {here} can never give more than {words.most(short)}: {words.too_many(short)}.{words.elsewhere(facts, short)}"
        )
        split = words.split(facts, short)
    empty = main is not None and main.capacity.amount == 0
    cohort = Step("queue-admin", f"Put {here} into a cohort from which it can borrow what is missing.")
    owners = (raise_quota(facts), cohort) if main is not None else ()
    return Found(
        sentence,
        words.evidence(facts, short),
        ways(*owners, *steps(facts)) if empty else ways(*steps(facts), split, *owners),
        words.subjects(facts, short),
        certainty=short.certainty,
        move="queue-admin" if empty else None,
    )
