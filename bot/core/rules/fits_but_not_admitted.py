"""Rule fits-but-not-admitted."""

from bot.core import objects as o
from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.assignment import Figure
from bot.core.facts.quota import NEEDS
from bot.core.moments import clock, lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.quantity import human
from bot.core.rule import rule
from bot.core.scheduling import taint_text, untolerated
from bot.core.snapshot import Unknown


@rule("quota", move="platform", outlook="fix", phases=("waiting",), needs=NEEDS, last=True)
def fits_but_not_admitted(facts: Facts) -> Found | None:
    """It fits now, and Kueue has not admitted it.

    When:
        By the arithmetic every pod set fits into a flavor now, and nothing in the queue's state, its order or its topology
        explains why the Workload still waits. Kueue's last look is older than what has changed, or Kueue errs.
    Why it blocks:
        Kueue looks at a parked Workload again only when something happens that it watches; some changes it misses, and
        some versions come to a wrong verdict.
    What to do:
        Make Kueue look again: any change to the spec of the Workload or of its ClusterQueue does that. If it then still
        waits, look for this Workload in the logs of Kueue's controller manager. Without side effects for a Workload that
        waits: set its `spec.active` to false and back to true.
    """
    quota = facts.quota
    if quota.verdict != "fits" or quota.assignment_now is None:
        return None
    workload = facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    chosen = set(quota.assignment_now.items())
    keys = sorted({(flavor, resource) for (_, resource), flavor in chosen})
    figures = [
        figure
        for group in quota.deciding.groups
        for flavor in group.flavors
        for figure in flavor.figures
        if (figure.flavor, figure.resource) in keys
    ]
    room = words.listing(
        f"flavor {quoted(flavor)} has {_room([figure for figure in figures if figure.flavor == flavor])}"
        for flavor in dict.fromkeys(figure.flavor for figure in figures)
    )
    if not figures:
        room = "it asks for nothing that counts against quota"
    look, age = facts.history.last_look, facts.age(workload.metadata.creation_timestamp)
    looked = f" Kueue looked at it last at {clock(look)}." if look is not None else ""
    if look is None and facts.history.refusal is None and (age or 0) > facts.thresholds.long:
        looked = f" Kueue has said nothing about it for {lasting(age or 0)}{_before(facts)}."
    young = " It is young: this may pass by itself." if age is not None and age < facts.thresholds.young else ""
    proof = [entry for figure in figures for entry in words.figure_evidence(facts, mine, figure)]
    if not figures:
        proof.append(Evidence(mine, "requested", "nothing", "computed"))
    if facts.history.text:
        proof.append(Evidence(mine, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"))
    if facts.trees.estimated and _complains_now(facts):
        raise Unknown(
            f"workloads that hold quota in {words.listing(facts.trees.estimated)}: not read, and its counts may be late"
        )
    flavors = [facts.queue.flavor(flavor) for flavor, _ in keys]
    placed = any(flavor is not None and flavor.spec.topology_name for flavor in flavors)
    steps = (
        Step("platform", "Make Kueue look again: change any field in the spec of the Workload or of its ClusterQueue."),
        Step("platform", "If it still waits then, look for this Workload in the logs of Kueue's controller manager."),
    )
    return Found(
        f"It fits now, and Kueue has not admitted it: {room}.{_outdated(facts)}{looked}{young}",
        tuple(proof),
        steps,
        (mine, *dict.fromkeys(subject("ResourceFlavor", flavor) for flavor, _ in keys)),
        certainty="certain" if not facts.trees.estimated and not placed else "likely",
    )


def _before(facts: Facts) -> str:
    """Who stands before it without fitting: Kueue may be trying those again and again; "" where the line is not known."""
    try:
        before = facts.order.before
    except Unknown:
        return ""
    if not before:
        return ""
    first = named("Workload", before[0].name, before[0].namespace)
    more = f" and {len(before) - 1} more stand" if len(before) > 1 else " stands"
    return f"; {first}{more} before it and {'do' if len(before) > 1 else 'does'} not fit"


def _complains_now(facts: Facts) -> bool:
    """Whether Kueue found too little free a moment ago: then counts that it writes late do not disprove it."""
    said = texts.assignment(facts.history.text)
    if said is None or not any(isinstance(reason, texts.NotFree) for part in said.pod_sets for reason in part.reasons):
        return False
    condition = o.condition(facts.identity.want().status.conditions, "QuotaReserved")
    flipped = condition.last_transition_time if condition is not None else None
    last = max((moment for moment in (facts.history.last_look, flipped) if moment is not None), default=None)
    age = facts.age(last)
    return age is None or age < facts.thresholds.young


def _room(figures: list[Figure]) -> str:
    """What is free for what is asked, devices first."""
    parts: list[str] = []
    for figure in sorted(figures, key=lambda figure: ("/" not in figure.resource, figure.resource)):
        free, asked = words.amount(figure.resource, figure.available.amount), human(figure.resource, figure.requested)
        parts.append(f"{free} for {asked}" if parts else f"{free} free for the {asked} that it asks for")
    return words.listing(parts)


def _outdated(facts: Facts) -> str:
    """Say what Kueue's own text claims that the objects contradict; words that nobody knows are quoted."""
    if facts.history.is_verdict and facts.history.said is None:
        return f" Kueue says {cited(facts.history.text)}."
    said = texts.assignment(facts.history.text)
    reasons = [reason for part in said.pod_sets for reason in part.reasons] if said is not None else []
    claims = []
    for reason in reasons:
        if isinstance(reason, texts.UntoleratedTaint):
            flavor = facts.queue.flavor(reason.flavor)
            taints = [t for t in flavor.spec.node_taints if t.key == reason.key] if flavor is not None else []
            shown = words.listing(quoted(taint_text(taint)) for taint in taints) if taints else quoted(reason.key)
            if flavor is not None and not taints:
                by = "it does not have any more"
            elif flavor is not None and not untolerated(taints, flavor.spec.tolerations):
                by = "the flavor itself tolerates"
            else:
                by = "does not keep it out"
            claims.append(
                f"its text says that the pods do not tolerate {shown} of flavor {quoted(reason.flavor)}, which {by}"
            )
        elif isinstance(reason, texts.NotFree | texts.OverMaximum):
            claims.append(f"it complained of {quoted(reason.resource)} in flavor {quoted(reason.flavor)}")
    return f" Kueue's last words are outdated or wrong: {'; '.join(dict.fromkeys(claims))}." if claims else ""
