"""Rule flavor-labels-not-selected."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.flavors import selects
from bot.core.facts.quota import NEEDS
from bot.core.facts.suggestions import steps, ways
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown
from bot.core.texts import AffinityMismatch


@rule("quota", move="asker", outlook="never-as-written", phases=("waiting",), needs=NEEDS)
def flavor_labels_not_selected(facts: Facts) -> Found | None:
    """The pods select node labels that no flavor offers.

    When:
        Every flavor of a resource group is excluded for some pod set, all of them because the pods' nodeSelector or
        required node affinity contradicts the ResourceFlavor's `nodeLabels`. Label keys that a flavor does not have are
        not compared.
    Why it blocks:
        Kueue adds a flavor's labels to the pods' node selector: together with what the pods select, no node would match.
    What to do:
        Select what a flavor of the queue offers; or use a queue with such a flavor.
    """
    try:
        out = facts.quota.excluded
    except Unknown:
        return _reported(facts)
    if not out or any(result.exclusion is None or result.exclusion.cause != "labels" for result in out):
        return None
    workload, queue = facts.identity.want(), facts.queue.cluster_queue_name
    keys = {key for result in out if result.exclusion is not None for key in result.exclusion.labels}
    names = set(out[0].pod_sets)
    wanted = selects([pod_set for pod_set in facts.quota.requests if pod_set.name in names], keys)
    offered, proof = [], []
    for result in out:
        flavor = facts.queue.flavor(result.flavor)
        labels = {key: value for key, value in (flavor.spec.node_labels if flavor else {}).items() if key in keys}
        text = ", ".join(f"{key}={value}" for key, value in sorted(labels.items())) or "no such label"
        offered.append(f"{quoted(result.flavor)} ({quoted(text)})")
        proof.append(Evidence(subject("ResourceFlavor", result.flavor), "spec.nodeLabels", quoted(text)))
    mine = subject("Workload", workload.name, workload.namespace)
    proof.append(Evidence(mine, "spec.podSets[].template.spec.nodeSelector and affinity", quoted(", ".join(wanted))))
    sentence = (
        f"The pods select {words.listing(map(quoted, wanted))}, which no flavor of ClusterQueue"
        f" {named('ClusterQueue', queue)} offers: {words.listing(offered)}."
    )
    options = ways(*steps(facts)) or (
        Step(
            "asker",
            f"Select what one of these flavors offers: {words.listing(offered)}; or use a queue that has such a flavor.",
        ),
    )
    return Found(
        sentence,
        tuple(proof),
        options,
        (subject("ClusterQueue", queue), *(subject("ResourceFlavor", r.flavor) for r in out)),
    )


def _reported(facts: Facts) -> Found | None:
    """Take Kueue's word where the flavors or the queue were not read. Raises Unknown when it says nothing of it."""
    said = facts.quota.said_excluded
    if not said or any(not isinstance(reason, AffinityMismatch) for reason in said):
        _ = facts.quota.excluded
        return None
    workload = facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    flavors = words.listing(dict.fromkeys(quoted(reason.flavor) for reason in said))
    return Found(
        f"The pods select node labels that no flavor of {words.here(facts)} offers, says Kueue: not {flavors}.",
        (Evidence(mine, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),),
        (Step("asker", "Select what a flavor of the queue offers, or use a queue that has such a flavor."),),
        (mine,),
        certainty="reported",
    )
