"""Which Workloads are an object's.

Look-up order of a Workload (Kueue `pkg/controller/jobframework`): label job-uid, owner reference, prebuilt name, pod
group name, then the topmost managed owner's. Names are never guessed, and an object of the same name with another UID is
another object.
"""

from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.facts.named import PodGroup
from bot.core.jobs import SERVING, job_finished, kind_of, suspended
from bot.core.marks import JOB_UID_LABEL, group_name, prebuilt_name
from bot.core.workloads import phase_of

if TYPE_CHECKING:
    from bot.core.facts import Facts


class Matching:
    """The Workloads of an object."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    @fact
    def by_job(self) -> dict[str, list[o.Workload]]:
        """The Workloads of the asked namespace that were read, by the UID of their job and of each owner."""
        return self._snapshot.once(("workloads by job", self._ref.namespace), self._index_workloads)

    def _index_workloads(self) -> dict[str, list[o.Workload]]:
        index: dict[str, list[o.Workload]] = {}
        for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace):
            uids = {owner.uid for owner in workload.metadata.owner_references}
            uids.add(workload.metadata.labels.get(JOB_UID_LABEL, ""))
            for uid in uids - {""}:
                index.setdefault(uid, []).append(workload)
        return index

    @fact
    def _workloads_by_owner(self) -> dict[tuple[str, str], list[tuple[o.Workload, str]]]:
        """The Workloads of the asked namespace that were read, by kind and name of each owner, with the UID that they give it."""
        return self._snapshot.once(("workloads by owner", self._ref.namespace), self._index_by_owner)

    def _index_by_owner(self) -> dict[tuple[str, str], list[tuple[o.Workload, str]]]:
        index: dict[tuple[str, str], list[tuple[o.Workload, str]]] = {}
        for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace):
            for owner in workload.metadata.owner_references:
                index.setdefault((owner.kind, owner.name), []).append((workload, owner.uid))
        return index

    def workloads_of(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that were read of an object: its own with their variants, else those of what it owns."""
        if isinstance(item, o.Workload):
            return self.with_variants((item,))
        found = self.direct(item)
        if not found:
            below: list[o.Workload] = []
            for child in self._facts.kin.descendants(item):
                below += [workload for workload in self.direct(child) if workload not in below]
            found = tuple(below)
        return self.with_variants(found)

    def with_variants(self, workloads: tuple[o.Workload, ...]) -> tuple[o.Workload, ...]:
        """Add the variants that concurrent admission makes of a Workload: the Workload owns them."""
        variants = [
            variant
            for workload in workloads
            for variant in self.by_job.get(workload.metadata.uid, ())
            if workload.metadata.uid and variant not in workloads
        ]
        return (*workloads, *variants)

    def direct(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that name an object as their job: by UID, as owner, as its pod group, or as its prebuilt Workload."""
        uid = item.metadata.uid
        found = list(self.by_job.get(uid, ())) if uid else []
        for workload, owner_uid in self._workloads_by_owner.get((kind_of(item), item.name), ()):
            if not (uid and owner_uid) and workload not in found:
                found.append(workload)
        for name in (group_name(item) if isinstance(item, o.Pod) else "", prebuilt_name(item)):
            named_so = self._snapshot.look_of(o.Workload, name, item.namespace) if name else None
            if named_so is None or named_so in found:
                continue
            if self._may_own(item, named_so, is_group=name == group_name(item)):
                found.append(named_so)
        return tuple(found)

    def _may_own(self, item: o.KubeObject, workload: o.Workload, *, is_group: bool) -> bool:
        """Say whether a Workload found by name can be this object's: a prebuilt one must not be another job's."""
        owners = workload.metadata.owner_references
        if is_group:
            return all(owner.kind in {"Pod", *SERVING} for owner in owners)
        job_uid = workload.metadata.labels.get(JOB_UID_LABEL, "")
        return not owners and job_uid in {"", item.metadata.uid}

    def of_group(self, group: PodGroup) -> tuple[o.Workload, ...]:
        """The Workloads of a pod group that were read: the one of its name, and those of its pods."""
        by_name = self._snapshot.look_of(o.Workload, group.name, group.namespace)
        found = [by_name] if by_name is not None and self._may_own(group.pods[0], by_name, is_group=True) else []
        for pod in group.pods:
            found += [workload for workload in self.direct(pod) if workload not in found]
        return self.with_variants(tuple(found))

    def is_waiting(self, item: o.KubeObject) -> bool:
        """Say whether this object has a Workload that is neither finished nor admitted, or is suspended without one."""
        workloads = self.workloads_of(item)
        if workloads:
            return any(phase_of(workload) in {"waiting", "reserved"} for workload in workloads)
        return bool(suspended(item)) and job_finished(item) is None and kind_of(item) != "CronJob"
