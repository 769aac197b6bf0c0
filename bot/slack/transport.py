"""How Slack reaches the bot: Socket Mode, or a signed HTTP endpoint. Both tell listeners when the acknowledgement went out."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import telemetry
from bot.slack.deliveries import Receipt

PATH = "/slack/events"
MOST_BYTES = 1024 * 1024
FINISH_SECONDS = 1.0
FIRST_WAIT_SECONDS, LAST_WAIT_SECONDS = 0.5, 30.0

FINAL_WORDS = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "org_login_required",
     "not_allowed_token_type", "missing_scope", "no_permission"}
)  # fmt: skip
"""What Slack says of a token when trying again is of no use."""

_log = telemetry.log("transport")


class _Socket(AsyncSocketModeHandler):
    """Bolt's handler, but for two things: it says when an acknowledgement was sent, and acknowledges what nobody listens to."""

    def __init__(self, app: AsyncApp, app_token: str, web_client: AsyncWebClient, logger: logging.Logger) -> None:
        self._open = 0
        self.idle = asyncio.Event()
        self.idle.set()
        super().__init__(app, app_token, logger=logger, web_client=web_client)

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        self._open += 1
        self.idle.clear()
        sent = Receipt()
        try:
            request = AsyncBoltRequest(
                mode="socket_mode", body=req.payload, headers=build_headers(req), context={"sent": sent}
            )
            response = _taken(await self.app.async_dispatch(request), req.payload)
            await sent.written()
            await send_async_response(client, req, response, time.time())
        finally:
            sent.set()
            self._open -= 1
            if not self._open:
                self.idle.set()


@contextlib.asynccontextmanager
async def socket(
    app: AsyncApp, app_token: str, web_client: AsyncWebClient, logger: logging.Logger, refused: Callable[[str], None]
) -> AsyncIterator[Callable[[], bool]]:
    """Receive over Socket Mode for as long as the context lasts; gives what tells whether there is a connection.

    Args:
        app: what receives.
        app_token: the app-level token.
        web_client: asks Slack for the connection's address.
        logger: for the connection.
        refused: called with Slack's word when it will never give an address.
    """
    handler = _Socket(app, app_token, web_client, logger)
    connecting = asyncio.create_task(_connect(handler, refused), name="socket-mode")

    def connected() -> bool:
        session = handler.client.current_session
        return session is not None and not session.closed

    try:
        yield connected
    finally:
        # Others of our kind get what comes now; what is under way still gets its acknowledgement.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FINISH_SECONDS):
                await handler.idle.wait()
        handler.client.closed = True
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await _close(handler.client)


async def _connect(handler: _Socket, refused: Callable[[str], None]) -> None:
    """Connect, as soon as Slack gives an address; from then on the client reconnects by itself."""
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            handler.client.wss_uri = await handler.client.issue_new_wss_url()
        except SlackApiError as error:
            word = str(error.response.get("error") or "") if isinstance(error.response, AsyncSlackResponse) else ""
            if word in FINAL_WORDS:
                refused(word)
                return
            _log.warning("no socket address", error=word)
        except (SlackClientError, aiohttp.ClientError, OSError, ValueError) as error:
            _log.warning("no socket address", error=type(error).__name__)
        else:
            break
        await asyncio.sleep(wait)
        wait = min(LAST_WAIT_SECONDS, wait * 2)
    await handler.connect_async()  # type: ignore[no-untyped-call] # Bolt's own


async def _close(client: SocketModeClient) -> None:
    """Close for good: the client's own `close` cancels its tasks and awaits none of them."""
    tasks = [
        t for t in (client.message_processor, client.current_session_monitor, client.message_receiver) if t is not None
    ]
    try:
        await client.close()  # type: ignore[no-untyped-call] # slack_sdk's own
    except Exception:  # noqa: BLE001 - the connection may be gone already, whatever that raises
        _log.debug("socket close", exc_info=True)
    await asyncio.gather(*tasks, return_exceptions=True)
    await client.aiohttp_client_session.close()


@contextlib.asynccontextmanager
async def http(app: AsyncApp, host: str, port: int) -> AsyncIterator[int]:
    """Receive over HTTP for as long as the context lasts; gives the port. Bolt checks the signatures."""

    async def receive(request: web.Request) -> web.StreamResponse:
        sent = Receipt()
        try:
            try:
                body = await request.text()
                bolt = AsyncBoltRequest(
                    body=body, query=request.query_string, headers=_headers(request.headers), context={"sent": sent}
                )
                int(request.headers.get("X-Slack-Request-Timestamp", "0"))  # Bolt takes it for a number
            except (ValueError, LookupError, RecursionError, AttributeError):
                # Bolt reads it before it checks who signed it
                _log.debug("not from Slack")
                return web.Response(status=400)
            response = await to_aiohttp_response(_taken(await app.async_dispatch(bolt), bolt.body))
            await sent.written()
            await response.prepare(request)
            await response.write_eof()
            return response
        finally:
            sent.set()

    application = web.Application(client_max_size=MOST_BYTES)
    application.router.add_post(PATH, receive)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=FINISH_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _headers(headers: Mapping[str, str]) -> dict[str, str | Sequence[str]]:
    return {name: [value] for name, value in headers.items()}


def _taken(response: BoltResponse, payload: Mapping[str, Any]) -> BoltResponse:
    """Acknowledge what nobody listens to: Slack would deliver it again and in the end stop delivering."""
    if response.status == 404:
        event = payload.get("event")
        _log.debug(
            "nobody listens", kind=str((event or payload).get("type") if isinstance(event or payload, Mapping) else "")
        )
        return BoltResponse(status=200, body="")
    return response
