"""Rule quota-held-by-stale-workload."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, suspended, titled
from bot.core.moments import lasting
from bot.core.names import named, quoted, subject
from bot.core.quantity import human
from bot.core.rule import rule


@rule(
    "quota",
    move="platform",
    outlook="fix",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload", "Pod", "ClusterQueue", "LocalQueue"),
)
def quota_held_by_stale_workload(facts: Facts) -> Found | None:
    """Quota is held by a Workload that runs nothing.

    When:
        The Workload waits for quota, and one of those who hold it has run nothing for long: it was evicted and never
        gave its quota back, its job is gone or scaled to zero and no pod is left, or it is this job's own earlier
        Workload or its parent's (not the slice that it replaces). Or the Workload itself was evicted long ago and still holds
        its quota although no pod of it is left.
    Why it blocks:
        Kueue counts a reservation until it is taken back. Nothing will finish here, so waiting alone may never help;
        a job that waits for its own parent's quota waits for ever.
    What to do:
        The platform team looks at the Workload that holds the quota: if its job is gone, delete it; if its controller does
        not react, repair that. For a child that queues beside its parent, remove the queue-name label from the child.
        `kubectl get workloads.kueue.x-k8s.io -A` shows it; its conditions Evicted and QuotaReserved are both True.
    """
    if facts.progress.phase != "waiting":
        return _own(facts)
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
    elif stale.kind == "ownerless":
        here = workload.namespace == facts.ref.namespace
        command = f"kubectl -n {workload.namespace} delete workloads.kueue.x-k8s.io {workload.name}" if here else None
        step = Step("platform", f"Delete the Workload {name}: what it was made for is gone.", command)
    else:
        step = Step("platform", f"Find out why {name} is not released; delete it if its job is gone.")
    return Found(
        f"Waits for quota that {name} holds ({held}){reason}{more}.",
        tuple(evidence),
        (step,),
        (who,),
        move="asker" if stale.kind in {"own", "parent"} else "platform",
    )


def _own(facts: Facts) -> Found | None:
    """The asked Workload is evicted, nothing of it runs, and its quota was not taken back: so it is not queued again."""
    workload, evicted = facts.identity.want(), facts.history.evicted
    if evicted is None or not evicted.current or workload.spec.active is False:
        return None
    if any(owner.kind == "Pod" for owner in workload.metadata.owner_references):
        return None  # these pods do not come back: see replacement-pods-needed
    if facts.progress.remote is not None:
        return None  # its pods are on another cluster
    age = facts.age(evicted.at)
    if age is None or age <= facts.thresholds.long or facts.order.preemption.hanging(workload):
        return None
    facts.snapshot.require("Pod", workload.namespace)
    root = facts.identity.root
    who = subject("Workload", workload.name, workload.namespace)
    evidence = [Evidence(who, "status.conditions[Evicted]", quoted(f"True, {evicted.reason}"), "kueue"),
                Evidence(who, "status.conditions[QuotaReserved]", "True")]  # fmt: skip
    does = "Kueue's job controller should have taken its quota back"
    if root is not None and suspended(root) is False:
        does = f"{titled(root)} is still not suspended, so Kueue has not stopped it"
        evidence.append(Evidence(subject_of(root), "suspended", "False"))
    return Found(
        f"It was evicted {lasting(age)} ago ({quoted(evicted.reason, 60)}), no pod of it is left, and it still holds its quota, "
        f"so it is not queued again: {does}.",
        tuple(evidence),
        (
            Step(
                "platform",
                "See what the logs of Kueue's controller manager say of this job, and whether its operator runs.",
            ),
        ),
        (who,),
    )
