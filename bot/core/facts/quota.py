"""The quota facts: what is asked, what is free, the most it could ever get, which term binds, and who holds the rest.

What is in use is in `trees`, the arithmetic in `cohorts`, the choice of flavors in `assignment`.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from bot.core import objects as o
from bot.core import quantity, texts
from bot.core.cohorts import Key, NodeId
from bot.core.diagnosis import Certainty, Holder, QuotaRow
from bot.core.facts.assignment import (
    RANK,
    Excludes,
    Figure,
    FlavorResult,
    Group,
    GroupResult,
    Offer,
    Placement,
    Verdict,
    figure,
    place,
    shut_out,
    splits,
)
from bot.core.facts.flavors import Exclusion, exclusion
from bot.core.facts.lazy import fact
from bot.core.facts.requests import PODS, PodSetRequests, asked, held
from bot.core.marks import ALLOWED_FLAVORS
from bot.core.names import subject
from bot.core.objects import condition
from bot.core.quotas import nominal
from bot.core.records import dataclass
from bot.core.snapshot import Unknown
from bot.core.workloads import job_of

if TYPE_CHECKING:
    from bot.core.facts import Facts

NEEDS = ("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "LimitRange", "RuntimeClass")
"""The kinds that must be readable for a rule about quota to be sure."""


Cause = Literal[
    "exceeds-queue-capacity",
    "exceeds-borrowing-limit",
    "exceeds-cohort-capacity",
    "borrowing-limit-reached",
    "quota-lent-out",
    "quota-in-use",
    "cohort-exhausted",
]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why there is no room: in the flavor that comes nearest, the figures that say so, the largest shortage first.

    `certainty` "reported": the tree was not read, and the figures are Kueue's own (`told`).
    """

    cause: Cause
    verdict: Literal["never", "wait"]
    flavor: str
    figures: tuple[Figure, ...] = ()
    certainty: Certainty = "certain"
    told: tuple[texts.OverMaximum | texts.NotFree, ...] = ()
    others: tuple[FlavorResult, ...] = ()
    """The other flavors of the group, none of which is nearer."""
    at_minimum: bool = False
    """The figures are for the smallest size that partial admission would start."""

    @property
    def main(self) -> Figure | None:
        """The figure with the largest relative shortage; None when Kueue's text is all there is."""
        return self.figures[0] if self.figures else None


class Quota:
    """Facts about quota."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._asked: dict[bool, tuple[PodSetRequests, ...]] = {}

    # --- what is asked ---

    @fact
    def queue(self) -> o.ClusterQueue | None:
        """The ClusterQueue, None when it is proven that there is none. Raises Unknown when it was not read."""
        return self._facts.queue.cluster_queue

    @fact
    def requests(self) -> tuple[PodSetRequests, ...]:
        """What each pod set of the deciding Workload asks for, as Kueue counts it.

        Raises Unknown when there is no Workload or ClusterQueue, or an amount cannot be told.
        """
        queue = self.queue
        if queue is None:
            reason = "there is no ClusterQueue"
            raise Unknown(reason)
        return self.requests_in(queue)

    def requests_in(self, queue: o.ClusterQueue) -> tuple[PodSetRequests, ...]:
        """Give what each pod set would ask of another ClusterQueue: the same, but "pods" only where it is covered."""
        covered = {resource for group in queue.spec.resource_groups for resource in group.covered_resources}
        workload = self._facts.identity.want()
        pods = PODS in covered
        if pods not in self._asked:
            self._asked[pods] = asked(workload, self._snapshot, pods_covered=pods)
        return self._as_configured(workload, self._asked[pods], covered)

    def _as_configured(
        self, workload: o.Workload, pod_sets: tuple[PodSetRequests, ...], covered: set[str]
    ) -> tuple[PodSetRequests, ...]:
        """Leave out what Kueue's configuration leaves out, as far as it was read; by default it leaves out nothing.

        Raises Unknown when a transformation would change what Kueue has not counted itself yet.
        """
        try:
            config = self._resources
        except Unknown:
            return pod_sets
        counted = {entry.name for entry in workload.status.resource_requests}
        for change in _dicts(config.get("transformations")):
            name = change.get("input")
            if isinstance(name, str) and any(
                name in pod_set.requests and pod_set.name not in counted for pod_set in pod_sets
            ):
                reason = f"Kueue's configuration transforms {name}, and Kueue has not counted the requests yet"
                raise Unknown(reason)
        prefixes = config.get("excludeResourcePrefixes")
        out = tuple(prefix for prefix in (prefixes if isinstance(prefixes, list) else ()) if isinstance(prefix, str))
        ignores = config.get("quotaCheckStrategy") == "IgnoreUndeclared"
        return tuple(
            replace(
                pod_set,
                requests={
                    name: value
                    for name, value in pod_set.requests.items()
                    if not name.startswith(out) and (name in covered or not ignores)
                },
            )
            for pod_set in pod_sets
        )

    @fact
    def _resources(self) -> dict[str, Any]:
        """What Kueue's configuration says of resources. Raises Unknown when it was not read."""
        config = self._facts.controller.configuration.get("resources")
        return config if isinstance(config, dict) else {}

    def made_of(self, resource: str) -> tuple[str, ...]:
        """Give the resources out of which Kueue's configuration makes this one, () when it is not known to."""
        try:
            changes = _dicts(self._resources.get("transformations"))
        except Unknown:
            return ()
        inputs = {
            change.get("input")
            for change in changes
            if isinstance(outputs := change.get("outputs"), dict) and resource in outputs
        }
        return tuple(sorted(name for name in inputs if isinstance(name, str)))

    # --- how near it comes ---

    def offer_of(self, queue: o.ClusterQueue) -> Offer:
        """Give what a ClusterQueue offers to the asked Workload. Raises Unknown when its tree was not read."""
        return Offer(
            self._facts.trees.tree if queue is self.queue else self._facts.trees.tree_of(queue),
            ("ClusterQueue", queue.name),
            _groups(queue),
            self._excludes(queue),
            queue.spec.flavor_fungibility.get("whenCanBorrow") == "TryNextFlavor",
        )

    def _excludes(self, queue: o.ClusterQueue) -> Excludes:
        """Give what says why pod sets of the asked Workload cannot use a flavor of this ClusterQueue."""
        allowed = self._facts.identity.want().metadata.annotations.get(ALLOWED_FLAVORS)

        def out(flavor: str, pod_sets: tuple[PodSetRequests, ...]) -> Exclusion | None:
            item = self._snapshot.one_of(o.ResourceFlavor, flavor)
            others = self._keys_beside(queue, flavor) if queue is self.queue else ()
            found = exclusion(flavor, item, pod_sets, allowed=allowed, others=others)
            names = [pod_set.name for pod_set in pod_sets]
            return found if found is not None else self._facts.topology.exclusion(flavor, names, queue)

        return out

    def _keys_beside(self, queue: o.ClusterQueue, flavor: str) -> tuple[str, ...]:
        """Give the label keys of the flavor's group where Kueue's own text says that its labels do not match."""
        if not any(isinstance(reason, texts.AffinityMismatch) and reason.flavor == flavor for reason in self.said):
            return ()
        names = {name for group in _groups(queue) if flavor in group.flavors for name in group.flavors}
        items = [self._snapshot.look_of(o.ResourceFlavor, name) for name in names]
        return tuple(sorted({key for item in items if item is not None for key in item.spec.node_labels}))

    @fact
    def offer(self) -> Offer:
        """What the ClusterQueue offers. Raises Unknown when there is none or its tree was not read."""
        queue = self.queue
        if queue is None:
            reason = "there is no ClusterQueue"
            raise Unknown(reason)
        return self.offer_of(queue)

    @fact
    def placement(self) -> Placement:
        """The whole Workload placed into the flavors, as far as it goes. Raises Unknown when anything of it is unknown."""
        return place(self.offer, self.requests)

    @fact
    def smallest(self) -> Placement | None:
        """The Workload at the smallest size that partial admission would start; None without `minCount`."""
        if all(pod_set.min_count is None for pod_set in self.requests):
            return None
        return place(self.offer, self._least)

    @fact
    def _least(self) -> tuple[PodSetRequests, ...]:
        return tuple(
            pod_set.scaled(pod_set.count if pod_set.min_count is None else pod_set.min_count)
            for pod_set in self.requests
        )

    @fact
    def deciding(self) -> Placement:
        """The placement that decides: at the smallest size where that comes further, else of the whole Workload."""
        whole, smallest = self.placement, self.smallest
        return smallest if smallest is not None and RANK[smallest.verdict] > RANK[whole.verdict] else whole

    @fact
    def counted(self) -> tuple[PodSetRequests, ...]:
        """The requests of the placement that decides."""
        return self.requests if self.deciding is self.placement else self._least

    @fact
    def verdict(self) -> Verdict | None:
        """How near it comes: fits, wait, never or excluded; None without Workload or ClusterQueue.

        Raises Unknown when it is not known, and when it would fit but something that adds to its requests was not read.
        """
        if self._facts.identity.workload is None or self.queue is None:
            return None
        verdict = self.deciding.verdict
        missing = [reason for pod_set in self.requests for reason in pod_set.missing]
        if verdict == "fits" and missing:
            raise Unknown(missing[0])
        return verdict

    @fact
    def groups(self) -> tuple[GroupResult, ...]:
        """The verdict of each resource group from which something is asked, in the order of the spec."""
        return self.placement.groups

    @fact
    def uncovered(self) -> Mapping[str, int]:
        """What is asked of resources that no group covers, in Kueue's unit, by name. Needs no tree and no usage.

        Raises Unknown when there is no ClusterQueue or the request is not known.
        """
        queue = self.queue
        groups = queue.spec.resource_groups if queue is not None else ()
        covered = {resource for group in groups for resource in group.covered_resources}
        total: dict[str, int] = {}
        for pod_set in self.requests:
            for resource, value in pod_set.requests.items():
                if resource not in covered:
                    total[resource] = total.get(resource, 0) + value
        return dict(sorted(total.items()))

    @fact
    def excluded(self) -> tuple[FlavorResult, ...]:
        """Why each flavor of a group is out, for the first pod set that none of them can take; empty without one.

        Needs no tree and no usage.
        """
        if self._facts.identity.workload is None or self.queue is None:
            return ()
        return shut_out(_groups(self.queue), self._excludes(self.queue), self.requests)

    @fact
    def said_excluded(self) -> tuple[texts.UntoleratedTaint | texts.AffinityMismatch, ...]:
        """Why every flavor is out in Kueue's own words: taints and labels alone; empty when it names anything else."""
        found = [r for r in self.said if isinstance(r, texts.UntoleratedTaint | texts.AffinityMismatch)]
        return tuple(found) if len(found) == len(self.said) else ()

    @fact
    def concerned(self) -> tuple[Key, ...]:
        """The flavors and resources that the Workload holds, or would take or waits for: those of the nearest flavors.

        Raises Unknown when it waits and the tree was not read.
        """
        workload = self._facts.identity.want()
        taken = held(workload)
        if taken:
            return tuple(sorted(taken))
        nearest = [group.nearest for group in self.groups]
        return tuple(
            (entry.flavor, entry.resource) for flavor in nearest if flavor is not None for entry in flavor.figures
        )

    @fact
    def assignment_now(self) -> Mapping[tuple[str, str], str] | None:
        """The flavor of each (pod set, resource) if it fits now, else None."""
        return self.deciding.chosen if self.verdict == "fits" else None

    # --- why there is no room ---

    @fact
    def shortfall(self) -> Shortfall | None:
        """Why there is no room: None when there is, when every flavor is excluded, or without Workload or queue.

        Where the tree could not be read, Kueue's own current verdict decides, as reported. Raises Unknown without one.
        """
        if self._facts.identity.workload is None:
            return None
        try:
            if self.queue is None:
                return None
            return self._computed()
        except Unknown:
            told = self._told()
            if told is None:
                raise
            return told

    def _computed(self) -> Shortfall | None:
        placement = self.deciding
        group = placement.deciding
        nearest = group.nearest if group is not None else None
        if group is None or nearest is None or placement.verdict not in {"never", "wait"}:
            return None
        verdict: Literal["never", "wait"] = "never" if placement.verdict == "never" else "wait"
        if verdict == "never":
            self._must_be_so(placement)
        figures = nearest.deciding
        others = tuple(flavor for flavor in group.flavors if flavor is not nearest)
        return Shortfall(
            self._cause(verdict, figures),
            verdict,
            nearest.flavor,
            figures,
            others=others,
            at_minimum=placement is not self.placement,
        )

    def _must_be_so(self, placement: Placement) -> None:
        """Raise Unknown where only the order of the pod sets makes it too much, and Kueue has not said what comes of it.

        After a scan that failed, Kueue begins behind the flavor that an earlier pod set took, and may get further
        (`LastAssignment` of `pkg/workload`); whether it does differs between its versions.
        """
        if placement.competing and not self.said:
            empty = replace(self.offer, tree=self.offer.tree.empty())
            if splits(empty, self.counted):
                reason = "which of its pod sets takes which flavor: Kueue has not tried it yet"
                raise Unknown(reason)

    def _cause(self, verdict: Literal["never", "wait"], figures: tuple[Figure, ...]) -> Cause:
        queue, main = self.offer.queue, figures[0]
        if self.offer.tree.parent(queue) is None:
            return "exceeds-queue-capacity" if verdict == "never" else "quota-in-use"
        lifted = self.lifted(figures)
        if verdict == "never":
            raised = lifted[0].capacity.amount > main.capacity.amount
            return "exceeds-borrowing-limit" if raised else "exceeds-cohort-capacity"
        if all(entry.verdict == "fits" for entry in lifted):
            return "borrowing-limit-reached"
        if main.used + main.requested <= main.nominal:
            return "quota-lent-out"
        return "quota-in-use" if main.requested <= main.nominal else "cohort-exhausted"

    def lifted(self, figures: Iterable[Figure], only: NodeId | None = None) -> tuple[Figure, ...]:
        """Give figures computed again without the borrowing limits on the way to the root, or without one node's alone."""
        offer = self.offer
        nodes = (only,) if only is not None else offer.tree.path(offer.queue)
        free = replace(offer, tree=offer.tree.without_borrowing_limits(nodes))
        return tuple(figure(free, entry.flavor, entry.resource, entry.requested, entry.kept) for entry in figures)

    @fact
    def said(self) -> tuple[texts.Reason, ...]:
        """What Kueue's own current verdict names, in its order; empty without one. It decides only what was not read."""
        history = self._facts.history
        said = texts.assignment(history.text) if history.is_verdict else None
        return tuple(reason for part in said.pod_sets for reason in part.reasons) if said is not None else ()

    def _told(self) -> Shortfall | None:
        """Give what Kueue's own current verdict says, None when it has none about quota."""
        reasons = self.said
        waits = [reason for reason in reasons if isinstance(reason, texts.NotFree)]
        never = [reason for reason in reasons if isinstance(reason, texts.OverMaximum)]
        if not waits and not never:
            return None
        waits.sort(key=lambda reason: quantity.readable(reason.resource, reason.more) or 0)
        told: list[texts.OverMaximum | texts.NotFree] = [*waits] if waits else [*never]
        flavor = told[0].flavor
        told = [entry for entry in told if entry.flavor == flavor]
        queue = self._seen_queue()
        if waits:
            cause: Cause = "quota-in-use" if queue is None or not queue.cohort else "cohort-exhausted"
            own = nominal(queue, flavor, told[0].resource)
            wanted = self._wanted(told[0].resource)
            if own is not None and wanted is not None and wanted <= own:
                cause = "quota-in-use"
            return Shortfall(cause, "wait", flavor, certainty="reported", told=tuple(told))
        cause = "exceeds-queue-capacity" if queue is None or not queue.cohort else "exceeds-cohort-capacity"
        return Shortfall(cause, "never", flavor, certainty="reported", told=tuple(told))

    def _wanted(self, resource: str) -> int | None:
        try:
            return sum(pod_set.requests.get(resource, 0) for pod_set in self.requests)
        except Unknown:
            return None

    def _seen_queue(self) -> o.ClusterQueue | None:
        try:
            return self.queue
        except Unknown:
            return None

    # --- rows ---

    @fact
    def rows(self) -> tuple[QuotaRow, ...]:
        """One row per flavor and resource that the Workload needs: every flavor it could try, and what is not covered.

        Pod sets that find no room in a flavor of which others have theirs get rows of their own there. Where the tree was
        not read, what is known of it: the request, the nominal quota, the queue's own usage and Kueue's own verdict.
        Raises Unknown when not even the request is known.
        """
        if self._facts.identity.workload is None or self._seen_queue() is None:
            return ()
        try:
            placement = self.placement
        except Unknown:
            return self._partial_rows()
        asking = {
            (pod_set.name, resource)
            for pod_set in self.requests
            for resource, value in pod_set.requests.items()
            if value
        }
        rows = [
            _row(flavor, entry, tuple(name for name in flavor.pod_sets if (name, entry.resource) in asking))
            for group in placement.groups
            for flavor in (*group.flavors, *group.beside)
            for entry in flavor.figures
        ]
        for resource, pod_sets in placement.uncovered.items():
            rows.append(_uncovered(resource, pod_sets, self._wanted(resource) or 0))
        return tuple(rows)

    def _partial_rows(self) -> tuple[QuotaRow, ...]:
        queue = self._seen_queue()
        if queue is None:
            return ()
        told = self.shortfall_or_none
        rows = []
        try:
            usage: Mapping[Key, int] | None = self._facts.trees.usage(queue)[0]
        except Unknown:
            usage = None
        for group in queue.spec.resource_groups:
            wanted = {resource: self._wanted(resource) for resource in sorted(group.covered_resources)}
            names = tuple(
                pod_set.name for pod_set in self.requests if any(r in pod_set.requests for r in group.covered_resources)
            )
            for flavor in group.flavors:
                for resource, value in wanted.items():
                    if not value:
                        continue
                    said = next(
                        (e for e in (told.told if told else ()) if (e.flavor, e.resource) == (flavor.name, resource)),
                        None,
                    )
                    capacity = (
                        quantity.readable(resource, said.capacity) if isinstance(said, texts.OverMaximum) else None
                    )
                    more = quantity.readable(resource, said.more) if isinstance(said, texts.NotFree) else None
                    rows.append(
                        QuotaRow(
                            names,
                            flavor.name,
                            resource,
                            value,
                            nominal(queue, flavor.name, resource),
                            None if usage is None else usage.get((flavor.name, resource), 0),
                            None,
                            capacity,
                            more if capacity is None else max(0, value - capacity),
                            "wait" if more is not None else ("never" if capacity is not None else None),
                        )
                    )
        return tuple(rows)

    @fact
    def shortfall_or_none(self) -> Shortfall | None:
        """The shortfall, None also when it is not known."""
        try:
            return self.shortfall
        except Unknown:
            return None

    # --- who holds it ---

    @fact
    def holders(self) -> tuple[Holder, ...]:
        """Who holds the quota that is missing, as far as it was read, largest first; empty unless it waits.

        In its own queue; of the cohort, the queues that borrow where its own quota is lent out, and all of them where it
        must borrow itself.
        """
        short = self.shortfall
        if short is None or short.verdict != "wait":
            return ()
        keys = {(entry.flavor, entry.resource) for entry in (*short.figures, *short.told)}
        queues = []
        with suppress(Unknown):
            queues.append(self._facts.queue.cluster_queue_name)
        if short.figures:
            queues += [name for name in self.lenders(short) if name not in queues]
        found = [holder for name in queues for holder in self._holding(name, keys)]
        return tuple(sorted(found, key=lambda h: (-h.amount, h.namespace, h.workload, h.flavor, h.resource)))

    def lenders(self, short: Shortfall) -> tuple[str, ...]:
        """Give the ClusterQueues of the cohort that hold what is missing: those that borrow, or all that use any."""
        if short.cause == "quota-in-use" or not short.figures:
            return ()
        tree, me = self.offer.tree, self.offer.queue
        keys = [(entry.flavor, entry.resource) for entry in short.figures]
        top: NodeId = tree.path(me)[-1]
        if short.cause == "borrowing-limit-reached":
            bound = short.figures[0].available
            top = (bound.kind, bound.name)
        members = [node for node in tree.below(top) if node.id != me]
        borrowing = [node.name for node in members if any(tree.borrowing(node.id, key) > 0 for key in keys)]
        if short.cause == "quota-lent-out" and borrowing:
            return tuple(borrowing)
        return tuple(node.name for node in members if any(tree.usage(node.id, key) > 0 for key in keys))

    def _holding(self, queue: str, keys: set[Key]) -> list[Holder]:
        found = []
        for workload, amounts_held in self._facts.trees.holdings(queue):
            since = condition(workload.status.conditions, "QuotaReserved")
            for (flavor, resource), value in amounts_held.items():
                if (flavor, resource) in keys and value > 0:
                    found.append(
                        Holder(
                            workload.namespace,
                            "/".join(job_of(workload)[::2]),
                            workload.name,
                            queue,
                            flavor,
                            resource,
                            value,
                            since.last_transition_time if since is not None else None,
                        )
                    )
        return found


def _dicts(data: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - free-form configuration
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _groups(queue: o.ClusterQueue) -> tuple[Group, ...]:
    return tuple(
        Group(group.covered_resources, tuple(flavor.name for flavor in group.flavors))
        for group in queue.spec.resource_groups
    )


def limit_text(bound_kind: str, name: str, field: str) -> str:
    """Write the term that binds: "ClusterQueue/gpu-cq nominalQuota", the name still marked."""
    return f"{subject(bound_kind, name)} {field}"


def _row(flavor: FlavorResult, entry: Figure, pod_sets: tuple[str, ...]) -> QuotaRow:
    out = flavor.exclusion
    return QuotaRow(
        pod_sets,
        entry.flavor,
        entry.resource,
        entry.requested,
        entry.nominal,
        entry.used,
        entry.available.amount,
        entry.capacity.amount,
        entry.short,
        "excluded" if out is not None else entry.verdict,
        out.text if out is not None else None,
        limit_text(entry.bound.kind, entry.bound.name, entry.bound.field),
    )


def _uncovered(resource: str, pod_sets: tuple[str, ...], requested: int) -> QuotaRow:
    return QuotaRow(pod_sets, "", resource, requested, None, None, None, None, None, "excluded", "not covered")
