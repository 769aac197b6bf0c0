"""Rule exceeds-cohort-capacity."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import lend_more, raise_quota, steps, ways
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def exceeds_cohort_capacity(facts: Facts) -> Found | None:
    """It asks for more than its whole cohort could ever give.

    When:
        The request is larger than the most that the ClusterQueue could ever take, no borrowing limit is to blame, and the
        ClusterQueue is in a cohort: its own quota and all that the others lend together are too little. What others keep
        to themselves by a lendingLimit does not count.
    Why it blocks:
        Even an idle cohort has no room for it, so waiting does not help.
    What to do:
        Make the job smaller or split it; or let the owners of the queues raise quota, or lend more.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "exceeds-cohort-capacity":
        return None
    here, main = words.here(facts), short.main
    if main is None:
        sentence = f"Never as written: Kueue says it asks for more than {here} and its cohort could ever give{words.told(short)}."
        split = Step("asker", "Make the job smaller, or split it into jobs that each fit.")
        return Found(
            sentence,
            words.evidence(facts, short),
            ways(split, *steps(facts)),
            words.subjects(facts, short),
            certainty=short.certainty,
        )
    tree, key = facts.trees.tree, (main.flavor, main.resource)
    path = tree.path(facts.quota.offer.queue)
    keepers = [(node, tree.local(node.id, key)) for node in tree.nodes if node.id not in path]
    keepers = [(node, kept) for node, kept in keepers if kept > 0]
    kept = words.listing(
        f"{named(node.kind, node.name)} keeps {human(main.resource, kept)}" for node, kept in keepers[:3]
    )
    lending = f" ({kept} by lendingLimit)" if keepers else ""
    sentence = (
        f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {quoted(short.flavor)}, and {here}"
        f" can never have more than {words.most(short)} with all that Cohort {named('Cohort', path[-1][1])} lends"
        f"{lending}: {words.too_many(short)}.{words.elsewhere(facts, short)}"
    )
    field = f"kept by lendingLimit[{main.flavor}][{main.resource}]"
    proof = [
        Evidence(subject(node.kind, node.name), field, canonical(main.resource, kept), "computed")
        for node, kept in keepers[:3]
    ]
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        ways(raise_quota(facts), lend_more(facts, main), *steps(facts), words.split(facts, short)),
        words.subjects(facts, short, path[-1]),
        certainty=short.certainty,
    )
