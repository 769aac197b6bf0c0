"""Rule strict-fifo."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="unknown", phases=("waiting",), needs=("ClusterQueue",), context=True)
def strict_fifo(facts: Facts) -> Found | None:
    """The queue is strict: its first Workload decides for all.

    When:
        The Workload waits in a ClusterQueue whose `queueingStrategy` is StrictFIFO.
    Why it blocks:
        Kueue tries the first Workload of such a ClusterQueue only. While that one does not fit, those behind it are not
        looked at, also those of other LocalQueues and with room for them.
    What to do:
        Nothing by itself. Where this holds up others for no reason, the queue's owner can switch to BestEffortFIFO.
    """
    if facts.queue.cluster_queue is None:
        return None
    queue = facts.order.queue
    if not queue.strict:
        return None
    line = facts.order.line
    name = named("ClusterQueue", queue.name)
    sentence = f"ClusterQueue {name} is StrictFIFO: Kueue tries its first Workload only."
    if line.position == 0 and line.total is not None and line.total > 1:
        sentence = f"ClusterQueue {name} is StrictFIFO, and this Workload is its first: it holds up {line.total - 1} behind it."
    elif line.position:
        sentence = f"ClusterQueue {name} is StrictFIFO: the {line.position} before it must start first."
    return Found(
        sentence,
        (Evidence(subject("ClusterQueue", queue.name), "spec.queueingStrategy", "StrictFIFO"),),
        (Step("queue-admin", "BestEffortFIFO lets smaller Workloads pass one that does not fit."),),
        (subject("ClusterQueue", queue.name),),
    )
