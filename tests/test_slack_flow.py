"""Through the real Bolt app against the local Slack: what people see, whatever Slack and the cluster do."""

import asyncio
import time

import pytest

from bot.demo.slack import LocalSlack
from tests.clusters import recorded
from tests.workspace import Recorded, by_bot, shown, workspace

QUOTA = "v0.19.2/quota-in-use"


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_the_verdict_is_a_root_message_and_the_card_stands_in_its_thread(mode: str) -> None:
    async with workspace(recorded(QUOTA), slack_mode=mode) as world:
        delivery = await world.ask("team-a/train")
        assert delivery.response is None
        root, card = await world.root(), await world.card()
        assert card["thread_ts"] == root["ts"]
        assert "train" in shown(root)
        assert f"<@{world.ann.id}>" in shown(root)
        assert any(block["type"] == "actions" for block in card["blocks"])
