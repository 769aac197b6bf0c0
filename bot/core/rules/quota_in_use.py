"""Rule quota-in-use."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import steps, ways
from bot.core.names import quoted
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=NEEDS)
def quota_in_use(facts: Facts) -> Found | None:
    """The quota it needs is in use by others of its queue.

    When:
        The request could fit one day but does not now, and the ClusterQueue's own Workloads hold what is missing: it is
        in no cohort, or the request is within the nominalQuota while the queue already uses too much of it. Workloads
        that have reserved quota count, admitted or not.
    Why it blocks:
        Kueue admits a Workload only when all its quota is free at once, in one flavor per resource group.
    What to do:
        Wait: it starts when enough is released. Or ask for what is free now, or let the owner of the queue raise the quota.
        Who holds it: `kubectl get workloads.kueue.x-k8s.io -A`, column Reserved in; how much: `status.flavorsReservation` of
        the ClusterQueue. This is not a fault: nobody has to do anything.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "quota-in-use":
        return None
    here, flavor = words.here(facts), quoted(short.flavor)
    if short.figures:
        cohort = facts.quota.queue is not None and facts.quota.queue.cohort
        borrow = "the cohort has no more to lend" if cohort else "nothing can be borrowed"
        sentence = (
            f"Needs {words.where(short)}{words.lacking(short)} in flavor {flavor}: {words.usage(short)} in {here} and {borrow}"
            f"{words.holding(facts, short)}.{words.elsewhere(facts, short)}"
        )
    else:
        held = words.holding(facts, short) or "; who uses it was not read"
        sentence = f"Needs {words.lacking(short)} in flavor {flavor} of {here}, says Kueue{held}."
    return Found(
        sentence,
        words.evidence(facts, short),
        ways(*words.waiting(facts, short), *steps(facts)),
        words.subjects(facts, short),
        certainty=short.certainty,
    )
