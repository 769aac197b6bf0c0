"""Rule admission-gated."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.marks import ADMISSION_GATED_BY
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule

_OF_VARIANTS = "kueue.x-k8s.io/concurrent-admission"
"""Kueue's own gate, which lets one variant of a job preempt at a time: `preemption-pending` tells of it."""


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=("Workload",))
def admission_gated(facts: Facts) -> Found | None:
    """A gate holds the Workload out of its queue.

    When:
        The Workload carries the annotation `kueue.x-k8s.io/admission-gated-by` with a value and Kueue's scheduler has not
        looked at it in spite of that; or Kueue says that it must preempt and its preemption gate is closed.
    Why it blocks:
        Kueue does not queue a gated Workload. Only the controller that set the gate may take it away; the value names it.
    What to do:
        Ask the owner of the gate what it waits for. When nobody owns it any more, remove its name from the annotation. The
        annotation stands on the job and on its Workload: `kubectl get workloads.kueue.x-k8s.io -n NAMESPACE NAME -o yaml`.
    """
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    name = named("Workload", workload.name, workload.namespace)
    by = workload.metadata.annotations.get(ADMISSION_GATED_BY, "").strip()
    if by and not (facts.history.is_verdict and facts.history.reason != "AdmissionGated"):
        evidence = [Evidence(about, f"metadata.annotations[{ADMISSION_GATED_BY}]", quoted(by))]
        if isinstance(facts.history.said, texts.Gated):
            evidence.append(
                Evidence(about, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue")
            )
        return Found(
            f"Workload {name} is gated by {quoted(by)}: Kueue does not queue it until that name is gone from its annotation "
            f"{ADMISSION_GATED_BY}.",
            tuple(evidence),
            (Step("asker", f"Ask the owner of {quoted(by)} what it waits for; it has to take the gate away."),),
            (about,),
        )
    blocked = condition(workload.status.conditions, "BlockedOnPreemptionGates")
    said = facts.history.said
    if (blocked is None or blocked.status != "True") and said == texts.Contention("preemption-gated"):
        blocked = condition(workload.status.conditions, "QuotaReserved")
    elif blocked is not None and blocked.status != "True":
        blocked = None
    if blocked is None:
        return None
    open_gates = {gate.name for gate in workload.status.preemption_gates if gate.position == "Open"}
    gates = sorted({gate.name for gate in workload.spec.preemption_gates} - open_gates)
    if gates == [_OF_VARIANTS]:
        return None
    closed = ", ".join(quoted(gate) for gate in gates)
    return Found(
        f"Workload {name} has to preempt others to start, and its preemption gate{'s' if len(gates) > 1 else ''} "
        f"{closed + ' ' if closed else ''}{'are' if len(gates) > 1 else 'is'} closed.",
        (Evidence(about, f"status.conditions[{blocked.type}]", quoted(blocked.message or blocked.reason), "kueue"),),
        (Step("asker", "Wait for the owner of the gate to open it, or ask why it does not."),),
        (about,),
    )
