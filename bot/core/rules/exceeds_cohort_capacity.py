"""Rule exceeds-cohort-capacity."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import raise_quota, steps
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule(
    "quota",
    move="queue-admin",
    outlook="never-as-written",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
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
    queue, flavor = facts.queue.cluster_queue_name, quoted(short.flavor)
    here = f"ClusterQueue {named('ClusterQueue', queue)}"
    subjects = [subject("ClusterQueue", queue), subject("ResourceFlavor", short.flavor)]
    main = short.main
    if main is None:
        sentence = f"Never as written: Kueue says it asks for more than {here} and its cohort could ever give{words.told(short)}."
        return Found(sentence, words.evidence(facts, short), steps(facts), tuple(subjects), certainty=short.certainty)
    tree, key = facts.quota.tree, (main.flavor, main.resource)
    root = tree.path(facts.quota.offer.queue)[-1]
    keepers = [
        (node.name, node.kind, tree.local(node.id, key))
        for node in tree.nodes
        if node.id not in tree.path(facts.quota.offer.queue) and tree.local(node.id, key) > 0
    ]
    lending = ""
    if keepers:
        parts = [f"{named(kind, name)} keeps {human(main.resource, value)}" for name, kind, value in keepers[:3]]
        lending = f" ({words.listing(parts)} by lendingLimit)"
    sentence = (
        f"Never as written: it asks {words.where(short)}for {words.requested(short)} in flavor {flavor}, and {here} can never"
        f" have more than {words.capacities(short)} with all that Cohort {named('Cohort', root[1])} lends{lending};"
        f" {words.too_many(short)}.{words.elsewhere(short)}"
    )
    proof = [
        Evidence(
            subject(kind, name),
            f"kept by lendingLimit[{main.flavor}][{main.resource}]",
            canonical(main.resource, value),
            "computed",
        )
        for name, kind, value in keepers[:3]
    ]
    more = raise_quota(facts)
    subjects.append(subject("Cohort", root[1]))
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        (*steps(facts), *([more] if more is not None else [])),
        tuple(subjects),
        certainty=short.certainty,
    )
