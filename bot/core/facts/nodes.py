"""The funnel: which nodes could take a pod, and what keeps the others out.

Recomputed from Nodes and all pods bound to them, one filter after the other as kube-scheduler has them. Where nodes
cannot be read, the scheduler's own text stands in (`scheduler_text`), with certainty "reported".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from bot.core import names, scheduler_text, scheduling
from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence
from bot.core.facts.autoscaler import Autoscaler, node_coming, why_no_node
from bot.core.facts.lazy import fact
from bot.core.jobs import is_over
from bot.core.objects import condition
from bot.core.quantity import Quantity, amount
from bot.core.records import dataclass
from bot.core.scheduler_text import Filter, Verdict
from bot.core.scheduling import CORE
from bot.core.snapshot import ACTIVE, Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

FILTERS: tuple[Filter, ...] = ("volume", "labels", "cordon", "taint", "port", "affinity", "spread", "resources")
"""The filters in the order in which they are blamed."""
_DYNAMIC: frozenset[Filter] = frozenset({"port", "affinity", "spread"})
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_CORDON = o.Taint(key=UNSCHEDULABLE, effect="NoSchedule")
_LOST = {"node.kubernetes.io/not-ready": "not ready", "node.kubernetes.io/unreachable": "unreachable",
         "node.kubernetes.io/network-unavailable": "without network",
         "node.kubernetes.io/memory-pressure": "short of memory", "node.kubernetes.io/disk-pressure": "short of disk",
         "node.kubernetes.io/pid-pressure": "short of process ids", "node.kubernetes.io/out-of-service": "out of service",
         "node.cloudprovider.kubernetes.io/uninitialized": "not initialized by the cloud provider",
         "node.cloudprovider.kubernetes.io/shutdown": "shut down"}  # fmt: skip
_DRAINED = {"ToBeDeletedByClusterAutoscaler": "being removed by the cluster autoscaler",
            "karpenter.sh/disrupted": "being removed by Karpenter",
            "karpenter.sh/disruption": "being removed by Karpenter"}  # fmt: skip
_INDEX_LABELS = frozenset({
    "batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name",
    "jobset.sigs.k8s.io/job-index", "jobset.sigs.k8s.io/job-global-index", "jobset.sigs.k8s.io/job-key",
    "training.kubeflow.org/replica-index", "leaderworkerset.sigs.k8s.io/worker-index",
    "leaderworkerset.sigs.k8s.io/group-index", "leaderworkerset.sigs.k8s.io/group-key",
})  # fmt: skip
_CLASSES = 12
"""At most so many different pods are looked at; the others are like them far more often than not."""
_STEPS: dict[Filter, tuple[str, str]] = {
    "volume": ("can reach its volumes", "can reach its volumes"),
    "labels": ("carries the labels that it asks for", "carry the labels that it asks for"),
    "cordon": ("is open to new pods", "are open to new pods"),
    "taint": ("is free of taints that keep it out", "are free of taints that keep it out"),
    "port": ("has its host ports free", "have its host ports free"),
    "affinity": ("agrees with pod affinity", "agree with pod affinity"),
    "spread": ("keeps its topology spread", "keep its topology spread"),
    "resources": ("has the room", "have the room"),
}


def state_of_taint(taint: o.Taint) -> str:
    """Give what a taint of the system means for its node ("not ready", "being removed by Karpenter"), "" for others."""
    return _LOST.get(taint.key) or _DRAINED.get(taint.key, "")


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node for one pod: the filters that it fails, in the order of FILTERS."""

    node: o.Node
    fails: tuple[Filter, ...]

    def only(self, name: Filter) -> bool:
        """Say whether this filter alone keeps the pod off the node."""
        return self.fails == (name,)


@dataclass(frozen=True, slots=True)
class Funnel:
    """One kind of unscheduled pod and what keeps it off the nodes.

    `pods` are the pods of this kind; `nodes` is empty and `verdict` set where only the scheduler's text is known.
    `blame` is the filter to blame, None when some node would take the pod; `sole` says that it alone is in the way of
    some node. `complete` is False where the pods on the nodes could not be read.
    """

    pods: tuple[o.Pod, ...]
    nodes: tuple[NodeView, ...]
    blame: Filter | None
    sole: bool
    complete: bool = True
    verdict: Verdict | None = None

    @property
    def pod(self) -> o.Pod:
        """The first of its pods."""
        return self.pods[0]

    @property
    def certainty(self) -> Certainty:
        """Certain when recomputed in full, reported when only the scheduler said so, likely when pods were not read."""
        if not self.nodes:
            known = {part.category for part in self.verdict.parts} if self.verdict is not None else set()
            return "reported" if len(known) == 1 else "likely"
        return "certain" if self.complete or not self.sole else "likely"

    def passing(self, *names: Filter) -> tuple[o.Node, ...]:
        """Give the nodes that pass all the named filters."""
        return tuple(view.node for view in self.nodes if not set(names) & set(view.fails))

    def failing(self, name: Filter) -> tuple[o.Node, ...]:
        """Give the nodes that fail a filter, whatever else they fail."""
        return tuple(view.node for view in self.nodes if name in view.fails)

    @property
    def candidates(self) -> tuple[o.Node, ...]:
        """The nodes that pass everything but the load: volumes, labels, cordons and taints."""
        return self.passing("volume", "labels", "cordon", "taint")


@dataclass(frozen=True, slots=True)
class Room:
    """One resource of which nodes have too little for a pod; amounts in Kueue's unit.

    `asked` per pod; `freest` the node with the most free, `free` what that is (None when pods were not read);
    `largest` the node that offers the most, `most` what that is; `total_free` the sum over the nodes looked at.
    """

    resource: str
    asked: int
    freest: o.Node
    free: int | None
    largest: o.Node
    most: int
    total_free: int | None
    lacking: int


@dataclass(frozen=True, slots=True)
class Wish:
    """One label that a pod asks of its node, and where the wish comes from.

    `flavor` names the ResourceFlavor that Kueue injected it from; `injected` says that Kueue added it at all (flavor,
    topology assignment or admission check); `met` that some node carries it; `there` what nodes carry under this key.
    """

    key: str
    value: str
    label: str
    field: str
    flavor: str
    injected: bool
    met: bool
    there: tuple[str, ...]

    @property
    def words(self) -> str:
        """The label with its origin, fit for a sentence."""
        text = names.quoted(self.label)
        if self.flavor:
            return f"{text} (injected from ResourceFlavor {self.flavor})"
        return f"{text} (injected by Kueue)" if self.injected else text


@dataclass(frozen=True, slots=True)
class Plugin:
    """A device plugin that was seen: what to say of it, and the proof."""

    sentence: str
    evidence: Evidence


class Nodes:
    """The answers about nodes."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @fact
    def all(self) -> tuple[o.Node, ...]:
        """Every node, sorted by name. Raises Unknown when nodes were not read in full."""
        return tuple(sorted(self._snapshot.all_of(o.Node), key=lambda node: node.name))

    @fact
    def active(self) -> tuple[o.Pod, ...]:
        """Every pod that is bound to a node and not over. Raises Unknown when pods were not read cluster-wide."""
        self._snapshot.require("Pod", selector=ACTIVE)
        pods = self._snapshot.all_of(o.Pod, read="seen")
        return tuple(pod for pod in pods if pod.spec.node_name and not is_over(pod))

    @fact
    def on(self) -> Mapping[str, tuple[o.Pod, ...]]:
        """The active pods by the name of their node."""
        found: dict[str, list[o.Pod]] = defaultdict(list)
        for pod in self.active:
            found[pod.spec.node_name].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    def sum_of(self, nodes: Iterable[o.Node], resource: str) -> int:
        """Give what nodes offer of one resource to pods together, in Kueue's unit. Raises Unknown as `allocatable`."""
        counts: Counter[Quantity] = Counter()  # many are alike
        for node in nodes:
            text = (node.status.allocatable or node.status.capacity).get(resource)
            if text is not None:
                counts[text] += 1
            else:
                self.allocatable(node)  # says nothing of it, or nothing at all
        try:
            return sum(amount(resource, text) * count for text, count in counts.items())
        except ValueError as error:
            reason = f"nodes: {error}"
            raise Unknown(reason) from error

    def allocatable(self, node: o.Node) -> dict[str, int]:
        """Give what a node offers to pods, in Kueue's unit.

        Raises Unknown when the node does not say, or says something that is not a quantity.
        """
        kept = self._offers.get(node.name)
        if kept is not None:
            return kept
        offered = node.status.allocatable or node.status.capacity
        if not offered:
            reason = f"nodes {node.name}: status.allocatable is empty"
            raise Unknown(reason)
        try:
            self._offers[node.name] = {resource: amount(resource, text) for resource, text in offered.items()}
        except ValueError as error:
            reason = f"nodes {node.name}: {error}"
            raise Unknown(reason) from error
        return self._offers[node.name]

    @fact
    def _offers(self) -> dict[str, dict[str, int]]:
        return {}

    @fact
    def _used(self) -> dict[str, dict[str, int]]:
        return {}

    def used(self, node: o.Node) -> dict[str, int]:
        """Give what the pods on a node ask for together, their number as "pods". Raises Unknown when pods were not read."""
        kept = self._used.get(node.name)
        if kept is None:
            kept = self._sum(self.on.get(node.name, ()))
            self._used[node.name] = kept
        return kept

    @staticmethod
    def _sum(pods: Iterable[o.Pod]) -> dict[str, int]:
        total: dict[str, int] = {"pods": 0}
        for pod in pods:
            total["pods"] += 1
            for resource, value in scheduling.pod_requests(pod.spec).items():
                total[resource] = total.get(resource, 0) + value
        return total

    def free(self, node: o.Node, resource: str) -> int:
        """Give what is free of a resource on a node, at least 0. Raises Unknown when pods were not read."""
        return max(0, self.allocatable(node).get(resource, 0) - self.used(node).get(resource, 0))

    def emptied(self, node: o.Node, resource: str) -> int:
        """Give what a node would have of a resource if everything but its DaemonSets' pods went."""
        staying = 0
        if self._snapshot.covers("Pod", selector=ACTIVE):
            pods = self.on.get(node.name, ())
            fixed = [p for p in pods if any(r.kind in {"DaemonSet", "Node"} for r in p.metadata.owner_references)]
            staying = self._sum(fixed).get(resource, 0)
        return max(0, self.allocatable(node).get(resource, 0) - staying)

    def lacks(self, node: o.Node, pod: o.Pod) -> tuple[str, ...]:
        """Give the resources of which a node has too little free for a pod, "pods" for its number of pods, sorted."""
        return self._lacks(node, {**scheduling.pod_requests(pod.spec), "pods": 1})

    def _lacks(self, node: o.Node, asked: Mapping[str, int]) -> tuple[str, ...]:
        offered = self.allocatable(node)
        too_big = [r for r, value in asked.items() if value > offered.get(r, value if r in CORE else 0)]
        if too_big or not self._pods_known:
            return tuple(sorted(too_big))
        used = self.used(node)
        return tuple(sorted(r for r, v in asked.items() if v and r in offered and v > offered[r] - used.get(r, 0)))

    @fact
    def _pods_known(self) -> bool:
        return self._snapshot.covers("Pod", selector=ACTIVE)

    # --- the filters ---

    def _volumes(self, pod: o.Pod) -> tuple[o.NodeSelector, ...]:
        found = []
        for claim in claims_of(pod):
            bound = self._snapshot.look_of(o.PersistentVolumeClaim, claim, pod.namespace)
            if bound is None or not bound.spec.volume_name:
                continue
            volume = self._snapshot.look_of(o.PersistentVolume, bound.spec.volume_name)
            if volume is not None and volume.spec.node_affinity and volume.spec.node_affinity.required:
                found.append(volume.spec.node_affinity.required)
        return tuple(found)

    def untolerated(self, node: o.Node, pod: o.Pod) -> tuple[o.Taint, ...]:
        """Give the taints, cordons apart, that keep a pod off a node."""
        found = scheduling.untolerated(node.spec.taints, pod.spec.tolerations)
        return tuple(taint for taint in found if taint.key != UNSCHEDULABLE)

    def ports_taken(self, node: o.Node, pod: o.Pod) -> tuple[tuple[int, o.Pod], ...]:
        """Give the host ports a pod wants that are taken on a node, with the pod that has each."""
        wanted = scheduling.host_ports(pod.spec)
        if not wanted:
            return ()
        taken = [
            (mine[2], other)
            for other in self.on.get(node.name, ())
            for mine in wanted
            if any(scheduling.ports_conflict(mine, port) for port in scheduling.host_ports(other.spec))
        ]
        return tuple(sorted(taken, key=lambda entry: (entry[0], entry[1].namespace, entry[1].name)))

    def _selects(self, term: o.PodAffinityTerm, owner: o.Pod, other: o.Pod) -> bool:
        if not scheduling.selector_matches(term.label_selector, other.metadata.labels):
            return False
        if other.namespace in term.namespaces:
            return True
        selector = term.namespace_selector
        if selector is None:
            return not term.namespaces and other.namespace == owner.namespace
        if not selector.match_labels and not selector.match_expressions:
            return True
        namespace = self._snapshot.one_of(o.Namespace, other.namespace)
        return namespace is not None and scheduling.selector_matches(selector, namespace.metadata.labels)

    @fact
    def _by_name(self) -> dict[str, o.Node]:
        return {node.name: node for node in self.all}

    @fact
    def _repelling(self) -> tuple[tuple[o.Pod, o.PodAffinityTerm], ...]:
        return tuple((pod, term) for pod in self.active for term in _terms(pod, anti=True))

    def _domains(self, term: o.PodAffinityTerm, owner: o.Pod) -> dict[str, list[o.Pod]]:
        """The values of the term's topology key under which pods that it selects run, with those pods."""
        found: dict[str, list[o.Pod]] = defaultdict(list)
        for other in self.active:
            node = self._by_name.get(other.spec.node_name)
            value = node.metadata.labels.get(term.topology_key) if node is not None else None
            if value is not None and self._selects(term, owner, other):
                found[value].append(other)
        return dict(found)

    def affinity_conflicts(self, pod: o.Pod) -> dict[str, tuple[str, o.Pod | None]]:
        """Give, by node name, why pod affinity or anti-affinity keeps a pod off it, and the other pod where there is one."""
        found: dict[str, tuple[str, o.Pod | None]] = {}
        for term in _terms(pod, anti=True):
            for value, others in self._domains(term, pod).items():
                for node in self.all:
                    if node.metadata.labels.get(term.topology_key) == value:
                        found.setdefault(node.name, ("its own anti-affinity", _first(others)))
        for repelling, term in self._repelling:
            home = self._by_name.get(repelling.spec.node_name)
            there = home.metadata.labels.get(term.topology_key) if home is not None else None
            if there is None or not self._selects(term, repelling, pod):
                continue
            for node in self.all:
                if node.metadata.labels.get(term.topology_key) == there:
                    found.setdefault(node.name, ("the anti-affinity of a pod that runs there", repelling))
        found |= {name: why for name, why in self._attraction(pod).items() if name not in found}
        return found

    def _attraction(self, pod: o.Pod) -> dict[str, tuple[str, o.Pod | None]]:
        terms = _terms(pod, anti=False)
        if not terms:
            return {}
        domains = [(term, self._domains(term, pod)) for term in terms]
        # the first pod of a group that attracts itself may go anywhere
        first = all(not values for _, values in domains) and all(self._selects(term, pod, pod) for term in terms)
        found: dict[str, tuple[str, o.Pod | None]] = {}
        for node in self.all:
            for term, values in domains:
                value = node.metadata.labels.get(term.topology_key)
                if value is None or (not first and value not in values):
                    found[node.name] = ("its own affinity: no pod that it wants beside it runs there", None)
        return found

    def spread_conflicts(self, pod: o.Pod) -> dict[str, str]:
        """Give, by node name, the topology key of the spread constraint that keeps a pod off it."""
        constraints = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable != "ScheduleAnyway"]
        found: dict[str, str] = {}
        keys = {constraint.topology_key for constraint in constraints}
        for constraint in constraints:
            eligible = [
                node for node in self.all if keys <= node.metadata.labels.keys() and self._counts(constraint, node, pod)
            ]
            skews = self._skews(constraint, pod, eligible)
            lowest = min(skews.values(), default=0)
            if constraint.min_domains is not None and len(skews) < constraint.min_domains:
                lowest = 0
            itself = 1 if _spread_selects(constraint, pod, pod) else 0
            for node in self.all:
                value = node.metadata.labels.get(constraint.topology_key)
                if value is None or skews.get(value, 0) + itself - lowest > constraint.max_skew:
                    found.setdefault(node.name, constraint.topology_key)
        return found

    def _counts(self, constraint: o.TopologySpreadConstraint, node: o.Node, pod: o.Pod) -> bool:
        if constraint.node_affinity_policy != "Ignore" and not self._labels_match(node, pod):
            return False
        return constraint.node_taints_policy != "Honor" or not scheduling.untolerated(
            node.spec.taints, pod.spec.tolerations
        )

    def _skews(self, constraint: o.TopologySpreadConstraint, pod: o.Pod, nodes: list[o.Node]) -> dict[str, int]:
        counts = {node.metadata.labels[constraint.topology_key]: 0 for node in nodes}
        for node in nodes:
            counts[node.metadata.labels[constraint.topology_key]] += sum(
                other.namespace == pod.namespace
                and other.metadata.deletion_timestamp is None
                and _spread_selects(constraint, pod, other)
                for other in self.on.get(node.name, ())
            )
        return counts

    @staticmethod
    def _labels_match(node: o.Node, pod: o.Pod) -> bool:
        return scheduling.node_affinity_matches(pod.spec, node.metadata.labels, node.name)

    # --- the funnel ---

    def look(self, pod: o.Pod) -> tuple[NodeView, ...]:
        """Give every node with the filters that a pod fails there. Raises Unknown when nodes were not read."""
        volumes = self._volumes(pod)
        asked = {**scheduling.pod_requests(pod.spec), "pods": 1}
        known = self._pods_known
        wants_ports = known and bool(scheduling.host_ports(pod.spec))
        apart = self.affinity_conflicts(pod) if known else {}
        spread = self.spread_conflicts(pod) if known else {}
        views = []
        for node in self.all:
            labels = node.metadata.labels
            cordoned = bool(node.spec.unschedulable) or any(t.key == UNSCHEDULABLE for t in node.spec.taints)
            fails: dict[Filter, bool] = {
                "volume": any(not scheduling.node_selector_matches(v, labels, node.name) for v in volumes),
                "labels": not self._labels_match(node, pod),
                "cordon": cordoned and not scheduling.tolerates(_CORDON, pod.spec.tolerations),
                "taint": bool(self.untolerated(node, pod)),
                "port": wants_ports and bool(self.ports_taken(node, pod)),
                "affinity": node.name in apart,
                "spread": node.name in spread,
                "resources": bool(self._lacks(node, asked)),
            }
            views.append(NodeView(node, tuple(name for name in FILTERS if fails[name])))
        return tuple(views)

    @fact
    def classes(self) -> tuple[tuple[o.Pod, ...], ...]:
        """The unscheduled pods in groups that the scheduler cannot tell apart, by the name of their first pod."""
        groups: dict[bytes, list[o.Pod]] = defaultdict(list)
        for pod in self._facts.pods.unscheduled:
            labels = {key: value for key, value in pod.metadata.labels.items() if key not in _INDEX_LABELS}
            groups[msgspec.json.encode((pod.spec, sorted(labels.items())))].append(pod)
        return tuple(tuple(pods) for pods in sorted(groups.values(), key=lambda pods: pods[0].name))

    @fact
    def funnels(self) -> tuple[Funnel, ...]:
        """One funnel per kind of unscheduled pod. Raises Unknown when neither nodes nor the scheduler's text is known."""
        funnels = []
        for pods in self.classes[:_CLASSES]:
            try:
                funnels.append(self._funnel(pods))
            except Unknown:
                spoken = self._spoken(pods)
                if spoken is None:
                    raise
                funnels.append(spoken)
        return tuple(funnels)

    def verdict(self, pod: o.Pod) -> Verdict | None:
        """Give what the scheduler last said about a pod that it could not place, taken apart; None when it said nothing."""
        found = condition(pod.status.conditions, "PodScheduled")
        if found is not None and found.status == "False" and found.message:
            parsed = scheduler_text.parse(found.message)
            if parsed is not None:
                return parsed
        for event in reversed(self._facts.pods.events_about(pod)):
            if event.reason == "FailedScheduling" and event.reporter != "karpenter":
                return scheduler_text.parse(event.message)
        return None

    def last_word(self, pod: o.Pod) -> datetime | None:
        """Give when the scheduler last said that it cannot place a pod, None when that is not known."""
        found = condition(pod.status.conditions, "PodScheduled")
        times = [found.last_transition_time] if found is not None and found.status == "False" else []
        event = self._facts.pods.last_event(pod, "FailedScheduling")
        times += [event.last_seen] if event is not None else []
        return max((time for time in times if time is not None), default=None)

    def _spoken(self, pods: tuple[o.Pod, ...]) -> Funnel | None:
        verdict = self.verdict(pods[0])
        if verdict is None:
            return None
        nearest = verdict.nearest
        blame = next((name for name in FILTERS if name == nearest), None)
        return Funnel(pods, (), blame, sole=False, complete=False, verdict=verdict)

    def _funnel(self, pods: tuple[o.Pod, ...]) -> Funnel:
        views = self.look(pods[0])
        blame, sole = blamed(views)
        computed = Funnel(pods, views, blame, sole, self._pods_known, self.verdict(pods[0]))
        if blame is None and views:
            # some node would take it by what was read; the scheduler's words count for what was not read
            spoken = self._spoken(pods)
            if spoken is not None and spoken.blame in self._unread(pods[0]):
                return spoken
        return computed

    def _unread(self, pod: o.Pod) -> set[Filter]:
        missing: set[Filter] = set() if self._pods_known else {*_DYNAMIC, "resources"}
        for claim in claims_of(pod):
            bound = self._snapshot.look_of(o.PersistentVolumeClaim, claim, pod.namespace)
            if bound is None or not self._snapshot.look("PersistentVolume", bound.spec.volume_name):
                missing.add("volume")
        return missing

    def blaming(self, name: Filter) -> tuple[Funnel, ...]:
        """Give the funnels in which a filter is to blame.

        Where a filter before it in the table is to blame and is not alone in the way, those that it keeps out as well.
        Raises Unknown when neither nodes nor the scheduler's text is known.
        """
        found = [funnel for funnel in self.funnels if funnel.blame == name]
        if found:
            return tuple(found)
        position = FILTERS.index(name)
        for funnel in self.funnels:
            # the scheduler counts a node once: an earlier filter may be to blame as well
            if not funnel.nodes and funnel.verdict is not None and funnel.verdict.of(name) and funnel.blame is not None:
                self._snapshot.require("Node")
        return tuple(
            funnel
            for funnel in self.funnels
            if funnel.blame is not None and FILTERS.index(funnel.blame) < position and self._keeps_out(funnel, name)
        )

    @staticmethod
    def _keeps_out(funnel: Funnel, name: Filter) -> bool:
        if not funnel.nodes:
            return funnel.verdict is not None and bool(funnel.verdict.of(name))
        return bool(funnel.failing(name))

    def sentence(self, funnel: Funnel) -> str:
        """Give the funnel in words, "Of 40 nodes, 12 carry its labels, 8 of those …", or the scheduler's own words.

        Nothing of it where a single node fails in a single way: that is said before.

        With a second sentence where an autoscaler has begun to add a node.
        """
        alone = len(funnel.nodes) == 1 and len(funnel.nodes[0].fails) == 1
        return " ".join(part for part in ("" if alone else self._narrowed(funnel), self.coming(funnel)) if part)

    def coming(self, funnel: Funnel) -> str:
        """Say that an autoscaler has begun to add a node for these pods, as a sentence; "" when none said so lately."""
        return node_coming(self._facts, funnel.pods)

    @staticmethod
    def _narrowed(funnel: Funnel) -> str:
        if not funnel.nodes:
            text = funnel.verdict.text if funnel.verdict is not None else ""
            total = funnel.verdict.nodes if funnel.verdict is not None else 0
            head = (
                f"The scheduler says of {total} {'node' if total == 1 else 'nodes'}" if total else "The scheduler says"
            )
            return f"{head}: {names.quoted(text)}."
        left = list(funnel.nodes)
        steps: list[str] = []
        for name in FILTERS:
            kept = [view for view in left if name not in view.fails]
            if len(kept) < len(left):
                count = str(len(kept)) if kept else "none"
                those = " of those" if steps else ""
                steps.append(f"{count}{those} {_STEPS[name][len(kept) > 1]}")
            left = kept
        total = len(funnel.nodes)
        return f"Of {total} {'node' if total == 1 else 'nodes'}, {', '.join(steps)}."

    def evidence(self, funnel: Funnel) -> tuple[Evidence, ...]:
        """Give what the scheduler says of the first pod, in its own words, and the funnel that was computed."""
        pod = funnel.pod
        subject = names.subject("Pod", pod.name, pod.namespace)
        said = condition(pod.status.conditions, "PodScheduled")
        rows = []
        if said is not None and said.message:
            field = "status.conditions[PodScheduled].message"
            rows.append(Evidence(subject, field, names.quoted(said.message)))
        if funnel.nodes:
            rows.append(Evidence(subject, "spec", self._narrowed(funnel), "computed"))
        elif funnel.verdict is not None and not rows:
            rows.append(Evidence(subject, "events[FailedScheduling].message", names.quoted(funnel.verdict.text)))
        return tuple(rows)

    @fact
    def autoscaler(self) -> Autoscaler | None:
        """Why an autoscaler adds no node for a pod that waits; None when none said so, or it adds one."""
        return why_no_node(self._facts)

    # --- what a rule says of it ---

    def _considered(self, funnel: Funnel) -> tuple[o.Node, ...]:
        return (funnel.candidates if funnel.blame == "resources" else ()) or funnel.failing("resources")

    def rooms(self, funnel: Funnel, without: Iterable[str] = ()) -> tuple[Room, ...]:
        """Give the resources that decide, the one missing on most nodes first, without those named in `without`."""
        nodes = self._considered(funnel)
        lacking: dict[str, list[o.Node]] = defaultdict(list)
        for node in nodes:
            for resource in self.lacks(node, funnel.pod):
                lacking[resource].append(node)
        left_out = set(without)
        everywhere = {resource for resource, where in lacking.items() if len(where) == len(nodes)}
        chosen = sorted(
            (everywhere or set(lacking)) - left_out,
            key=lambda resource: (-len(lacking[resource]), resource in CORE, resource),
        )
        asked = {**scheduling.pod_requests(funnel.pod.spec), "pods": 1}
        return tuple(self._room(resource, asked[resource], nodes, len(lacking[resource])) for resource in chosen)

    def _room(self, resource: str, asked: int, nodes: tuple[o.Node, ...], lacking: int) -> Room:
        offers = {node.name: self.allocatable(node).get(resource, 0) for node in nodes}
        largest = min(nodes, key=lambda node: (-offers[node.name], node.name))
        if not self._pods_known:
            return Room(resource, asked, largest, None, largest, offers[largest.name], None, lacking)
        free = {node.name: self.free(node, resource) for node in nodes}
        freest = min(nodes, key=lambda node: (-free[node.name], -offers[node.name], node.name))
        total = sum(free.values())
        return Room(resource, asked, freest, free[freest.name], largest, offers[largest.name], total, lacking)

    def most_emptied(self, funnel: Funnel, resource: str) -> int:
        """Give the most of a resource that any node looked at would have if everything but its DaemonSets' pods went."""
        return max((self.emptied(node, resource) for node in self._considered(funnel)), default=0)

    def would_fit_emptied(self, funnel: Funnel) -> bool:
        """Say whether a node would take the pod if everything but its DaemonSets' pods went."""
        asked = {**scheduling.pod_requests(funnel.pod.spec), "pods": 1}
        for node in self._considered(funnel):
            offered = self.allocatable(node)
            if all(v <= self.emptied(node, r) for r, v in asked.items() if r in offered or r not in CORE):
                return True
        return False

    def wishes(self, pod: o.Pod) -> tuple[Wish, ...]:
        """Give the labels that a pod asks of its node, by nodeSelector and required affinity, with their origin."""
        place = self._facts.pods.pod_set_of(pod)
        own = place[1].template.spec.node_selector if place is not None and place[1] is not None else None
        assignment = place[2] if place is not None else None
        flavors = sorted(set(assignment.flavors.values())) if assignment is not None else []
        known = [f for name in flavors if (f := self._snapshot.look_of(o.ResourceFlavor, name)) is not None]
        placed = assignment.topology_assignment if assignment is not None else None
        keys = {key for flavor in known for key in flavor.spec.node_labels} | set(
            placed.levels if placed is not None else ()
        )
        checked = place is not None and bool(place[0].status.admission_checks)
        anything = checked or len(known) < len(flavors)  # a check may add labels of its own
        found = []
        for key, value in sorted(pod.spec.node_selector.items()):
            added = own is not None and own.get(key) != value and (anything or key in keys)
            flavor = next((f.name for f in known if added and f.spec.node_labels.get(key) == value), "")
            found.append(self._wish(key, (value,), f"{key}={value}", "spec.nodeSelector", flavor, added=added))
        required = scheduling.required_node_affinity(pod.spec)
        terms = required.node_selector_terms if required is not None else ()
        field = "spec.affinity.nodeAffinity"
        for requirement in terms[0].match_expressions if len(terms) == 1 else ():
            text = f"{requirement.key} {requirement.operator} ({', '.join(requirement.values)})"
            met = any(scheduling.requirement_matches(requirement, labels) for labels in self._labels)
            found.append(self._wish(requirement.key, requirement.values, text, field, "", added=False, met=met))
        for requirement in terms[0].match_fields if len(terms) == 1 else ():
            text = f"{requirement.key} {requirement.operator} ({', '.join(requirement.values)})"
            met = any(scheduling.requirement_matches(requirement, {"metadata.name": n}) for n in self._names)
            found.append(self._wish(requirement.key, requirement.values, text, field, "", added=False, met=met))
        if len(terms) > 1:
            met = any(scheduling.node_selector_matches(required, n.metadata.labels, n.name) for n in self._seen)
            found.append(self._wish("", (), f"one of {len(terms)} affinity terms", field, "", added=False, met=met))
        return tuple(found)

    @property
    def _seen(self) -> tuple[o.Node, ...]:
        return self._snapshot.all_of(o.Node, read="seen")

    @property
    def _labels(self) -> list[dict[str, str]]:
        return [node.metadata.labels for node in self._seen]

    @property
    def _names(self) -> list[str]:
        return [node.name for node in self._seen]

    def _wish(
        self,
        key: str,
        values: tuple[str, ...],
        text: str,
        field: str,
        flavor: str,
        *,
        added: bool,
        met: bool | None = None,
    ) -> Wish:
        carried = {labels[key] for labels in self._labels if key in labels}
        there = tuple(f"{key}={value}" for value in sorted(carried))
        reached = (values[0] in carried if values else False) if met is None else met
        return Wish(key, values[0] if values else "", text, field, flavor, added, reached, there)

    def flavor_without(self, funnel: Funnel) -> str:
        """Give the assigned ResourceFlavor whose own nodes are all closed by a taint that it does not declare, else ""."""
        place = self._facts.pods.pod_set_of(funnel.pod)
        assignment = place[2] if place is not None else None
        nodes = funnel.passing("labels")
        for name in sorted(set(assignment.flavors.values())) if assignment is not None else ():
            flavor = self._snapshot.look_of(o.ResourceFlavor, name)
            if flavor is None or not flavor.spec.node_labels or not nodes:
                continue
            declared = {(taint.key, taint.value) for taint in flavor.spec.node_taints}
            closed = [{(t.key, t.value) for t in self.untolerated(node, funnel.pod)} - declared for node in nodes]
            if all(closed) and set.intersection(*closed):
                return name
        return ""

    def tied(self, pod: o.Pod) -> tuple[tuple[str, str, str], ...]:
        """Give the pod's bound claims whose volumes are tied to nodes: (claim, volume, where)."""
        found = []
        for claim in claims_of(pod):
            bound = self._snapshot.look_of(o.PersistentVolumeClaim, claim, pod.namespace)
            volume = self._snapshot.look_of(o.PersistentVolume, bound.spec.volume_name) if bound is not None else None
            required = volume.spec.node_affinity.required if volume is not None and volume.spec.node_affinity else None
            if volume is None or required is None:
                continue
            terms = [
                " and ".join(f"{r.key} {r.operator} {', '.join(r.values)}".strip() for r in term.match_expressions)
                for term in required.node_selector_terms
            ]
            found.append((claim, volume.name, " or ".join(terms)))
        return tuple(found)

    def device_plugins(self, resource: str) -> tuple[Plugin, ...]:
        """Give the device plugins for an extended resource that were seen, by DaemonSet, worst first.

        Which plugin serves a resource is nowhere written down: it is told by its name ("device-plugin" with the
        resource's own name or its vendor's).
        """
        domain, _, short = resource.rpartition("/")
        vendor = (domain.split(".")[-2:] or [""])[0]
        found = []
        for item in self._snapshot.seen("DaemonSet"):
            name = item.name.lower()
            if (
                not isinstance(item, o.Loose)
                or "plugin" not in name
                or not ({short, vendor} & set(re.split(r"\W|_", name)))
            ):
                continue
            wanted, ready = (
                value if isinstance(value := item.status.get(key), int) else None
                for key in ("desiredNumberScheduled", "numberReady")
            )
            if wanted is None:
                continue
            ready = ready or 0
            subject = names.subject("DaemonSet", item.name, item.namespace)
            shown = names.named("DaemonSet", item.name, item.namespace)
            sentence = f"Device plugin {shown} has {ready} of {wanted} pods ready."
            found.append(
                (ready - wanted, item.name, Plugin(sentence, Evidence(subject, "status.numberReady", str(ready))))
            )
        return tuple(plugin for *_, plugin in sorted(found, key=lambda entry: entry[:2]))

    def unadvertised(self, funnel: Funnel) -> tuple[str, ...]:
        """Give the extended resources that none of the nodes open to the pod advertises at all, sorted.

        Nothing when another filter alone is in the way of a node that has the resource, or no node is open.
        """
        if not funnel.nodes:
            spoken = funnel.verdict.of("resources") if funnel.verdict is not None else ()
            if any(part.detail not in CORE for part in spoken):
                self._snapshot.require("Node")
            return ()
        if funnel.blame is None or (funnel.sole and funnel.blame != "resources"):
            return ()
        open_nodes = funnel.passing("labels", "cordon", "taint")
        asked = scheduling.pod_requests(funnel.pod.spec)
        return tuple(
            sorted(
                r
                for r, value in asked.items()
                if value > 0
                and r not in CORE
                and open_nodes
                and not any(self.allocatable(n).get(r) for n in open_nodes)
            )
        )


def blamed(views: Iterable[NodeView]) -> tuple[Filter | None, bool]:
    """Give the filter to blame and whether it alone is in the way of some node; (None, False) when a node would take it.

    Labels say where a pod wants to go: while some node carries them, what is wrong with those nodes comes first.
    """
    everything = tuple(views)
    if not everything or any(not view.fails for view in everything):
        return None, False
    inside = [view for view in everything if "labels" not in view.fails]
    for name in FILTERS:
        if any(view.only(name) for view in (everything if name == "volume" or not inside else inside)):
            return name, True
    if any(view.only("labels") for view in everything):
        return "labels", True
    left = list(everything)
    for name in FILTERS:
        left = [view for view in left if name not in view.fails]
        if not left:
            return name, False
    return None, False


def claims_of(pod: o.Pod) -> tuple[str, ...]:
    """Give the names of the PersistentVolumeClaims that a pod uses, those of its ephemeral volumes included."""
    names = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name:
            names.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            names.append(f"{pod.name}-{volume.name}")
    return tuple(names)


def _first(pods: Iterable[o.Pod]) -> o.Pod:
    return min(pods, key=lambda pod: (pod.namespace, pod.name))


def _terms(pod: o.Pod, *, anti: bool) -> tuple[o.PodAffinityTerm, ...]:
    affinity = pod.spec.affinity
    if affinity is None:
        return ()
    part = affinity.pod_anti_affinity if anti else affinity.pod_affinity
    return part.required_during_scheduling_ignored_during_execution if part is not None else ()


def _spread_selects(constraint: o.TopologySpreadConstraint, pod: o.Pod, other: o.Pod) -> bool:
    mine, labels = pod.metadata.labels, other.metadata.labels
    return scheduling.selector_matches(constraint.label_selector, labels) and all(
        labels.get(key) == mine[key] for key in constraint.match_label_keys if key in mine
    )
