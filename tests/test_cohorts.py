"""The cohort arithmetic against a slow, literal reference over random trees, and what the terms are called."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.cohorts import UNLIMITED, CohortRing, Limits, Node, NodeId, Tree

KEY = ("a100", "nvidia.com/gpu")


@dataclass
class Plain:
    """A node of the reference: children as objects, plain numbers, nothing cached."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None
    used: int = 0
    parent: "Plain | None" = None
    children: "tuple[Plain, ...]" = ()

    def quota(self) -> int:
        return self.nominal + sum(child.quota() - child.kept() for child in self.children)

    def kept(self) -> int:
        return max(self.quota() - self.lending, 0) if self.lending is not None else 0

    def usage(self) -> int:
        return self.used + sum(max(child.usage() - child.kept(), 0) for child in self.children)

    def free(self) -> int:
        if self.parent is None:
            return self.quota() - self.usage()
        from_above = self.parent.free()
        if self.borrowing is not None:
            handed_up, used_above = self.quota() - self.kept(), max(self.usage() - self.kept(), 0)
            from_above = min(from_above, handed_up - used_above + self.borrowing)
        return max(self.kept() - self.usage(), 0) + from_above

    def most(self) -> int:
        if self.parent is None:
            return self.quota()
        ever = self.kept() + self.parent.most()
        return ever if self.borrowing is None else min(ever, self.quota() + self.borrowing)


AMOUNTS = st.integers(0, 20)
LIMIT = st.none() | AMOUNTS


@st.composite
def forests(draw: st.DrawFn) -> tuple[dict[NodeId, Plain], list[Node]]:
    """Random trees: each Cohort hangs below an earlier one or is a root; ClusterQueues hang anywhere or nowhere."""
    plain: dict[NodeId, Plain] = {}
    nodes: list[Node] = []
    cohorts: list[str] = []
    for kind, count in (("Cohort", draw(st.integers(0, 5))), ("ClusterQueue", draw(st.integers(1, 6)))):
        for number in range(count):
            name = f"n{number}"
            above = draw(st.sampled_from(["", *cohorts])) if cohorts else ""
            limits = Limits(draw(AMOUNTS), draw(LIMIT) if above else None, draw(LIMIT) if above else None)
            used = draw(st.integers(0, 30)) if kind == "ClusterQueue" else 0
            parent = plain["Cohort", above] if above else None
            one = Plain(limits.nominal, limits.borrowing, limits.lending, used, parent)
            if parent is not None:
                parent.children = (*parent.children, one)
            node_kind: Any = kind
            plain[node_kind, name] = one
            nodes.append(Node(node_kind, name, above, {KEY: limits}, {KEY: used} if used else {}))
            if kind == "Cohort":
                cohorts.append(name)
    return plain, nodes


@given(forest=forests(), order=st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_equal_to_the_literal_reference(forest: tuple[dict[NodeId, Plain], list[Node]], order: Any) -> None:
    plain, nodes = forest
    order.shuffle(nodes)
    tree = Tree(nodes)
    for which, one in plain.items():
        assert tree.subtree(which, KEY) == one.quota()
        assert tree.local(which, KEY) == one.kept()
        assert tree.usage(which, KEY) == one.usage()
        assert tree.available(which, KEY).amount == one.free()
        assert tree.capacity(which, KEY).amount == one.most()
        assert tree.available(which, ("other", "cpu")).amount == 0


@given(forest=forests())
@settings(max_examples=200, deadline=None)
def test_only_the_limits_that_bind_hold_back(forest: tuple[dict[NodeId, Plain], list[Node]]) -> None:
    tree = Tree(forest[1])
    for which in forest[0]:
        lifted = tree.without_borrowing_limits(tree.path(which))
        for old, new in (
            (tree.capacity(which, KEY), lifted.capacity(which, KEY)),
            (tree.available(which, KEY), lifted.available(which, KEY)),
        ):
            assert new.amount >= old.amount
            assert new.field == "nominalQuota"
            if old.field == "borrowingLimit":
                assert (old.kind, old.name) in tree.path(which)
                assert tree.limits((old.kind, old.name), KEY).borrowing is not None
            else:
                assert new.amount == old.amount


@given(forest=forests())
@settings(max_examples=200, deadline=None)
def test_nothing_in_use_leaves_no_more_than_the_most(forest: tuple[dict[NodeId, Plain], list[Node]]) -> None:
    tree = Tree(forest[1])
    for which in forest[0]:
        assert tree.empty().available(which, KEY).amount == tree.capacity(which, KEY).amount


def cohort(name: str, parent: str = "", **limits: int) -> Node:
    return Node("Cohort", name, parent, {KEY: Limits(**limits)} if limits else {})


def queue(name: str, parent: str = "", used: int = 0, **limits: int) -> Node:
    return Node("ClusterQueue", name, parent, {KEY: Limits(**limits)}, {KEY: used})


def test_a_ring_is_told_and_never_looped_over() -> None:
    tree = Tree([cohort("a", "b"), cohort("b", "a"), queue("q", "a", nominal=4)])
    with pytest.raises(CohortRing, match="form a ring"):
        tree.available(("ClusterQueue", "q"), KEY)
    with pytest.raises(CohortRing):
        tree.capacity(("ClusterQueue", "q"), KEY)


def test_a_cohort_without_an_object_has_no_quota_and_no_limits() -> None:
    tree = Tree([queue("a", "shared", nominal=2), queue("b", "shared", nominal=3, used=1)])
    assert tree.available(("ClusterQueue", "a"), KEY).amount == 4
    assert tree.capacity(("ClusterQueue", "a"), KEY).amount == 5


def test_a_queue_and_a_cohort_may_share_a_name() -> None:
    tree = Tree([cohort("x", nominal=5), queue("x", "x", nominal=1)])
    assert tree.capacity(("ClusterQueue", "x"), KEY).amount == 6


def test_what_has_no_limit_keeps_having_none() -> None:
    tree = Tree([queue("a", "co", nominal=UNLIMITED, used=7), queue("b", "co", nominal=1, used=1, borrowing=2)])
    assert tree.available(("ClusterQueue", "a"), KEY).amount == UNLIMITED
    assert tree.capacity(("ClusterQueue", "a"), KEY).amount == UNLIMITED
    assert tree.available(("ClusterQueue", "b"), KEY).amount == 2


def test_the_binding_term_is_named() -> None:
    nodes = [
        cohort("root"),
        cohort("left", "root", borrowing=2),
        queue("a", "left", nominal=4),
        queue("b", "root", nominal=16),
    ]
    bound = Tree(nodes).capacity(("ClusterQueue", "a"), KEY)
    assert (bound.amount, bound.kind, bound.name, bound.field) == (6, "Cohort", "left", "borrowingLimit")
    free = Tree([*nodes[:3], queue("b", "root", nominal=16, used=16)]).available(("ClusterQueue", "a"), KEY)
    assert (free.amount, free.kind, free.name, free.field) == (4, "Cohort", "root", "nominalQuota")
