"""Rule quota-lent-out."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.suggestions import steps
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule


@rule(
    "quota",
    move="queue-admin",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass"),
)
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
    short = facts.quota.shortfall
    main = short.main if short is not None else None
    queue = facts.quota.queue
    if short is None or main is None or queue is None or short.cause != "quota-lent-out":
        return None
    tree, key = facts.quota.tree, (main.flavor, main.resource)
    borrowers = [(name, tree.borrowing(("ClusterQueue", name), key)) for name in facts.quota.lenders(short)]
    borrowers = sorted((b for b in borrowers if b[1] > 0), key=lambda b: (-b[1], b[0]))
    policy = (queue.spec.preemption.reclaim_within_cohort if queue.spec.preemption is not None else "") or "Never"
    who = words.listing(
        f"{named('ClusterQueue', name)} borrows {human(main.resource, value)}" for name, value in borrowers[:3]
    )
    held = words.holding(facts, short)
    own = f"{human(main.resource, main.used)} of its own {human(main.resource, main.nominal)}"
    reclaiming = "off" if policy == "Never" else f"allowed for {quoted(policy)}"
    sentence = (
        f"Needs {words.where(short)}{words.lacking(short)} in flavor {quoted(short.flavor)}: ClusterQueue"
        f" {named('ClusterQueue', queue.name)} uses {own},"
        f" the rest is lent out{f' ({who})' if borrowers else ''}{'; ' + held if held else ''};"
        f" reclaiming is {reclaiming} (reclaimWithinCohort: {quoted(policy)}).{words.elsewhere(short)}"
    )
    proof = [Evidence(subject("ClusterQueue", queue.name), "spec.preemption.reclaimWithinCohort", policy)]
    proof += [
        Evidence(
            subject("ClusterQueue", name),
            f"borrowed[{main.flavor}][{main.resource}]",
            canonical(main.resource, value),
            "computed",
        )
        for name, value in borrowers[:3]
    ]
    here = f"ClusterQueue {named('ClusterQueue', queue.name)}"
    if policy == "Never":
        first = Step(
            "queue-admin",
            f"Set preemption.reclaimWithinCohort of {here} to LowerPriority or Any: then Kueue takes its quota back.",
        )
    else:
        first = Step(
            "queue-admin", f"Limit what {here} lends (lendingLimit), so that its quota is there when it needs it."
        )
    wait = Step("nobody", f"Or wait: it starts when {words.released(short)}.")
    subjects = (
        subject("ClusterQueue", queue.name),
        *(subject("ClusterQueue", name) for name, _ in borrowers[:3]),
        subject("ResourceFlavor", short.flavor),
    )
    return Found(
        sentence,
        (*words.evidence(facts, short), *proof),
        (first, wait, *steps(facts)),
        subjects,
        certainty=short.certainty,
    )
