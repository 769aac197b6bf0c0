"""Rule flavor-taint-not-tolerated."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.assignment import FlavorResult
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import steps, ways
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.scheduling import taint_text
from bot.core.snapshot import Unknown
from bot.core.texts import UntoleratedTaint


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def flavor_taint_not_tolerated(facts: Facts) -> Found | None:
    """The pods do not tolerate the taint of the flavor.

    When:
        Every flavor of a resource group is excluded for some pod set, and at least one because of a NoSchedule or
        NoExecute taint in the ResourceFlavor's `nodeTaints` that neither the pods nor the flavor's own `tolerations`
        tolerate.
    Why it blocks:
        Kueue offers a tainted flavor only to pods that may run on its nodes.
    What to do:
        Add the toleration to the pod template, if the job may run there. If everybody of the queue may, put it into the
        ResourceFlavor's `tolerations`.
    """
    try:
        out = facts.quota.excluded
    except Unknown:
        return _reported(facts)
    tainted = [result for result in out if result.exclusion is not None and result.exclusion.cause == "taint"]
    if not tainted:
        return None
    workload, queue = facts.identity.want(), facts.queue.cluster_queue_name
    parts = [
        f"flavor {quoted(result.flavor)}: {quoted(result.exclusion.text)}"
        for result in out
        if result.exclusion is not None
    ]
    bad = {
        result.flavor: [quoted(taint_text(taint)) for taint in result.exclusion.taints]
        for result in out
        if result.exclusion
    }
    taints = words.listing(dict.fromkeys(text for texts in bad.values() for text in texts))
    own = sorted({entry.key or "everything" for p in workload.spec.pod_sets for entry in p.template.spec.tolerations})
    mine = subject("Workload", workload.name, workload.namespace)
    proof = [
        Evidence(subject("ResourceFlavor", result.flavor), "spec.nodeTaints", words.listing(bad[result.flavor]))
        for result in tainted
    ]
    proof.append(Evidence(mine, "spec.podSets[].template.spec.tolerations", quoted(", ".join(own)) or "none"))
    pods = words.listing(map(quoted, tainted[0].pod_sets))
    if len(out) == 1:
        sentence = (
            f"The pods do not tolerate {taints} of flavor {quoted(out[0].flavor)}, the only flavor that ClusterQueue"
            f" {named('ClusterQueue', queue)} has for pod set {pods}."
        )
        return Found(sentence, tuple(proof), _options(facts, taints), _subjects(queue, tainted))
    sentence = (
        f"No flavor of ClusterQueue {named('ClusterQueue', queue)} takes pod set {pods}:"
        f" {'; '.join(parts)}. The pods do not tolerate {taints}."
    )
    return Found(sentence, tuple(proof), _options(facts, taints), _subjects(queue, tainted))


def _options(facts: Facts, taints: str) -> tuple[Step, ...]:
    add = Step("asker", f"Add a toleration for {taints} to the pods, if they may run there.")
    return ways(*steps(facts)) or (add,)


def _subjects(queue: str, tainted: list[FlavorResult]) -> tuple[str, ...]:
    return (subject("ClusterQueue", queue), *(subject("ResourceFlavor", result.flavor) for result in tainted))


def _reported(facts: Facts) -> Found | None:
    """Take Kueue's word where the flavors or the queue were not read. Raises Unknown when it says nothing of it."""
    said = [reason for reason in facts.quota.said_excluded if isinstance(reason, UntoleratedTaint)]
    if not said:
        _ = facts.quota.excluded
        return None
    workload = facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    taints = words.listing(
        dict.fromkeys(f"{quoted(r.key)}{'=' if r.value else ''}{quoted(r.value)}:{quoted(r.effect)}" for r in said)
    )
    flavors = words.listing(dict.fromkeys(quoted(reason.flavor) for reason in said))
    return Found(
        f"No flavor of {words.here(facts)} takes its pods: Kueue says that they do not tolerate {taints} of flavor {flavors}.",
        (Evidence(mine, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),),
        (Step("asker", f"Add a toleration for {taints} to the pods, if they may run there."),),
        (mine,),
        certainty="reported",
    )
