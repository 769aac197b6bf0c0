"""What an answer is made of: Finding and Diagnosis, worked out once and rendered as card, terminal text, JSON and digest.

Names inside texts are still marked (see `names`) until `disclosure.disclose` has decided what the reader may see.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Literal

from bot.core.records import dataclass
from bot.core.snapshot import Gap, Versions

Stage = Literal["lookup", "workload", "queue", "quota", "checks", "pods", "start", "running", "finished"]
Move = Literal["asker", "queue-admin", "platform", "nobody"]
Outlook = Literal["never-as-written", "fix", "wait", "in-progress", "running", "finished", "unknown"]
Certainty = Literal["certain", "reported", "likely"]
Source = Literal["cluster", "kueue", "computed"]
Level = Literal["namespace", "queue", "cohort", "all"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One proof: which object, which field, what it says, and who says so.

    `source`: "cluster" an object's field, "kueue" Kueue's own words, "computed" our arithmetic.
    """

    subject: str
    field: str
    value: str
    source: Source = "cluster"


@dataclass(frozen=True, slots=True)
class Step:
    """One next step: whose move, what to do in the imperative, and a command that can be copied, if there is one."""

    move: Move
    do: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule returns when it fires. `move` and `outlook` override the rule's defaults where the evidence decides."""

    sentence: str
    evidence: tuple[Evidence, ...]
    next: tuple[Step, ...] = ()
    subjects: tuple[str, ...] = ()
    certainty: Certainty = "certain"
    move: Move | None = None
    outlook: Outlook | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    beside: bool = False
    """It is true but not what holds the job back: it stands in `also`, never as the headline."""
    unread: tuple[str, ...] = ()
    """What it fired without having read although that could change it ("trainjobs: not read"): the answer is not complete."""

    def __post_init__(self) -> None:
        """Refuse a finding without evidence."""
        if not self.evidence:
            msg = f"a finding needs evidence: {self.sentence!r}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that fired, with the rule's slug and its resolved move and outlook."""

    rule: str
    stage: Stage
    certainty: Certainty
    sentence: str
    subjects: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    next: tuple[Step, ...]
    data: Mapping[str, Any]
    move: Move
    outlook: Outlook


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A rule that could not be checked, and what was missing."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class JobId:
    """The object that was meant."""

    api_version: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Link:
    """One object of the admission path. `ok` is None where nothing is known. `state` is a short phrase."""

    kind: str
    name: str
    state: str
    ok: bool | None
    namespace: str = ""
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """One flavor and resource that the Workload needs; amounts in Kueue's unit (see `quantity`), None where not known.

    `verdict`: fits, wait, never, excluded; `why` says why it is excluded; `limit` names the binding term.
    """

    pod_sets: tuple[str, ...]
    flavor: str
    resource: str
    requested: int
    nominal: int | None
    used: int | None
    available: int | None
    capacity: int | None
    short: int | None
    verdict: Literal["fits", "wait", "never", "excluded"] | None
    why: str | None = None
    limit: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A Workload that holds quota this one needs. `amount` in Kueue's unit, `since` when it got it."""

    namespace: str
    job: str
    workload: str
    cluster_queue: str
    flavor: str
    resource: str
    amount: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class AheadJob:
    """A Workload that stands before this one, and why."""

    namespace: str
    job: str
    why: str


@dataclass(frozen=True, slots=True)
class Ahead:
    """The line before this Workload: how many are before it, how many wait in all, and the first of them."""

    position: int | None
    total: int | None
    jobs: tuple[AheadJob, ...] = ()


@dataclass(frozen=True, slots=True)
class PodCounts:
    """How many pods the job wants and how far they are."""

    wanted: int
    created: int
    scheduled: int
    running: int


@dataclass(frozen=True, slots=True)
class KueueSaid:
    """Kueue's own last words: `since` when the condition flipped, `last_seen` when an event repeated them."""

    text: str
    reason: str
    since: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class Withheld:
    """What disclosure kept back: the level that was applied, and how many other namespaces lost their names."""

    level: Level = "all"
    namespaces: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer to one question."""

    asked: str
    read_as: str
    cluster: str
    job: JobId | None
    stage: Stage
    admitted: bool | None
    outlook: Outlook
    move: Move
    headline: Finding
    also: tuple[Finding, ...]
    context: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    complete: bool
    chain: tuple[Link, ...]
    quota: tuple[QuotaRow, ...]
    holders: tuple[Holder, ...]
    ahead: Ahead | None
    pods: PodCounts | None
    kueue_said: KueueSaid | None
    withheld: Withheld
    versions: Versions
    observed_at: datetime
    gaps: tuple[Gap, ...] = ()
    older: tuple[tuple[str, datetime], ...] = ()
    """Kinds of which a part was read a while before `observed_at`, and when."""
    faults: tuple[str, ...] = ()
    """Rules that broke ("slug: TypeError: …"), for the log alone; each is also in `not_checked`."""
