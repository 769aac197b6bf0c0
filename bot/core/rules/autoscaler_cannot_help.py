"""Rule autoscaler-cannot-help."""

from bot.core.diagnosis import Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule(
    "pods",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "admitted"),
    needs=("Pod", "Event", "NodePool", "NodeClaim"),
)
def autoscaler_cannot_help(facts: Facts) -> Found | None:
    """The autoscaler adds no node for these pods.

    When:
        The cluster autoscaler or Karpenter said of a pod that waits for the scheduler why it adds no node, and has not
        begun to since; a NodePool is at its limit; or the NodeClaim that the pod is meant for cannot be launched. Only
        what concerns the resource and the pool that matter is repeated.
    Why it blocks:
        The scheduler finds no node for the pod, and nobody is making one.
    What to do:
        Raise the node group's maximum or the NodePool's limit, allow larger instance types, or try another zone or
        instance type if the cloud has none left.
    """
    said = facts.nodes.autoscaler
    if said is None:
        return None
    return Found(
        facts.pods.close(said.sentence),
        said.evidence,
        (Step("platform", said.step, said.command),),
        said.subjects,
        said.certainty,
    )
