"""Rule pod-creation-forbidden-quota."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.quantity import human
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "ResourceQuota", "Event"))
def pod_creation_forbidden_quota(facts: Facts) -> Found | None:
    """The namespace's ResourceQuota refuses the pods.

    When:
        Pods are missing, and the API server refused to create them because a ResourceQuota of the namespace is used up,
        or because it wants requests or limits that the pods do not state. Where the ResourceQuota can be read, it must
        still say so now.
    Why it blocks:
        ResourceQuota and Kueue's quota are separate limits that do not know of each other. Kueue has admitted the job;
        Kubernetes refuses its pods all the same.
    What to do:
        Free something in the namespace, ask for less, state the missing requests and limits, or have the ResourceQuota
        raised. Best, have the ResourceQuota at least as large as what Kueue may admit into this namespace.
    """
    refusal = facts.pods.quota_refusal
    if refusal is None:
        return None
    counts = f"{len(facts.pods.current)} of {facts.pods.needed} pods exist"
    quota = names.named("ResourceQuota", refusal.quota, facts.pods.namespace) if refusal.quota else "of the namespace"
    if refusal.unstated:
        what = f"ResourceQuota {quota} refuses pods that do not state {names.quoted(', '.join(refusal.unstated))}"
    elif refusal.rows:
        rows = ", ".join(
            f"{row.key}: {human(row.resource, row.used)} of {human(row.resource, row.hard)} used, "
            f"one pod asks for {human(row.resource, row.asked)}"
            for row in refusal.rows[:3]
        )
        what = f"ResourceQuota {quota} is used up ({rows})"
    else:
        what = f"ResourceQuota {quota} refuses the pods"
    evidence = [
        Evidence(
            names.subject("ResourceQuota", refusal.quota, facts.pods.namespace),
            f"status.used[{row.key}]",
            f"{human(row.resource, row.used)} of {human(row.resource, row.hard)}",
        )
        for row in refusal.rows[:3]
    ]
    if refusal.error is not None:
        evidence.append(facts.pods.error_evidence(refusal.error))
    show = f"kubectl describe resourcequota -n {facts.pods.namespace}"
    return Found(
        facts.pods.close(f"{what}: {counts}."),
        tuple(evidence) or (Evidence("ResourceQuota", "status.used", "at its limit", "computed"),),
        (
            Step("asker", "State the missing requests and limits in the pod template.", show)
            if refusal.unstated
            else Step("asker", "Free something in the namespace, or ask for less or for a larger ResourceQuota.", show),
        ),
        (names.subject("ResourceQuota", refusal.quota, facts.pods.namespace),) if refusal.quota else (),
        refusal.certainty,
    )
