"""The commands `digest` and `queue`: take what they were told, read a cluster or files, print or post.

Exit status: 0 nothing is stuck, 1 something is stuck, 3 not everything could be read; 2 is wrong use.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot import console, service
from bot.core import bundle, digest
from bot.core.digest import Selection
from bot.core.digest_view import View, view
from bot.render import digest as rendered
from bot.survey import Surveyed, survey_once

NOTHING_STUCK, STUCK, INCOMPLETE = 0, 1, 3
"""What the exit status of `digest` says."""

Progress = Callable[[int, int | None], None]


def command(arguments: argparse.Namespace) -> int:
    """Run `whypending digest`; give its exit status. Raises WrongUseError and NoAnswerError with a sentence."""
    selection = Selection(tuple(arguments.namespaces), tuple(arguments.queues), arguments.minimum_age)
    found = surveyed(arguments, selection)
    shown = view(found.report, selection, found.snapshot, beside=found.beside)
    write(shown, arguments.output)
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


@contextmanager
def progress() -> Iterator[Progress | None]:
    """Show on a terminal how far the walk is, on standard error; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - for a terminal alone
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading Workloads", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def write(shown: View, form: str) -> None:
    """Print a digest."""
    if form == "json":
        sys.stdout.write(rendered.to_json(shown))
    elif form == "markdown":
        sys.stdout.write(rendered.markdown(shown))
    else:
        width, colour = console.look(sys.stdout)
        sys.stdout.write(rendered.text(shown, width, colour=colour))


def status(shown: View) -> int:
    """Give the exit status for a digest."""
    return INCOMPLETE if shown.missing else STUCK if shown.stuck else NOTHING_STUCK


__all__ = ["INCOMPLETE", "NOTHING_STUCK", "STUCK", "command", "progress", "status", "surveyed", "write"]
