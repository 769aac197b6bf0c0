"""Rule namespace-not-found."""

from bot.core import objects as o
from bot.core import texts
from bot.core.closeness import closest
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.objects import condition
from bot.core.rule import rule


@rule("lookup", move="asker", outlook="fix", phases=(), needs=("Namespace",))
def namespace_not_found(facts: Facts) -> Found | None:
    """The namespace does not exist.

    When:
        The cluster has no Namespace of the name that was asked about. Namespaces with a close name are offered.
    Why it blocks:
        Nothing can exist in a namespace that does not exist: the name is misspelt, or it is one of another cluster.
    What to do:
        Ask again with one of the names that are offered, or look at `kubectl get namespaces`. The finding's data:
        `suggestions`, the names that come close.
    """
    name, snapshot = facts.ref.namespace, facts.snapshot
    if snapshot.look("Namespace", name) is not None:
        return None
    left = any(item.namespace == name for items in snapshot.objects.values() for item in items)
    if left and not _said_gone(facts):
        return None
    if snapshot.find("Namespace", name) is not None:
        return None
    near = closest(name, (item.name for item in snapshot.all_of(o.Namespace, read="seen")))
    offered = [named("Namespace", other) for other in near]
    hint = f" Did you mean {' or '.join(offered)}?" if offered else ""
    there = f" on cluster {facts.ref.cluster}" if facts.ref.cluster else ""
    steps = [Step("asker", f"Ask about {named('Namespace', other)} instead.") for other in near[:1]]
    steps.append(Step("asker", "Look up the namespace's name.", "kubectl get namespaces"))
    return Found(
        f"There is no namespace {named('Namespace', name)}{there}.{hint}",
        (Evidence(subject("Namespace", name), "metadata.name", "no such object"),),
        tuple(steps),
        (subject("Namespace", name),),
        data={"suggestions": offered},
    )


def _said_gone(facts: Facts) -> bool:
    """Whether Kueue says of a Workload that is left over that its namespace is gone."""
    for workload in facts.snapshot.all_of(o.Workload, read="seen", namespace=facts.ref.namespace):
        quota = condition(workload.status.conditions, "QuotaReserved")
        if (
            quota is not None
            and quota.status == "False"
            and texts.quota(quota.message) == texts.Validation("namespace-missing")
        ):
            return True
    return False
