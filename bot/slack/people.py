"""What Slack knows about people: their e-mail address, their organisation, their user groups; remembered for some minutes."""

from collections.abc import Iterable, Mapping
from typing import Any

from async_lru import alru_cache

from bot import telemetry
from bot.slack.persons import Asker, Home
from bot.slack.post import Poster, Undeliverable

REMEMBERED_SECONDS = 300.0

_log = telemetry.log("people")


class UnknownPersonError(Exception):
    """Slack does not tell; the message is a part of a sentence that says why."""


class People:
    """Asks Slack about people.

    Args:
        poster: the Web API.
        home: who the bot is.
    """

    def __init__(self, poster: Poster, home: Home) -> None:
        """Start knowing nobody."""
        self._poster, self._home = poster, home
        self._info = alru_cache(maxsize=10_000, ttl=REMEMBERED_SECONDS)(self._ask_info)
        self._members = alru_cache(maxsize=1_000, ttl=REMEMBERED_SECONDS)(self._ask_members)

    async def groups(self, asker: Asker, wanted: Iterable[str]) -> tuple[frozenset[str], dict[str, str]]:
        """Give those of the wanted user groups that somebody is in, and by group why it could not be told."""
        team = asker.team if self._home.org_wide else ""
        found, unknown = set[str](), dict[str, str]()
        for group in sorted(wanted):
            try:
                if asker.user in await self._members(group, team):
                    found.add(group)
            except UnknownPersonError as error:
                unknown[group] = str(error)
        return frozenset(found), unknown

    async def email(self, user: str) -> str:
        """Give the e-mail address of a member.

        Raises:
            UnknownPersonError: Slack does not tell it.
        """
        profile = (await self._info(user)).get("profile")
        email = profile.get("email") if isinstance(profile, Mapping) else None
        if not isinstance(email, str) or "@" not in email:
            msg = "Slack does not tell your e-mail address (it needs the scope users:read.email)"
            raise UnknownPersonError(msg)
        return email

    async def is_member(self, asker: Asker) -> bool:
        """Tell whether somebody belongs to the bot's own organisation; False when Slack does not tell."""
        try:
            info = await self._info(asker.user)
        except UnknownPersonError as error:
            _log.warning("membership unknown", user=asker.user, error=str(error))
            return False
        theirs = info.get("enterprise_user")
        enterprise = theirs.get("enterprise_id") if isinstance(theirs, Mapping) else info.get("enterprise_id")
        return not info.get("is_stranger") and bool(self._home.enterprise) and enterprise == self._home.enterprise

    async def is_stranger(self, user: str) -> bool:
        """Tell whether Slack says that somebody is from elsewhere; False when it does not tell."""
        try:
            info = await self._info(user)
        except UnknownPersonError:
            return False
        theirs = str(info.get("team_id") or "")
        elsewhere = bool(theirs and self._home.team and theirs != self._home.team and not self._home.enterprise)
        return bool(info.get("is_stranger")) or elsewhere

    async def _ask_info(self, user: str) -> Mapping[str, Any]:
        info = (await self._call("users.info", user=user)).get("user")
        return info if isinstance(info, Mapping) else {}

    async def _ask_members(self, group: str, team: str) -> frozenset[str]:
        more = {"team_id": team} if team else {}
        users = (await self._call("usergroups.users.list", usergroup=group, **more)).get("users")
        return frozenset(user for user in users if isinstance(user, str)) if isinstance(users, list) else frozenset()

    async def _call(self, method: str, **arguments: str) -> Mapping[str, Any]:
        try:
            return await self._poster.call(method, **arguments)
        except Undeliverable as refused:
            raise UnknownPersonError(_words(refused.error)) from refused


def _words(error: str) -> str:
    known = {
        "missing_scope": "the app lacks the scope for it",
        "no_such_subteam": "there is no such user group",
        "user_not_found": "Slack does not know the user",
        "timeout": "Slack did not answer in time",
    }
    return known.get(error, f"Slack refuses: {error}")
