"""Who may ask what: the access rules, with what Slack and Kubernetes have to be asked for them."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from bot import telemetry
from bot.core.access import Decision, Grant, Person, Policy
from bot.core.diagnosis import Level
from bot.core.disclosure import Audience
from bot.core.reference import JobRef
from bot.settings import Settings
from bot.slack.people import People, UnknownPersonError
from bot.slack.persons import Asker, Home

_log = telemetry.log("gate")


class CannotTellError(Exception):
    """Whether somebody may see something could not be found out; the message is a sentence."""


@runtime_checkable
class Permits(Protocol):
    """What knows what Kubernetes itself lets a person read."""

    async def permitted(self, cluster: str, user: str, namespace: str) -> Level | None:
        """Give how much somebody may see of answers about a namespace, None for nothing.

        Raises:
            LookupError: it could not be found out; the message says why.
        """
        ...


class Gate:
    """Decides about questions.

    Args:
        settings: the rules, and the clusters whose own permissions decide, too.
        people: asks Slack about people.
        home: who the bot is.
        permits: asks the clusters.
    """

    def __init__(self, settings: Settings, people: People, home: Home, permits: Permits | None = None) -> None:
        """Take the rules."""
        self._people, self._home, self._permits = people, home, permits
        self._settings = settings
        self._reviewed: Mapping[str, str] = {
            cluster.name: cluster.access_review_user for cluster in settings.clusters if cluster.access_review
        }

    @property
    def policy(self) -> Policy:
        """The rules in force."""
        return self._settings.policy

    def is_reviewed(self, cluster: str) -> bool:
        """Tell whether a person's own Kubernetes permissions decide about a cluster, too."""
        return cluster in self._reviewed

    def person(self, asker: Asker, groups: frozenset[str] = frozenset()) -> Person:
        """Give somebody as the rules take them, by what the delivery says alone."""
        member = self._home.is_member(asker)
        return Person(asker.enterprise, asker.team, asker.user, member=member, groups=groups)

    def now(self, asker: Asker, channel: str, ref: JobRef) -> Decision | None:
        """Decide without asking anybody; None when Slack or the cluster has to be asked first."""
        person = self.person(asker)
        if not person.member:
            return None if self._home.is_doubtful(asker) else self._decided(person, channel, ref)
        if ref.cluster in self._reviewed:
            return None
        if self.policy.groups and any(rule.groups for rule in self.policy.rules):
            return None
        return self._decided(person, channel, ref)

    async def decide(self, asker: Asker, channel: str, ref: JobRef) -> Decision:
        """Decide, with whatever has to be asked. Never raises: what cannot be told is a refusal that says so."""
        known = self.now(asker, channel, ref)
        if known is not None:
            return known
        person, unknown = await self.known(asker)
        decision = self._decided(person, channel, ref)
        if decision.private is None:
            told = (
                f" Whether you are in a user group could not be told: {next(iter(unknown.values()))}."
                if unknown
                else ""
            )
            return Decision(None, None, decision.refusal + told, decision.by)
        template = self._reviewed.get(ref.cluster)
        if template is None:
            return decision
        try:
            level = await self._level(asker, template, ref)
        except CannotTellError as error:
            return Decision(None, None, str(error), ("kubernetes",))
        if level is None:
            where = f" on cluster {ref.cluster}" if ref.cluster else ""
            why = (
                f"Kubernetes does not let you read Workloads in namespace {ref.namespace}{where}, "
                "and this app shows nobody more than that"
            )
            return Decision(None, None, f"{why}.{self.policy.ask()}", ("kubernetes",))
        return decision.within(level)

    async def known(self, asker: Asker) -> tuple[Person, dict[str, str]]:
        """Give somebody with organisation and user groups, and by group why it could not be told."""
        member = self._home.is_member(asker)
        if not member and self._home.is_doubtful(asker):
            member = await self._people.is_member(asker)
        groups, unknown = (frozenset[str](), dict[str, str]())
        if member and self.policy.groups:
            groups, unknown = await self._people.groups(asker, self.policy.groups)
        return Person(asker.enterprise, asker.team, asker.user, member=member, groups=groups), unknown

    def audience(self, ref: JobRef, grant: Grant, channel: str, person: Person | None = None) -> Audience:
        """Give what a place may see of an answer, or with a person what that person may see alone."""
        named = self.policy.named(channel, ref.cluster, person)
        return Audience(level=grant.level, namespace=ref.namespace, may_ask=named)

    async def unusable(self) -> list[str]:
        """Say of each rule with user groups why it cannot be used, when it cannot: for the start and for the doctor."""
        if not self.policy.groups:
            return []
        nobody = Asker(self._home.enterprise, self._home.team, "")
        _, unknown = await self._people.groups(nobody, self.policy.groups)
        return [
            f"access rule {rule.name}: its user group {group} cannot be read: {unknown[group]}"
            + ("; add the scope usergroups:read" if "scope" in unknown[group] else "")
            for rule in self.policy.rules
            for group in rule.groups
            if group in unknown
        ]

    def _decided(self, person: Person, channel: str, ref: JobRef) -> Decision:
        return self.policy.decide(person, place_of(channel), ref.cluster, ref.namespace)

    async def _level(self, asker: Asker, template: str, ref: JobRef) -> Level | None:
        about = f"Whether you may see namespace {ref.namespace} could not be found out"
        if self._permits is None:
            raise CannotTellError(f"{about}: this app cannot ask Kubernetes.")
        try:
            user = template.replace("{email}", await self._people.email(asker.user))
            return await self._permits.permitted(ref.cluster, user, ref.namespace)
        except (UnknownPersonError, LookupError) as error:
            _log.warning("review failed", user=asker.user, cluster=ref.cluster, error=str(error))
            raise CannotTellError(
                f"{about}: {error}. So it is not shown; ask again later.{self.policy.ask()}"
            ) from error


def place_of(channel: str) -> str:
    """Give a channel as the rules take it: "" for a direct message with the bot, where nobody else reads along."""
    return "" if channel.startswith("D") else channel
