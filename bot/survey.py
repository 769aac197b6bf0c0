"""Everything that is pending in a cluster: walks it, diagnoses it by the same rules, looks at the pods of what is stuck."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import structlog

from bot import service as services
from bot.core import engine
from bot.core import objects as o
from bot.core.diagnosis import Level
from bot.core.digest import Cause, Report, Selection, Survey, unseen
from bot.core.digest_view import EXAMPLES, View, view
from bot.core.facts import Thresholds
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.kube.client import tune_gc
from bot.kube.reader import Reader
from bot.kube.walk import Walk, told
from bot.service import Service

LOOKS = 10
"""Admitted Workloads whose pods are not ready that one digest asks about in full, each at the price of a question."""
LOOKS_AT_ONCE = 4

T = TypeVar("T")

_threads = ThreadPoolExecutor(2, thread_name_prefix="survey")
"""What looks at everything has threads of its own: the event loop's are for what is over soon, like names' addresses."""

Progress = Callable[[int, int | None], None]
"""Hears how many Workloads were read, and of how many (None: unknown)."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Everything that is pending, what it was found in, and what was not read without making it incomplete."""

    report: Report
    snapshot: Snapshot
    selection: Selection
    beside: tuple[str, ...] = ()


async def apart(work: Callable[[], T]) -> T:
    """Do what takes long beside the event loop, a few at once; give its result. Raises what it raises."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_threads, lambda: context.run(work))


async def survey(
    service: Service, selection: Selection, cluster: str = "", *, progress: Progress | None = None, name: str = ""
) -> Surveyed:
    """Look at everything that is pending in a cluster.

    What is worked out over all Workloads is worked out beside the event loop, which goes on meanwhile however large the
    cluster is. Raises UnknownClusterError, nothing else: what was not read is in the report.
    """
    reader = service.reader(cluster)
    walk = Walk(reader, selection.namespaces, selection.queues, progress or (lambda _done, _total: None))
    snapshot = await walk.snapshot()
    found = Survey(snapshot, selection, service.thresholds, walk.pods)
    given_up = threading.Event()

    def diagnose() -> None:
        for _ in found.run():
            if given_up.is_set():
                return

    try:
        await apart(diagnose)
    except asyncio.CancelledError:
        given_up.set()
        raise
    beside = await _look_at_pods(found, reader, service)
    for fault in found.faults:
        log.error("a rule broke", fault=": ".join(fault.split(": ")[:2]))
    missing, rest = told(snapshot.gaps)
    report = await apart(lambda: found.report(name=name, missing=missing, unseen=unseen(snapshot, walk.places)))
    return Surveyed(report, snapshot, selection, (*rest, *beside))


async def seen(
    found: Surveyed,
    selection: Selection,
    level: Level = "all",
    thresholds: Thresholds | None = None,
    *,
    examples: int = EXAMPLES,
) -> View:
    """Give what was found as readers of this level may see it; worked out beside the event loop."""
    return await apart(
        lambda: view(
            found.report, selection, found.snapshot, level,
            thresholds=thresholds, beside=found.beside, examples=examples,
        )
    )  # fmt: skip


async def _look_at_pods(found: Survey, reader: Reader, service: Service) -> list[str]:
    """Ask in full about admitted Workloads whose pods are not ready, the longest first; give what was not looked at."""
    classes = await apart(found.suspicious)
    turn = asyncio.Semaphore(LOOKS_AT_ONCE)

    async def look(members: list[tuple[o.Workload, str]]) -> None:
        first = members[0][0]
        ref = JobRef(first.namespace, first.name, "Workload", cluster=reader.client.cluster.name)
        async with turn:
            read = await reader.read(ref, service.deadline)
        answer = engine.headline(read, ref, service.thresholds)
        found.faults += answer.faults
        found.note(members, Cause(answer.headline, answer.complete, (first.namespace, first.name)))

    await asyncio.gather(*map(look, classes[:LOOKS]))
    rest = classes[LOOKS:]

    def leave() -> None:
        for members in rest:
            found.note(members, found.not_looked_at(members[0][0]))

    await apart(leave)
    count = sum(map(len, rest))
    always = [
        "jobs: read only of those who hold quota longest where others wait",
        "pods: read only where an admitted workload is not ready or a job is gone",
    ]
    return (
        [f"the pods of {count:,} admitted workloads: only {LOOKS} were looked at in full", *always] if rest else always
    )


def survey_once(
    selection: Selection,
    context: str = "",
    *,
    kubeconfig: str = "",
    thresholds: Thresholds | None = None,
    progress: Progress | None = None,
) -> Surveyed:
    """Look at everything that is pending with the person's own kubeconfig; `context` "" is the current one.

    Raises UnreachableError when the cluster gave no answer to anything.
    """

    async def ask() -> Surveyed:
        async with services.alone(context, kubeconfig, thresholds) as service:
            tune_gc()
            found = await survey(service, selection, progress=progress)
            services.answered(found.snapshot)
            return found

    return asyncio.run(ask())
