"""Rule topology-does-not-fit."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Outlook, Step
from bot.core.facts import Facts
from bot.core.facts.suggestions import ways
from bot.core.facts.topology import HOSTNAME, Room
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "quota", move="asker", outlook="wait", phases=("waiting",),
    needs=("ClusterQueue", "ResourceFlavor", "Topology", "Node"),
)  # fmt: skip
def topology_does_not_fit(facts: Facts) -> Found | None:
    """No topology domain has the room.

    When:
        Quota is there, the flavors with room have a Topology, and in none of them the pods fit where they ask to be:
        counted over the nodes that carry the flavor's labels and a label for every level, are ready and schedulable, and,
        where the lowest level is the node, tolerate and select; without the pods that run there.
    Why it blocks:
        With topology-aware scheduling Kueue reserves quota only together with a place for every pod. Pods outside Kueue
        take that place too.
    What to do:
        Ask for fewer pods, for a higher level, or for `preferred` instead of `required`; or free nodes, or have the platform
        team uncordon, untaint or label the nodes that are left out. `kubectl get nodes -L LABEL` with the labels of `kubectl
        get topologies.kueue.x-k8s.io -o yaml` shows the domains.
    """
    if facts.quota.verdict != "fits":
        return None
    try:
        rooms, counted = _computed(facts)
    except Unknown:
        told = _told(facts)
        if told is None:
            raise
        return told
    if not rooms:
        if not counted or facts.topology.pods_read:
            return None
        told = _told(facts)
        if told is None:
            reason = "pods: not read in full, so the room on the nodes is not known"
            raise Unknown(reason)
        return told
    room = max(rooms, key=lambda room: (room.enough_empty, room.fits, room.fits_empty, room.flavor))
    return _found(facts, room, _full_flavors(facts, room.flavor))


def _computed(facts: Facts) -> tuple[list[Room], bool]:
    """The first pod set that does not fit in each flavor with quota, () when one flavor takes all; and whether any counts."""
    bad: list[Room] = []
    counted = False
    for group in facts.quota.deciding.groups:
        failing: list[Room] = []
        for flavor in group.flavors:
            if flavor.verdict != "fits" or _mismatched(facts, flavor.flavor):
                continue
            if not facts.topology.levels(flavor.flavor) or facts.topology.delayed(flavor.flavor):
                failing = []
                break
            counted = True
            rooms = [room for room in facts.topology.rooms(flavor.flavor) if room.pod_set in flavor.pod_sets]
            refused = next((room for room in rooms if not room.enough), None)
            if refused is None:
                failing = []
                break
            failing.append(refused)
        bad += failing
    return bad, counted


def _full_flavors(facts: Facts, flavor: str) -> tuple[str, ...]:
    """The flavors beside this one whose quota it waits for: they may have the room once that is free."""
    return tuple(
        other.flavor
        for group in facts.quota.deciding.groups
        if any(entry.flavor == flavor for entry in group.flavors)
        for other in group.flavors
        if other.verdict == "wait" and not _mismatched(facts, other.flavor)
    )


def _mismatched(facts: Facts, flavor: str) -> bool:
    return any(facts.topology.mismatch(wish, flavor) is not None for wish in facts.topology.wishes)


def _found(facts: Facts, room: Room, full: tuple[str, ...]) -> Found:
    never = not room.enough_empty
    outlook: Outlook = "never-as-written" if never and not full else "wait"
    topology, flavor = subject("Topology", room.topology), subject("ResourceFlavor", room.flavor)
    unit = f"{room.unit}{'s' if room.wanted != 1 else ''}"
    causes = ", ".join(f"{count} {quoted(cause, 120)}" for cause, count in room.excluded)
    out = sum(count for _, count in room.excluded)
    left_out = (
        f" Of {room.nodes} node{'s' if room.nodes != 1 else ''}, {out} {'is' if out == 1 else 'are'} left out: {causes}."
        if causes
        else ""
    )
    outside = any(not cause.endswith(("in use", "too small")) for cause, _ in room.excluded)
    if room.problem == "no-domains":
        if room.unlabelled:
            label, count = room.unlabelled[0]
            why = f"{count} of {room.nodes} nodes of flavor {room.flavor} lack the label {label}"
        elif room.nodes:
            why = f"none of the {room.nodes} nodes of flavor {room.flavor} can be used ({causes})"
        else:
            why = f"no node carries the labels of flavor {room.flavor}"
        sentence = f"Topology {room.topology} has no domain at level {room.level}: {why}."
    elif room.mode == "required":
        best = f" ({_domain(room)})" if room.best else ""
        empty = "" if never else f"; emptied it would hold {room.fits_empty}"
        sentence = (
            f"All {room.wanted} {unit} must share one {room.level} of Topology {room.topology}: the best{best} has room"
            f" for {room.fits}{empty}.{left_out}"
        )
    else:
        empty = "" if never else f"; emptied they would hold {room.fits_empty}"
        sentence = (
            f"Needs room for {room.wanted} {unit} in Topology {room.topology}: its {room.domains} domains at level"
            f" {room.level} have room for {room.fits}{empty}.{left_out}"
        )
    evidence = [
        Evidence(topology, f"{room.unit}s that fit at level {room.level}", f"{room.fits} of {room.wanted}", "computed"),
        Evidence(topology, f"{room.unit}s that fit when empty", f"{room.fits_empty} of {room.wanted}", "computed"),
        Evidence(flavor, "nodes", f"{room.nodes}" + (f", left out: {causes}" if causes else ""), "computed"),
    ]
    if facts.history.text:
        own = facts.identity.want()
        me = subject("Workload", own.name, own.namespace)
        evidence.append(Evidence(me, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"))
    if full:
        one = len(full) == 1
        sentence += (
            f" Flavor{'' if one else 's'} {', '.join(map(quoted, full))} {'has' if one else 'have'} no quota left now."
        )
    steps = _steps(room, never=never, outside=outside)
    if full and never:
        steps = (Step("nobody", f"Wait for quota in flavor {' or '.join(map(quoted, full))}."), *steps)
    return Found(
        sentence,
        tuple(evidence),
        steps,
        (topology, flavor),
        move="platform" if room.problem == "no-domains" or (outside and room.fits_empty < room.wanted) else "asker",
        outlook=outlook,
    )


def _domain(room: Room) -> str:
    """The best domain's values from the top down; a node's name marked as one."""
    above = [quoted(value, 80) for value in room.best]
    if room.level == HOSTNAME:
        above[-1] = named("Node", room.best[-1])
    return "/".join(above)


def _steps(room: Room, *, never: bool, outside: bool) -> tuple[Step, ...]:
    steps = []
    if room.unlabelled:
        labels = ", ".join(label for label, _ in room.unlabelled)
        steps.append(Step("platform", f"Label the nodes of flavor {room.flavor} with {labels}."))
    look = Step("platform", "Look at the nodes that are left out: uncordon, untaint or repair them.")
    if not room.unlabelled and outside and (never or room.problem == "no-domains"):
        steps.append(look)
    if room.problem != "no-domains":
        if not never:
            steps.append(Step("nobody", "Wait until pods in one domain finish."))
        count = room.fits or room.fits_empty
        unit = room.unit if count == 1 else f"{room.unit}s"
        fewer = (
            f"at most {count} {unit}{' (so many fit now)' if room.fits else ''}" if count else "fewer or smaller pods"
        )
        more = ", a higher level, or preferred instead of required topology" if room.mode == "required" else ""
        steps.append(Step("asker", f"Ask for {fewer}{more}."))
        if outside and not never and not room.unlabelled:
            steps.append(look)
    return ways(*steps) or (Step("platform", f"Add nodes with the labels of flavor {room.flavor}."),)


def _told(facts: Facts) -> Found | None:
    """What Kueue itself says of the topology, where nodes or pods could not be read; None when it says nothing of it."""
    if not facts.history.is_verdict:
        return None
    said = texts.assignment(facts.history.text)
    reasons = [
        reason
        for part in (said.pod_sets if said is not None else ())
        for reason in part.reasons
        if isinstance(reason, texts.TopologyReason) and (reason.of is not None or reason.what == "no-domains")
    ]
    if not reasons:
        return None
    reason = reasons[0]
    own = facts.identity.want()
    me = subject("Workload", own.name, own.namespace)
    excluded = ", ".join(f"{quoted(cause, 80)}: {count}" for cause, count in reason.excluded)
    left_out = (
        f" Of {reason.nodes} nodes some are left out: {excluded}." if excluded and reason.nodes is not None else ""
    )
    if reason.of is None:
        sentence = f"Kueue finds no topology domain at level {quoted(reason.level, 80)}."
    else:
        fits = reason.fits or 0
        sentence = (
            f"Kueue finds room for {fits} of {reason.of} {quoted(reason.unit or 'pod', 20)}s in Topology"
            f" {quoted(reason.topology, 80)}.{left_out}"
        )
    return Found(
        sentence,
        (Evidence(me, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),),
        (Step("asker", "Ask for fewer pods, a higher level, or preferred instead of required topology; or wait."),),
        (me,),
        "reported",
    )
