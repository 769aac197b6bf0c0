"""Rule exceeds-borrowing-limit."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import raise_limit, steps, ways
from bot.core.names import named, quoted
from bot.core.quantity import human
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def exceeds_borrowing_limit(facts: Facts) -> Found | None:
    """It asks for more than the borrowing limits let its ClusterQueue ever have.

    When:
        The request is larger than the most that the ClusterQueue could ever take, and it could take more without the
        borrowingLimit of the ClusterQueue itself or of a Cohort above it.
    Why it blocks:
        The limit holds even when the whole cohort is idle, so waiting does not help.
    What to do:
        Raise or remove the borrowingLimit that binds, or raise the nominalQuota; or ask for less. Both stand in
        `spec.resourceGroups` of the ClusterQueue, or of the Cohort that the sentence names.
    """
    short = facts.quota.shortfall
    if short is None or short.main is None or short.cause != "exceeds-borrowing-limit":
        return None
    main, tree = short.main, facts.trees.tree
    bound = main.capacity
    node, key = (bound.kind, bound.name), (main.flavor, main.resource)
    term, limit = f"{bound.kind} {named(bound.kind, bound.name)}", tree.limits(node, key).borrowing
    binds = (
        f"{term} may borrow {human(main.resource, limit)} on top of its {human(main.resource, tree.subtree(node, key))}"
        if limit is not None
        else f"the borrowing limits on the way to {term} let no more through"
    )
    sentence = (
        f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {quoted(short.flavor)}, and"
        f" {words.here(facts)} can never have more than {words.most(short)}, because {binds}: {words.too_many(short)}."
        f"{words.elsewhere(facts, short)}"
    )
    return Found(
        sentence,
        words.evidence(facts, short),
        ways(raise_limit(facts, main, bound), *steps(facts), words.split(facts, short)),
        words.subjects(facts, short, node),
        certainty=short.certainty,
    )
