"""Rule quota-exceeds-nodes."""

from bot.core.cohorts import UNLIMITED
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.names import named, quoted, subject
from bot.core.quantity import canonical
from bot.core.rule import rule
from bot.core.scheduling import pod_requests


@rule(
    "quota", move="queue-admin", outlook="unknown", phases=("waiting", "reserved", "admitted"),
    needs=("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Node"), context=True,
)  # fmt: skip
def quota_exceeds_nodes(facts: Facts) -> Found | None:
    """The quota promises more than the nodes hold.

    When:
        For a flavor and resource that the Workload uses or waits for, the most that its ClusterQueue could ever take is
        more than the allocatable sum of all nodes that carry the flavor's node labels. There is at least one such node. A
        resource that no pod asks for and no node has is not meant: Kueue's configuration makes those out of others.
    Why it blocks:
        Kueue compares with quota, not with nodes: it admits what the scheduler then cannot place.
    What to do:
        Bring the nominalQuota in line with the nodes, or add nodes; where an autoscaler adds nodes, this may be meant.
    """
    queue = facts.quota.queue
    if facts.identity.workload is None or queue is None:
        return None
    worst = None
    templates = [pod_set.template.spec for pod_set in facts.identity.workload.spec.pod_sets]
    requested = {resource for spec in templates for resource in pod_requests(spec)}
    for flavor, resource in facts.quota.concerned:
        item = facts.queue.flavor(flavor)
        if item is None:
            continue
        labels = item.spec.node_labels.items()
        nodes = [node for node in facts.nodes.all if labels <= node.metadata.labels.items()]
        held = facts.nodes.sum_of(nodes, resource)
        promised = facts.trees.tree.capacity(("ClusterQueue", queue.name), (flavor, resource)).amount
        if not held and resource not in requested:
            continue
        if nodes and held < promised < UNLIMITED and (worst is None or promised * worst[3] > worst[2] * held):
            worst = (flavor, resource, promised, held, len(nodes))
    if worst is None:
        return None
    flavor, resource, promised, held, count = worst
    here = f"ClusterQueue {named('ClusterQueue', queue.name)}"
    nodes_text = f"its {count} nodes hold" if count > 1 else "its one node holds"
    sentence = (
        f"{here} may give out {words.amount(resource, promised)} of flavor {quoted(flavor)}, and {nodes_text}"
        f" {words.amount(resource, held)}."
    )
    at = f"[{flavor}][{resource}]"
    proof = (
        Evidence(subject("ClusterQueue", queue.name), f"capacity{at}", canonical(resource, promised), "computed"),
        Evidence(
            subject("ResourceFlavor", flavor),
            f"sum of status.allocatable[{resource}] of its {count} nodes",
            canonical(resource, held),
            "computed",
        ),
    )
    step = Step(
        "queue-admin", f"Bring the quota of {here} in line with the nodes, or add nodes of flavor {quoted(flavor)}."
    )
    return Found(sentence, proof, (step,), (subject("ClusterQueue", queue.name), subject("ResourceFlavor", flavor)))
