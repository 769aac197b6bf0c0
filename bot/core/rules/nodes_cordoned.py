"""Rule nodes-cordoned."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def nodes_cordoned(facts: Facts) -> Found | None:
    """The nodes that fit are cordoned.

    When:
        Nodes that would take the pod are cordoned (`spec.unschedulable`, taint `node.kubernetes.io/unschedulable`), and
        no other node takes it.
    Why it blocks:
        The scheduler puts nothing on a cordoned node; somebody drains it, repairs it, or forgot to open it again.
    What to do:
        The platform's people uncordon the nodes when their work is done, or add others.
    """
    funnels = facts.nodes.blaming("cordon")
    if not funnels:
        return None
    funnel = funnels[0]
    nodes = [view.node for view in funnel.nodes if view.only("cordon")] or list(funnel.failing("cordon"))
    shown = ", ".join(names.named("Node", node.name) for node in nodes[:5])
    if nodes:
        more = f" and {len(nodes) - 5} more" if len(nodes) > 5 else ""
        what = "Node" if len(nodes) == 1 else "Nodes"
        verb = "is" if len(nodes) == 1 else "are"
        alone = " and would take it otherwise" if funnel.sole and funnel.blame == "cordon" else ""
        who = facts.pods.naming(funnel.pods, inside=True)
        waits = "waits" if len(funnel.pods) == 1 else "wait"
        sentence = f"{what} {shown}{more} {verb} cordoned{alone}, so {who} {waits}. {facts.nodes.sentence(funnel)}"
    else:
        sentence = f"{facts.pods.naming(funnel.pods)} finds nodes cordoned. {facts.nodes.sentence(funnel)}"
    return Found(
        facts.pods.close(sentence),
        (
            *(Evidence(names.subject("Node", node.name), "spec.unschedulable", "true") for node in nodes[:3]),
            *facts.nodes.evidence(funnel),
        ),
        (
            Step(
                "platform",
                "Uncordon the nodes when their maintenance is over, or add others.",
                f"kubectl uncordon {names.named('Node', nodes[0].name)}" if nodes else "kubectl get nodes",
            ),
        ),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in nodes[:5])),
        funnel.certainty,
    )
