"""What the bot remembers beyond its process: the store, behind a door that never fails.

A store that does not answer costs memory, not answers: every method then gives what an empty store would, the log says
so, and `problem` holds a sentence for /readyz. It is tried again every few seconds; meanwhile nobody waits for it.
"""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bot import telemetry
from bot.core.diagnosis import Diagnosis
from bot.core.reference import JobRef
from bot.slack.persons import Asker
from bot.store import Answer, Store, StoreError, Watch, new_id

T = TypeVar("T")

PATIENCE_SECONDS = 3.0
"""How long anybody waits for the store."""
LAST_SECONDS = 11.0
"""How long what was asked of the store may still take at the end: a little longer than a locked SQLite file's limit."""
RETRY_SECONDS = 5.0
PRUNE_SECONDS = 900.0
TOGETHER = 200
"""Deliveries that are written down in one transaction."""

_log = telemetry.log("memory")


@dataclass(frozen=True, slots=True)
class _Arrived:
    """A delivery that is to be written down, with the answer that it asks for, and who waits for it."""

    keys: tuple[str, ...]
    answer: Answer | None
    first: asyncio.Future[bool]


class Memory:
    """The store as the rest of the bot sees it.

    Args:
        url: the store's URL; "" for none.
        lease: seconds without a sign of life after which another process takes over.
        clock: the present moment in Unix seconds.
    """

    def __init__(self, url: str = "", *, lease: float = 20.0, clock: Callable[[], float] = time.time) -> None:
        """Remember nothing yet; see `kept`."""
        self._url, self.lease, self.clock = url, lease, clock
        self.owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.problem = "it is not open yet" if url else "there is none"
        self._lost = False
        self._store: Store | None = None
        self._rest_until = 0.0
        self._pruned = float("-inf")
        self._rooted: set[str] = set()
        self._open: dict[str, Answer] = {}
        self._arrived: list[_Arrived] = []
        self._asked: set[asyncio.Future[Any]] = set()
        self._writer: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def kept(self) -> AsyncIterator["Memory"]:
        """Keep the store open for as long as the context lasts; it is opened again whenever it was lost."""
        if not self._url:
            yield self
            return
        tried = asyncio.Event()
        keeping = asyncio.create_task(self._keep(tried), name="store")
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await tried.wait()
            yield self
        finally:
            if self._asked:
                await asyncio.wait(self._asked, timeout=LAST_SECONDS)
            left = {keeping, *self._asked}
            while left:  # a driver may swallow a cancellation
                for task in left:
                    task.cancel()
                _, left = await asyncio.wait(left, timeout=1)

    async def _keep(self, tried: asyncio.Event) -> None:
        while True:
            try:
                async with Store.open(self._url) as store:
                    self._store = store
                    self._well()
                    tried.set()
                    await self._upkeep(store)
            except StoreError as error:
                self._ill("open", error)
            finally:
                self._store = None
            tried.set()
            await asyncio.sleep(RETRY_SECONDS)

    async def _upkeep(self, store: Store) -> None:
        """Renew, prune, and see whether the store is there again."""
        while True:
            await asyncio.sleep(min(self.lease / 3, RETRY_SECONDS))
            try:
                await self._wait_for(store.renew_answers(self.owner, self.clock() + self.lease))
                if time.monotonic() - self._pruned > PRUNE_SECONDS:
                    gone = await self._wait_for(store.prune(self.clock()))
                    self._pruned = time.monotonic()
                    _log.debug("pruned", rows=gone)
                self._well()
            except (StoreError, TimeoutError) as error:
                self._ill("upkeep", error)

    def _well(self) -> None:
        if self._lost:
            _log.info("store is there again")
        self.problem, self._rest_until, self._lost = "", 0.0, False

    def _ill(self, what: str, error: BaseException) -> None:
        telemetry.STORE_ERRORS.labels(what=what).inc()
        reason = str(error) or "it does not answer in time"
        if not self._lost:
            _log.error("store lost; nothing is remembered until it is back", what=what, error=reason)
        self.problem, self._lost = reason, True
        self._rest_until = time.monotonic() + RETRY_SECONDS

    @property
    def works(self) -> bool:
        """Whether something can be kept at the moment, as far as is known."""
        return self._store is not None and time.monotonic() >= self._rest_until

    async def ask(self, what: str, do: Callable[[Store], Awaitable[T]], otherwise: T) -> T:
        """Ask the store; `otherwise` when it is not there.

        Args:
            what: what is done, for the log.
            do: does it.
            otherwise: what an empty store would give.
        """
        store = self._store
        if store is None or not self.works:
            return otherwise
        try:
            return await self._wait_for(do(store))
        except (StoreError, TimeoutError) as error:
            self._ill(what, error)
            return otherwise

    async def _wait_for(self, answer: Awaitable[T]) -> T:
        """Wait for the store, but not longer than a moment. Raises StoreError and TimeoutError.

        What hangs is left to its own time limits: cancelling it would wait for it.
        """
        asked = asyncio.ensure_future(answer)
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await asyncio.shield(asked)

    def _answered(self, asked: asyncio.Future[Any]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled() and (error := asked.exception()) is not None:
            _log.debug("store refused", error=str(error))

    # Deliveries

    def take_in(
        self, keys: Sequence[str], ref: JobRef | None = None, where: Answer | None = None
    ) -> asyncio.Future[bool]:
        """Begin at once to write down what was delivered; gives whether it is new to all replicas.

        What comes at the same time is written together. Without a store everything counts as new.

        Args:
            keys: by which a repeated delivery is known.
            ref: the job that is asked about; None where that is not known yet.
            where: the answer that is asked for, with its id, who asked, and the place; None when nobody waits for one.
        """
        first: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if not self.works or (not keys and where is None):
            first.set_result(True)
            return first
        answer = self._asked_for(ref, where) if where is not None else None
        self._arrived.append(_Arrived(tuple(keys), answer, first))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_down(), name="take in")
        return first

    async def _write_down(self) -> None:
        try:
            while self._arrived:
                some, self._arrived = self._arrived[:TOGETHER], self._arrived[TOGETHER:]
                now, rows = self.clock(), [(each.keys, each.answer) for each in some]
                told: Sequence[bool] = ()
                try:
                    told = await self.ask("take in", lambda store, rows=rows, now=now: store.take_in(rows, now), ())  # type: ignore[misc]
                finally:
                    for each, first in zip(some, told or [True] * len(some), strict=True):
                        if each.answer is not None and not (told and first):
                            # a repetition, or not noted, and then `begin` notes it
                            self._open.pop(each.answer.id, None)
                        if not each.first.done():
                            each.first.set_result(first)
        finally:
            self._writer = None

    # Answers

    def _asked_for(self, ref: JobRef | None, where: Answer) -> Answer:
        answer = Answer(
            where.id or new_id(), where.team, where.user, where.channel, ref.namespace if ref else "", ref.name if ref else "",
            "asked", self.clock(), enterprise=where.enterprise, thread=where.thread, cluster=ref.cluster if ref else "",
            kind=ref.kind if ref else "", owner=self.owner, lease=self.clock() + self.lease,
        )  # fmt: skip
        self._open[answer.id] = answer
        return answer

    async def begin(self, ref: JobRef, where: Answer) -> str:
        """Note that a question is being answered; give the answer's id. `where` has who asked and the place.

        What was noted with the delivery (see `take_in`) is not noted again, but brought up to date.
        """
        if (noted := self._open.get(where.id)) is not None:
            now = {"namespace": ref.namespace, "name": ref.name, "kind": ref.kind, "cluster": ref.cluster}
            now |= {"thread": where.thread} if where.thread else {}
            if changed := {key: value for key, value in now.items() if getattr(noted, key) != value}:
                self._open[where.id] = replace(noted, **changed)  # type: ignore[arg-type] # all of them are texts
                await self.note(where.id, **changed)
            return where.id
        answer = self._asked_for(ref, where)
        await self.ask("begin", lambda store: store.begin_answer(answer), None)
        return answer.id

    async def note(self, answer_id: str, **changes: Any) -> None:  # noqa: ANN401 - columns of different types
        """Note how far an answer is."""
        if "state" in changes:
            self._open.pop(answer_id, None)
            self._rooted.discard(answer_id)
        await self.ask("note", lambda store: store.change_answer(answer_id, **changes), None)

    async def rooted(self, answer_id: str, root: str) -> None:
        """Note that an answer's first message stands."""
        self._rooted.add(answer_id)
        await self.note(answer_id, thread=root)

    async def left(self, answer_id: str, *, told: bool) -> None:
        """Leave an answer because the process ends.

        A thread that has begun is told by whoever takes over, at once, and so is whoever asked and was not `told`.
        """
        if answer_id not in self._open:
            return
        changes: dict[str, Any] = {"state": "interrupted"} if told and answer_id not in self._rooted else {"lease": 0.0}
        self._rooted.discard(answer_id)
        self._open.pop(answer_id, None)
        await self.note(answer_id, **changes)

    async def settled(self, answer_id: str) -> None:
        """Note that nobody waits for an answer any more, if that was not noted yet."""
        if answer_id in self._open:
            await self.note(answer_id, state="unanswered")

    async def answered(self, answer_id: str, diagnosis: Diagnosis, thread: str, message: str) -> None:
        """Note that an answer stands in Slack, or went to whoever asked alone."""
        self._rooted.discard(answer_id)
        await self.note(
            answer_id, state="answered", rule=diagnosis.headline.rule, outlook=diagnosis.outlook, thread=thread, message=message
        )  # fmt: skip

    async def abandoned(self) -> tuple[Answer, ...]:
        """Take the answers of processes that died."""
        return await self.ask("abandoned", lambda store: store.take_abandoned(self.owner, self.clock()), ())

    async def answer_of(self, channel: str, message: str) -> Answer | None:
        """Give the answer that stands in a message."""
        return await self.ask("answer", lambda store: store.answer_of(channel, message), None)

    async def recent(self, asker: Asker, limit: int) -> tuple[Answer, ...]:
        """Give somebody's answered questions, newest first."""
        nothing: tuple[Answer, ...] = ()
        found = await self.ask("recent", lambda store: store.recent_answers(asker.user, limit), nothing)
        return tuple(answer for answer in found if _is_theirs(answer, asker))

    # Watches

    async def watches_of(self, asker: Asker) -> tuple[Watch, ...]:
        """Give somebody's watches, oldest first."""
        nothing: tuple[Watch, ...] = ()
        found = await self.ask("watches", lambda store: store.watches(user=asker.user), nothing)
        return tuple(watch for watch in found if _is_theirs(watch, asker))

    async def claim(self, lease: float) -> tuple[Watch, ...]:
        """Take the watches that nobody looks after, and keep one's own."""
        return await self.ask("claim", lambda store: store.claim_watches(self.owner, self.clock(), lease), ())

    async def move(self, watch: Watch, **changes: Any) -> Watch | None:  # noqa: ANN401 - columns of different types
        """Change a watch if nobody else did; None otherwise, and then nothing may be told."""
        return await self.ask("move", lambda store: store.move_watch(watch, **changes), None)

    async def forget(self, watch: Watch) -> bool:
        """End a watch; False when it was not there any more, or the store is not."""
        return await self.ask("forget", lambda store: store.remove_watch(watch.id), otherwise=False)


def _is_theirs(row: Answer | Watch, asker: Asker) -> bool:
    """Tell whether a row is somebody's own: in an organisation one person comes from several workspaces."""
    return row.team == asker.team or bool(asker.enterprise and row.enterprise == asker.enterprise)
