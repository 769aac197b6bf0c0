"""Each method of Slack that the bot calls fails, in each way: nothing breaks, nobody waits, and the rest goes on."""

import asyncio
import json
from typing import Any

import pytest
import structlog

from bot.demo.slack import BOT
from bot.settings import Access
from tests.clusters import recorded
from tests.test_unfurl import CLUSTERS, LINK, slack_with_domains
from tests.workspace import World, by_bot, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"
METHODS = (
    "chat.postMessage", "chat.postEphemeral", "chat.update", "chat.unfurl", "views.open", "views.update", "views.publish",
    "conversations.history", "conversations.replies", "users.info", "usergroups.users.list", "response_url",
    "files.getUploadURLExternal", "files.completeUploadExternal",
)  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "refused": {"error": "a_word_of_next_year"},
    "limited": {"retry_after": 600},
    "down": {"status": 503},
    "garbled": {"body": "<html>Bad gateway</html>"},
}


async def everything(world: World) -> None:
    """Use every way to ask and every button, as far as Slack lets it."""
    slack, ann, ml = world.slack, world.ann, world.ml
    await world.ask("team-a/train")
    await idle(world)
    for card in [m for m in ml.messages if any(b["type"] == "actions" for b in m.get("blocks") or [])][:1]:
        there = {each.get("action_id") for block in card["blocks"] for each in block.get("elements", [])}
        for button in ("refresh", "details", "watch", "share"):
            if button in there:
                await slack.click(card, ml, ann, button)
                await idle(world)
    for root in by_bot(ml.roots())[:1]:
        await slack.say(f"<@{BOT}>", ml, ann, thread_ts=root["ts"])
        await slack.shortcut("why-pending", ann, root, ml)
    await slack.say(f"look: {LINK}", ml, ann)
    await slack.shortcut("ask-why-pending", ann)
    await slack.open_home(ann)
    for text in (
        "watch team-a/train until 23:59",
        "watches",
        "unwatch team-a/train",
        "team-a/train --private",
        "nonsense a b c",
    ):
        await world.ask(text)
    await idle(world)
    await world.ask("team-a/train", world.elsewhere)
    await world.bot.watches.round()
    await idle(world)


async def idle(world: World) -> None:
    """Wait until nothing is under way; a delivery may still be on its way for a moment."""
    await asyncio.sleep(0.02)
    await world.slack.until(lambda: not len(world.bot.work) or None, seconds=30)


@pytest.mark.parametrize(
    ("method", "way"),
    [(method, way) for method in METHODS for way in ("refused", "garbled")]
    + [(method, way) for method in ("chat.postMessage", "views.open") for way in ("limited", "down")],
)
async def test_whatever_fails_nothing_breaks_and_who_can_be_reached_is(method: str, way: str) -> None:
    slack = slack_with_domains()
    slack.fail(method, times=10_000, **WAYS[way])
    rules = (Access(name="default"), Access(name="admins", groups=(slack.usergroup("admins"),), level="all"))
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack, clusters=CLUSTERS, access=rules, drain_seconds=1) as world:
            await everything(world)
            told = [
                m
                for channel in slack.channels.values()
                for m in channel.messages
                if m.get("bot_id") or "ephemeral" in m
            ]
            assert any(SENTENCE in shown(message) for message in told), "by some way the answer arrives"
            assert "Traceback" not in json.dumps(told)
            slack.faults.clear()
            roots = len(by_bot(world.ml.roots()))
            await world.ask("team-a/train")
            await slack.until(lambda: len(by_bot(world.ml.roots())) > roots or None)
    assert [entry for entry in logs if entry.get("exc_info")] == []
