"""An issue with its versions, how it shows, and what the signatures have in common."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.core import texts
from bot.core.diagnosis import Evidence
from bot.core.jobs import subject_of
from bot.core.names import quoted
from bot.core.records import dataclass

if TYPE_CHECKING:
    from bot.core.facts import Facts


OFTEN = 3  # a text or a pair of events that comes so often is a loop, not a moment


Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Match:
    """How an issue shows here: a sentence with names and numbers, and its proof."""

    sentence: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue: `title` says what Kueue does wrong, `fixed` the first version without it in each line that got a fix.

    `since` is the first version that has it, "" for all before the fix. `signature` may raise Unknown.
    """

    reference: str
    title: str
    fixed: tuple[str, ...]
    signature: Callable[["Facts"], Match | None]
    since: str = ""
    workaround: str = ""


def version_of(text: str) -> Version | None:
    """Give (major, minor, patch) of "v0.17.3" or "0.17.3-rc.1", None when it is not a version."""
    found = re.match(r"v?(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def _versions(issue: Issue) -> list[Version]:
    return sorted(version for text in issue.fixed if (version := version_of(text)) is not None)


def affected(issue: Issue, version: Version) -> bool:
    """Say whether a version has the issue: before the fix of its own line, else before the first line that has one."""
    since = version_of(issue.since)
    if since is not None and version < since:
        return False
    for fixed in _versions(issue):
        if fixed[:2] == version[:2]:
            return version < fixed
    return version < _versions(issue)[0]


def upgrade(issue: Issue, version: Version | None) -> str:
    """Give the nearest version without the issue: of the same line, else the next one; the first fix without a version."""
    later = [fixed for fixed in _versions(issue) if version is not None and fixed > version]
    return ".".join(str(part) for part in (later or _versions(issue))[0])


def said_by_kueue(facts: "Facts") -> Evidence:
    """Give Kueue's own text about the Workload as proof."""
    where = subject_of(facts.identity.want())
    return Evidence(where, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue")


def verdict(facts: "Facts") -> texts.Assignment | None:
    """Give the scheduler's verdict on a Workload that waits; None when it does not wait or has none."""
    if facts.progress.phase != "waiting":
        return None
    said = facts.history.said
    return said if isinstance(said, texts.Assignment) else None
