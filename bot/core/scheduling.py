"""The scheduler's predicates over plain objects: tolerations, label selectors, node affinity, requests, host ports.

Everything here is pure and as Kubernetes defines it (`k8s.io/component-helpers/scheduling/corev1`,
`k8s.io/component-helpers/resource`, `apimachinery/pkg/labels`). Amounts are in Kueue's unit (see `quantity`).
"""

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache

from bot.core import objects as o
from bot.core.quantity import MAX, Quantity, parse
from bot.core.snapshot import Unknown

BLOCKING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
"""The taint effects that keep a pod off a node; PreferNoSchedule does not."""

CORE = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
"""The resources that every node has; all others come from device plugins and the like."""

Port = tuple[str, str, int]
"""A host port as (host IP, protocol, port)."""

_ANY_IP = "0.0.0.0"  # noqa: S104 - what the API calls "every address", compared and never bound
_POD_LEVEL = frozenset({"cpu", "memory"})


# --- taints -----------------------------------------------------------------------------------------------------------


def _tolerated_by(taint: o.Taint, toleration: o.Toleration) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt":
            return _compares(toleration.operator, taint.value, toleration.value)
    return False


def tolerates(taint: o.Taint, tolerations: Iterable[o.Toleration]) -> bool:
    """Say whether any of the tolerations tolerates the taint, whatever the taint's effect.

    An empty key with Exists tolerates everything, an empty effect every effect.
    """
    return any(_tolerated_by(taint, toleration) for toleration in tolerations)


def untolerated(taints: Iterable[o.Taint], tolerations: Iterable[o.Toleration]) -> tuple[o.Taint, ...]:
    """Give the taints that keep a pod with these tolerations off: NoSchedule and NoExecute, not tolerated, in order."""
    known = tuple(tolerations)
    return tuple(taint for taint in taints if taint.effect in BLOCKING_EFFECTS and not tolerates(taint, known))


def taint_text(taint: o.Taint) -> str:
    """Write a taint as "key=value:Effect", or "key:Effect" when it has no value."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


# --- labels -----------------------------------------------------------------------------------------------------------


def _whole(text: str) -> int | None:
    body = text[1:] if text[:1] in {"-", "+"} else text
    return int(text) if body.isascii() and body.isdigit() and len(body) <= 19 else None


def _compares(operator: str, left: str, right: str) -> bool:
    one, other = _whole(left), _whole(right)
    if one is None or other is None:
        return False
    return one > other if operator == "Gt" else one < other


def requirement_matches(requirement: o.LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    """Say whether labels meet one requirement: In, NotIn, Exists, DoesNotExist, and Gt and Lt on whole numbers.

    NotIn holds for a missing label. An operator that is not known holds for nothing.
    """
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return (
                value is not None
                and len(requirement.values) == 1
                and _compares(requirement.operator, value, requirement.values[0])
            )
    return False


def selector_matches(selector: o.LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Say whether a label selector selects these labels: None selects nothing, an empty one everything."""
    if selector is None:
        return False
    return all(labels.get(key) == value for key, value in selector.match_labels.items()) and all(
        requirement_matches(requirement, labels) for requirement in selector.match_expressions
    )


def term_matches(term: o.NodeSelectorTerm, labels: Mapping[str, str], name: str) -> bool:
    """Say whether a node's labels and name meet one node selector term; an empty term is met by no node.

    Of fields only metadata.name exists.
    """
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": name}
    return all(requirement_matches(requirement, labels) for requirement in term.match_expressions) and all(
        requirement_matches(requirement, fields) for requirement in term.match_fields
    )


def selector_text(selector: o.LabelSelector | None) -> str:
    """What a label selector asks for, as "key=value, key In (a, b)"; "nothing" without one."""
    if selector is None:
        return "nothing"
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    return ", ".join([*parts, *(_term(term) for term in selector.match_expressions)])


def selector_lacks(selector: o.LabelSelector | None, labels: Mapping[str, str]) -> list[str]:
    """The parts of a label selector that these labels do not meet."""
    if selector is None:
        return []
    lacking = [f"{key}={value}" for key, value in sorted(selector.match_labels.items()) if labels.get(key) != value]
    return lacking + [_term(term) for term in selector.match_expressions if not requirement_matches(term, labels)]


def _term(term: o.LabelSelectorRequirement) -> str:
    values = f" ({', '.join(term.values)})" if term.values else ""
    return f"{term.key} {term.operator}{values}"


def node_selector_matches(selector: o.NodeSelector | None, labels: Mapping[str, str], name: str) -> bool:
    """Say whether a node meets any term of a node selector; None asks for nothing, no terms are met by no node."""
    return selector is None or any(term_matches(term, labels, name) for term in selector.node_selector_terms)


def required_node_affinity(spec: o.PodSpec) -> o.NodeSelector | None:
    """Give the required node affinity of a pod, None when it has none."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    return affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None


def node_affinity_matches(spec: o.PodSpec, labels: Mapping[str, str], name: str) -> bool:
    """Say whether a node (labels and name) meets a pod's nodeSelector and required node affinity."""
    return all(labels.get(key) == value for key, value in spec.node_selector.items()) and node_selector_matches(
        required_node_affinity(spec), labels, name
    )


# --- resources --------------------------------------------------------------------------------------------------------


def _exact(quantities: Mapping[str, Quantity]) -> dict[str, Decimal]:
    try:
        return {resource: parse(text) for resource, text in quantities.items()}
    except ValueError as error:
        raise Unknown(str(error)) from error


def _add(into: dict[str, Decimal], more: Mapping[str, Decimal]) -> None:
    for resource, value in more.items():
        into[resource] = into.get(resource, Decimal(0)) + value


def _raise_to(into: dict[str, Decimal], other: Mapping[str, Decimal]) -> None:
    for resource, value in other.items():
        into[resource] = max(into.get(resource, Decimal(0)), value)


def _container(texts: "_Texts") -> dict[str, Decimal]:
    limits, requests = texts
    return _exact({**dict(limits), **dict(requests)})


def rounded(resource: str, value: Decimal) -> int:
    """Give an exact value in Kueue's unit: milli-CPU for cpu, whole units else, rounded up, clamped to int64."""
    scaled = value * 1000 if resource == "cpu" else value
    return MAX if scaled >= MAX else math.ceil(scaled)


def pod_requests(spec: o.PodSpec) -> dict[str, int]:
    """Give what one pod asks of a node, per resource in Kueue's unit; resources it does not name are not in it.

    The sum over containers and sidecars (init containers with restartPolicy Always), at least what the largest init
    container needs beside the sidecars started before it, replaced by pod-level requests where those are set, plus the
    overhead. A limit stands for a missing request. Raises Unknown when an amount is not a quantity.
    """
    return dict(
        _pod_requests(
            tuple(_texts(container.resources) for container in spec.containers),
            tuple((_texts(container.resources), container.restart_policy) for container in spec.init_containers),
            _texts(spec.resources) if spec.resources is not None else None,
            tuple(spec.overhead.items()),
        )
    )


_Texts = tuple[tuple[tuple[str, Quantity], ...], tuple[tuple[str, Quantity], ...]]
"""Limits and requests as they are written; pods of one template share them, so their sum is worked out once."""


def _texts(resources: o.ResourceRequirements) -> _Texts:
    return tuple(resources.limits.items()), tuple(resources.requests.items())


@lru_cache(maxsize=4096)
def _pod_requests(
    containers: tuple[_Texts, ...],
    init_containers: tuple[tuple[_Texts, str], ...],
    level: _Texts | None,
    overhead: tuple[tuple[str, Quantity], ...],
) -> dict[str, int]:
    total: dict[str, Decimal] = {}
    for texts in containers:
        _add(total, _container(texts))
    sidecars: dict[str, Decimal] = {}
    most: dict[str, Decimal] = {}
    for texts, restart_policy in init_containers:
        own = _container(texts)
        if restart_policy == "Always":
            _add(total, own)
            _add(sidecars, own)
            _raise_to(most, sidecars)
        else:
            _add(own, sidecars)
            _raise_to(most, own)
    _raise_to(total, most)
    if level is not None:
        limits, requests = level
        own_level = {name: v for name, v in _exact(dict(limits)).items() if name not in total}
        own_level |= _exact(dict(requests))
        total |= {name: v for name, v in own_level.items() if name in _POD_LEVEL or name.startswith("hugepages-")}
    _add(total, _exact(dict(overhead)))
    return {resource: rounded(resource, value) for resource, value in total.items()}


# --- host ports -------------------------------------------------------------------------------------------------------


def host_ports(spec: o.PodSpec) -> frozenset[Port]:
    """Give the ports a pod takes on its node's own addresses; sidecars' ports included, "" as host IP is every address."""
    sidecars = tuple(c for c in spec.init_containers if c.restart_policy == "Always")
    found = set()
    for container in (*spec.containers, *sidecars):
        for port in container.ports:
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number > 0:
                found.add((port.host_ip or _ANY_IP, port.protocol or "TCP", number))
    return frozenset(found)


def ports_conflict(one: Port, other: Port) -> bool:
    """Say whether two host ports cannot be taken on one node: same port and protocol, and the addresses overlap."""
    return one[1:] == other[1:] and (one[0] == other[0] or _ANY_IP in {one[0], other[0]})
