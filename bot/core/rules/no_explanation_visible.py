"""Rule no-explanation-visible."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.snapshot import Unknown
from bot.core.workloads import since


@rule("quota", move="platform", outlook="unknown", phases=(), fallback=True)
def no_explanation_visible(facts: Facts) -> Found | None:
    """Nothing that could be read explains it.

    When:
        No other rule fires. What could not be checked is listed; if everything was checked, the known silent paths
        remain: Kueue writes nothing when admitting fails inside the scheduler or when a look-up of its own fails. Words of
        Kueue or of the scheduler that no rule knows are quoted.
    Why it blocks:
        Unknown. An answer that guesses is worse than none.
    What to do:
        Make readable what is listed as not checked and ask again; else look into Kueue's own logs.
    """
    ref = facts.ref
    missing = sorted({entry.reason for entry in facts.unchecked})
    if missing:
        shown = "; ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        sentence = f"Nothing that could be read explains it; not read: {shown}."
        step = Step("platform", "Let the reader see what is listed as not checked, then ask again.")
    else:
        sentence = "Everything was read and nothing explains it: Kueue's own logs are the next place to look."
        step = Step("platform", "Look for this Workload in the logs of Kueue's controller manager.")
    kind, words = ref.kind or "Job", ""
    try:  # these are a courtesy; this rule must always fire
        if facts.progress.phase == "reserved" and not missing:
            sentence = _lags(facts)
        job = facts.identity.job
        kind = job.kind if job is not None else kind
        words = facts.history.text
    except Unknown:
        pass
    evidence = [Evidence(subject(kind, ref.name, ref.namespace), "rules that fired", "0", "computed")]
    if words:
        sentence += f" Kueue itself says {cited(words, 300)}."
        workload = facts.identity.want()
        where = subject("Workload", workload.name, workload.namespace)
        evidence.append(Evidence(where, "status.conditions[QuotaReserved].message", quoted(words), "kueue"))
    spoken = _scheduler(facts)
    if spoken is not None:
        name, text, proof, look = spoken
        sentence = f"No rule explains what the scheduler says of pod {name}: {cited(text, 300)}."
        if missing:
            sentence += f" Not read: {shown}."
        evidence, step = [proof, *evidence], look
    return Found(sentence, tuple(evidence), (step,), certainty="likely")


def _scheduler(facts: Facts) -> tuple[str, str, Evidence, Step] | None:
    """What the scheduler says of the first pod that it cannot place: (pod, text, proof, where to look); None for nothing."""
    try:
        pods = facts.pods.unscheduled if facts.progress.phase in {"admitted", "unmanaged"} else ()
    except Unknown:
        return None
    for pod in pods:
        said, event = condition(pod.status.conditions, "PodScheduled"), facts.pods.last_event(pod, "FailedScheduling")
        text, field = (said.message, "status.conditions[PodScheduled].message") if said is not None else ("", "")
        if not text and event is not None:
            text, field = event.message, "events[FailedScheduling].message"
        if text:
            proof = Evidence(subject("Pod", pod.name, pod.namespace), field, quoted(text))
            step = Step(
                "platform",
                "Look at the pod, its volumes and its nodes with these words in mind.",
                facts.pods.describe(pod),
            )
            return named("Pod", pod.name, pod.namespace), text.partition(" preemption: ")[0].rstrip(". "), proof, step
    return None


def _lags(facts: Facts) -> str:
    """Say what is known of a Workload that holds quota and that nothing holds up any more."""
    workload = facts.identity.want()
    checks = "every admission check is Ready" if workload.status.admission_checks else "no admission check is open"
    age = facts.age(since(workload, "QuotaReserved"))
    young = " This may pass by itself." if age is not None and age < facts.thresholds.young else ""
    held = f" for {lasting(age)}" if age is not None else ""
    where = "Kueue's own logs are the next place to look"
    return f"It has held quota{held} and {checks}, but Kueue has not admitted it: {where}.{young}"
