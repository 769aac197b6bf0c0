"""Which object was meant, which Workload decides for it, and how far it is.

Look-up order of a Workload (Kueue `pkg/controller/jobframework`): label job-uid, owner reference, prebuilt name, pod
group name, then the topmost managed owner's. Names are never guessed.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.core import kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.objects import condition, is_true
from bot.core.rule import Phase
from bot.core.snapshot import Unknown, owned

if TYPE_CHECKING:
    from bot.core.facts import Facts

PREFIX = "kueue.x-k8s.io/"
QUEUE_LABEL = PREFIX + "queue-name"
GROUP_LABEL = PREFIX + "pod-group-name"
JOB_UID_LABEL = PREFIX + "job-uid"
PREBUILT = PREFIX + "prebuilt-workload-name"
REPLACEMENT_FOR = PREFIX + "workload-slice-replacement-for"
_DEPTH = 10  # Kueue stops climbing owners at this depth


def dig(data: Any, path: str, default: Any = None) -> Any:  # noqa: ANN401 - walks untyped spec and status
    """Walk a dotted path through mappings; `default` when a step is missing or of another type."""
    for step in path.split("."):
        if not isinstance(data, dict) or step not in data:
            return default
        data = data[step]
    return data


def number(value: Any, default: int) -> int:  # noqa: ANN401
    """Give an int field, or the default when it is not an int."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def each(data: Any, path: str) -> list[Any]:  # noqa: ANN401
    """Walk a path in which "name[]" means every list item and "name{}" every map value; give what is there."""
    found = [data]
    for step in path.split("."):
        key = step.removesuffix("[]").removesuffix("{}")
        found = [item[key] for item in found if isinstance(item, dict) and key in item]
        if step.endswith("[]"):
            found = [entry for item in found if isinstance(item, list) for entry in item]
        elif step.endswith("{}"):
            found = [entry for item in found if isinstance(item, dict) for entry in item.values()]
    return found


def queue_name(item: o.KubeObject) -> str | None:
    """Give the queue that an object names by label (annotation on very old Kueue), None when it names none."""
    label = item.metadata.labels.get(QUEUE_LABEL)
    return label if label is not None else item.metadata.annotations.get(QUEUE_LABEL)


def suspended(item: o.KubeObject) -> bool | None:
    """Say whether a job object is suspended (or a pod gated by Kueue); None when its kind has no such field."""
    if isinstance(item, o.Pod):
        return any(gate.name.startswith(PREFIX) for gate in item.spec.scheduling_gates)
    if not isinstance(item, o.Job):
        return None
    known = kinds.of_object(item.api_version, item.kind)
    path = known.job.suspend if known and known.job else "spec.suspend"
    if not path:
        return None
    value = dig({"spec": item.spec}, path)
    return value if isinstance(value, bool) else (False if known else None)


def job_finished(item: o.KubeObject) -> tuple[bool, str] | None:
    """Give (succeeded, message) when the job object itself says that it is over, else None."""
    if isinstance(item, o.Pod):
        if item.status.phase in {"Succeeded", "Failed"}:
            return item.status.phase == "Succeeded", item.status.message or item.status.reason
        return None
    if not isinstance(item, o.Job):
        return None
    entries = item.status.get("conditions")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("status") == "True":
            if entry.get("type") in {"Complete", "Completed", "Succeeded"}:
                return True, str(entry.get("message", ""))
            if entry.get("type") == "Failed":
                return False, str(entry.get("message", ""))
    for field, good in (("jobStatus", "SUCCEEDED"), ("jobDeploymentStatus", "Complete")):
        if item.kind == "RayJob" and item.status.get(field) == good:
            return True, str(item.status.get("message", ""))
    if item.kind == "RayJob" and item.status.get("jobStatus") in {"FAILED", "STOPPED"}:
        return False, str(item.status.get("message", ""))
    return None


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A pod group that was asked about by its name."""

    name: str
    namespace: str
    pods: tuple[o.Pod, ...]


class Identity:
    """The answers about identity; `target` None means that nothing of that name was found."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    # --- the object that was meant ---

    @fact
    def candidates(self) -> tuple[o.KubeObject, ...]:
        """Every object of that name, without those that another of them owns. Seen, not proven complete."""
        snapshot, ref = self._snapshot, self._ref
        if ref.kind and ref.kind != "PodGroup":
            found = snapshot.look(ref.kind, ref.name, ref.namespace)
            foreign = [
                item
                for item in snapshot.foreign
                if (item.kind, item.namespace, item.name) == (ref.kind, ref.namespace, ref.name)
            ]
            return (found,) if found is not None else tuple(foreign[:1])
        names = [] if ref.kind else [*(kind.kind for kind in kinds.JOB_KINDS), "Pod", "Workload"]
        found_all = [item for kind in names if (item := snapshot.look(kind, ref.name, ref.namespace)) is not None]
        if not ref.kind:
            found_all += [item for item in snapshot.foreign if (item.namespace, item.name) == (ref.namespace, ref.name)]
        uids = {item.metadata.uid for item in found_all if item.metadata.uid}
        top = [
            item
            for item in found_all
            if not any(owner.uid in uids - {item.metadata.uid} for owner in item.metadata.owner_references)
        ]
        group_taken = any(isinstance(item, o.Workload) for item in top) and self.group is not None
        return tuple(item for item in top if not (group_taken and isinstance(item, o.Workload)))

    @fact
    def group(self) -> PodGroup | None:
        """The pod group of that name, if pods carry it."""
        ref = self._ref
        if ref.kind not in {"", "PodGroup"}:
            return None
        pods = tuple(
            pod
            for pod in self._snapshot.all_of(o.Pod, read="seen", namespace=ref.namespace)
            if pod.metadata.labels.get(GROUP_LABEL) == ref.name
        )
        return PodGroup(ref.name, ref.namespace, pods) if pods else None

    @fact
    def orphans(self) -> tuple[o.Workload, ...]:
        """Workloads whose owner reference names the asked job although the owner itself was not read."""
        ref = self._ref
        return tuple(
            workload
            for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=ref.namespace)
            if any(
                owner.name == ref.name and ref.kind in {"", owner.kind} for owner in workload.metadata.owner_references
            )
        )

    @fact
    def target(self) -> o.KubeObject | None:
        """The one object that was meant: the only candidate, or among several the one that waits, or the first."""
        candidates = self.candidates
        if len(candidates) <= 1:
            return candidates[0] if candidates else None
        waiting = [item for item in candidates if self.is_waiting(item)]
        unfinished = [item for item in candidates if job_finished(item) is None]
        return (waiting or unfinished or list(candidates))[0]

    def is_waiting(self, item: o.KubeObject) -> bool:
        """Say whether this candidate has a Workload that is neither finished nor admitted, or is suspended without one."""
        workloads = self.workloads_of(item)
        if workloads:
            return any(
                not is_true(w.status.conditions, "Finished") and not is_true(w.status.conditions, "Admitted")
                for w in workloads
            )
        return bool(suspended(item)) and job_finished(item) is None

    # --- its owners and its Workloads ---

    def owners(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The chain of controlling owners that were read, nearest first, at most ten."""
        chain: list[o.KubeObject] = []
        while len(chain) < _DEPTH:
            reference = next((ref for ref in item.metadata.owner_references if ref.controller), None)
            owner = None
            if reference is not None:
                owner = self._snapshot.by_uid(reference.uid) or self._snapshot.look(
                    reference.kind, reference.name, item.namespace
                )
            if owner is None or owner in chain:
                break
            chain.append(owner)
            item = owner
        return tuple(chain)

    @fact
    def root(self) -> o.KubeObject | None:
        """The object that Kueue manages for the target: the topmost owner with a queue name or a Workload, else the target."""
        target = self.target
        if target is None:
            return None
        above = [
            item
            for item in self.owners(target)
            if queue_name(item) is not None or (not isinstance(item, o.Workload) and self._direct(item))
        ]
        return above[-1] if above and not self._direct(target) else target

    def workloads_of(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that were read of an object: its own, or those of its pods (Deployment, ReplicaSet)."""
        if isinstance(item, o.Workload):
            return (item,)
        direct = self._direct(item)
        if direct or item.kind not in {"Deployment", "ReplicaSet", "CronJob"}:
            return direct
        below: list[o.Workload] = []
        for child in self.children(item):
            below += [w for w in self.workloads_of(child) if w not in below]
        return tuple(below)

    def _direct(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        uid, meta = item.metadata.uid, item.metadata
        prebuilt = meta.labels.get(PREBUILT) or meta.annotations.get(PREBUILT)
        group = meta.labels.get(GROUP_LABEL) if isinstance(item, o.Pod) else None
        return tuple(
            workload
            for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=item.namespace)
            if (uid and workload.metadata.labels.get(JOB_UID_LABEL) == uid)
            or any(
                owner.uid == uid if uid and owner.uid else (owner.kind, owner.name) == (item.kind, item.name)
                for owner in workload.metadata.owner_references
            )
            or (group is not None and workload.name == group)
            or (prebuilt is not None and workload.name == prebuilt and not workload.metadata.owner_references)
        )

    def children(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The objects that were read and whose controlling owner this is."""
        uid = item.metadata.uid
        if not uid:
            return ()
        below = [child for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]) for child in self._snapshot.seen(kind.kind)]
        return tuple(
            child
            for child in below
            if child.namespace == item.namespace and any(ref.uid == uid for ref in child.metadata.owner_references)
        )

    @fact
    def workloads(self) -> tuple[o.Workload, ...]:
        """All Workloads of the asked job that were read, oldest first."""
        found: tuple[o.Workload, ...] = ()
        if self.root is not None:
            found = self.workloads_of(self.root)
        elif self.group is not None:
            group = self.group
            by_name = self._snapshot.look_of(o.Workload, group.name, group.namespace)
            found = (by_name,) if by_name is not None else ()
        else:
            found = self.orphans
        return tuple(
            sorted(
                found,
                key=lambda w: (
                    w.metadata.creation_timestamp is None,
                    w.metadata.creation_timestamp or self._facts.now,
                    w.name,
                ),
            )
        )

    @fact
    def workload(self) -> o.Workload | None:
        """The Workload that decides: of several, the newest one that waits; else the newest unfinished; else the newest.

        None when it is proven that there is none. Raises Unknown when Workloads could not be read.
        """
        workloads = self.workloads
        if not workloads:
            self._prove_absence()
            return None

        def rank(workload: o.Workload) -> int:
            conditions = workload.status.conditions
            if is_true(conditions, "Finished"):
                return 0
            if is_true(conditions, "Admitted"):
                return 1
            return 2 if workload.metadata.deletion_timestamp is None else 1

        best = max(rank(workload) for workload in workloads)
        return [workload for workload in workloads if rank(workload) == best][-1]

    def _prove_absence(self) -> None:
        item = self.root
        namespace = self._ref.namespace
        if (
            item is not None
            and item.metadata.uid
            and self._snapshot.covers("Workload", namespace, selector=owned(item.metadata.uid))
        ):
            return
        self._snapshot.require("Workload", namespace)

    # --- how far it is ---

    @fact
    def managed(self) -> bool:
        """Whether Kueue is asked to manage it: a queue name, a Workload, or one of Kueue's gates."""
        item = self.root
        if self.group is not None and item is None:
            return True
        return bool(self.workloads) or (
            item is not None
            and (
                queue_name(item) is not None
                or item.metadata.labels.get(PREFIX + "managed") == "true"
                or (isinstance(item, o.Pod) and bool(suspended(item)))
                or PREBUILT in item.metadata.labels
            )
        )

    @fact
    def phase(self) -> Phase:
        """How far the job is; see `rule.Phase`. Raises Unknown when Workloads could not be read."""
        if self.target is None and self.group is None and not self.orphans:
            return "unresolved"
        workload = self.workload
        over = job_finished(self.root) if self.root is not None else None
        if workload is None:
            if over is not None:
                return "finished"
            return "no-workload" if self.managed else "unmanaged"
        return "finished" if over is not None and self._only_past(workload) else phase_of(workload)

    def _only_past(self, workload: o.Workload) -> bool:
        """A finished job's Workload that Kueue has not closed yet counts as finished; another job's leftovers do not."""
        root = self.root
        return root is not None and not isinstance(root, o.Workload) and workload in self._direct(root)

    @fact
    def admitted(self) -> bool | None:
        """Whether the deciding Workload is admitted; None when there is no Workload."""
        workload = self.workload
        return None if workload is None else is_true(workload.status.conditions, "Admitted")

    def want(self) -> o.Workload:
        """The deciding Workload for rules that need one. Raises Unknown when there is none."""
        if self.workload is None:
            reason = "there is no Workload"
            raise Unknown(reason)
        return self.workload


def phase_of(workload: o.Workload) -> Phase:
    """How far a Workload is, from its conditions alone (Kueue `workload.Status`)."""
    conditions = workload.status.conditions
    if is_true(conditions, "Finished"):
        return "finished"
    if is_true(conditions, "Admitted"):
        return "admitted"
    if is_true(conditions, "QuotaReserved"):
        return "reserved"
    return "waiting"


def since(workload: o.Workload, kind: str) -> Any:  # noqa: ANN401
    """When a condition flipped last, None when it is absent."""
    found = condition(workload.status.conditions, kind)
    return found.last_transition_time if found else None
