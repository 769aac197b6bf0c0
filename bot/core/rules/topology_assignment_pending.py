"""Rule topology-assignment-pending."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.snapshot import Unknown
from bot.core.texts import NotFree, OverMaximum, assignment

_REASON = "PendingDelayedTopologyRequests"
_FAILED = "SecondPassFailed"


@rule("checks", move="platform", outlook="in-progress", phases=("reserved",), needs=("Event",))
def topology_assignment_pending(facts: Facts) -> Found | None:
    """Kueue has not placed its pods yet.

    When:
        The Workload holds quota, its admission checks are ready, and a pod set's topology is still to be assigned
        (`delayedTopologyRequest: Pending`, or `Admitted=False` with reason PendingDelayedTopologyRequests); or an event
        SecondPassFailed says that the second pass found no place.
    Why it blocks:
        After provisioning, Kueue assigns the topology in a second pass, once the new nodes are there. While no domain
        takes the pods the Workload is not admitted, and no condition says why.
    What to do:
        Wait a moment for new nodes. If the event keeps coming, the platform team compares the new nodes' labels with the
        levels of the Topology and the labels of the flavor.
    """
    own = facts.identity.want()
    if any(check.state != "Ready" for check in own.status.admission_checks):
        return None
    me = subject("Workload", own.name, own.namespace)
    admission = own.status.admission
    parts = admission.pod_set_assignments if admission is not None else ()
    pending = [part.name for part in parts if part.delayed_topology_request == "Pending"]
    admitted = condition(own.status.conditions, "Admitted")
    reserved = condition(own.status.conditions, "QuotaReserved")
    since = reserved.last_transition_time if reserved is not None else None
    failed = [
        event
        for event in facts.history.events_about(own)
        if event.reason == _FAILED and (since is None or event.last_seen is None or event.last_seen >= since)
    ]
    delayed = admitted is not None and admitted.status == "False" and admitted.reason == _REASON
    if not pending and not delayed and not failed:
        return None
    evidence = [
        Evidence(me, f"status.admission.podSetAssignments[{name}].delayedTopologyRequest", "Pending")
        for name in pending
    ]
    if delayed and admitted is not None:
        evidence.append(Evidence(me, "status.conditions[Admitted].reason", admitted.reason, "kueue"))
    which = f"pod set {', '.join(pending)}" if pending else "its pods"
    if failed:
        text = quoted(failed[-1].message, 300)
        evidence.append(Evidence(me, "event SecondPassFailed", text, "kueue"))
        said = assignment(failed[-1].message)
        fails = f"Kueue finds no place in the topology for {which}"
        if said is not None and any(isinstance(reason, NotFree | OverMaximum) for reason in said.reasons):
            fails = f"Kueue's second look at {which} finds too little quota, as if it did not hold any"
        sentence = f'Holds quota, but {fails}: "{text}".'
    else:
        sentence = f"Holds quota; Kueue has yet to choose the topology domain for {which}.{_room(facts)}"
    return Found(
        sentence,
        tuple(evidence),
        (
            Step("nobody", "Wait: Kueue tries again every few seconds."),
            Step("platform", "If it goes on, compare the labels of the new nodes with the flavor and its Topology."),
        ),
        (me,),
        "reported" if failed else "certain",
    )


def _room(facts: Facts) -> str:
    """How much room there is now, where nodes and pods were read; "" otherwise."""
    own = facts.identity.want()
    parts = own.status.admission.pod_set_assignments if own.status.admission is not None else ()
    flavors = sorted({flavor for part in parts for flavor in part.flavors.values()})
    try:
        for flavor in flavors:
            if facts.topology.levels(flavor) and facts.topology.pods_read:
                for room in facts.topology.rooms(flavor):
                    if not room.enough:
                        return f" There is room for {room.fits} of {room.wanted} {room.unit}s at level {room.level}."
    except Unknown:
        return ""
    return ""
