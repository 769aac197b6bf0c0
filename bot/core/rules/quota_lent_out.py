"""Rule quota-lent-out."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.candidates import policies
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import steps, ways
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule("quota", move="queue-admin", outlook="wait", phases=("waiting",), needs=NEEDS)
def quota_lent_out(facts: Facts) -> Found | None:
    """Other queues of the cohort have borrowed its ClusterQueue's own quota.

    When:
        The request and what the ClusterQueue already uses are within its nominalQuota, and still there is no room: queues
        of the cohort use more than their own quota and hold what belongs to this one.
    Why it blocks:
        What is lent comes back when the borrowers finish, or when Kueue preempts them; it does that only as far as
        `preemption.reclaimWithinCohort` of this ClusterQueue allows.
    What to do:
        Let the owner of the ClusterQueue allow reclaiming (`reclaimWithinCohort`) or limit lending (`lendingLimit`);
        otherwise wait for the borrowers.
    """
    short, queue = facts.quota.shortfall, facts.quota.queue
    if short is None or short.main is None or queue is None or short.cause != "quota-lent-out":
        return None
    main, tree, here = short.main, facts.trees.tree, words.here(facts)
    borrowed = {
        name: tree.borrowing(("ClusterQueue", name), (main.flavor, main.resource))
        for name in facts.quota.lenders(short)
    }
    borrowers = sorted((name for name in borrowed if borrowed[name] > 0), key=lambda name: (-borrowed[name], name))[:3]
    rest = human(main.resource, max(0, main.nominal - main.used))
    left = f"only {human(main.resource, main.available.amount)}" if main.available.amount else "none"
    policy = quoted(policies(queue).reclaim)
    who = words.listing(
        f"{named('ClusterQueue', name)} borrows {human(main.resource, borrowed[name])}" for name in borrowers
    )
    sentence = (
        f"Needs {words.where(short)}{words.lacking(short)} in flavor {quoted(short.flavor)}: {here} uses"
        f" {human(main.resource, main.used)} of its own {human(main.resource, main.nominal)}, and {left} of the"
        f" other {rest} is free: others borrow it"
        f"{f' ({who})' if borrowers else ''}{words.holding(facts, short)}; reclaiming is"
        f" {'off' if policy == 'Never' else 'on'} (reclaimWithinCohort: {policy}).{words.elsewhere(facts, short)}"
    )
    at = f"borrowed[{main.flavor}][{main.resource}]"
    proof = (
        Evidence(subject("ClusterQueue", queue.name), "spec.preemption.reclaimWithinCohort", policy),
        *(
            Evidence(subject("ClusterQueue", name), at, canonical(main.resource, borrowed[name]), "computed")
            for name in borrowers
        ),
    )
    change = (
        f"Set preemption.reclaimWithinCohort of {here} to LowerPriority or Any, so that Kueue takes its quota back."
        if policy == "Never"
        else f"Limit what {here} lends (lendingLimit), so that its quota is there when it needs it."
    )
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        ways(Step("queue-admin", change), *words.waiting(facts, short), *steps(facts)),
        words.subjects(facts, short, *(("ClusterQueue", name) for name in borrowers)),
        certainty=short.certainty,
    )
