"""Who is behind a delivery of Slack: a person is an enterprise, a workspace and a user together.

Each kind of delivery tells it elsewhere, and in channels that are shared with another company the ids beside the user are
often those of the workspace that the app is in, or of the one in which something happened. Only ids that Slack ties to the
user count; where there are none, the person is nobody's member. Sources: Slack's references of slash commands, interaction
payloads and the Events API, and what Bolt for Python does with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asker:
    """A person: enterprise ("" outside Enterprise Grid, or unknown), workspace ("" when unknown) and user."""

    enterprise: str
    team: str
    user: str


@dataclass(slots=True)
class Home:
    """Who the bot is in its workspace; filled in once Slack has said so."""

    enterprise: str = ""
    team: str = ""
    user: str = ""
    bot_id: str = ""
    name: str = "whypending"
    org_wide: bool = False
    """Whether it is installed for a whole organisation of Enterprise Grid."""

    def is_member(self, asker: Asker) -> bool:
        """Tell whether somebody belongs to the bot's own workspace or organisation, by what the delivery says alone."""
        if not self.team and not self.enterprise:
            return False
        return bool(self.team and asker.team == self.team) or bool(
            self.enterprise and asker.enterprise == self.enterprise
        )

    def is_doubtful(self, asker: Asker) -> bool:
        """Tell whether somebody may be of another workspace of the bot's own organisation: that Slack must be asked."""
        return bool(self.enterprise and asker.team and not asker.enterprise) and not self.is_member(asker)


def asker_of(payload: Mapping[str, Any]) -> Asker:
    """Tell who is behind a slash command, an interaction (button, shortcut, modal, Home tab) or an event."""
    if isinstance(payload.get("event"), Mapping):
        return _of_event(payload, payload["event"])
    if isinstance(payload.get("user"), Mapping):
        return _of_interaction(payload, payload["user"])
    # A slash command: only the workspaces that have the app have its commands, so its ids are the user's own.
    return _placed(_text(payload, "team_id"), _text(payload, "user_id"), (_ids(payload),))


def _of_interaction(payload: Mapping[str, Any], user: Mapping[str, Any]) -> Asker:
    """`user.team_id` is the user's, for organisations the enterprise; `team` and `enterprise` are those of the place."""
    team, enterprise = _mapping(payload, "team"), _mapping(payload, "enterprise")
    place = (_text(team, "id"), _text(team, "enterprise_id") or _text(enterprise, "id"))
    theirs = _text(user, "team_id")
    if not theirs:  # a delivery without it: what it says of the place is said of the user
        return _placed(place[0], _text(user, "id"), (place,))
    return _placed(theirs, _text(user, "id"), (place,))


def _of_event(payload: Mapping[str, Any], event: Mapping[str, Any]) -> Asker:
    """The event's own team is its author's; the outer ones are where it happened and where the app is installed."""
    user = event.get("user")
    name = _text(user, "id") if isinstance(user, Mapping) else str(user or "")
    theirs = next((_text(event, key) for key in ("user_team", "source_team", "team") if _text(event, key)), "")
    grants = [entry for entry in payload.get("authorizations") or () if isinstance(entry, Mapping)]
    places = (
        _ids(payload),
        (_text(payload, "context_team_id"), _text(payload, "context_enterprise_id")),
        *(_ids(entry) for entry in grants),
    )
    if payload.get("is_ext_shared_channel"):
        return _placed(theirs, name, places)
    # Nobody from outside is in this channel: the organisation is everybody's.
    found = _placed(theirs or _text(payload, "team_id"), name, places)
    return Asker(found.enterprise or _text(payload, "enterprise_id"), found.team, name)


def _placed(theirs: str, user: str, places: tuple[tuple[str, str], ...]) -> Asker:
    """Complete a user's own id, a workspace's or an enterprise's, by the (workspace, enterprise) pairs of a delivery."""
    if theirs.startswith("E"):
        return Asker(theirs, next((team for team, enterprise in places if enterprise == theirs), ""), user)
    return Asker(next((enterprise for team, enterprise in places if team and team == theirs), ""), theirs, user)


def _ids(entry: Mapping[str, Any]) -> tuple[str, str]:
    return _text(entry, "team_id"), _text(entry, "enterprise_id")


def _mapping(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
