"""Rule topology-assignment-unusable."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.topology import HOSTNAME, Pinned
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("admitted",), needs=("Node", "Pod"))
def topology_assignment_unusable(facts: Facts) -> Found | None:
    """Kueue put its pods where they cannot run.

    When:
        The Workload is admitted with a topology assignment, a pod of it is not scheduled, and every node of the domain
        that Kueue pinned it to refuses it: by a taint, because pods are in the way (also those that Kueue knows nothing
        of, and the node's limit on pods), by the pod's own selector, or because the node is cordoned or gone. Also when
        more pods are pinned to a domain than the assignment says, or to one that it does not name, and while Kueue looks
        for a replacement for a node that it marked as unhealthy (`status.unhealthyNodes`).
    Why it blocks:
        Kueue adds the domain's labels to the pod's node selector, so the scheduler may not use any other node, even an
        idle one.
    What to do:
        The platform team clears the node (move what does not belong there, remove the taint), or has Kueue place the
        Workload anew by evicting it. A lowest topology level of kubernetes.io/hostname lets Kueue see taints and
        selectors before it decides.
    """
    pinned = facts.topology.pinned
    if not pinned:
        return _unhealthy(facts)
    first = pinned[0]
    pod = named("Pod", first.pod.name, first.pod.namespace)
    place = ", ".join(
        f"{key}={named('Node', value) if key == HOSTNAME else quoted(value, 80)}" for key, value in first.labels
    )
    elsewhere = ""
    if first.elsewhere:
        elsewhere = f"; node {named('Node', first.elsewhere[0])} would take it"
    more = f" ({len(pinned)} pods in all)" if len(pinned) > 1 else ""
    own = facts.identity.want()
    me = subject("Workload", own.name, own.namespace)
    evidence = [
        Evidence(me, f"status.admission.podSetAssignments[{first.pod_set}].topologyAssignment", place, "cluster"),
        *(Evidence(subject("Node", r.node), r.field, r.text, r.source) for r in first.refusals[:5]),
    ]
    return Found(
        f"Kueue pinned pod {pod}{more} to {place}, {_why(first)}{elsewhere}.",
        tuple(evidence),
        (
            Step("platform", f"{_cure(first)}"),
            Step("platform", f"Or have Kueue place {named('Workload', own.name, own.namespace)} anew: evict it."),
        ),
        (
            me,
            subject("Pod", first.pod.name, first.pod.namespace),
            *(subject("Node", r.node) for r in first.refusals[:5]),
        ),
    )


def _unhealthy(facts: Facts) -> Found | None:
    """Nodes of the assignment that Kueue marked as unhealthy and has not replaced yet, while pods are missing."""
    own = facts.identity.want()
    nodes = [node.name for node in own.status.unhealthy_nodes if node.name]
    counts = facts.pods.counts if nodes else None
    if counts is None or counts.running >= counts.wanted:
        return None
    me = subject("Workload", own.name, own.namespace)
    told = ", ".join(named("Node", name) for name in nodes[:3])
    missing = counts.wanted - counts.running
    return Found(
        f"{missing} of {counts.wanted} pods are missing: Kueue marked node {told} of the assignment as unhealthy and has found"
        " no replacement for it yet.",
        (Evidence(me, "status.unhealthyNodes", ", ".join(subject("Node", name) for name in nodes[:5])),),
        (Step("platform", f"Bring node {told} back, or make room for the pods on another node of the same domain."),),
        (me, *(subject("Node", name) for name in nodes[:5])),
    )


def _why(pinned: Pinned) -> str:
    if pinned.problem:
        return pinned.problem
    refusals = pinned.refusals
    if not refusals:
        return "where there is no node any more"
    told = [f"node {named('Node', r.node)} {r.text}" for r in refusals[:3]]
    rest = f", and {len(refusals) - 3} more refuse it too" if len(refusals) > 3 else ""
    return f"but {'; '.join(told)}{rest}"


def _cure(pinned: Pinned) -> str:
    if pinned.problem or not pinned.refusals:
        return "Find out why the assignment does not match the pods; Kueue's log says which replacement it looks for."
    first = pinned.refusals[0]
    node = named("Node", first.node)
    return {
        "taint": f"Remove the taint from node {node}, or have the pods tolerate it.",
        "occupied": f"Free node {node} of the pods that are in the way.",
        "selector": f"Correct the pod's node selector or the labels of node {node}.",
    }.get(first.cause, f"Bring node {node} back into service.")
