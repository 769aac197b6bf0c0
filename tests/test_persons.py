"""Who is behind a delivery: every kind of payload, in a workspace, in an organisation, and in channels shared with others."""

from typing import Any

import pytest

from bot.demo.slack import LocalSlack
from bot.slack.persons import Asker, Home, asker_of
from tests.clusters import recorded
from tests.workspace import Recorded, shown, workspace

ALONE = Home(team="T1", user="U0BOT")
"""A bot in a workspace that belongs to no organisation."""
IN_ORG = Home(enterprise="E1", team="T1", user="U0BOT")
"""A bot in one workspace of an organisation."""
ORG_WIDE = Home(enterprise="E1", team="E1", user="U0BOT", org_wide=True)
"""A bot that is installed for a whole organisation: auth.test then names the organisation as its team."""


def command(**ids: Any) -> dict[str, Any]:
    return {"command": "/whypending", "text": "team-a/train", "user_id": "U1", "channel_id": "C1", **ids}


def pressed(user_team: str | None, team: Any, enterprise: Any = None, **more: Any) -> dict[str, Any]:
    user = {"id": "U1", "username": "ann", **({"team_id": user_team} if user_team else {})}
    return {"type": "block_actions", "user": user, "team": team, "enterprise": enterprise, **more}


def mention(event: dict[str, Any], **outer: Any) -> dict[str, Any]:
    said = {"type": "app_mention", "user": "U1", "channel": "C1", "text": "<@U0BOT> team-a/train", **event}
    return {"type": "event_callback", "team_id": "T1", "enterprise_id": None, "event": said, **outer}


def granted(enterprise: str | None, team: str | None, *, wide: bool = False) -> list[dict[str, Any]]:
    return [
        {
            "enterprise_id": enterprise,
            "team_id": team,
            "user_id": "U0BOT",
            "is_bot": True,
            "is_enterprise_install": wide,
        }
    ]


MEMBERS = {
    "a command in a workspace": (ALONE, command(team_id="T1", is_enterprise_install="false"), Asker("", "T1", "U1")),
    "a command in another workspace of the organisation": (
        IN_ORG, command(team_id="T2", enterprise_id="E1", is_enterprise_install="false"), Asker("E1", "T2", "U1"),
    ),
    "a command, installed for the organisation": (
        ORG_WIDE, command(team_id="T2", enterprise_id="E1", is_enterprise_install="true"), Asker("E1", "T2", "U1"),
    ),
    "a button": (ALONE, pressed("T1", {"id": "T1", "domain": "x"}), Asker("", "T1", "U1")),
    "a button in an organisation": (
        IN_ORG, pressed("T1", {"id": "T1", "enterprise_id": "E1"}, {"id": "E1"}), Asker("E1", "T1", "U1"),
    ),
    "a button whose user is told by the organisation": (
        IN_ORG, pressed("E1", {"id": "T1", "enterprise_id": "E1"}, {"id": "E1"}), Asker("E1", "T1", "U1"),
    ),
    "a button, installed for the organisation": (
        ORG_WIDE, pressed("E1", None, {"id": "E1"}, is_enterprise_install=True), Asker("E1", "", "U1"),
    ),
    "a modal that was opened in another workspace": (
        ALONE, pressed("T1", {"id": "T1"}, view={"id": "V1", "team_id": "T9", "app_installed_team_id": "T9"}),
        Asker("", "T1", "U1"),
    ),
    "a shortcut that does not tell the user's team": (ALONE, pressed(None, {"id": "T1"}), Asker("", "T1", "U1")),
    "a mention": (ALONE, mention({"team": "T1"}, authorizations=granted(None, "T1")), Asker("", "T1", "U1")),
    "an event without any team": (ALONE, mention({}, is_ext_shared_channel=False), Asker("", "T1", "U1")),
    "a mention in an organisation, by its id": (
        IN_ORG, mention({"team": "E1", "user_team": "E1"}, enterprise_id="E1"), Asker("E1", "T1", "U1"),
    ),
    "a mention from another workspace of the organisation": (
        IN_ORG, mention({"team": "T2"}, enterprise_id="E1", is_ext_shared_channel=False), Asker("E1", "T2", "U1"),
    ),
    "one of ours in a channel that is shared with others": (
        ALONE, mention({"team": "T1", "user_team": "T1"}, team_id="T9", context_team_id="T1", is_ext_shared_channel=True),
        Asker("", "T1", "U1"),
    ),
    "one of our organisation in a channel that is shared with others": (
        IN_ORG,
        mention({"user_team": "E1", "team": "T1"}, team_id="T9", enterprise_id="E9", context_team_id="T1",
                context_enterprise_id="E1", is_ext_shared_channel=True, authorizations=granted("E1", "T1")),
        Asker("E1", "T1", "U1"),
    ),
    "the Home tab": (
        ALONE, {"type": "event_callback", "team_id": "T1", "event": {"type": "app_home_opened", "user": "U1"}},
        Asker("", "T1", "U1"),
    ),
}  # fmt: skip

STRANGERS = {
    "a command of another workspace": (ALONE, command(team_id="T9")),
    "a command of another organisation": (IN_ORG, command(team_id="T9", enterprise_id="E9")),
    "a button pressed by somebody else's user in our channel": (ALONE, pressed("T9", {"id": "T1", "domain": "x"})),
    "the same in an organisation, told by theirs": (IN_ORG, pressed("E9", {"id": "T1", "enterprise_id": "E1"}, {"id": "E1"})),
    "a mention by somebody else's user": (
        ALONE,
        mention({"team": "T9", "user_team": "T9"}, context_team_id="T1", is_ext_shared_channel=True,
                authorizations=granted(None, "T1")),
    ),
    "a mention by another organisation's user": (
        IN_ORG, mention({"user_team": "E9"}, enterprise_id="E1", is_ext_shared_channel=True, authorizations=granted("E1", "T1")),
    ),
    "an event in a shared channel that does not say whose user it is": (
        ALONE, mention({}, is_ext_shared_channel=True, authorizations=granted(None, "T1")),
    ),
    "nothing that can be read": (ALONE, {"user": {"id": 1, "team_id": 7}, "team": "T1"}),
    "nothing at all": (ALONE, {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", MEMBERS)
def test_a_member_is_told_from_every_kind_of_delivery(kind: str) -> None:
    home, payload, expected = MEMBERS[kind]
    asker = asker_of(payload)
    assert (asker.enterprise, asker.team, asker.user) == (expected.enterprise, expected.team, expected.user)
    assert home.is_member(asker)


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_stranger_is_told_from_every_kind_of_delivery(kind: str) -> None:
    home, payload = STRANGERS[kind]
    assert not home.is_member(asker_of(payload))


@pytest.mark.parametrize("kind", STRANGERS)
def test_before_it_is_known_whose_bot_it_is_nobody_is_a_member(kind: str) -> None:
    assert not Home().is_member(asker_of(STRANGERS[kind][1]))
    assert not Home().is_member(Asker("", "", "U1"))


def test_slack_is_asked_only_where_a_delivery_leaves_it_open() -> None:
    open_ = asker_of(pressed("T2", None, {"id": "E1"}, is_enterprise_install=True))
    assert ORG_WIDE.is_doubtful(open_)
    assert not ALONE.is_doubtful(open_), "a workspace without an organisation has no other workspaces"
    assert not ORG_WIDE.is_doubtful(asker_of(pressed("E9", None, {"id": "E1"})))
    assert not IN_ORG.is_doubtful(asker_of(command(team_id="T9", enterprise_id="E9")))


@pytest.mark.parametrize(
    ("info", "answered"),
    [
        ({"enterprise_user": {"enterprise_id": "E1"}}, True),
        ({"enterprise_user": {"enterprise_id": "E9"}}, False),
        ({"enterprise_user": {"enterprise_id": "E1"}, "is_stranger": True}, False),
        (None, False),
    ],
)
async def test_somebody_in_doubt_is_a_member_when_slack_says_so(info: dict[str, Any] | None, answered: bool) -> None:  # noqa: FBT001
    service = Recorded(recorded("v0.19.2/quota-in-use"))
    slack = LocalSlack()
    async with workspace(service, slack=slack) as world:
        world.bot.desk.home.enterprise, world.bot.desk.home.team = "E1", "E1"
        if info is None:
            slack.fail("users.info", error="missing_scope", times=9)
        else:
            slack.fail("users.info", body=_json({"ok": True, "user": info}), times=9)
        await world.ask(
            "team-a/train", world.elsewhere, trigger_id="a"
        )  # a command tells another workspace: a stranger
        card = {"type": "block_actions", **pressed("T2", None, {"id": "E1"}, is_enterprise_install=True)}
        place = {"channel": {"id": world.ml.id}, "container": {"is_ephemeral": False, "message_ts": "1.1"}}
        button = {"actions": [{"action_id": "details", "value": "team-a/train"}], "trigger_id": slack.trigger()}
        await slack.deliver(
            "interactive", {**card, **place, **button, "response_url": slack.response_url(world.ml, world.ann)}
        )
        if answered:
            await slack.until(lambda: service.asked or None)
        else:
            said = await world.whisper(world.ml)
            assert "not a member" in shown(said)
            assert service.asked == []


def _json(value: Any) -> str:
    import json

    return json.dumps(value)
