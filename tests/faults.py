"""What goes wrong between the bot and an API server, one read at a time, and what an answer may then still say.

`Fault`s are those of `bot.demo.apiserver`; the recorded server plays them itself, `tests/controlplane/faults.py` plays them
between the bot and a real server.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from bot import digests
from bot.core import bundle, digest, engine, queue_view, transitions
from bot.core import kinds as known_kinds
from bot.core.diagnosis import Diagnosis
from bot.core.digest import Selection
from bot.core.digest_view import view
from bot.core.redaction import redact
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.demo.apiserver import Fault, Request
from bot.kube.client import Client, Cluster, preload
from bot.kube.doctor import Check, examine
from bot.kube.reader import Reader
from bot.render import card, terminal
from bot.render import digest as digest_text
from bot.render import queue as queue_text
from bot.service import Service, Site
from bot.survey import Surveyed, survey

T = TypeVar("T")

DEADLINE = 1.5
"""Seconds for a question while a server hangs."""
PATIENCE = 20.0
"""Seconds for every other question: what is refused is refused at once."""
LONGEST = 45.0
"""Whatever hangs, and however busy the machine is, an answer comes before that."""
KINDS: dict[str, Fault] = {
    "late": Fault("", delay=0.15),
    "hang": Fault("", hang=True),
    "reset": Fault("", reset=True),
    "reset once": Fault("", reset=True, times=1),
    "cut": Fault("", cut=True),
    "cut once": Fault("", cut=True, times=1),
    "403": Fault("", status=403),
    "404": Fault("", status=404),
    "409": Fault("", status=409),
    "410": Fault("", status=410),
    "429 for a moment": Fault("", status=429, retry_after=0, times=1),
    "429 for long": Fault("", status=429, retry_after=60),
    "500": Fault("", status=500),
    "503 once": Fault("", status=503, times=1),
    "503": Fault("", status=503),
}
PASSING = {"late", "reset once", "cut once", "429 for a moment", "503 once"}
"""What is over soon enough for the answer to be whole."""
SILENT = {"no-explanation-visible", "access-denied"}


class Server(Protocol):
    """A server that plays faults."""

    faults: list[Fault]
    log: list[Request]


@dataclass(frozen=True)
class Outcome:
    """How a question ended: the answer, how long it took in seconds, and what it should not have said."""

    read: str
    kind: str
    answer: Diagnosis
    seconds: float
    sound: str
    """The cause that is named when nothing goes wrong."""
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line for a failing test."""
        return f"{self.kind} at {self.read}: {'; '.join(self.wrong)} -- {self.answer.headline.sentence[:160]}"


def is_list(path: str) -> bool:
    """Say whether a path is that of a list: a 404 there says nothing about any object."""
    return path.rpartition("/")[2] in {kind.plural for kind in known_kinds.KINDS}


async def ask(client: Client, ref: JobRef, deadline: float = DEADLINE) -> tuple[Diagnosis, Snapshot, float]:
    """Ask with a discovery of its own; give the answer, what it stands on and the seconds that it took."""
    began = time.monotonic()
    snapshot = await Reader.of(client).read(ref, deadline)
    return engine.diagnose(snapshot, ref), snapshot, time.monotonic() - began


def _as_file(snapshot: Snapshot, ref: JobRef, answer: Diagnosis) -> list[str]:
    """What `whypending snapshot` would write must lead to the same answer, and be no surer of it."""
    again = engine.diagnose(bundle.load([("snapshot.yaml", redact(snapshot, ref))]), ref)
    if again.headline.rule != answer.headline.rule:
        return [f"the snapshot says {again.headline.rule}"]
    return ["the snapshot claims to be complete"] if again.complete and not answer.complete else []


def _as_watched(sound: tuple[Diagnosis, Snapshot], answer: Diagnosis, snapshot: Snapshot, ref: JobRef) -> list[str]:
    """A watch that looks while something goes wrong must tell nothing but maybe, later, another reason."""
    told, seen = transitions.observe(sound[1], ref, sound[0]), transitions.observe(snapshot, ref, answer)
    if told is None or seen is None:
        return []
    change = transitions.change_between(told, seen)
    # without the nodes nobody knows whether even an empty one would be too small: the same cause, in other words
    harmless = change is None or (change == "reason" and (not seen.complete or seen.rule == told.rule))
    return [] if harmless else [f"a watch would tell: {change}"]


def judge(sound: Diagnosis, answer: Diagnosis, seconds: float, read: str, kind: str) -> Outcome:
    """Compare an answer with the one that was given when nothing went wrong."""
    wrong: list[str] = []
    if seconds > LONGEST:
        wrong.append(f"took {seconds:.1f} s")
    if answer.faults:
        wrong.append(f"broke: {answer.faults[0]}")
    same = answer.headline.rule == sound.headline.rule
    if kind in PASSING and not same:
        wrong.append(f"{answer.headline.rule} although it passed")
    if not same and answer.complete and answer.headline.rule not in SILENT:
        wrong.append(f"claims to be complete with {answer.headline.rule}, {sound.headline.rule} is true")
    if not same and answer.headline.certainty == "certain" and answer.headline.rule not in _true(sound):
        wrong.append(f"certain of {answer.headline.rule}, {sound.headline.rule} is true")
    if not same and not answer.gaps and "not read" not in answer.headline.sentence:
        wrong.append("names nothing that is missing")
    for render in (card.root, card.card, card.text_only, terminal.render):
        text = str(render(answer))
        if "Traceback" in text or "internal error" in text:
            wrong.append("shows an internal error")
            break
    return Outcome(read, kind, answer, seconds, sound.headline.rule, tuple(wrong))


def _true(sound: Diagnosis) -> set[str]:
    """What may be the headline, because it is true beside it or says that nothing is known."""
    return {finding.rule for finding in (*sound.also, *sound.context)} | SILENT


async def at_every_read(
    serve: Callable[[], AbstractAsyncContextManager[tuple[Server, Cluster]]],
    ref: JobRef,
    kinds: Sequence[str] = tuple(KINDS),
    together: int = 8,
) -> list[Outcome]:
    """Let each kind of fault happen at each read that the question makes; `serve` starts a server and stops it.

    Several servers are used at the same time, each for one fault after the other.
    """
    preload()
    async with serve() as (server, cluster), Client(cluster, shared_seconds=0) as client:
        sound, whole, _ = await ask(client, ref, PATIENCE)
        reads = sorted({request.path for request in server.log})
    todo = [(read, kind) for read in reads for kind in kinds if kind != "404" or is_list(read)]
    outcomes: list[Outcome] = []

    async def work() -> None:
        async with serve() as (server, cluster), Client(cluster, shared_seconds=0, timeout=30) as client:
            await client.body("/version")  # the connection stands before anything is timed
            while todo:
                read, kind = todo.pop()
                server.faults[:] = [replace(KINDS[kind], path=f"^{re.escape(read)}$")]
                client.timeout = limit = DEADLINE if kind == "hang" else PATIENCE
                answer, snapshot, seconds = await ask(client, ref, limit)
                outcome = judge(sound, answer, seconds, read, kind)
                beside = [*_as_file(snapshot, ref, answer), *_as_watched((sound, whole), answer, snapshot, ref)]
                outcomes.append(replace(outcome, wrong=(*outcome.wrong, *beside)))

    await asyncio.gather(*(work() for _ in range(together)))
    return outcomes


# --- the other kinds of question ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question(Generic[T]):
    """A kind of question: how a cluster is asked, with seconds for a read, and what may not stand in a faulty answer."""

    ask: Callable[[Cluster, float], Awaitable[T]]
    wrong: Callable[[T, T, str], list[str]]
    """Gets the sound answer, the faulty one and the kind of fault."""


async def each_fault_at_each_read(
    serve: Callable[[], AbstractAsyncContextManager[tuple[Server, Cluster]]],
    question: Question[T],
    kinds: Sequence[str] = tuple(KINDS),
    together: int = 8,
) -> tuple[int, list[str]]:
    """Let each kind of fault happen at each read that a question makes; give how many were played and what was wrong."""
    preload()
    async with serve() as (server, cluster):
        sound = await question.ask(cluster, PATIENCE)
        reads = sorted({request.path for request in server.log})
    todo = [(read, kind) for read in reads for kind in kinds if kind != "404" or is_list(read)]
    played, wrong = len(todo), list[str]()

    async def work() -> None:
        async with serve() as (server, cluster):
            while todo:
                read, kind = todo.pop()
                server.faults[:] = [replace(KINDS[kind], path=f"^{re.escape(read)}$")]
                async with asyncio.timeout(2 * LONGEST):
                    answer = await question.ask(cluster, DEADLINE if kind == "hang" else PATIENCE)
                found = question.wrong(sound, answer, kind)
                wrong.extend(f"{kind} at {read}: {text}" for text in found)

    await asyncio.gather(*(work() for _ in range(together)))
    return played, wrong


async def _survey(cluster: Cluster, seconds: float) -> Surveyed:
    async with Service({"": Site(cluster)}, deadline=seconds, shared_seconds=0) as service:
        return await survey(service, Selection())


def _survey_wrong(sound: Surveyed, got: Surveyed, kind: str) -> list[str]:
    """What the digest and the view of each ClusterQueue say, and what a digest would tell as gone since the sound one."""
    was = {entry.key: entry.rule for entry in sound.report.entries}
    now = {entry.key: entry.rule for entry in got.report.entries}
    wrong = []
    shown = view(got.report, got.selection, got.snapshot, beside=got.beside)
    if kind in PASSING and (now != was or not got.report.complete):
        wrong.append(f"not whole although it passed: {got.report.missing}")
    if not was.keys() <= now.keys() and got.report.complete:
        wrong.append(f"{sorted(was.keys() - now.keys())} are missing, and it claims to be complete")
    surer = [
        e
        for e in got.report.entries
        if was.get(e.key) != e.rule and e.rule not in SILENT and e.rule != digest.NOT_LOOKED_AT
    ]
    wrong += [f"{e.key}: {e.rule}, {was.get(e.key)} is true" for e in surer if e.cause.complete and got.report.complete]
    gone = digest.compared(got.report, digest.kept(sound.report), datetime.now(UTC)).gone
    if gone:
        wrong.append(f"told as gone: {gone}")
    if got.report.missing and not digest_text.headline(shown).startswith("Incomplete"):
        wrong.append("the headline does not say that it is incomplete")
    if got.report.missing and digests.status(shown) != digests.INCOMPLETE:
        wrong.append("the exit status does not say that it is incomplete")
    for item in sound.snapshot.seen("ClusterQueue"):
        wrong += [f"queue {item.name}: {text}" for text in _queue_wrong(item.name, sound, got)]
    texts = (digest_text.text(shown, 100), digest_text.markdown(shown), digest_text.to_json(shown))
    if any("Traceback" in text or "internal error" in text for text in texts):
        wrong.append("shows an internal error")
    return wrong


def _queue_wrong(name: str, sound: Surveyed, got: Surveyed) -> list[str]:
    def look(found: Surveyed) -> tuple[queue_view.QueueReport, str]:
        chosen = queue_view.selection(name)
        report = digest.of_snapshot(found.snapshot, chosen)
        made = queue_view.of_queue(found.snapshot, name, replace(report, missing=found.report.missing))
        shown = view(made.report, chosen, found.snapshot, beside=found.beside)
        sees = {item.namespace: True for item in found.snapshot.seen("Workload")}
        return made, queue_text.text(made, shown, sees, 100)

    (was, _), (now, text) = look(sound), look(got)
    wrong = []
    if not now.exists and now.report.complete:
        wrong.append("is said not to exist")
    if now.active is not None and now.active != was.active:
        wrong.append(f"is said to be {now.state}")
    if now.waiting < was.waiting and now.report.complete:
        wrong.append(f"{now.waiting} wait instead of {was.waiting}, and it claims to be complete")
    figures = {(row.flavor, row.resource): row for row in was.rows}
    for row in now.rows:
        true = figures[row.flavor, row.resource]
        odd = [
            f for f in ("nominal", "used", "available", "capacity") if getattr(row, f) not in {None, getattr(true, f)}
        ]
        wrong += [
            f"{field} of {row.resource} is {getattr(row, field)} instead of {getattr(true, field)}" for field in odd
        ]
    if now.rows and {held.job for held in was.holders} - {held.job for held in now.holders} and not now.held_by_others:
        wrong.append("holders are missing, and nothing says so")
    if {c.do for c in now.changes} - {c.do for c in was.changes} and now.report.complete:
        wrong.append(f"other changes would help: {now.changes}")
    if not now.rows and name not in text.splitlines()[0]:
        wrong.append("nothing says that it was not read")
    if now.report.missing and not any(phrase in text for phrase in now.report.missing):
        wrong.append("nothing says what is missing")
    return wrong


SURVEY = Question(_survey, _survey_wrong)
"""`whypending digest`, and `whypending queue` of every ClusterQueue: they walk the same."""


async def _marks(cluster: Cluster, seconds: float) -> tuple[transitions.Mark, ...] | None:
    async with Service({"": Site(cluster)}, deadline=seconds, shared_seconds=0) as service:
        return await service.marks("", "team-a")


def _marks_wrong(
    sound: tuple[transitions.Mark, ...] | None, got: tuple[transitions.Mark, ...] | None, kind: str
) -> list[str]:
    """A round of the watches knows all Workloads of a namespace or nothing."""
    if kind in PASSING and got != sound:
        return ["nothing is known although it passed"]
    return [] if got in (None, sound) else [f"{len(got or ())} of {len(sound or ())} Workloads are known"]


MARKS = Question(_marks, _marks_wrong)
"""What the watches of a namespace ask before they look at a job in full."""


async def _doctor(cluster: Cluster, seconds: float) -> tuple[Check, ...]:
    async with Client(cluster, shared_seconds=0, timeout=seconds) as client:
        return tuple(await examine(Reader.of(client)))


def _doctor_wrong(sound: tuple[Check, ...], got: tuple[Check, ...], kind: str) -> list[str]:
    """What could not be examined is not said to work."""
    if kind in PASSING:
        return [
            f"{check} although it passed"
            for check in got
            if (check.name, check.ok) not in {(c.name, c.ok) for c in sound}
        ]
    fine = {check.sentence for check in sound if check.ok}
    fine |= {"The API server answers, but does not tell its version."} if kind == "403" else set()
    # where it cannot be told what is served, it asks about everything that could be
    others = [check.sentence for check in got if check.ok and check.sentence not in fine]
    wrong = [f"says {text!r}" for text in others if not re.fullmatch(r"All \d{3} permissions are granted\.", text)]
    if {check.sentence for check in got} >= {check.sentence for check in sound}:
        wrong.append("says that everything is as it was")
    return wrong


DOCTOR = Question(_doctor, _doctor_wrong)
"""`whypending doctor`."""
