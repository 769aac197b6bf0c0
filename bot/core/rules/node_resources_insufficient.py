"""Rule node-resources-insufficient."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Outlook, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import Funnel, Room
from bot.core.facts.shortage import amount, listing
from bot.core.quantity import human
from bot.core.rule import rule
from bot.core.scheduling import pod_requests


@rule("pods", move="platform", outlook="wait", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def node_resources_insufficient(facts: Facts) -> Found | None:
    """No node has the room.

    When:
        Nodes pass the pod's labels, taints and the rest, but none has enough of a resource free: what it offers
        (`status.allocatable`) less what the pods on it ask for, their number included.
    Why it blocks:
        Kueue admits against quota, the scheduler places on nodes. The quota may be larger than the nodes, what is free
        may be scattered over many nodes, or pods that Kueue does not count use the nodes.
    What to do:
        If an emptied node would do, or an autoscaler has begun to add one: wait, or free a node. If the pod is larger
        than any node: ask for less per pod, or add larger nodes; the queue's admin should not promise more quota than
        the nodes hold.
    """
    funnels = facts.nodes.blaming("resources")
    funnels = tuple(f for f in funnels if not f.nodes or facts.nodes.rooms(f, facts.nodes.unadvertised(f)))
    if not funnels:
        return None
    funnel = funnels[0]
    subject = facts.pods.naming(funnel.pods)
    if not funnel.nodes:
        parts = funnel.verdict.of("resources") if funnel.verdict is not None else ()
        asked = {**pod_requests(funnel.pod.spec), "pods": 1}
        short = sorted({part.detail for part in parts})
        what = " and ".join(amount(name, asked[name]) if name in asked else names.quoted(name) for name in short)
        return Found(
            facts.pods.close(f"{subject} finds no node with {what} free. {facts.nodes.sentence(funnel)}"),
            facts.nodes.evidence(funnel),
            (Step("platform", "Compare what the pods ask for with what the nodes offer.", "kubectl describe nodes"),),
            facts.pods.subjects(funnel.pods),
            funnel.certainty,
            outlook="fix",
        )
    rooms = facts.nodes.rooms(funnel)
    never = funnel.blame == "resources" and not facts.nodes.would_fit_emptied(funnel) and not facts.nodes.coming(funnel)
    outlook: Outlook = "never-as-written" if never else "wait"
    return Found(
        facts.pods.close(_sentence(facts, funnel, rooms, subject, never=never)),
        (*_evidence(rooms), *facts.nodes.evidence(funnel)),
        _steps(facts, funnel, rooms, never=never),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", room.freest.name) for room in rooms[:1])),
        "certain" if never else funnel.certainty,
        move="nobody" if facts.nodes.coming(funnel) else None,
        outlook=outlook,
    )


def _sentence(facts: Facts, funnel: Funnel, rooms: tuple[Room, ...], subject: str, *, never: bool) -> str:
    verb = "needs" if len(funnel.pods) == 1 else "need"
    each = "" if len(funnel.pods) == 1 else " each"
    texts = []
    for room in rooms[:3]:
        if room.resource == "pods":
            texts.append(
                f"room for one more pod (node {names.named('Node', room.largest.name)} runs "
                f"{room.most - (room.free or 0)} of at most {room.most})"
            )
            continue
        free = f"the largest free is {human(room.resource, room.free)} " if room.free is not None else ""
        on = f"on node {names.named('Node', room.freest.name)}, " if room.free is not None else ""
        texts.append(
            f"{amount(room.resource, room.asked)}{each} on one node ({free}{on}"
            f"the largest node has {human(room.resource, room.most)})"
        )
    sentence = f"{subject} {verb} {' and '.join(texts)}. {facts.nodes.sentence(funnel)}"
    scattered = next((room for room in rooms if room.total_free is not None and room.total_free >= room.asked), None)
    nominated = funnel.pod.status.nominated_node_name
    if nominated:
        sentence += f" The scheduler is making room for it on node {names.named('Node', nominated)}."
    elif never:
        kept = any(facts.nodes.most_emptied(funnel, room.resource) < room.most for room in rooms)
        sentence += (
            f" Even an empty node is too small{', for its DaemonSets and static pods take their part' if kept else ''}."
        )
    elif scattered is not None and scattered.resource != "pods" and not facts.nodes.coming(funnel):
        sentence += f" {amount(scattered.resource, scattered.total_free or 0)} are free, but scattered over nodes."
    return sentence


def _evidence(rooms: tuple[Room, ...]) -> tuple[Evidence, ...]:
    rows = []
    for room in rooms[:3]:
        allocatable = f"status.allocatable[{room.resource}]"
        rows.append(Evidence(names.subject("Node", room.largest.name), allocatable, human(room.resource, room.most)))
        if room.free is not None:
            node = names.subject("Node", room.freest.name)
            rows.append(Evidence(node, f"free {room.resource}", human(room.resource, room.free), "computed"))
    return tuple(rows)


def _steps(facts: Facts, funnel: Funnel, rooms: tuple[Room, ...], *, never: bool) -> tuple[Step, ...]:
    room = rooms[0]
    if never:
        add = Step("platform", "Add a node that is large enough, and keep the quota within what the nodes hold.")
        most = {entry.resource: facts.nodes.most_emptied(funnel, entry.resource) for entry in rooms}
        over = [entry.resource for entry in rooms if entry.asked > most[entry.resource] > 0]
        if not over:
            return (add,)
        return (add, Step("asker", f"Or ask for at most {listing(amount(r, most[r]) for r in over)} per pod."))
    if facts.nodes.coming(funnel):
        return (Step("nobody", "Wait for the new node; ask again when it is there.", "kubectl get nodes"),)
    return (
        Step(
            "platform", f"Free a node or add one; see who uses {room.resource} on the nodes.", "kubectl describe nodes"
        ),
        Step("nobody", "Or wait until a node is free."),
    )
