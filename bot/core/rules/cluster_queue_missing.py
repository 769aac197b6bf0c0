"""Rule cluster-queue-missing."""

from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import young
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "LocalQueue", "ClusterQueue"))
def cluster_queue_missing(facts: Facts) -> Found | None:
    """The LocalQueue points to a ClusterQueue that does not exist.

    When:
        The LocalQueue exists, and no ClusterQueue has the name in its `spec.clusterQueue`.
    Why it blocks:
        The quota belongs to the ClusterQueue. A LocalQueue that points nowhere gives none.
    What to do:
        Create the ClusterQueue, or make a LocalQueue that points to an existing one: `spec.clusterQueue` cannot be changed, so
        the LocalQueue has to be deleted and made again.
        The finding's data: `suggestions`, the names that come close.
    """
    queue = facts.queue.local_queue
    if queue is None or facts.queue.cluster_queue is not None:
        return None
    name = facts.queue.cluster_queue_name
    names = [item.name for item in facts.snapshot.all_of(o.ClusterQueue, read="seen")]
    suggestions = closest(name, names)
    offered = ""
    if suggestions:
        offered = "; what exists and comes close: " + ", ".join(named("ClusterQueue", other) for other in suggestions)
    local = named("LocalQueue", queue.name, queue.namespace)
    target = f"ClusterQueue {name}, which does not exist" if name else "no ClusterQueue at all: the name is empty"
    return Found(
        f"LocalQueue {local} points to {target}{offered}."
        + young(facts.age(queue.metadata.creation_timestamp), facts.thresholds.young),
        (
            Evidence(subject("LocalQueue", queue.name, queue.namespace), "spec.clusterQueue", name or '""'),
            Evidence(subject("ClusterQueue", name or "-"), "metadata.name", "absent"),
        ),
        (Step("queue-admin", "Create the ClusterQueue, or make the LocalQueue again with an existing one."),),
        (subject("LocalQueue", queue.name, queue.namespace), *((subject("ClusterQueue", name),) if name else ())),
        data={"suggestions": list(suggestions)},
    )
