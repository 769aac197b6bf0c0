"""Rule local-queue-stopped."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.rule import rule


@rule(
    "queue",
    move="queue-admin",
    outlook="fix",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload", "LocalQueue"),
)
def local_queue_stopped(facts: Facts) -> Found | None:
    """The LocalQueue is stopped.

    When:
        The LocalQueue's `spec.stopPolicy` is Hold or HoldAndDrain. A Workload that has got quota is held by HoldAndDrain only.
    Why it blocks:
        Hold admits nothing new from this LocalQueue; HoldAndDrain evicts what runs as well. The Workloads of a stopped
        LocalQueue are not counted as pending anywhere and have no place in the line.
    What to do:
        Whoever owns the LocalQueue sets `spec.stopPolicy` back to None. Or use another LocalQueue of the namespace.
    """
    queue = facts.queue.local_queue
    if queue is None or not facts.queue.draining(queue.spec.stop_policy):
        return None
    policy = queue.spec.stop_policy
    about = subject("LocalQueue", queue.name, queue.namespace)
    evidence = [Evidence(about, "spec.stopPolicy", policy)]
    gone, proof = facts.history.gone_for("LocalQueueStopped")
    evidence += proof
    means = "nothing new starts from it" if policy == "Hold" else "nothing starts from it, and what ran was evicted"
    return Found(
        f"LocalQueue {named('LocalQueue', queue.name, queue.namespace)} is stopped (stopPolicy {policy}): {means}.{gone}",
        tuple(evidence),
        (
            Step(
                "queue-admin",
                "Resume the LocalQueue, or say until when it stays stopped.",
                f"kubectl -n {queue.namespace} patch localqueues.kueue.x-k8s.io {queue.name} --type=merge "
                """-p '{"spec":{"stopPolicy":"None"}}'""",
            ),
        ),
        (about,),
    )
