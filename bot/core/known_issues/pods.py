"""Signatures of issues in the pods of an admitted Workload: put on the wrong node, gated for ever, kept when they have ended."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core import quantity
from bot.core.diagnosis import Evidence
from bot.core.jobs import is_over, suspended
from bot.core.known_issues.issue import Match
from bot.core.marks import ELASTIC, POD_SET, PREFIX, TOPOLOGY_GATE
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.scheduling import node_affinity_matches

if TYPE_CHECKING:
    from bot.core.facts import Facts


_LOOKED_AT = 20  # pods of one job are alike


def _pinned(facts: "Facts") -> Iterable[tuple[o.Pod, o.PodSpec, dict[str, str], list[o.Node]]]:
    """Unscheduled pods that Kueue pinned: the pod, its own template, what Kueue added to its selector, the nodes that has."""
    workload = facts.identity.workload
    if workload is None or facts.progress.phase != "admitted":
        return
    flavors = [
        facts.snapshot.look_of(o.ResourceFlavor, name)
        for entry in (workload.status.admission.pod_set_assignments if workload.status.admission else ())
        for name in entry.flavors.values()
    ]
    injected_by_flavor = {key for flavor in flavors if flavor is not None for key in flavor.spec.node_labels}
    for pod in sorted(facts.pods.unscheduled, key=lambda item: item.name)[:_LOOKED_AT]:
        template = _template(workload, pod)
        added = {
            key: value
            for key, value in pod.spec.node_selector.items()
            if key not in template.node_selector and key not in injected_by_flavor
        }
        nodes = [
            node
            for node in facts.snapshot.all_of(o.Node, read="seen")
            if added and all(node.metadata.labels.get(key) == value for key, value in added.items())
        ]
        if nodes:
            yield pod, template, added, nodes


def _template(workload: o.Workload, pod: o.Pod) -> o.PodSpec:
    name = pod.metadata.labels.get(POD_SET, "")
    sets = workload.spec.pod_sets
    found = next((entry for entry in sets if entry.name == name), sets[0] if sets else None)
    return found.template.spec if found is not None else o.PodSpec()


def own_placement(facts: "Facts", *, by_selector: bool) -> Match | None:
    """Kueue put a pod on a node that the pod's own node selector, or else its required affinity, does not allow."""
    for pod, template, added, nodes in _pinned(facts):
        own = template if template.node_selector or template.affinity else pod.spec
        selector = {key: value for key, value in own.node_selector.items() if key not in added}
        affinity = own.affinity.node_affinity if own.affinity is not None else None
        if by_selector:
            wanted = o.PodSpec(node_selector=selector)
            shown = ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))
        else:
            wanted = o.PodSpec(affinity=own.affinity)
            shown = "the required node affinity"
        if not (selector if by_selector else affinity):
            continue
        if any(node_affinity_matches(wanted, node.metadata.labels, node.name) for node in nodes):
            continue
        others = [
            node.name
            for node in facts.snapshot.all_of(o.Node, read="seen")
            if node_affinity_matches(wanted, node.metadata.labels, node.name)
        ]
        if not others:
            continue
        placed = ", ".join(named("Node", node.name) for node in nodes[:3])
        fit = ", ".join(named("Node", name) for name in sorted(others)[:3])
        return Match(
            f"Kueue put pod {named('Pod', pod.name, pod.namespace)} on {placed}, which does not match {quoted(shown)}; "
            f"{fit} {'does' if len(others) == 1 else 'do'}",
            (
                Evidence(
                    subject("Pod", pod.name, pod.namespace), "spec.nodeSelector",
                    quoted(", ".join(f"{k}={v}" for k, v in sorted(pod.spec.node_selector.items()))),
                ),
            ),
        )  # fmt: skip
    return None


def pods_of_node(facts: "Facts", *, several: bool) -> Match | None:
    """Kueue put a pod on a node that runs as many pods as it may, for a Workload of one or of `several` pod sets."""
    workload = facts.identity.workload
    if workload is None or (len(workload.spec.pod_sets) > 1) is not several:
        return None
    runs = Counter(other.spec.node_name for other in facts.snapshot.all_of(o.Pod, read="seen") if not is_over(other))
    for pod, _, _, nodes in _pinned(facts):
        rooms = {node.name: quantity.readable("pods", node.status.allocatable.get("pods", "0")) or 0 for node in nodes}
        said = condition(pod.status.conditions, "PodScheduled")
        told = said is not None and "Too many pods" in said.message and len(nodes) == 1
        if not all(room and (runs[name] >= room or told) for name, room in rooms.items()):
            continue
        node, room = min(rooms.items())
        return Match(
            f"Kueue put pod {named('Pod', pod.name, pod.namespace)} on {named('Node', node)}, which runs as many pods as it may "
            f"({room})",
            (
                Evidence(subject("Node", node), "status.allocatable[pods]", str(room)),
                Evidence(
                    subject("Pod", pod.name, pod.namespace),
                    "status.conditions[PodScheduled].message",
                    quoted(said.message if said is not None else ""),
                ),
            ),
        )
    return None


def _gated(facts: "Facts", gate: str) -> list[o.Pod]:
    """The pods of an admitted Workload that still carry one of Kueue's gates, by name."""
    if facts.progress.phase != "admitted":
        return []
    return [
        pod
        for pod in sorted(facts.pods.all, key=lambda item: item.name)
        if not pod.spec.node_name and any(entry.name == gate for entry in pod.spec.scheduling_gates)
    ]


def origin_slice_gone(facts: "Facts") -> Match | None:
    """A gated pod of an elastic job refers to a Workload slice that is gone."""
    for pod in _gated(facts, ELASTIC):
        origin = pod.metadata.annotations.get(PREFIX + "workload-slice-name", "")
        if origin and facts.snapshot.find("Workload", origin, pod.namespace) is None:
            name = named("Pod", pod.name, pod.namespace)
            return Match(
                f"gated pod {name} refers to Workload {named('Workload', origin, pod.namespace)}, which is gone",
                (
                    Evidence(
                        subject("Pod", pod.name, pod.namespace),
                        f"metadata.annotations[{PREFIX}workload-slice-name]",
                        origin,
                    ),
                ),
            )
    return None


def slices_alone(facts: "Facts") -> Match | None:
    """A gated pod asks for slices of a topology and for nothing else of it."""
    for pod in _gated(facts, TOPOLOGY_GATE):
        asks = {key.removeprefix(PREFIX) for key in pod.metadata.annotations if key.startswith(PREFIX)}
        alone = sorted(key for key in asks if key.startswith("podset-slice-required-topology"))
        if alone and not asks & {f"podset-{mode}-topology" for mode in ("required", "preferred", "unconstrained")}:
            return Match(
                f"gated pod {named('Pod', pod.name, pod.namespace)} asks for topology by {quoted(alone[0])} alone",
                (Evidence(subject("Pod", pod.name, pod.namespace), "metadata.annotations", quoted(alone[0])),),
            )
    return None


def uneven_slices(facts: "Facts") -> Match | None:
    """A pod is gated whose slices do not divide the number of pods."""
    for pod in _gated(facts, TOPOLOGY_GATE):
        size = quantity.readable("pods", pod.metadata.annotations.get(PREFIX + "podset-slice-size", "0")) or 0
        place = facts.pods.pod_set_of(pod)
        count = place[1].count if place is not None and place[1] is not None else 0
        if size and count % size:
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} is gated, and its slices of {size} do not divide the {count} pods",
                (
                    Evidence(
                        subject("Pod", pod.name, pod.namespace),
                        f"metadata.annotations[{PREFIX}podset-slice-size]",
                        str(size),
                    ),
                ),
            )
    return None


def surge_group(facts: "Facts") -> Match | None:
    """A pod of a LeaderWorkerSet is gated that is beyond its number of groups."""
    root = facts.identity.root
    if not isinstance(root, o.Job) or root.kind != "LeaderWorkerSet":
        return None
    replicas = root.spec.get("replicas")
    wanted = replicas if isinstance(replicas, int) else 1
    for pod in sorted(facts.pods.all, key=lambda item: item.name):
        index = pod.metadata.labels.get("leaderworkerset.sigs.k8s.io/group-index", "")
        if index.isdecimal() and int(index) >= wanted and suspended(pod) and not pod.spec.node_name:
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} of the surge group {index} is gated, beyond the {wanted} groups of "
                f"LeaderWorkerSet {named(root.kind, root.name, root.namespace)}",
                (Evidence(subject("Pod", pod.name, pod.namespace), "spec.schedulingGates", "set"),),
            )
    return None


def ended_and_kept(facts: "Facts") -> Match | None:
    """A pod of a StatefulSet has ended, and Kueue's finalizer keeps it, so that no new one takes its place."""
    root = facts.identity.root
    if not isinstance(root, o.Job) or root.kind != "StatefulSet":
        return None
    for pod in sorted(facts.pods.all, key=lambda item: item.name):
        kept = PREFIX + "managed" in pod.metadata.finalizers and pod.metadata.deletion_timestamp is not None
        if kept and is_over(pod):
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} has ended and is kept by Kueue's finalizer",
                (Evidence(subject("Pod", pod.name, pod.namespace), "metadata.finalizers", PREFIX + "managed"),),
            )
    return None
