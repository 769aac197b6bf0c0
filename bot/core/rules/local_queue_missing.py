"""Rule local-queue-missing."""

from bot.core.closeness import closest
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.marks import QUEUE_LABEL
from bot.core.moments import stamp, young
from bot.core.names import named, subject
from bot.core.objects import LocalQueue
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=("Workload", "LocalQueue"))
def local_queue_missing(facts: Facts) -> Found | None:
    """The queue name names no LocalQueue of the namespace.

    When:
        No LocalQueue of the Workload's namespace has the name in its `spec.queueName`, that one is being deleted, or
        the name is empty. A LocalQueue of that name in another namespace does not count.
    Why it blocks:
        A Workload reaches quota only through a LocalQueue of its own namespace. Without one Kueue does not queue it.
    What to do:
        Set the label `kueue.x-k8s.io/queue-name` of the job to a LocalQueue of its namespace (`kubectl get
        localqueues`), or have the LocalQueue created. Kueue takes over a changed label while the job is suspended.
        The finding's data: `suggestions`, the names that come close.
    """
    workload = facts.identity.want()
    queue = facts.queue.local_queue
    if queue is not None:
        return _leaving(queue)
    name, place = facts.queue.queue_name, workload.namespace
    names = facts.queue.local_queue_names
    suggestions = closest(name, names) if name else names[:3]
    about = subject("Workload", workload.name, place)
    if name:
        sentence = (
            f"LocalQueue {named('LocalQueue', name, place)} does not exist in namespace {named('Namespace', place)}"
        )
        if suggestions:
            offered = ", ".join(named("LocalQueue", other, place) for other in suggestions)
            sentence += f"; what exists and comes close: {offered}."
        elif names:
            offered = ", ".join(named("LocalQueue", other, place) for other in names[:3])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            sentence += f"; none has a name like it, there {'are' if len(names) > 1 else 'is'} {offered}{more}."
        else:
            sentence += "; the namespace has no LocalQueue at all."
    else:
        sentence = f"Workload {named('Workload', workload.name, place)} names no LocalQueue: the job has no label {QUEUE_LABEL}"
        if names:
            offered = ", ".join(named("LocalQueue", other, place) for other in suggestions)
            sentence += f"; the namespace has {offered}" + (f" and {len(names) - 3} more." if len(names) > 3 else ".")
        else:
            sentence += f", and namespace {named('Namespace', place)} has no LocalQueue."
    steps = []
    if names:
        pick = suggestions[0] if suggestions else names[0]
        root = facts.identity.root
        command = None
        if root is not None and root.kind not in {"", "Workload"} and len(suggestions) == 1:
            command = f"kubectl -n {place} label {root.kind.lower()}/{root.name} {QUEUE_LABEL}={pick} --overwrite"
        steps.append(Step("asker", f"Set the label {QUEUE_LABEL} to a LocalQueue of the namespace.", command))
    steps.append(
        Step(
            "queue-admin",
            f"{'Or create' if names else 'Create'} a LocalQueue in the namespace that points to a ClusterQueue.",
        )
    )
    return Found(
        sentence + young(facts.age(workload.metadata.creation_timestamp), facts.thresholds.young, "The Workload"),
        (
            Evidence(about, "spec.queueName", name or '""'),
            Evidence(
                subject("LocalQueue", name, place) if name else about,
                "metadata.name",
                "absent; LocalQueues of the namespace: " + (", ".join(names[:5]) or "none"),
            ),
        ),
        tuple(steps),
        (subject("LocalQueue", name, place),) if name else (about,),
        data={"suggestions": list(suggestions)},
    )


def _leaving(queue: LocalQueue) -> Found | None:
    """A LocalQueue that is being deleted takes nothing any more."""
    if queue.metadata.deletion_timestamp is None:
        return None
    about = subject("LocalQueue", queue.name, queue.namespace)
    return Found(
        f"LocalQueue {named('LocalQueue', queue.name, queue.namespace)} is being deleted.",
        (Evidence(about, "metadata.deletionTimestamp", stamp(queue.metadata.deletion_timestamp)),),
        (Step("asker", f"Set the label {QUEUE_LABEL} to another LocalQueue of the namespace."),),
        (about,),
        data={"suggestions": []},
    )
