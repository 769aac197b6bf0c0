"""Which changes of a watched job are told: pure, from what was told, what is seen and for how long.

A job swings between reasons and its figures move all the time; none of that is a transition. A new state is told once
it has held for `settle` seconds, and a state that the watch has just come from must hold twice as long for each swing.
Told at once, because it is over or somebody must act: finished, running, admitted anew, created anew, can never start.
Something else than what was told for five times as long is told even where it never comes to rest.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from bot.core import objects as o
from bot.core.diagnosis import Diagnosis
from bot.core.facts import Facts
from bot.core.marks import JOB_UID_LABEL
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot, Unknown
from bot.core.workloads import phase_of, since

Phase = Literal["waiting", "reserved", "admitted", "running", "finished", "gone"]
Change = Literal[
    "reason", "never", "reserved", "admitted", "running", "readmitted", "stalled", "evicted", "finished", "replaced", "gone",
    "standing",
]  # fmt: skip
"""What is told. "stalled": it ran and not all of it does any more; "replaced": another object has its name now;
"standing": how it is, where nobody knows any more what was told before."""

_PHASES: dict[str, Phase] = {phase: phase for phase in get_args(Phase)}
RANK: dict[Phase, int] = {"waiting": 0, "gone": 0, "reserved": 1, "admitted": 2, "running": 3, "finished": 4}
OVER: frozenset[Change] = frozenset({"finished", "gone"})
"""After these there is nothing left to be told."""

MOST_SWINGS = 5
PATIENCE = 5
"""Times what a state must hold: for so long nothing else but what was told may have been seen without a word."""

_LONGEST_RULE = 60


@dataclass(frozen=True, slots=True)
class State:
    """How a job stands, without anything that moves by itself. Times are Unix seconds, 0.0 where there is none.

    `rule` is the headline's slug; `never`: it cannot start as written; `complete`: everything that could have come first
    was read; `uid` the job's; `admitted` since when it is admitted, `queued` when Kueue first saw it; `workload` the start
    of its Workload's UID: a job that grows or shrinks is admitted with another Workload and was not evicted.
    """

    phase: Phase
    rule: str = ""
    never: bool = False
    complete: bool = True
    uid: str = ""
    admitted: float = 0.0
    queued: float = 0.0
    workload: str = ""

    @property
    def key(self) -> str:
        """What must differ for a change: of what runs, is over or is gone the reason is no matter."""
        if self.phase in {"running", "finished", "gone"}:
            return self.phase
        return f"{self.phase}/{self.rule[:_LONGEST_RULE]}{'!' if self.never else ''}"

    @property
    def started(self) -> bool:
        """Whether Kueue has admitted it."""
        return RANK[self.phase] >= RANK["admitted"]


@dataclass(frozen=True, slots=True)
class Told:
    """What a watch has told last, and how it came there: the key before, and how often it went back and forth."""

    state: State
    before: str = ""
    swings: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """Something newer that has not held long enough: since when it is so, and since when it is not what was told."""

    state: State
    since: float
    away: float


@dataclass(frozen=True, slots=True)
class Step:
    """What one look leads to: what is told now if anything, and what is remembered."""

    told: Told
    pending: Pending | None = None
    change: Change | None = None

    @property
    def over(self) -> bool:
        """Whether the watch ends with it."""
        return self.change in OVER


def step(told: Told, pending: Pending | None, seen: State | None, now: float, settle: float) -> Step:
    """Decide what is told.

    Args:
        told: what was told last.
        pending: what the step before remembered.
        seen: how the job stands; None when that could not be read, which changes nothing.
        now: in Unix seconds.
        settle: how many seconds a new state must hold.
    """
    if seen is None:
        return Step(told, pending)
    change = change_between(told.state, seen)
    if change is None:
        return Step(replace(told, state=_filled(told.state, seen)))
    going_on = pending is not None and pending.state.key == seen.key and pending.state.uid == seen.uid
    held_since = pending.since if pending is not None and going_on else now
    away = pending.away if pending is not None else now
    needed = _hold(told, seen, change, settle)
    if now - held_since < needed and now - away < PATIENCE * needed:
        return Step(told, Pending(seen, held_since, away))
    back = seen.key == told.before
    return Step(Told(seen, told.state.key, told.swings + 1 if back else 0), None, change)


def change_between(told: State, seen: State) -> Change | None:
    """Name the difference between two states; None when there is none that counts."""
    if seen.phase == "gone":
        return None if told.phase == "gone" else "gone"
    if told.uid and seen.uid and told.uid != seen.uid:
        return "replaced"
    if seen.phase == "finished":
        return None if told.phase == "finished" else "finished"
    again = told.workload == seen.workload and 0 < told.admitted != seen.admitted > 0
    if told.started and seen.started and again:
        return "readmitted"
    if told.key == seen.key:
        return None
    if seen.phase == "running":
        return "running"
    if told.phase == "running" and seen.phase == "admitted":
        return "stalled"
    if RANK[seen.phase] < RANK[told.phase]:
        return "evicted"
    if RANK[seen.phase] > RANK[told.phase]:
        return "admitted" if seen.phase == "admitted" else "reserved"
    return "never" if seen.never and not told.never else "reason"


def standing(state: State) -> Change:
    """Name a state as if nothing had been told of it."""
    if state.phase == "waiting":
        return "never" if state.never else "standing"
    return state.phase


def _hold(told: Told, seen: State, change: Change, settle: float) -> float:
    back = seen.key == told.before
    if change in {"finished", "replaced", "readmitted"} or (change in {"running", "never"} and not back):
        return 0.0
    patience = 2.0 ** min(told.swings, MOST_SWINGS) if back else 1.0
    if change == "reason" and told.state.complete and not seen.complete:
        patience *= 4  # it may be another reason only because something could not be read for a while
    return settle * patience


def _filled(told: State, seen: State) -> State:
    """Keep what was told with what is known by now."""
    return replace(
        told, uid=told.uid or seen.uid, admitted=seen.admitted or told.admitted, queued=told.queued or seen.queued,
        complete=told.complete or seen.complete, rule=seen.rule, workload=seen.workload or told.workload,
    )  # fmt: skip


# --- as text, for the store ---


def encode(state: State) -> str:
    """Write a state in one short line; no name of an object but the job's UID is in it."""
    flags = f"{'n' if state.never else ''}{'c' if state.complete else ''}" or "-"
    rule = state.rule[:_LONGEST_RULE] or "-"
    times = f"{state.admitted:.0f} {state.queued:.0f}"
    return f"{state.phase} {rule} {flags} {times} {state.uid[:40] or '-'} {state.workload[:8] or '-'}"


def decode(text: str) -> State | None:
    """Read a state; None for a text that is none, as another version may have written it."""
    parts = text.split(" ")
    if len(parts) != 7 or parts[0] not in _PHASES:
        return None
    phase, rule, flags, admitted, queued, uid, workload = parts
    try:
        return State(
            _PHASES[phase], _or_nothing(rule), "n" in flags, "c" in flags, _or_nothing(uid), float(admitted), float(queued),
            _or_nothing(workload),
        )  # fmt: skip
    except ValueError:
        return None


def encode_told(told: Told) -> str:
    """Write what was told in one line."""
    return f"{encode(told.state)} {told.swings} {told.before or '-'}"


def decode_told(text: str) -> Told | None:
    """Read what was told; None for a text that is none."""
    line, _, rest = text.rpartition(" ")
    line, _, swings = line.rpartition(" ")
    state = decode(line)
    return None if state is None or not swings.isdigit() else Told(state, _or_nothing(rest), int(swings))


def encode_pending(pending: Pending | None) -> str:
    """Write what is pending, without `since`, which has a column of its own; "" for nothing."""
    return "" if pending is None else f"{encode(pending.state)} {pending.away:.0f}"


def decode_pending(text: str, since: float) -> Pending | None:
    """Read what is pending; None for nothing."""
    line, _, away = text.rpartition(" ")
    state = decode(line)
    return None if state is None or not away.isdigit() else Pending(state, since, float(away))


def _or_nothing(text: str) -> str:
    return "" if text == "-" else text


# --- from a cluster ---


@dataclass(frozen=True, slots=True)
class Mark:
    """What a look at one Workload, without an answer, gives: whose it is, how far, and a text that changes with its state.

    The text leaves out messages and resource versions: they move while the state stays.
    """

    name: str
    owners: frozenset[str]
    phase: Phase
    admitted: float
    labelled: bool
    text: str


def mark(workload: o.Workload) -> Mark:
    """Give a Workload's mark."""
    conditions = sorted(
        (c.type, c.status, c.reason, _seconds(c.last_transition_time)) for c in workload.status.conditions
    )
    checks = sorted((check.name, check.state) for check in workload.status.admission_checks)
    owners = {ref.uid for ref in workload.metadata.owner_references if ref.uid}
    label = workload.metadata.labels.get(JOB_UID_LABEL)
    spec = workload.spec
    text = repr((workload.metadata.uid, spec.active, spec.queue_name, spec.priority, conditions, checks))
    found = phase_of(workload)
    phase = _PHASES.get(found, "waiting")
    return Mark(
        workload.name, frozenset(owners | ({label} if label else set()) | {workload.metadata.uid}) - {""}, phase,
        _admitted(workload), bool(label), text,
    )  # fmt: skip


def marks_of(marks: Iterable[Mark], uid: str, names: frozenset[str]) -> tuple[Mark, ...]:
    """Give the marks of a job's Workloads: by the job's UID, or by the names that the last answer knew."""
    return tuple(sorted((m for m in marks if (uid and uid in m.owners) or m.name in names), key=lambda m: m.name))


def agrees(told: State, marks: tuple[Mark, ...]) -> bool:
    """Say whether a job's Workloads still are what was told, as far as they alone tell."""
    if not marks:
        return False
    phases = {mark.phase for mark in marks}
    if told.phase in {"running", "admitted"}:
        return "admitted" in phases and (not told.admitted or told.admitted in {mark.admitted for mark in marks})
    return told.phase in phases


def observe(snapshot: Snapshot, ref: JobRef, answer: Diagnosis) -> State | None:
    """Reduce an answer to its state; None when it does not tell how far the job is."""
    headline = answer.headline
    try:
        with Facts(snapshot, ref) as facts:
            phase = facts.progress.phase
            target, root, workload = facts.identity.target, facts.identity.root, facts.identity.workload
    except Unknown:
        return None
    if phase == "unresolved":
        return State("gone", headline.rule) if headline.rule in {"job-not-found", "namespace-not-found"} else None
    if answer.outlook == "unknown" and not answer.complete:
        return None
    item = target or root
    born = workload or item
    known = State(
        "waiting", headline.rule, answer.outlook == "never-as-written", answer.complete,
        item.metadata.uid if item is not None else "",
        _admitted(workload) if workload is not None else 0.0,
        _seconds(born.metadata.creation_timestamp) if born is not None else 0.0,
        workload.metadata.uid[:8] if workload is not None else "",
    )  # fmt: skip
    if phase == "finished" or answer.outlook == "finished":
        return replace(known, phase="finished")
    if answer.outlook == "running":
        return replace(known, phase="running")
    if phase in {"reserved", "admitted"}:
        return replace(known, phase=phase)
    return known


def workload_names(snapshot: Snapshot, ref: JobRef) -> frozenset[str]:
    """Give the names of the job's Workloads, as far as they were read."""
    with Facts(snapshot, ref) as facts, contextlib.suppress(Unknown):
        return frozenset(workload.name for workload in facts.identity.workloads)
    return frozenset()


def _admitted(workload: o.Workload) -> float:
    return _seconds(since(workload, "Admitted")) if phase_of(workload) in {"admitted", "finished"} else 0.0


def _seconds(moment: object) -> float:
    stamp = getattr(moment, "timestamp", None)
    return float(int(stamp())) if stamp is not None else 0.0
