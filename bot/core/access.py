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


STRANGER = (
    "You are not a member of the workspace that this app belongs to, and it answers members alone. "
    "Ask somebody of the team that runs the cluster."
)
"""What is told to somebody from another workspace: no name, not even whom to ask."""


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

    `shown` None and `private` set: answer in private. Both None: refuse, with `refusal` as the sentence; `by` names the
    rules that came nearest.
    """

    shown: Grant | None
    private: Grant | None
    refusal: str = ""
    by: tuple[str, ...] = ()

    def within(self, level: Level) -> "Decision":
        """Bound it by what Kubernetes itself lets the person read: that is what the person sees alone, and the place no more."""
        if self.private is None:
            return self
        shown = self.shown and Grant(min(self.shown.level, level, key=LEVELS.index), self.shown.rule)
        return Decision(shown, Grant(level, self.private.rule))


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force, and whom to ask when none of them helps."""

    rules: tuple[AccessRule, ...]
    contact: str = ""

    def decide(self, person: Person, channel: str, cluster: str, namespace: str) -> Decision:
        """Decide about one question; `channel` is "" where only the person reads (a direct message, App Home)."""
        if not person.member:
            return Decision(None, None, STRANGER)
        mine = [rule for rule in self.granting(person, channel) if _covers(rule, cluster, namespace)]
        private = _widest(mine)
        if private is None:
            return self._refused(person, channel, cluster, namespace)
        return Decision(self.place(channel, cluster, namespace) if channel else private, private)

    def place(self, channel: str, cluster: str, namespace: str) -> Grant | None:
        """Give what a channel may see, whoever asks; None when it may see nothing."""
        return _widest([rule for rule in self.rules if _is_placed(rule, channel) and _covers(rule, cluster, namespace)])

    def granting(self, person: Person, channel: str) -> tuple[AccessRule, ...]:
        """Give the rules that grant this person something when asking there, whatever the question."""
        return tuple(
            rule for rule in self.rules if person.member and (_is_placed(rule, channel) or _is_for(rule, person))
        )

    def named(self, channel: str, cluster: str, person: Person | None = None) -> frozenset[str]:
        """Give the namespaces that rules name in full (no pattern) for a place, or with a person for that person.

        Those are somebody's own: an answer about one of them may name what is in the others.
        """
        rules = self.granting(person, channel) if person else [r for r in self.rules if _is_placed(r, channel)]
        covering = [rule for rule in rules if _any(rule.clusters, cluster)]
        return frozenset(name for rule in covering for name in rule.namespaces if not set(name) & set("*?["))

    def clusters(self, person: Person, channel: str, known: Iterable[str]) -> tuple[str, ...]:
        """Give those of the known clusters that this person may ask about there, in their order."""
        rules = [rule for rule in self.granting(person, channel) if rule.namespaces]
        return tuple(name for name in known if any(_any(rule.clusters, name) for rule in rules))

    def namespaces(self, person: Person, known: Iterable[str], channel: str = "", cluster: str = "") -> tuple[str, ...]:
        """Give those of the known namespaces that this person may ask about, sorted."""
        return tuple(sorted(name for name in known if self.decide(person, channel, cluster, name).private is not None))

    def listed(self, known: Iterable[str], channel: str, cluster: str, person: Person | None = None) -> tuple[str, ...]:
        """Give those of the known namespaces whose names may be told unasked, in a place or to a person, sorted.

        That everybody may ask about every namespace (`*`) tells nobody which there are: only rules that name them, or
        show everything, do.
        """
        rules = self.granting(person, channel) if person else [r for r in self.rules if _is_placed(r, channel)]
        telling = [
            AccessRule(
                rule.name,
                tuple(p for p in rule.namespaces if p.strip("*") or rule.level == "all"),
                clusters=rule.clusters,
            )
            for rule in rules
        ]
        return tuple(sorted(name for name in known if any(_covers(rule, cluster, name) for rule in telling)))

    @property
    def groups(self) -> frozenset[str]:
        """Every user group that a rule names: whose members have to be known."""
        return frozenset(group for rule in self.rules for group in rule.groups)

    def _refused(self, person: Person, channel: str, cluster: str, namespace: str) -> Decision:
        """Say which rules came nearest: those that hold here for others, or those for this question that hold elsewhere."""
        here = [rule for rule in self.granting(person, channel) if rule.namespaces]
        there = [rule for rule in self.rules if _covers(rule, cluster, namespace)]
        where = "here" if channel else "in a direct message"
        on = f" on cluster {cluster}" if cluster else ""
        if here:
            grants = "; ".join(f"{rule.name} for {_scope(rule)}" for rule in here)
            why = f"No access rule lets you ask about namespace {namespace}{on} {where}. What holds {where}: rule {grants}"
        elif there:
            names = _and([rule.name for rule in there])
            why = f"Namespace {namespace}{on} may be asked about by rule {names}, which is for other people or other places"
        else:
            why = f"No access rule covers namespace {namespace}{on}"
        nearest = here or there
        return Decision(None, None, f"{why}.{self.ask(there or here)}", tuple(rule.name for rule in nearest))

    def ask(self, rules: Iterable[AccessRule] = ()) -> str:
        """Say whom to ask for access: the contact of the first of these rules that has one, else of all."""
        contact = next((rule.contact for rule in rules if rule.contact), self.contact)
        return f" Ask {contact} for access." if contact else " Ask whoever runs this app for access."


def _is_placed(rule: AccessRule, channel: str) -> bool:
    """Whether it holds for everybody in a place: for all places, or for this channel."""
    return not (rule.channels or rule.groups or rule.users) or (bool(channel) and _any(rule.channels, channel))


def _is_for(rule: AccessRule, person: Person) -> bool:
    return _any(rule.users, person.user) or any(_any(rule.groups, group) for group in person.groups)


def _covers(rule: AccessRule, cluster: str, namespace: str) -> bool:
    return _any(rule.namespaces, namespace) and _any(rule.clusters, cluster)


def _scope(rule: AccessRule) -> str:
    clusters = "" if rule.clusters == ("*",) else f" on {_and(rule.clusters)}"
    spaces = "every namespace" if rule.namespaces == ("*",) else _and(rule.namespaces)
    return f"{spaces}{clusters}"


def _and(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _any(patterns: tuple[str, ...], value: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def _widest(rules: list[AccessRule]) -> Grant | None:
    if not rules:
        return None
    best = max(rules, key=lambda rule: (LEVELS.index(rule.level), -rules.index(rule)))
    return Grant(best.level, best.name)
