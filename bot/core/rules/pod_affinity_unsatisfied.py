"""Rule pod-affinity-unsatisfied."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def pod_affinity_unsatisfied(facts: Facts) -> Found | None:
    """Required pod affinity or anti-affinity leaves no node.

    When:
        Every node that would take the pod is ruled out by the pod's own required affinity or anti-affinity, or by the
        anti-affinity of a pod that already runs there.
    Why it blocks:
        Required (anti-)affinity is a hard rule: with anti-affinity over hostnames at most one such pod runs per node.
    What to do:
        Relax it to `preferredDuringSchedulingIgnoredDuringExecution`, lower the number of pods, or ask for more nodes.
    """
    funnels = facts.nodes.blaming("affinity")
    if not funnels:
        return None
    funnel = funnels[0]
    nodes = funnel.failing("affinity")
    conflicts = facts.nodes.affinity_conflicts(funnel.pod) if nodes else {}
    rows = [(node, *conflicts[node.name]) for node in nodes if node.name in conflicts]
    subject = facts.pods.naming(funnel.pods)
    if rows:
        node, why, other = rows[0]
        beside = f" (pod {names.named('Pod', other.name, other.namespace)})" if other is not None else ""
        many = f"{len(rows)} nodes" if len(rows) > 1 else f"node {names.named('Node', node.name)}"
        sentence = f"{subject} is kept off {many} by {why}{beside}. {facts.nodes.sentence(funnel)}"
    else:
        sentence = f"{subject} is kept off the nodes by pod affinity rules. {facts.nodes.sentence(funnel)}"
    evidence = [
        Evidence(
            names.subject("Pod", other.name, other.namespace) if other else names.subject("Node", node.name),
            "spec.affinity.podAntiAffinity" if other else "metadata.labels",
            f"on node {names.named('Node', node.name)}",
        )
        for node, _, other in rows[:3]
    ]
    return Found(
        facts.pods.close(sentence),
        (*evidence, *facts.nodes.evidence(funnel)),
        (
            Step(
                "asker",
                "Relax the required pod affinity, run fewer pods, or ask for more nodes.",
                facts.pods.describe(funnel.pod),
            ),
        ),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in nodes[:5])),
        funnel.certainty,
    )
