"""Rule topology-missing."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("ResourceFlavor", "Topology"))
def topology_missing(facts: Facts) -> Found | None:
    """A flavor names a Topology that does not exist.

    When:
        A ResourceFlavor of the ClusterQueue has a `topologyName`, and there is no Topology of that name.
    Why it blocks:
        Kueue makes a ClusterQueue inactive as long as one of its flavors names a Topology that is missing. Nobody is
        admitted through it, whichever flavor they want.
    What to do:
        The queue's owner creates the Topology, or corrects `topologyName` in the ResourceFlavor.
    """
    if not facts.topology.missing:
        return None
    flavor, topology = facts.topology.missing[0]
    queue = facts.queue.cluster_queue_name
    others = len(facts.topology.missing) - 1
    more = f" ({others} more flavor{'s' if others > 1 else ''} like it)" if others else ""
    return Found(
        f"ClusterQueue {named('ClusterQueue', queue)} cannot admit: its flavor {flavor} names the Topology {topology},"
        f" which does not exist{more}.",
        tuple(
            Evidence(subject("ResourceFlavor", name), "spec.topologyName", wanted)
            for name, wanted in facts.topology.missing
        ),
        (
            Step("queue-admin", f"Create the Topology {topology}, or correct topologyName in ResourceFlavor {flavor}.",
                 f"kubectl get resourceflavor {flavor} -o yaml"),
        ),
        (subject("ResourceFlavor", flavor), subject("ClusterQueue", queue)),
        data={"suggestions": []},
    )  # fmt: skip
