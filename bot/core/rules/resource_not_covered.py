"""Rule resource-not-covered."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.requests import defaulted_by
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical
from bot.core.rule import rule
from bot.core.snapshot import Unknown
from bot.core.texts import Uncovered


@rule("quota", move="queue-admin", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def resource_not_covered(facts: Facts) -> Found | None:
    """It asks for a resource that its ClusterQueue does not cover.

    When:
        A pod set asks for a resource that stands in none of the ClusterQueue's `resourceGroups[].coveredResources`.
        Requests count as Kueue counts them, with the defaults of a LimitRange and what webhooks added.
    Why it blocks:
        Kueue cannot give quota for a resource that has none, and it admits only whole Workloads.
    What to do:
        Cover the resource in a resource group of the ClusterQueue, or let Kueue's configuration leave it out
        (`resources.excludeResourcePrefixes`); or drop the request, where nobody needs it.
    """
    if facts.identity.workload is None:
        return None
    try:
        uncovered = facts.quota.uncovered
    except Unknown:
        return _reported(facts)
    queue = facts.quota.queue
    if queue is not None and not uncovered and _claimed(facts, queue):
        return _reported(facts)
    if queue is None or not uncovered:
        return None
    workload, here = facts.identity.want(), words.here(facts)
    covered = sorted({resource for group in queue.spec.resource_groups for resource in group.covered_resources})
    defaults = {resource: defaulted_by(workload, resource, facts.snapshot) for resource in uncovered}
    named_defaults = [(resource, name) for resource, name in defaults.items() if name is not None]
    origin = "".join(
        f" The LimitRange {named('LimitRange', name, workload.namespace)} adds {quoted(resource)}; the job does not mention it."
        for resource, name in named_defaults
    )
    missing = words.listing(map(quoted, uncovered))
    mine = subject("Workload", workload.name, workload.namespace)
    proof = (
        *(Evidence(mine, f"requested[{r}]", canonical(r, value), "computed") for r, value in uncovered.items()),
        Evidence(subject("ClusterQueue", queue.name), "spec.resourceGroups[].coveredResources", ", ".join(covered)),
        *(
            Evidence(
                subject("LimitRange", name, workload.namespace), f"spec.limits[].defaultRequest[{resource}]", "set"
            )
            for resource, name in named_defaults
        ),
    )
    return Found(
        f"Never as written: it asks for {missing}, which {here} does not cover; it covers"
        f" {words.listing(map(quoted, covered))}.{origin}",
        proof,
        _ways(missing, here),
        (subject("ClusterQueue", queue.name),),
        data={"resources": list(uncovered)},
    )


def _claimed(facts: Facts, queue: o.ClusterQueue) -> bool:
    """Whether Kueue's text names resources that nobody but Kueue knows of, as it counts claimed devices by names of its own.

    Where it tells its requests (`status.resourceRequests`) they are among these and need no text.
    """
    covered = {resource for group in queue.spec.resource_groups for resource in group.covered_resources}
    said = {reason.resource for reason in facts.quota.said if isinstance(reason, Uncovered)}
    claims = any(pod_set.template.spec.resource_claims for pod_set in facts.identity.want().spec.pod_sets)
    return claims and bool(said) and not said & covered


def _ways(missing: str, here: str) -> tuple[Step, ...]:
    return (
        Step("queue-admin", f"Add {missing} to a resource group of {here}, with quota in its flavors."),
        Step("asker", f"Or drop the request for {missing}, if the pods do not need it."),
    )


def _reported(facts: Facts) -> Found | None:
    """Take Kueue's word where the ClusterQueue or the requests were not read. Raises Unknown when it says nothing."""
    names = dict.fromkeys(quoted(reason.resource) for reason in facts.quota.said if isinstance(reason, Uncovered))
    if not names:
        _ = facts.quota.uncovered
        return None
    missing, here, workload = words.listing(names), words.here(facts), facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    proof = Evidence(mine, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue")
    return Found(
        f"Never as written: Kueue says that it asks for {missing}, which {here} does not cover.",
        (proof,),
        _ways(missing, here),
        (mine,),
        certainty="reported",
        data={"resources": list(names)},
    )
