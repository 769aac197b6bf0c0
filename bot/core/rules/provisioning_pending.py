"""Rule provisioning-pending."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.checks import Attempt, Check
from bot.core.moments import lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "checks",
    move="nobody",
    outlook="in-progress",
    phases=("waiting", "reserved"),
    needs=("Workload", "ProvisioningRequest"),
)
def provisioning_pending(facts: Facts) -> Found | None:
    """The autoscaler has been asked for nodes and works on it.

    When:
        A provisioning check holds the Workload, and one of its ProvisioningRequests is open: neither provisioned nor failed.
    Why it blocks:
        Kueue has reserved the quota and starts the job only when the nodes are there. Meanwhile the quota counts as used.
    What to do:
        Wait for the nodes. When the autoscaler keeps saying that it finds no capacity, ask the platform's owners: without
        `noRetry` in the ProvisioningRequestConfig it may look for ever, and the quota stays reserved. `kubectl describe
        provisioningrequests -n NAMESPACE` has the autoscaler's words.
    """
    unknown: Unknown | None = None
    for check in facts.checks.holding:
        if check.kind != "provisioning":
            continue
        try:
            attempts = facts.checks.attempts(check)
        except Unknown as missing:
            if check.said is None and check.state.state == "Pending" and check.state.message:
                return _found(facts, check, None)
            unknown = missing
            continue
        newest = next((attempt for attempt in reversed(attempts) if attempt.outcome == "open"), None)
        if newest is not None:
            return _found(facts, check, newest)
    if unknown is not None:
        raise unknown
    return None


def _found(facts: Facts, check: Check, attempt: Attempt | None) -> Found:
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    name = named("AdmissionCheck", check.name)
    evidence = [
        Evidence(
            about,
            f"status.admissionChecks[{check.name}]",
            quoted(f"{check.state.state}: {check.state.message}".rstrip(": ")),
            "kueue",
        )
    ]
    subjects = [about, subject("AdmissionCheck", check.name)]
    if attempt is None:
        sentence = f"AdmissionCheck {name} waits for the autoscaler: {cited(check.state.message, 300)}."
        return Found(sentence, tuple(evidence), _steps(), tuple(subjects), "reported")
    request = named("ProvisioningRequest", attempt.request.name, workload.namespace)
    mark = subject("ProvisioningRequest", attempt.request.name, workload.namespace)
    subjects.append(mark)
    age = facts.age(attempt.request.metadata.creation_timestamp)
    state = f"has been open for {lasting(age)}" if age is not None else "is open"
    number = f" (attempt {attempt.number})" if attempt.number is not None else ""
    sentence = f"ProvisioningRequest {request} of AdmissionCheck {name} {state}{number}"
    said = attempt.said
    words = check.state.message if said is None else said.message or said.reason
    if said is not None:
        evidence.append(
            Evidence(mark, f"status.conditions[{said.type}]", quoted(f"{said.status}, {said.reason}: {said.message}"))
        )
    else:
        evidence.append(Evidence(mark, "status.conditions", "none"))
    if words:
        sentence += f": the autoscaler says {cited(words, 300)}."
    elif said is None:
        sentence += ": no autoscaler has answered it yet."
    else:
        sentence += ": the autoscaler has accepted it."
    if facts.progress.phase == "reserved":
        sentence += " The quota stays reserved meanwhile."
    return Found(sentence, tuple(evidence), _steps(), tuple(subjects))


def _steps() -> tuple[Step, ...]:
    return (
        Step("nobody", "Wait for the nodes."),
        Step("platform", "When it takes too long: look at what the autoscaler says of the ProvisioningRequest."),
    )
