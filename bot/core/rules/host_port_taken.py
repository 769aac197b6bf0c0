"""Rule host-port-taken."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule
from bot.core.scheduling import host_ports


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def host_port_taken(facts: Facts) -> Found | None:
    """The host port that the pod wants is taken on every node that fits.

    When:
        The pod wants a port of the node itself (`hostPort`, or any port with `hostNetwork`), and on every node that would
        take it another pod has this port.
    Why it blocks:
        A host port can be had once per node, however much else is free: at most one pod of the job runs on each node.
    What to do:
        Drop `hostPort` or `hostNetwork`, use other ports, run one larger pod per node, or ask for more nodes.
    """
    funnels = facts.nodes.blaming("port")
    if not funnels:
        return None
    funnel = funnels[0]
    nodes = funnel.failing("port")
    taken = [(node, entry) for node in nodes for entry in facts.nodes.ports_taken(node, funnel.pod)[:1]]
    ports = sorted({port for _, (port, _) in taken} or {port for _, _, port in host_ports(funnel.pod.spec)})
    shown = ", ".join(str(port) for port in ports)
    where = f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}" if nodes else "the nodes"
    sentence = f"{facts.pods.naming(funnel.pods)} wants host port {shown}, which is taken on {where}"
    if taken:
        other = taken[0][1][1]
        sentence += f", for example by pod {names.named('Pod', other.name, other.namespace)}"
    evidence = [
        Evidence(names.subject("Pod", pod.name, pod.namespace), "spec.containers[].ports[].hostPort", str(port))
        for _, (port, pod) in taken[:3]
    ]
    return Found(
        facts.pods.close(f"{sentence}. {facts.nodes.sentence(funnel)}"),
        (*evidence, *facts.nodes.evidence(funnel)),
        (
            Step("asker", "Drop hostPort or hostNetwork, or run one pod per node."),
            Step("platform", "Or add nodes: each takes one such pod."),
        ),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in nodes[:5])),
        funnel.certainty,
    )
