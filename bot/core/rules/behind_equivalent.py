"""Rule behind-equivalent."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import BYPASSED, job_of, verdict_text
from bot.core.facts.preemption import quota_text
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="wait",
    phases=("waiting",),
    needs=("Workload", "LocalQueue", "ClusterQueue"),
)
def behind_equivalent(facts: Facts) -> Found | None:
    """An equal Workload did not fit, so this one was not looked at.

    When:
        Kueue says "Bypassed scheduling evaluation because an equivalent workload recently failed"; or Kueue has said
        nothing about this Workload, the ClusterQueue is BestEffortFIFO, and a Workload with the same priority, requests
        and placement wishes has a verdict that it does not fit.
    Why it blocks:
        Kueue sets all equal Workloads aside when one of them does not fit, and looks at them again when something in the
        cohort changes.
    What to do:
        What keeps the equal Workload out keeps this one out: ask about that one.
    """
    if facts.queue.cluster_queue is None:
        return None
    own = facts.identity.want()
    text = quota_text(own)
    bypassed = text.lower().startswith(BYPASSED)
    if not bypassed and (verdict_text(own) or facts.order.queue.strict or facts.quota.verdict not in {"fits", None}):
        return None
    equal = facts.order.failed_equal
    age = facts.age(own.metadata.creation_timestamp)
    if not bypassed and (equal is None or age is None or age <= facts.thresholds.young):
        return None
    me = subject("Workload", own.name, own.namespace)
    said = (Evidence(me, "status.conditions[QuotaReserved].message", quoted(text), "kueue"),) if bypassed else ()
    if equal is None:
        return Found(
            "Kueue set it aside without a look because an equal Workload did not fit.",
            said,
            (Step("nobody", "Wait: Kueue looks again when something in the cohort changes."),),
            (me,),
            "reported",
        )
    other = subject("Workload", equal.name, equal.namespace)
    kind, name = job_of(equal)
    verdict = Evidence(other, "status.conditions[QuotaReserved].message", quoted(verdict_text(equal)), "kueue")
    return Found(
        f"Kueue set it aside without a look: the equal {kind} {named(kind, name, equal.namespace)} was looked at and does"
        f' not fit ("{quoted(verdict_text(equal), 160)}").',
        (*said, verdict),
        (Step("nobody", "Wait: what lets the equal Workload in lets this one in."),),
        (me, other),
        "reported" if bypassed else "likely",
    )
