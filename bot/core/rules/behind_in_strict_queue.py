"""Rule behind-in-strict-queue."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import job_of, verdict_text
from bot.core.names import named, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="queue-admin",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Namespace"),
)
def behind_in_strict_queue(facts: Facts) -> Found | None:
    """An earlier Workload holds the strict queue up.

    When:
        The ClusterQueue's `queueingStrategy` is StrictFIFO, this Workload would fit, and an earlier one of the same
        ClusterQueue, from whichever LocalQueue, does not fit.
    Why it blocks:
        A StrictFIFO ClusterQueue tries its first Workload only. While that one does not fit, Kueue looks at nobody
        behind it, and writes nothing about them.
    What to do:
        Wait for the head, or have the queue's owner act: switch the ClusterQueue to BestEffortFIFO, give the head what it
        needs, or take it out of the way. If the head can never fit as written, only that helps.
    """
    if facts.queue.cluster_queue is None:
        return None
    if not facts.order.queue.strict:
        return None
    head = facts.order.strict_head
    if facts.quota.verdict != "fits":
        return None
    if head is None:
        return _unread(facts)
    state = facts.order.state_of(head.workload)
    if state.verdict == "fits" and not verdict_text(head.workload):
        return None
    if state.verdict is None and not verdict_text(head.workload):
        return None
    queue, workload = facts.order.queue, head.workload
    kind, name = job_of(workload)
    line = facts.order.line
    place = f"Workload number {line.position + 1} of {line.total}" if line.position is not None else "It stands behind"
    who = named(kind, name, workload.namespace)
    subjects = (subject("ClusterQueue", queue.name), subject("Workload", workload.name, workload.namespace))
    lead = (
        f"{place} in the StrictFIFO ClusterQueue {named('ClusterQueue', queue.name)} would fit, but"
        if line.position is not None
        else f"It would fit, but in the StrictFIFO ClusterQueue {named('ClusterQueue', queue.name)}"
    )
    steps = [Step("queue-admin", "Switch the ClusterQueue to BestEffortFIFO, or split it by flavor.")]
    if state.never:
        steps.insert(0, Step("queue-admin", f"Have {who} changed or withdrawn: as written it can never start."))
    else:
        steps.append(Step("nobody", f"Or wait: it is looked at once {who} has started."))
    return Found(
        f"{lead} {kind} {who} stands before it and {state.reason}.",
        (
            Evidence(subjects[0], "spec.queueingStrategy", "StrictFIFO"),
            Evidence(subjects[1], "order", f"before it: {head.why}", "computed"),
            Evidence(subjects[1], "quota", state.reason, "computed" if state.computed else "kueue"),
        ),
        tuple(steps),
        subjects,
        "certain" if state.computed else "reported",
        outlook="fix" if state.never else None,
    )


def _unread(facts: Facts) -> Found | None:
    """Where those before it were not read, Kueue's own order still says that they are there."""
    order, unread = facts.order, facts.order.unread_head
    if unread is None or order.line.position is None:
        return None
    queue, head = order.queue, named("Workload", unread[1], unread[0])
    subjects = (subject("ClusterQueue", queue.name), subject("Workload", unread[1], unread[0]))
    return Found(
        f"Workload number {order.line.position + 1} of {order.line.total} in the StrictFIFO ClusterQueue"
        f" {named('ClusterQueue', queue.name)} would fit, but {head} is the first, and while that one does not fit nobody"
        " behind it is looked at; what it waits for was not read.",
        (
            Evidence(subjects[0], "spec.queueingStrategy", "StrictFIFO"),
            Evidence(subjects[1], "visibility positionInClusterQueue", "0", "kueue"),
        ),
        (Step("queue-admin", f"Look at what {head} waits for; BestEffortFIFO would let this one pass."),),
        subjects,
        "likely",
    )
