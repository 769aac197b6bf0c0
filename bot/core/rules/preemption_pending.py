"""Rule preemption-pending."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import duration
from bot.core.facts.preemption import Victim
from bot.core.moments import stamp
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="in-progress", phases=("waiting",), needs=("Workload",))
def preemption_pending(facts: Facts) -> Found | None:
    """Others are being evicted for it.

    When:
        Kueue has chosen Workloads to preempt for this one, and they still hold their quota: `Evicted=True` with
        `QuotaReserved=True`, and their text names this Workload, or this Workload's own text ends with "Pending the
        preemption of …". Also when it needs to preempt and a preemption gate keeps it from doing so.
    Why it blocks:
        The quota of a victim is free only when its pods have gone; until then this Workload stays in the queue.
    What to do:
        Nothing: it starts once the victims' pods have stopped, which takes their grace period. If they do not go,
        the answer becomes preemption-not-progressing.
    """
    preemption = facts.order.preemption
    if preemption.stalled is not None:
        return None
    own, said, victims = facts.identity.want(), preemption.announced, preemption.victims
    me = subject("Workload", own.name, own.namespace)
    text = (
        (Evidence(me, "status.conditions[QuotaReserved].message", quoted(said.text), "kueue"),)
        if said is not None else ()
    )  # fmt: skip
    if not victims:
        gate = condition(own.status.conditions, "BlockedOnPreemptionGates")
        if gate is not None and gate.status == "True":
            return _gated(facts, me, gate.message)
        if facts.history.said == texts.Contention("preemption-gated"):
            return _gated(facts, me, facts.history.text)
        if said is None or (said.kind != "overlap" and preemption.read_in_full):
            return None
        if said.kind == "overlap":
            sentence = "Another Workload preempts the same victims that it needs; it is looked at again after that."
        else:
            sentence = f"Kueue says that it preempts {said.count} Workload{'s' if said.count != 1 else ''} for it."
        step = Step("nobody", "Wait: Kueue looks again when the preempted Workloads have stopped.")
        return Found(sentence, text, (step,), certainty="reported")
    subjects = tuple(subject("Workload", v.workload.name, v.workload.namespace) for v in victims)
    evidence = tuple(
        Evidence(who, "status.conditions[Evicted]", _evicted(v)) for who, v in zip(subjects, victims, strict=True)
    )[:5]
    since = facts.age(min((v.since for v in victims if v.since is not None), default=None))
    names = ", ".join(named("Workload", v.workload.name, v.workload.namespace) for v in victims[:3])
    more = f" and {len(victims) - 3} more" if len(victims) > 3 else ""
    rule_text = next((v.rule for v in victims if v.rule), "")
    why = f" ({quoted(rule_text, 80)})" if rule_text else ""
    pods = [pod for v in victims for pod in preemption.pods_of(v.workload)]
    holds = "holds" if len(victims) == 1 else "hold"
    left = f"; {len(pods)} pod{'s have' if len(pods) != 1 else ' has'} not gone yet" if pods else ""
    certain = any(v.named for v in victims)
    return Found(
        f"Kueue has been preempting {names}{more} for it{why} for {duration(since)}, and "
        f"{'it' if holds == 'holds' else 'they'} still {holds} the quota{left}.",
        (*evidence, *text),
        (Step("nobody", "Wait: it starts when the pods of the preempted Workloads have stopped."),),
        subjects,
        "certain" if certain else "reported",
    )


def _evicted(victim: Victim) -> str:
    return f"True since {stamp(victim.since)}" if victim.since is not None else "True"


def _gated(facts: Facts, me: str, message: str) -> Found:
    own = facts.identity.want()
    positions = {gate.name: gate.position or "Closed" for gate in own.status.preemption_gates}
    closed = [gate.name for gate in own.spec.preemption_gates if positions.get(gate.name, "Closed") != "Open"]
    which = f" {quoted(', '.join(sorted(closed)), 120)}" if closed else ""
    return Found(
        f"It has to preempt others to start, and its preemption gate{which} is closed.",
        (Evidence(me, "status.conditions[BlockedOnPreemptionGates]", quoted(message or "True"), "kueue"),),
        (Step("platform", "The controller that owns the gate opens it; look there if that takes long."),),
        (me,),
        move="platform",
    )
