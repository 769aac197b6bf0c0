"""Rule namespace-not-managed."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import titled
from bot.core.names import named, subject
from bot.core.rule import rule


@rule(
    "workload",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "no-workload"),
    needs=("Namespace", "ConfigMap", "MutatingWebhookConfiguration"),
)
def namespace_not_managed(facts: Facts) -> Found | None:
    """Kueue does not manage this namespace.

    When:
        The job asks for Kueue (a queue name, or one of Kueue's gates on its pods) and has no Workload, and the namespace is
        outside `managedJobsNamespaceSelector` of Kueue's configuration, outside the namespaceSelector of Kueue's webhook
        for the kind, or is `kube-system` or Kueue's own.
    Why it blocks:
        Kueue leaves the jobs of such namespaces alone: no Workload is made, and a job that was created suspended stays so.
    What to do:
        Label the namespace so that the selector matches it, change the selector, or use another namespace. Kueue's side of
        it: `kubectl -n kueue-system get configmap kueue-manager-config -o yaml`.
    """
    outside = facts.membership.outside
    item, group = facts.identity.root, facts.identity.group
    if outside is None or (item is None and group is None):
        return None
    name = (
        titled(item) if item is not None else f"the pod group {named('PodGroup', facts.ref.name, facts.ref.namespace)}"
    )
    place = named("Namespace", facts.ref.namespace)
    return Found(
        f"Namespace {place} is outside what Kueue manages ({outside.says}), so Kueue ignores {name}.",
        (Evidence(outside.subject, outside.field, outside.value),),
        (Step("platform", "Label the namespace so that the selector matches, or change the selector."),),
        (subject("Namespace", facts.ref.namespace), outside.subject),
        beside=facts.progress.phase == "unmanaged",
        certainty="certain" if outside.certain else "likely",
    )
