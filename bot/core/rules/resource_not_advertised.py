"""Rule resource-not-advertised."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.shortage import amount
from bot.core.rule import rule
from bot.core.scheduling import pod_requests


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod", "DaemonSet"))
def resource_not_advertised(facts: Facts) -> Found | None:
    """No node that is open to the pod offers the resource at all.

    When:
        Some nodes pass the pod's labels, cordons and taints, and none of those advertises a resource that the pod asks
        for: it is absent from their `status.allocatable`, or 0. Not when only a taint, a cordon or the like keeps the
        pod off a node that has the resource.
    Why it blocks:
        This is not load: waiting for others to finish does not help. A device plugin does not run or sees no device,
        the resource's name is wrong, or nodes of that kind do not exist yet.
    What to do:
        Look at the device plugin's pods on these nodes, compare the resource's name with `kubectl describe node`, or
        add nodes that have it.
    """
    for funnel in facts.nodes.funnels:
        resources = facts.nodes.unadvertised(funnel)
        if not resources:
            continue
        asked = pod_requests(funnel.pod.spec)
        resource = resources[0]
        open_nodes = funnel.passing("labels", "cordon", "taint")
        elsewhere = [n for n in facts.nodes.all if n not in open_nodes and facts.nodes.allocatable(n).get(resource)]
        count = len(open_nodes)
        wants = ", ".join(amount(name, asked[name]) for name in resources)
        where = f"none of the {count} nodes open to it advertises {resource}"
        if count == 1:
            where = (
                f"the only node open to it, {names.named('Node', open_nodes[0].name)}, does not advertise {resource}"
            )
        sentence = (
            f"{facts.pods.naming(funnel.pods)} {'ask' if len(funnel.pods) > 1 else 'asks'} for {wants}, and {where}."
        )
        if elsewhere:
            sentence += f" {len(elsewhere)} other nodes have it, but are closed to this pod."
        plugins = facts.nodes.device_plugins(resource)
        for plugin in plugins[:2]:
            sentence += f" {plugin.sentence}"
        evidence = [
            Evidence(
                names.subject("Node", node.name),
                f"status.allocatable[{resource}]",
                str(node.status.allocatable.get(resource, "absent")),
            )
            for node in open_nodes[:3]
        ]
        evidence += [plugin.evidence for plugin in plugins[:2]]
        repair = Step("platform", f"Repair the device plugin for {resource}, or add nodes that advertise it.")
        if facts.nodes.autoscaler is not None:
            repair = Step("platform", f"Let the autoscaler add nodes with {resource}: it says why it does not.")
        return Found(
            facts.pods.close(sentence),
            (*evidence, *facts.nodes.evidence(funnel)),
            (
                repair,
                Step("asker", f"Check that {resource} is the right name.", "kubectl describe nodes"),
            ),
            (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in open_nodes[:3])),
        )
    return None
