"""Puts messages into Slack: retries what may pass, degrades what Slack refuses, and says where an answer ended up."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry
from bot.render.card import Message

UNWELCOME = frozenset(
    {
        "not_in_channel",
        "channel_not_found",
        "is_archived",
        "restricted_action",
        "restricted_action_read_only_channel",
        "no_permission",
    }
)
"""Slack's words for a place that the bot cannot write to."""

_TOO_RICH = frozenset(
    {
        "invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "msg_too_long",
        "invalid_arguments", "invalid_metadata_format", "block_mismatch",
    }
)  # fmt: skip
_PERHAPS = frozenset(
    {"timeout", "unreadable_answer", "internal_error", "fatal_error", "request_timeout", "service_unavailable"}
)
"""What is said when nobody knows whether Slack did it."""
_READS = ("conversations.", "users.", "usergroups.", "bots.")
"""Methods that take no JSON: Slack would not see any of the arguments."""
LONGEST_WAIT = 30
"""Seconds of a rate limit that are waited for; whoever asks gets a private answer rather than one after minutes."""

_log = telemetry.log("slack")


class Undeliverable(Exception):  # noqa: N818 - an outcome that callers answer
    """Slack did not take a message; `error` is Slack's word or what happened instead, `needed` the scope that lacks."""

    def __init__(self, error: str, needed: str = "") -> None:
        """Keep the words."""
        super().__init__(error)
        self.error, self.needed = error, needed

    @property
    def unwelcome(self) -> bool:
        """Whether the bot is not in the channel, or may not write there."""
        return self.error in UNWELCOME

    @property
    def doubtful(self) -> bool:
        """Whether Slack may have taken it all the same: no answer came, or one that does not say."""
        return self.error in _PERHAPS or self.error.startswith("http_") or not self.error.islower()


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer goes: a channel, a thread of it or "", whoever asked, and their private reply address or "".

    `active` tells whether the thread has replies: Slack shows private messages in no other threads.
    """

    channel: str
    user: str
    thread_ts: str = ""
    response_url: str = ""
    active: bool = True


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that Slack took: its timestamp ("" for private ones) and the form: card, sections or text."""

    ts: str
    form: str


class PatientRetries(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack asks for, when that is a moment."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        limited = await super()._can_retry_async(state=state, request=request, response=response, error=error)
        return limited and response is not None and _retry_after(response.headers) <= LONGEST_WAIT


class ServerErrorRetries(AsyncServerErrorRetryHandler):
    """Tries again on any server error, not 500 and 503 alone."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        del state, request, error
        return response is not None and response.status_code >= 500


def web_client(token: str, api_url: str, session: aiohttp.ClientSession, logger: Any) -> AsyncWebClient:  # noqa: ANN401 - a stdlib logger
    """Give a Web API client that shares a session and retries what may pass.

    The session's own timeout bounds each call: the client's does not apply to a session that it was given.
    """
    return AsyncWebClient(
        token=token,
        base_url=api_url.rstrip("/") + "/",
        session=session,
        logger=logger,
        retry_handlers=[
            AsyncConnectionErrorRetryHandler(max_retry_count=2),
            PatientRetries(max_retry_count=3),
            ServerErrorRetries(max_retry_count=2),
        ],
    )


class Poster:
    """Posts, edits and whispers.

    Args:
        client: the Web API.
        session: for response URLs.
    """

    def __init__(self, client: AsyncWebClient, session: aiohttp.ClientSession) -> None:
        """Take the means."""
        self.client, self._session = client, session

    async def post(
        self, channel: str, forms: Sequence[Message], *, thread_ts: str = "", metadata: Mapping[str, Any] | None = None
    ) -> Posted:
        """Post a message in the richest form that Slack takes.

        Args:
            channel: the channel's id.
            forms: the message, richest form first.
            thread_ts: the thread, "" for none.
            metadata: by which the message is found again; members of the workspace can read it.

        Raises:
            Undeliverable: Slack took none of them, or did not answer.
        """
        where: dict[str, Any] = {"channel": channel}
        if thread_ts:
            where["thread_ts"] = thread_ts
        if metadata:
            where["metadata"] = metadata
        return await self._climb_down("chat.postMessage", forms, **where)

    async def edit(self, channel: str, ts: str, forms: Sequence[Message]) -> Posted:
        """Replace a message of our own.

        Raises:
            Undeliverable: Slack took none of the forms, or did not answer.
        """
        return await self._climb_down("chat.update", forms, channel=channel, ts=ts)

    async def whisper(self, place: Place, forms: Sequence[Message]) -> Posted:
        """Tell whoever asked alone: through the response URL, else in the channel, else in their conversation with the bot.

        In a direct message everything is private; a place without a channel is the conversation with the bot.

        Raises:
            Undeliverable: nothing of that worked.
        """
        thread_ts = place.thread_ts if place.active else ""
        if place.response_url:
            try:
                return await self.respond(place.response_url, forms, thread_ts=thread_ts)
            except Undeliverable as refused:
                _log.warning("response url refused", error=refused.error)
        refusal = Undeliverable("no_channel")
        where = {"thread_ts": thread_ts} if thread_ts else {}
        if place.channel:
            try:
                if place.channel.startswith("D"):
                    return await self.post(place.channel, forms, thread_ts=place.thread_ts)
                return await self._climb_down(
                    "chat.postEphemeral", forms, channel=place.channel, user=place.user, **where
                )
            except Undeliverable as refused:
                refusal = refused
                _log.warning("private message refused", channel=place.channel, error=refused.error)
        if not place.user:
            raise refusal
        return await self.post(place.user, forms)  # a message to a user goes into their conversation with the bot

    async def respond(
        self, response_url: str, forms: Sequence[Message], *, replace: bool = False, thread_ts: str = ""
    ) -> Posted:
        """Answer through a response URL, visible to whoever asked.

        Raises:
            Undeliverable: it is used up, too old, or refused every form.
        """
        error = "no_form"
        for at, message in enumerate(forms):
            body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": replace, **_body(message)}
            body |= {"thread_ts": thread_ts} if thread_ts else {}
            error = await self._send(response_url, body)
            if not error:
                return Posted("", _form(at, message))
            telemetry.SLACK_ERRORS.labels(method="response_url", error=_known(error)).inc()
            if error not in _TOO_RICH:
                break
        raise Undeliverable(error)

    async def call(self, method: str, **arguments: Any) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
        """Call any Web API method.

        Raises:
            Undeliverable: Slack refused or did not answer.
        """
        needed = ""
        try:
            if method.startswith(_READS):
                answer = await self.client.api_call(method, http_verb="GET", params=arguments)
            else:
                answer = await self.client.api_call(method, json=arguments)
        except SlackApiError as refused:
            error, needed = _word(refused), _lacking(refused)
        except (SlackClientError, ValueError, TypeError, AttributeError):  # the SDK takes any answer for an object
            error = "unreadable_answer"
        except TimeoutError:
            error = "timeout"
        except (aiohttp.ClientError, OSError) as failed:
            error = type(failed).__name__
        else:
            data = answer.data
            return data if isinstance(data, dict) else {}
        telemetry.SLACK_ERRORS.labels(method=method, error=_known(error)).inc()
        raise Undeliverable(error, needed)

    async def _climb_down(self, method: str, forms: Sequence[Message], **where: Any) -> Posted:  # noqa: ANN401 - JSON
        last = Undeliverable("no_form")
        for at, message in enumerate(forms):
            still = {"unfurl_links": False, "unfurl_media": False} if method == "chat.postMessage" else {}
            try:
                answer = await self.call(method, **where, **_body(message), parse="none", link_names=False, **still)
            except Undeliverable as refused:
                last = refused
                if refused.error not in _TOO_RICH:
                    break
                _log.warning("form refused", method=method, form=_form(at, message), error=refused.error)
            else:
                return Posted(str(answer.get("ts") or answer.get("message_ts") or ""), _form(at, message))
        raise last

    async def _send(self, url: str, body: Mapping[str, Any]) -> str:
        """Send a body to a response URL; give Slack's word for what is wrong, "" when nothing is."""
        error = ""
        for attempt in range(3):
            wait = 0.5 * 2**attempt
            try:
                async with self._session.post(url, json=body) as answer:
                    if answer.status < 300:
                        return ""
                    text = await answer.text()
                    error = _refusal(text) or f"http_{answer.status}"
                    if answer.status != 429 and answer.status < 500:
                        return error
                    wait = _retry_after(answer.headers) if answer.status == 429 else wait
                    if wait > LONGEST_WAIT:
                        return error
            except TimeoutError:
                return "timeout"
            except (aiohttp.ClientError, OSError) as failed:
                error = type(failed).__name__
            await asyncio.sleep(wait)
        return error


def _form(at: int, message: Message) -> str:
    """Name a form, as the log and the metrics tell it."""
    return "text" if not message.blocks else ("sections" if at else "card")


def _body(message: Message) -> dict[str, Any]:
    # An empty list takes the old blocks away when a message is replaced.
    return {"text": message.text, "blocks": message.blocks}


def _word(refused: SlackApiError) -> str:
    response = refused.response
    data = getattr(response, "data", None)
    if isinstance(data, dict) and data.get("error"):
        return str(data["error"])
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    return f"http_{status}" if status else "unreadable_answer"


def _lacking(refused: SlackApiError) -> str:
    """Give the scope that Slack says is missing, "" when it is about something else."""
    data = getattr(refused.response, "data", None)
    needed = str(data.get("needed") or "") if isinstance(data, dict) else ""
    return needed if all(part.isalnum() for part in needed.replace(":", "_").replace(".", "_").split("_")) else ""


def _refusal(text: str) -> str:
    for word in (*sorted(_TOO_RICH, key=len, reverse=True), "used_url", "expired_url", "no_text"):
        if word in text:
            return word
    return ""


def _known(error: str) -> str:
    """Keep what becomes a metric's label to Slack's own vocabulary of short words."""
    return error if error.replace("_", "").isalnum() and len(error) <= 40 else "other"


def _retry_after(headers: Mapping[str, Any]) -> float:
    for name, value in headers.items():
        if name.lower() == "retry-after":
            with contextlib.suppress(ValueError):
                return float(value[0] if isinstance(value, list) else value)
    return 1.0
