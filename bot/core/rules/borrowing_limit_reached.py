"""Rule borrowing-limit-reached."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import raise_limit, steps, ways
from bot.core.names import named, quoted
from bot.core.quantity import human
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=NEEDS)
def borrowing_limit_reached(facts: Facts) -> Found | None:
    """Its ClusterQueue has borrowed as much as it may.

    When:
        The request does not fit now, although it could one day, and it would fit now without the borrowingLimit of the
        ClusterQueue or of a Cohort above it: the cohort has room, the limit is used up.
    Why it blocks:
        A borrowingLimit caps what is used beyond the own quota, however idle the others are.
    What to do:
        Wait until Workloads under the limit finish, or let the owner of the queue raise the borrowingLimit. It is not the
        cohort that is full: more members in it would not help.
    """
    short = facts.quota.shortfall
    if short is None or short.main is None or short.cause != "borrowing-limit-reached":
        return None
    main, tree = short.main, facts.trees.tree
    bound = main.available
    node, key = (bound.kind, bound.name), (main.flavor, main.resource)
    own, limit = tree.subtree(node, key), tree.limits(node, key).borrowing or 0
    used, most = (human(main.resource, value) for value in (tree.usage(node, key), own + limit))
    sentence = (
        f"Needs {words.where(short)}{words.lacking(short)} in flavor {quoted(short.flavor)}: {bound.kind}"
        f" {named(bound.kind, bound.name)} uses {used} of the {most} that it may have ({human(main.resource, own)} of its"
        f" own and {human(main.resource, limit)} borrowed), although its cohort has room"
        f"{words.holding(facts, short)}.{words.elsewhere(facts, short)}"
    )
    return Found(
        sentence,
        words.evidence(facts, short),
        ways(*words.waiting(facts, short, " under this limit"), *steps(facts), raise_limit(facts, main, bound)),
        words.subjects(facts, short, node),
        certainty=short.certainty,
    )
