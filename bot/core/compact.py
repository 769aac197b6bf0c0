"""Workloads made small, for a walk over all of a cluster: what is equal is kept once, what no rule reads is left out.

A small Workload is a Workload like any other, and every rule gives the same answer about it: only the pod templates'
own metadata, container images, managed labels and annotations of others are gone.
"""

from collections.abc import Hashable
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from bot.core import objects as o
from bot.core.facts import Thresholds
from bot.core.snapshot import Snapshot

T = TypeVar("T", bound=Hashable)

KUEUE = "kueue.x-k8s.io/"
_OWN_NAMES = frozenset({KUEUE + "job-owner-name", KUEUE + "job-uid", KUEUE + "job-owner-gvk"})
"""Labels and annotations that say which job it is, and nothing about how it is admitted."""

_encode = msgspec.msgpack.Encoder(order="sorted").encode


class Pool:
    """Keeps equal parts once. Lives for one walk."""

    def __init__(self) -> None:
        """Start empty."""
        self._parts: dict[bytes, Any] = {}
        self._texts: dict[str, str] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._latest: datetime | None = None
        self._labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}

    def shrink(self, workload: o.Workload) -> o.Workload:
        """Give the Workload made small."""
        meta, spec, status = workload.metadata, workload.spec, workload.status
        self._latest = meta.creation_timestamp
        return o.Workload(
            workload.api_version and self.text(workload.api_version),
            workload.kind and self.text(workload.kind),
            self._meta(meta),
            o.WorkloadSpec(
                self.text(spec.queue_name), self._pod_sets(spec.pod_sets), spec.active, spec.priority,
                self.text(spec.priority_class_name), self.text(spec.priority_class_source),
                self.part(spec.priority_class_ref), spec.maximum_execution_time_seconds, spec.preemption_gates,
            ),
            msgspec.structs.replace(
                status,
                conditions=tuple(map(self._condition, status.conditions)),
                admission=self.part(status.admission),
                resource_requests=self.part(status.resource_requests),
                reclaimable_pods=self.part(status.reclaimable_pods),
            ),
        )  # fmt: skip

    def text(self, text: str) -> str:
        """Give the one copy of a text."""
        return self._texts.setdefault(text, text)

    def part(self, part: T) -> T:
        """Give the one copy of a part; what is empty or missing is left as it is."""
        if not part:
            return part
        kept: T = self._parts.setdefault(_encode(part), part)
        return kept

    def _meta(self, meta: o.Meta) -> o.Meta:
        uids = {ref.uid: ref.uid for ref in meta.owner_references}
        return o.Meta(
            meta.name, self.text(meta.namespace), meta.uid, self._kueues(meta.labels, uids), self._kueues(meta.annotations, uids),
            tuple(
                o.OwnerReference(self.text(ref.api_version), self.text(ref.kind), ref.name, ref.uid, ref.controller)
                for ref in meta.owner_references
            ),
            meta.creation_timestamp, meta.deletion_timestamp, self._same(meta.finalizers), meta.generation,
        )  # fmt: skip

    def _kueues(self, given: dict[str, str], uids: dict[str, str]) -> dict[str, str]:
        if not given:
            return given
        kept = tuple((key, value) for key, value in given.items() if "kueue" in key and not key.endswith("/job-uid"))
        uid = given.get(KUEUE + "job-uid")
        if uid is not None:
            return {**dict(kept), KUEUE + "job-uid": uids.get(uid, uid)}  # mostly the owner's: one copy of it
        return self._labels.setdefault(kept, dict(kept))

    def _same(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return self._names.setdefault(names, names)

    def _condition(self, found: o.Condition) -> o.Condition:
        text, at = self.text, found.last_transition_time
        if at == self._latest:  # most conditions of one Workload flip in the same second
            at = self._latest
        self._latest = at
        return o.Condition(
            text(found.type), text(found.status), text(found.reason), text(found.message), at, found.observed_generation
        )

    def _pod_sets(self, pod_sets: tuple[o.PodSet, ...]) -> tuple[o.PodSet, ...]:
        return self.part(tuple(map(_bare, pod_sets)))


def shrunk(snapshot: Snapshot) -> Snapshot:
    """Give a snapshot whose Workloads are made small."""
    pool = Pool()
    workloads = tuple(pool.shrink(workload) for workload in snapshot.all_of(o.Workload, read="seen"))
    return replace(snapshot, objects={**snapshot.objects, "Workload": workloads}) if workloads else snapshot


def _bare(pod_set: o.PodSet) -> o.PodSet:
    """Leave out what differs from job to job although the request is the same: template metadata, images, volumes' names."""
    spec = pod_set.template.spec
    spec = msgspec.structs.replace(
        spec,
        containers=tuple(map(_without_image, spec.containers)),
        init_containers=tuple(map(_without_image, spec.init_containers)),
        volumes=(),
    )
    return msgspec.structs.replace(pod_set, template=o.PodTemplate(o.Meta(), spec))


def _without_image(container: o.Container) -> o.Container:
    return msgspec.structs.replace(container, image="", ports=())


def likeness(workload: o.Workload, now: datetime, thresholds: Thresholds) -> Hashable:
    """Give what is equal for Workloads that every rule must answer alike, apart from their queue and their place in it.

    The workload must come from one Pool, which makes equal pod sets the same object. Times count by whether they are
    young, long ago, in the past or in the future.
    """

    def age(moment: datetime | None) -> int:
        if moment is None:
            return -1
        seconds = (now - moment).total_seconds()
        return 0 if seconds < 0 else 1 if seconds <= thresholds.young else 2 if seconds <= thresholds.long else 3

    meta, spec, status = workload.metadata, workload.spec, workload.status
    requeue = status.requeue_state
    return (
        id(spec.pod_sets), spec.active, spec.priority, spec.priority_class_name, spec.priority_class_source,
        spec.priority_class_ref and (spec.priority_class_ref.kind, spec.priority_class_ref.name),
        spec.maximum_execution_time_seconds, _encode(spec.preemption_gates) if spec.preemption_gates else None,
        age(meta.creation_timestamp), meta.deletion_timestamp is not None,
        id(meta.finalizers) if meta.deletion_timestamp is not None else None, meta.generation,
        tuple((ref.api_version, ref.kind, ref.controller) for ref in meta.owner_references),
        _marks(meta.labels), _marks(meta.annotations),
        tuple(
            (c.type, c.status, c.reason, c.message, age(c.last_transition_time), c.observed_generation)
            for c in status.conditions
        ),
        _order(workload),
        id(status.admission) if status.admission is not None else None,
        requeue and (requeue.count, age(requeue.requeue_at)),
        tuple(
            (c.name, c.state, c.message, age(c.last_transition_time), c.requeue_after_seconds, c.retry_count)
            for c in status.admission_checks
        ),
        id(status.resource_requests) if status.resource_requests else None,
        id(status.reclaimable_pods) if status.reclaimable_pods else None,
        _encode((status.scheduling_stats, status.unhealthy_nodes, status.nominated_cluster_names, status.cluster_name,
                 status.preemption_gates))
        if status.scheduling_stats or status.unhealthy_nodes or status.nominated_cluster_names or status.cluster_name
        or status.preemption_gates else None,
    )  # fmt: skip


def _marks(given: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, value in given.items() if key not in _OWN_NAMES)) if given else ()


def _order(workload: o.Workload) -> tuple[str, ...]:
    """Give the conditions by the order in which they flipped: rules compare their times with each other."""
    timed = [(c.last_transition_time, c.type) for c in workload.status.conditions if c.last_transition_time is not None]
    if len(timed) < 2:
        return ()
    order = sorted(timed)
    return tuple(
        kind if at == 0 or moment != order[at - 1][0] else f"={kind}" for at, (moment, kind) in enumerate(order)
    )
