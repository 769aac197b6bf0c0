"""Rule cohort-cycle."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue", "Cohort"))
def cohort_cycle(facts: Facts) -> Found | None:
    """The cohorts above the ClusterQueue form a ring.

    When:
        Following `spec.parentName` from the ClusterQueue's cohort leads back to a Cohort that was passed already. Where Cohorts
        cannot be read, a newer Kueue says so in the ClusterQueue's condition (CohortCycleDetected).
    Why it blocks:
        Kueue cannot compute quota in a ring and leaves out every ClusterQueue below it, silently in older versions: the
        ClusterQueue still says that it is active.
    What to do:
        Take `spec.parentName` away from one Cohort of the ring, so that it becomes the root. `kubectl get
        cohorts.kueue.x-k8s.io -o custom-columns=NAME:.metadata.name,PARENT:.spec.parentName` shows the whole tree.
    """
    queue = facts.queue.cluster_queue
    if queue is None:
        return None
    about = subject("ClusterQueue", queue.name)
    try:
        ring = facts.queue.ring
    except Unknown:
        active = facts.queue.active
        if active is None or not any(part.what == "cohort-cycle" for part in facts.queue.said):
            raise
        return Found(
            f"ClusterQueue {queue.name} is inactive: its cohorts form a ring, it says: {cited(active.message, 300)}.",
            (Evidence(about, "status.conditions[Active].message", quoted(active.message), "kueue"),),
            (Step("queue-admin", "Take spec.parentName away from one Cohort of the ring."),),
            (about,),
            "reported",
        )
    if not ring:
        return None
    chain = " → ".join(named("Cohort", name) for name in (*ring, ring[0]))
    active = facts.queue.active
    evidence = [
        Evidence(subject("Cohort", name), "spec.parentName", parent)
        for name, parent in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]
    if active is not None:
        evidence.append(Evidence(about, "status.conditions[Active]", quoted(f"{active.status}, {active.reason}")))
    return Found(
        f"ClusterQueue {queue.name} gets nothing admitted: the parents of its cohorts form a ring, {chain}.",
        tuple(evidence),
        (Step("queue-admin", "Take spec.parentName away from one Cohort of the ring, so that it becomes the root."),),
        (about, *(subject("Cohort", name) for name in ring)),
    )
