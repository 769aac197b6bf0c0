"""Rule kueue-not-running."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import suspended
from bot.core.rule import rule
from bot.core.snapshot import about


@rule(
    "workload",
    move="platform",
    outlook="fix",
    phases=("unresolved", "unmanaged", "no-workload", "waiting", "reserved", "admitted"),
    needs=("Deployment", "Pod", "Lease", "Endpoints", "EndpointSlice", "Event"),
)
def kueue_not_running(facts: Facts) -> Found | None:
    """Kueue is not running.

    When:
        Something that was seen says so: Kueue's Deployment has no ready replica, its leader lease is stale (expired, or held by a
        Pod that is gone, and nothing that Kueue did is younger), its webhook's Service has no ready address, or an event says
        that its webhook did not answer about this job, its owner or its pods. That nothing of Kueue could be seen means nothing.
    Why it blocks:
        Without its controller nobody makes Workloads, reserves quota or starts jobs. While its webhook does not answer, the API
        server refuses to create what the webhook would have seen, also for jobs that Kueue does not manage.
    What to do:
        Bring Kueue's controller manager up: look at its Deployment, Pods and logs. Where its webhook keeps system pods from
        being created, Kueue itself included, relax the webhook's failurePolicy or namespaceSelector until Kueue is back.
        `kubectl -n kueue-system get deployments,pods,leases`, `kubectl -n kueue-system logs
        deployment/kueue-controller-manager`.
    """
    identity, controller = facts.identity, facts.controller
    calls = controller.unanswered_webhooks
    item = identity.root
    if not calls and facts.progress.phase in {"unmanaged", "no-workload"}:
        facts.snapshot.require(
            "Event", facts.ref.namespace, selector=about(item.metadata.uid) if item is not None else ""
        )
    waits_for_kueue = facts.progress.phase in {"no-workload", "waiting", "reserved"} or (
        facts.progress.phase == "admitted" and item is not None and suspended(item) is True
    )
    signs = controller.signs if waits_for_kueue or calls else ()
    seen = (*calls[:1], *signs) if not waits_for_kueue else (*signs, *calls[:1])
    if not seen:
        return None
    first, others = seen[0], seen[1:]
    also = f" Also: {'; '.join(sign.says for sign in others[:3])}." if others else ""
    passes = facts.age(first.since)
    young = " This may pass by itself." if passes is not None and passes < facts.thresholds.young else ""
    policies = controller.webhook_policies(first) if first.kind == "webhook" else ()
    evidence = [Evidence(sign.subject, sign.field, sign.value) for sign in seen] + [
        Evidence(*policy) for policy in policies
    ]
    namespace = min(controller.namespaces)
    return Found(
        f"Kueue is not running: {first.says}.{also}{young}",
        tuple(evidence),
        (
            Step(
                "platform",
                "Bring Kueue's controller manager up.",
                f"kubectl -n {namespace} get deployments,pods,leases,endpoints",
            ),
        ),
        tuple(dict.fromkeys(sign.subject for sign in seen)),
        certainty="certain" if first.kind in {"deployment", "pods", "endpoints"} else "reported",
    )
