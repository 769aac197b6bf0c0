"""Rule not-evaluated-yet."""

from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import clock, lasting
from bot.core.names import cited, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.texts import Waits


@rule(
    "quota",
    move="nobody",
    outlook="in-progress",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload", "Event"),
    last=True,
)
def not_evaluated_yet(facts: Facts) -> Found | None:
    """Kueue has not looked at it yet.

    When:
        Nothing else holds it, and the Workload is young and has no condition QuotaReserved; or its QuotaReserved=False
        still repeats the eviction, or says that it waits to be looked at, and no look of the scheduler has followed. Or Kueue
        has set DeactivationTarget and not yet deactivated it, or has just evicted it and not yet taken its quota back.
    Why it blocks:
        Kueue looks at one Workload of each queue at a time; the first look usually comes within a second.
    What to do:
        Wait a moment and ask again.
    """
    history, workload = facts.history, facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    wait: tuple[Step, ...] = (Step("nobody", "Wait a moment and ask again: Kueue looks at it next."),)
    refusal = history.refusal
    if facts.progress.phase != "waiting":
        return _leaving(facts, wait)
    target = condition(workload.status.conditions, "DeactivationTarget")
    if target is not None and target.status == "True" and workload.spec.active is not False:
        words = target.message or target.reason
        return Found(
            f"Kueue is about to deactivate it{f': {cited(words, 300)}' if words else ''}.",
            (Evidence(mine, "status.conditions[DeactivationTarget]", quoted(f"True, {target.reason}"), "kueue"),),
            (Step("nobody", "Wait a moment and ask again: then the answer says what to do."),),
            (mine,),
        )
    if refusal is None:
        age = facts.age(workload.metadata.creation_timestamp)
        if (
            age is None
            or age > facts.thresholds.young
            or condition(workload.status.conditions, "QuotaReserved") is not None
        ):
            return None
        proof = Evidence(mine, "status.conditions[QuotaReserved]", "absent")
        return Found(f"Kueue has not looked at it yet; it is {lasting(max(0, age))} old.", (proof,), wait, (mine,))
    evicted = condition(workload.status.conditions, "Evicted")
    repeats = evicted is not None and evicted.status == "True" and evicted.message == refusal.message
    if not repeats and not (
        isinstance(history.said, Waits) and history.said.what in {"evaluation", "gate-cleared", "hold-released"}
    ):
        return None
    since, look = refusal.last_transition_time, history.last_look
    if since is not None and look is not None and look > since:
        return None
    certainty: Certainty = "certain" if facts.snapshot.covers("Event", workload.namespace) else "likely"
    proof = Evidence(mine, "status.conditions[QuotaReserved].message", quoted(refusal.message), "kueue")
    was = "was evicted" if repeats else "became ready to be looked at"
    when = f" at {clock(since)}" if since is not None else ""
    requeued = condition(workload.status.conditions, "Requeued")
    out = requeued is not None and requeued.status == "False"
    kept = f", and Requeued is still False ({quoted(requeued.reason, 60)})" if out and requeued is not None else ""
    age = facts.age(since)
    if age is not None and age > facts.thresholds.long:
        wait = (
            Step("platform", f"Kueue should have looked in these {lasting(age)}: see what its controller manager logs about it."),
            Step("platform", "Or change any field of its ClusterQueue, so that Kueue looks again."),
        )  # fmt: skip
    return Found(
        f"It {was}{when}, and Kueue has not looked at it again yet{kept}.", (proof,), wait, (mine,), certainty=certainty
    )


def _leaving(facts: Facts, wait: tuple[Step, ...]) -> Found | None:
    """It was evicted a moment ago: Kueue stops its job, takes the quota back and queues it again."""
    workload, evicted = facts.identity.want(), facts.history.evicted
    if evicted is None or not evicted.current or workload.spec.active is False:
        return None
    age = facts.age(evicted.at)
    if age is None or age > facts.thresholds.long:
        return None
    mine = subject("Workload", workload.name, workload.namespace)
    return Found(
        f"It was evicted {lasting(age)} ago ({quoted(evicted.reason, 60)}), and Kueue has not taken its quota back and queued it"
        " again yet.",
        (Evidence(mine, "status.conditions[Evicted]", quoted(f"True, {evicted.reason}"), "kueue"),),
        wait,
        (mine,),
    )
