"""Topology-aware scheduling: domains made of nodes, how many pods fit into each, and where Kueue put the pods.

As Kueue counts (`pkg/cache/scheduler/tas_flavor_snapshot.go`): the nodes of a flavor carry its labels and a label for
every level, are ready and schedulable; taints, node selector and affinity count only where the lowest level is the node
itself. A domain's room is what its nodes can allocate without the pods that run there and what other Workloads' topology
assignments hold. Pods are counted at the lowest level and summed upwards, whole slices only at the slice's level.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from bot.core import objects as o
from bot.core.diagnosis import Source
from bot.core.facts.flavors import Exclusion
from bot.core.facts.lazy import fact
from bot.core.facts.preemption import reservation_stands
from bot.core.jobs import is_over
from bot.core.marks import MULTIKUEUE, POD_SET, PREFIX, PROVISIONING, WORKLOAD
from bot.core.names import named, quoted
from bot.core.objects import condition
from bot.core.quantity import amount, human
from bot.core.records import dataclass
from bot.core.scheduling import (
    node_selector_matches,
    pod_requests,
    required_node_affinity,
    taint_text,
    untolerated,
)
from bot.core.snapshot import ACTIVE, Unknown
from bot.core.untyped import number

if TYPE_CHECKING:
    from bot.core.facts import Facts

HOSTNAME = "kubernetes.io/hostname"
DELAYING = frozenset({PROVISIONING, MULTIKUEUE})
"""Controllers of admission checks for which Kueue assigns the topology in a second pass only."""

_MOST_DOMAINS = 100_000  # the API's own limit

Values = tuple[str, ...]
"""A domain: its label values from the top level down."""
Amounts = dict[str, int]
Mode = Literal["required", "preferred", "unconstrained", "implied", "none"]


@dataclass(frozen=True, slots=True)
class Placed:
    """One domain of a topology assignment: label values from the top level down, and how many pods go there."""

    values: Values
    count: int


def decode(assignment: o.TopologyAssignment) -> tuple[Placed, ...]:
    """Give the domains of an assignment in either form: v1beta1 `domains`, or v1beta2's compressed `slices`.

    Raises Unknown when a slice contradicts itself (fewer values than domains).
    """
    found = [Placed(domain.values, domain.count) for domain in assignment.domains]
    for part in assignment.slices:
        size = number(part.get("domainCount"), -1)
        levels, counts = part.get("valuesPerLevel"), part.get("podCounts")
        if not 0 <= size <= _MOST_DOMAINS or not isinstance(levels, list) or not isinstance(counts, dict):
            reason = "the topology assignment cannot be read"
            raise Unknown(reason)
        columns = [_column(level, size) for level in levels]
        found += [
            Placed(tuple(column[at] for column in columns), count) for at, count in enumerate(_pods(counts, size))
        ]
    return tuple(found)


def _column(level: Any, size: int) -> list[str]:  # noqa: ANN401 - untyped JSON
    if isinstance(level, dict):
        if isinstance(level.get("universal"), str):
            return [level["universal"]] * size
        single = level.get("individual")
        if isinstance(single, dict):
            before, after, roots = single.get("prefix") or "", single.get("suffix") or "", single.get("roots") or []
            if isinstance(roots, list) and len(roots) == size:
                return [f"{before}{root}{after}" for root in roots]
    reason = "the topology assignment cannot be read: its values do not match its domains"
    raise Unknown(reason)


def _pods(counts: dict[str, Any], size: int) -> list[int]:
    same = counts.get("universal")
    if isinstance(same, int):
        return [same] * size
    single = counts.get("individual")
    if isinstance(single, list) and len(single) == size and all(isinstance(entry, int) for entry in single):
        return list(single)
    reason = "the topology assignment cannot be read: its pod counts do not match its domains"
    raise Unknown(reason)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a pod set asks of the topology. `level` "": the lowest level, or the highest for slices alone.

    `slice_size` 1: no slices. `layers`: further slice sizes inside the slices, (level, size) from the outside in.
    """

    pod_set: str
    count: int
    min_count: int | None
    mode: Mode
    level: str
    slice_level: str
    slice_size: int
    layers: tuple[tuple[str, int], ...]
    group: str
    spec: o.PodSpec

    @property
    def explicit(self) -> bool:
        """Whether the pod set itself asks for topology-aware scheduling."""
        return self.mode in {"required", "preferred", "unconstrained"}

    @property
    def least(self) -> int:
        """The fewest pods with which it would start."""
        return self.min_count if self.min_count is not None and 0 < self.min_count < self.count else self.count

    @property
    def keys(self) -> Values:
        """Every level that it names."""
        named = (self.level, self.slice_level, *(level for level, _ in self.layers))
        return tuple(dict.fromkeys(key for key in named if key))


def wish_of(pod_set: o.PodSet) -> Wish:
    """Read the topology request of a pod set; mode "none" when it asks for nothing."""
    request = pod_set.topology_request or o.TopologyRequest()
    layers = [
        (str(entry.get("topology", "")), number(entry.get("size"), 0))
        for entry in request.podset_slice_required_topology_constraints
    ]
    slice_level, size = request.podset_slice_required_topology, request.podset_slice_size or 1
    if not slice_level and layers:
        slice_level, size = layers[0]
    mode: Mode = "none"
    level = ""
    if request.required:
        mode, level = "required", request.required
    elif request.preferred:
        mode, level = "preferred", request.preferred
    elif slice_level or request.unconstrained:
        mode = "unconstrained"
    return Wish(
        pod_set.name, pod_set.count, pod_set.min_count, mode, level, slice_level, max(size, 1) if slice_level else 1,
        tuple(layers[1:]), request.podset_group_name, pod_set.template.spec,
    )  # fmt: skip


@dataclass
class _Leaf:
    values: Values
    nodes: list[o.Node] = field(default_factory=list)
    capacity: Amounts = field(default_factory=dict)
    used: Amounts = field(default_factory=dict)

    def free(self, *, empty: bool) -> Amounts:
        return {name: value - (0 if empty else self.used.get(name, 0)) for name, value in self.capacity.items()}


@dataclass
class _Count:
    pods: int = 0
    slices: int = 0
    leader: int = 0
    pods_with_leader: int = 0
    slices_with_leader: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a pod set a flavor's topology holds. `unit` is pod or slice; `fits` of `wanted` at `level`.

    `fits` counts the best single domain where one is required, else all domains together; `fits_empty` the same with
    every domain emptied, None when it was not asked. `best` is that domain. `excluded`: nodes left out by cause, most
    first. `nodes` carry the flavor's labels, `domains` of them are at the level. `problem`: why nothing could be counted.
    """

    pod_set: str
    flavor: str
    topology: str
    mode: Mode
    level: str
    unit: Literal["pod", "slice"]
    wanted: int
    fits: int
    fits_empty: int
    best: Values
    nodes: int
    domains: int
    excluded: tuple[tuple[str, int], ...]
    unlabelled: tuple[tuple[str, int], ...]
    enough: bool
    enough_empty: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why request and topology of a flavor do not go together; `cause` as in Kueue's texts."""

    flavor: str
    cause: Literal["no-topology", "unknown-level", "topology-only", "wrong-levels"]
    text: str


@dataclass(frozen=True, slots=True)
class _Assigned:
    """What a Workload with quota holds of a topology, `each` being what one of its pods asks for."""

    workload: o.Workload
    flavors: frozenset[str]
    levels: Values
    placed: tuple[Placed, ...]
    each: Amounts


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one node of a pinned domain refuses a pod. `text` completes "node n1 …"; `field` and `source` prove it."""

    node: str
    cause: Literal["taint", "occupied", "selector", "out-of-service"]
    text: str
    field: str
    source: Source = "cluster"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A pod that waits in a domain where no node takes it. `labels` pin it; `elsewhere` are nodes that would take it.

    `problem`: the assignment itself does not match the pods, "" otherwise.
    """

    pod: o.Pod
    pod_set: str
    labels: tuple[tuple[str, str], ...]
    refusals: tuple[Refusal, ...]
    elsewhere: Values
    problem: str = ""


class TopologyFacts:
    """The answers about topology."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    # --- what is asked, and of what ---

    def topology_only(self, queue: o.ClusterQueue) -> bool:
        """Whether every flavor of a ClusterQueue has a topology: then pods that ask for none get one all the same."""
        names = dict.fromkeys(flavor.name for group in queue.spec.resource_groups for flavor in group.flavors)
        flavors = [self._facts.queue.flavor(name) for name in names]
        return bool(flavors) and all(flavor is not None and flavor.spec.topology_name for flavor in flavors)

    @fact
    def wishes(self) -> tuple[Wish, ...]:
        """What each pod set asks for, with "implied" where the ClusterQueue knows nothing but topologies."""
        queue = self._facts.queue.cluster_queue
        return self.wishes_in(queue) if queue is not None else ()

    def wishes_in(self, queue: o.ClusterQueue) -> tuple[Wish, ...]:
        """What each pod set would ask of a ClusterQueue."""
        wishes = [wish_of(pod_set) for pod_set in self._facts.identity.want().spec.pod_sets]
        if any(not wish.explicit for wish in wishes) and self.topology_only(queue):
            wishes = [wish if wish.explicit else replace(wish, mode="implied") for wish in wishes]
        return tuple(wishes)

    def exclusion(self, flavor: str, pod_sets: Iterable[str], queue: o.ClusterQueue) -> Exclusion | None:
        """Say why pod sets cannot use a flavor of a ClusterQueue for the sake of the topology, None when they can.

        None also where the Topology was not read: then only Kueue's text can tell.
        """
        names = set(pod_sets)
        try:
            found = [self.mismatch(wish, flavor, queue) for wish in self.wishes_in(queue) if wish.pod_set in names]
        except Unknown:
            return None
        first = next((mismatch for mismatch in found if mismatch is not None), None)
        return Exclusion("topology", f"topology: {first.text}") if first is not None else None

    def topology(self, flavor: str) -> o.Topology | None:
        """The Topology that a flavor names, None when it names none or it is proven absent. Raises Unknown unread."""
        found = self._facts.queue.flavor(flavor)
        if found is None or not found.spec.topology_name:
            return None
        return self._snapshot.one_of(o.Topology, found.spec.topology_name)

    def levels(self, flavor: str) -> Values:
        """The node labels of a flavor's levels from the top down, () when it has no topology."""
        found = self.topology(flavor)
        return tuple(level.node_label for level in found.spec.levels) if found is not None else ()

    @fact
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Flavors of the ClusterQueue whose Topology is proven absent, as (flavor, topology)."""
        found = []
        for name in self._facts.queue.flavor_names:
            flavor = self._facts.queue.flavor(name)
            topology = flavor.spec.topology_name if flavor is not None else None
            if topology and self._snapshot.one_of(o.Topology, topology) is None:
                found.append((name, topology))
        return tuple(found)

    def mismatch(self, wish: Wish, flavor: str, queue: o.ClusterQueue | None = None) -> Mismatch | None:
        """Say why a flavor does not go with what a pod set asks of the topology, None when it does.

        `queue`: the ClusterQueue that offers it, its own by default. Raises Unknown when flavor or Topology were not read.
        """
        queue = queue if queue is not None else self._facts.queue.cluster_queue
        found = self._facts.queue.flavor(flavor)
        if found is None:
            return None
        if not found.spec.topology_name:
            if not wish.explicit or not _provides(queue, flavor, wish):
                return None
            return Mismatch(flavor, "no-topology", f"flavor {flavor} has no topology")
        if wish.mode == "none":
            return Mismatch(flavor, "topology-only", f"flavor {flavor} is for topology-aware scheduling only")
        if not wish.explicit:
            return None
        levels = self.levels(flavor)
        if not levels:
            return None
        unknown = [key for key in wish.keys if key not in levels]
        if unknown:
            text = f"Topology {found.spec.topology_name} of flavor {flavor} has no level {', '.join(unknown)}"
            return Mismatch(flavor, "unknown-level", text)
        wrong = _wrong_levels(wish, levels)
        return Mismatch(flavor, "wrong-levels", wrong) if wrong else None

    def covering(self, wish: Wish) -> tuple[Values, ...]:
        """The flavors of each resource group that covers something a pod set asks for, in the order of the spec."""
        queue = self._facts.queue.cluster_queue
        asked = {name for name, value in pod_requests(wish.spec).items() if value > 0}
        return tuple(
            tuple(flavor.name for flavor in group.flavors)
            for group in (queue.spec.resource_groups if queue is not None else ())
            if asked & set(group.covered_resources)
        )

    def delayed(self, flavor: str) -> bool:
        """Whether an admission check makes Kueue assign the topology of a flavor only after the checks.

        Raises Unknown when an AdmissionCheck was not read.
        """
        queue = self._facts.queue.cluster_queue
        for rule in queue.check_rules if queue is not None else ():
            if not rule.on_flavors or flavor in rule.on_flavors:
                check = self._snapshot.one_of(o.AdmissionCheck, rule.name)
                if check is not None and check.spec.controller_name in DELAYING:
                    return True
        return False

    # --- nodes and domains ---

    @fact
    def pods_read(self) -> bool:
        """Whether every pod that is bound to a node was read."""
        return self._snapshot.covers("Pod") or self._snapshot.covers("Pod", selector=ACTIVE)

    @fact
    def _assigned(self) -> tuple[_Assigned, ...]:
        return self._snapshot.once(("assigned",), self._all_assigned)

    def _all_assigned(self) -> tuple[_Assigned, ...]:
        found = []
        for workload in self._snapshot.all_of(o.Workload, read="seen"):
            if workload.status.admission is None or not reservation_stands(workload):
                continue
            sets = {pod_set.name: pod_set for pod_set in workload.spec.pod_sets}
            for part in workload.status.admission.pod_set_assignments:
                if part.topology_assignment is not None and part.name in sets:
                    try:
                        placed = decode(part.topology_assignment)
                    except Unknown:
                        continue
                    each = {**pod_requests(sets[part.name].template.spec), "pods": 1}
                    levels = part.topology_assignment.levels
                    found.append(_Assigned(workload, frozenset(part.flavors.values()), levels, placed, each))
        return tuple(found)

    @fact
    def used_by_pods(self) -> Mapping[str, Amounts]:
        """What the pods on each node take, without those whose Workload has a topology assignment; "pods" counts them."""
        return self._snapshot.once(("used by pods",), self._used)

    def _used(self) -> Mapping[str, Amounts]:
        counted = {(entry.workload.namespace, entry.workload.name) for entry in self._assigned}
        owners = {ref.uid for entry in self._assigned for ref in entry.workload.metadata.owner_references}
        used: dict[str, Amounts] = {}
        for pod in self._snapshot.all_of(o.Pod, read="seen"):
            name = pod.metadata.annotations.get(WORKLOAD)
            if (
                not pod.spec.node_name
                or is_over(pod)
                or (name is not None and (pod.namespace, name) in counted)
                or (pod.metadata.uid and pod.metadata.uid in owners)
            ):
                continue
            _add(used.setdefault(pod.spec.node_name, {}), {**pod_requests(pod.spec), "pods": 1})
        return used

    def nodes_of(self, flavor: str) -> tuple[o.Node, ...]:
        """All nodes that carry a flavor's node labels, by name. Raises Unknown when nodes were not read in full."""
        found = self._facts.queue.flavor(flavor)
        wanted = found.spec.node_labels if found is not None else {}
        return tuple(
            sorted(
                (
                    node
                    for node in self._snapshot.all_of(o.Node)
                    if all(node.metadata.labels.get(key) == value for key, value in wanted.items())
                ),
                key=lambda node: node.name,
            )
        )

    def room(self, wish: Wish, flavor: str, taken: Mapping[Values, Amounts] | None = None) -> Room:
        """Count how much of a pod set fits into a flavor's domains, now and if they were empty.

        `taken`: what earlier pod sets of the same Workload would take. Without all pods read `fits` equals `fits_empty`:
        look at `pods_read`. Raises Unknown when nodes or the Topology were not read.
        """
        return self._counted(wish, flavor, taken, None)

    def _counted(
        self, wish: Wish, flavor: str, taken: Mapping[Values, Amounts] | None, leader: o.PodSpec | None
    ) -> Room:
        topology = self.topology(flavor)
        levels = self.levels(flavor)
        if topology is None or not levels:
            reason = f"flavor {flavor} has no topology"
            raise Unknown(reason)
        nodes = self.nodes_of(flavor)
        unit: Literal["pod", "slice"] = "slice" if wish.slice_size > 1 else "pod"
        slices_alone = not wish.level and bool(wish.slice_level)
        level = wish.level or (levels[0] if slices_alone else levels[-1])
        wanted = wish.least // wish.slice_size
        if level not in levels or any(key not in levels for key in wish.keys):
            return Room(
                wish.pod_set, flavor, topology.name, wish.mode, level, unit, wanted, 0, 0, (), len(nodes), 0, (), (),
                enough=False, enough_empty=False, problem="level",
            )  # fmt: skip
        causes: dict[str, int] = {}
        unlabelled: dict[str, int] = {}
        leaves = self._leaves(wish, flavor, levels, nodes, causes, unlabelled)
        now = _tally(leaves.values(), levels, wish, leader, taken or {}, empty=False)
        empty = _tally(leaves.values(), levels, wish, leader, {}, empty=True)
        for leaf in leaves.values():
            limit = _limiting(leaf, wish.spec)
            if limit:
                causes[limit] = causes.get(limit, 0) + len(leaf.nodes)
        at = levels.index(level)
        fits, best, enough = _judge(now, at, wish, wanted, leader=leader is not None)
        fits_empty, _, enough_empty = _judge(empty, at, wish, wanted, leader=leader is not None)
        return Room(
            wish.pod_set, flavor, topology.name, wish.mode, level, unit, wanted, fits, fits_empty, best, len(nodes),
            len(now[at]), _most_first(causes), _most_first(unlabelled), enough, enough_empty,
            "" if now[at] else "no-domains",
        )  # fmt: skip

    def rooms(self, flavor: str) -> tuple[Room, ...]:
        """The room of every pod set that would use a flavor, one after another, each seeing what the earlier ones took."""
        taken: dict[Values, Amounts] = {}
        found = []
        groups: dict[str, list[Wish]] = {}
        for at, wish in enumerate(self.wishes):
            if wish.mode != "none" and wish.count > 0:
                groups.setdefault(wish.group or f"#{at}", []).append(wish)
        for members in groups.values():
            workers = max(members, key=lambda wish: wish.count)
            leader = next((wish.spec for wish in members if wish is not workers), None)
            found.append(self._counted(workers, flavor, taken, leader))
            self._take(workers, flavor, found[-1], taken)
        return tuple(found)

    def _take(self, wish: Wish, flavor: str, room: Room, taken: dict[Values, Amounts]) -> None:
        """Book a pod set into the fullest leaves of its best domain, as a stand-in for Kueue's own choice."""
        if not room.enough:
            return
        levels = self.levels(flavor)
        leaves = self._leaves(wish, flavor, levels, self.nodes_of(flavor), {}, {})
        each = {**pod_requests(wish.spec), "pods": 1}
        inside = [leaf for leaf in leaves.values() if leaf.values[: len(room.best)] == room.best]
        left = wish.least
        sizes = {leaf.values: _fit(each, leaf.free(empty=False), taken.get(leaf.values, {})) for leaf in inside}
        for leaf in sorted(inside, key=lambda leaf: (-sizes[leaf.values], leaf.values)):
            count = min(left, sizes[leaf.values])
            if count > 0:
                _add(taken.setdefault(leaf.values, {}), {name: value * count for name, value in each.items()})
                left -= count

    def _leaves(  # noqa: PLR0917 - two dicts to count into
        self,
        wish: Wish,
        flavor: str,
        levels: Values,
        nodes: Iterable[o.Node],
        causes: dict[str, int],
        unlabelled: dict[str, int],
    ) -> dict[Values, _Leaf]:
        found = self._facts.queue.flavor(flavor)
        extra = found.spec.tolerations if found is not None else ()
        leaves: dict[Values, _Leaf] = {}
        for node in nodes:
            labels = node.metadata.labels
            without = [key for key in levels if key not in labels]
            if without:
                for key in without:
                    unlabelled[key] = unlabelled.get(key, 0) + 1
                cause: str | None = f"no label {without[0]}"
            else:
                cause = unusable(node) or (refusal(node, wish.spec, extra) if levels[-1] == HOSTNAME else None)
            if cause is not None:
                causes[cause] = causes.get(cause, 0) + 1
                continue
            leaf = leaves.setdefault(tuple(labels[key] for key in levels), _Leaf(tuple(labels[key] for key in levels)))
            leaf.nodes.append(node)
            _add(leaf.capacity, allocatable(node))
            _add(leaf.used, self.used_by_pods.get(node.name, {}))
        own = self._facts.identity.workload
        hosts = {leaf.values[-1:]: leaf for leaf in leaves.values()} if levels[-1] == HOSTNAME else {}
        for entry in self._assigned:
            if entry.workload is own:
                continue
            # a node is the same whoever uses it; larger domains count per flavor, as in Kueue
            by_host = levels[-1] == HOSTNAME and entry.levels[-1:] == (HOSTNAME,)
            if not by_host and (entry.levels != levels or flavor not in entry.flavors):
                continue
            for place in entry.placed:
                holder = hosts.get(place.values[-1:]) if by_host else leaves.get(place.values)
                if holder is not None:
                    _add(holder.used, {name: value * place.count for name, value in entry.each.items()})
        return leaves

    def free_on(self, node: o.Node) -> Amounts:
        """What a node can still take beside the pods that run on it; "pods" counts pods. All pods, whosever they are."""
        free = allocatable(node)
        for pod in self.pods_on(node.name):
            for name, value in {**pod_requests(pod.spec), "pods": 1}.items():
                if name in free:
                    free[name] -= value
        return free

    def _by_node(self) -> Mapping[str, tuple[o.Pod, ...]]:
        found: dict[str, list[o.Pod]] = {}
        for pod in self._snapshot.all_of(o.Pod, read="seen"):
            if pod.spec.node_name and not is_over(pod):
                found.setdefault(pod.spec.node_name, []).append(pod)
        return {name: tuple(sorted(pods, key=lambda p: (p.namespace, p.name))) for name, pods in found.items()}

    def pods_on(self, node: str) -> tuple[o.Pod, ...]:
        """The unfinished pods that were read on a node."""
        return self._snapshot.once(("pods by node",), self._by_node).get(node, ())

    # --- where Kueue put the pods ---

    @fact
    def pinned(self) -> tuple[Pinned, ...]:
        """The unscheduled pods of the admitted Workload that no node of their assigned domain takes, by name.

        Raises Unknown when nodes or pods were not read in full, or the assignment cannot be read.
        """
        own = self._facts.identity.want()
        parts = own.status.admission.pod_set_assignments if own.status.admission is not None else ()
        assigned = {part.name: part.topology_assignment for part in parts if part.topology_assignment is not None}
        if not assigned:
            return ()
        found = []
        for pod in sorted(self._facts.pods.all, key=lambda pod: pod.name):
            name = pod.metadata.labels.get(POD_SET) or (next(iter(assigned)) if len(parts) == 1 else "")
            if name in assigned and self._waits(pod):
                pinned = self._pin(pod, name, assigned[name])
                if pinned is not None:
                    found.append(pinned)
        return tuple(found)

    def _waits(self, pod: o.Pod) -> bool:
        scheduled = condition(pod.status.conditions, "PodScheduled")
        age = self._facts.age(pod.metadata.creation_timestamp) or 0
        refused = scheduled is not None and scheduled.status == "False" and scheduled.reason == "Unschedulable"
        return (
            not pod.spec.node_name
            and not pod.spec.scheduling_gates
            and pod.metadata.deletion_timestamp is None
            and not is_over(pod)
            and (refused or age > self._facts.thresholds.young)
        )

    def _pin(self, pod: o.Pod, pod_set: str, assignment: o.TopologyAssignment) -> Pinned | None:
        placed = decode(assignment)
        keys = [key for key in assignment.levels if key in pod.spec.node_selector]
        labels = tuple((key, pod.spec.node_selector[key]) for key in keys)
        everyone = self._snapshot.all_of(o.Node)
        if labels:
            domains = [place for place in placed if all(self._value(assignment, place, k) == v for k, v in labels)]
            inside = [n for n in everyone if all(n.metadata.labels.get(key) == value for key, value in labels)]
        else:
            domains = list(placed)
            inside = [n for n in everyone if any(self._in(assignment, place, n) for place in placed)]
            labels = tuple(zip(assignment.levels, placed[0].values, strict=False)) if placed else ()
        refusals = [self._refuses(node, pod, ()) for node in sorted(inside, key=lambda node: node.name)]
        if any(refusal is None for refusal in refusals):
            if not self.pods_read:
                reason = "pods: not read in full, so the room on the assigned nodes is not known"
                raise Unknown(reason)
            return None
        others = [n for n in everyone if n not in inside and self._refuses(n, pod, assignment.levels) is None]
        free = tuple(sorted(node.name for node in others)) if self.pods_read else ()
        problem = ""
        if keys and not domains:
            problem = "which the topology assignment does not name"
        elif keys:
            many = sum(all(p.spec.node_selector.get(k) == v for k, v in labels) and _unfinished(p)
                       for p in self._facts.pods.all)  # fmt: skip
            allowed = sum(place.count for place in domains)
            if many > allowed:
                problem = f"with {many} pods where the topology assignment gives it {allowed}"
        return Pinned(pod, pod_set, labels, tuple(r for r in refusals if r is not None), free, problem)

    @staticmethod
    def _value(assignment: o.TopologyAssignment, place: Placed, key: str) -> str | None:
        return dict(zip(assignment.levels, place.values, strict=False)).get(key)

    @staticmethod
    def _in(assignment: o.TopologyAssignment, place: Placed, node: o.Node) -> bool:
        pairs = zip(assignment.levels, place.values, strict=False)
        return all(node.metadata.labels.get(key) == value for key, value in pairs)

    def _refuses(self, node: o.Node, pod: o.Pod, ignoring: Iterable[str]) -> Refusal | None:
        out = unusable(node)
        if out == "cordoned":
            return Refusal(node.name, "out-of-service", "is cordoned", "spec.unschedulable")
        if out is not None:
            return Refusal(node.name, "out-of-service", "is not ready", "status.conditions[Ready]")
        cause = refusal(node, pod.spec, ignoring=ignoring)
        if cause is not None:
            kind, _, rest = cause.partition(" ")
            if kind == "taint":
                return Refusal(
                    node.name,
                    "taint",
                    f"has the taint {quoted(rest, 120)}, which the pod does not tolerate",
                    "spec.taints",
                )
            what = rest.removeprefix("selector ")
            text = f"does not match the pod's node {'selector ' + quoted(what, 120) if '=' in what else 'affinity'}"
            return Refusal(node.name, "selector", text, "metadata.labels")
        wanted = {**pod_requests(pod.spec), "pods": 1}
        free = self.free_on(node)
        name = lacking(free, wanted)
        return self._occupied(node, name, free, wanted) if name is not None else None

    def _occupied(self, node: o.Node, name: str, free: Amounts, wanted: Mapping[str, int]) -> Refusal:
        total, left = allocatable(node).get(name, 0), max(free.get(name, 0), 0)
        if name == "pods":
            text = f"already runs {total - left} pods of {total}"
            return Refusal(node.name, "occupied", text, "status.allocatable[pods]", "computed")
        takers = sorted(
            ((pod_requests(pod.spec).get(name, 0), pod) for pod in self.pods_on(node.name)),
            key=lambda entry: (-entry[0], entry[1].namespace, entry[1].name),
        )
        largest = takers[0] if takers and takers[0][0] > 0 else None
        who = (
            f": pod {named('Pod', largest[1].name, largest[1].namespace)} takes {human(name, largest[0])}"
            if largest
            else ""
        )
        text = f"has {human(name, left)} of {human(name, total)} {name} free where {human(name, wanted[name])} are asked{who}"
        return Refusal(node.name, "occupied", text, f"status.allocatable[{name}]", "computed")


def _provides(queue: o.ClusterQueue | None, flavor: str, wish: Wish) -> bool:
    """Whether the flavor's resource group covers something that the pods name: else it gives quota alone."""
    asked = pod_requests(wish.spec).keys()
    groups = queue.spec.resource_groups if queue is not None else ()
    return any(
        asked & set(group.covered_resources) for group in groups if flavor in {entry.name for entry in group.flavors}
    )


def _unfinished(pod: o.Pod) -> bool:
    return pod.metadata.deletion_timestamp is None and not is_over(pod)


def allocatable(node: o.Node) -> Amounts:
    """What a node can allocate, per resource in Kueue's unit; quantities that cannot be read are left out."""
    found: Amounts = {}
    for name, value in node.status.allocatable.items():
        try:
            found[name] = amount(name, value)
        except ValueError:
            continue
    return found


def unusable(node: o.Node) -> str | None:
    """Say why a node is out for everybody: "cordoned" or "not ready"; None when it is not."""
    if node.spec.unschedulable:
        return "cordoned"
    ready = condition(node.status.conditions, "Ready")
    return None if ready is not None and ready.status == "True" else "not ready"


def refusal(
    node: o.Node, spec: o.PodSpec, extra: Iterable[o.Toleration] = (), ignoring: Iterable[str] = ()
) -> str | None:
    """Say why a node refuses a pod by taint, node selector or affinity, None when it does not.

    `extra`: tolerations that the flavor adds. `ignoring`: selector keys that are not looked at.
    """
    taints = untolerated(node.spec.taints, (*spec.tolerations, *extra))
    if taints:
        return f"taint {taint_text(taints[0])}"
    labels, skipped = node.metadata.labels, set(ignoring)
    for key, value in sorted(spec.node_selector.items()):
        if key not in skipped and labels.get(key) != value:
            return f"node selector {key}={value}"
    if not node_selector_matches(required_node_affinity(spec), labels, node.name):
        return "node affinity"
    return None


def lacking(free: Amounts, wanted: Mapping[str, int]) -> str | None:
    """Give the resource of which too little is left for one more pod, the scarcest first; None when one more fits."""
    short = [name for name, value in wanted.items() if value > 0 and free.get(name, 0) < value]
    return min(short, key=lambda name: (free.get(name, 0) / wanted[name], name)) if short else None


def _add(into: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, 0) + value


def _fit(each: Mapping[str, int], free: Mapping[str, int], taken: Mapping[str, int]) -> int:
    sizes = [max(free.get(name, 0) - taken.get(name, 0), 0) // value for name, value in each.items() if value > 0]
    return min(sizes, default=0)


def _limiting(leaf: _Leaf, spec: o.PodSpec) -> str | None:
    each = {**pod_requests(spec), "pods": 1}
    name = lacking(leaf.free(empty=False), each)
    if name is None:
        return None
    return f"{name} too small" if leaf.capacity.get(name, 0) < each[name] else f"{name} in use"


def _most_first(causes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(causes.items(), key=lambda entry: (-entry[1], entry[0])))


def _wrong_levels(wish: Wish, levels: Values) -> str:
    """Say what is wrong with the order of levels and sizes of the slices, "" when nothing is."""
    at = levels.index(wish.level) if wish.level else 0
    if wish.slice_level and levels.index(wish.slice_level) < at:
        return f"the slices' level {wish.slice_level} is above the level {wish.level}"
    above, size = wish.slice_level, wish.slice_size
    for level, inner in wish.layers:
        if levels.index(level) <= levels.index(above):
            return f"the inner slices' level {level} is not below {above}"
        if inner <= 0 or size % inner:
            return f"slices of {inner} do not divide slices of {size} evenly"
        above, size = level, inner
    return ""


def _tally(
    leaves: Iterable[_Leaf],
    levels: Values,
    wish: Wish,
    leader: o.PodSpec | None,
    taken: Mapping[Values, Amounts],
    *,
    empty: bool,
) -> list[dict[Values, _Count]]:
    """Count pods and slices per domain, by level from the top; as `fillInCounts` does it."""
    each = {**pod_requests(wish.spec), "pods": 1}
    lead = {**pod_requests(leader), "pods": 1} if leader is not None else {}
    slice_at = levels.index(wish.slice_level) if wish.slice_level else len(levels) - 1
    inner: dict[int, int] = {}
    above = slice_at
    for level, size in wish.layers:
        for at in range(above + 1, levels.index(level) + 1):
            inner[at] = max(size, 1)
        above = max(above, levels.index(level))
    tally: list[dict[Values, _Count]] = [{} for _ in levels]
    for leaf in leaves:
        free = leaf.free(empty=empty)
        used = dict(taken.get(leaf.values, {}))
        count = _Count(pods=_fit(each, free, used))
        if lead and _fit(lead, free, used) > 0:
            count.leader = 1
            _add(used, lead)
        count.pods_with_leader = _fit(each, free, used)
        tally[-1][leaf.values] = count
    for at in range(len(levels) - 1, -1, -1):
        if at < len(levels) - 1:
            _sum_up(tally, at, inner.get(at + 1, 1), leader=leader is not None)
        if at == slice_at:
            for count in tally[at].values():
                count.slices = count.pods // wish.slice_size
                count.slices_with_leader = count.pods_with_leader // wish.slice_size
    return tally


def _sum_up(tally: list[dict[Values, _Count]], at: int, size: int, *, leader: bool) -> None:
    below: dict[Values, list[_Count]] = {}
    for values, count in tally[at + 1].items():
        below.setdefault(values[: at + 1], []).append(count)
    for values, children in below.items():
        total = _Count(leader=max(child.leader for child in children))
        total.pods = sum(child.pods // size * size for child in children)
        total.slices = sum(child.slices for child in children)
        hosts = [child for child in children if child.leader or not leader]
        if hosts:
            lost = min(child.pods // size * size - child.pods_with_leader // size * size for child in hosts)
            total.pods_with_leader = total.pods - lost
            total.slices_with_leader = total.slices - min(c.slices - c.slices_with_leader for c in hosts)
        tally[at][values] = total


def _judge(
    tally: list[dict[Values, _Count]], at: int, wish: Wish, wanted: int, *, leader: bool
) -> tuple[int, Values, bool]:
    """Give (fits, best domain, enough) at a level: one domain where required, else the level above, at last all together."""

    def size(count: _Count) -> int:
        if not leader:
            return count.slices
        return count.slices_with_leader if count.leader else 0

    def best(level: int) -> tuple[int, Values]:
        sizes = {values: size(count) for values, count in tally[level].items()}
        enough = {values: number for values, number in sizes.items() if number >= wanted}
        if enough:
            values = min(enough, key=lambda values: (enough[values], values))
            return enough[values], values
        values = min(sizes, key=lambda values: (-sizes[values], values), default=())
        return sizes.get(values, 0), values

    fits, values = best(at)
    if fits >= wanted or wish.mode == "required":
        return fits, values, bool(tally[at]) and fits >= wanted
    if wish.mode == "preferred":
        for level in range(at - 1, -1, -1):
            fits, values = best(level)
            if fits >= wanted:
                return fits, values, True
        at = 0
    counts = list(tally[at].values())
    total = sum(count.slices for count in counts)
    if leader:
        hosts = [count.slices - count.slices_with_leader for count in counts if count.leader]
        total = total - min(hosts) if hosts else 0
    return total, (), bool(counts) and total >= wanted


def gates_of(pod: o.Pod) -> Values:
    """Kueue's own scheduling gates on a pod."""
    return tuple(gate.name for gate in pod.spec.scheduling_gates if gate.name.startswith(PREFIX))
