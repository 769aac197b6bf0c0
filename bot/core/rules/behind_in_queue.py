"""Rule behind-in-queue."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.aside import SetAside, set_aside
from bot.core.facts.order import LOST_IN_CYCLE, Standing, job_of, verdict_text
from bot.core.facts.shortage import amount
from bot.core.moments import clock
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical, human
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "quota",
    move="nobody",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue"),
)
def behind_in_queue(facts: Facts) -> Found | None:
    """Others stand before it.

    When:
        The Workload would fit, and Workloads stand before it in its ClusterQueue that Kueue has yet to look at, that fit
        as well, or that wait for their own preemptions; or Kueue says that it lost to another Workload of the cohort in
        the same round.
    Why it blocks:
        Kueue tries one Workload of a ClusterQueue at a time: by priority, then by the time at which it was queued. What
        those before it take may not be left for it.
    What to do:
        Wait. A higher priority class puts it further ahead. The whole line: `kubectl get --raw
        /apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/NAME/pendingworkloads` (v1beta1 before 0.15).
    """
    if facts.quota.verdict != "fits" or facts.order.held_for_others:
        return None
    order, own = facts.order, facts.identity.want()
    ahead = order.in_motion
    me = subject("Workload", own.name, own.namespace)
    text = verdict_text(own)
    lost = any(part in text.lower() for part in LOST_IN_CYCLE)
    aside = set_aside(facts) if not ahead else None
    if aside is not None and (lost or not text or aside.stays):
        return _set_aside(aside, me, text)
    if not ahead and not lost:
        if not order.full and order.line.position is None and not text:
            reason = "the Workloads that wait in the same ClusterQueue were not all read"
            raise Unknown(reason)
        return _unread(facts) if not text and not order.queue.strict else None
    if not ahead:
        return _lost(facts, me, text)
    line = order.line
    shown = tuple(map(order.standing, ahead[:5]))
    first = shown[0]
    count = line.position if line.position is not None else len(ahead)
    where = f"{'' if line.position is not None else 'at least '}{count} other Workload{'s stand' if count != 1 else ' stands'}"
    subjects = tuple(subject("Workload", w.name, w.namespace) for w in ahead[:5])
    size = _size(first)
    window = order.release_window
    steps = [Step("nobody", "Wait: it is looked at after those before it.")]
    if window is not None:
        steps.append(
            Step("nobody", f"Enough is released until {clock(window.latest or window.earliest)} {window.basis}.")
        )
    if first.why.startswith("higher priority"):
        steps.append(Step("asker", "Or give it a higher priority class, if it deserves one."))
    kind, name = job_of(first.workload)
    queue, before = (
        named("ClusterQueue", order.queue.name),
        f"{kind} {named(kind, name, first.workload.namespace)}{size}",
    )
    if line.position == 1:
        sentence = f"It would fit, but {before} stands before it in ClusterQueue {queue}: {first.why}."
    else:
        sentence = f"It would fit, but {where} before it in ClusterQueue {queue}, first {before}: {first.why}."
    return Found(
        sentence,
        tuple(Evidence(who, "order", s.why, "computed") for who, s in zip(subjects, shown, strict=True)),
        tuple(steps),
        subjects,
        "certain" if order.full and not order.usage_based else "likely",
    )


def _set_aside(aside: SetAside, me: str, text: str) -> Found:
    kind, name = job_of(aside.head)
    job, queue = named(kind, name, aside.head.namespace), named("ClusterQueue", aside.queue)
    figure = aside.figure
    evidence = [
        Evidence(
            subject("ClusterQueue", aside.queue),
            f"set aside[{figure.flavor}][{figure.resource}]",
            canonical(figure.resource, aside.amount),
            "computed",
        )
    ]
    if text:
        evidence.append(Evidence(me, "status.conditions[QuotaReserved].message", quoted(text), "kueue"))
    left = human(figure.resource, figure.available.amount)
    return Found(
        f"It would fit, but Kueue sets {amount(figure.resource, aside.amount)} in flavor {quoted(figure.flavor)} aside for {kind}"
        f" {job}, the head of ClusterQueue {queue}, which can preempt nobody: that leaves {left} of the"
        f" {human(figure.resource, figure.requested)} that it asks for.",
        tuple(evidence),
        (
            Step("nobody", f"Wait: it starts once {job} is admitted or given up, if enough is left then."),
            Step(
                "queue-admin",
                f"Or set reclaimWithinCohort of ClusterQueue {queue} to Any: then Kueue sets nothing aside.",
            ),
        ),
        (subject("Workload", aside.head.name, aside.head.namespace), subject("ClusterQueue", aside.queue)),
        "likely",
    )


def _unread(facts: Facts) -> Found | None:
    """Where those before it were not read, Kueue's own order still says that they are there."""
    order, unread = facts.order, facts.order.unread_head
    if unread is None or not order.line.position:
        return None
    who = subject("Workload", unread[1], unread[0])
    queue = named("ClusterQueue", order.queue.name)
    return Found(
        f"It would fit, but by Kueue's own order it is number {order.line.position + 1} of {order.line.total} in"
        f" ClusterQueue {queue}, and Kueue has not looked at it; the first is {named('Workload', unread[1], unread[0])}.",
        (Evidence(who, "visibility positionInClusterQueue", "0", "kueue"),),
        (Step("nobody", "Wait: it is looked at after those before it."),),
        (who,),
        "likely",
    )


def _size(standing: Standing) -> str:
    totals = [
        f"{value} {name}"
        for entry in standing.workload.status.resource_requests
        for name, value in sorted(entry.resources.items())
    ]
    return f" ({', '.join(totals[:3])})" if totals else ""


def _lost(facts: Facts, me: str, text: str) -> Found:
    heads = facts.order.rival_heads
    said = Evidence(me, "status.conditions[QuotaReserved].message", quoted(text), "kueue")
    if not heads:
        return Found(
            "It would fit now, but in Kueue's last round another Workload of the cohort went first.",
            (said,),
            (Step("nobody", "Wait: Kueue tries again in the next round."),),
            (me,),
            "reported",
        )
    _, head = heads[0]
    kind, name = job_of(head)
    other = subject("Workload", head.name, head.namespace)
    return Found(
        f"In Kueue's last round another Workload of the cohort went first; {kind} {named(kind, name, head.namespace)} waits"
        " at the head of another ClusterQueue, for which Kueue may set quota aside.",
        (said, Evidence(other, "spec.priority", str(head.spec.priority or 0))),
        (Step("nobody", "Wait: Kueue tries again in the next round."),),
        (me, other),
        "reported",
    )
