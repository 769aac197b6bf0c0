"""Everything that waits in a cluster, and why: one diagnosis for all Workloads that must get the same, grouped by cause.

The rules are those of `engine`; nothing here decides why something waits. Workloads are put into classes whose members
every rule answers alike (`compact.likeness`, the queue, what their namespace means to it). Only rules that look at the
place in the line can tell members apart: what they ask of it turns from false to true at most once along the line, so
that members between two with the same answer have it as well.
"""

import contextlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Literal

from bot.core import engine, kinds
from bot.core import objects as o
from bot.core.compact import likeness, shrunk
from bot.core.diagnosis import Finding
from bot.core.facts import Facts, Thresholds
from bot.core.facts.order import job_of
from bot.core.facts.requests import PODS, amounts, held
from bot.core.marks import WORKLOAD
from bot.core.objects import condition
from bot.core.reference import JobRef
from bot.core.scheduling import pod_requests, selector_matches
from bot.core.snapshot import Scope, Snapshot, Unknown
from bot.core.workloads import phase_of

Category = Literal["never", "misconfigured", "stuck", "unknown", "waiting"]
CATEGORIES: tuple[Category, ...] = ("never", "misconfigured", "stuck", "unknown", "waiting")
"""In the order in which they are told; all but the last want somebody to act."""

Change = Literal["", "new", "still", "changed"]

CHECK_SECONDS = 3600.0
"""After how long an admission check that has not answered counts as stuck."""
NOT_LOOKED_AT = "pods-not-looked-at"
"""Stands for a rule where an admitted Workload's pods are not ready and nobody looked why."""

_IN_LINE = frozenset(
    {
        "waiting-for-pods-ready", "behind-in-strict-queue", "fair-share-behind", "behind-equivalent", "behind-in-queue",
        "not-evaluated-yet", "fits-but-not-admitted", "no-explanation-visible",
    }
)  # fmt: skip
"""Rules that look at the place in the line, and what is left when none of them fires."""

_NEEDS_A_PUSH = frozenset(
    {
        "deactivated", "deactivated-requeue-limit", "deactivated-max-execution-time", "admission-check-rejected",
        "reactivation-ignored", "replacement-pods-needed", "workload-terminating", "requeue-backoff",
    }
)  # fmt: skip
"""Rules of the queue stage that are no misconfiguration: what was tried has failed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a digest is about: namespaces and ClusterQueues by pattern, and how old something must be, in seconds."""

    namespaces: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    minimum_age: float = 0.0
    named: tuple[str, ...] = ()
    """Further namespaces whose names its readers may see."""

    def takes(self, namespace: str, queue: str) -> bool:
        """Say whether a Workload belongs to it; without any pattern, everything does."""
        return (not self.namespaces or _any(self.namespaces, namespace)) and (
            not self.queues or _any(self.queues, queue)
        )


def _any(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Cause:
    """What was found for a class of Workloads, from one of them: `of` names it as (namespace, Workload)."""

    finding: Finding
    complete: bool
    of: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One Workload that is pending or stuck. `amounts` are what it asks for, in Kueue's unit, by resource."""

    key: str
    namespace: str
    kind: str
    job: str
    workload: str
    queue: str
    category: Category
    cause: Cause
    since: datetime | None
    amounts: Mapping[str, int] = field(default_factory=dict)
    change: Change = ""
    was: str = ""
    """The rule at the last digest, where it changed."""

    @property
    def rule(self) -> str:
        """The slug of its cause."""
        return self.cause.finding.rule


@dataclass(frozen=True, slots=True)
class Gone:
    """One that was told of last time and is pending no more."""

    key: str
    rule: str
    category: Category

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.key.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of one category, cause and queue, oldest first."""

    category: Category
    rule: str
    queue: str
    entries: tuple[Entry, ...]

    @property
    def cause(self) -> Cause:
        """The finding about the oldest."""
        return self.entries[0].cause

    @property
    def count(self) -> int:
        """How many Workloads."""
        return len(self.entries)

    @property
    def oldest(self) -> datetime | None:
        """Since when the oldest waits."""
        return self.entries[0].since


@dataclass(frozen=True, slots=True)
class Report:
    """A whole digest before it is rendered."""

    observed_at: datetime
    entries: tuple[Entry, ...] = ()
    cluster: str = ""
    name: str = ""
    seen: int = 0
    """How many Workloads were looked at, the admitted ones included."""
    young: int = 0
    """How many were left out because they are younger than the digest's minimum age."""
    missing: tuple[str, ...] = ()
    """What could not be read, one short phrase each; empty when the digest is complete."""
    unseen: frozenset[str] | None = frozenset()
    """Namespaces whose Workloads were not all read; None: nobody knows which."""
    last: datetime | None = None
    """When the digest of this name was made before; None: this is the first."""
    gone: tuple[Gone, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything was read that it is about."""
        return not self.missing

    @property
    def stuck(self) -> tuple[Entry, ...]:
        """Those that want somebody to act."""
        return tuple(entry for entry in self.entries if entry.category != "waiting")

    @property
    def changed(self) -> bool:
        """Whether anything is new, gone or of another cause among those that want somebody to act."""
        return (
            self.last is None
            or any(entry.change in {"new", "changed"} for entry in self.stuck)
            or any(gone.category != "waiting" for gone in self.gone)
            or any(e.change == "changed" and _category_of(e.was) != "waiting" for e in self.entries)
        )


def _category_of(rule: str) -> Category:
    """Give the usual category of a rule, for one that is known by its slug alone."""
    return "waiting" if rule in _IN_LINE - {"no-explanation-visible"} or rule in _WAITS else "stuck"


_WAITS = frozenset(
    {
        "quota-in-use", "quota-lent-out", "cohort-exhausted", "borrowing-limit-reached", "preemption-pending",
        "topology-does-not-fit",
    }
)  # fmt: skip


def category(finding: Finding, seconds: float | None) -> Category:
    """Tell in which group a finding belongs; `seconds`: how long it has been so."""
    if finding.outlook == "never-as-written":
        return "never"
    if finding.outlook == "unknown":
        return "unknown"
    if finding.rule in _NEEDS_A_PUSH or finding.stage in {"pods", "start"}:
        return "waiting" if finding.outlook == "in-progress" and finding.stage == "start" else "stuck"
    if finding.stage == "checks":
        long = seconds is not None and seconds > CHECK_SECONDS
        return "stuck" if finding.outlook == "fix" or long else "waiting"
    if finding.outlook == "fix":
        return "stuck" if finding.stage == "quota" else "misconfigured"
    return "waiting"


# --- looking at all of them ---


@dataclass(slots=True)
class _Member:
    workload: o.Workload
    queue: str
    place: int = 0


class Survey:
    """Diagnoses everything in a snapshot that is pending. `run` yields after each piece of work; `entries` fills.

    The Workloads should have been made small by one `compact.Pool`; others count as unlike each other more often.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        selection: Selection | None = None,
        thresholds: Thresholds | None = None,
        pods: Iterable[o.Pod] | None = None,
    ) -> None:
        """Take what was read and what is asked; `pods` that wait for a node, by default those of the snapshot."""
        self.snapshot = snapshot
        self.selection = selection or Selection()
        self.thresholds = thresholds or Thresholds()
        self.entries: list[Entry] = []
        self.suspects: list[tuple[o.Workload, str]] = []
        """Admitted Workloads whose pods are not ready for long, each with its ClusterQueue: their pods are to be looked at."""
        self.faults: list[str] = []
        self.seen = 0
        self.young = 0
        self.diagnoses = 0
        self._queues = {(local.namespace, local.name): local for local in snapshot.all_of(o.LocalQueue, read="seen")}
        self._marks: dict[tuple[str, str, str], Hashable] = {}
        self._amounts: dict[int, Mapping[str, int]] = {}
        self._waiting_pods: set[str] | None = None
        self._pods = tuple(pods) if pods is not None else snapshot.all_of(o.Pod, read="seen")

    def run(self) -> Iterator[int]:
        """Work through it. Yields, after each piece of work, how many Workloads have been dealt with so far."""
        classes: dict[Hashable, list[_Member]] = {}
        for number, workload in enumerate(self.snapshot.all_of(o.Workload, read="seen"), 1):
            self._sort_in(workload, classes)
            if number % 500 == 0:
                yield 0
        done = 0
        for members in classes.values():
            for step in self._diagnose(members):
                done += step
                yield done

    def _sort_in(self, workload: o.Workload, classes: dict[Hashable, list[_Member]]) -> None:
        phase = phase_of(workload)
        if phase == "finished":
            return
        local = self._queues.get((workload.namespace, workload.spec.queue_name))
        admission = workload.status.admission
        queue = admission.cluster_queue if admission is not None else local.spec.cluster_queue if local else ""
        if not self.selection.takes(workload.namespace, queue):
            return
        self.seen += 1
        age = self._age(since(workload))
        if phase == "admitted":
            if (
                age is not None
                and age > max(self.thresholds.long, self.selection.minimum_age)
                and self._unready(workload)
            ):
                self.suspects.append((workload, queue))
            return
        if age is not None and age < self.selection.minimum_age:
            self.young += 1
            return
        key = (
            queue, phase, self._surroundings(workload, local, queue),
            likeness(workload, self.snapshot.observed_at, self.thresholds),
        )  # fmt: skip
        classes.setdefault(key, []).append(_Member(workload, queue))

    def _age(self, moment: datetime | None) -> float | None:
        return None if moment is None else (self.snapshot.observed_at - moment).total_seconds()

    def _unready(self, workload: o.Workload) -> bool:
        """Whether its own condition says so, or a pod of it has waited long for a node."""
        ready = condition(workload.status.conditions, "PodsReady")
        if ready is not None:
            changed = self._age(ready.last_transition_time)
            return ready.status == "False" and (changed is None or changed > self.thresholds.long)
        if self._waiting_pods is None:
            self._waiting_pods = set(self._pods_without_node())
        owners = {ref.uid for ref in workload.metadata.owner_references}
        return bool(owners & self._waiting_pods) or f"{workload.namespace}/{workload.name}" in self._waiting_pods

    def _pods_without_node(self) -> Iterator[str]:
        """Give the owners' UIDs, and the Workloads named by, pods that have waited long for a node."""
        for pod in self._pods:
            age = self._age(pod.metadata.creation_timestamp)
            if pod.spec.node_name or pod.status.phase != "Pending" or (age or 0) <= self.thresholds.long:
                continue
            yield from (ref.uid for ref in pod.metadata.owner_references)
            yield pod.metadata.uid
            name = pod.metadata.annotations.get(WORKLOAD)
            if name:
                yield f"{pod.namespace}/{name}"

    def _surroundings(self, workload: o.Workload, local: o.LocalQueue | None, queue: str) -> Hashable:
        """Give what the namespace and the LocalQueue mean for a Workload, apart from their names."""
        name = (workload.namespace, workload.spec.queue_name, queue)
        if name not in self._marks:
            self._marks[name] = self._surroundings_of(workload.namespace, workload.spec.queue_name, local, queue)
        return self._marks[name]

    def _surroundings_of(self, namespace: str, queue_name: str, local: o.LocalQueue | None, queue: str) -> Hashable:
        snapshot = self.snapshot
        cluster_queue = snapshot.look_of(o.ClusterQueue, queue)
        if local is None or cluster_queue is None or cluster_queue.spec.admission_scope is not None:
            return (namespace, queue_name)
        place = snapshot.look_of(o.Namespace, namespace)
        selected = place and selector_matches(cluster_queue.spec.namespace_selector, place.metadata.labels)
        ranges = tuple(
            sorted(str(item.spec) for item in snapshot.all_of(o.LimitRange, read="seen", namespace=namespace))
        )
        return (
            place is None or place.status.phase, selected, ranges, snapshot.covers("LimitRange", namespace),
            snapshot.covers("Pod", namespace),
            snapshot.covers("Workload", namespace), local.spec.stop_policy, local.metadata.deletion_timestamp is not None,
            tuple((c.type, c.status, c.reason, c.message) for c in local.status.conditions),
        )  # fmt: skip

    # --- classes ---

    def _diagnose(self, members: list[_Member]) -> Iterator[int]:
        members.sort(key=lambda member: (since(member.workload) or self.snapshot.observed_at, member.workload.name))
        first = self._ask(members[0].workload)
        if first.finding.rule not in _IN_LINE or len(members) == 1:
            self._add(members, first)
            yield len(members)
            return
        places = self._places(members[0].workload)
        for member in members:
            member.place = places.get((member.workload.namespace, member.workload.name), len(places))
        members.sort(key=lambda member: (member.place, member.workload.namespace, member.workload.name))
        yield 0
        answers = {0: self._ask(members[0].workload)}
        yield 0
        yield from self._between(members, answers, 0, len(members) - 1)
        for (start, cause), end in zip(sorted(answers.items()), [*sorted(answers)[1:], len(members)], strict=True):
            self._add(members[start:end], cause)
            yield end - start

    def _between(self, members: list[_Member], answers: dict[int, Cause], low: int, high: int) -> Iterator[int]:
        """Find where in the line the answer changes: those between two equal ones are equal."""
        if high == low:
            return
        if high not in answers:
            answers[high] = self._ask(members[high].workload)
            yield 0
        if answers[low].finding.rule == answers[high].finding.rule or high - low == 1:
            return
        middle = (low + high) // 2
        answers[middle] = self._ask(members[middle].workload)
        yield 0
        yield from self._between(members, answers, low, middle)
        yield from self._between(members, answers, middle, high)

    def _places(self, workload: o.Workload) -> Mapping[tuple[str, str], int]:
        ref = JobRef(workload.namespace, workload.name, "Workload")
        with Facts(self.snapshot, ref, self.thresholds) as facts, contextlib.suppress(Unknown):
            return {(w.namespace, w.name): at for at, w in enumerate(facts.order.line_up)}
        return {}

    def _ask(self, workload: o.Workload, snapshot: Snapshot | None = None) -> Cause:
        self.diagnoses += 1
        ref = JobRef(workload.namespace, workload.name, "Workload")
        found = engine.headline(snapshot or self.snapshot, ref, self.thresholds)
        self.faults += found.faults
        return Cause(found.headline, found.complete, (workload.namespace, workload.name))

    def _add(self, members: Sequence[_Member], cause: Cause) -> None:
        for member in members:
            self.add(member.workload, member.queue, cause)

    def add(self, workload: o.Workload, queue: str, cause: Cause) -> None:
        """Note one Workload with its cause."""
        kind, job = job_of(workload)
        moment = since(workload)
        self.entries.append(
            Entry(
                f"{workload.namespace}/{kind}/{job}", workload.namespace, kind, job, workload.name, queue,
                category(cause.finding, self._age(moment)), cause, moment, self._asks(workload),
            )
        )  # fmt: skip

    def suspicious(self) -> list[list[tuple[o.Workload, str]]]:
        """Give the suspects in classes of equal ones, each with its ClusterQueue; those that wait longest first."""
        classes: dict[Hashable, list[tuple[o.Workload, str]]] = {}
        for workload, queue in sorted(
            self.suspects, key=lambda s: (since(s[0]) or self.snapshot.observed_at, s[0].name)
        ):
            alike = likeness(workload, self.snapshot.observed_at, self.thresholds)
            classes.setdefault((workload.namespace, queue, alike), []).append((workload, queue))
        return list(classes.values())

    def note(self, members: Iterable[tuple[o.Workload, str]], cause: Cause) -> None:
        """Note suspects with what was found; what runs after all is left out."""
        if cause.finding.outlook in {"running", "finished"}:
            return
        for workload, queue in members:
            self.add(workload, queue, cause)

    def look(self, workload: o.Workload, snapshot: Snapshot) -> Cause:
        """Look at the pods of an admitted Workload in a snapshot; say so where they were not read."""
        cause = self._ask(workload, snapshot)
        return cause if cause.finding.rule != "no-explanation-visible" else self.not_looked_at(workload)

    def not_looked_at(self, workload: o.Workload) -> Cause:
        """Give what is known of an admitted Workload at whose pods nobody looked."""
        cause = self._ask(workload)
        sentence = "Admitted, and its pods are not ready; why was not looked at."
        found = replace(
            cause.finding, rule=NOT_LOOKED_AT, stage="pods", outlook="fix", move="platform", sentence=sentence
        )
        return Cause(found, complete=False, of=cause.of)

    def _asks(self, workload: o.Workload) -> Mapping[str, int]:
        counted = workload.status.resource_requests
        of = id(counted) if counted else id(workload.status.admission or workload.spec.pod_sets)
        if of not in self._amounts:
            self._amounts[of] = _asked(workload)
        return self._amounts[of]

    def report(
        self, *, name: str = "", missing: Iterable[str] = (), unseen: frozenset[str] | None = frozenset()
    ) -> Report:
        """Give the report over what was found so far."""
        entries = _told_apart(self.entries)
        return Report(
            self.snapshot.observed_at, entries, self.snapshot.cluster, name, self.seen, self.young,
            tuple(dict.fromkeys(missing)), unseen,
        )  # fmt: skip


def since(workload: o.Workload) -> datetime | None:
    """Since when it is as it is: the last loss or gain of quota, the pods' unreadiness, else its creation."""
    latest, admitted = workload.metadata.creation_timestamp, False
    unready: datetime | None = None
    for found in workload.status.conditions:
        at = found.last_transition_time
        if at is None:
            continue
        if found.type == "PodsReady":
            unready = at if found.status == "False" else None
        elif found.status == "True" and found.type in {"Evicted", "QuotaReserved", "Admitted"}:
            admitted = admitted or found.type == "Admitted"
            if found.type != "Admitted" and (latest is None or at > latest):
                latest = at
    return max(unready, latest or unready) if admitted and unready is not None else latest


def _asked(workload: o.Workload) -> Mapping[str, int]:
    total: dict[str, int] = {}
    try:
        if workload.status.resource_requests:
            for entry in workload.status.resource_requests:
                for resource, value in amounts(entry.resources, entry.name).items():
                    total[resource] = total.get(resource, 0) + value
        elif workload.status.admission is not None:
            for (_, resource), value in held(workload).items():
                total[resource] = total.get(resource, 0) + value
        else:
            for pod_set in workload.spec.pod_sets:
                for resource, value in pod_requests(pod_set.template.spec).items():
                    total[resource] = total.get(resource, 0) + value * pod_set.count
    except (Unknown, ValueError):
        return {}
    total.pop(PODS, None)
    return total


def _told_apart(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Where one job has several Workloads, each goes by its Workload's name."""
    ordered = sorted(entries, key=lambda entry: (entry.namespace, entry.workload))
    times: dict[str, int] = {}
    for entry in ordered:
        times[entry.key] = times.get(entry.key, 0) + 1
    return tuple(
        entry if times[entry.key] == 1 else replace(entry, key=f"{entry.namespace}/Workload/{entry.workload}")
        for entry in ordered
    )


def grouped(entries: Iterable[Entry]) -> tuple[Group, ...]:
    """Group entries by category, cause and queue, each oldest first."""
    found: dict[tuple[Category, str, str], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry.category, entry.rule, entry.queue), []).append(entry)
    groups = [
        Group(kind, rule, queue, tuple(sorted(members, key=_by_age))) for (kind, rule, queue), members in found.items()
    ]
    oldest: dict[tuple[Category, str], tuple[bool, float]] = {}
    for group in groups:
        of = (group.category, group.rule)
        oldest[of] = min(oldest.get(of, (True, 0.0)), _by_age(group.entries[0])[:2])
    return tuple(
        sorted(
            groups,
            key=lambda g: (CATEGORIES.index(g.category), oldest[g.category, g.rule], g.rule, _by_age(g.entries[0])),
        )
    )


def _by_age(entry: Entry) -> tuple[bool, float, str]:
    return entry.since is None, entry.since.timestamp() if entry.since is not None else 0.0, entry.key


# --- since the last one ---

Kept = Mapping[str, Sequence[object]]
"""What is kept of a digest: by an entry's key its rule, since when as Unix seconds or None, and its category."""


def kept(report: Report, before: Kept | None = None) -> dict[str, list[object]]:
    """Give what has to be kept of a report to compare the next one with it.

    What an earlier one kept of places that were not read this time is kept on: it is not gone, and will not be new.
    """
    found: dict[str, list[object]] = {
        key: list(old) for key, old in (before or {}).items() if _was_unseen(report, key.partition("/")[0])
    }
    for entry in report.entries:
        since_ = entry.since.timestamp() if entry.since is not None else None
        found[entry.key] = [entry.rule, since_, entry.category]
    return found


def _was_unseen(report: Report, namespace: str) -> bool:
    return report.unseen is None or namespace in report.unseen


def counts(report: Report) -> dict[str, dict[str, int]]:
    """Give how many are pending by rule and queue."""
    found: dict[str, dict[str, int]] = {}
    for entry in report.entries:
        of = found.setdefault(entry.rule, {})
        of[entry.queue] = of.get(entry.queue, 0) + 1
    return found


def compared(report: Report, before: Kept, at: datetime) -> Report:
    """Give the report with what is new, still there, of another cause and gone since an earlier one.

    What was not read this time is not said to be gone.
    """
    entries = tuple(_compared(entry, before.get(entry.key)) for entry in report.entries)
    here = {entry.key for entry in entries}
    gone = tuple(
        Gone(key, str(old[0]) if old else "", _category(old))
        for key, old in sorted(before.items())
        if key not in here and not _was_unseen(report, key.partition("/")[0])
    )
    return replace(report, entries=entries, gone=gone, last=at)


def _category(old: Sequence[object]) -> Category:
    said = old[2] if len(old) > 2 else ""
    return next((known for known in CATEGORIES if known == said), _category_of(str(old[0]) if old else ""))


def _compared(entry: Entry, old: Sequence[object] | None) -> Entry:
    if not old:
        return replace(entry, change="new")
    return replace(entry, change="still") if old[0] == entry.rule else replace(entry, change="changed", was=str(old[0]))


def unseen(snapshot: Snapshot, namespaces: Iterable[str] | None) -> frozenset[str] | None:
    """Give the namespaces whose Workloads were to be read and were not, of those that were to be; None: nobody knows which.

    `namespaces` None: all of the cluster's.
    """
    if Scope("Workload") in snapshot.covered:
        return frozenset()
    known = {scope.namespace for scope in snapshot.covered if scope.kind == "Workload" and not scope.name}
    return None if namespaces is None else frozenset(namespaces) - known


def of_snapshot(
    snapshot: Snapshot, selection: Selection | None = None, thresholds: Thresholds | None = None, *, name: str = ""
) -> Report:
    """Give the digest of a snapshot alone, at once: for files, and for the rules' own tests."""
    survey = Survey(shrunk(snapshot), selection, thresholds)
    for _ in survey.run():
        pass
    for members in survey.suspicious():
        survey.note(members, survey.look(members[0][0], snapshot))
    exact = survey.selection.namespaces
    wanted = None if not exact or any(set(name) & set("*?[") for name in exact) else exact
    missing = [gap.text for gap in snapshot.gaps if gap.kind in ESSENTIAL]
    missing += [
        f"{kinds.BY_NAME[kind].plural}: not read" for kind in sorted(ESSENTIAL)
        if not snapshot.covers(kind) and not any(gap.kind == kind for gap in snapshot.gaps)
    ]  # fmt: skip
    return survey.report(name=name, missing=missing, unseen=unseen(snapshot, wanted))


ESSENTIAL = frozenset({"Namespace", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Workload"})
"""Without one of these a digest is not complete; without another kind some causes are not told apart, and it says so."""
