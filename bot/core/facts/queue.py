"""The way a Workload is routed: LocalQueue, ClusterQueue, flavors, checks, cohorts, and what is wrong with each of them.

Everything is recomputed from the objects as they are now. Kueue's own words (the `Active` condition) are the second
source: a text whose every claim is disproved by an object is outdated and counts for nothing.
"""

from typing import TYPE_CHECKING

from bot.core import limitranges, texts
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.marks import MULTIKUEUE, PROVISIONING, queue_name
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.scheduling import selector_matches
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

PARAMETERS = {PROVISIONING: "ProvisioningRequestConfig", MULTIKUEUE: "MultiKueueConfig"}
"""The kind of the parameters object of Kueue's own check controllers."""
NAME_LABEL = "kubernetes.io/metadata.name"
_LONGEST = 64  # cohorts above one another; a ring is found long before


@dataclass(frozen=True, slots=True)
class InactiveCheck:
    """An AdmissionCheck that is not active: its controller's words, and the parameters object that is not there."""

    check: o.AdmissionCheck
    condition: o.Condition | None
    missing: str = ""
    """"Kind/name" of parameters that are proven absent, "" otherwise."""


@dataclass(frozen=True, slots=True)
class Misconfiguration:
    """A reason for which a ClusterQueue is not active, other than what the rules before it name.

    `words`: Kueue's own text, "" where the objects alone show it; `confirmed`: the objects show it too.
    """

    what: texts.InactiveWhat
    names: tuple[str, ...]
    words: str
    confirmed: bool


@dataclass(frozen=True, slots=True)
class RequestProblem:
    """A request that Kueue refuses, with the pod set it stands in; `where` is the field path in the Workload."""

    pod_set: str
    where: str
    problem: limitranges.Problem


class Queue:
    """Facts about the queues on the Workload's way."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    # --- the way ---

    @fact
    def _place(self) -> str:
        workload = self._facts.identity.workload
        return workload.namespace if workload is not None else self._facts.ref.namespace

    @fact
    def queue_name(self) -> str:
        """The LocalQueue's name: the Workload's spec.queueName decides, without a Workload the job's label. "" for none."""
        workload = self._facts.identity.workload
        if workload is not None:
            return workload.spec.queue_name
        root = self._facts.identity.root
        name = queue_name(root) if root is not None else None
        if name is None and self._facts.identity.group is not None:
            names = sorted({queue_name(pod) or "" for pod in self._facts.identity.group.pods})
            name = names[0] if len(names) == 1 else None
        return name or ""

    @fact
    def local_queue(self) -> o.LocalQueue | None:
        """The LocalQueue, None when it is proven absent (an empty name names none). Raises Unknown when it was not read."""
        name = self.queue_name
        return self._snapshot.one_of(o.LocalQueue, name, self._place) if name else None

    @fact
    def local_queue_names(self) -> tuple[str, ...]:
        """The LocalQueues of this namespace that were read, by name."""
        return tuple(
            sorted(item.name for item in self._snapshot.all_of(o.LocalQueue, read="seen", namespace=self._place))
        )

    @fact
    def cluster_queue_name(self) -> str:
        """The ClusterQueue that holds the Workload's quota, else the one its LocalQueue points to; "" when there is none.

        Raises Unknown when the LocalQueue was not read.
        """
        workload = self._facts.identity.workload
        if workload is not None and workload.status.admission is not None and workload.status.admission.cluster_queue:
            return workload.status.admission.cluster_queue
        queue = self.local_queue
        return queue.spec.cluster_queue if queue is not None else ""

    @fact
    def cluster_queue(self) -> o.ClusterQueue | None:
        """The ClusterQueue, None when it is proven absent or nothing names one. Raises Unknown when it was not read."""
        name = self.cluster_queue_name
        return self._snapshot.one_of(o.ClusterQueue, name) if name else None

    @fact
    def namespace(self) -> o.Namespace | None:
        """The Workload's namespace, None when it is proven absent. Raises Unknown when it was not read."""
        return self._snapshot.one_of(o.Namespace, self._place)

    @fact
    def flavor_names(self) -> tuple[str, ...]:
        """The flavors of the ClusterQueue, in the order of its spec, each once. Raises Unknown with the ClusterQueue."""
        queue = self.cluster_queue
        if queue is None:
            return ()
        return tuple(dict.fromkeys(f.name for group in queue.spec.resource_groups for f in group.flavors if f.name))

    def flavor(self, name: str) -> o.ResourceFlavor | None:
        """Give a ResourceFlavor, None when it is proven absent. Raises Unknown when it was not read."""
        return self._snapshot.one_of(o.ResourceFlavor, name)

    # --- cohorts ---

    @fact
    def _climb(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        queue = self.cluster_queue
        path: list[str] = []
        name = queue.cohort if queue is not None else ""
        while name and len(path) < _LONGEST:
            if name in path:
                return tuple(path), tuple(path[path.index(name) :])
            path.append(name)
            cohort = self._snapshot.one_of(o.Cohort, name)
            name = cohort.parent if cohort is not None else ""
        return tuple(path), ()

    @fact
    def cohort_path(self) -> tuple[str, ...]:
        """The cohorts above the ClusterQueue: its own first, the root last; each once where the parents form a ring.

        A cohort without a Cohort object is implicit: a root of its own. Raises Unknown when Cohorts were not read.
        """
        return self._climb[0]

    @fact
    def ring(self) -> tuple[str, ...]:
        """The cohorts that form a ring above the ClusterQueue, in the order of the parents; () when there is none."""
        return self._climb[1]

    # --- what is wrong ---

    @fact
    def active(self) -> o.Condition | None:
        """The ClusterQueue's Active condition, None when it has none."""
        queue = self.cluster_queue
        return condition(queue.status.conditions, "Active") if queue is not None else None

    @fact
    def said(self) -> tuple[texts.InactivePart, ...]:
        """What the ClusterQueue's condition says to be wrong, () when it does not say that it is inactive."""
        active = self.active
        if active is None or active.status != "False":
            return ()
        return texts.inactive(active.reason, active.message)

    def said_names(self, what: texts.InactiveWhat) -> tuple[str, ...]:
        """The object names in the condition's reasons of one sort, sorted; the reasons must hold for this version of the spec."""
        active, queue = self.active, self.cluster_queue
        if active is None or queue is None or 0 < active.observed_generation < queue.metadata.generation:
            return ()
        return tuple(sorted({name for part in self.said if part.what == what for name in part.names}))

    @fact
    def missing_flavors(self) -> tuple[str, ...]:
        """The flavors that the ClusterQueue names and that do not exist, in its order. Raises Unknown when not read."""
        return tuple(name for name in self.flavor_names if self.flavor(name) is None)

    @fact
    def check_names(self) -> tuple[str, ...]:
        """The AdmissionChecks that the ClusterQueue names, each once, sorted."""
        queue = self.cluster_queue
        return tuple(sorted({rule.name for rule in queue.check_rules if rule.name})) if queue is not None else ()

    @fact
    def missing_checks(self) -> tuple[str, ...]:
        """The AdmissionChecks that the ClusterQueue names and that do not exist. Raises Unknown when not read."""
        return tuple(name for name in self.check_names if self._snapshot.one_of(o.AdmissionCheck, name) is None)

    @fact
    def inactive_checks(self) -> tuple[InactiveCheck, ...]:
        """The AdmissionChecks of the ClusterQueue that are not active. Raises Unknown when not read.

        A check is active when its condition Active is True; without a condition no controller has taken it. Parameters
        that are proven absent make it inactive whatever an older condition says.
        """
        found = []
        for name in self.check_names:
            check = self._snapshot.one_of(o.AdmissionCheck, name)
            if check is None:
                continue
            missing = self._missing_parameters(check)
            if missing or not is_true(check.status.conditions, "Active"):
                found.append(InactiveCheck(check, condition(check.status.conditions, "Active"), missing))
        return tuple(found)

    def _missing_parameters(self, check: o.AdmissionCheck) -> str:
        kind, parameters = PARAMETERS.get(check.spec.controller_name), check.spec.parameters
        if kind is None or parameters is None or parameters.kind != kind or not parameters.name:
            return ""
        if not self._snapshot.covers(kind, "", parameters.name):
            return ""
        return "" if self._snapshot.look(kind, parameters.name) is not None else f"{kind}/{parameters.name}"

    @fact
    def misconfigurations(self) -> tuple[Misconfiguration, ...]:
        """Why the ClusterQueue is not active, beyond what the other facts here name. Raises Unknown with the ClusterQueue.

        Combinations that only some versions of Kueue refuse count when its own condition says so and the objects do
        not disprove it.
        """
        queue = self.cluster_queue
        if queue is None:
            return ()
        found: dict[texts.InactiveWhat, Misconfiguration] = {}
        for part in self.said:
            if part.what in _NAMED_ELSEWHERE or (part.what == "unknown" and self._in_a_ring()):
                continue
            shown, names = self._shown(part.what)
            if shown is not False:
                words = self.active.message if self.active is not None else ""
                names = tuple(sorted(part.names)) or names
                found[part.what] = Misconfiguration(part.what, names, words, confirmed=bool(shown))
        for what in ("several-multikueue", "multikueue-per-flavor"):
            if what not in found:
                shown, names = self._shown(what)
                if shown and self.active is not None and not self._refreshed():
                    found[what] = Misconfiguration(what, names, "", confirmed=True)
        if not found and self.active is not None and self._lags():
            found["lagging"] = Misconfiguration("lagging", (), self.active.message, confirmed=False)
        return tuple(found[what] for what in sorted(found))

    def _lags(self) -> bool:
        """Whether it says that its cohorts form a ring and they do not any more; False where Cohorts were not read.

        What else makes it inactive is looked at again when the objects change; of a Cohort further up Kueue may miss that.
        """
        if {part.what for part in self.said} != {"cohort-cycle"}:
            return False
        try:
            return not self.ring
        except Unknown:
            return False

    def _in_a_ring(self) -> bool:
        """Whether a ring of cohorts explains why it is inactive; older versions give no reason of their own for that."""
        try:
            return bool(self.ring)
        except Unknown:
            return False

    def _refreshed(self) -> bool:
        """Whether Kueue has seen this version of the ClusterQueue and says that it is active."""
        active, queue = self.active, self.cluster_queue
        return (
            active is not None
            and queue is not None
            and active.status == "True"
            and (active.observed_generation == 0 or active.observed_generation >= queue.metadata.generation)
        )

    def _shown(self, what: texts.InactiveWhat) -> tuple[bool | None, tuple[str, ...]]:
        """Whether the objects show a combination: True, False, None when they cannot; and which checks make it."""
        queue = self.cluster_queue
        if queue is None or what not in _COMBINATIONS:
            return None, ()
        if what == "topology-unsupported":
            flavors = [self._snapshot.look_of(o.ResourceFlavor, name) for name in self.flavor_names]
            if any(flavor is not None and flavor.spec.topology_name for flavor in flavors):
                return True, ()
            return (None if None in flavors else False), ()
        checks = {name: self._snapshot.look_of(o.AdmissionCheck, name) for name in self.check_names}
        if None in checks.values():
            return None, ()
        by = {
            controller: tuple(n for n, c in checks.items() if c is not None and c.spec.controller_name == controller)
            for controller in (MULTIKUEUE, PROVISIONING)
        }
        if what == "several-multikueue":
            return len(by[MULTIKUEUE]) > 1, by[MULTIKUEUE]
        if what == "multikueue-per-flavor":
            names = tuple(
                sorted(
                    {
                        rule.name
                        for rule in queue.check_rules
                        if rule.name in by[MULTIKUEUE]
                        and rule.on_flavors
                        and set(rule.on_flavors) != set(self.flavor_names)
                    }
                )
            )
            return bool(names), names
        return bool(by[MULTIKUEUE] and by[PROVISIONING]), (*by[MULTIKUEUE], *by[PROVISIONING])

    # --- the namespace and the requests ---

    @fact
    def namespace_selected(self) -> bool:
        """Whether the ClusterQueue's namespaceSelector selects the namespace: absent selects nothing, {} everything.

        Raises Unknown when neither the namespace's labels are known nor its name alone decides.
        """
        queue = self.cluster_queue
        if queue is None:
            raise Unknown(f"ClusterQueue {self.cluster_queue_name}: there is none")
        selector = queue.spec.namespace_selector
        if selector is None:
            return False
        keys = set(selector.match_labels) | {term.key for term in selector.match_expressions}
        if not keys <= {NAME_LABEL}:
            namespace = self.namespace
            labels = namespace.metadata.labels if namespace is not None else {}
            return selector_matches(selector, {NAME_LABEL: self._place, **labels})
        return selector_matches(selector, {NAME_LABEL: self._place})

    @fact
    def request_problems(self) -> tuple[RequestProblem, ...]:
        """Requests above their limits or outside a LimitRange, recomputed, in pod set order.

        The pods' own limits need no LimitRange; where they show nothing, LimitRanges must have been read: raises Unknown.
        """
        own = self._problems(())
        if own and not self._snapshot.covers("LimitRange", self._place):
            return own
        return self._problems(self._snapshot.all_of(o.LimitRange, namespace=self._place))

    def _problems(self, ranges: tuple[o.LimitRange, ...]) -> tuple[RequestProblem, ...]:
        workload = self._facts.identity.want()
        return tuple(
            RequestProblem(
                pod_set.name, f"spec.podSets[{pod_set.name}].template.spec.{problem.path}".rstrip("."), problem
            )
            for pod_set in workload.spec.pod_sets
            for problem in limitranges.problems(pod_set.template.spec, ranges)
        )

    # --- stopped ---

    def draining(self, policy: str) -> bool:
        """Say whether a stop policy ("None", "Hold", "HoldAndDrain") holds a Workload as far as the asked one has come.

        A Workload that waits is held by either; one that holds quota only by a draining queue.
        """
        if self._facts.progress.phase == "waiting":
            return policy in {"Hold", "HoldAndDrain"}
        return policy == "HoldAndDrain"


_NAMED_ELSEWHERE: frozenset[texts.InactiveWhat] = frozenset(
    ("stopped", "terminating", "flavor-missing", "check-missing", "check-inactive", "topology-missing", "cohort-cycle")
)
_COMBINATIONS: frozenset[texts.InactiveWhat] = frozenset(
    ("several-multikueue", "multikueue-per-flavor", "multikueue-with-provisioning", "topology-unsupported")
)
