"""Rule integration-not-enabled."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import kind_of, titled
from bot.core.rule import rule


@rule(
    "workload",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "no-workload"),
    needs=("ConfigMap", "CustomResourceDefinition", "Pod"),
)
def integration_not_enabled(facts: Facts) -> Found | None:
    """Kueue's integration for this kind is not on.

    When:
        The job names a queue and has no Workload, and: `integrations.frameworks` of Kueue's configuration does not list its
        kind; or a feature gate of the kind is off; or this Kueue's version does not know the kind; or the kind's
        CustomResourceDefinition was created after Kueue had started, so that Kueue never began to watch it.
    Why it blocks:
        Kueue makes Workloads only for the kinds whose integrations it runs. A job of another kind is not queued.
    What to do:
        Add the integration to Kueue's configuration and restart Kueue; where the definition came later than Kueue, restart
        Kueue; where this Kueue does not know the kind, upgrade. `kubectl -n kueue-system edit configmap
        kueue-manager-config`, then `kubectl -n kueue-system rollout restart deployment kueue-controller-manager`.
    """
    reason, item = facts.membership.switched_off, facts.identity.root
    if reason is None:
        return None
    what = titled(item) if item is not None else "the pod group"
    kind = kind_of(item) if item is not None else "Pod"
    return Found(
        f"Kueue does not watch {kind} objects here, so it ignores {what}: {reason.says}.",
        tuple(Evidence(*entry) for entry in reason.evidence),
        (Step("platform", reason.todo),),
        beside=facts.progress.phase == "unmanaged",
        certainty="certain" if reason.certain else "likely",
    )
