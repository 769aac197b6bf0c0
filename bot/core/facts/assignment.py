"""Kueue's flavor assignment over known figures: each pod set to one flavor per resource group, and how near it comes.

Pure. As Kueue does it (`pkg/scheduler/flavorassigner`): pod sets one after another, each seeing what the earlier ones
took; in every resource group the first flavor in which all its resources fit, or where the ClusterQueue would rather not
borrow the one with the nearest quota. Where nothing fits, the nearest flavor tells why: excluded < never < wait < fits.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from bot.core.cohorts import Bound, Key, NodeId, Tree
from bot.core.facts.flavors import Exclusion
from bot.core.facts.requests import PodSetRequests
from bot.core.records import dataclass

Verdict = Literal["excluded", "never", "wait", "fits"]
RANK: Mapping[Verdict, int] = {"excluded": 0, "never": 1, "wait": 2, "fits": 3}
"""From worst to best."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the worst of some verdicts, "fits" of none."""
    return min(verdicts, key=RANK.__getitem__, default="fits")


Excludes = Callable[[str, tuple[PodSetRequests, ...]], Exclusion | None]
"""Says why some pod sets cannot use a flavor, by its name; None when they can."""


@dataclass(frozen=True, slots=True)
class Group:
    """A resource group: the resources it covers and its flavors, in the order of the spec."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a ClusterQueue offers: where it stands in the tree, its groups, and which flavors are out for whom."""

    tree: Tree
    queue: NodeId
    groups: tuple[Group, ...]
    exclusion: Excludes
    borrows_last: bool = False
    """flavorFungibility.whenCanBorrow TryNextFlavor: of the flavors with room the one with the nearest quota is preferred."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One flavor and resource: amounts in Kueue's unit, `available` never below 0, and the terms that bind."""

    flavor: str
    resource: str
    requested: int
    nominal: int
    used: int
    available: Bound
    capacity: Bound
    kept: int = 0
    """What the elastic slice that it replaces holds: not part of the request, and never free for it."""

    @property
    def verdict(self) -> Verdict:
        """Never, wait or fits."""
        if self.requested + self.kept > self.capacity.amount:
            return "never"
        return "wait" if self.requested > self.available.amount else "fits"

    @property
    def short(self) -> int:
        """How much is missing: of what is free now, or of what there could ever be where it never fits."""
        if self.verdict == "never":
            return max(0, self.requested + self.kept - self.capacity.amount)
        return max(0, self.requested - self.available.amount)

    @property
    def shortage(self) -> Fraction:
        """What is missing relative to the request."""
        return Fraction(self.short, self.requested) if self.requested else Fraction(0)

    @property
    def bound(self) -> Bound:
        """The term that binds: of the capacity where it never fits, else of what is free."""
        return self.capacity if self.verdict == "never" else self.available


@dataclass(frozen=True, slots=True)
class FlavorResult:
    """How near the pod sets come in one flavor of a group."""

    flavor: str
    figures: tuple[Figure, ...]
    pod_sets: tuple[str, ...]
    exclusion: Exclusion | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst over its resources."""
        return "excluded" if self.exclusion is not None else worst(figure.verdict for figure in self.figures)

    @property
    def deciding(self) -> tuple[Figure, ...]:
        """The figures with the flavor's own verdict, the largest relative shortage first."""
        found = [figure for figure in self.figures if figure.verdict == self.verdict]
        return tuple(sorted(found, key=lambda figure: -figure.shortage))

    @property
    def rank(self) -> tuple[int, Fraction]:
        """Sorts the better flavor first: by verdict, then by the smaller relative shortage."""
        return -RANK[self.verdict], max((figure.shortage for figure in self.deciding), default=Fraction(0))


@dataclass(frozen=True, slots=True)
class GroupResult:
    """How near the pod sets come in a resource group."""

    group: Group
    flavors: tuple[FlavorResult, ...]
    verdict: Verdict
    beside: tuple[FlavorResult, ...] = ()
    """What pod sets that find no room lack in flavors whose figures in `flavors` are those of others."""

    @property
    def nearest(self) -> FlavorResult | None:
        """The flavor that decides: of those with the group's verdict the one with the smallest shortage, else the worst."""
        alike = [flavor for flavor in self.flavors if flavor.verdict == self.verdict]
        return min(alike or sorted(self.flavors, key=lambda flavor: RANK[flavor.verdict])[:1],
                   key=lambda flavor: flavor.rank, default=None)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Competition:
    """A pod set that would come further in a flavor if earlier pod sets had not taken of it."""

    pod_set: str
    flavor: str
    earlier: tuple[str, ...]
    alone: Verdict
    together: Verdict


@dataclass(frozen=True, slots=True)
class Placement:
    """The whole result. `chosen` has the flavor of each (pod set, resource) that found one with room."""

    groups: tuple[GroupResult, ...]
    uncovered: Mapping[str, tuple[str, ...]]
    """Resources that no group covers, with the pod sets that ask for them."""
    chosen: Mapping[tuple[str, str], str]
    competing: tuple[Competition, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst over the groups; excluded when a resource is not covered."""
        return "excluded" if self.uncovered else worst(group.verdict for group in self.groups)

    @property
    def deciding(self) -> GroupResult | None:
        """The group that decides: the first one with the worst verdict; None when nothing is asked."""
        return min(self.groups, key=lambda group: RANK[group.verdict], default=None)


@dataclass
class _Unit:
    """Pod sets that get the same flavors: a group of them, or one."""

    pod_sets: tuple[PodSetRequests, ...]
    requests: Mapping[str, int]
    chosen: dict[int, str] = field(default_factory=dict)
    verdict: dict[int, Verdict] = field(default_factory=dict)
    tried: dict[int, tuple[FlavorResult, ...]] = field(default_factory=dict)
    """By group, what it came to in each flavor, with what the earlier pod sets there take."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(pod_set.name for pod_set in self.pod_sets)


def _units(pod_sets: Iterable[PodSetRequests]) -> list[_Unit]:
    together: dict[tuple[str, int], list[PodSetRequests]] = {}
    for at, pod_set in enumerate(pod_sets):
        together.setdefault((pod_set.group, 0) if pod_set.group else ("", at), []).append(pod_set)
    return [_Unit(tuple(members), _sum(member.requests for member in members)) for members in together.values()]


def _sum(many: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for requests in many:
        for resource, value in requests.items():
            total[resource] = total.get(resource, 0) + value
    return total


def figure(offer: Offer, flavor: str, resource: str, requested: int, kept: int = 0) -> Figure:
    """Give the figures of one flavor and resource; `kept` is what the slice that it replaces holds and keeps till then.

    Raises CohortRing when the Cohorts form a ring.
    """
    key: Key = (flavor, resource)
    free = offer.tree.available(offer.queue, key)
    return Figure(
        flavor,
        resource,
        requested,
        offer.tree.limits(offer.queue, key).nominal,
        offer.tree.usage(offer.queue, key),
        Bound(max(0, free.amount), free.kind, free.name, free.field),
        offer.tree.capacity(offer.queue, key),
        kept,
    )


def kept_of(pod_sets: Iterable[PodSetRequests]) -> dict[Key, int]:
    """Give what the elastic slice that these pod sets replace holds, by flavor and resource; it is released by them alone."""
    found: dict[Key, int] = {}
    for pod_set in pod_sets:
        for resource, flavor in pod_set.kept.items():
            found[flavor, resource] = found.get((flavor, resource), 0) + pod_set.before.get(resource, 0)
    return found


def place(offer: Offer, pod_sets: Iterable[PodSetRequests]) -> Placement:
    """Place pod sets in a ClusterQueue's flavors. Raises Unknown when a flavor was not read, CohortRing for a ring."""
    return _Placing(offer, _units(pod_sets)).result()


def shut_out(
    groups: Iterable[Group], exclusion: Excludes, pod_sets: Iterable[PodSetRequests]
) -> tuple[FlavorResult, ...]:
    """Give all flavors of the first group of which none can take some pod set, without figures; empty when there is none.

    Needs neither quota nor usage. Raises Unknown when a flavor was not read.
    """
    units = _units(pod_sets)
    for group in groups:
        for unit in units:
            if any(unit.requests.get(resource, 0) > 0 for resource in group.resources):
                out = [(flavor, exclusion(flavor, unit.pod_sets)) for flavor in group.flavors]
                if all(why is not None for _, why in out):
                    return tuple(FlavorResult(flavor, (), unit.names, why) for flavor, why in out)
    return ()


_TRIED = 64
"""How many splits are tried at most."""


def splits(offer: Offer, pod_sets: tuple[PodSetRequests, ...]) -> list[tuple[tuple[str, str], ...]]:
    """Give splits of pod sets over flavors that would fit now, as (pod set, flavor) pairs; Kueue tries few of them.

    Only where one resource group decides and there are few possibilities; the first flavors first.
    """
    asking = [
        group for group in offer.groups if any(pod_set.requests.get(r) for pod_set in pod_sets for r in group.resources)
    ]
    if len(asking) != 1 or len(asking[0].flavors) ** len(pod_sets) > _TRIED:
        return []
    found = []
    for choice in product(asking[0].flavors, repeat=len(pod_sets)):
        wanted = dict(zip((pod_set.name for pod_set in pod_sets), choice, strict=True))

        def held(
            flavor: str, members: tuple[PodSetRequests, ...], wanted: Mapping[str, str] = wanted
        ) -> Exclusion | None:
            if any(wanted[member.name] != flavor for member in members):
                return Exclusion("held", "another flavor is tried")
            return offer.exclusion(flavor, members)

        if fits(replace(offer, exclusion=held), pod_sets):
            found.append(tuple(wanted.items()))
    return found


def fits(offer: Offer, pod_sets: Iterable[PodSetRequests]) -> bool:
    """Say whether `place` would give "fits", without working out what is missing where it does not.

    For trying many offers. May say False where `place` raises, as it looks no further than it must; else raises as that does.
    """
    return _Placing(offer, _units(pod_sets)).fits()


class _Placing:
    def __init__(self, offer: Offer, units: list[_Unit]) -> None:
        self.offer = offer
        self.units = units
        self.kept = kept_of(pod_set for unit in units for pod_set in unit.pod_sets)
        self.taken: dict[Key, int] = {}
        self.takers: dict[Key, list[str]] = {}
        self.competing: list[Competition] = []

    def fits(self) -> bool:
        covered = {resource for group in self.offer.groups for resource in group.resources}
        for unit in self.units:
            if any(value > 0 and resource not in covered for resource, value in unit.requests.items()):
                return False
            for group in self.offer.groups:
                wanted = self._wanted(unit, group)
                if wanted and not self._takes(unit, group, wanted):
                    return False
        return True

    def _takes(self, unit: _Unit, group: Group, wanted: Mapping[str, int]) -> bool:
        """Take the flavor that `_choose` would where one fits; say whether there is one."""
        fitting = (
            flavor
            for flavor in group.flavors
            if all(self._has(flavor, resource, value) for resource, value in self._in_all(flavor, wanted).items())
            and self.offer.exclusion(flavor, unit.pod_sets) is None
        )
        if self.offer.borrows_last:
            best = min(fitting, key=lambda flavor: self._distance(flavor, self._in_all(flavor, wanted)), default=None)
        else:
            best = next(fitting, None)
        if best is None:
            return False
        self._take(unit, best, wanted)
        return True

    def _take(self, unit: _Unit, flavor: str, wanted: Mapping[str, int]) -> None:
        for resource, value in wanted.items():
            key = (flavor, resource)
            self.taken[key] = self.taken.get(key, 0) + value
            self.takers.setdefault(key, []).extend(unit.names)

    def _has(self, flavor: str, resource: str, requested: int) -> bool:
        """Whether there is room for a request, as `Figure.verdict` says."""
        tree, queue, key = self.offer.tree, self.offer.queue, (flavor, resource)
        return (
            requested <= max(0, tree.available(queue, key).amount)
            and requested + self.kept.get(key, 0) <= tree.capacity(queue, key).amount
        )

    def _in_all(self, flavor: str, wanted: Mapping[str, int]) -> dict[str, int]:
        """What is wanted of a flavor with what earlier pod sets take of it."""
        return {resource: value + self.taken.get((flavor, resource), 0) for resource, value in wanted.items()}

    def result(self) -> Placement:
        for unit in self.units:
            for at, group in enumerate(self.offer.groups):
                wanted = self._wanted(unit, group)
                if wanted:
                    self._choose(unit, at, group, wanted)
        covered = {resource for group in self.offer.groups for resource in group.resources}
        uncovered: dict[str, tuple[str, ...]] = {}
        for unit in self.units:
            for pod_set in unit.pod_sets:
                for resource, value in pod_set.requests.items():
                    if value > 0 and resource not in covered:
                        uncovered[resource] = (*uncovered.get(resource, ()), pod_set.name)
        groups = [self._group(at, group) for at, group in enumerate(self.offer.groups)]
        chosen = {
            (pod_set.name, resource): unit.chosen[at]
            for unit in self.units
            for at, group in enumerate(self.offer.groups)
            if unit.verdict.get(at) == "fits"
            for pod_set in unit.pod_sets
            for resource in group.resources
            if pod_set.requests.get(resource, 0) > 0
        }
        return Placement(
            tuple(group for group in groups if group is not None),
            dict(sorted(uncovered.items())),
            chosen,
            tuple(self.competing),
        )

    def _figure(self, flavor: str, resource: str, requested: int) -> Figure:
        return figure(self.offer, flavor, resource, requested, self.kept.get((flavor, resource), 0))

    @staticmethod
    def _wanted(unit: _Unit, group: Group) -> dict[str, int]:
        return {resource: unit.requests[resource] for resource in group.resources if unit.requests.get(resource, 0) > 0}

    def _option(self, unit: _Unit, flavor: str, wanted: Mapping[str, int], taken: Mapping[Key, int]) -> FlavorResult:
        figures = tuple(
            self._figure(flavor, resource, value + taken.get((flavor, resource), 0))
            for resource, value in wanted.items()
        )
        return FlavorResult(flavor, figures, unit.names, self.offer.exclusion(flavor, unit.pod_sets))

    def _distance(self, flavor: str, amounts: Mapping[str, int]) -> int:
        """How far from the ClusterQueue the quota for these amounts of a flavor would come from."""
        tree, queue = self.offer.tree, self.offer.queue
        return max(tree.distance(queue, (flavor, resource), value) for resource, value in amounts.items())

    def _choose(self, unit: _Unit, at: int, group: Group, wanted: Mapping[str, int]) -> None:
        options = [self._option(unit, flavor, wanted, self.taken) for flavor in group.flavors]
        fitting = [option for option in options if option.verdict == "fits"]
        if self.offer.borrows_last and len(fitting) > 1:
            fitting.sort(key=lambda option: self._distance(option.flavor, self._in_all(option.flavor, wanted)))
        best = fitting[0] if fitting else min(options, key=lambda option: option.rank, default=None)
        unit.verdict[at] = best.verdict if best is not None else "excluded"
        unit.tried[at] = tuple(replace(option, pod_sets=self._with_earlier(unit, option, wanted)) for option in options)
        if best is None:
            return
        if best.verdict != "fits":
            self._compete(unit, options, wanted)
        if best.verdict in {"fits", "wait"}:
            unit.chosen[at] = best.flavor
            self._take(unit, best.flavor, wanted)

    def _with_earlier(self, unit: _Unit, option: FlavorResult, wanted: Mapping[str, int]) -> tuple[str, ...]:
        earlier = {name: None for resource in wanted for name in self.takers.get((option.flavor, resource), ())}
        return (*earlier, *unit.names)

    def _compete(self, unit: _Unit, options: list[FlavorResult], wanted: Mapping[str, int]) -> None:
        for option in options:
            alone = self._option(unit, option.flavor, wanted, {})
            if RANK[alone.verdict] > RANK[option.verdict]:
                earlier = {name: None for resource in wanted for name in self.takers.get((option.flavor, resource), ())}
                self.competing.append(
                    Competition("+".join(unit.names), option.flavor, tuple(earlier), alone.verdict, option.verdict)
                )

    def _group(self, at: int, group: Group) -> GroupResult | None:
        asking = [(unit, wanted) for unit in self.units if (wanted := self._wanted(unit, group))]
        if not asking:
            return None
        flavors = tuple(self._flavor(at, flavor, asking) for flavor in group.flavors)
        beside = tuple(
            option
            for unit, _ in asking
            if unit.verdict[at] != "fits"
            for option, shown in zip(unit.tried[at], flavors, strict=True)
            if option.exclusion is None and not {*unit.names} <= {*shown.pod_sets}
        )
        return GroupResult(group, flavors, worst(unit.verdict[at] for unit, _ in asking), beside)

    def _flavor(self, at: int, flavor: str, asking: list[tuple[_Unit, dict[str, int]]]) -> FlavorResult:
        """Sum up what would have to come from a flavor: the pod sets that took it and those that found none.

        Of a flavor that nobody took, what those lack that wait elsewhere; if none waits, as if all came from it.
        """
        there = [pair for pair in asking if pair[0].chosen.get(at, flavor) == flavor]
        there = there or [pair for pair in asking if pair[0].verdict[at] != "fits"] or asking
        out = [(pair, self.offer.exclusion(flavor, pair[0].pod_sets)) for pair in there]
        able = [pair for pair, why in out if why is None]
        counted = able or there
        total = _sum(wanted for _, wanted in counted)
        return FlavorResult(
            flavor,
            tuple(self._figure(flavor, resource, value) for resource, value in sorted(total.items())),
            tuple(name for unit, _ in counted for name in unit.names),
            None if able else out[0][1],
        )
