"""Rule cohort-exhausted."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import steps
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
def cohort_exhausted(facts: Facts) -> Found | None:
    """It must borrow, and its cohort has nothing left to lend.

    When:
        The request is larger than the ClusterQueue's own nominalQuota, so it depends on the cohort; it could fit one day,
        but the queues of the cohort use what it would have to borrow.
    Why it blocks:
        Borrowed quota is only there while its owners and the other borrowers leave it unused.
    What to do:
        Wait until Workloads of the cohort finish; or ask for no more than is free, or let the owners add quota.
    """
    short = facts.quota.shortfall
    if short is None or short.cause != "cohort-exhausted":
        return None
    queue, flavor = facts.queue.cluster_queue_name, quoted(short.flavor)
    here = f"ClusterQueue {named('ClusterQueue', queue)}"
    subjects = [subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor)]
    proof: list[Evidence] = []
    main = short.main
    if main is not None:
        tree, key = facts.quota.tree, (main.flavor, main.resource)
        root = tree.path(facts.quota.offer.queue)[-1]
        users = sorted(
            ((tree.usage(("ClusterQueue", name), key), name) for name in facts.quota.lenders(short)),
            key=lambda user: (-user[0], user[1]),
        )
        users = [user for user in users if user[0] > 0]
        who = words.listing(
            f"{named('ClusterQueue', name)} uses {human(main.resource, value)}" for value, name in users[:3]
        )
        held = words.holding(facts, short)
        sentence = (
            f"Needs {words.where(short)}{words.lacking(short)} in flavor {flavor}: it asks for {words.requested(short)},"
            f" {here} has {human(main.resource, main.nominal)} of its own, and Cohort {named('Cohort', root[1])} leaves"
            f" {human(main.resource, main.available.amount)} free{f'; {who}' if users else ''}{'; ' + held if held else ''}."
            f"{words.elsewhere(short)}"
        )
        proof = [
            Evidence(
                subject("ClusterQueue", name),
                f"used[{main.flavor}][{main.resource}]",
                canonical(main.resource, value),
                "computed",
            )
            for value, name in users[:3]
        ]
        subjects.append(subject("Cohort", root[1]))
    else:
        sentence = (
            f"Needs {words.lacking(short)} in flavor {flavor}, says Kueue: it must borrow, and the cohort was not read."
        )
    wait = Step("nobody", f"Wait: it starts when {words.released(short)} in the cohort.")
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        (wait, *steps(facts)),
        tuple(subjects),
        certainty=short.certainty,
    )
