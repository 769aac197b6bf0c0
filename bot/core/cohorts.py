"""The quota arithmetic of Kueue over a tree of Cohorts and ClusterQueues: what is free now, and the most there could be.

Pure and per (flavor, resource). Amounts are integers in Kueue's unit (see `quantity`); at `UNLIMITED` and above they
mean "no limit", a missing amount is 0. The rules are Kueue's (`pkg/cache/scheduler/resource_node.go`):

- A node keeps `local` for itself: what its quota exceeds its lending limit by, nothing when it has no lending limit.
- A Cohort's `subtree` quota is its own plus what its children do not keep. Its usage is what its children use beyond
  what they keep.
- A node without a parent has its subtree quota. Any other has what it keeps and what its parent has, and of the
  latter no more than its borrowing limit lets through.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal

import msgspec

from bot.core.quantity import MAX
from bot.core.records import dataclass

UNLIMITED = MAX

Key = tuple[str, str]
"""(flavor, resource)."""

NodeKind = Literal["ClusterQueue", "Cohort"]
NodeId = tuple[NodeKind, str]
"""Kind and name: a ClusterQueue and a Cohort may share a name."""


def add(one: int, other: int) -> int:
    """Add two amounts; nothing exceeds UNLIMITED."""
    return min(one + other, UNLIMITED)


def less(one: int, other: int) -> int:
    """Take `other` from `one`; what has no limit keeps having none."""
    return UNLIMITED if one >= UNLIMITED else one - other


@dataclass(frozen=True, slots=True)
class Limits:
    """What a node offers of one flavor and resource; None means that there is no such limit."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


class Node(msgspec.Struct, frozen=True):
    """A ClusterQueue or Cohort: its quota, its own usage (ClusterQueues only) and the name of its parent Cohort.

    A struct, as the objects are: a wide cluster has thousands of them.
    """

    kind: NodeKind
    name: str
    parent: str = ""
    quota: Mapping[Key, Limits] = msgspec.field(default_factory=dict)
    usage: Mapping[Key, int] = msgspec.field(default_factory=dict)

    @property
    def id(self) -> NodeId:
        """Kind and name."""
        return self.kind, self.name


@dataclass(frozen=True, slots=True)
class Bound:
    """An amount and the term that makes it so small: `field` of the node `kind`/`name`."""

    amount: int
    kind: NodeKind
    name: str
    field: Literal["nominalQuota", "borrowingLimit", "lendingLimit"]


class CohortRing(ValueError):  # noqa: N818 - a state of the cluster, not a defect
    """The Cohorts above a node form a ring; Kueue admits nothing there."""


_NONE = Limits()


class Tree:
    """One tree: everything below the root of one ClusterQueue. Immutable; every figure is computed once."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        """Take all nodes of the tree and maybe others. A Cohort that is only named as a parent is an empty one."""
        self._nodes: dict[NodeId, Node] = {node.id: node for node in nodes}
        for node in tuple(self._nodes.values()):
            if node.parent:
                self._nodes.setdefault(("Cohort", node.parent), Node("Cohort", node.parent))
        self._children: dict[str, list[Node]] = {}
        for node in self._nodes.values():
            if node.parent:
                self._children.setdefault(node.parent, []).append(node)
        self._kept: dict[tuple[str, str, Key], int] = {}
        self._bounds: dict[tuple[str, NodeId, Key], Bound] = {}

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, by kind and name."""
        return tuple(sorted(self._nodes.values(), key=lambda node: node.id))

    def node(self, which: NodeId) -> Node:
        """Give a node. Raises KeyError when the tree has none of that kind and name."""
        return self._nodes[which]

    def parent(self, which: NodeId) -> NodeId | None:
        """Give the parent Cohort of a node, None for a root."""
        name = self._nodes[which].parent
        return ("Cohort", name) if name else None

    def path(self, which: NodeId) -> tuple[NodeId, ...]:
        """Give a node and its ancestors up to the root. Raises CohortRing when there is no root."""
        found: list[NodeId] = []
        here: NodeId | None = which
        while here is not None:
            if here in found:
                msg = f"the Cohorts above {which[0]} {which[1]} form a ring"
                raise CohortRing(msg)
            found.append(here)
            here = self.parent(here)
        return tuple(found)

    def below(self, which: NodeId) -> tuple[Node, ...]:
        """Give the ClusterQueues below a Cohort, or the ClusterQueue itself, by name."""
        kind, name = which
        if kind == "ClusterQueue":
            return (self._nodes[which],)
        found = [queue for child in self._children.get(name, ()) for queue in self.below(child.id)]
        return tuple(sorted(found, key=lambda node: node.name))

    def limits(self, which: NodeId, key: Key) -> Limits:
        """Give a node's own quota and limits; all zero and without limits where it names none."""
        return self._nodes[which].quota.get(key, _NONE)

    # --- quota and usage of a subtree ---

    def subtree(self, which: NodeId, key: Key) -> int:
        """Give a node's quota with what its children hand up."""
        return self._subtree(self._nodes[which], key)

    def local(self, which: NodeId, key: Key) -> int:
        """Give the part of a node's quota that it lends to nobody."""
        return self._local(self._nodes[which], key)

    def usage(self, which: NodeId, key: Key) -> int:
        """Give what is reserved in a ClusterQueue, or what the children of a Cohort use beyond what they keep."""
        return self._usage(self._nodes[which], key)

    def _subtree(self, node: Node, key: Key) -> int:
        total = node.quota.get(key, _NONE).nominal
        if node.kind == "ClusterQueue":
            return total
        kept = self._kept.get(("subtree", node.name, key))
        if kept is None:
            for child in self._children.get(node.name, ()):
                total = add(total, less(self._subtree(child, key), self._local(child, key)))
            kept = self._kept["subtree", node.name, key] = total
        return kept

    def _local(self, node: Node, key: Key) -> int:
        lending = node.quota.get(key, _NONE).lending
        return 0 if lending is None else max(0, less(self._subtree(node, key), lending))

    def _usage(self, node: Node, key: Key) -> int:
        total = node.usage.get(key, 0)
        if node.kind == "ClusterQueue":
            return total
        kept = self._kept.get(("usage", node.name, key))
        if kept is None:
            for child in self._children.get(node.name, ()):
                used = self._usage(child, key)
                if used:  # most ClusterQueues of a wide cluster use none of it
                    total = add(total, max(0, less(used, self._local(child, key))))
            kept = self._kept["usage", node.name, key] = total
        return kept

    # --- the two figures ---

    def available(self, which: NodeId, key: Key) -> Bound:
        """Give what a node could take now without preempting anyone; negative where more is used than there is.

        Raises CohortRing when the Cohorts above it form a ring.
        """
        return self._once("available", which, key, self._available)

    def _once(self, what: str, which: NodeId, key: Key, compute: Callable[[NodeId, Key], Bound]) -> Bound:
        known = self._bounds.get((what, which, key))
        if known is None:
            self.path(which)
            known = self._bounds[what, which, key] = compute(which, key)
        return known

    def _available(self, which: NodeId, key: Key) -> Bound:
        subtree, local, usage = self.subtree(which, key), self.local(which, key), self.usage(which, key)
        above = self.parent(which)
        if above is None:
            return Bound(less(subtree, usage), *which, "nominalQuota")
        bound = self._available(above, key)
        borrowing = self.limits(which, key).borrowing
        if borrowing is not None:
            most = less(add(less(subtree, local), borrowing), max(0, less(usage, local)))
            if most < bound.amount:
                bound = Bound(most, *which, "borrowingLimit")
        return replace(bound, amount=add(max(0, less(local, usage)), bound.amount))

    def capacity(self, which: NodeId, key: Key) -> Bound:
        """Give the most a node could ever take, were nothing in use. Raises CohortRing as `available` does."""
        return self._once("capacity", which, key, self._capacity)

    def _capacity(self, which: NodeId, key: Key) -> Bound:
        subtree = self.subtree(which, key)
        above = self.parent(which)
        if above is None:
            return Bound(subtree, *which, "nominalQuota")
        bound = self._capacity(above, key)
        bound = replace(bound, amount=add(self.local(which, key), bound.amount))
        borrowing = self.limits(which, key).borrowing
        if borrowing is not None and add(subtree, borrowing) < bound.amount:
            bound = Bound(add(subtree, borrowing), *which, "borrowingLimit")
        return bound

    def distance(self, queue: NodeId, key: Key, more: int) -> int:
        """Give how far from a ClusterQueue the quota for that much more would come from: 0 where it is its own.

        Else the height of the lowest Cohort above it whose subtree has it, the root's where none has
        (`pkg/scheduler/preemption/classical`). Raises CohortRing as `available` does.
        """
        limits, path = self.limits(queue, key), self.path(queue)
        if len(path) == 1 or add(self.usage(queue, key), more) <= limits.nominal:
            return 0
        missing = less(more, self._unused(queue, key))
        for cohort in path[1:]:
            if add(self.usage(cohort, key), missing) <= self.subtree(cohort, key):
                return self._height(cohort[1])
            missing = less(missing, self._unused(cohort, key))
        return self._height(path[-1][1])

    def _unused(self, which: NodeId, key: Key) -> int:
        """What a node keeps for itself and does not use."""
        return max(0, less(self.local(which, key), self.usage(which, key)))

    def _height(self, cohort: str) -> int:
        """How many levels are below a Cohort."""
        below = self._children.get(cohort, ())
        return max((1 + (self._height(child.name) if child.kind == "Cohort" else 0) for child in below), default=0)

    # --- what if ---

    def borrowing(self, which: NodeId, key: Key) -> int:
        """Give how much a ClusterQueue uses beyond its nominal quota, or a Cohort beyond its subtree quota."""
        return max(0, less(self.usage(which, key), self.subtree(which, key)))

    def without_borrowing_limits(self, nodes: Iterable[NodeId]) -> "Tree":
        """Give the tree without the borrowing limits of some nodes."""
        return self._changed(
            nodes, lambda limits: limits if limits.borrowing is None else replace(limits, borrowing=None)
        )

    def without_lending_limits(self) -> "Tree":
        """Give the tree in which everybody lends everything."""
        return self._changed(
            self._nodes, lambda limits: limits if limits.lending is None else replace(limits, lending=None)
        )

    def empty(self) -> "Tree":
        """Give the tree with nothing in use."""
        return Tree(msgspec.structs.replace(node, usage={}) for node in self._nodes.values())

    def with_usage(self, queue: NodeId, more: Mapping[Key, int]) -> "Tree":
        """Give the tree in which a ClusterQueue uses that much more."""
        node = self._nodes[queue]
        usage = {**node.usage, **{key: add(node.usage.get(key, 0), value) for key, value in more.items()}}
        changed = msgspec.structs.replace(node, usage=usage)
        return Tree(changed if item is node else item for item in self._nodes.values())

    def _changed(self, which: Iterable[NodeId], change: Callable[[Limits], Limits]) -> "Tree":
        wanted = set(which)

        def changed(node: Node) -> Node:
            quota = {key: change(limits) for key, limits in node.quota.items()}
            return msgspec.structs.replace(node, quota=quota) if quota != node.quota else node

        return Tree(changed(node) if node.id in wanted else node for node in self._nodes.values())
