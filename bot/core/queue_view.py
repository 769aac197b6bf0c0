"""A ClusterQueue from its own side: what it has, who holds it, who waits on what, and which one change would admit most.

The change is worked out with the quota arithmetic: those who wait are placed one after the other, as Kueue would, into the
tree as it would be after each possible change, and counted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from bot.core import objects as o
from bot.core.cohorts import CohortRing, Key, Limits, Node, NodeId, Tree, add
from bot.core.digest import Report, Selection
from bot.core.facts import Facts, Thresholds
from bot.core.facts.assignment import Offer, place
from bot.core.facts.order import job_of
from bot.core.facts.requests import PodSetRequests, held
from bot.core.objects import condition
from bot.core.quantity import MAX, human
from bot.core.quotas import nominal
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot, Unknown
from bot.core.workloads import phase_of

MOST = 300
"""Waiting Workloads, the first ones in line, that are placed for each possible change."""


@dataclass(frozen=True, slots=True)
class Row:
    """One flavor and resource; amounts in Kueue's unit, None where they were not read. `asked`: by all who wait here."""

    flavor: str
    resource: str
    nominal: int | None
    used: int | None
    available: int | None
    capacity: int | None
    asked: int

    @property
    def borrowed(self) -> int | None:
        """What is used beyond the nominal quota."""
        return None if self.used is None or self.nominal is None else max(0, self.used - self.nominal)


Use = tuple[str, Row]
"""A ClusterQueue's name and one of its rows."""


@dataclass(frozen=True, slots=True)
class Held:
    """A Workload that holds quota in the queue."""

    namespace: str
    job: str
    amounts: Mapping[Key, int]


@dataclass(frozen=True, slots=True)
class Level:
    """One cohort above the queue, nearest first: its ClusterQueues with what they have and use of each key."""

    cohort: str
    members: tuple[tuple[str, Mapping[Key, tuple[int, int]]], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One possible change: what to do, how many of those who wait it would admit, and how many more than without it."""

    kind: Literal["start", "order", "borrowing", "cohort-borrowing", "lending", "quota"]
    do: str
    admits: int
    more: int
    extra: int = 0
    """How much quota it adds, in Kueue's unit."""


@dataclass(frozen=True, slots=True)
class QueueReport:
    """Everything about one ClusterQueue, before it is decided who reads it."""

    name: str
    exists: bool
    active: bool | None
    state: str
    strategy: str
    path: tuple[str, ...]
    rows: tuple[Row, ...]
    holders: tuple[Held, ...]
    held_by_others: bool
    """Whether its Workloads were not all read, so that there may be more holders."""
    levels: tuple[Level, ...]
    waiting: int
    fits_now: int
    looked_at: int
    changes: tuple[Change, ...]
    unknown: str
    """Why no change could be worked out, "" when it could."""
    report: Report
    suggestions: tuple[str, ...] = ()


def of_queue(snapshot: Snapshot, name: str, report: Report, thresholds: Thresholds | None = None) -> QueueReport:
    """Give the view of a ClusterQueue; `report` is the digest of `Selection(queues=(name,))` over the same snapshot.

    A queue that was not read, or does not exist, is said to be so.
    """
    return _View(snapshot, name, report, thresholds).made()


def rows_of(snapshot: Snapshot, name: str, report: Report, thresholds: Thresholds | None = None) -> tuple[Row, ...]:
    """Give what a ClusterQueue has, uses and is asked for; empty when it or its cohort was not read."""
    looked = _View(snapshot, name, report, thresholds)
    tree = looked.tree()
    return looked.rows(tree) if tree is not None else ()


def main_rows(rows: Sequence[Row], limit: int = 4) -> tuple[Row, ...]:
    """Give the rows worth drawing: devices that are used or asked for, else whatever is; at most `limit`, all known."""
    rows = [row for row in rows if row.borrowed is not None]
    busy = [row for row in rows if row.used or row.asked]
    devices = [row for row in busy if "/" in row.resource]
    return tuple((devices or busy or list(rows))[:limit])


def uses(snapshot: Snapshot, report: Report) -> list[Use]:
    """Give the queues of a digest with the row worth drawing, those for which most wait first."""
    asked: dict[str, int] = {}
    for entry in report.entries:
        if entry.queue:
            asked[entry.queue] = asked.get(entry.queue, 0) + 1
    names = sorted(asked, key=lambda name: (-asked[name], name))
    return [(name, row) for name in names for row in main_rows(rows_of(snapshot, name, report), 1)]


class _View:
    def __init__(self, snapshot: Snapshot, name: str, report: Report, thresholds: Thresholds | None) -> None:
        self.snapshot, self.name, self.report, self.thresholds = snapshot, name, report, thresholds
        self.queue = snapshot.look_of(o.ClusterQueue, name)

    def made(self) -> QueueReport:
        queue, unknown = self.queue, ""
        if queue is None:
            return self._missing()
        waits = self._waiting()
        tree: Tree | None = None
        line: tuple[o.Workload, ...] = waits
        if waits:
            facts = self._facts(waits[0])
            try:
                tree = facts.trees.tree_of(queue)
                line = facts.order.line_up or waits
            except Unknown as missing:
                unknown = missing.reason
            except CohortRing as ring:
                unknown = str(ring)
        else:
            tree = self.tree()
        changes: tuple[Change, ...] = ()
        fits = looked = 0
        if tree is not None and line:
            try:
                trial = _Trial(self, queue, tree, line[:MOST])
                changes, fits, looked = trial.changes(), trial.now, len(trial.asking)
            except Unknown as missing:
                unknown = missing.reason
            except CohortRing as ring:
                unknown, tree = str(ring), None
        active = condition(queue.status.conditions, "Active")
        return QueueReport(
            queue.name, queue.metadata.deletion_timestamp is None, None if active is None else active.status == "True",
            "not known" if active is None else active.message or active.reason or active.status,
            queue.spec.queueing_strategy or "BestEffortFIFO", self._path(tree), self.rows(tree), *self._holders(),
            self._levels(tree), len(line), fits, looked, changes, unknown, self.report,
        )  # fmt: skip

    def _missing(self) -> QueueReport:
        from bot.core.closeness import closest  # noqa: PLC0415 - for a misspelt name alone

        absent = self.snapshot.covers("ClusterQueue", name=self.name)
        near = closest(self.name, (queue.name for queue in self.snapshot.all_of(o.ClusterQueue, read="seen")))
        reason = "there is no such ClusterQueue" if absent else self.snapshot.why_not("ClusterQueue", name=self.name)
        return QueueReport(
            self.name, not absent, None, reason, "", (), (), (), held_by_others=False, levels=(), waiting=0, fits_now=0,
            looked_at=0, changes=(), unknown=reason, report=self.report, suggestions=tuple(near),
        )  # fmt: skip

    def _facts(self, workload: o.Workload) -> Facts:
        return Facts(self.snapshot, JobRef(workload.namespace, workload.name, "Workload"), self.thresholds)

    def tree(self) -> Tree | None:
        """Give the tree in which the queue stands, None when it was not read or has no root."""
        if self.queue is None:
            return None
        try:
            tree = Facts(self.snapshot, JobRef("", "", "Workload"), self.thresholds).trees.tree_of(self.queue)
            tree.path(("ClusterQueue", self.name))
        except (Unknown, CohortRing):
            return None
        return tree

    def _waiting(self) -> tuple[o.Workload, ...]:
        """Those who wait for quota here, as the digest found them; the deactivated ones are none of them."""
        names = {(e.namespace, e.workload) for e in self.report.entries if e.queue == self.name}
        found = [
            w
            for w in self.snapshot.all_of(o.Workload, read="seen")
            if (w.namespace, w.name) in names and phase_of(w) == "waiting" and w.spec.active is not False
        ]
        epoch = self.snapshot.observed_at
        return tuple(sorted(found, key=lambda w: (w.metadata.creation_timestamp or epoch, w.namespace, w.name)))

    def _path(self, tree: Tree | None) -> tuple[str, ...]:
        if tree is not None:
            try:
                return tuple(name for _, name in tree.path(("ClusterQueue", self.name))[1:])
            except CohortRing:
                pass
        return (self.queue.cohort,) if self.queue is not None and self.queue.cohort else ()

    def _keys(self) -> list[Key]:
        groups = self.queue.spec.resource_groups if self.queue is not None else ()
        return [
            (flavor.name, resource.name)
            for group in groups
            for flavor in group.flavors
            for resource in flavor.resources
        ]

    def rows(self, tree: Tree | None) -> tuple[Row, ...]:
        """Give a row for each flavor and resource."""
        asked: dict[str, int] = {}
        for entry in self.report.entries:
            if entry.queue == self.name and entry.cause.finding.stage in {"quota", "queue"}:
                for resource, value in entry.amounts.items():
                    asked[resource] = asked.get(resource, 0) + value
        rows = []
        me: NodeId = ("ClusterQueue", self.name)
        for key in self._keys():
            if tree is None:
                rows.append(Row(*key, *self._own(key), None, None, asked.get(key[1], 0)))
                continue
            free, most = tree.available(me, key).amount, tree.capacity(me, key).amount
            limits = tree.limits(me, key)
            rows.append(Row(*key, limits.nominal, tree.usage(me, key), max(0, free), most, asked.get(key[1], 0)))
        return tuple(rows)

    def _own(self, key: Key) -> tuple[int | None, int | None]:
        """What the queue has and uses itself, where the cohort was not read; None where that was not read either."""
        if self.queue is None:
            return None, None
        facts = Facts(self.snapshot, JobRef("", "", "Workload"), self.thresholds)
        try:
            used: int | None = facts.trees.usage(self.queue)[0].get(key, 0)
        except Unknown:
            used = None
        return nominal(self.queue, *key), used

    def _holders(self) -> tuple[tuple[Held, ...], bool]:
        found = []
        for workload in self.snapshot.all_of(o.Workload, read="seen"):
            admission = workload.status.admission
            if admission is not None and admission.cluster_queue == self.name:
                try:
                    amounts = held(workload)
                except Unknown:
                    continue
                if amounts:
                    found.append(Held(workload.namespace, "/".join(job_of(workload)), amounts))
        found.sort(key=lambda h: (-max(v for k, v in h.amounts.items()), h.namespace, h.job))
        devices = [h for h in found if any("/" in resource for _, resource in h.amounts)]
        found = [*devices, *(h for h in found if h not in devices)]
        known = len(found)
        said = self.queue.status.reserving_workloads if self.queue is not None else 0
        return tuple(found), said > known

    def _levels(self, tree: Tree | None) -> tuple[Level, ...]:
        if tree is None:
            return ()
        keys, me = self._keys(), ("ClusterQueue", self.name)
        levels = []
        for above in self._path(tree):
            members = tuple(
                (
                    node.name,
                    {
                        key: (tree.limits(node.id, key).nominal, tree.usage(node.id, key))
                        for key in keys
                        if key in node.quota
                    },
                )
                for node in tree.below(("Cohort", above))
                if node.id != me
            )
            levels.append(Level(above, members))
        return tuple(levels)


class _Trial:
    """Places those who wait into changed trees."""

    def __init__(self, view: _View, queue: o.ClusterQueue, tree: Tree, line: Sequence[o.Workload]) -> None:
        self.tree, self.queue = tree, queue
        self.me: NodeId = ("ClusterQueue", queue.name)
        self.strict = queue.strict
        self.stopped = queue.spec.stop_policy in {"Hold", "HoldAndDrain"}
        self.asking: list[tuple[Offer, tuple[PodSetRequests, ...]]] = []
        self.missing: Unknown | None = None
        for workload in line:
            facts = view._facts(workload)  # noqa: SLF001 - two halves of one view
            try:
                self.asking.append((facts.quota.offer_of(queue), facts.quota.requests_in(queue)))
            except Unknown as unknown:
                self.missing = unknown
        if self.missing is not None and not self.asking:
            raise self.missing
        self.now = 0 if self.stopped else len(self._admitted(tree, strict=self.strict))

    def _admitted(self, tree: Tree, *, strict: bool) -> list[dict[Key, int]]:
        """Place one after the other; give what each that fits takes. In a strict queue the first that does not ends it."""
        taken = []
        for offer, requests in self.asking:
            placed = place(replace(offer, tree=tree), requests)
            if placed.verdict != "fits":
                if strict:
                    break
                continue
            amounts: dict[Key, int] = {}
            for pod_set in requests:
                for resource, value in pod_set.requests.items():
                    flavor = placed.chosen.get((pod_set.name, resource))
                    if flavor is not None:
                        amounts[flavor, resource] = amounts.get((flavor, resource), 0) + value
            taken.append(amounts)
            tree = self._with(tree, lambda node, more=amounts: structs.replace(node, usage=_plus(node.usage, more)))  # type: ignore[misc]
        return taken

    def _with(self, tree: Tree, change: Callable[[Node], Node]) -> Tree:
        return Tree(change(node) if node.id == self.me else node for node in tree.nodes)

    def changes(self) -> tuple[Change, ...]:
        """Give the changes that would admit anybody, the most first; of equal ones those that cost nothing, then the least."""
        found = [*self._without_quota(), *self._with_quota()]
        order = ["start", "order", "borrowing", "cohort-borrowing", "lending", "quota"]
        found = [change for change in found if change.more > 0]
        return tuple(sorted(found, key=lambda c: (-c.admits, order.index(c.kind), c.extra, c.do)))

    def _change(self, kind: str, do: str, tree: Tree, *, strict: bool | None = None, extra: int = 0) -> Change:
        count = len(self._admitted(tree, strict=self.strict if strict is None else strict))
        return Change(kind, do, count, count - self.now, extra)  # type: ignore[arg-type]

    def _without_quota(self) -> Iterable[Change]:
        tree = self.tree
        if self.stopped:
            yield self._change("start", "Start the ClusterQueue again (stopPolicy None)", tree)
            return
        if self.strict:
            yield self._change("order", "Switch the ClusterQueue to BestEffortFIFO", tree, strict=False)
        path = tree.path(self.me)
        yield self._change(
            "borrowing", "Lift the ClusterQueue's own borrowing limits", tree.without_borrowing_limits(path[:1])
        )
        for above in path[1:]:
            yield self._change(
                "cohort-borrowing",
                f"Lift the borrowing limits of Cohort {above[1]}",
                tree.without_borrowing_limits([above]),
            )
        yield self._change("lending", "Lift the lending limits in its cohort", tree.without_lending_limits())

    def _with_quota(self) -> Iterable[Change]:
        """For each flavor and resource that is asked for: how much more quota admits how many, and not a unit more."""
        if self.stopped:
            return
        asked = {resource for _, requests in self.asking for pod_set in requests for resource in pod_set.requests}
        for group in self.queue.spec.resource_groups:
            for flavor in group.flavors:
                for resource in flavor.resources:
                    key = (flavor.name, resource.name)
                    limits = self.tree.limits(self.me, key)
                    if resource.name not in asked or limits.nominal >= MAX:
                        continue
                    if change := self._raised(key, limits):
                        yield change

    def _raised(self, key: Key, limits: Limits) -> Change | None:
        total = sum(pod_set.requests.get(key[1], 0) for _, requests in self.asking for pod_set in requests)
        taken = self._admitted(self._quota(key, limits, total), strict=self.strict)
        if len(taken) <= self.now:
            return None
        free = max(0, self.tree.available(self.me, key).amount)
        extra = max(0, sum(amounts.get(key, 0) for amounts in taken) - free)
        change = self._change("quota", "", self._quota(key, limits, extra), extra=extra)
        if change.admits < len(taken):  # a later flavor took some of it: then as much as all of them ask for
            extra = total
            change = self._change("quota", "", self._quota(key, limits, extra), extra=extra)
        new = human(key[1], add(limits.nominal, extra))
        old = human(key[1], limits.nominal)
        return replace(change, do=f"Raise the nominal quota of {key[1]} in flavor {key[0]} from {old} to {new}")

    def _quota(self, key: Key, limits: Limits, extra: int) -> Tree:
        raised = replace(limits, nominal=add(limits.nominal, extra))
        return self._with(self.tree, lambda node: structs.replace(node, quota={**node.quota, key: raised}))


def _plus(one: Mapping[Key, int], other: Mapping[Key, int]) -> dict[Key, int]:
    total = dict(one)
    for key, value in other.items():
        total[key] = add(total.get(key, 0), value)
    return total


def selection(name: str, named: tuple[str, ...] = ()) -> Selection:
    """Give the selection of a digest about one queue; `named` namespaces are named at every level."""
    return Selection(queues=(_literal(name),), named=named)


def _literal(name: str) -> str:
    """Keep characters that a pattern would read from being one; a name of an object has none."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)
