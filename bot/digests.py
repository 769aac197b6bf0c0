"""The command `digest`: looks at everything that is pending, prints it, or posts a configured digest once per run.

Exit status: 0 nothing is stuck, 1 something is stuck, 3 not everything could be read or it could not be posted; 2 is
wrong use.
"""

import argparse
import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import aiohttp

from bot import console, service, settings, telemetry
from bot.core import bundle, digest, queue_view
from bot.core.digest import Selection
from bot.core.digest_view import EVERYTHING, EXAMPLES, View, view
from bot.core.facts import Thresholds
from bot.kube.client import preload, tune_gc
from bot.render import digest as rendered
from bot.render import picture
from bot.render import queue as queue_text
from bot.render.digest import Owners
from bot.service import Service, site_of
from bot.settings import Digest, Settings
from bot.slack import digest as slack
from bot.slack.post import Poster, Undeliverable, web_client
from bot.store import DigestRun, Store, StoreError, new_id
from bot.survey import Progress, Surveyed, seen, survey, survey_once

NOTHING_STUCK, STUCK, INCOMPLETE, NO_SUCH_QUEUE = 0, 1, 3, 4
"""What the exit status of `digest` says."""

_log = telemetry.log("digest")


def command(arguments: argparse.Namespace) -> int:
    """Run `whypending digest`; give its exit status. Raises WrongUseError and NoAnswerError with a sentence."""
    try:
        ended = _command(arguments)
    except picture.MissingPillowError as error:
        raise console.NoAnswerError(str(error)) from error
    return NOTHING_STUCK if arguments.exit_zero else ended


def _command(arguments: argparse.Namespace) -> int:
    if arguments.manifests:
        from bot.manifests import cron_jobs  # noqa: PLC0415 - needs YAML

        sys.stdout.write(cron_jobs(settings.load(arguments.config).digests))
        return NOTHING_STUCK
    if arguments.name and not arguments.file:
        return _configured(arguments)
    if arguments.only_changes:
        msg = "--only-changes compares with the last run of a configured digest; name one, like `whypending digest gpu-queues`"
        raise console.WrongUseError(msg)
    selection = Selection(tuple(arguments.namespaces), tuple(arguments.queues), arguments.minimum_age)
    found = surveyed(arguments, selection)
    shown = view(
        replace(found.report, name=arguments.name), selection, found.snapshot,
        beside=found.beside, examples=_examples(arguments),
    )  # fmt: skip
    if arguments.picture:
        save(arguments.picture, picture.of_digest(queue_view.uses(found.snapshot, found.report), ()))
    write(shown, arguments.output, whole=arguments.all)
    return status(shown)


def _examples(arguments: argparse.Namespace) -> int:
    """Programs, and whoever asks for all of it, get every Workload by name."""
    return EVERYTHING if arguments.all or arguments.output == "json" else EXAMPLES


def save(path: Path, content: bytes) -> None:
    """Write a picture. Raises WrongUseError where it cannot be written."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise console.WrongUseError(f"cannot write {path}: {error.strerror or error}") from error


def queue_command(arguments: argparse.Namespace) -> int:
    """Run `whypending queue`; give its exit status. Raises WrongUseError and NoAnswerError with a sentence."""
    name = arguments.queue.removeprefix("clusterqueue/")
    wanted = queue_view.selection(name)
    found = surveyed(arguments, wanted)
    report = queue_view.of_queue(found.snapshot, name, found.report)
    shown = view(found.report, wanted, found.snapshot, beside=found.beside)
    sees = {item.namespace: True for item in found.snapshot.seen("Workload")}
    if arguments.picture and report.rows:
        save(arguments.picture, picture.of_queue(report))
    if arguments.output == "json":
        sys.stdout.write(queue_text.to_json(report, shown, sees))
    else:
        width, colour = console.look(sys.stdout)
        sys.stdout.write(queue_text.text(report, shown, sees, width, colour=colour))
    if not report.exists:
        return NO_SUCH_QUEUE
    return status(shown)


def surveyed(arguments: argparse.Namespace, selection: Selection) -> Surveyed:
    """Look at everything that is pending in the files, or in the cluster of the kubeconfig."""
    if arguments.file:
        try:
            snapshot = bundle.load(console.contents(arguments.file))
        except bundle.UnreadableFileError as error:
            msg = f"{error}; a right file is what `kubectl get workloads,localqueues,clusterqueues -A -o yaml` prints"
            raise console.WrongUseError(msg) from error
        return Surveyed(digest.of_snapshot(snapshot, selection), snapshot, selection)
    try:
        with progress() as hear:
            return survey_once(selection, arguments.context, progress=hear)
    except service.UnreachableError as error:
        raise console.NoAnswerError(str(error)) from error


@contextlib.contextmanager
def progress() -> Iterator[Progress | None]:
    """Show on a terminal how far the walk is, on standard error; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - for a terminal alone
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading Workloads", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def write(shown: View, form: str, *, whole: bool = False) -> None:
    """Print a digest; `whole` leaves nothing out of the text."""
    if form == "json":
        sys.stdout.write(rendered.to_json(shown))
    elif form == "markdown":
        sys.stdout.write(rendered.markdown(shown))
    else:
        width, colour = console.look(sys.stdout)
        sys.stdout.write(rendered.text(shown, width, colour=colour, whole=whole))


def status(shown: View) -> int:
    """Give the exit status for a digest."""
    return INCOMPLETE if shown.missing else STUCK if shown.stuck else NOTHING_STUCK


# --- configured digests ---


def _configured(arguments: argparse.Namespace) -> int:
    loaded = settings.load(arguments.config)
    wanted = next((entry for entry in loaded.digests if entry.name == arguments.name), None)
    if wanted is None:
        known = ", ".join(entry.name for entry in loaded.digests) or "none is configured"
        raise console.WrongUseError(f"there is no digest {arguments.name}; there is: {known}")
    telemetry.set_up(loaded.log_level, loaded.log_format)
    if arguments.only_changes:
        wanted = wanted.model_copy(update={"only_changes": True})
    preload()
    tune_gc()
    try:
        return asyncio.run(_run(loaded, wanted, arguments))
    except StoreError as error:
        raise console.NoAnswerError(str(error)) from error
    except Undeliverable as refused:
        hint = f"; invite the bot to {wanted.channel}" if refused.unwelcome else ""
        raise console.NoAnswerError(f"the digest was not posted: Slack said {refused.error}{hint}") from refused


async def _run(loaded: Settings, wanted: Digest, arguments: argparse.Namespace) -> int:
    thresholds = Thresholds(young=loaded.young_seconds, long=loaded.long_seconds)
    sites = {cluster.name: site_of(cluster) for cluster in loaded.clusters}
    async with (
        Store.open(loaded.store()) as store,
        Service(sites, deadline=loaded.read_seconds, thresholds=thresholds) as asked,
    ):
        if arguments.dry_run:
            shown, _ = await compare(store, asked, wanted, arguments.run_id, examples=_examples(arguments))
            write(shown, arguments.output, whole=arguments.all)
            return status(shown)
        async with posting(loaded) as poster:
            return await run_once(
                store, asked, poster, wanted, arguments.run_id or moment_of(time.time()), lease=loaded.lease_seconds
            )


@contextlib.asynccontextmanager
async def posting(loaded: Settings) -> AsyncIterator[Poster]:
    """Give what posts to Slack with the configured token."""
    token = loaded.secret("slack_bot_token")
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=loaded.slack_timeout_seconds)) as session:
        yield Poster(web_client(token, loaded.slack_api_url, session, logging.getLogger("whypending.slack")), session)


def moment_of(seconds: float) -> str:
    """Name a run by the minute in which it was started, for runs that nobody named."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%MZ}"


async def compare(
    store: Store, asked: Service, wanted: Digest, run: str, *, examples: int = EXAMPLES
) -> tuple[View, Surveyed]:
    """Look at the cluster and compare with the last run of this digest other than `run`; as its channel may see it."""
    shown, found, _ = await _compared(store, asked, wanted, run, examples)
    return shown, found


async def _compared(
    store: Store, asked: Service, wanted: Digest, run: str, examples: int = EXAMPLES
) -> tuple[View, Surveyed, dict[str, list[object]]]:
    """The same, with what is to be kept for the next comparison."""
    selection = Selection(wanted.namespaces, wanted.queues, wanted.minimum_age_seconds)
    found = await survey(asked, selection, wanted.cluster, name=wanted.name)
    last = await store.last_digest(wanted.name, before=run)
    before = last.entries if last is not None else {}
    if last is not None:
        found = replace(found, report=digest.compared(found.report, before, datetime.fromtimestamp(last.at, UTC)))
    shown = await seen(found, selection, wanted.level, asked.thresholds, examples=examples)
    return shown, found, digest.kept(found.report, before)


async def run_once(
    store: Store,
    asked: Service,
    poster: Poster,
    wanted: Digest,
    run: str,
    *,
    clock: Callable[[], float] = time.time,
    pause: float = slack.PAUSE_SECONDS,
    lease: float = 20.0,
) -> int:
    """Make and post a digest, unless this run was posted already, by whichever process; give the exit status.

    A run over which its process died is taken over by its repetition once `lease` seconds have gone without a sign of
    life: what stands in Slack is looked up and completed. Where there was no repetition, the next run says so.

    Raises Undeliverable when Slack did not take it; then the run may be repeated. Raises StoreError.
    """
    now = clock()
    if quiet(wanted, now):
        _log.info("quiet hours", digest=wanted.name)
        return NOTHING_STUCK
    there = await store.digest(wanted.name, run)
    if there is not None and there.posted:
        _log.info("posted already", digest=wanted.name, run=run)
        return NOTHING_STUCK
    notes, lost = await _interrupted(store, poster, wanted, run, now)
    shown, found, entries = await _compared(store, asked, wanted, run)
    counts = digest.counts(found.report)
    silent = wanted.only_changes and not shown.changed and not shown.missing and not notes
    made = DigestRun(
        wanted.name, run, now, not shown.missing, entries, counts, posted=silent, owner=new_id(), begun=now
    )  # fmt: skip
    claimed = await _claimed(store, made, clock, lease)
    if claimed is None:
        _log.info("posted already", digest=wanted.name, run=run)
        return status(shown)
    made, fresh = claimed
    if silent and fresh:
        _log.info("nothing changed", digest=wanted.name, run=run)
        return status(shown)
    async with _living(store, made, clock, lease):
        stands, sure = made.parts, True
        if not fresh:
            stands, sure = await slack.look(poster, wanted.channel, _key(made), made.begun, made.parts)
            notes += [] if sure else ["Its process was ended while it posted this: parts of it may stand here twice."]
            if silent and not notes and slack.ROOT not in stands:
                _log.info("nothing changed", digest=wanted.name, run=run)
                await store.change_digest(made, posted=True)
                return status(shown)
        shown = replace(shown, notes=tuple(notes))
        delivery = slack.Delivery(
            poster, wanted.channel, _key(made), stands, lambda parts: store.change_digest(made, parts=parts), pause=pause
        )  # fmt: skip
        try:
            await delivery.open(shown)
        except Undeliverable as refused:
            if fresh and not refused.doubtful:  # nothing of it stands: a retry begins anew
                await store.drop_digest(made)
            raise
        tail = ""
        if rendered.needs_tail(shown):
            whole = await seen(found, found.selection, wanted.level, asked.thresholds, examples=EVERYTHING)
            tail = rendered.text(whole, whole=True)
        pictures = await _pictures(store, made, found, shown) if wanted.picture else []
        missed = await delivery.fill(shown, tail=tail, pictures=pictures, owners=Owners(wanted.owners))
        await store.change_digest(made, posted=True)
    for old in lost:
        await store.drop_digest(old)
    telemetry.audit(
        "digest", digest=wanted.name, run=run, channel=wanted.channel, disclosure=wanted.level, cluster=wanted.cluster,
        stuck=shown.stuck, waiting=shown.waiting, complete=not shown.missing, lost=list(missed),
    )  # fmt: skip
    return status(shown)


def _key(run: DigestRun) -> str:
    return f"{run.name}/{run.run}"


async def _interrupted(
    store: Store, poster: Poster, wanted: Digest, run: str, now: float
) -> tuple[list[str], list[DigestRun]]:
    """Look for earlier runs over which their process died; give what is said of them, and those of which nothing stands.

    One whose root message stands was told: the next one is compared with it.
    """
    said, lost = [], []
    for old in await store.unposted_digests(wanted.name, now):
        if old.run == run:
            continue
        stands, sure = await slack.look(poster, wanted.channel, _key(old), old.begun, old.parts)
        when = f"The digest of {datetime.fromtimestamp(old.at, UTC):%Y-%m-%d %H:%M} UTC"
        if slack.ROOT in stands:
            await store.change_digest(old, parts=stands, posted=True)
            said.append(f"{when} was interrupted while it was posted: not all of it stands here.")
        else:
            lost.append(old)
            said.append(f"{when} was interrupted and {'was not' if sure else 'may not have been'} posted.")
    return said, lost


async def _claimed(
    store: Store, made: DigestRun, clock: Callable[[], float], lease: float
) -> tuple[DigestRun, bool] | None:
    """Claim a run for this process; None when another one has posted it.

    Gives it with whether nobody tried before. Waits for a process that posts it, until that is done or gives no sign of life.
    """
    while True:
        made = replace(made, lease=clock() + lease)
        if await store.begin_digest(made):
            return made, True
        if (taken := await store.take_digest(made, clock())) is not None:
            return taken, False
        there = await store.digest(made.name, made.run)
        if there is not None and there.posted:
            return None
        await asyncio.sleep(min(1.0, lease / 4))


@contextlib.asynccontextmanager
async def _living(store: Store, run: DigestRun, clock: Callable[[], float], lease: float) -> AsyncIterator[None]:
    """Give signs of life while the body posts; a body that fails leaves the run to whoever repeats it, at once."""
    over = asyncio.Event()

    async def renew() -> None:
        # never cancelled in the middle: a connection to the store would be left behind
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(lease / 3):
                    await over.wait()
                    return
            with contextlib.suppress(StoreError):
                await store.change_digest(run, lease=clock() + lease)

    renewing = asyncio.create_task(renew())
    done = False
    try:
        yield
        done = True
    finally:
        over.set()
        await renewing
        if not done:  # also when the process is ended meanwhile
            with contextlib.suppress(StoreError):
                await asyncio.shield(store.change_digest(run, lease=0.0))


async def _pictures(store: Store, made: DigestRun, found: Surveyed, shown: View) -> list[slack.Picture]:
    """Draw the queues that may be named, and the last digests; nothing where pictures cannot be drawn."""
    named = {line.queue for line in shown.lines}
    drawn = [use for use in queue_view.uses(found.snapshot, found.report) if use[0] in named]
    runs = [made, *(await store.digests(made.name, limit=picture.POINTS - 1))]
    history = [
        (datetime.fromtimestamp(run.at, UTC), {r: sum(q.values()) for r, q in run.counts.items()})
        for run in reversed(runs)
    ]
    if not drawn and len(history) < 2:
        return []
    try:
        content = picture.of_digest(drawn, history)
    except picture.MissingPillowError as error:
        _log.error("no picture", error=str(error))
        return []
    return [slack.Picture("queues.png", content, "Queues and causes", picture.described(drawn, history))]


def quiet(wanted: Digest, seconds: float) -> bool:
    """Say whether a moment lies in a digest's quiet hours. Raises ConfigurationError for a time zone that nobody knows."""
    if not wanted.quiet:
        return False
    try:
        now = datetime.fromtimestamp(seconds, ZoneInfo(wanted.time_zone))
    except (ZoneInfoNotFoundError, ValueError) as error:
        msg = f"digests: no time zone is called {wanted.time_zone}; a right one looks like Europe/Berlin"
        raise settings.ConfigurationError(msg) from error
    start, _, end = wanted.quiet.partition("-")
    at = f"{now:%H:%M}"
    return start <= at < end if start <= end else at >= start or at < end
