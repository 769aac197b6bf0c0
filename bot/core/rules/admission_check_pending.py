"""Rule admission-check-pending."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.checks import Check
from bot.core.moments import clock, lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "checks",
    move="platform",
    outlook="in-progress",
    phases=("waiting", "reserved"),
    needs=("Workload", "AdmissionCheck"),
)
def admission_check_pending(facts: Facts) -> Found | None:
    """An admission check has not answered yet.

    When:
        The Workload has quota, and a check that is neither MultiKueue's nor one with a ProvisioningRequest is not
        Ready; or such a check said Retry and Kueue gave the quota back for it.
    Why it blocks:
        Kueue starts a Workload only when every admission check is Ready. Its quota is reserved meanwhile.
    What to do:
        Ask whoever runs the check. The controller's name stands in the AdmissionCheck's `spec.controllerName`; the
        check's own message says what it waits for, if it says anything.
    """
    workload = facts.identity.want()
    open_checks = [check for check in facts.checks.holding if _is_ours(facts, check)]
    about = subject("Workload", workload.name, workload.namespace)
    if not open_checks:
        return _unlisted(facts, about)
    parts, evidence, steps = [], [], []
    for check in open_checks:
        parts.append(_sentence(facts, check))
        evidence.append(
            Evidence(
                about,
                f"status.admissionChecks[{check.name}]",
                quoted(f"{check.state.state}: {check.state.message}".rstrip(": ")),
                "kueue",
            )
        )
        if check.object is not None:
            active = condition(check.object.status.conditions, "Active")
            mark = subject("AdmissionCheck", check.name)
            evidence.append(Evidence(mark, "spec.controllerName", quoted(check.controller) or "none"))
            if active is None or active.status != "True":
                evidence.append(Evidence(mark, "status.conditions[Active]", active.status if active else "absent"))
        who = f" ({quoted(check.controller)})" if check.controller else ""
        steps.append(
            Step(
                "platform",
                f"Ask whoever runs AdmissionCheck {named('AdmissionCheck', check.name)}{who} for its answer.",
            )
        )
    return Found(
        " ".join(parts),
        tuple(evidence),
        tuple(steps),
        (about, *(subject("AdmissionCheck", check.name) for check in open_checks)),
    )


def _is_ours(facts: Facts, check: Check) -> bool:
    """Any check but MultiKueue's and a provisioning check with a request that has not been provisioned."""
    if check.kind == "multikueue":
        return False
    if check.kind == "other":
        return True
    try:
        attempts = facts.checks.attempts(check)
    except Unknown:
        return not check.state.message
    if not attempts:
        return check.said is None or check.said.what not in {"retry-after-failure", "retry-after-expiry"}
    return attempts[-1].outcome == "provisioned"


def _sentence(facts: Facts, check: Check) -> str:
    name = named("AdmissionCheck", check.name)
    words = facts.checks.words(check)
    age = facts.age(check.state.last_transition_time)
    since = f" for {lasting(age)}" if age is not None else ""
    if facts.progress.phase == "waiting" or check.state.state == "Retry":
        again = facts.checks.next_try(check)
        said = f": {cited(words, 300)}" if words else ""
        when = f"; the next try is at {clock(again)}" if again is not None else ""
        back = "went" if facts.progress.phase == "waiting" else "goes"
        return f"AdmissionCheck {name} asked for a new try{said}, and the quota {back} back{when}."
    sentence = f"AdmissionCheck {name} has not answered{since}"
    if check.said is not None and check.said.what == "reset" and check.said.previous:
        sentence += f" since it said {quoted(check.said.previous, 40)} and was asked anew"
    if words:
        sentence += f": it says {cited(words, 300)}"
    elif check.kind == "provisioning":
        sentence += (
            " and has made no ProvisioningRequest that could be seen"
            if not _provisioned(facts, check)
            else (", although its ProvisioningRequest is provisioned")
        )
    else:
        sentence += " and says nothing"
    active = condition(check.object.status.conditions, "Active") if check.object is not None else None
    if check.object is not None and active is None:
        sentence += f"; no controller has taken it ({quoted(check.controller)})"
    elif active is not None and active.status != "True":
        why = active.message or active.reason
        sentence += f"; it is not active{f': {cited(why, 200)}' if why else ''}"
    return sentence + "."


def _provisioned(facts: Facts, check: Check) -> bool:
    try:
        attempts = facts.checks.attempts(check)
    except Unknown:
        return False
    return bool(attempts) and attempts[-1].outcome == "provisioned"


def _unlisted(facts: Facts, about: str) -> Found | None:
    if facts.progress.phase != "reserved" or facts.checks.holding:
        return None
    names = facts.checks.unlisted
    if not names:
        return None
    many = len(names) > 1
    return Found(
        f"AdmissionCheck{'s' if many else ''} {', '.join(named('AdmissionCheck', name) for name in names)} of the ClusterQueue "
        f"{'have' if many else 'has'} not been asked yet: Kueue does not list {'them' if many else 'it'} for this Workload.",
        (Evidence(about, "status.admissionChecks", "lacks " + quoted(", ".join(names)), "computed"),),
        (Step("platform", "See whether Kueue's controller runs; it lists the checks within moments."),),
        (about, *(subject("AdmissionCheck", name) for name in names)),
    )
