"""Rule cohort-exhausted."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import steps, ways
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=NEEDS)
def cohort_exhausted(facts: Facts) -> Found | None:
    """It must borrow, and its cohort has nothing left to lend.

    When:
        The request is larger than the ClusterQueue's own nominalQuota, so it depends on the cohort; it could fit one day,
        but the queues of the cohort use what it would have to borrow.
    Why it blocks:
        Borrowed quota is only there while its owners and the other borrowers leave it unused.
    What to do:
        Wait until Workloads of the cohort finish; or ask for no more than is free, or let the owners add quota. Who uses how
        much: `status.flavorsReservation` of each ClusterQueue of the cohort.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "cohort-exhausted":
        return None
    flavor, main = quoted(short.flavor), short.main
    wait = words.waiting(facts, short, " in the cohort")
    if main is None:
        return Found(
            f"Needs {words.lacking(short)} in flavor {flavor}, says Kueue: it must borrow, and the cohort was not read"
            f"{words.holding(facts, short)}.",
            words.evidence(facts, short),
            wait,
            words.subjects(facts, short),
            certainty=short.certainty,
        )
    tree, key = facts.trees.tree, (main.flavor, main.resource)
    root = tree.path(facts.quota.offer.queue)[-1]
    used = {name: tree.usage(("ClusterQueue", name), key) for name in facts.quota.lenders(short)}
    users = sorted((name for name in used if used[name] > 0), key=lambda name: (-used[name], name))[:3]
    who = words.listing(f"{named('ClusterQueue', name)} uses {human(main.resource, used[name])}" for name in users)
    sentence = (
        f"Needs {words.where(short)}{words.lacking(short)} in flavor {flavor}: it asks for {words.requested(short)},"
        f" {words.here(facts)} has {human(main.resource, main.nominal)} of its own, and with what Cohort"
        f" {named('Cohort', root[1])} has left it could take {human(main.resource, main.available.amount)} now"
        f"{f'; {who}' if users else ''}{words.holding(facts, short)}.{words.elsewhere(facts, short)}"
    )
    at = f"used[{main.flavor}][{main.resource}]"
    proof = [
        Evidence(subject("ClusterQueue", name), at, canonical(main.resource, used[name]), "computed") for name in users
    ]
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        ways(*wait, *steps(facts)),
        words.subjects(facts, short, root),
        certainty=short.certainty,
    )
