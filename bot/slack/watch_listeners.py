"""How watches are started and ended in Slack: buttons, and what a slash command may begin with."""

import asyncio
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext

from bot.core import until
from bot.render import changes
from bot.render.card import WATCH, Message
from bot.slack import wording
from bot.slack.desk import Desk, Question, asked_in
from bot.slack.listeners import pressed
from bot.slack.persons import Asker
from bot.slack.post import Place
from bot.slack.watching import Watches
from bot.store import new_id


def register(app: AsyncApp, desk: Desk, watches: Watches) -> None:
    """Register the buttons and the verbs."""

    @app.action(WATCH)
    async def watch(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, _watch(watches))

    @app.action(changes.UNWATCH)
    async def unwatch(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, _unwatch(watches))

    @app.action(changes.ASK_AGAIN)
    async def ask_again(ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        await ack()
        await pressed(desk, body, context, _ask_again)

    desk.verbs |= {
        "watch": lambda rest, asker, place, sent: take_watch(watches, rest, asker, place, sent),
        "unwatch": lambda rest, asker, place, sent: take_unwatch(watches, rest, asker, place, sent),
        "watches": lambda _, asker, place, sent: take_watches(watches, asker, place, sent),
    }


def take_watch(watches: Watches, rest: str, asker: Asker, place: Place, sent: asyncio.Event | None) -> Message | None:
    """Take "watch team-a/train until 18:00": answer in the channel as usual, and watch in the thread of the answer."""
    desk = watches.desk
    try:
        text, deadline = until.split(rest)
    except until.BadMomentError as refused:
        return changes.plain(str(refused))
    question = desk.read(text, asker, place, "watch")
    if isinstance(question, Message):
        return question

    async def answer_and_watch() -> None:
        outcome = await desk.answer(question)
        if outcome is None:
            return
        by = "" if place.thread_ts else asker.user
        thread = outcome.root_ts if outcome.card_ts else ""
        said = await watches.begin(question, thread, outcome.card_ts, asked_by=by, deadline=deadline)
        # It speaks of the thread and is said there, to whoever asked alone: the card in it is a reply already.
        where = Place(place.channel, place.user, thread) if thread else place
        await desk.poster.whisper(where, [said, Message(said.text)])

    return desk.begin("watch", answer_and_watch, question, sent)


def take_unwatch(watches: Watches, rest: str, asker: Asker, place: Place, sent: asyncio.Event | None) -> Message | None:
    """Take "unwatch team-a/train"."""
    desk = watches.desk
    question = desk.read(rest, asker, place, "unwatch")
    if isinstance(question, Message):
        return question

    async def stop() -> None:
        await desk.poster.whisper(place, [await watches.stop(question)])

    return desk.begin("unwatch", stop, question, sent)


def take_watches(watches: Watches, asker: Asker, place: Place, sent: asyncio.Event | None) -> Message | None:
    """Take "watches": say what whoever asks watches."""
    desk = watches.desk

    async def tell() -> None:
        await desk.poster.whisper(place, [await watches.listed(asker)])

    noted = asked_in(place, asker, new_id())
    taken = desk.hand_over(
        "watches", tell, sent, place=place, asked="the list of your watches", entry="watches", noted=noted
    )
    return None if taken else desk.busy("the list of your watches")


def _watch(watches: Watches) -> Any:  # noqa: ANN401 - see listeners.Pressed
    async def do(desk: Desk, question: Question, body: Mapping[str, Any]) -> None:
        container, message = body.get("container") or {}, body.get("message") or {}
        private = bool(container.get("is_ephemeral"))
        card = "" if private else str(container.get("message_ts") or message.get("ts") or "")
        thread = "" if private else question.place.thread_ts or card
        by = wording.remembered(str(body["actions"][0].get("block_id", ""))) if question.place.thread_ts else ""
        said = await watches.begin(question, thread, card, asked_by=by)
        await desk.poster.whisper(question.place, [said, Message(said.text)])

    return do


def _unwatch(watches: Watches) -> Any:  # noqa: ANN401 - see listeners.Pressed
    async def do(desk: Desk, question: Question, _: Mapping[str, Any]) -> None:
        await desk.poster.whisper(question.place, [await watches.stop(question)])

    return do


async def _ask_again(desk: Desk, question: Question, _: Mapping[str, Any]) -> None:
    await desk.answer(question)
