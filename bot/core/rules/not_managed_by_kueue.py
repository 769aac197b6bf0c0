"""Rule not-managed-by-kueue."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.marks import QUEUE_LABEL, queue_name
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged",), needs=("Workload",), only_also=True)
def not_managed_by_kueue(facts: Facts) -> Found | None:
    """Kueue does not manage it.

    When:
        The job has no label `kueue.x-k8s.io/queue-name`, no Workload, and is not suspended.
    Why it blocks:
        It does not: the job runs, or waits at the scheduler, outside Kueue's quota. What holds it back is said by the rule beside
        this one.
    What to do:
        If it should be queued, set the label `kueue.x-k8s.io/queue-name` to a LocalQueue of the namespace when it is created.
    """
    item = facts.identity.root
    if item is None or queue_name(item) is not None or facts.membership.suspended:
        return None
    return Found(
        f"Kueue does not manage {titled(item)}: it has no label {QUEUE_LABEL} and no Workload.",
        (Evidence(subject_of(item), f"metadata.labels[{QUEUE_LABEL}]", "not set"),),
        (Step("asker", f"If it should be queued, create it with the label {QUEUE_LABEL}."),),
        (subject_of(item),),
    )
