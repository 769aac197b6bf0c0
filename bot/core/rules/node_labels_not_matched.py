"""Rule node-labels-not-matched."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Move, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule(
    "pods",
    move="asker",
    outlook="fix",
    phases=("unmanaged", "admitted"),
    needs=("Node", "Pod", "Workload", "ResourceFlavor"),
)
def node_labels_not_matched(facts: Facts) -> Found | None:
    """No node carries the labels that the pod asks for.

    When:
        The pod's `nodeSelector` or required node affinity is met by no node. Labels that Kueue injected from the
        assigned ResourceFlavor are told apart from those that the user wrote.
    Why it blocks:
        The scheduler places a pod only on nodes that meet its selector. If the flavor's `nodeLabels` name labels that no
        node has, every job that gets this flavor ends here, although quota is there.
    What to do:
        Labels of the user's own: correct the job's selector or affinity. Labels of the flavor: the queue's admin
        corrects `spec.nodeLabels` of the ResourceFlavor, or the platform labels or adds nodes.
    """
    funnels = facts.nodes.blaming("labels")
    if not funnels:
        return None
    funnel = funnels[0]
    asked = facts.nodes.wishes(funnel.pod)
    missing = [wish for wish in asked if not wish.met] or list(asked)
    flavors = [wish for wish in missing if wish.flavor]
    own = [wish for wish in missing if not wish.flavor and not wish.injected]
    added = [wish for wish in missing if wish.injected]
    move: Move = "queue-admin" if added and not own else "asker"
    total = len(funnel.nodes)
    inside = funnel.passing("labels")
    subject = facts.pods.naming(funnel.pods)
    asks, finds = ("ask", "match") if len(funnel.pods) > 1 else ("asks", "matches")
    wants = "; ".join(wish.words for wish in missing[:4]) or "its node selector or affinity"
    if not funnel.nodes:
        sentence = f"{subject} {finds} no node by its labels. {facts.nodes.sentence(funnel)}"
    elif inside:
        sentence = f"{subject} {asks} for {wants}: the nodes that carry it do not take it, and others would."
        sentence += f" {facts.nodes.sentence(funnel)}"
    elif total == 1:
        sentence = f"{subject} {asks} for {wants}, and the only node does not carry it."
    elif any(not wish.met for wish in asked):
        sentence = f"{subject} {asks} for {wants}, which none of the {total} nodes carries."
    else:
        sentence = f"{subject} {asks} for {wants}, and no single one of the {total} nodes carries all of it."
    for wish in missing[:2]:
        if wish.there:
            sentence += f" Nodes have {names.quoted(', '.join(wish.there[:4]))}."
    steps = [
        Step(
            "queue-admin",
            f"Correct spec.nodeLabels of ResourceFlavor {wish.flavor}, or label nodes {wish.label}.",
            f"kubectl get resourceflavor {wish.flavor} -o yaml",
        )
        for wish in flavors[:1]
    ]
    if own or not flavors:
        steps.append(Step("asker", "Correct the job's node selector or affinity, or ask for nodes with these labels."))
    evidence = [
        Evidence(names.subject("ResourceFlavor", wish.flavor), f"spec.nodeLabels[{wish.key}]", wish.value)
        for wish in flavors[:3]
    ]
    evidence += [
        Evidence(names.subject("Pod", funnel.pod.name, funnel.pod.namespace), wish.field, names.quoted(wish.label))
        for wish in missing[:3]
    ]
    return Found(
        facts.pods.close(sentence),
        (*evidence, *facts.nodes.evidence(funnel)),
        tuple(steps),
        (
            *facts.pods.subjects(funnel.pods),
            *dict.fromkeys(names.subject("ResourceFlavor", wish.flavor) for wish in flavors),
        ),
        funnel.certainty,
        move,
    )
