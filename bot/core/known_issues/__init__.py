"""Known issues of Kueue that keep a job waiting: which versions have them, and how they show in the objects.

An issue is named only where its signature fits the facts and the version may have it. References are issues and pull
requests of kubernetes-sigs/kueue; the fixed versions are those of its changelogs.
"""

from typing import TYPE_CHECKING

from bot.core.known_issues.issue import Issue, Match, Version, affected, version_of
from bot.core.known_issues.table import ISSUES
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts


def matching(facts: "Facts") -> tuple[tuple[Issue, Match, Version | None], ...]:
    """Give the issues that show here and that this Kueue may have, with the version (None when it cannot be told).

    Without a version every issue whose signature fits is given. Raises Unknown when none fits and one could not be checked.
    """
    version = version_of(facts.controller.version or "")
    found: list[tuple[Issue, Match, Version | None]] = []
    unknown: Unknown | None = None
    for issue in ISSUES:
        if version is not None and not affected(issue, version):
            continue
        try:
            match = issue.signature(facts)
        except Unknown as missing:
            unknown = missing
            continue
        if match is not None:
            found.append((issue, match, version))
    if unknown is not None and not found:
        raise unknown
    return tuple(found)


__all__ = ["matching"]
