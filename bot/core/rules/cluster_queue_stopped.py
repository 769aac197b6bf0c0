"""Rule cluster-queue-stopped."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.rule import rule


@rule(
    "queue",
    move="queue-admin",
    outlook="fix",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload", "ClusterQueue"),
)
def cluster_queue_stopped(facts: Facts) -> Found | None:
    """The ClusterQueue is stopped.

    When:
        The ClusterQueue's `spec.stopPolicy` is Hold or HoldAndDrain. A Workload that has got quota is held by HoldAndDrain only.
    Why it blocks:
        Hold admits nothing new; HoldAndDrain evicts what runs as well. Free quota changes nothing while the queue is stopped.
    What to do:
        Whoever owns the ClusterQueue sets `spec.stopPolicy` back to None; evicted Workloads are queued again then. Ask them how
        long it stays stopped, or use a LocalQueue that points to another ClusterQueue.
    """
    queue = facts.queue.cluster_queue
    if queue is None or not facts.queue.draining(queue.spec.stop_policy):
        return None
    policy = queue.spec.stop_policy
    about = subject("ClusterQueue", queue.name)
    evidence = [Evidence(about, "spec.stopPolicy", policy)]
    gone, proof = facts.history.gone_for("ClusterQueueStopped")
    evidence += proof
    means = "nothing new is admitted" if policy == "Hold" else "nothing is admitted, and what ran was evicted"
    return Found(
        f"ClusterQueue {queue.name} is stopped (stopPolicy {policy}): {means}.{gone}",
        tuple(evidence),
        (
            Step(
                "queue-admin",
                "Resume the ClusterQueue, or say until when it stays stopped.",
                f"kubectl patch clusterqueues.kueue.x-k8s.io {named('ClusterQueue', queue.name)} --type=merge "
                """-p '{"spec":{"stopPolicy":"None"}}'""",
            ),
        ),
        (about,),
    )
