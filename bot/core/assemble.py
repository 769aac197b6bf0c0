"""The sections of an answer beside the findings: chain, quota table, holders, line, pods, Kueue's words, versions.

Each takes the facts and gives a finished section; each may raise `Unknown`, then the section is left out.
"""

from bot.core.diagnosis import Ahead, Holder, JobId, KueueSaid, Link, PodCounts, QuotaRow, Withheld
from bot.core.facts import Facts
from bot.core.facts.chain import links
from bot.core.snapshot import Versions

NOTHING_WITHHELD = Withheld()


def job(facts: Facts) -> JobId | None:
    """The job that was meant, also when only its Workloads were read; None when it was not found or is not clear."""
    return facts.identity.job


def chain(facts: Facts) -> tuple[Link, ...]:
    """The admission path in order; a missing link is still a row."""
    return links(facts)


def quota(facts: Facts) -> tuple[QuotaRow, ...]:
    """One row per flavor and resource that the Workload needs, while it waits for quota."""
    return facts.quota.rows if facts.progress.phase == "waiting" else ()


def holders(facts: Facts) -> tuple[Holder, ...]:
    """Who holds the quota that is missing, largest first."""
    return facts.quota.holders if facts.progress.phase == "waiting" else ()


def ahead(facts: Facts) -> Ahead | None:
    """The line before the Workload, None once it no longer waits for quota."""
    return facts.order.line if facts.progress.phase == "waiting" else None


def pods(facts: Facts) -> PodCounts | None:
    """How many pods are wanted, created, scheduled and running; None while nothing of it was ever admitted."""
    return facts.pods.counts


def kueue_said(facts: Facts) -> KueueSaid | None:
    """Kueue's own last words about the Workload."""
    return facts.history.kueue_said


def versions(facts: Facts) -> Versions:
    """The versions that could be told; Kueue's from the image of what was seen of it, when nothing else says it."""
    known = facts.snapshot.versions
    return Versions(facts.controller.version, known.kubernetes, known.api)
