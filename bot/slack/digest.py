"""Puts a digest into a channel: a root message, a reply for each group, what is left as a file. One message a second."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot import telemetry
from bot.core.digest_view import View
from bot.render import digest as rendered
from bot.render.digest import Owners
from bot.slack.post import Poster, Undeliverable

PAUSE_SECONDS = 1.0
"""Between two messages to one channel; Slack takes about one a second."""

_log = telemetry.log("digest")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with what it shows in words, for those who do not see it."""

    name: str
    content: bytes
    title: str
    described: str


async def open_thread(poster: Poster, channel: str, view: View) -> str:
    """Post a digest's root message; give its timestamp. Raises Undeliverable when Slack takes it in no form."""
    return (await poster.post(channel, rendered.forms(rendered.root(view)))).ts


async def fill(
    poster: Poster,
    channel: str,
    ts: str,
    view: View,
    *,
    tail: str = "",
    pictures: Sequence[Picture] = (),
    owners: Owners | None = None,
    pause: float = PAUSE_SECONDS,
) -> tuple[str, ...]:
    """Post the rest of a digest into its thread; give Slack's words for what did not arrive. Never raises Undeliverable.

    Args:
        poster: posts.
        channel: the channel's id.
        ts: the root message.
        view: the digest as this channel may see it.
        tail: everything, as a file, where the messages leave something out.
        pictures: files for the thread.
        owners: whom to mention.
        pause: seconds between two messages.
    """
    lost: list[str] = []
    for reply in rendered.replies(view, owners):
        await asyncio.sleep(pause)
        try:
            await poster.post(channel, rendered.forms(reply), thread_ts=ts)
        except Undeliverable as refused:
            lost.append(refused.error)
            _log.error("a reply of a digest is lost", channel=channel, error=refused.error)
    files = [Picture("everything.txt", tail.encode(), "Everything that is pending", "")] if tail else []
    for file in (*pictures, *files):
        await asyncio.sleep(pause)
        if error := await _upload(poster, channel, ts, file):
            lost.append(error)
            _log.warning("a file of a digest was not taken", file=file.name, error=error)
    if lost:
        with contextlib.suppress(Undeliverable):
            await poster.post(channel, rendered.forms(rendered.not_all(lost)), thread_ts=ts)
    return tuple(dict.fromkeys(lost))


async def _upload(poster: Poster, channel: str, thread_ts: str, file: Picture) -> str:
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
    return error
