"""What the bot listens to. Each listener acknowledges with its first statement and hands the work to the desk.

Slack delivers again what it believes lost, so each asks `Deliveries` whether it is the first, or does no harm twice.
`context["sent"]` is set by the transport once the acknowledgement is on its way: no read of a cluster begins before.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext

from bot import telemetry
from bot.render.asking import ASK, FORM, PICK
from bot.render.card import DETAILS, OPEN, REFRESH, SHARE, Message
from bot.render.home import AGAIN, STOP
from bot.slack import wording
from bot.slack.desk import Desk, Question
from bot.slack.home import Home
from bot.slack.persons import asker_of
from bot.slack.post import Place
from bot.slack.sharing import Sharing
from bot.slack.talk import ASK_WHY, WHY, Talk
from bot.slack.unfurl import Unfurls

_log = telemetry.log("listeners")


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every listener."""
    sharing = Sharing()

    @app.command(desk.settings.slack_command)
    async def asked(ack: AsyncAck, command: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack(**desk.take_command(command, context.get("sent")))

    @app.action(REFRESH)
    async def refresh(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, _refresh)

    @app.action(DETAILS)
    async def details(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, _details)

    @app.action(SHARE)
    async def share(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, sharing.share)

    @app.action(re.compile(f"^{re.escape(OPEN)}-"))
    async def opened(ack: AsyncAck) -> None:
        # A link button: the browser has opened it; Slack sends an action all the same and warns when nobody takes it.
        await ack()

    _listen_to_talk(app, Talk(desk))
    _listen_to_home(app, Home(desk))
    _listen_to_links(app, Unfurls(desk))

    @app.error
    async def broke(error: Exception) -> None:
        telemetry.FAULTS.labels(where="listener").inc()
        _log.error("listener failed", exc_info=error)


def _listen_to_talk(app: AsyncApp, talk: Talk) -> None:
    """Register what hears people: mentions, direct messages, shortcuts, the form and the choices."""

    @app.event("app_mention")
    @app.event("message")
    async def said(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        refused = talk.hear(body, context.get("sent"))
        if refused:
            event = body["event"]
            place = Place(str(event["channel"]), str(event["user"]), str(event.get("thread_ts") or ""))
            await talk.desk.reach(place, refused, "mention")

    @app.shortcut(WHY)
    @app.shortcut(ASK_WHY)
    async def used(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await talk.use(body, context.get("sent"))

    @app.action(re.compile(rf"^{PICK}(-\d+)?$"))
    async def picked(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await talk.pick(body, place_of(body), context.get("sent"))

    @app.action(FORM)
    async def wanted(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        if talk.desk.deliveries.first("action", str(body.get("trigger_id", ""))):
            await talk.open_form(asker_of(body), place_of(body), str(body.get("trigger_id", "")))

    @app.view(ASK)
    async def submitted(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        # What is wrong with a form goes back with the acknowledgement; reading it takes no I/O.
        read = talk.submitted(body)
        if isinstance(read, dict):
            await ack(response_action="errors", errors=read)
            return
        await ack()
        refused = talk.begin(read, context.get("sent")) if isinstance(read, Question) else read
        if refused is not None:
            user = asker_of(body).user
            place = read.place if isinstance(read, Question) else Place("", user)
            await talk.desk.reach(place, refused, "form")


def _listen_to_home(app: AsyncApp, home: Home) -> None:
    """Register the Home tab and its buttons."""

    @app.event("app_home_opened")
    async def opened(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        home.open(body, context.get("sent"))

    @app.action(re.compile(rf"^{STOP}-\d+$"))
    async def stop(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        home.stop(body, context.get("sent"))

    @app.action(re.compile(rf"^{AGAIN}-\d+$"))
    async def again(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await home.again(body, context.get("sent"))


def _listen_to_links(app: AsyncApp, unfurls: Unfurls) -> None:
    """Register what sees pasted links."""

    @app.event("link_shared")
    async def pasted(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        unfurls.hear(body, context.get("sent"))


Pressed = Callable[[Desk, Question, Mapping[str, Any]], Awaitable[None]]
"""What a button does: with the question in its value, and Slack's payload."""


async def pressed(desk: Desk, body: Mapping[str, Any], context: AsyncBoltContext, do: Pressed) -> None:
    """Take a button whose value is a question: once, within what may be asked here, in the background."""
    if not desk.deliveries.first("action", str(body.get("trigger_id", ""))):
        return
    action = body["actions"][0]
    place = place_of(body)
    taken = desk.read(str(action.get("value", "")), asker_of(body), place, str(action["action_id"]))
    if isinstance(taken, Message):
        await desk.reach(place, taken, str(action["action_id"]))
        return
    question = taken
    refused = desk.begin(str(action["action_id"]), lambda: do(desk, question, body), question, context.get("sent"))
    if refused:
        await desk.reach(place, refused, str(action["action_id"]))


async def _refresh(desk: Desk, question: Question, body: Mapping[str, Any]) -> None:
    container, message = body.get("container") or {}, body.get("message") or {}
    card_ts = "" if container.get("is_ephemeral") else str(container.get("message_ts") or message.get("ts") or "")
    asked_by = wording.remembered(str(body["actions"][0].get("block_id", ""))) if question.place.thread_ts else ""
    await desk.refresh(question, card_ts, str(message.get("text", "")), asked_by=asked_by)


async def _details(desk: Desk, question: Question, body: Mapping[str, Any]) -> None:
    await desk.details(question, str(body.get("trigger_id", "")))


def place_of(body: Mapping[str, Any]) -> Place:
    """Tell where an interaction happened, from its payload."""
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread_ts = container.get("thread_ts") or message.get("thread_ts") or ""
    return Place(str(channel), asker_of(body).user, str(thread_ts), str(body.get("response_url") or ""))
