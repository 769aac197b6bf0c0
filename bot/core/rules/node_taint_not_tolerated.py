"""Rule node-taint-not-tolerated."""

from collections import Counter

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Move, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import state_of_taint
from bot.core.objects import Taint
from bot.core.rule import rule
from bot.core.scheduling import taint_text


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def node_taint_not_tolerated(facts: Facts) -> Found | None:
    """The nodes that fit have a taint that the pod does not tolerate.

    When:
        Nodes that would take the pod carry a taint (NoSchedule or NoExecute) that it does not tolerate, and no other node
        takes it. A taint that the system sets is named for what it means: a node that is not ready, that is being
        removed by an autoscaler.
    Why it blocks:
        A taint keeps every pod off the node that does not tolerate it.
    What to do:
        Add the toleration to the job's pod template, or let the queue's admin put it into the ResourceFlavor
        (`spec.tolerations`), from which Kueue injects it. Taints of lost or draining nodes are the platform's.
    """
    funnels = facts.nodes.blaming("taint")
    if not funnels:
        return None
    funnel = funnels[0]
    subject = facts.pods.naming(funnel.pods)
    nodes = [view.node for view in funnel.nodes if view.only("taint")] or list(funnel.failing("taint"))
    taints = Counter(taint for node in nodes for taint in facts.nodes.untolerated(node, funnel.pod))
    ranked = sorted({(taint_text(t), state_of_taint(t)) for t in taints})
    text = ", ".join(names.quoted(taint) for taint, _ in ranked[:4])
    states = sorted({state for _, state in ranked if state})
    verb = "tolerates" if len(funnel.pods) == 1 else "tolerate"
    if nodes:
        one = len(nodes) == 1
        where = f"node {names.named('Node', nodes[0].name)}" if one else f"{len(nodes)} nodes"
        sentence = f"{subject} {'does' if verb == 'tolerates' else 'do'} not tolerate {text} of {where}"
        if states:
            sentence += f" ({'it is' if one else 'they are'} {' or '.join(states)})"
        sentence += f". {facts.nodes.sentence(funnel)}"
    else:
        told = [
            _told(part.detail)
            for part in (funnel.verdict.of("taint") if funnel.verdict is not None else ())
            if part.detail
        ]
        text = ", ".join(f"{names.quoted(taint)}{f' (the node is {state})' if state else ''}" for taint, state in told)
        what = f"the taint {text}" if text else "a taint of nodes that would take it"
        sentence = (
            f"{subject} {'does' if verb == 'tolerates' else 'do'} not tolerate {what}. {facts.nodes.sentence(funnel)}"
        )
        ranked = told
    move: Move = "platform" if ranked and all(state for _, state in ranked) else "asker"
    flavor = facts.nodes.flavor_without(funnel)
    if flavor and move == "asker":
        move = "queue-admin"
        sentence += (
            f" ResourceFlavor {flavor} stands for these nodes and names neither the taint nor a toleration of it."
        )
    if move == "platform":
        steps = [Step("platform", "Bring these nodes back, or replace them.", "kubectl get nodes")]
    else:
        own = [taint for taint, state in ranked if not state]
        first = own[0] if own else "the taint"
        steps = [Step("queue-admin", f"Put the taint and a toleration into ResourceFlavor {flavor}.")] if flavor else []
        steps += [
            Step("asker", f"Add a toleration for {names.quoted(first)} to the pod template, if it may run there."),
            Step("queue-admin", "Or put the toleration into the ResourceFlavor, so that Kueue injects it."),
        ]
    return Found(
        facts.pods.close(sentence),
        (
            *(
                Evidence(
                    names.subject("Node", node.name),
                    "spec.taints",
                    names.quoted(", ".join(taint_text(t) for t in facts.nodes.untolerated(node, funnel.pod))),
                )
                for node in nodes[:3]
            ),
            *facts.nodes.evidence(funnel),
        ),
        tuple(steps),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in nodes[:5])),
        funnel.certainty,
        move,
    )


def _told(detail: str) -> tuple[str, str]:
    """The taint that the scheduler's text names as "key: value", and what it means for the node where the system set it."""
    key, _, value = (part.strip() for part in detail.partition(":"))
    return (f"{key}={value}" if value else key), state_of_taint(Taint(key=key, value=value))
