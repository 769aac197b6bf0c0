"""Rule provisioning-failed."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.checks import Attempt, Check
from bot.core.moments import clock
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown

_SAID = {
    "failed": "could not provide the nodes",
    "expired": "let the booked nodes expire",
    "revoked": "took the nodes back",
}


@rule(
    "checks", move="platform", outlook="fix", phases=("waiting", "reserved"), needs=("Workload", "ProvisioningRequest")
)
def provisioning_failed(facts: Facts) -> Found | None:
    """The autoscaler cannot provide the nodes.

    When:
        A provisioning check holds the Workload, or asked for a new try so that Kueue gave the quota back, and the
        newest of its ProvisioningRequests has failed, expired or been revoked. No attempt is open.
    Why it blocks:
        The Workload has quota but no nodes. Kueue asks the autoscaler again after a pause, as often as the check's
        configuration allows (three times by default); after that it deactivates the Workload.
    What to do:
        Read what the autoscaler said: a node pool at its maximum, no capacity at the cloud, a quota of the account. Quota in
        Kueue is not the problem. `kubectl describe provisioningrequests -n NAMESPACE` has the autoscaler's words.
    """
    unknown: Unknown | None = None
    for check in facts.checks.holding:
        if check.kind != "provisioning":
            continue
        try:
            attempts = facts.checks.attempts(check)
        except Unknown as missing:
            if check.said is None or check.said.what not in {"retry-after-failure", "retry-after-expiry"}:
                unknown = missing
                continue
            attempts = ()
        if any(attempt.outcome == "open" for attempt in attempts):
            continue
        newest = attempts[-1] if attempts else None
        if newest is not None and newest.outcome != "provisioned":
            return _found(facts, check, newest)
        if (
            newest is None
            and check.said is not None
            and check.said.what in {"retry-after-failure", "retry-after-expiry"}
        ):
            return _found(facts, check, None)
    if unknown is not None:
        raise unknown
    return None


def _found(facts: Facts, check: Check, newest: Attempt | None) -> Found:
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    evidence, subjects = [], [about, subject("AdmissionCheck", check.name)]
    words = check.said.detail if check.said is not None and check.said.detail else facts.checks.words(check)
    if newest is not None:
        request = named("ProvisioningRequest", newest.request.name, workload.namespace)
        if newest.said is not None:
            words = newest.said.message or newest.said.reason
        number = f" (attempt {newest.number})" if newest.number is not None else ""
        sentence = f"The autoscaler {_SAID.get(newest.outcome, 'refused')} for ProvisioningRequest {request}{number}"
        mark = subject("ProvisioningRequest", newest.request.name, workload.namespace)
        subjects.append(mark)
        kind = newest.said.type if newest.said is not None else "Failed"
        reason = f"{newest.said.reason}: " if newest.said is not None and newest.said.reason else ""
        evidence.append(Evidence(mark, f"status.conditions[{kind}]", quoted(reason + words)))
    else:
        sentence = "The autoscaler refused to provide the nodes"
    sentence += f": {cited(words, 300)}." if words else "."
    evidence.append(
        Evidence(
            about,
            f"status.admissionChecks[{check.name}]",
            quoted(f"{check.state.state}: {check.state.message}".rstrip(": ")),
            "kueue",
        )
    )
    if facts.progress.phase == "waiting":
        sentence += " Kueue gave the quota back."
    again, left = facts.checks.next_try(check), facts.checks.retries(check)
    if newest is not None and newest.number is not None:
        rest = max(left + 1 - newest.number, 0)
        sentence += f" {rest} more attempt{'s' if rest != 1 else ''} {'are' if rest != 1 else 'is'} allowed"
        sentence += f", the next at {clock(again)}." if again is not None else "."
    elif again is not None:
        sentence += f" The next attempt is at {clock(again)}."
    return Found(
        sentence,
        tuple(evidence),
        (
            Step(
                "platform",
                "Make room for the nodes: raise the limit of the node pool or the account, or use other nodes.",
            ),
        ),
        tuple(subjects),
        "certain" if newest is not None else "reported",
    )
