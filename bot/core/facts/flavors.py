"""Which flavor a pod set cannot use, and why: taints, node labels, or that Kueue holds it to another flavor.

As Kueue decides (`pkg/scheduler/flavorassigner`): the flavor's taints against the tolerations of the pods and of the
flavor; node selector and required affinity only as far as they speak of the flavor's own node labels. Older Kueue
compared the label keys of the whole resource group (kueue issue 12446): where its own text shows that, they count as
well. Whether request and topology match is decided in `topology`.
"""

from collections.abc import Collection, Iterable
from typing import Literal

import msgspec

from bot.core import objects as o
from bot.core.facts.requests import PodSetRequests
from bot.core.records import dataclass
from bot.core.scheduling import node_affinity_matches, required_node_affinity, taint_text, untolerated

"""The annotation with which concurrent admission holds a variant to some flavors."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a flavor is out. `text` is short: "taint spot=true:NoSchedule", "labels cloud/gpu"."""

    cause: Literal["taint", "labels", "missing", "held", "topology"]
    text: str
    taints: tuple[o.Taint, ...] = ()
    """The taints that nobody tolerates (cause "taint")."""
    labels: tuple[str, ...] = ()
    """The keys of the flavor's node labels that the pods do not select (cause "labels")."""


def exclusion(
    name: str,
    flavor: o.ResourceFlavor | None,
    pod_sets: Iterable[PodSetRequests],
    *,
    allowed: str | None = None,
    others: Iterable[str] = (),
) -> Exclusion | None:
    """Give the reason why pod sets cannot use a flavor, None when they can.

    `flavor` None: proven absent. `allowed`: the value of the Workload's ALLOWED_FLAVORS annotation, None without one.
    `others`: label keys of other flavors that count, too.
    """
    if flavor is None:
        return Exclusion("missing", "no such ResourceFlavor")
    if allowed is not None and name not in {part.strip() for part in allowed.split(",")}:
        return Exclusion("held", "this variant is for other flavors")
    for pod_set in pod_sets:
        bad = untolerated(flavor.spec.node_taints, (*pod_set.spec.tolerations, *flavor.spec.tolerations))
        if bad:
            return Exclusion("taint", "taint " + ", ".join(taint_text(taint) for taint in bad), taints=bad)
        relevant = _about(pod_set.spec, {*flavor.spec.node_labels, *others})
        if not node_affinity_matches(relevant, flavor.spec.node_labels, ""):
            keys = _disagreeing(relevant, flavor.spec.node_labels)
            return Exclusion("labels", "labels " + ", ".join(keys), labels=keys)
        other = next((kept for kept in pod_set.kept.values() if kept != name), None)
        if other is not None and name not in pod_set.kept.values():
            return Exclusion("held", f"the slice it replaces is in flavor {other}")
    return None


def _about(spec: o.PodSpec, labels: Collection[str]) -> o.PodSpec:
    """Keep of a pod's node selector and required affinity what speaks of these label keys.

    A term that says nothing of them is met by every flavor, and since terms are alternatives, so is the affinity.
    """
    affinity = None
    required = required_node_affinity(spec)
    if required is not None:
        terms = [
            tuple(entry for entry in term.match_expressions if entry.key in labels)
            for term in required.node_selector_terms
        ]
        if terms and all(terms):
            kept = o.NodeSelector(tuple(o.NodeSelectorTerm(match_expressions=term) for term in terms))
            affinity = o.Affinity(node_affinity=o.NodeAffinity(kept))
    selector = {key: value for key, value in spec.node_selector.items() if key in labels}
    return msgspec.structs.replace(spec, node_selector=selector, affinity=affinity)


def _disagreeing(spec: o.PodSpec, labels: dict[str, str]) -> tuple[str, ...]:
    """Give the label keys on which a pod and a flavor disagree: those of the selector first, else those of the affinity."""
    keys = {key for key, value in spec.node_selector.items() if labels.get(key) != value}
    required = required_node_affinity(spec)
    if required is not None and not keys:
        keys = {entry.key for term in required.node_selector_terms for entry in term.match_expressions}
    return tuple(sorted(keys))


def selected_keys(spec: o.PodSpec) -> frozenset[str]:
    """Give the label keys that a pod's node selector and required node affinity speak of."""
    required = required_node_affinity(spec)
    terms = required.node_selector_terms if required is not None else ()
    return frozenset(spec.node_selector) | {entry.key for term in terms for entry in term.match_expressions}


def selects(pod_sets: Iterable[PodSetRequests], keys: Iterable[str]) -> tuple[str, ...]:
    """Give what the pods themselves say about these label keys: "cloud/gpu=t4", "zone In a, b"; sorted, unique."""
    wanted = set(keys)
    found = set()
    for pod_set in pod_sets:
        found |= {f"{key}={value}" for key, value in pod_set.spec.node_selector.items() if key in wanted}
        required = required_node_affinity(pod_set.spec)
        for term in required.node_selector_terms if required is not None else ():
            for entry in term.match_expressions:
                if entry.key in wanted:
                    values = f" {', '.join(entry.values)}" if entry.values else ""
                    found.add(f"{entry.key} {entry.operator}{values}")
    return tuple(sorted(found))
