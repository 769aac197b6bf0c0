"""Rule borrowing-limit-reached."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import steps
from bot.core.names import named, quoted, subject
from bot.core.quantity import human
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
def borrowing_limit_reached(facts: Facts) -> Found | None:
    """Its ClusterQueue has borrowed as much as it may.

    When:
        The request does not fit now, although it could one day, and it would fit now without the borrowingLimit of the
        ClusterQueue or of a Cohort above it: the cohort has room, the limit is used up.
    Why it blocks:
        A borrowingLimit caps what is used beyond the own quota, however idle the others are.
    What to do:
        Wait until Workloads under the limit finish, or let the owner of the queue raise the borrowingLimit.
    """
    short = facts.quota.shortfall
    main = short.main if short is not None else None
    if short is None or main is None or short.cause != "borrowing-limit-reached":
        return None
    bound, tree, queue = main.available, facts.quota.tree, facts.queue.cluster_queue_name
    node, key = (bound.kind, bound.name), (main.flavor, main.resource)
    limit = tree.limits(node, key).borrowing or 0
    term = f"{bound.kind} {named(bound.kind, bound.name)}"
    used = f"{human(main.resource, tree.usage(node, key))} of {human(main.resource, tree.subtree(node, key))}"
    held = words.holding(facts, short)
    more = f"by {human(main.resource, main.short)}"
    sentence = (
        f"Needs {words.where(short)}{words.lacking(short)} in flavor {quoted(short.flavor)}: {term} uses {used} and may borrow"
        f" no more than {human(main.resource, limit)}, although its cohort has room"
        f"{'; ' + held if held else ''}.{words.elsewhere(short)}"
    )
    ways = (
        Step("nobody", f"Wait: it starts when {words.released(short)} under this limit."),
        *steps(facts),
        Step(
            "queue-admin",
            f"Or raise the borrowingLimit of {main.resource} in flavor {quoted(main.flavor)} of {term} {more}.",
        ),
    )
    subjects = dict.fromkeys(
        (subject(bound.kind, bound.name), subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor))
    )
    return Found(sentence, words.evidence(facts, short), ways, tuple(subjects), certainty=short.certainty)
