"""Rule quota-held-by-stale-workload."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, quoted, subject
from bot.core.quantity import human
from bot.core.rule import rule


@rule(
    "quota",
    move="platform",
    outlook="fix",
    phases=("waiting",),
    needs=("Workload", "Pod", "ClusterQueue", "LocalQueue"),
)
def quota_held_by_stale_workload(facts: Facts) -> Found | None:
    """Quota is held by a Workload that runs nothing.

    When:
        The Workload waits for quota, and one of those who hold it has run nothing for long: it was evicted and never
        gave its quota back, its job is gone or scaled to zero and no pod is left, or it is this job's own earlier
        Workload or its parent's (not the slice that it replaces).
    Why it blocks:
        Kueue counts a reservation until it is taken back. Nothing will finish here, so waiting alone may never help;
        a job that waits for its own parent's quota waits for ever.
    What to do:
        The platform team looks at the Workload that holds the quota: if its job is gone, delete it; if its controller
        does not react, repair that. For a child that queues beside its parent, remove the queue-name label from the
        child.
    """
    if facts.quota.verdict != "wait" or not facts.order.stale_holders:
        return None
    stale = facts.order.stale_holders[0]
    holder, workload = stale.holder, stale.workload
    who = subject("Workload", workload.name, workload.namespace)
    name = named("Workload", workload.name, workload.namespace)
    held = f"{human(holder.resource, holder.amount)} {holder.resource} in flavor {holder.flavor}"
    owners = ", ".join(
        f"{quoted(ref.kind, 60)}/{quoted(ref.name, 120)}" for ref in workload.metadata.owner_references[:3]
    )
    evidence = [
        Evidence(who, "status.admission.podSetAssignments[].resourceUsage", held),
        Evidence(who, "metadata.ownerReferences", owners or "none"),
    ]
    reason = f": {stale.why}"
    if stale.kind in {"own", "parent"}:
        reason = f", and {stale.why}"
    if stale.idle and stale.kind == "evicted":
        reason += ", and no pod of it is left"
    more = f" ({len(facts.order.stale_holders) - 1} more like it)" if len(facts.order.stale_holders) > 1 else ""
    if stale.kind == "parent":
        step = Step(
            "asker", "Remove the label kueue.x-k8s.io/queue-name from this object: its parent already holds the quota."
        )
    elif stale.kind == "own":
        step = Step("asker", f"Delete the old Workload {name} once nothing of it runs.")
    else:
        step = Step("platform", f"Find out why {name} is not released; delete it if its job is gone.")
    return Found(
        f"Waits for quota that {name} holds ({held}){reason}{more}.",
        tuple(evidence),
        (step,),
        (who,),
        move="asker" if stale.kind in {"own", "parent"} else "platform",
    )
