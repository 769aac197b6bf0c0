"""Rule admission-check-inactive."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.queue import InactiveCheck
from bot.core.moments import young
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "queue", move="platform", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue", "AdmissionCheck")
)
def admission_check_inactive(facts: Facts) -> Found | None:
    """An AdmissionCheck of the ClusterQueue is not active.

    When:
        An AdmissionCheck that the ClusterQueue names exists, and its condition Active is False or not there, or the object that
        its parameters name does not exist. Where AdmissionChecks cannot be read, the ClusterQueue's own condition says so.
    Why it blocks:
        An inactive check makes the whole ClusterQueue inactive. No condition at all means that no controller has taken the check.
    What to do:
        Read what the check's condition says: its parameters may be missing or wrong, its clusters unreachable, or the
        controller named in `spec.controllerName` may not run. `kubectl get admissionchecks.kueue.x-k8s.io -o yaml` shows the
        conditions.
    """
    queue = facts.queue.cluster_queue
    if queue is None:
        return None
    try:
        inactive = facts.queue.inactive_checks
    except Unknown as unknown:
        return _reported(facts, queue.name, unknown)
    if not inactive:
        return None
    parts, evidence, steps = [], [], []
    for entry in inactive:
        about = subject("AdmissionCheck", entry.check.name)
        parts.append(f"AdmissionCheck {named('AdmissionCheck', entry.check.name)} is not active: {_why(entry)}")
        if entry.condition is not None:
            words = f"{entry.condition.status}, {entry.condition.reason}: {entry.condition.message}"
            evidence.append(Evidence(about, "status.conditions[Active]", quoted(words)))
        else:
            evidence.append(Evidence(about, "status.conditions[Active]", "absent"))
        evidence.append(Evidence(about, "spec.controllerName", quoted(entry.check.spec.controller_name)))
        if entry.missing:
            kind, _, name = entry.missing.partition("/")
            evidence.append(Evidence(subject(kind, name), "metadata.name", "absent"))
            steps.append(Step("platform", f"Create {kind} {named(kind, name)}, or correct the check's parameters."))
        elif entry.condition is None:
            steps.append(
                Step("platform", f"See whether the controller {quoted(entry.check.spec.controller_name)} runs.")
            )
        else:
            name = entry.check.name
            look = f"kubectl get admissionchecks.kueue.x-k8s.io {name} -o yaml"
            steps.append(Step("platform", f"Mend what AdmissionCheck {named('AdmissionCheck', name)} names.", look))
    return Found(
        f"ClusterQueue {queue.name} is inactive: {'; '.join(parts)}."
        + young(_youngest(facts, inactive), facts.thresholds.young, "The check"),
        tuple(evidence),
        tuple(dict.fromkeys(steps)),
        (subject("ClusterQueue", queue.name), *(subject("AdmissionCheck", entry.check.name) for entry in inactive)),
    )


def _youngest(facts: Facts, inactive: tuple[InactiveCheck, ...]) -> float | None:
    ages = [facts.age(entry.check.metadata.creation_timestamp) for entry in inactive]
    return min((age for age in ages if age is not None), default=None)


def _why(entry: InactiveCheck) -> str:
    if entry.missing:
        kind, _, name = entry.missing.partition("/")
        return f"its parameters name {kind} {named(kind, name)}, which does not exist"
    if entry.condition is None:
        return f"no controller has taken it (its controller is {quoted(entry.check.spec.controller_name)})"
    return f"its controller says {cited(entry.condition.message or entry.condition.reason, 300)}"


def _reported(facts: Facts, queue: str, missing: Unknown) -> Found:
    names = facts.queue.said_names("check-inactive")
    if not names or facts.queue.active is None:
        raise missing
    return Found(
        f"ClusterQueue {queue} is inactive: it says that AdmissionCheck{'s' if len(names) > 1 else ''} "
        f"{', '.join(named('AdmissionCheck', name) for name in names)} {'are' if len(names) > 1 else 'is'} not active.",
        (
            Evidence(
                subject("ClusterQueue", queue),
                "status.conditions[Active].message",
                quoted(facts.queue.active.message),
                "kueue",
            ),
        ),
        (Step("platform", "Read the condition Active of the AdmissionCheck, and see whether its controller runs."),),
        (subject("ClusterQueue", queue), *(subject("AdmissionCheck", name) for name in names)),
        "reported",
    )
