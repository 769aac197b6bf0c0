"""What a Workload asks for, pod set by pod set, and what it holds, as Kueue counts it.

`status.resourceRequests` is Kueue's own count and wins. Where it is missing, the pod templates are counted as Kueue
does it: LimitRange defaults, limits for missing requests, sidecars, RuntimeClass overhead (`pkg/workload/resources.go`),
without the pods that are already done (`status.reclaimablePods`).
"""

from collections.abc import Mapping
from dataclasses import field, replace

import msgspec

from bot.core import limitranges, quantity
from bot.core import objects as o
from bot.core.cohorts import Key
from bot.core.marks import REPLACEMENT_FOR
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.scheduling import pod_requests
from bot.core.snapshot import Snapshot, Unknown

PODS = "pods"
"""The resource that counts pods; Kueue adds it where a ClusterQueue covers it."""


@dataclass(frozen=True, slots=True)
class PodSetRequests:
    """What one pod set asks for in all: `requests` per resource in Kueue's unit, zero amounts left out."""

    name: str
    count: int
    requests: Mapping[str, int]
    spec: o.PodSpec = field(default_factory=o.PodSpec)
    group: str = ""
    """Pod sets of one group get the same flavors (topologyRequest.podSetGroupName)."""
    min_count: int | None = None
    """The fewest pods with which partial admission would start it, None when it starts whole or not at all."""
    missing: tuple[str, ...] = ()
    """What was not read and might add to the requests."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """By resource, the flavor that an elastic slice must keep."""
    before: Mapping[str, int] = field(default_factory=dict)
    """What the slice that it replaces holds, and `requests` leave out."""

    def scaled(self, count: int) -> "PodSetRequests":
        """Give the same pod set with another number of pods; amounts follow in proportion, rounded up.

        Those of an elastic slice stay what it wants beyond the slice that it replaces.
        """
        if self.count <= 0:
            return self
        requests = {}
        for name, value in self.requests.items():
            held_before = self.before.get(name, 0)
            requests[name] = max(0, -(-(value + held_before) * count // self.count) - held_before)
        return replace(self, count=count, requests={name: value for name, value in requests.items() if value > 0})


def left_to_run(workload: o.Workload, pod_set: o.PodSet) -> int:
    """Give how many pods of a pod set still count: `count` without the reclaimable ones."""
    done = sum(entry.count for entry in workload.status.reclaimable_pods if entry.name == pod_set.name)
    return max(0, pod_set.count - done)


def asked(workload: o.Workload, snapshot: Snapshot, *, pods_covered: bool) -> tuple[PodSetRequests, ...]:
    """Give what each pod set asks for, in the order of spec.podSets.

    Kueue's count is passed over where it is older than the spec (`observedGeneration`) and speaks of the same resources.
    `pods_covered`: whether the ClusterQueue covers the resource "pods". For an elastic slice: only what it wants beyond
    the slice that it replaces. Raises Unknown when an amount is not a quantity or the replaced slice was not read.
    """
    refusal = condition(workload.status.conditions, "QuotaReserved")
    old_count = refusal is not None and 0 < refusal.observed_generation < workload.metadata.generation
    counted = {entry.name: entry.resources for entry in workload.status.resource_requests}
    old = _replaced(workload, snapshot)
    found = []
    for pod_set in workload.spec.pod_sets:
        count = left_to_run(workload, pod_set)
        missing: tuple[str, ...] = ()
        kueues = counted.get(pod_set.name)
        if kueues is None or old_count:
            spec, missing = with_defaults(pod_set.template.spec, workload.namespace, snapshot)
            requests = {name: value * count for name, value in pod_requests(spec).items()}
        if kueues is not None:
            told = amounts(kueues, f"Workload {workload.namespace}/{workload.name}")
            if not old_count or {*told, PODS} != {*requests, PODS} or missing:
                requests, missing = told, ()
        requests.pop(PODS, None)
        if pods_covered:
            requests[PODS] = count
        kept: Mapping[str, str] = {}
        held_before: Mapping[str, int] = {}
        if old is not None:
            before = next((entry for entry in reserved(old) if entry.name == pod_set.name), None)
            if before is not None:
                requests = {name: max(0, value - before.amounts.get(name, 0)) for name, value in requests.items()}
                kept = before.flavors if before.count else {}
                held_before = before.amounts
        found.append(
            PodSetRequests(
                pod_set.name,
                count,
                {name: value for name, value in sorted(requests.items()) if value > 0},
                pod_set.template.spec,
                pod_set.topology_request.podset_group_name if pod_set.topology_request else "",
                pod_set.min_count if pod_set.min_count is not None and pod_set.min_count < count else None,
                missing,
                kept,
                held_before,
            )
        )
    return tuple(found)


def _replaced(workload: o.Workload, snapshot: Snapshot) -> o.Workload | None:
    """Give the slice that this one replaces while it still holds quota. Raises Unknown when it was not read."""
    key = workload.metadata.annotations.get(REPLACEMENT_FOR, "")
    if not key:
        return None
    namespace, _, name = key.rpartition("/")
    old = snapshot.one_of(o.Workload, name, namespace or workload.namespace)
    return old if old is not None and holds_quota(old) else None


def amounts(quantities: Mapping[str, quantity.Quantity], where: str) -> dict[str, int]:
    """Give quantities in Kueue's unit. Raises Unknown, naming `where`, when one is not a quantity."""
    try:
        return {name: quantity.amount(name, text) for name, text in quantities.items()}
    except ValueError as error:
        reason = f"{where}: {error}"
        raise Unknown(reason) from error


# --- what a pod template asks for -------------------------------------------------------------------------------------


def with_defaults(spec: o.PodSpec, namespace: str, snapshot: Snapshot) -> tuple[o.PodSpec, tuple[str, ...]]:
    """Give a pod spec with LimitRange defaults and RuntimeClass overhead, and what was not read for that."""
    missing = []
    if snapshot.covers("LimitRange", namespace):
        spec = limitranges.filled(spec, _limits(namespace, snapshot))
    else:
        missing.append(snapshot.why_not("LimitRange", namespace))
    if spec.runtime_class_name and not spec.overhead:
        try:
            runtime = snapshot.one_of(o.RuntimeClass, spec.runtime_class_name)
        except Unknown as unknown:
            missing.append(unknown.reason)
        else:
            overhead = (runtime.overhead or {}).get("podFixed", {}) if runtime is not None else {}
            spec = msgspec.structs.replace(spec, overhead=overhead)
    if spec.resource_claims:
        missing.append("what its resource claims count as stands in Kueue's own configuration")
    return spec, tuple(missing)


def _limits(namespace: str, snapshot: Snapshot) -> limitranges.Summary:
    """Put together what the LimitRanges of a namespace that were read say about containers."""
    return limitranges.summarize(snapshot.all_of(o.LimitRange, read="seen", namespace=namespace), "Container")


def defaulted_by(workload: o.Workload, resource: str, snapshot: Snapshot) -> str | None:
    """Name the LimitRange that gives the containers a resource which none of them mentions; None when none was seen."""
    for pod_set in workload.spec.pod_sets:
        spec = pod_set.template.spec
        for container in (*spec.containers, *spec.init_containers):
            if resource in container.resources.requests or resource in container.resources.limits:
                return None
    limits = _limits(workload.namespace, snapshot)
    given = limits.default_request.get(resource) or limits.default.get(resource)
    return given[1] if given is not None else None


# --- what a Workload holds --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reserved:
    """What one pod set of an admitted Workload holds: amounts in Kueue's unit, and the flavor of each resource."""

    name: str
    count: int
    amounts: Mapping[str, int]
    flavors: Mapping[str, str]


def holds_quota(workload: o.Workload) -> bool:
    """Say whether Kueue counts a Workload's reservation: reserved, not finished, not deactivated."""
    conditions = workload.status.conditions
    return (
        workload.status.admission is not None
        and is_true(conditions, "QuotaReserved")
        and not is_true(conditions, "Finished")
        and workload.spec.active is not False
    )


def reserved(workload: o.Workload) -> tuple[Reserved, ...]:
    """Give what each pod set of a Workload holds, without the pods that are done. Empty when it holds nothing.

    `resourceUsage` is for `count` pods, and is scaled to those that still count. Where it is missing, the pod template
    decides. Raises Unknown when an amount is not a quantity.
    """
    if not holds_quota(workload) or workload.status.admission is None:
        return ()
    pod_sets = {pod_set.name: pod_set for pod_set in workload.spec.pod_sets}
    found = []
    for assignment in workload.status.admission.pod_set_assignments:
        pod_set = pod_sets.get(assignment.name)
        count = assignment.count if assignment.count is not None else (pod_set.count if pod_set else 0)
        done = sum(entry.count for entry in workload.status.reclaimable_pods if entry.name == assignment.name)
        left = max(0, count - done)
        if assignment.resource_usage or pod_set is None:
            used = amounts(assignment.resource_usage, f"Workload {workload.namespace}/{workload.name}")
            if left != count and count > 0:
                used = {name: value // count * left for name, value in used.items()}
        else:
            used = {name: value * left for name, value in pod_requests(pod_set.template.spec).items()}
            used[PODS] = left
        used = {name: value for name, value in used.items() if name in assignment.flavors}
        found.append(Reserved(assignment.name, left, used, assignment.flavors))
    return tuple(found)


def held(workload: o.Workload) -> dict[Key, int]:
    """Give what a Workload holds per flavor and resource, in Kueue's unit. Raises Unknown as `reserved` does."""
    total: dict[Key, int] = {}
    for entry in reserved(workload):
        for resource, value in entry.amounts.items():
            key = (entry.flavors[resource], resource)
            total[key] = total.get(key, 0) + value
    return total
