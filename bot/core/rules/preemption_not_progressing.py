"""Rule preemption-not-progressing."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import duration
from bot.core.facts.preemption import Stalled, Victim, pod_state
from bot.core.moments import stamp
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule("quota", move="platform", outlook="fix", phases=("waiting",), needs=("Workload", "Pod"))
def preemption_not_progressing(facts: Facts) -> Found | None:
    """The preemption for it does not get on.

    When:
        Kueue chose victims for this Workload, and after more than five minutes (setting `long_seconds`) one of them still
        holds its quota (`Evicted=True` and `QuotaReserved=True`) although its pods are past their grace period or have
        not even been deleted; or the same victims are preempted over and over and come back before it can start; or
        Kueue reports that evicting them failed, or that another Workload keeps taking the same victims.
    Why it blocks:
        Kueue releases the quota of an evicted Workload only when none of its pods is active any more. A pod on a node
        that is unreachable, or with a finalizer that nobody removes, never gets there, and the quota stays taken.
    What to do:
        The platform team looks at the pods that hang: bring the node back or mark it out of service, remove the finalizer, or
        delete the pod by force once it is certain that it no longer runs. Where victims come back, give them the same, short
        grace period, or let Kueue keep their quota for the preemptor (feature gate PrioritizePreemptorWorkloads, from
        0.19.2). `kubectl get pods -n NAMESPACE -o wide` shows where they hang.
    """
    preemption = facts.order.preemption
    stalled = preemption.stalled
    if stalled is None:
        return None
    victims = stalled.victims
    subjects = tuple(subject("Workload", v.workload.name, v.workload.namespace) for v in victims)
    own = facts.identity.want()
    evidence = tuple(
        Evidence(
            subject("Workload", v.workload.name, v.workload.namespace),
            "status.conditions[Evicted]",
            f"True since {stamp(v.since)}" if v.since is not None else "True",
        )
        for v in victims[:5]
    )
    if preemption.announced is not None:
        text = Evidence(
            subject("Workload", own.name, own.namespace), "status.conditions[QuotaReserved].message",
            quoted(preemption.announced.text), "kueue",
        )  # fmt: skip
        evidence = (*evidence, text)
    if stalled.kind == "hanging":
        return _hanging(facts, stalled, subjects, evidence)
    names = ", ".join(_name(v) for v in victims[:3])
    waited = duration(stalled.seconds)
    if stalled.kind == "returning":
        most = max(v.evictions for v in victims)
        counts = Evidence(subjects[0], "status.schedulingStats.evictions[Preempted].count", str(victims[0].evictions))
        return Found(
            f"Preempts {names} again and again, up to {most} times each, and does not get in: they come back before all"
            f" of their quota is free at once; it has waited {waited}.",
            (*evidence, counts),
            (
                Step("platform", "Give the victims one short grace period, so that they go at the same time."),
                Step("platform", "Or let Kueue keep freed quota for the preemptor: feature gate"
                     " PrioritizePreemptorWorkloads (0.19.2 or newer)."),
            ),
            subjects,
            "likely",
        )  # fmt: skip
    if stalled.kind == "failing":
        sentence = f"Kueue tries to preempt other Workloads for it and fails, since {waited} or less."
    else:
        sentence = f"Another Workload takes the victims that it needs each time; it has waited {waited}."
    return Found(
        sentence,
        evidence,
        (Step("platform", "Look into Kueue's log for why the preemption does not succeed."),),
        subjects,
        "reported",
    )


def _name(victim: Victim) -> str:
    return named("Workload", victim.workload.name, victim.workload.namespace)


def _hanging(facts: Facts, stalled: Stalled, subjects: tuple[str, ...], evidence: tuple[Evidence, ...]) -> Found:
    victim = stalled.victims[0]
    pods = facts.order.preemption.hanging(victim.workload)
    age = duration(facts.age(victim.since))
    head = f"The preemption for it does not get on: {_name(victim)} was evicted {age} ago and still holds its quota"
    more = f" (and {len(stalled.victims) - 1} more)" if len(stalled.victims) > 1 else ""
    if not pods:
        read = facts.snapshot.covers("Pod", victim.workload.namespace)
        why = "although no pod of it is left" if read else "and its pods were not read"
        step = Step("platform", f"Look why the job of {_name(victim)} is not stopped: its controller, its finalizers.")
        return Found(f"{head}{more}, {why}.", evidence, (step,), subjects, "certain" if read else "likely")
    pod = pods[0]
    name = named("Pod", pod.pod.name, pod.pod.namespace)
    facts_of_pod = Evidence(
        subject("Pod", pod.pod.name, pod.pod.namespace),
        "metadata.deletionTimestamp",
        stamp(pod.pod.metadata.deletion_timestamp) if pod.pod.metadata.deletion_timestamp else "absent",
    )
    steps = []
    if pod.node_trouble:
        node = named("Node", pod.pod.spec.node_name)
        steps.append(Step("platform", f"Bring node {node} back, or mark it out of service so that its pods can go."))
        steps.append(Step("platform", f"Or delete pod {name} by force, once it is certain that it no longer runs."))
    elif pod.overdue is not None:
        steps.append(Step("platform", f"Find out what keeps pod {name}: its finalizers and its node's kubelet."))
    else:
        steps.append(Step("platform", f"Find out why nobody deletes pod {name}: the controller of its job."))
    return Found(
        f"{head}{more}, because pod {name} {pod_state(pod)}.",
        (*evidence, facts_of_pod),
        tuple(steps),
        (*subjects, subject("Pod", pod.pod.name, pod.pod.namespace)),
    )
