"""Rule volume-zone-conflict."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import claims_of
from bot.core.rule import rule


@rule(
    "pods",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "admitted"),
    needs=("Node", "Pod", "PersistentVolumeClaim", "PersistentVolume"),
)
def volume_zone_conflict(facts: Facts) -> Found | None:
    """The volume ties the pod to nodes that cannot take it.

    When:
        The pod's bound volume can be reached from some nodes only (its zone, or one node), and the nodes that would take
        the pod are not among them.
    Why it blocks:
        A volume that exists already does not move: the pod must go where it is, whatever is free elsewhere.
    What to do:
        Move the data to a volume in a zone with the right nodes, use a storage class with WaitForFirstConsumer for new
        volumes, or add nodes in the volume's zone.
    """
    funnels = facts.nodes.blaming("volume")
    if not funnels:
        return None
    funnel = funnels[0]
    ties = facts.nodes.tied(funnel.pod)
    subject = facts.pods.naming(funnel.pods)
    claims = ties or tuple((claim, "", "") for claim in claims_of(funnel.pod)[:1])
    texts = [
        f"volume claim {names.named('PersistentVolumeClaim', claim, funnel.pod.namespace)}"
        + (f" ({names.quoted(where)})" if where else "")
        for claim, _, where in claims
    ]
    evidence = [
        Evidence(names.subject("PersistentVolume", volume), "spec.nodeAffinity.required", names.quoted(where))
        for _, volume, where in ties
    ]
    return Found(
        facts.pods.close(
            f"{subject} is tied to {' and '.join(texts)}, where no node takes it. {facts.nodes.sentence(funnel)}"
        ),
        (*evidence, *facts.nodes.evidence(funnel)),
        (
            Step("platform", "Add suitable nodes in the volume's zone, or move the volume's data to another zone."),
            Step("asker", "Or use a volume in a zone that has the nodes."),
        ),
        (
            *facts.pods.subjects(funnel.pods),
            *(names.subject("PersistentVolumeClaim", claim, funnel.pod.namespace) for claim, _, _ in claims),
        ),
        funnel.certainty,
    )
