"""Rule topology-spread-unsatisfied."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Node", "Pod"))
def topology_spread_unsatisfied(facts: Facts) -> Found | None:
    """A topology spread constraint leaves no node.

    When:
        Every node that would take the pod would make the spread of such pods more uneven than `maxSkew` of a
        `DoNotSchedule` constraint allows, or lacks the label that the constraint counts by.
    Why it blocks:
        The constraint is a hard rule. A domain that cannot take pods (full, tainted, cordoned) still counts, and holds
        the others down.
    What to do:
        Raise `maxSkew`, use `ScheduleAnyway`, leave unusable domains out (`nodeTaintsPolicy: Honor`), or make room in the
        emptiest domain.
    """
    funnels = facts.nodes.blaming("spread")
    if not funnels:
        return None
    funnel = funnels[0]
    nodes = funnel.failing("spread")
    conflicts = facts.nodes.spread_conflicts(funnel.pod) if nodes else {}
    constraints = funnel.pod.spec.topology_spread_constraints
    keys = sorted(set(conflicts.values())) or sorted({c.topology_key for c in constraints})
    skew = next((c.max_skew for c in constraints if c.topology_key == keys[0]), None) if keys else None
    subject = facts.pods.naming(funnel.pods)
    by = names.quoted(", ".join(keys)) or "a label"
    limit = f" with maxSkew {skew}" if skew is not None else ""
    where = f"{len(nodes)} of {len(funnel.nodes)} nodes" if nodes else "the nodes"
    return Found(
        facts.pods.close(
            f"{subject} must be spread by {by}{limit}, which rules out {where}. {facts.nodes.sentence(funnel)}"
        ),
        (
            Evidence(
                names.subject("Pod", funnel.pod.name, funnel.pod.namespace),
                "spec.topologySpreadConstraints",
                f"{by}{limit}",
            ),
            *facts.nodes.evidence(funnel),
        ),
        (Step("asker", "Raise maxSkew or use ScheduleAnyway, or make room in the domain with the fewest pods."),),
        (*facts.pods.subjects(funnel.pods), *(names.subject("Node", node.name) for node in nodes[:5])),
        funnel.certainty,
    )
