"""Every word with which Slack refuses, at every step of an answer: somebody is always told, and nobody twice."""

import asyncio
from typing import Any

import pytest
import structlog

from bot.demo.slack import LocalSlack
from tests.clusters import recorded
from tests.workspace import World, by_bot, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"
NO_PLACE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action", "no_permission")
TOO_RICH = (
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_attachments",
    "msg_blocks_too_long",
    "invalid_metadata_format",
)
BROKEN = (
    "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "ekm_access_denied",
    "missing_scope", "accesslimited", "rate_limited", "message_limit_exceeded", "a_word_of_next_year",
)  # fmt: skip
OUT = ("token_revoked", "token_expired", "account_inactive", "invalid_auth", "not_authed")


def in_thread(arguments: dict[str, Any]) -> bool:
    return bool(arguments.get("thread_ts"))


async def settled(world: World) -> None:
    """Wait until no answer is under way."""
    await world.slack.until(lambda: not len(world.bot.work) or None, seconds=30)


def once(world: World) -> None:
    """The asker has the sentence, and one root at most stands in the channel."""
    told = [message for message in world.ml.messages if SENTENCE in shown(message)]
    assert told
    assert len(by_bot(world.ml.roots())) <= 1
    assert not [message for message in world.ml.messages if "Traceback" in shown(message)]


@pytest.mark.parametrize("error", [*NO_PLACE, *BROKEN, *OUT])
async def test_a_root_that_is_refused_for_good_is_answered_privately(error: str) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error=error, times=99)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        await world.slack.until(lambda: world.ml.messages or None)
        await settled(world)
        once(world)
        assert not by_bot(world.ml.roots())


@pytest.mark.parametrize("error", [*NO_PLACE, *BROKEN, *TOO_RICH])
async def test_a_card_that_is_refused_for_good_leaves_no_question_unanswered(error: str) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error=error, times=99, when=in_thread)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        await world.root()
        await settled(world)
        once(world)


@pytest.mark.parametrize("error", TOO_RICH)
async def test_what_is_too_rich_becomes_plainer(error: str) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error=error, times=1)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())
        await settled(world)
        once(world)


@pytest.mark.parametrize("status", [404, 410, 500])
async def test_a_private_address_that_is_used_up_is_not_the_only_one(status: int) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error="not_in_channel", times=99)
    slack.fail("response_url", status=status, times=99)
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack) as world:
            await world.ask("team-a/train")
            await slack.until(lambda: slack.called("chat.postEphemeral") or None, seconds=30)
            await settled(world)
    assert [entry for entry in logs if entry["event"] == "question"], "who asked, and where the answer ended"


@pytest.mark.parametrize(
    "error", ["message_not_found", "cant_update_message", "edit_window_closed", "is_archived", "internal_error"]
)
async def test_a_card_that_cannot_be_edited_is_answered_anew(error: str) -> None:
    slack = LocalSlack()
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        card = await world.card()
        before = len(world.ml.messages)
        slack.fail("chat.update", error=error, times=99)
        await slack.click(card, world.ml, world.ann, "refresh")
        await slack.until(lambda: len(world.ml.messages) > before or None)
        await settled(world)
        assert SENTENCE in shown(world.ml.messages[-1])


@pytest.mark.parametrize("error", ["expired_trigger_id", "exchanged_trigger_id", "invalid_arguments", "internal_error"])
async def test_details_without_a_modal_are_private(error: str) -> None:
    slack = LocalSlack()
    slack.fail("views.open", error=error, times=99)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        await slack.click(await world.card(), world.ml, world.ann, "details")
        assert "quota-in-use" in shown(await world.whisper())


@pytest.mark.parametrize("error", ["not_found", "hash_conflict", "view_too_large", "internal_error"])
async def test_a_modal_that_cannot_be_filled_breaks_nothing(error: str) -> None:
    slack = LocalSlack()
    slack.fail("views.update", error=error, times=99)
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack) as world:
            await world.ask("team-a/train")
            await slack.click(await world.card(), world.ml, world.ann, "details")
            await slack.until(lambda: slack.called("views.update") or None)
            await settled(world)
            await world.ask("team-a/train", world.elsewhere)
            assert SENTENCE in shown(await world.whisper(world.elsewhere))
    assert not [entry for entry in logs if entry.get("exc_info")]


async def test_bursts_of_rate_limits_lose_no_answer() -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", retry_after=1, times=6)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await asyncio.gather(*(world.ask(f"team-a/job-{n}") for n in range(5)))
        await slack.until(lambda: len(by_bot(world.ml.roots())) + len(_private(world)) >= 5 or None, seconds=40)
        await settled(world)
        assert len(by_bot(world.ml.roots())) + len(_private(world)) == 5


def _private(world: World) -> list[dict[str, Any]]:
    return [message for message in world.ml.messages if "ephemeral" in message]
