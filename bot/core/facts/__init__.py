"""Facts: what follows from the objects. Each is computed on first use and is a value or raises `Unknown(reason)`.

`Facts` is what a rule gets. Its parts: `named` (what carries the asked name), `missing` (what is known where nothing
does), `kin` (what owns what), `matching` (whose a Workload is), `identity` (which object was meant, which Workload
decides), `progress` (how far it is), `queue` (LocalQueue,
ClusterQueue, cohort path), `trees` (quota and usage of the cohorts), `quota` (the arithmetic), `order` (who stands before
it), `topology`, `checks`, `history` (evictions, Kueue's words, events), `pods`, `nodes` (the funnel), `controller` (Kueue
itself), `membership` (whether Kueue takes the job up), `operator` (whether the controller of its kind acts on it).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Self

from bot.core.diagnosis import Diagnosis, NotChecked
from bot.core.facts.lazy import fact
from bot.core.records import dataclass
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When something is young or has lasted long, in seconds (settings `young_seconds`, `long_seconds`)."""

    young: float = 30
    long: float = 300


class Facts:
    """Everything a rule may know about one question."""

    def __init__(self, snapshot: Snapshot, ref: JobRef, thresholds: Thresholds | None = None) -> None:
        """Take the snapshot and the question."""
        self.snapshot = snapshot
        self.ref = ref
        self.thresholds = thresholds or Thresholds()
        self.unchecked: tuple[NotChecked, ...] = ()
        self.answer_for: Callable[[JobRef], Diagnosis] | None = None
        """Answers another question about the same snapshot; the engine sets it, for names that several objects share."""

    def __enter__(self) -> Self:
        """Give the facts; once they are left, nothing may be asked of them any more."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of all that was worked out.

        The parts know one another: without this a snapshot that nobody needs any more stays until the garbage collector
        looks, and one of a wide cluster is large.
        """
        parts = [vars(self).get(name) for name, value in vars(Facts).items() if isinstance(value, fact)]
        for known in (*filter(None, parts), self):
            vars(known).clear()

    @property
    def now(self) -> datetime:
        """The moment of the snapshot; the only clock there is."""
        return self.snapshot.observed_at

    def age(self, moment: datetime | None) -> float | None:
        """Give the seconds since a moment, None when there is none."""
        return None if moment is None else (self.now - moment).total_seconds()

    @fact
    def named(self) -> "Named":
        """What carries the asked name, and which of it was meant."""
        return Named(self)

    @fact
    def missing(self) -> "Missing":
        """What is known of a job that is not there or may not be read."""
        return Missing(self)

    @fact
    def kin(self) -> "Kin":
        """What owns what, and the events about it."""
        return Kin(self)

    @fact
    def matching(self) -> "Matching":
        """Which Workloads are an object's."""
        return Matching(self)

    @fact
    def identity(self) -> "Identity":
        """Which object was meant, and which Workload decides for it."""
        return Identity(self)

    @fact
    def progress(self) -> "Progress":
        """How far the job is, and who runs it once it is admitted."""
        return Progress(self)

    @fact
    def queue(self) -> "Queue":
        """The LocalQueue, the ClusterQueue and the cohort path."""
        return Queue(self)

    @fact
    def trees(self) -> "Trees":
        """The trees of ClusterQueues and Cohorts, and what is in use in them."""
        return Trees(self)

    @fact
    def quota(self) -> "Quota":
        """What is asked, free and the most it could ever get, per flavor and resource."""
        return Quota(self)

    @fact
    def order(self) -> "Order":
        """Who stands before it, and why."""
        return Order(self)

    @fact
    def topology(self) -> "TopologyFacts":
        """Domains, and how many pods fit into each."""
        return TopologyFacts(self)

    @fact
    def checks(self) -> "Checks":
        """Admission checks and what stands behind them."""
        return Checks(self)

    @fact
    def history(self) -> "History":
        """Evictions, preemptions, Kueue's words and the events."""
        return History(self)

    @fact
    def pods(self) -> "Pods":
        """The pods of the job, counted and looked at."""
        return Pods(self)

    @fact
    def nodes(self) -> "Nodes":
        """The funnel: which nodes could take a pod, and which filter keeps the others out."""
        return Nodes(self)

    @fact
    def controller(self) -> "Controller":
        """Kueue itself: running, version, configuration."""
        return Controller(self)

    @fact
    def membership(self) -> "Membership":
        """Whether Kueue takes up the job, and what makes it ignore it."""
        return Membership(self)

    @fact
    def operator(self) -> "Operator":
        """Whether the controller of the job's kind accepts the job and acts on it."""
        return Operator(self)


# The parts need the class above only as a type.
from bot.core.facts.checks import Checks  # noqa: E402
from bot.core.facts.controller import Controller  # noqa: E402
from bot.core.facts.history import History  # noqa: E402
from bot.core.facts.identity import Identity  # noqa: E402
from bot.core.facts.kin import Kin  # noqa: E402
from bot.core.facts.matching import Matching  # noqa: E402
from bot.core.facts.membership import Membership  # noqa: E402
from bot.core.facts.missing import Missing  # noqa: E402
from bot.core.facts.named import Named  # noqa: E402
from bot.core.facts.nodes import Nodes  # noqa: E402
from bot.core.facts.operator import Operator  # noqa: E402
from bot.core.facts.order import Order  # noqa: E402
from bot.core.facts.pods import Pods  # noqa: E402
from bot.core.facts.progress import Progress  # noqa: E402
from bot.core.facts.queue import Queue  # noqa: E402
from bot.core.facts.quota import Quota  # noqa: E402
from bot.core.facts.topology import TopologyFacts  # noqa: E402
from bot.core.facts.trees import Trees  # noqa: E402

__all__ = ["Facts", "Thresholds", "fact"]
