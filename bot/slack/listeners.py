"""What the bot listens to. Each listener acknowledges with its first statement and hands the work to the desk.

Slack delivers again what it believes lost, so each asks `Deliveries` whether it is the first, or does no harm twice.
`context["sent"]` is set by the transport once the acknowledgement is on its way: no read of a cluster begins before.
"""

import re
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext

from bot import telemetry
from bot.render.card import OPEN, REFRESH, Message
from bot.slack.desk import Desk, asker_of
from bot.slack.post import Place

_log = telemetry.log("listeners")


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every listener."""

    @app.command(desk.settings.slack_command)
    async def asked(ack: AsyncAck, command: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack(**desk.take_command(command, context.get("sent")))

    @app.action(REFRESH)
    async def refresh(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await _refresh(desk, body, context)

    @app.action(re.compile(f"^{re.escape(OPEN)}-"))
    async def opened(ack: AsyncAck) -> None:
        # A link button: the browser has opened it; Slack sends an action all the same and warns when nobody takes it.
        await ack()

    @app.error
    async def broke(error: Exception) -> None:
        telemetry.FAULTS.labels(where="listener").inc()
        _log.error("listener failed", exc_info=error)


async def _refresh(desk: Desk, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
    if not desk.deliveries.first("action", str(body.get("trigger_id", ""))):
        return
    container = body.get("container") or {}
    message = body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
    thread_ts = str(container.get("thread_ts") or message.get("thread_ts") or "")
    asker = asker_of(body)
    place = Place(channel, asker.user, thread_ts, str(body.get("response_url") or ""))
    taken = desk.read(str(body["actions"][0].get("value", "")), asker, place, "refresh")
    if isinstance(taken, Message):
        await desk.poster.whisper(place, [taken])
        return
    question = taken
    card_ts = "" if container.get("is_ephemeral") else str(container.get("message_ts") or message.get("ts") or "")
    ours = bool(thread_ts) and message.get("parent_user_id") == desk.home.user != ""
    refused = desk.begin(
        "refresh",
        lambda: desk.refresh(question, place, card_ts, str(message.get("text", "")), root_is_ours=ours),
        question,
        context.get("sent"),
    )
    if refused:
        await desk.poster.whisper(place, [refused])
