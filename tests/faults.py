"""What goes wrong between the bot and an API server, one read at a time, and what an answer may then still say.

`Fault`s are those of `bot.demo.apiserver`; the recorded server plays them itself, `tests/controlplane/faults.py` plays them
between the bot and a real server.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from bot.core import engine
from bot.core import kinds as known_kinds
from bot.core.diagnosis import Diagnosis
from bot.core.reference import JobRef
from bot.demo.apiserver import Fault, Request
from bot.kube.client import Client, Cluster, preload
from bot.kube.reader import Reader
from bot.render import card, terminal

DEADLINE = 1.5
"""Seconds for a question while something goes wrong."""
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


async def ask(client: Client, ref: JobRef, deadline: float = DEADLINE) -> tuple[Diagnosis, float]:
    """Ask with a discovery of its own; give the answer and the seconds that it took."""
    began = time.monotonic()
    answer = engine.diagnose(await Reader.of(client).read(ref, deadline), ref)
    return answer, time.monotonic() - began


def judge(sound: Diagnosis, answer: Diagnosis, seconds: float, read: str, kind: str) -> Outcome:
    """Compare an answer with the one that was given when nothing went wrong."""
    wrong: list[str] = []
    if kind not in PASSING and seconds > DEADLINE + 1:
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
    if not same and not answer.gaps:
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
        sound, _ = await ask(client, ref, 8.0)
        reads = sorted({request.path for request in server.log})
    todo = [(read, kind) for read in reads for kind in kinds if kind != "404" or is_list(read)]
    outcomes: list[Outcome] = []

    async def work() -> None:
        async with serve() as (server, cluster), Client(cluster, shared_seconds=0, timeout=DEADLINE) as client:
            await client.body("/version")
            while todo:
                read, kind = todo.pop()
                server.faults[:] = [replace(KINDS[kind], path=f"^{re.escape(read)}$")]
                client.timeout = limit = 8.0 if kind in PASSING else DEADLINE
                answer, seconds = await ask(client, ref, limit)
                outcomes.append(judge(sound, answer, seconds, read, kind))

    await asyncio.gather(*(work() for _ in range(together)))
    return outcomes
