"""Puts a digest into a channel: a root message, a reply for each group, what is left as a file. One message a second.

Every message carries in its metadata which part of which run it is, and is noted once it stands. So whoever takes over
from a process that died (see `digests`) posts what is missing, and brings up to date what stands.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot import telemetry
from bot.core.digest_view import View
from bot.render import digest as rendered
from bot.render.card import Message
from bot.render.digest import Owners
from bot.slack.post import Poster, Undeliverable
from bot.slack.recovery import read_messages, shows_metadata

PAUSE_SECONDS = 1.0
"""Between two messages to one channel; Slack takes about one a second."""
SIGNATURE = "whypending_digest"
"""The event type in the metadata of a digest's messages."""
ROOT = "root"

_log = telemetry.log("digest")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with what it shows in words, for those who do not see it."""

    name: str
    content: bytes
    title: str
    described: str


Note = Callable[[Mapping[str, str]], Awaitable[None]]
"""Hears which parts stand, with their timestamps."""


async def nowhere(_: Mapping[str, str]) -> None:
    """Note nothing."""


class Delivery:
    """One digest on its way into a channel.

    Args:
        poster: posts.
        channel: the channel's id.
        key: what tells this run from all others; members of the workspace can read it.
        stands: the parts that stand already, with their timestamps.
        note: is told whenever a part stands.
        pause: seconds between two messages.
    """

    def __init__(
        self,
        poster: Poster,
        channel: str,
        key: str,
        stands: Mapping[str, str] | None = None,
        note: Note = nowhere,
        *,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        """Take the means."""
        self.poster, self.channel, self.key, self.note, self.pause = poster, channel, key, note, pause
        self.stands = dict(stands or {})

    async def open(self, view: View) -> None:
        """Post the root message, or bring it up to date. Raises Undeliverable when Slack takes it in no form."""
        await self._put(ROOT, rendered.root(view))

    async def fill(
        self, view: View, *, tail: str = "", pictures: Sequence[Picture] = (), owners: Owners | None = None
    ) -> tuple[str, ...]:
        """Post the rest into the thread; give Slack's words for what did not arrive. Never raises Undeliverable.

        Args:
            view: the digest as this channel may see it.
            tail: everything, as a file, where the messages leave something out.
            pictures: files for the thread.
            owners: whom to mention.
        """
        lost: list[str] = []
        replies = dict(zip(view.categories, rendered.replies(view, owners), strict=False))
        over = [part for part in self.stands if part in rendered.TITLES and part not in replies]
        for part, message in [*replies.items(), *((part, rendered.none_any_more(part)) for part in over)]:
            await asyncio.sleep(self.pause)
            try:
                await self._put(part, message)
            except Undeliverable as refused:
                lost.append(refused.error)
                _log.error("a reply of a digest is lost", channel=self.channel, error=refused.error)
        lost += await self.files([*pictures, *([everything(tail)] if tail else [])])
        if lost:
            with contextlib.suppress(Undeliverable):
                message = rendered.not_all(lost)
                await self.poster.post(self.channel, rendered.forms(message), thread_ts=self.stands[ROOT])
        return tuple(dict.fromkeys(lost))

    async def files(self, files: Sequence[Picture]) -> list[str]:
        """Upload files into the thread, but for those that stand; give Slack's words for what did not arrive."""
        lost = []
        for file in files:
            if file_part(file.name) in self.stands:
                continue
            await asyncio.sleep(self.pause)
            if error := await upload(self.poster, self.channel, self.stands[ROOT], file):
                lost.append(error)
                continue
            self.stands[file_part(file.name)] = self.stands[ROOT]
            await self.note(self.stands)
        return lost

    async def _put(self, part: str, message: Message) -> None:
        if part in self.stands:
            try:
                await self.poster.edit(self.channel, self.stands[part], rendered.forms(message))
            except Undeliverable as refused:
                _log.info("a part of a digest was not brought up to date", part=part, error=refused.error)
            return
        posted = await self.poster.post(
            self.channel,
            rendered.forms(message),
            thread_ts=self.stands.get(ROOT, ""),
            metadata={"event_type": SIGNATURE, "event_payload": {"digest": self.key, "part": part}},
        )
        self.stands[part] = posted.ts
        await self.note(self.stands)


def everything(text: str) -> Picture:
    """Give the file that holds what the messages leave out."""
    return Picture("everything.txt", text.encode(), "Everything that is pending", "")


def file_part(name: str) -> str:
    """Name the part of a digest that is a file."""
    return f"file:{name}"


async def upload(poster: Poster, channel: str, thread_ts: str, file: Picture) -> str:
    """Upload a file into a thread; give Slack's word for what is wrong, "" when nothing is."""
    try:
        await poster.client.files_upload_v2(
            channel=channel,
            thread_ts=thread_ts,
            filename=file.name,
            content=file.content,
            title=file.title,
            alt_txt=file.described or None,
        )
    except SlackApiError as refused:
        data = getattr(refused.response, "data", None)
        error = str(data.get("error")) if isinstance(data, dict) else "unreadable_answer"
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as failed:
        error = type(failed).__name__
    else:
        return ""
    telemetry.SLACK_ERRORS.labels(method="files.upload", error=error[:40]).inc()
    _log.warning("a file was not taken", file=file.name, error=error)
    return error


# --- after a crash ---


async def look(
    poster: Poster, channel: str, key: str, at: float, known: Mapping[str, str]
) -> tuple[dict[str, str], bool]:
    """Look in a channel for what stands of a digest, besides what is known to.

    Args:
        poster: asks Slack.
        channel: the channel's id.
        key: the run's.
        at: when it was begun, in Unix seconds.
        known: the parts that were noted, with their timestamps.

    Returns:
        The parts that stand, and whether that is all: False where it could not be looked up.
    """
    stands, user, sure = dict(known), "", True
    try:
        user = str((await poster.call("auth.test")).get("user_id") or "")
    except Undeliverable:
        sure = False
    oldest = f"{max(0.0, at - 60):.6f}"
    if ROOT not in stands:
        messages = await read_messages(poster, "conversations.history", channel=channel, oldest=oldest, limit=200)
        sure = sure and messages is not None and shows_metadata(messages, user)
        stands |= _parts(messages or (), key, user)
    if ROOT in stands:
        messages = await read_messages(
            poster, "conversations.replies", channel=channel, ts=stands[ROOT], oldest=oldest, limit=1000
        )
        sure = sure and messages is not None and shows_metadata(messages, user)
        stands |= _parts(messages or (), key, user)
    return stands, sure


def _parts(messages: Sequence[Mapping[str, Any]], key: str, user: str) -> dict[str, str]:
    found = {}
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        if metadata.get("event_type") == SIGNATURE and payload.get("digest") == key:
            found[str(payload.get("part"))] = str(message.get("ts") or "")
        if user and message.get("user") == user and message.get("thread_ts"):
            found |= {file_part(str(file.get("name"))): str(message["ts"]) for file in message.get("files") or ()}
    return found
