"""Who is being evicted for a Workload, and whether they go.

A victim says so itself: `Evicted=True` with reason Preempted (or FlavorMigration), while `QuotaReserved` is still True
because its pods have not gone (Kueue `pkg/scheduler/preemption`, `pkg/controller/jobframework/reconciler.go`). Its
`Preempted` condition names the preemptor's UID, job UID, the rule, and the paths of both queues, as far as the Kueue of
the day writes them.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from bot.core import objects as o
from bot.core import texts
from bot.core.facts.lazy import fact
from bot.core.jobs import is_over
from bot.core.marks import GROUP_LABEL, JOB_UID_LABEL, WORKLOAD
from bot.core.moments import lasting
from bot.core.names import named, quoted
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.snapshot import Snapshot, Unknown, holders

if TYPE_CHECKING:
    from bot.core.facts import Facts

UNREACHABLE = "node.kubernetes.io/unreachable"

_MIGRATED = re.compile(r"Evicted to accommodate a workload \(UID: (?P<uid>[^,)]+)\) due to (?P<why>.+)$", re.IGNORECASE)
_PENDING = re.compile(r"Pending the (?P<what>preemption|migration) of (?P<count>\d+) workload", re.IGNORECASE)
_FAILED = re.compile(r"Preempting (?P<count>\d+) workload\(s\) failed", re.IGNORECASE)
_OVERLAP = "overlapping preemption targets with another workload"

OFTEN = 3
"""From so many preemptions on, a victim is one that keeps coming back."""

PREEMPTION_RULES = {
    "InClusterQueue": "prioritization in the ClusterQueue",
    "InCohort": "preemption in the cohort",
    "InCohortReclamation": "reclamation within the cohort",
    "InCohortFairSharing": "Fair Sharing within the cohort",
    "InCohortReclaimWhileBorrowing": "reclamation within the cohort while borrowing",
}
"""What Kueue's reasons of the condition Preempted mean, in Kueue's words."""


@dataclass(frozen=True, slots=True)
class Preemptor:
    """What an eviction's text says about who it was done for; "" for what it does not say."""

    uid: str = ""
    job_uid: str = ""
    why: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class HangingPod:
    """A pod of an evicted Workload that is still there. `overdue` in seconds past its deletion time, None if not deleted.

    `node_trouble` says what is wrong with its node ("unreachable", "not ready", "gone"), "" when nothing is known.
    """

    pod: o.Pod
    overdue: float | None
    node_trouble: str


@dataclass(frozen=True, slots=True)
class Victim:
    """An evicted Workload that still holds its quota. `named` says that its text names the asked Workload itself."""

    workload: o.Workload
    since: datetime | None
    rule: str
    preemptor: Preemptor
    named: bool
    evictions: int


@dataclass(frozen=True, slots=True)
class Announced:
    """What Kueue's current text about the asked Workload says of preemption. `kind`: pending, failed, overlap, migration."""

    kind: str
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Stalled:
    """Why a preemption does not get on, and for how long (seconds).

    `kind`: hanging (victims evicted long ago are still there), returning (the same victims are evicted and come back),
    failing (Kueue cannot evict them), overlap (others take the same victims each time).
    """

    kind: Literal["hanging", "returning", "failing", "overlap"]
    victims: tuple[Victim, ...]
    seconds: float


def quota_text(workload: o.Workload) -> str:
    """The message of QuotaReserved=False, "" when the condition is absent or True."""
    found = condition(workload.status.conditions, "QuotaReserved")
    return found.message if found is not None and found.status != "True" else ""


def announced(workload: o.Workload) -> Announced | None:
    """Read what a Workload's own quota condition says of preemption, None when it says nothing."""
    text = quota_text(workload)
    if not text:
        return None
    found = _PENDING.search(text)
    if found is not None:
        kind = "pending" if found["what"].lower() == "preemption" else "migration"
        return Announced(kind, int(found["count"][:9]), text)
    failed = _FAILED.search(text)
    if failed is not None:
        return Announced("failed", int(failed["count"][:9]), text)
    return Announced("overlap", 0, text) if _OVERLAP in text.lower() else None


def preemptor_of(message: str) -> Preemptor:
    """Read from an eviction's text for whom it was done and why; empty parts where it does not say."""
    said = texts.preemption(message.strip())
    if said is not None:
        return Preemptor(said.uid, said.job_uid, said.why, said.preemptor_path)
    found = _MIGRATED.search(message.strip())
    return Preemptor(found["uid"].strip(), "", found["why"].strip(), "") if found is not None else Preemptor()


def preemptions(workload: o.Workload) -> int:
    """How often a Workload was preempted so far (status.schedulingStats), 0 when nothing is recorded."""
    stats = workload.status.scheduling_stats
    return sum(entry.count for entry in stats.evictions if entry.reason == "Preempted") if stats is not None else 0


def reservation_stands(workload: o.Workload) -> bool:
    """Whether a Workload's quota reservation stands: QuotaReserved=True and not finished."""
    conditions = workload.status.conditions
    return is_true(conditions, "QuotaReserved") and not is_true(conditions, "Finished")


def being_evicted(snapshot: Snapshot) -> tuple[o.Workload, ...]:
    """The Workloads that were read, are evicted for somebody else's sake and still hold their quota."""
    return snapshot.once(
        ("being evicted",),
        lambda: tuple(
            workload
            for workload in snapshot.all_of(o.Workload, read="seen")
            if (evicted := condition(workload.status.conditions, "Evicted")) is not None
            and evicted.status == "True"
            and evicted.reason in {"Preempted", "FlavorMigration"}
            and reservation_stands(workload)
        ),
    )


class Preemption:
    """What is known of the preemption for the asked Workload."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @fact
    def announced(self) -> Announced | None:
        """What Kueue's text about the asked Workload says of preemption."""
        return announced(self._facts.identity.want())

    @fact
    def cohort_queues(self) -> frozenset[str]:
        """The ClusterQueues of the same cohort tree that were read, the own one included."""
        own = self._facts.queue.cluster_queue_name
        path = self._facts.queue.cohort_path
        if not path:
            return frozenset({own})
        root = path[-1]
        parents = {cohort.name: cohort.parent for cohort in self._snapshot.all_of(o.Cohort, read="seen")}

        def top(name: str) -> str:
            seen = {name}
            while parents.get(name) and parents[name] not in seen:
                name = parents[name]
                seen.add(name)
            return name

        return frozenset({own}) | {
            queue.name
            for queue in self._snapshot.all_of(o.ClusterQueue, read="seen")
            if queue.cohort and top(queue.cohort) == root
        }

    @fact
    def victims(self) -> tuple[Victim, ...]:
        """Evicted Workloads that still hold quota and may be meant for the asked one, the named ones first.

        Those whose text names somebody else are left out, unless Kueue says that the targets overlap.
        """
        workload = self._facts.identity.want()
        job_uid = workload.metadata.labels.get(JOB_UID_LABEL, "")
        overlap = self.announced is not None and self.announced.kind == "overlap"
        found = []
        for other in being_evicted(self._snapshot):
            evicted = condition(other.status.conditions, "Evicted")
            if other is workload or evicted is None:
                continue
            preempted = condition(other.status.conditions, "Preempted")
            preempted = preempted if preempted is not None and preempted.status == "True" else None
            who = preemptor_of(preempted.message if preempted is not None else evicted.message)
            named = (who.uid != "" and who.uid == workload.metadata.uid) or (job_uid != "" and who.job_uid == job_uid)
            queue = other.status.admission.cluster_queue if other.status.admission is not None else ""
            anonymous = not who.uid and self.announced is not None and queue in self.cohort_queues
            if named or anonymous or (overlap and queue in self.cohort_queues):
                reason = preempted.reason if preempted is not None else evicted.reason
                rule = who.why or PREEMPTION_RULES.get(reason, "")
                found.append(Victim(other, evicted.last_transition_time, rule, who, named, preemptions(other)))
        return tuple(
            sorted(found, key=lambda v: (not v.named, v.since is None, v.since or self._facts.now, v.workload.name))
        )

    @fact
    def read_in_full(self) -> bool:
        """Whether every Workload that could be a victim was read: all, or the holders of every queue of the cohort."""
        if self._snapshot.covers("Workload"):
            return True
        try:
            return self._holders_read()
        except Unknown:
            return False

    def _holders_read(self) -> bool:
        if not self._snapshot.covers("ClusterQueue") and self._facts.queue.cohort_path:
            return False
        return all(self._snapshot.covers("Workload", selector=holders(name)) for name in sorted(self.cohort_queues))

    @fact
    def stalled(self) -> Stalled | None:
        """Whether the preemption has stopped getting on; None when it goes its way or there is none."""
        long, said = self._facts.thresholds.long, self.announced
        old = [
            victim
            for victim in self.victims
            if (self._facts.age(victim.since) or 0) > long and not self._leaving(victim.workload)
        ]
        if old:
            return Stalled("hanging", tuple(old), max(self._facts.age(victim.since) or 0 for victim in old))
        own = self._facts.identity.want()
        first = condition(own.status.conditions, "QuotaReserved")
        waited = self._facts.age(first.last_transition_time if first is not None else None) or 0
        if said is None or waited <= long:
            return None
        again = tuple(victim for victim in self.victims if victim.evictions >= OFTEN)
        if again and said.kind == "pending":
            return Stalled("returning", again, waited)
        if said.kind in {"failed", "overlap"}:
            return Stalled("failing" if said.kind == "failed" else "overlap", self.victims, waited)
        return None

    def _leaving(self, workload: o.Workload) -> bool:
        """Whether all the pods that an evicted Workload still has are within their grace period."""
        pods = self.pods_of(workload)
        return bool(pods) and all(
            pod.metadata.deletion_timestamp is not None and pod.metadata.deletion_timestamp > self._facts.now
            for pod in pods
        )

    def pods_of(self, workload: o.Workload) -> tuple[o.Pod, ...]:
        """The pods that were read of a Workload and are neither finished nor gone."""
        return pods_of(self._facts, workload)

    def hanging(self, workload: o.Workload) -> tuple[HangingPod, ...]:
        """The pods that an evicted Workload still has, the longest overdue first."""
        found = [
            HangingPod(pod, self._facts.age(pod.metadata.deletion_timestamp), self._node_trouble(pod.spec.node_name))
            for pod in self.pods_of(workload)
        ]
        return tuple(
            sorted(found, key=lambda h: (not h.node_trouble, h.overdue is None, -(h.overdue or 0), h.pod.name))
        )

    def _node_trouble(self, name: str) -> str:
        if not name:
            return ""
        try:
            node = self._snapshot.one_of(o.Node, name)
        except Unknown:
            return ""
        if node is None:
            return "gone"
        if any(taint.key == UNREACHABLE for taint in node.spec.taints):
            return "unreachable"
        ready = condition(node.status.conditions, "Ready")
        if ready is None or ready.status == "True":
            return ""
        return "unreachable" if ready.status == "Unknown" else "not ready"


def pod_state(hanging: HangingPod) -> str:
    """Write how a pod of an evicted Workload hangs: "hangs on node n1, which is unreachable"."""
    node = named("Node", hanging.pod.spec.node_name) if hanging.pod.spec.node_name else ""
    if hanging.node_trouble:
        return f"hangs on node {node}, which is {hanging.node_trouble}"
    place = f" on node {node}" if node else ""
    if hanging.overdue is None:
        return f"still runs{place} and nobody has deleted it"
    if hanging.overdue < 0:
        return f"is still within its grace period{place}"
    held = [name for name in hanging.pod.metadata.finalizers if name]
    finalizers = f", held by finalizer {quoted(held[0], 80)}" if held else ""
    return f"should have been gone {lasting(hanging.overdue)} ago{place}{finalizers}"


def pods_of(facts: "Facts", workload: o.Workload) -> tuple[o.Pod, ...]:
    """The pods that were read of a Workload, by its name in their annotation, its job's UID, or its owner references.

    Without those that succeeded or failed. Sorted by name. Seen, not proven complete.
    """
    uids = {ref.uid for ref in workload.metadata.owner_references if ref.uid}
    uids |= {uid for uid in (workload.metadata.labels.get(JOB_UID_LABEL),) if uid}
    own = facts.snapshot.all_of(o.Pod, read="seen", namespace=workload.namespace)
    group = {pod.metadata.uid for pod in own if pod.metadata.labels.get(GROUP_LABEL) == workload.name}

    def belongs(pod: o.Pod) -> bool:
        name = pod.metadata.annotations.get(WORKLOAD)
        if name is not None:
            return name == workload.name
        owners = {ref.uid for ref in pod.metadata.owner_references if ref.uid}
        chain = {owner.metadata.uid for owner in facts.kin.owners(pod)}
        return bool(pod.metadata.uid in uids | group or uids & (owners | chain))

    return tuple(
        sorted(
            (pod for pod in own if not is_over(pod) and belongs(pod)),
            key=lambda pod: pod.name,
        )
    )
