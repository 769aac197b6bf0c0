"""Who may ask about which namespace, and how much of an answer a place or a person may see.

Rules only ever grant. A rule that names channels grants to the place: whatever is posted there, everybody in it sees. A
rule that names users or user groups grants to the person: it counts where nobody else reads along (a private answer).
So a person with a wide view who asks in a wide channel never shows that channel more than the channel may see; what only
the person may see is answered in private.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from bot.core.diagnosis import Level
from bot.core.records import dataclass

LEVELS: tuple[Level, ...] = ("namespace", "queue", "cohort", "all")
"""From the narrowest view to the widest."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: enterprise, workspace and user together; `groups` are Slack user group ids.

    `member` is False for somebody from another workspace in a shared channel: a stranger.
    """

    enterprise: str
    team: str
    user: str
    member: bool
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AccessRule:
    """One grant. Patterns are shell globs (`team-*`); an empty field of `channels`, `groups` and `users` grants nothing by it.

    A rule without any channel, group and user is for every member, in every place. `contact` is whom to ask for more.
    """

    name: str
    namespaces: tuple[str, ...] = ("*",)
    level: Level = "namespace"
    channels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ("*",)
    contact: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """A view that was granted, and the rule that granted it."""

    level: Level
    rule: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What may be shown in the place, what to the person alone, and why not more.

    `shown` None and `private` set: answer in private. Both None: refuse, with `refusal` as the sentence.
    """

    shown: Grant | None
    private: Grant | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force, and whom to ask when none of them helps."""

    rules: tuple[AccessRule, ...]
    contact: str = ""

    def decide(self, person: Person, channel: str, cluster: str, namespace: str) -> Decision:
        """Decide about one question; `channel` is "" where only the person reads (a direct message, App Home)."""
        if not person.member:
            why = "You are not a member of the workspace that this app belongs to, and it shows the cluster to members alone"
            return Decision(None, None, f"{why}.{self._ask(self.rules)}")
        here = [rule for rule in self.rules if _any(rule.namespaces, namespace) and _any(rule.clusters, cluster)]
        everybody = [rule for rule in here if not (rule.channels or rule.groups or rule.users)]
        place = everybody + [rule for rule in here if channel and _any(rule.channels, channel)]
        personal = place + [
            rule
            for rule in here
            if _any(rule.users, person.user) or any(_any(rule.groups, group) for group in person.groups)
        ]
        shown, private = _widest(place), _widest(personal)
        if not channel:
            shown = private
        if private is not None:
            return Decision(shown, private)
        known = ", ".join(rule.name for rule in self.rules) or "none is configured"
        return Decision(
            None,
            None,
            f"No access rule lets you ask about namespace {namespace} here (rules: {known}).{self._ask(here)}",
        )

    def namespaces(self, person: Person, known: Iterable[str], channel: str = "", cluster: str = "") -> tuple[str, ...]:
        """Give those of the known namespaces that this person may ask about, sorted."""
        return tuple(sorted(name for name in known if self.decide(person, channel, cluster, name).private is not None))

    def _ask(self, rules: Iterable[AccessRule]) -> str:
        contact = next((rule.contact for rule in rules if rule.contact), self.contact)
        return f" Ask {contact} for access." if contact else " Ask whoever runs this app for access."


def _any(patterns: tuple[str, ...], value: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def _widest(rules: list[AccessRule]) -> Grant | None:
    if not rules:
        return None
    best = max(rules, key=lambda rule: (LEVELS.index(rule.level), -rules.index(rule)))
    return Grant(best.level, best.name)
