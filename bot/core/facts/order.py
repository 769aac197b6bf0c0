"""Who stands before a Workload in its ClusterQueue, who holds the queue up, and when enough is released.

Kueue sorts a ClusterQueue by its sticky preemptor (BestEffortFIFO alone), effective priority, queue timestamp and UID
(`pkg/cache/queue/cluster_queue.go`); with usage-based admission fair sharing the usage of the LocalQueue comes first.
The queue timestamp is the creation, or the eviction where PodsReadyTimeout or an AdmissionCheck evicted it
(`pkg/workload/workload.go`). Kueue's own order comes from the visibility API, where it was read.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from bot.core import objects as o
from bot.core import texts
from bot.core.diagnosis import Ahead, AheadJob, Holder
from bot.core.facts.assignment import Figure
from bot.core.facts.lazy import fact
from bot.core.facts.preemption import Preemption, announced, pods_of, quota_text, reservation_stands
from bot.core.facts.requests import held
from bot.core.kinds import BY_NAME
from bot.core.marks import ADMISSION_GATED_BY, CONCURRENT_PARENT, JOB_UID_LABEL, PREFIX, REPLACEMENT_FOR
from bot.core.moments import lasting
from bot.core.names import named, quoted
from bot.core.objects import condition, is_true
from bot.core.quantity import amount, human, parse
from bot.core.records import dataclass
from bot.core.reference import JobRef
from bot.core.scheduling import selector_matches
from bot.core.snapshot import Scope, Unknown, waiting
from bot.core.untyped import dig
from bot.core.workloads import is_variant

if TYPE_CHECKING:
    from bot.core.facts import Facts

BOOST = PREFIX + "priority-boost"
SHOWN = 5
"""How many of those ahead are named."""

_MANY = frozenset({"LeaderWorkerSet", "Workload", "ReplicaSet", "Deployment"})
"""Owners that have several Workloads side by side."""

_STOPPED = frozenset({"Hold", "HoldAndDrain"})
_NO_VERDICT = frozenset(
    {"Inadmissible", "Deactivated", "Suspended", "PendingEvaluation", "AdmissionGated", "OnHold", "Misconfigured"}
)
_NOT_LOOKED_AT = (
    "bypassed scheduling evaluation", "workload is pending evaluation", "admissiongatedby cleared",
    "workload no longer on hold",
)  # fmt: skip
BYPASSED = "bypassed scheduling evaluation"
WAITS_FOR_READY = "waiting for all admitted workloads to be in podsready condition"
LOST_IN_CYCLE = ("no longer fits after processing another workload", "other workloads in the cohort were prioritized")
_NAMESPACE = "namespace doesn't match clusterqueue selector"


@dataclass(frozen=True, slots=True)
class Standing:
    """A Workload that stands before the asked one, and why it does."""

    workload: o.Workload
    why: str


@dataclass(frozen=True, slots=True)
class HeadState:
    """Why a Workload that stands before the asked one waits itself.

    `verdict`: its own quota verdict, None when it could not be computed. `reason` completes "which …". `computed` is
    False when the reason is Kueue's text alone.
    """

    verdict: str | None
    reason: str
    computed: bool = True

    @property
    def never(self) -> bool:
        """Whether it can never start as written."""
        return self.verdict in {"never", "excluded"}


@dataclass(frozen=True, slots=True)
class NotReady:
    """What is known of waitForPodsReady.blockAdmission.

    `blockers`: Workloads with quota whose pods are not ready. `full`: all Workloads of the cluster were read.
    `said`: the Workload whose current text says that everybody waits. `configured`: blockAdmission as read, None unknown.
    """

    blockers: tuple[o.Workload, ...]
    full: bool
    said: o.Workload | None
    configured: bool | None


@dataclass(frozen=True, slots=True)
class Stale:
    """A Workload that holds missing quota and runs nothing. `why` completes "because …"; `idle`: proven without pods."""

    workload: o.Workload
    holder: Holder
    kind: Literal["own", "parent", "evicted", "ownerless", "scaled-to-zero"]
    why: str
    idle: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseWindow:
    """By when running Workloads must have released enough, from the limits on their execution time alone.

    `earliest` is the moment by which their limits release what is short, `latest` the one by which they release what
    those ahead want as well (None when the limits do not reach that far). Both are upper bounds: a job may end sooner.
    """

    earliest: datetime
    latest: datetime | None
    flavor: str
    resource: str
    short: int
    holders: tuple[str, ...]

    @property
    def basis(self) -> str:
        """What the window rests on, as the end of a sentence."""
        return f"by their maximum execution time, sooner if they finish sooner: {', '.join(self.holders)}"


def duration(seconds: float | None) -> str:
    """Write a length of time in words, "an unknown time" for None."""
    return "an unknown time" if seconds is None else lasting(seconds)


def job_of(workload: o.Workload) -> tuple[str, str]:
    """Give (kind, name) of the job that a Workload stands for; the Workload itself when it names no owner."""
    owners = workload.metadata.owner_references
    owner = next((ref for ref in owners if ref.controller), None)
    if owner is None and len({(ref.kind, ref.name) for ref in owners}) == 1:
        owner = owners[0]
    if owner is not None and owner.name:
        return owner.kind, owner.name
    if any(ref.kind == "Pod" for ref in owners):
        return "PodGroup", workload.name
    kind = workload.metadata.annotations.get(PREFIX + "job-owner-gvk", "").rpartition("Kind=")[2]
    name = workload.metadata.annotations.get(PREFIX + "job-owner-name", "")
    return (kind, name) if kind and name else ("Workload", workload.name)


def priority_of(workload: o.Workload) -> int:
    """The effective priority: spec.priority (0 when absent) plus the annotation priority-boost."""
    boost = workload.metadata.annotations.get(BOOST, "")
    sign = boost[1:] if boost[:1] in {"-", "+"} else boost
    return (workload.spec.priority or 0) + (int(boost) if sign.isascii() and sign.isdigit() and len(sign) < 11 else 0)


def queued_at(workload: o.Workload, *, by_creation: bool = False) -> datetime | None:
    """The moment by which Kueue sorts: creation, or the eviction by PodsReadyTimeout or an AdmissionCheck.

    `by_creation`: the configuration's requeuingStrategy keeps the creation after a PodsReadyTimeout.
    """
    evicted = condition(workload.status.conditions, "Evicted")
    reasons = {"AdmissionCheck"} if by_creation else {"PodsReadyTimeout", "AdmissionCheck"}
    if evicted is not None and evicted.status == "True" and evicted.reason in reasons:
        return evicted.last_transition_time or workload.metadata.creation_timestamp
    return workload.metadata.creation_timestamp


def verdict_text(workload: o.Workload) -> str:
    """Kueue's current scheduling verdict about a Workload, "" when it has not looked at it.

    Texts of the queue (LocalQueue missing …), of an eviction, and "not evaluated yet" are no verdicts.
    """
    found = condition(workload.status.conditions, "QuotaReserved")
    text = quota_text(workload)
    if found is None or text.lower().startswith(_NOT_LOOKED_AT):
        return ""
    if found.reason in _NO_VERDICT and not isinstance(texts.quota(text), texts.VERDICTS):
        return ""
    evicted = condition(workload.status.conditions, "Evicted")
    return "" if evicted is not None and evicted.message == text else text


def shape(workload: o.Workload) -> bytes:
    """What Kueue compares to find equal Workloads: priority, pod sets, requests and placement wishes, as bytes."""
    sets = [
        (pod_set.count, pod_set.min_count, pod_set.topology_request, _wishes(pod_set.template.spec))
        for pod_set in workload.spec.pod_sets
    ]
    return msgspec.json.encode((priority_of(workload), sets), order="sorted")


def _wishes(spec: o.PodSpec) -> tuple[Any, ...]:
    resources = [(c.resources, c.restart_policy) for c in (*spec.containers, *spec.init_containers)]
    return resources, spec.node_selector, spec.tolerations, spec.affinity, spec.overhead, spec.runtime_class_name


def pending(workload: o.Workload) -> bool:
    """Say whether Kueue keeps a Workload in the queue that its LocalQueue leads to, and counts it in `pendingWorkloads`.

    Those that were put back for some time are among them (`workload.IsAdmissible`; `ClusterQueue.PushOrUpdate`).
    """
    meta, conditions = workload.metadata, workload.status.conditions
    quota = condition(conditions, "QuotaReserved")
    return (
        meta.deletion_timestamp is None
        and workload.spec.active is not False
        and not any(is_true(conditions, kind) for kind in ("QuotaReserved", "Finished", "WaitingForReplacementPods"))
        and (quota is None or quota.reason != "OnHold")
        and not meta.annotations.get(ADMISSION_GATED_BY)
        and (CONCURRENT_PARENT not in meta.labels or is_variant(workload))
    )


class Order:
    """The line before the asked Workload."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._nested = False

    # --- the queue ---

    @fact
    def preemption(self) -> Preemption:
        """Who is being evicted for it."""
        return Preemption(self._facts)

    @fact
    def queue(self) -> o.ClusterQueue:
        """The ClusterQueue it waits in. Raises Unknown when there is none."""
        queue = self._facts.queue.cluster_queue
        if queue is None:
            reason = "there is no ClusterQueue"
            raise Unknown(reason)
        return queue

    @fact
    def _local_queues(self) -> Mapping[tuple[str, str], o.LocalQueue]:
        name = self.queue.name
        return {
            (local.namespace, local.name): local
            for local in self._snapshot.all_of(o.LocalQueue, read="seen")
            if local.spec.cluster_queue == name and local.spec.stop_policy not in _STOPPED
        }

    def stands(self, workload: o.Workload) -> bool:
        """Whether a Workload stands in the queue at all (Kueue `workload.IsAdmissible`, backoff and routing)."""
        requeued = condition(workload.status.conditions, "Requeued")
        later = workload.status.requeue_state.requeue_at if workload.status.requeue_state is not None else None
        return (
            (workload.namespace, workload.spec.queue_name) in self._local_queues
            and pending(workload)
            and (requeued is None or requeued.status != "False")
            and (later is None or later <= self._facts.now)
        )

    @fact
    def full(self) -> bool:
        """Whether every Workload that waits in this ClusterQueue was read."""
        # all Workloads do not tell it where LocalQueues of other namespaces are not known
        proven = Scope("Workload", selector=waiting(self.queue.name)) in self._snapshot.covered
        return proven or (self._snapshot.covers("Workload") and self._snapshot.covers("LocalQueue"))

    @fact
    def usage_based(self) -> bool:
        """Whether the ClusterQueue sorts by the usage of its LocalQueues first."""
        scope = self.queue.spec.admission_scope
        off = isinstance(self._configuration, dict) and "admissionFairSharing" not in self._configuration
        return scope is not None and scope.admission_mode == "UsageBasedAdmissionFairSharing" and not off

    def local_usage(self, workload: o.Workload) -> float | None:
        """What a Workload's LocalQueue used lately, weighted, as usage-based fair sharing compares it; None unknown."""
        local = self._local_queues.get((workload.namespace, workload.spec.queue_name))
        if local is None:
            return None
        consumed = dig(local.status.fair_sharing, "admissionFairSharingStatus.consumedResources")
        weight = _number(local.spec.fair_sharing.get("weight"), 1.0)
        if weight <= 0:
            return float("inf")
        total = 0.0
        for resource, used in consumed.items() if isinstance(consumed, dict) else ():
            factor = _number(self._resource_weights.get(resource), 1.0)
            try:
                total += factor * amount(str(resource), used) / (1000 if resource == "cpu" else 1)
            except ValueError:
                return None
        return total / weight

    @fact
    def _resource_weights(self) -> Mapping[str, Any]:
        weights = dig(self._configuration, "admissionFairSharing.resourceWeights")
        return weights if isinstance(weights, dict) else {}

    @fact
    def _by_creation(self) -> bool:
        return bool(dig(self._configuration, "waitForPodsReady.requeuingStrategy.timestamp") == "Creation")

    @fact
    def _configuration(self) -> Any:  # noqa: ANN401 - parsed YAML
        try:
            return self._facts.controller.configuration
        except Unknown:
            return None

    @fact
    def _sticky(self) -> o.Workload | None:
        return None if self.queue.strict else self._snapshot.once(("sticky", self.queue.name), self._preemptor)

    def _preemptor(self) -> o.Workload | None:
        candidates = [
            w for w in self._candidates if (said := announced(w)) is not None and said.kind in {"pending", "failed"}
        ]
        return min(candidates, key=_base_key) if candidates else None

    @fact
    def _candidates(self) -> tuple[o.Workload, ...]:
        return self._snapshot.once(("waiting", self.queue.name), self._standing_here)

    def _standing_here(self) -> tuple[o.Workload, ...]:
        return tuple(w for w in self._route_to_here() if self.stands(w))

    def _route_to_here(self) -> tuple[o.Workload, ...]:
        waiting_here = self._snapshot.once(("waiting by queue",), self._by_queue)
        found: list[o.Workload] = []
        for key in self._local_queues:
            found += waiting_here.get(key, ())
        return tuple(found)

    def _by_queue(self) -> dict[tuple[str, str], list[o.Workload]]:
        found: dict[tuple[str, str], list[o.Workload]] = {}
        for w in self._snapshot.all_of(o.Workload, read="seen"):
            if not any(is_true(w.status.conditions, kind) for kind in ("QuotaReserved", "Finished")):
                found.setdefault((w.namespace, w.spec.queue_name), []).append(w)
        return found

    @fact
    def positions(self) -> Mapping[tuple[str, str], int] | None:
        """Kueue's own order from the visibility API, without those that the objects show to be elsewhere; None if not read."""
        ending = f"/clusterqueues/{self.queue.name}/pendingworkloads"
        for path in sorted((path for path in self._snapshot.visibility if path.endswith(ending)), reverse=True):
            rows = self._snapshot.visibility[path]
            if isinstance(rows, int):
                continue
            kept = []
            for row in sorted(rows, key=lambda row: row.position_in_cluster_queue):
                seen = self._snapshot.look_of(o.Workload, row.name, row.namespace)
                if seen is None or self.stands(seen):
                    kept.append((row.namespace, row.name))
            return {key: place for place, key in enumerate(kept)}
        return None

    @fact
    def line_up(self) -> tuple[o.Workload, ...]:
        """Those who were read of the Workloads that wait in this ClusterQueue, first one first."""
        return self._snapshot.once(("line", self.queue.name), self._sorted)

    def _sorted(self) -> tuple[o.Workload, ...]:
        places = self.positions
        # what the objects alone cannot tell is in which order Kueue has a sticky preemptor and decayed usage
        unsure = not self.full or self.usage_based or self._sticky is not None
        if unsure and places is not None and {(w.namespace, w.name) for w in self._candidates} == places.keys():
            return tuple(sorted(self._candidates, key=lambda w: places[w.namespace, w.name]))
        return tuple(sorted(self._candidates, key=self._key))

    def _key(self, workload: o.Workload) -> tuple[Any, ...]:
        usage = self.local_usage(workload) if self.usage_based else 0.0
        return (
            usage if usage is not None else 0.0,
            workload is not self._sticky,
            *_base_key(workload, by_creation=self._by_creation),
        )

    @fact
    def before(self) -> tuple[o.Workload, ...]:
        """Those who were read and stand before it, first one first; () also when it stands nowhere itself."""
        return self.line_up[: self._place]

    @fact
    def _place(self) -> int:
        """How many were read and stand before it; 0 also when it stands nowhere."""
        own = self._facts.identity.want()
        places = self._snapshot.once(
            ("places", self.queue.name), lambda: {(w.namespace, w.name): at for at, w in enumerate(self.line_up)}
        )
        return places.get((own.namespace, own.name), 0)

    def standing(self, other: o.Workload) -> Standing:
        """A Workload before the asked one with the reason why it stands there."""
        return Standing(other, self._why(other, self._facts.identity.want()))

    def _why(self, other: o.Workload, own: o.Workload) -> str:
        if self.usage_based and other.spec.queue_name != own.spec.queue_name:
            one, mine = self.local_usage(other), self.local_usage(own)
            if one is not None and mine is not None and one < mine:
                return f"its LocalQueue used less lately ({one:.4g} against {mine:.4g})"
        if other is self._sticky:
            return "it waits for its own preemptions and stays first until they are done"
        if priority_of(other) > priority_of(own):
            return f"higher priority ({priority_of(other)} against {priority_of(own)})"
        one_at, own_at = (queued_at(w, by_creation=self._by_creation) for w in (other, own))
        if one_at is not None and own_at is not None and one_at < own_at:
            return f"queued {duration((own_at - one_at).total_seconds())} earlier"
        return "before it in Kueue's order"

    @fact
    def line(self) -> Ahead:
        """The line: how many are before it, how many wait in all, the first of them with why. Counts None when unknown."""
        own = self._facts.identity.want()
        shown = map(self.standing, self.before[:SHOWN])
        jobs = tuple(AheadJob(s.workload.namespace, "/".join(job_of(s.workload)), s.why) for s in shown)
        if not self.stands(own):
            return Ahead(None, None, ())
        if self.full:
            return Ahead(len(self.before), len(self.line_up), jobs)
        places = self.positions
        key = (own.namespace, own.name)
        if places is not None and key in places:
            return Ahead(places[key], len(places), jobs)
        return Ahead(None, None, jobs)

    @fact
    def unread_head(self) -> tuple[str, str] | None:
        """The first of Kueue's own order, as (namespace, name), where it is not the asked one and was not read; else None."""
        own, places = self._facts.identity.want(), self.positions
        if self.full or not places or not places.get((own.namespace, own.name)):
            return None
        first = min(places, key=lambda key: places[key])
        return first if self._snapshot.look_of(o.Workload, first[1], first[0]) is None else None

    # --- those before it ---

    def facts_of(self, workload: o.Workload) -> "Facts | None":
        """The facts about another Workload of the same snapshot; None inside such facts: nobody looks further than one."""
        if self._nested:
            return None
        thresholds = self._facts.thresholds

        def ask() -> "Facts | None":
            facts = type(self._facts)(self._snapshot, JobRef(workload.namespace, workload.name, "Workload"), thresholds)
            facts.order._nested = True  # noqa: SLF001 - the same class
            return facts if facts.identity.workload is workload else None

        return self._snapshot.once(("facts", workload.namespace, workload.name, repr(thresholds)), ask)

    def verdict_of(self, workload: o.Workload) -> str | None:
        """The quota verdict of another Workload (fits, wait, never, excluded); None when it cannot be computed."""
        other = self.facts_of(workload)
        if other is None:
            return None
        try:
            return other.quota.verdict
        except Unknown:
            return None

    def state_of(self, workload: o.Workload) -> HeadState:
        """Why a Workload before the asked one waits: from its own arithmetic, else in Kueue's words."""
        verdict = self.verdict_of(workload)
        other = self.facts_of(workload)
        short = other.quota.shortfall_or_none if other is not None and verdict in {"wait", "never"} else None
        if short is not None and short.main is not None:
            main = short.main
            what = f"{human(main.resource, main.short)} more {main.resource} in flavor {short.flavor}"
            if verdict == "never":
                return HeadState(verdict, f"can never start as written: it wants {what} than there can ever be")
            return HeadState(verdict, f"waits for {what}")
        if other is not None and verdict == "excluded":
            why = sorted({row.why for row in other.quota.rows if row.verdict == "excluded" and row.why})
            return HeadState(verdict, f"can use no flavor of the queue ({quoted(', '.join(why), 120) or 'excluded'})")
        text = verdict_text(workload)
        if text:
            return HeadState(verdict, f'waits; Kueue says "{quoted(text, 200)}"', computed=False)
        return HeadState(verdict, "has not been looked at yet", computed=False)

    @fact
    def strict_head(self) -> Standing | None:
        """In a StrictFIFO queue the first one before it that is not let past; None when there is none.

        A head whose namespace the ClusterQueue does not select is passed over by Kueue.
        """
        if not self.queue.strict:
            return None
        head = next((w for w in self.before if not self._wrong_namespace(w)), None)
        return self.standing(head) if head is not None else None

    def _wrong_namespace(self, workload: o.Workload) -> bool:
        try:
            namespace = self._snapshot.one_of(o.Namespace, workload.namespace)
        except Unknown:
            return _NAMESPACE in verdict_text(workload).lower()
        return namespace is not None and not selector_matches(
            self.queue.spec.namespace_selector, namespace.metadata.labels
        )

    @fact
    def in_motion(self) -> tuple[o.Workload, ...]:
        """Of those before it the ones that Kueue has yet to decide about, or for which it evicts: they come first.

        Parked ones, whose last verdict was that they do not fit and who still do not, are passed over, and so are their
        equals. Of the parked ones only the first few are computed again.
        """
        moving, parked = self._snapshot.once(("motion", self.queue.name), self._motion)
        found = [at for at in moving if at < self._place]
        found += [at for at in parked if at < self._place and self.verdict_of(self.line_up[at]) == "fits"]
        return tuple(self.line_up[at] for at in sorted(found))

    def _motion(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """By place in the line: those not decided about or evicted for, and the first few of the parked ones."""
        verdicts = [verdict_text(w) for w in self.line_up]
        shapes = {self._shape(w) for w, text in zip(self.line_up, verdicts, strict=True) if text}
        moving: list[int] = []
        parked: list[int] = []
        for at, (other, text) in enumerate(zip(self.line_up, verdicts, strict=True)):
            if not text:
                if not shapes or self._shape(other) not in shapes:
                    moving.append(at)
            elif (said := announced(other)) is not None and said.kind != "overlap":
                moving.append(at)
            elif len(parked) < SHOWN:
                parked.append(at)
        return tuple(moving), tuple(parked)

    def _shape(self, workload: o.Workload) -> bytes:
        return self._snapshot.once(("shape", workload.namespace, workload.name), lambda: shape(workload))

    @fact
    def failed_equal(self) -> o.Workload | None:
        """A Workload of this queue with the same shape and priority that Kueue looked at and found not to fit."""
        own = self._facts.identity.want()
        return next(
            (
                w
                for w in self.line_up
                if w is not own
                and (text := verdict_text(w))
                and announced(w) is None
                and WAITS_FOR_READY not in text.lower()
                and self._shape(w) == self._shape(own)
            ),
            None,
        )

    @fact
    def rival_heads(self) -> tuple[tuple[str, o.Workload], ...]:
        """The first waiting Workload that was read of each other ClusterQueue of the cohort, highest priority first."""
        own = self.queue.name
        queues = self.preemption.cohort_queues - {own}
        waiting_in = self._snapshot.once(("waiting by queue",), self._by_queue)
        heads: dict[str, o.Workload] = {}
        for (namespace, name), others in waiting_in.items() if queues else ():
            local = self._snapshot.look_of(o.LocalQueue, name, namespace)
            if local is None or local.spec.cluster_queue not in queues or local.spec.stop_policy in _STOPPED:
                continue
            queue = local.spec.cluster_queue
            for other in others:
                if other.spec.active is False or other.metadata.deletion_timestamp is not None:
                    continue
                if queue not in heads or _base_key(other) < _base_key(heads[queue]):
                    heads[queue] = other
        return tuple(sorted(heads.items(), key=lambda entry: _base_key(entry[1])))

    def share(self, queue: str) -> int | None:
        """The weighted share that Kueue writes for a ClusterQueue with fair sharing, None when it writes none."""
        found = self._snapshot.look_of(o.ClusterQueue, queue)
        value = found.status.fair_sharing.get("weightedShare") if found is not None else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    # --- blockAdmission ---

    @fact
    def blocking_not_ready(self) -> NotReady:
        """Workloads with quota whose pods are not ready, and what shows that Kueue holds everybody up for them."""
        own = self._facts.identity.want()
        blockers, said = self._snapshot.once(("not ready",), self._not_ready)
        first = own if any(w is own for w in said) else (said[0] if said else None)
        return NotReady(blockers, self._snapshot.covers("Workload"), first, self._blocks_by_configuration)

    def _not_ready(self) -> tuple[tuple[o.Workload, ...], tuple[o.Workload, ...]]:
        blockers: list[o.Workload] = []
        said: list[o.Workload] = []
        for w in self._snapshot.all_of(o.Workload, read="seen"):
            if reservation_stands(w):
                if not is_true(w.status.conditions, "PodsReady"):
                    blockers.append(w)
            elif WAITS_FOR_READY in verdict_text(w).lower():
                said.append(w)
        blockers.sort(
            key=lambda w: (
                not is_true(w.status.conditions, "Admitted"), ready_since(w) or self._facts.now, w.namespace, w.name
            )
        )  # fmt: skip
        said.sort(key=lambda w: (w.namespace, w.name))
        return tuple(blockers), tuple(said)

    @fact
    def held_for_others(self) -> bool:
        """Whether blockAdmission is what holds the asked Workload.

        Kueue's text about it says so; or it would fit, Kueue has said nothing about it, somebody's pods are not ready, and
        blockAdmission is seen to be on: in the configuration, in a text about another Workload, or, for the first of its
        queue, because for long nobody has got quota since. Raises Unknown when the arithmetic is not known.
        """
        own, known = self._facts.identity.want(), self.blocking_not_ready
        if known.said is own:
            return True
        if verdict_text(own) or self._facts.quota.verdict != "fits" or not known.blockers or known.configured is False:
            return False
        if known.said is not None or known.configured:
            return True
        if self.before or self.failed_equal is not None:
            return False  # then its silence has another reason
        oldest = min((at for w in known.blockers if (at := ready_since(w)) is not None), default=None)
        waited = self._facts.age(own.metadata.creation_timestamp) or 0
        stalled = self._facts.age(oldest) or 0
        last = self._facts.age(self.last_reservation)
        long = self._facts.thresholds.long
        return (
            known.full
            and min(waited, stalled) > long
            and (last is None or last >= min(waited, stalled))
            and any(condition(w.status.conditions, "PodsReady") is not None for w in known.blockers)
        )

    @fact
    def _blocks_by_configuration(self) -> bool | None:
        configuration = self._configuration
        if not isinstance(configuration, dict):
            return None
        wait = configuration.get("waitForPodsReady")
        if not isinstance(wait, dict):
            return False
        blocks = wait.get("blockAdmission")
        if isinstance(blocks, bool):
            return blocks
        # v1beta1 of the configuration blocks by default once waitForPodsReady is enabled, v1beta2 does not
        return str(configuration.get("apiVersion", "")).endswith("v1beta1") and wait.get("enable") is True

    @fact
    def last_reservation(self) -> datetime | None:
        """The newest moment at which any Workload that was read got its quota, None when none has."""
        return self._snapshot.once(("last reservation",), self._newest_reservation)

    def _newest_reservation(self) -> datetime | None:
        times = [
            found.last_transition_time
            for w in self._snapshot.all_of(o.Workload, read="seen")
            if (found := condition(w.status.conditions, "QuotaReserved")) is not None
            and found.status == "True"
            and found.last_transition_time is not None
        ]
        return max(times, default=None)

    # --- holders that run nothing ---

    @fact
    def stale_holders(self) -> tuple[Stale, ...]:
        """Of those who hold what is missing the ones that run nothing for long, or that belong to the asked job itself.

        The slice that the asked Workload replaces, and those that are being evicted for it, are none of them. Raises
        Unknown when none is found and what belongs to the asked job itself is not known.
        """
        own = self._facts.identity.want()
        replaced = own.metadata.annotations.get(REPLACEMENT_FOR, "")
        victims = {(v.workload.namespace, v.workload.name) for v in self.preemption.victims}
        found: dict[tuple[str, str], Stale] = {}
        missing: Unknown | None = None
        for holder in self._facts.quota.holders:
            key = (holder.namespace, holder.workload)
            workload = self._snapshot.look_of(o.Workload, holder.workload, holder.namespace)
            if workload is None or workload is own or key in victims or key in found:
                continue
            if holder.namespace == own.namespace and replaced in {workload.name, f"{own.namespace}/{workload.name}"}:
                continue
            try:
                stale = self._stale(workload, holder, own)
            except Unknown as unknown:
                missing = missing or unknown
                stale = self._idle(workload, holder)
            if stale is not None:
                found[key] = stale
        if missing is not None and not found:
            raise missing
        return tuple(found.values())

    def _stale(self, workload: o.Workload, holder: Holder, own: o.Workload) -> Stale | None:
        uid, kind = _owner_uid(own), job_of(own)[0]
        if uid and uid == _owner_uid(workload) and kind not in _MANY:
            return Stale(workload, holder, "own", "it is this job's own earlier Workload")
        if workload.namespace == own.namespace:
            owner = next((ref for ref in workload.metadata.owner_references if ref.controller), None)
            above = next((ref for ref in self._above if owner is not None and _same(ref, owner)), None)
            if above is not None:
                parent = named(above.kind, above.name, own.namespace)
                return Stale(
                    workload, holder, "parent", f"it belongs to its own parent, {quoted(above.kind, 60)} {parent}"
                )
        if (
            job_of(workload) == job_of(own)
            and workload.namespace == own.namespace
            and _owner_uid(workload) != _owner_uid(own)
        ):
            return Stale(workload, holder, "own", "it belongs to an earlier job of the same name, which is gone")
        return self._idle(workload, holder)

    @fact
    def _above(self) -> tuple[o.OwnerReference, ...]:
        """The owners above the job of the asked Workload, nearest first. Raises Unknown when the job itself was not read."""
        own = self._facts.identity.want()
        kind, name = job_of(own)
        if kind not in BY_NAME or kind == "Workload":
            return ()
        job = self._snapshot.find(kind, name, own.namespace)
        if job is None:
            return ()
        chain = (job, *self._facts.kin.owners(job))
        return tuple(ref for item in chain for ref in item.metadata.owner_references)

    def _idle(self, workload: o.Workload, holder: Holder) -> Stale | None:
        long, conditions = self._facts.thresholds.long, workload.status.conditions
        evicted = condition(conditions, "Evicted")
        if evicted is not None and evicted.status == "True":
            age = self._facts.age(evicted.last_transition_time)
            if age is None or age <= long:
                return None
            why = f"it was evicted ({quoted(evicted.reason, 60)}) {duration(age)} ago and never gave its quota back"
            return Stale(workload, holder, "evicted", why, self._nobody_runs(workload) is True)
        age = self._facts.age(holder.since)
        if age is None or age <= long or self._nobody_runs(workload) is not True:
            return None
        if JOB_UID_LABEL in workload.metadata.labels and not workload.metadata.owner_references:
            # its job was deleted and what belonged to it left alone
            why = "the job for which it was made is gone and no pod of it runs"
            return Stale(workload, holder, "ownerless", why, idle=True)
        kind, name = job_of(workload)
        try:
            job = self._snapshot.find(kind, name, workload.namespace) if kind in BY_NAME else None
        except Unknown:
            return None
        if (
            kind in BY_NAME
            and kind != "Workload"
            and (job is None or _owner_uid(workload) not in {"", job.metadata.uid})
        ):
            return Stale(workload, holder, "ownerless", f"its {kind} {name} is gone and no pod of it runs", idle=True)
        replicas = job.spec.get("replicas") if isinstance(job, o.Job) else None
        if replicas == 0:
            return Stale(workload, holder, "scaled-to-zero", f"its {kind} {name} is scaled to zero", idle=True)
        return None

    def _nobody_runs(self, workload: o.Workload) -> bool | None:
        """Whether no pod of a Workload is left; None when its pods were not read."""
        if not self._snapshot.covers("Pod", workload.namespace):
            return None
        return not pods_of(self._facts, workload)

    # --- how long ---

    @fact
    def release_window(self) -> ReleaseWindow | None:
        """By when enough is released, from the execution limits of those who hold what it needs. None without such limits.

        What is short for it alone gives `earliest`, together with what those before it want `latest`.
        """
        figure = self._tightest()
        if figure is None:
            return None
        ahead = sum(self._asks(other, figure.resource) for other in self.before)
        alone = max(0, figure.requested - figure.available.amount)
        ends: list[tuple[datetime, int, str]] = []
        for name in sorted(self.preemption.cohort_queues):
            for end, workload in self._snapshot.once(("ends in", name), lambda: self._ends_in(name)):  # noqa: B023 - at once
                size = held(workload).get((figure.flavor, figure.resource), 0)
                if size > 0:
                    who = named("Workload", workload.name, workload.namespace)
                    ends.append((max(end, self._facts.now), size, who))
        ends.sort()
        earliest = _reached(ends, alone) if alone else self._facts.now
        latest = _reached(ends, max(0, figure.requested + ahead - figure.available.amount))
        if earliest is None or (not alone and (latest is None or latest <= self._facts.now)):
            return None
        names = tuple(dict.fromkeys(name for end, _, name in ends if end <= (latest or earliest)))[:SHOWN]
        return ReleaseWindow(earliest, latest, figure.flavor, figure.resource, alone, names)

    def _ends_in(self, queue: str) -> list[tuple[datetime, o.Workload]]:
        ends = ((must_end(workload), workload) for workload in self._facts.trees.reserving(queue))
        return [(end, workload) for end, workload in ends if end is not None]

    def _tightest(self) -> Figure | None:
        """The figure that decides: the one that is short, else the one that leaves least beside the request."""
        short = self._facts.quota.shortfall_or_none
        if short is not None:
            return short.main if short.verdict == "wait" else None
        chosen = self._facts.quota.assignment_now
        if not chosen:
            return None
        keys = {(flavor, resource) for (_, resource), flavor in chosen.items()}
        figures = [
            figure
            for group in self._facts.quota.deciding.groups
            for flavor in group.flavors
            for figure in flavor.figures
            if (figure.flavor, figure.resource) in keys
        ]
        return min(
            figures,
            key=lambda f: (f.available.amount / max(f.requested, 1), f.flavor, f.resource),
            default=None,
        )

    def _asks(self, workload: o.Workload, resource: str) -> int:
        total = 0
        for requests in workload.status.resource_requests:
            try:
                total += amount(resource, requests.resources.get(resource, "0"))
            except ValueError:
                continue
        return total


def _same(one: o.OwnerReference, other: o.OwnerReference) -> bool:
    """Whether two references name the same owner: by UID where both have one."""
    return one.uid == other.uid if one.uid and other.uid else (one.kind, one.name) == (other.kind, other.name)


def _owner_uid(workload: o.Workload) -> str:
    owner = next((ref for ref in workload.metadata.owner_references if ref.controller), None)
    return owner.uid if owner is not None else ""


def _reached(ends: list[tuple[datetime, int, str]], wanted: int) -> datetime | None:
    """The moment by which the ends, in order, have released so much; None when they never do, or nothing is wanted."""
    freed = 0
    for end, size, _ in ends:
        freed += size
        if freed >= wanted:
            return end
    return None


def must_end(workload: o.Workload) -> datetime | None:
    """When Kueue will end a Workload at the latest: admission plus its maximum execution time, less what it used before."""
    admitted = condition(workload.status.conditions, "Admitted")
    limit = workload.spec.maximum_execution_time_seconds
    if limit is None or admitted is None or admitted.status != "True" or admitted.last_transition_time is None:
        return None
    used = (
        workload.status.accumulated_past_execution_time_seconds
        or workload.status.accumulated_past_exexcution_time_seconds
        or 0
    )
    return admitted.last_transition_time + timedelta(seconds=min(max(limit - used, 0), 10**9))


def ready_since(workload: o.Workload) -> datetime | None:
    """Since when a Workload's pods are not ready: PodsReady=False, else its admission or reservation."""
    for kind in ("PodsReady", "Admitted", "QuotaReserved"):
        found = condition(workload.status.conditions, kind)
        if found is not None and found.last_transition_time is not None:
            return found.last_transition_time
    return None


def _base_key(workload: o.Workload, *, by_creation: bool = False) -> tuple[Any, ...]:
    at = queued_at(workload, by_creation=by_creation)
    return (-priority_of(workload), at is None, at.timestamp() if at is not None else 0.0, workload.metadata.uid)


def _number(value: Any, default: float) -> float:  # noqa: ANN401 - a quantity as the API or a configuration has it
    try:
        return float(parse(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else default
    except ValueError:
        return default
