"""Rule exceeds-borrowing-limit."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import steps
from bot.core.names import named, quoted, subject
from bot.core.quantity import human
from bot.core.rule import rule


@rule(
    "quota",
    move="queue-admin",
    outlook="never-as-written",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
def exceeds_borrowing_limit(facts: Facts) -> Found | None:
    """It asks for more than the borrowing limits let its ClusterQueue ever have.

    When:
        The request is larger than the most that the ClusterQueue could ever take, and it could take more without the
        borrowingLimit of the ClusterQueue itself or of a Cohort above it.
    Why it blocks:
        The limit holds even when the whole cohort is idle, so waiting does not help.
    What to do:
        Raise or remove the borrowingLimit that binds, or raise the nominalQuota; or ask for less.
    """
    short = facts.quota.shortfall
    main = short.main if short is not None else None
    if short is None or main is None or short.cause != "exceeds-borrowing-limit":
        return None
    bound, tree = main.capacity, facts.quota.tree
    key = (main.flavor, main.resource)
    limit = tree.limits((bound.kind, bound.name), key).borrowing
    lifted = facts.quota.lifted((main,))[0].capacity.amount
    term = f"{bound.kind} {named(bound.kind, bound.name)}"
    if limit is None:
        binds = f"the borrowing limits on the way to {term} let no more through"
    else:
        own = tree.subtree((bound.kind, bound.name), key)
        binds = f"{term} may borrow {human(main.resource, limit)} on top of its {human(main.resource, own)}"
    queue = facts.queue.cluster_queue_name
    sentence = (
        f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {quoted(short.flavor)}, and"
        f" ClusterQueue {named('ClusterQueue', queue)} can never have more than {words.capacities(short)}, because {binds};"
        f" {words.too_many(short)}.{words.elsewhere(short)}"
    )
    at_least = f" by at least {human(main.resource, main.short)}" if lifted >= main.requested else ""
    raise_it = Step(
        "queue-admin",
        f"Raise the borrowingLimit of {main.resource} in flavor {quoted(main.flavor)} of {term}{at_least}.",
    )
    subjects = dict.fromkeys(
        (subject(bound.kind, bound.name), subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor))
    )
    return Found(
        sentence, words.evidence(facts, short), (raise_it, *steps(facts)), tuple(subjects), certainty=short.certainty
    )
