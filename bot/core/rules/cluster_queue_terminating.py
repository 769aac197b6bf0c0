"""Rule cluster-queue-terminating."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import clock, stamp
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue"))
def cluster_queue_terminating(facts: Facts) -> Found | None:
    """The ClusterQueue is being deleted.

    When:
        The ClusterQueue has a deletion time. It stays until the last Workload that holds its quota has finished.
    Why it blocks:
        A ClusterQueue that is being deleted admits nothing new.
    What to do:
        Use a LocalQueue that points to another ClusterQueue. A deletion cannot be taken back: whoever deleted it by
        mistake has to wait for what runs and create it again.
    """
    queue = facts.queue.cluster_queue
    if queue is None or queue.metadata.deletion_timestamp is None:
        return None
    deleted = queue.metadata.deletion_timestamp
    held = queue.status.reserving_workloads
    about = subject("ClusterQueue", queue.name)
    still = (
        f"; {held} Workload{'s' if held != 1 else ''} still hold{'s' if held == 1 else ''} its quota" if held else ""
    )
    return Found(
        f"ClusterQueue {queue.name} has been in deletion since {clock(deleted)} and admits nothing new{still}.",
        (
            Evidence(about, "metadata.deletionTimestamp", stamp(deleted)),
            Evidence(about, "metadata.finalizers", quoted(", ".join(sorted(queue.metadata.finalizers))) or "none"),
        ),
        (
            Step("queue-admin", "Create the ClusterQueue again once the running Workloads have finished."),
            Step("asker", "Or use a LocalQueue that points to another ClusterQueue."),
        ),
        (about,),
    )
