"""Rule quota-in-use."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import steps
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
def quota_in_use(facts: Facts) -> Found | None:
    """The quota it needs is in use by others of its queue.

    When:
        The request could fit one day but does not now, and the ClusterQueue's own Workloads hold what is missing: it is
        in no cohort, or the request is within the nominalQuota while the queue already uses too much of it. Workloads
        that have reserved quota count, admitted or not.
    Why it blocks:
        Kueue admits a Workload only when all its quota is free at once, in one flavor per resource group.
    What to do:
        Wait: it starts when enough is released. Or ask for what is free now, or let the owner of the queue raise the
        quota.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "quota-in-use":
        return None
    queue, flavor = facts.queue.cluster_queue_name, quoted(short.flavor)
    here = f"ClusterQueue {named('ClusterQueue', queue)}"
    if short.figures:
        cohort = facts.quota.queue is not None and facts.quota.queue.cohort
        borrow = " and the cohort has no more to lend" if cohort else " and nothing can be borrowed"
        held = words.holding(facts, short)
        sentence = (
            f"Needs {words.where(short)}{words.lacking(short)} in flavor {flavor}: {words.usage(short)} in {here}{borrow}"
            f"{'; ' + held if held else ''}.{words.elsewhere(short)}"
        )
    else:
        sentence = f"Needs {words.lacking(short)} in flavor {flavor} of {here}, says Kueue; who uses it was not read."
    wait = Step("nobody", f"Wait: it starts when {words.released(short)}.")
    subjects = (subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor))
    return Found(sentence, words.evidence(facts, short), (wait, *steps(facts)), subjects, certainty=short.certainty)
