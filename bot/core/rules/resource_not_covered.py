"""Rule resource-not-covered."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.quota import NEEDS
from bot.core.facts.requests import defaulted_by
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical
from bot.core.rule import rule


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
    quota = facts.quota
    if facts.identity.workload is None or quota.queue is None:
        return None
    uncovered = quota.uncovered
    if not uncovered:
        return None
    workload, queue = facts.identity.want(), quota.queue.name
    here = f"ClusterQueue {named('ClusterQueue', queue)}"
    covered = sorted({resource for group in quota.queue.spec.resource_groups for resource in group.covered_resources})
    limits = {resource: defaulted_by(workload, resource, facts.snapshot) for resource in uncovered}
    origin = "".join(
        f" The LimitRange {named('LimitRange', name, workload.namespace)} adds {quoted(resource)}; the job does not mention it."
        for resource, name in limits.items()
        if name is not None
    )
    sentence = (
        f"Never as written: it asks for {words.listing(map(quoted, uncovered))}, which {here} does not cover;"
        f" it covers {words.listing(map(quoted, covered))}.{origin}"
    )
    mine = subject("Workload", workload.name, workload.namespace)
    proof = [Evidence(mine, f"requested[{r}]", canonical(r, v), "computed") for r, v in uncovered.items()]
    proof.append(Evidence(subject("ClusterQueue", queue), "spec.resourceGroups[].coveredResources", ", ".join(covered)))
    proof += [
        Evidence(subject("LimitRange", name, workload.namespace), f"spec.limits[].defaultRequest[{resource}]", "set")
        for resource, name in limits.items()
        if name is not None
    ]
    ways = (
        Step(
            "queue-admin",
            f"Add {words.listing(map(quoted, uncovered))} to a resource group of {here}, with quota in its flavors.",
        ),
        Step("asker", f"Or drop the request for {words.listing(map(quoted, uncovered))}, if the pods do not need it."),
    )
    return Found(sentence, tuple(proof), ways, (subject("ClusterQueue", queue),), data={"resources": list(uncovered)})
