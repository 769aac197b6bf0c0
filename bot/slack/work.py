"""Work that outlives the request which asked for it: bounded, never forgotten, finished before the process ends."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot import telemetry

ABANDON_SECONDS = 3.0
WALKS_AT_ONCE = 2
"""Walks of a whole cluster that run at once: each holds everything that is pending there."""

_log = telemetry.log("work")


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work.

    `do` does it and must know its own deadline. `abandon` says a last word when the process must end before it is done.
    `cluster` is the one that it reads, "" where that is not known: each has its own turns, so that one which does not
    answer holds up no other. `walks` when all of the cluster is read: that has turns of its own, few of them, so that
    questions about one job never wait behind it.
    """

    name: str
    do: Callable[[], Awaitable[None]]
    abandon: Callable[[], Awaitable[None]] | None = None
    cluster: str = ""
    walks: bool = False

    @property
    def line(self) -> tuple[str, bool]:
        """The line in which it waits for its turn."""
        return self.cluster, self.walks


class Work:
    """Runs jobs in a task group that somebody else owns.

    Args:
        group: owns the tasks.
        at_once: how many jobs of a cluster run at once.
        waiting: how many more of a cluster may wait for their turn.
    """

    def __init__(self, group: asyncio.TaskGroup, *, at_once: int, waiting: int) -> None:
        """Start with nothing to do."""
        self._group, self._at_once, self._waiting = group, at_once, waiting
        self._turns: dict[tuple[str, bool], asyncio.Semaphore] = {}
        self._tasks: dict[asyncio.Task[None], Job] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether no more is taken because the process is about to end."""
        return self._closed

    def __len__(self) -> int:
        """How many jobs run or wait."""
        return len(self._tasks)

    def take(self, job: Job) -> bool:
        """Take a job; False when there are too many already, or the process is about to end."""
        most = self._running_of(job) + self._waiting
        if self._closed or sum(other.line == job.line for other in self._tasks.values()) >= most:
            return False
        task = self._group.create_task(self._run(job), name=job.name)
        self._tasks[task] = job
        task.add_done_callback(self._done)
        telemetry.WORKING.set(len(self._tasks))
        return True

    async def drain(self, seconds: float) -> None:
        """Take nothing more, give what is under way some time, then let the rest say its last word."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = dict(self._tasks)
        for task in left:
            task.cancel()
        if left:
            _log.warning("abandoned", jobs=[job.name for job in left.values()])
            await asyncio.gather(*(_abandon(job) for job in left.values()))
            await asyncio.wait(left, timeout=ABANDON_SECONDS)

    async def _run(self, job: Job) -> None:
        try:
            async with self._turns.setdefault(job.line, asyncio.Semaphore(self._running_of(job))):
                await job.do()
        except Exception:  # noqa: BLE001 - one question's bug must not end the others, which share the group
            telemetry.FAULTS.labels(where="work").inc()
            _log.exception("failed", job=job.name)

    def _running_of(self, job: Job) -> int:
        return min(WALKS_AT_ONCE, self._at_once) if job.walks else self._at_once

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        telemetry.WORKING.set(len(self._tasks))


async def _abandon(job: Job) -> None:
    if job.abandon is None:
        return
    try:
        async with asyncio.timeout(ABANDON_SECONDS):
            await job.abandon()
    except Exception:  # noqa: BLE001 - the process is ending; the last word is an extra
        _log.exception("no last word", job=job.name)
