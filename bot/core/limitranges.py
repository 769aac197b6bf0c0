"""What the LimitRanges of a namespace make of a pod: defaults filled in, and the requests that break a bound.

As Kueue does before it looks at quota (`pkg/util/limitrange`, `pkg/workload/resources.go`): of several LimitRanges the
tightest bound counts and the first default; a container's limits stand for missing requests; a bound is compared with
requests and limits alike. Nothing here is read from the cluster.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

import msgspec

from bot.core import objects as o
from bot.core import quantity, scheduling
from bot.core.quantity import Quantity
from bot.core.records import dataclass
from bot.core.snapshot import Unknown

Bounds = dict[str, tuple[Quantity, str]]
"""By resource: the quantity and the name of the LimitRange that sets it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All LimitRanges of a namespace in one, for one type ("Container" or "Pod")."""

    max: Bounds = field(default_factory=dict)
    min: Bounds = field(default_factory=dict)
    default: Bounds = field(default_factory=dict)
    default_request: Bounds = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """One request that breaks a bound. Amounts are quantity texts; `limit_range` is "" where the pod's own limit binds."""

    what: Literal["above-limits", "above-max", "below-min"]
    resource: str
    asked: str
    bound: str
    container: str
    """The container's name; "" when the whole pod is meant."""
    path: str
    """The field path inside the pod spec."""
    limit_range: str = ""


def _tighten(into: Bounds, more: Mapping[str, Quantity], name: str, *, keep_lower: bool) -> None:
    for resource, value in more.items():
        new, old = quantity.readable(resource, value), into.get(resource)
        known = quantity.readable(resource, old[0]) if old is not None else None
        if new is None:
            continue
        if known is None or (new < known if keep_lower else new > known):
            into[resource] = (value, name)


def summarize(ranges: Iterable[o.LimitRange], scope: str) -> Summary:
    """Put the LimitRanges of one namespace together, for the type `scope`. A bound that is not a quantity is left out."""
    summary = Summary()
    for item in sorted(ranges, key=lambda limit_range: limit_range.name):
        for limit in item.spec.limits:
            if limit.type != scope:
                continue
            _tighten(summary.max, limit.max, item.name, keep_lower=True)
            _tighten(summary.min, limit.min, item.name, keep_lower=False)
            for into, values in ((summary.default, limit.default), (summary.default_request, limit.default_request)):
                for resource, value in values.items():
                    into.setdefault(resource, (value, item.name))
    return summary


def with_defaults(resources: o.ResourceRequirements, container: Summary) -> o.ResourceRequirements:
    """Fill a container's missing limits and requests from the defaults, then its missing requests from its limits."""
    limits = {name: value for name, (value, _) in container.default.items()} | resources.limits
    requests = {name: value for name, (value, _) in container.default_request.items()} | resources.requests
    return msgspec.structs.replace(resources, limits=limits, requests=limits | requests)


def _containers(spec: o.PodSpec) -> Iterable[tuple[str, o.Container]]:
    for at, container in enumerate(spec.init_containers):
        yield f"initContainers[{at}]", container
    for at, container in enumerate(spec.containers):
        yield f"containers[{at}]", container


def filled(spec: o.PodSpec, container: Summary) -> o.PodSpec:
    """Give the pod spec with every container's defaults filled in."""

    def fill(containers: tuple[o.Container, ...]) -> tuple[o.Container, ...]:
        return tuple(
            msgspec.structs.replace(item, resources=with_defaults(item.resources, container)) for item in containers
        )

    return msgspec.structs.replace(spec, containers=fill(spec.containers), init_containers=fill(spec.init_containers))


def problems(spec: o.PodSpec, ranges: Iterable[o.LimitRange] = ()) -> tuple[Problem, ...]:
    """Give every request of a pod that is above its limit or outside a LimitRange, in the order Kueue looks.

    Without `ranges` only the pod's own limits count. Quantities that cannot be read are left out.
    """
    ranges = tuple(ranges)
    container, pod = summarize(ranges, "Container"), summarize(ranges, "Pod")
    spec = filled(spec, container)
    found: list[Problem] = []
    for path, item in _containers(spec):
        for resource, asked in sorted(item.resources.requests.items()):
            limit = item.resources.limits.get(resource)
            if limit is not None and _exceeds(resource, asked, limit):
                source = container.default.get(resource)
                by = source[1] if source is not None and source[0] == limit else ""
                found.append(Problem("above-limits", resource, str(asked), str(limit), item.name, path, by))
    for path, item in _containers(spec):
        found += _outside(item, path, container)
    return (*found, *_pod_outside(spec, pod))


def _exceeds(resource: str, left: Quantity, right: Quantity) -> bool:
    one, other = quantity.readable(resource, left), quantity.readable(resource, right)
    return one is not None and other is not None and one > other


def _outside(item: o.Container, path: str, bounds: Summary) -> list[Problem]:
    found = []
    for resource in sorted(item.resources.requests.keys() | item.resources.limits.keys()):
        values = [
            value
            for value in (item.resources.requests.get(resource), item.resources.limits.get(resource))
            if value is not None and quantity.readable(resource, value) is not None
        ]
        if not values:
            continue
        largest = max(values, key=lambda value: quantity.readable(resource, value) or 0)
        smallest = min(values, key=lambda value: quantity.readable(resource, value) or 0)
        upper, lower = bounds.max.get(resource), bounds.min.get(resource)
        if upper is not None and _exceeds(resource, largest, upper[0]):
            found.append(Problem("above-max", resource, str(largest), str(upper[0]), item.name, path, upper[1]))
        if lower is not None and _exceeds(resource, lower[0], smallest):
            found.append(Problem("below-min", resource, str(smallest), str(lower[0]), item.name, path, lower[1]))
    return found


def _pod_outside(spec: o.PodSpec, bounds: Summary) -> tuple[Problem, ...]:
    if not bounds.max and not bounds.min:
        return ()
    try:
        total = scheduling.pod_requests(spec)
    except Unknown:
        return ()
    found = []
    for resource, value in sorted(total.items()):
        upper, lower, asked = bounds.max.get(resource), bounds.min.get(resource), quantity.canonical(resource, value)
        if upper is not None and _exceeds(resource, asked, upper[0]):
            found.append(Problem("above-max", resource, asked, str(upper[0]), "", "", upper[1]))
        if lower is not None and _exceeds(resource, lower[0], asked):
            found.append(Problem("below-min", resource, asked, str(lower[0]), "", "", lower[1]))
    return tuple(found)
