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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, TypeVar

from bot import telemetry
from bot.core.diagnosis import Diagnosis
from bot.core.reference import JobRef
from bot.store import Answer, Store, StoreError, Watch, new_id

T = TypeVar("T")

PATIENCE_SECONDS = 3.0
"""How long anybody waits for the store."""
LAST_SECONDS = 11.0
"""How long what was asked of the store may still take at the end: a little longer than a locked SQLite file's limit."""
RETRY_SECONDS = 5.0
PRUNE_SECONDS = 900.0

_log = telemetry.log("memory")


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
        self._asked: set[asyncio.Future[Any]] = set()

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

    async def first(self, keys: Iterable[str]) -> bool:
        """Say whether a delivery is new to all replicas; without a store it counts as new."""
        now = self.clock()
        for key in keys:
            if not await self.ask("delivery", lambda store, key=key: store.first_delivery(key, now), otherwise=True):  # type: ignore[misc]
                return False
        return True

    # Answers

    async def begin(self, ref: JobRef, where: Answer) -> str:
        """Note that a question is being answered; give the answer's id. `where` has who asked and the place."""
        answer = Answer(
            new_id(), where.team, where.user, where.channel, ref.namespace, ref.name, "asked", self.clock(),
            enterprise=where.enterprise, thread=where.thread, cluster=ref.cluster, kind=ref.kind, owner=self.owner,
            lease=self.clock() + self.lease,
        )  # fmt: skip
        await self.ask("begin", lambda store: store.begin_answer(answer), None)
        return answer.id

    async def note(self, answer_id: str, **changes: Any) -> None:  # noqa: ANN401 - columns of different types
        """Note how far an answer is."""
        await self.ask("note", lambda store: store.change_answer(answer_id, **changes), None)

    async def rooted(self, answer_id: str, root: str) -> None:
        """Note that an answer's first message stands."""
        self._rooted.add(answer_id)
        await self.note(answer_id, thread=root)

    async def left(self, answer_id: str) -> None:
        """Leave an answer because the process ends: a thread that has begun is told by whoever takes over, at once."""
        changes: dict[str, Any] = {"lease": 0.0} if answer_id in self._rooted else {"state": "interrupted"}
        self._rooted.discard(answer_id)
        await self.note(answer_id, **changes)

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

    # Watches

    async def claim(self, lease: float) -> tuple[Watch, ...]:
        """Take the watches that nobody looks after, and keep one's own."""
        return await self.ask("claim", lambda store: store.claim_watches(self.owner, self.clock(), lease), ())

    async def move(self, watch: Watch, **changes: Any) -> Watch | None:  # noqa: ANN401 - columns of different types
        """Change a watch if nobody else did; None otherwise, and then nothing may be told."""
        return await self.ask("move", lambda store: store.move_watch(watch, **changes), None)

    async def forget(self, watch: Watch) -> bool:
        """End a watch; False when it was not there any more, or the store is not."""
        return await self.ask("forget", lambda store: store.remove_watch(watch.id), otherwise=False)
