"""A digest as its readers may see it: names that they may not see are counts, sentences are disclosed, before rendering.

Levels are those of `disclosure`. At "namespace" the readers see the names of the namespaces that the digest is made for;
at "queue" and wider also whoever is in the queues that it is made for; what else is in it is counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase

from bot.core import engine, names
from bot.core import objects as o
from bot.core.diagnosis import Finding, Level, Move, Step
from bot.core.digest import CATEGORIES, NOT_LOOKED_AT, Category, Cause, Change, Entry, Report, Selection, grouped
from bot.core.disclosure import Audience, disclose
from bot.core.facts import Thresholds
from bot.core.reference import JobRef
from bot.core.rules import BY_SLUG
from bot.core.snapshot import Snapshot

EXAMPLES = 5
"""Workloads that are named per line; the others are counted and stand in the uploaded file."""

EVERYTHING = 1_000_000
"""As many as there can be: for the file."""


@dataclass(frozen=True, slots=True)
class Item:
    """One Workload with its name shown: "Job team-a/train"."""

    name: str
    since: datetime | None
    change: Change
    was: str
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Line:
    """One category, cause and queue. `queue` is "" when there is none, "another ClusterQueue" when it may not be named."""

    category: Category
    rule: str
    title: str
    queue: str
    count: int
    amounts: Mapping[str, int]
    oldest: datetime | None
    new: int
    changed: int
    items: tuple[Item, ...]
    hidden: int
    """How many of them may not be named."""
    hidden_namespaces: int
    sentence: str
    """What was found about the oldest that may be named, "" when none may be."""
    about: str
    """Whom the sentence is about."""
    move: Move
    step: Step | None
    complete: bool = True
    """Whether everything was read that could change the cause of one of them."""


@dataclass(frozen=True, slots=True)
class View:
    """A digest that may be shown as it is. `beside` is what was not read without making it incomplete."""

    name: str
    cluster: str
    observed_at: datetime
    lines: tuple[Line, ...]
    missing: tuple[str, ...]
    beside: tuple[str, ...]
    seen: int
    young: int
    minimum_age: float
    last: datetime | None
    gone: tuple[tuple[str, str], ...]
    """(name, rule) of those that are pending no more and may be named."""
    gone_by: Mapping[Category, int]
    changed: bool
    level: Level = "all"
    notes: tuple[str, ...] = ()
    """What its readers must know besides, whole sentences: that an earlier one did not arrive, for example."""

    def of(self, category: Category) -> tuple[Line, ...]:
        """Give the lines of one category."""
        return tuple(line for line in self.lines if line.category == category)

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories in which there is something."""
        return tuple(category for category in CATEGORIES if self.of(category))

    @property
    def stuck(self) -> int:
        """How many Workloads want somebody to act."""
        return sum(line.count for line in self.lines if line.category != "waiting")

    @property
    def waiting(self) -> int:
        """How many Workloads wait their turn."""
        return sum(line.count for line in self.lines if line.category == "waiting")


def title(rule: str) -> str:
    """Give a rule's title for people."""
    if rule == NOT_LOOKED_AT:
        return "Admitted, but its pods are not ready"
    known = BY_SLUG.get(rule)
    return known.title if known is not None else rule


class _Eye:
    """What the readers may see."""

    def __init__(self, level: Level, selection: Selection, snapshot: Snapshot, thresholds: Thresholds | None) -> None:
        self.level, self.selection, self.snapshot, self.thresholds = level, selection, snapshot, thresholds
        self.own = frozenset(
            item.namespace for item in snapshot.all_of(o.LocalQueue, read="seen") if self.sees(item.namespace)
        )
        self._paths = {
            item.spec.cluster_queue for item in snapshot.all_of(o.LocalQueue, read="seen") if item.namespace in self.own
        }

    def sees(self, namespace: str) -> bool:
        if self.level == "all" or (self.level != "namespace" and not self.selection.namespaces):
            return True
        return any(fnmatchcase(namespace, p) for p in (*self.selection.namespaces, *self.selection.named))

    def queue(self, name: str) -> str:
        if not name or self.level != "namespace" or name in self._paths:
            return name
        named = any(fnmatchcase(name, pattern) for pattern in self.selection.queues if set(pattern) != {"*"})
        return name if named else "another ClusterQueue"

    def finding(self, cause: Cause) -> Finding:
        """Give the finding about a Workload of a namespace that may be seen, with its names resolved."""
        namespace, name = cause.of
        if self.level == "all":
            return _open(cause.finding, namespace)
        answer = engine.diagnose(self.snapshot, JobRef(namespace, name, "Workload"), self.thresholds)
        if answer.headline.rule != cause.finding.rule:  # it was found by looking at its pods, which are not here
            answer = replace(answer, headline=cause.finding)
        return disclose(answer, Audience(self.level, namespace, self.own), self.snapshot).headline

    def text(self, text: str) -> str:
        """Give a text about what was not read; of hidden namespaces no names."""
        return names.show(text, names.plain)


def _open(finding: Finding, namespace: str) -> Finding:
    def shown(text: str) -> str:
        return names.show(
            text,
            lambda kind, place, name: names.plain(kind, "" if place == namespace and kind[-1:] != "/" else place, name),
        )

    steps = tuple(
        replace(step, do=shown(step.do), command=step.command and names.show(step.command, lambda _k, _n, name: name))
        for step in finding.next
    )
    return replace(finding, sentence=shown(finding.sentence), next=steps)


def view(
    report: Report,
    selection: Selection,
    snapshot: Snapshot,
    level: Level = "all",
    *,
    thresholds: Thresholds | None = None,
    beside: Iterable[str] = (),
    examples: int = EXAMPLES,
) -> View:
    """Give a report as readers of this level may see it.

    Raises nothing. `examples`: how many Workloads each line names.
    """
    eye = _Eye(level, selection, snapshot, thresholds)
    lines: dict[tuple[Category, str, str], list[Entry]] = {}
    for group in grouped(report.entries):
        lines.setdefault((group.category, group.rule, eye.queue(group.queue)), []).extend(group.entries)
    gone = [(entry.key, entry.rule) for entry in report.gone if eye.sees(entry.namespace)]
    by: dict[Category, int] = {}
    for entry in report.gone:
        by[entry.category] = by.get(entry.category, 0) + 1
    made = tuple(_line(eye, of_what, entries, examples) for of_what, entries in lines.items())
    return View(
        report.name, report.cluster, report.observed_at, made,
        tuple(dict.fromkeys(_where(eye, text) for text in report.missing)),
        tuple(dict.fromkeys(_where(eye, text) for text in beside)),
        report.seen, report.young, selection.minimum_age, report.last,
        tuple((_titled(key), rule) for key, rule in gone), by, report.changed, level,
    )  # fmt: skip


def _where(eye: _Eye, text: str) -> str:
    """A gap names the namespace in which something was not read; one that may not be named becomes "another namespace"."""
    before, found, after = text.partition(" in ")
    place, colon, reason = after.partition(":")
    named = eye.sees(place) or place == eye.snapshot.kueue_namespace
    if found and colon and " " not in place and not named:
        return f"{before} in another namespace:{reason}"
    return text


def _titled(key: str) -> str:
    namespace, _, rest = key.partition("/")
    kind, _, name = rest.partition("/")
    return f"{kind} {namespace}/{name}"


def _line(eye: _Eye, of_what: tuple[Category, str, str], entries: list[Entry], examples: int) -> Line:
    category, rule, queue = of_what
    entries.sort(key=lambda e: (e.since is None, e.since.timestamp() if e.since is not None else 0.0, e.key))
    named = [entry for entry in entries if eye.sees(entry.namespace)]
    total: dict[str, int] = {}
    for entry in entries:
        for resource, value in entry.amounts.items():
            total[resource] = total.get(resource, 0) + value
    finding = eye.finding(named[0].cause) if named else entries[0].cause.finding
    of = named[0].cause.of if named else ("", "")
    about = next((e for e in named if (e.namespace, e.workload) == of), None)
    # those that are new or have changed are named first
    told = sorted(named, key=lambda entry: entry.change in {"", "still"})
    known = BY_SLUG.get(rule)
    return Line(
        category, rule, title(rule), queue, len(entries), total, entries[0].since,
        sum(entry.change == "new" for entry in entries), sum(entry.change == "changed" for entry in entries),
        tuple(
            Item(f"{e.kind} {e.namespace}/{e.job}", e.since, e.change, e.was, e.amounts) for e in told[:examples]
        ),
        len(entries) - len(named), len({entry.namespace for entry in entries} - {entry.namespace for entry in named}),
        finding.sentence if named else "", f"{about.kind} {about.namespace}/{about.job}" if about is not None else "",
        finding.move if named or known is None else known.move, next(iter(finding.next), None) if named else None,
        all(entry.cause.complete for entry in entries),
    )  # fmt: skip
