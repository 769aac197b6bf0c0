"""For whom Kueue sets quota aside that would be free: heads of other ClusterQueues that must preempt and find nobody.

In every round Kueue looks at the head of each ClusterQueue. One that has to preempt and finds no candidate keeps what it
would take, unless its ClusterQueue may always reclaim; those after it in the round see that as used (`pkg/scheduler`,
reserveCapacityForUnreclaimablePreempt). Nothing of it is written to any object.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core.cohorts import Key
from bot.core.facts.assignment import Figure, GroupResult, place
from bot.core.facts.order import priority_of, queued_at
from bot.core.records import dataclass
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts


@dataclass(frozen=True, slots=True)
class SetAside:
    """Quota that is set aside: for which head of which queue, how much, and the asked Workload's figure after that.

    `stays`: that queue is StrictFIFO, so its head is looked at in every round.
    """

    queue: str
    head: o.Workload
    amount: int
    figure: Figure
    stays: bool


def set_aside(facts: "Facts") -> SetAside | None:
    """Give what is set aside of what the asked Workload would take, None when enough is left beside it or it does not fit.

    Raises Unknown when the arithmetic of the asked Workload is not known; heads whose own is not known are left out.
    """
    quota, own = facts.quota, facts.identity.want()
    if quota.verdict != "fits":
        return None
    mine = _nearest(quota.deciding.groups)
    for name, head in facts.order.rival_heads:
        theirs = _waits(facts, head)
        queue = facts.snapshot.look_of(o.ClusterQueue, name)
        if not theirs or queue is None or _always_reclaims(queue) or _turn(head, theirs) > _turn(own, mine):
            continue
        kept = _kept(facts, name, theirs)
        after = replace(quota.offer, tree=quota.offer.tree.with_usage(("ClusterQueue", name), kept))
        group = place(after, quota.counted).deciding
        nearest = group.nearest if group is not None and group.verdict != "fits" else None
        for figure in nearest.deciding if nearest is not None else ():
            if kept.get((figure.flavor, figure.resource)):
                return SetAside(name, head, kept[figure.flavor, figure.resource], figure, stays=queue.strict)
    return None


def _always_reclaims(queue: o.ClusterQueue) -> bool:
    return queue.spec.preemption is not None and queue.spec.preemption.reclaim_within_cohort == "Any"


def _waits(facts: "Facts", head: o.Workload) -> tuple[Figure, ...]:
    """The figures of a head that waits and may preempt by its size, () otherwise."""
    other = facts.order.facts_of(head)
    try:
        if other is None or not other.order.stands(head) or other.quota.verdict != "wait":
            return ()
        short, figures = other.quota.shortfall, _nearest(other.quota.deciding.groups)
    except Unknown:
        return ()
    small = (
        short is not None and bool(short.figures) and all(entry.requested <= entry.nominal for entry in short.figures)
    )
    return figures if small else ()


def _nearest(groups: tuple[GroupResult, ...]) -> tuple[Figure, ...]:
    return tuple(figure for group in groups if group.nearest is not None for figure in group.nearest.figures)


def _borrows(figures: tuple[Figure, ...]) -> bool:
    return any(entry.used + entry.requested > entry.nominal for entry in figures)


def _turn(workload: o.Workload, figures: tuple[Figure, ...]) -> tuple[bool, int, float]:
    """When a head has its turn within a round: first those within their own quota, then by priority, then by age."""
    at = queued_at(workload)
    return _borrows(figures), -priority_of(workload), at.timestamp() if at is not None else 0.0


def _kept(facts: "Facts", queue: str, figures: tuple[Figure, ...]) -> Mapping[Key, int]:
    found: dict[Key, int] = {}
    borrows = _borrows(figures)
    for entry in figures:
        key = (entry.flavor, entry.resource)
        limit = facts.quota.offer.tree.limits(("ClusterQueue", queue), key).borrowing
        most = entry.nominal - entry.used
        if borrows:
            most = entry.requested if limit is None else most + limit
        found[key] = max(0, min(entry.requested, most))
    return found
