"""The doctor says in words what is missing at Slack."""

from typing import Any

import pytest

from bot.demo.slack import LocalSlack
from bot.kube.doctor import Check
from bot.settings import Access
from bot.slack.doctor import examine
from tests.workspace import settings

FEWEST = (
    "commands,chat:write,chat:write.public,app_mentions:read,channels:history,groups:history,im:history,files:write"
)
EVERY = f"{FEWEST},usergroups:read,users:read,users:read.email,links:read,links:write"
LINKED = ({"links": {"kueueviz": {"base_url": "https://viz.example.com"}}},)
ADMINS = (Access(name="admins", groups=("S0ADMINS",), level="all"),)


async def examined(slack: LocalSlack, **more: Any) -> dict[str, Check]:
    async with slack.serve() as url:
        return {check.name: check for check in await examine(settings(url, **more))}


async def test_everything_is_there() -> None:
    slack = LocalSlack()
    slack.scopes = EVERY
    slack.usergroup("admins", slack.person("ann"))
    found = await examined(slack, access=ADMINS, clusters=[{"access_review": True}])
    assert all(check.ok for check in found.values())
    assert set(found) == {"slack", "scopes"}
    assert found["slack"].sentence == "It is whypending in workspace local."


@pytest.mark.parametrize(
    ("scope", "ok", "more"),
    [
        ("commands", False, {}),
        ("chat:write", False, {}),
        ("app_mentions:read", None, {}),
        ("channels:history", None, {}),
        ("groups:history", None, {}),
        ("im:history", None, {}),
        ("files:write", None, {}),
        ("links:read", None, {"clusters": LINKED}),
        ("links:write", None, {"clusters": LINKED}),
        ("usergroups:read", False, {"access": ADMINS}),
        ("users:read.email", False, {"clusters": [{"access_review": True}]}),
    ],
)
async def test_each_missing_scope_is_named_with_what_it_costs(scope: str, ok: Any, more: dict[str, Any]) -> None:
    slack = LocalSlack()
    slack.usergroup("admins")
    slack.scopes = ",".join(name for name in EVERY.split(",") if name != scope)
    check = (await examined(slack, **more))[f"scope {scope}"]
    assert check.ok is ok
    assert check.remedy


async def test_what_no_setting_needs_is_not_asked_for() -> None:
    slack = LocalSlack()
    slack.scopes = FEWEST
    assert set(await examined(slack)) == {"slack", "scopes"}


async def test_a_rule_whose_group_cannot_be_read_is_named() -> None:
    slack = LocalSlack()
    slack.scopes = EVERY
    check = (await examined(slack, access=ADMINS))["access rules"]
    assert check.ok is None
    assert "rule admins" in check.sentence
    assert "no such user group" in check.sentence


@pytest.mark.parametrize("fault", [{"error": "invalid_auth"}, {"status": 503}, {"body": "<html>"}])
async def test_a_token_that_is_refused_and_a_slack_that_is_none(fault: dict[str, Any]) -> None:
    slack = LocalSlack()
    slack.fail("auth.test", times=99, **fault)
    found = await examined(slack)
    assert [check.ok for check in found.values()] == [False]


async def test_without_a_token_there_is_nothing_to_examine() -> None:
    assert await examined(LocalSlack(), slack_bot_token=None) == {}
