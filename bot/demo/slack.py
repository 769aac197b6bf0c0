"""A Slack on loopback: Web API, Socket Mode, signed HTTP deliveries and response URLs, for the demo and the tests.

It takes and refuses what Slack takes and refuses: block limits, channels that the bot is not in, expired triggers, used
up response URLs. What real failures look like can be asked for with `fail`.
"""

import asyncio
import contextlib
import hashlib
import hmac
import itertools
import json
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode, urlsplit

import aiohttp
from aiohttp import WSMsgType, web

from bot.demo import validate

Json = dict[str, Any]
T = TypeVar("T")

TEAM, TEAM_DOMAIN, APP, BOT, BOT_ID = "T0LOCAL", "local", "A0LOCAL", "U0BOT", "B0BOT"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-local", "xapp-local", "local-signing-secret"
LOOK_SECONDS = 0.05
TRIGGER_SECONDS, RESPONSE_URL_USES, RESPONSE_URL_SECONDS = 3.0, 5, 30 * 60


@dataclass
class Person:
    """Somebody in the workspace, or from another one when `team` differs."""

    id: str
    name: str
    real_name: str
    email: str = ""
    team: str = TEAM
    bot: bool = False


@dataclass
class Channel:
    """A channel with its members and messages, oldest first."""

    id: str
    name: str
    members: set[str] = field(default_factory=set)
    private: bool = False
    im: bool = False
    topic: str = ""
    messages: list[Json] = field(default_factory=list)

    def thread(self, ts: str) -> list[Json]:
        """Give the replies to a message, oldest first, without the message itself."""
        return [m for m in self.messages if m.get("thread_ts") == ts and m["ts"] != ts]

    def roots(self) -> list[Json]:
        """Give the messages that are not replies, oldest first."""
        return [m for m in self.messages if m.get("thread_ts") in {None, m["ts"]}]


@dataclass
class Call:
    """One Web API call as it arrived, and what it was answered."""

    method: str
    arguments: Json
    at: float
    answer: Json = field(default_factory=dict)


@dataclass
class Fault:
    """What to do wrong, how often, and to which calls."""

    method: str
    times: int
    error: str = ""
    status: int = 200
    retry_after: int | None = None
    hang: float = 0
    late: float = 0
    body: str | None = None
    when: Callable[[Json], bool] = lambda _: True


@dataclass
class Delivery:
    """One thing sent to the app: what it was, when it was acknowledged, and with what."""

    kind: Literal["slash_commands", "events_api", "interactive"]
    payload: Json
    envelope_id: str = field(default_factory=lambda: secrets.token_hex(8))
    sent_at: float = 0.0
    attempts: int = 0
    acked_at: float | None = None
    response: Json | None = None
    status: int | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seconds(self) -> float | None:
        """How long the acknowledgement took, None when it never came."""
        return None if self.acked_at is None else self.acked_at - self.sent_at


class LocalSlack:
    """A workspace with people and channels, and one installed app: the bot.

    Args:
        ack_seconds: how long an acknowledgement may take.
        retry_seconds: when an event that was not acknowledged is sent again; one entry for each retry.
    """

    def __init__(self, *, ack_seconds: float = 3.0, retry_seconds: tuple[float, ...] = (0.1, 1.0, 5.0)) -> None:
        """Make an empty workspace."""
        self.ack_seconds, self.retry_seconds = ack_seconds, retry_seconds
        self.people = {BOT: Person(BOT, "whypending", "whypending", bot=True)}
        self.channels: dict[str, Channel] = {}
        self.usergroups: dict[str, Json] = {}
        self.views: dict[str, Json] = {}
        self.homes: dict[str, Json] = {}
        self.files: dict[str, Json] = {}
        self.calls: list[Call] = []
        self.deliveries: list[Delivery] = []
        self.faults: list[Fault] = []
        self.scopes = "commands,chat:write,app_mentions:read,channels:history,users:read,users:read.email,files:write"
        self.unfurl_domains: set[str] = set()
        """Whose links the app hears of."""
        self.request_url: str | None = None
        """Where deliveries go over HTTP; None means Socket Mode."""
        self.base_url = ""
        self._triggers: dict[str, float] = {}
        self._responses: dict[str, Json] = {}
        self._sockets: list[web.WebSocketResponse] = []
        self._tickets: set[str] = set()
        self._pending: dict[str, Delivery] = {}
        self._watchers: set[asyncio.Queue[Json]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._counter = itertools.count(1)
        self._last_ts = 0
        self._connected = asyncio.Event()
        self._http: aiohttp.ClientSession | None = None
        self._closing = asyncio.Event()

    # The workspace

    def person(self, name: str, real_name: str = "", *, email: str = "", team: str = TEAM) -> Person:
        """Add somebody."""
        who = Person(f"U0{name.upper().replace('-', '')}", name, real_name or name, email, team)
        self.people[who.id] = who
        return who

    def channel(
        self, name: str, *people: Person, bot: bool = True, private: bool = False, im: bool = False, topic: str = ""
    ) -> Channel:
        """Add a channel with its people; `bot` says whether the bot is in it."""
        kind = "D" if im else ("G" if private else "C")
        made = Channel(f"{kind}0{name.upper().replace('-', '')}", name, {p.id for p in people}, private, im, topic)
        if bot:
            made.members.add(BOT)
        self.channels[made.id] = made
        return made

    def usergroup(self, handle: str, *people: Person) -> str:
        """Add a user group; give its id."""
        name = f"S0{handle.upper().replace('-', '')}"
        self.usergroups[name] = {"id": name, "handle": handle, "name": handle, "users": [p.id for p in people]}
        return name

    def fail(
        self,
        method: str,
        *,
        times: int = 1,
        error: str = "",
        status: int = 200,
        retry_after: int | None = None,
        hang: float = 0,
        late: float = 0,
        body: str | None = None,
        when: Callable[[Json], bool] = lambda _: True,
    ) -> Fault:
        """Answer the next calls of a Web API method wrongly, late or not at all ("response_url" for response URLs).

        Args:
            method: the method, like "chat.postMessage".
            times: how many calls.
            error: Slack's error word.
            status: the HTTP status.
            retry_after: answer 429 with this many seconds to wait.
            hang: seconds without an answer.
            late: seconds after which the answer to what was done at once comes.
            body: what is answered instead of JSON.
            when: which calls, by their arguments.
        """
        fault = Fault(method, times, error, status, retry_after, hang, late, body, when)
        self.faults.append(fault)
        return fault

    def called(self, method: str) -> list[Json]:
        """Give the arguments of every call of a method, oldest first."""
        return [call.arguments for call in self.calls if call.method == method]

    # What happens in the workspace

    @contextlib.contextmanager
    def watch(self) -> Iterator[asyncio.Queue[Json]]:
        """Hear of everything that changes: {"type": "message" | "changed" | "deleted" | "view" | "home", …}."""
        queue: asyncio.Queue[Json] = asyncio.Queue(maxsize=1000)
        self._watchers.add(queue)
        try:
            yield queue
        finally:
            self._watchers.discard(queue)

    async def until(self, condition: Callable[[], T | None], *, seconds: float = 10) -> T:
        """Wait for a condition, looked at after every change in the workspace and now and then, and give its value.

        Raises:
            TimeoutError: it did not come true in time.
        """
        with self.watch() as changes:
            async with asyncio.timeout(seconds):
                while not (value := condition()):
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changes.get(), LOOK_SECONDS)
        return value

    def tell(self, change: Json) -> None:
        """Tell everyone who watches."""
        for queue in self._watchers:
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait(change)

    def timestamp(self) -> str:
        """Give a message timestamp that is later than every one before."""
        self._last_ts = max(self._last_ts + 1, int(time.time() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def put(self, channel: Channel, message: Json) -> Json:
        """Store a message: it gets a timestamp, its blocks get ids."""
        stored = {
            "type": "message",
            "ts": self.timestamp(),
            "team": TEAM,
            **{k: v for k, v in message.items() if v is not None},
        }
        number_blocks(stored.get("blocks"))
        channel.messages.append(stored)
        if (root_ts := stored.get("thread_ts")) and "ephemeral" not in stored:
            for root in channel.messages:
                if root["ts"] == root_ts:
                    root["thread_ts"] = root_ts
                    stored["parent_user_id"] = root.get("user")
                    root["reply_count"] = len(channel.thread(root_ts))
        self.tell({"type": "message", "channel": channel.id, "message": stored})
        return stored

    # What people do

    async def command(
        self, text: str, channel: Channel, who: Person, *, command: str = "/whypending", trigger_id: str | None = None
    ) -> Delivery:
        """Type a slash command; returns when it was acknowledged, or was not in time."""
        payload = {
            "token": "local", "team_id": who.team, "team_domain": TEAM_DOMAIN, "channel_id": channel.id,
            "channel_name": "directmessage" if channel.im else channel.name, "user_id": who.id, "user_name": who.name,
            "command": command, "text": text, "api_app_id": APP, "is_enterprise_install": "false",
            "response_url": self.response_url(channel, who), "trigger_id": trigger_id or self.trigger(),
        }  # fmt: skip
        delivery = await self.deliver("slash_commands", payload)
        if delivery.acked_at is None or (delivery.status or 200) >= 400:
            word = "operation_timeout" if delivery.acked_at is None else f"http_service_error {delivery.status}"
            self._whisper(channel, who.id, {"text": f'{command} failed with the error "{word}"', "user": "USLACKBOT"})
        elif (answer := delivery.response) and (answer.get("text") or answer.get("blocks")):
            self._respond(channel, who.id, answer)
        return delivery

    async def say(self, text: str, channel: Channel, who: Person, *, thread_ts: str | None = None) -> Json:
        """Write a message; the bot hears of it when it is mentioned or addressed directly."""
        message = self.put(channel, {"user": who.id, "text": text, "thread_ts": thread_ts, "team": who.team})
        if BOT in channel.members and (channel.im or f"<@{BOT}>" in text):
            kind = "message" if channel.im else "app_mention"
            self.background(self.event(mention_event(kind, message, channel, who), who))
        if links := [link for link in links_of(text) if link["domain"] in self.unfurl_domains]:
            self.background(self.event(links_event(links, message, channel, who), who))
        return message

    async def event(self, event: Json, who: Person | None = None, *, event_id: str | None = None) -> Delivery:
        """Send an event; returns when it was acknowledged, or when all retries are over."""
        team = who.team if who else TEAM
        return await self.deliver(
            "events_api",
            {
                "token": "local", "team_id": TEAM, "context_team_id": TEAM, "api_app_id": APP, "event": event,
                "type": "event_callback", "event_id": event_id or f"Ev{secrets.token_hex(5).upper()}",
                "event_time": int(time.time()), "is_ext_shared_channel": team != TEAM,
                "authorizations": [{"enterprise_id": None, "team_id": TEAM, "user_id": BOT, "is_bot": True}],
            },
        )  # fmt: skip

    async def click(
        self, message: Json, channel: Channel, who: Person, action_id: str, *, chosen: Json | None = None
    ) -> Delivery:
        """Press a button or choose something of a message.

        Raises:
            LookupError: the message has no such element.
        """
        block, element = find_element(message.get("blocks") or [], action_id)
        action = {
            "type": element["type"], "action_id": action_id, "block_id": block["block_id"],
            "action_ts": self.timestamp(),
            **{k: v for k, v in element.items() if k in {"text", "value", "style", "url"}}, **(chosen or {}),
        }  # fmt: skip
        ephemeral = "ephemeral" in message
        container = {
            "type": "message",
            "message_ts": message["ts"],
            "channel_id": channel.id,
            "is_ephemeral": ephemeral,
        }
        if message.get("thread_ts"):
            container["thread_ts"] = message["thread_ts"]
        payload = {
            **self._interaction("block_actions", who), "container": container, "actions": [action],
            "channel": {"id": channel.id, "name": channel.name}, "state": {"values": {}},
            "response_url": self.response_url(channel, who, message),
        }  # fmt: skip
        if not ephemeral:
            payload["message"] = json.loads(json.dumps(message))
        return await self.deliver("interactive", payload)

    async def shortcut(
        self, callback_id: str, who: Person, message: Json | None = None, channel: Channel | None = None
    ) -> Delivery:
        """Use a shortcut: of a message where one is given, else the global one."""
        if message is None or channel is None:
            payload = {**self._interaction("shortcut", who), "callback_id": callback_id, "action_ts": self.timestamp()}
        else:
            payload = {
                **self._interaction("message_action", who), "callback_id": callback_id, "message_ts": message["ts"],
                "message": json.loads(json.dumps(message)), "channel": {"id": channel.id, "name": channel.name},
                "action_ts": self.timestamp(), "response_url": self.response_url(channel, who),
            }  # fmt: skip
        return await self.deliver("interactive", payload)

    async def submit(self, view: Json, who: Person, values: Json) -> Delivery:
        """Submit a modal; `values` is `{block_id: {action_id: element state}}`."""
        stored = {**view, "state": {"values": values}}
        urls = [
            {
                "block_id": block, "action_id": action, "channel_id": channel.id,
                "response_url": self.response_url(channel, who),
            }
            for block, elements in values.items()
            for action, state in elements.items()
            if (channel := self.channels.get(str(state.get("selected_conversation") or "")))
            and find_element(view.get("blocks") or [], action)[1].get("response_url_enabled")
        ]  # fmt: skip
        payload = {**self._interaction("view_submission", who), "view": stored, "response_urls": urls}
        delivery = await self.deliver("interactive", payload)
        answer = delivery.response or {}
        if answer.get("response_action") == "update":
            self.views[view["id"]] = {**view, **answer["view"]}
            self.tell({"type": "view", "user": who.id, "view": self.views[view["id"]]})
        elif answer.get("response_action") == "errors":
            self.tell({"type": "view_errors", "user": who.id, "view": view["id"], "errors": answer["errors"]})
        elif delivery.acked_at is not None:
            self.views.pop(view["id"], None)
            self.tell({"type": "view_closed", "user": who.id, "view": view["id"]})
        return delivery

    async def view_click(self, view: Json, who: Person, action_id: str, *, chosen: Json | None = None) -> Delivery:
        """Press a button or choose something of a modal or a Home tab."""
        block, element = find_element(view.get("blocks") or [], action_id)
        action = {
            "type": element["type"], "action_id": action_id, "block_id": block["block_id"],
            "action_ts": self.timestamp(), **{k: v for k, v in element.items() if k in {"text", "value"}}, **(chosen or {}),
        }  # fmt: skip
        container = {"type": "view", "view_id": view["id"]}
        return await self.deliver(
            "interactive",
            {**self._interaction("block_actions", who), "container": container, "view": view, "actions": [action]},
        )

    async def open_home(self, who: Person) -> Delivery:
        """Open the app's Home tab."""
        event = {
            "type": "app_home_opened", "user": who.id, "channel": f"D0{who.name.upper()}", "tab": "home",
            "event_ts": self.timestamp(), "view": self.homes.get(who.id),
        }  # fmt: skip
        return await self.event(event, who)

    # Delivery

    def trigger(self) -> str:
        """Give a trigger id; it opens views for three seconds."""
        trigger_id = f"{next(self._counter)}.{secrets.token_hex(6)}"
        self._triggers[trigger_id] = time.monotonic()
        return trigger_id

    def trigger_valid(self, trigger_id: str) -> bool:
        """Tell whether a trigger id is known and fresh."""
        return time.monotonic() - self._triggers.get(trigger_id, -TRIGGER_SECONDS) < TRIGGER_SECONDS

    def response_url(self, channel: Channel, who: Person, message: Json | None = None) -> str:
        """Give a response URL: five uses in thirty minutes."""
        token = secrets.token_urlsafe(12)
        self._responses[token] = {
            "channel": channel.id, "user": who.id, "message": message["ts"] if message else None,
            "left": RESPONSE_URL_USES, "until": time.monotonic() + RESPONSE_URL_SECONDS,
        }  # fmt: skip
        return f"{self.base_url}/response/{token}"

    async def deliver(self, kind: Literal["slash_commands", "events_api", "interactive"], payload: Json) -> Delivery:
        """Send something to the app and wait for the acknowledgement; events are sent again when it does not come."""
        delivery = Delivery(kind, payload)
        self.deliveries.append(delivery)
        return await self.redeliver(delivery)

    async def redeliver(self, delivery: Delivery) -> Delivery:
        """Send a delivery, also one that was acknowledged before: Slack does that when an acknowledgement gets lost."""
        delays = self.retry_seconds if delivery.kind == "events_api" else ()
        for delay in (0.0, *delays):
            if delay:
                await asyncio.sleep(delay)
            delivery.done.clear()
            delivery.sent_at, delivery.acked_at = time.monotonic(), None
            try:
                async with asyncio.timeout(self.ack_seconds):
                    await (self._send_http(delivery) if self.request_url else self._send_socket(delivery))
                    await delivery.done.wait()
            except TimeoutError:
                delivery.attempts += 1
            else:
                return delivery
            finally:
                self._pending.pop(delivery.envelope_id, None)
        return delivery

    async def _send_socket(self, delivery: Delivery) -> None:
        await self._connected.wait()
        self._pending[delivery.envelope_id] = delivery
        envelope: Json = {
            "envelope_id": delivery.envelope_id, "type": delivery.kind, "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }  # fmt: skip
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": delivery.attempts, "retry_reason": "timeout" if delivery.attempts else ""}
        await self._sockets[next(self._counter) % len(self._sockets)].send_json(envelope)

    async def _send_http(self, delivery: Delivery) -> None:
        if delivery.kind == "events_api":
            body, content = json.dumps(delivery.payload), "application/json"
        else:
            form = delivery.payload if delivery.kind == "slash_commands" else {"payload": json.dumps(delivery.payload)}
            body, content = urlencode(form), "application/x-www-form-urlencoded"
        headers = {**sign(body), "Content-Type": content}
        if delivery.attempts:
            headers |= {"X-Slack-Retry-Num": str(delivery.attempts), "X-Slack-Retry-Reason": "http_timeout"}
        assert self._http is not None
        assert self.request_url is not None
        async with self._http.post(self.request_url, data=body, headers=headers) as answer:
            text = await answer.text()
            delivery.status = answer.status
            delivery.response = json.loads(text) if text.startswith("{") else ({"text": text} if text else None)
        delivery.acked_at = time.monotonic()
        delivery.done.set()

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to go, as Slack does every few hours."""
        for socket in list(self._sockets):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}})
            self._sockets.remove(socket)
        if not self._sockets:
            self._connected.clear()

    async def drop(self) -> None:
        """Close every connection without a word."""
        for socket in list(self._sockets):
            await socket.close()

    async def connected(self, *, seconds: float = 10) -> None:
        """Wait until the app has a Socket Mode connection."""
        async with asyncio.timeout(seconds):
            await self._connected.wait()

    # Serving

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Serve on loopback; give the Web API's base address, ending in "/api/"."""
        app = web.Application(client_max_size=8 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._web_api)
        app.router.add_get("/socket/{ticket}", self._socket)
        app.router.add_post("/response/{token}", self._response)
        app.router.add_post("/upload/{file}", self._upload)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._closing.clear()
        async with aiohttp.ClientSession() as self._http:
            try:
                yield f"{self.base_url}/api/"
            finally:
                self._closing.set()
                for task in list(self._tasks):
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                for socket in list(self._sockets):
                    await socket.close()
                await runner.cleanup()

    def background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run something on the side for as long as the workspace is served."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _web_api(self, request: web.Request) -> web.Response:
        from bot.demo import webapi  # noqa: PLC0415 - the methods are written against this class

        method = request.match_info["method"]
        arguments = await _arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or str(arguments.pop("token", ""))
        call = Call(method, arguments, time.monotonic())
        self.calls.append(call)
        if (failed := await self._fail(method, arguments)) is not None:
            call.answer = {"ok": False, "asked_for": True}
            self.tell({"type": "call", "method": method})
            return failed
        call.answer = webapi.answer(self, method, arguments, token)
        self.tell({"type": "call", "method": method})
        await self._be_late(method, arguments)
        return web.json_response(call.answer, headers={"X-OAuth-Scopes": self.scopes})

    async def _be_late(self, method: str, arguments: Json) -> None:
        for fault in self.faults:
            if fault.late and fault.method == method and fault.times > 0 and fault.when(arguments):
                fault.times -= 1
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), fault.late)

    async def _fail(self, method: str, arguments: Json) -> web.Response | None:
        for fault in self.faults:
            if not fault.late and fault.method == method and fault.times > 0 and fault.when(arguments):
                fault.times -= 1
                if fault.hang:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._closing.wait(), fault.hang)
                if fault.retry_after is not None:
                    return web.json_response(
                        {"ok": False, "error": "ratelimited"},
                        status=429,
                        headers={"Retry-After": str(fault.retry_after)},
                    )
                if fault.status >= 400:
                    return web.Response(status=fault.status, text="server error")
                if fault.body is not None:
                    return web.Response(text=fault.body, content_type="application/json")
                if fault.error:
                    return web.json_response({"ok": False, "error": fault.error})
        return None

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["ticket"] not in self._tickets:
            return web.Response(status=403, text="unknown ticket")
        self._tickets.discard(request.match_info["ticket"])
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        await socket.send_json(
            {"type": "hello", "num_connections": len(self._sockets) + 1, "connection_info": {"app_id": APP}}
        )
        self._sockets.append(socket)
        self._connected.set()
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._acknowledge(json.loads(frame.data) if frame.data.startswith("{") else {})
        finally:
            if socket in self._sockets:
                self._sockets.remove(socket)
            if not self._sockets:
                self._connected.clear()
        return socket

    def _acknowledge(self, frame: Mapping[str, Any]) -> None:
        delivery = self._pending.get(str(frame.get("envelope_id")))
        if delivery:
            delivery.acked_at = time.monotonic()
            delivery.response = frame.get("payload") or None
            delivery.done.set()

    def ticket(self) -> str:
        """Give the address of a Socket Mode connection; it works once."""
        ticket = secrets.token_urlsafe(12)
        self._tickets.add(ticket)
        return f"{self.base_url.replace('http', 'ws', 1)}/socket/{ticket}"

    async def _response(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.calls.append(Call("response_url", body, time.monotonic()))
        if (failed := await self._fail("response_url", body)) is not None:
            return failed
        known = self._responses.get(request.match_info["token"])
        if known is None or time.monotonic() > known["until"]:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if known["left"] <= 0:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        if wrong := None if body.get("delete_original") else validate.message(body.get("text", ""), body.get("blocks")):
            return web.json_response(
                {"ok": False, "error": wrong[0], "response_metadata": {"messages": wrong[1]}}, status=400
            )
        known["left"] -= 1
        channel = self.channels[known["channel"]]
        original = next((m for m in channel.messages if m["ts"] == known["message"]), None)
        if original is not None and body.get("delete_original"):
            channel.messages.remove(original)
            self.tell({"type": "deleted", "channel": channel.id, "ts": original["ts"]})
        elif original is not None and body.get("replace_original"):
            original |= {"text": body.get("text", ""), "blocks": number_blocks(body.get("blocks"))}
            self.tell({"type": "changed", "channel": channel.id, "message": original})
        else:
            self._respond(channel, known["user"], body)
        return web.Response(text="ok")

    def _respond(self, channel: Channel, user: str, body: Json) -> None:
        kept = {
            "text": body.get("text", ""),
            "blocks": body.get("blocks"),
            "thread_ts": body.get("thread_ts"),
            "bot_id": BOT_ID,
            "user": BOT,
        }
        if body.get("response_type") == "in_channel":
            self.put(channel, kept)
        elif not kept["thread_ts"] or channel.thread(kept["thread_ts"]):
            self._whisper(channel, user, kept)  # in a thread without replies Slack shows it to nobody

    def _whisper(self, channel: Channel, to: str, message: Json) -> None:
        self.put(channel, {**message, "ephemeral": to})

    async def _upload(self, request: web.Request) -> web.Response:
        known = self.files.get(request.match_info["file"])
        if known is None:
            return web.Response(status=404)
        known["content"] = await request.read()
        return web.Response(text=f"OK - {len(known['content'])}")

    def _interaction(self, kind: str, who: Person) -> Json:
        return {
            "type": kind, "token": "local", "api_app_id": APP, "team": {"id": who.team, "domain": TEAM_DOMAIN},
            "enterprise": None, "is_enterprise_install": False, "trigger_id": self.trigger(),
            "user": {"id": who.id, "username": who.name, "name": who.name, "team_id": who.team},
        }  # fmt: skip


def sign(body: str, *, secret: str = SIGNING_SECRET, at: float | None = None) -> dict[str, str]:
    """Give the headers that sign a request body as Slack does."""
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def mention_event(kind: str, message: Json, channel: Channel, who: Person) -> Json:
    """Give the event of a message that addresses the bot."""
    event = {
        "type": kind, "user": who.id, "text": message["text"], "ts": message["ts"], "channel": channel.id,
        "event_ts": message["ts"], "team": who.team, "user_team": who.team, "source_team": who.team,
    }  # fmt: skip
    if channel.im:
        event["channel_type"] = "im"
    if message.get("thread_ts"):
        event["thread_ts"] = message["thread_ts"]
    return event


def links_of(text: str) -> list[Json]:
    """Give the links in a text, each with its domain."""
    urls = dict.fromkeys(re.findall(r"https?://[^\s<>|]+", text))
    return [{"domain": urlsplit(url).hostname or "", "url": url} for url in urls]


def links_event(links: list[Json], message: Json, channel: Channel, who: Person) -> Json:
    """Give the event of links that somebody pasted."""
    event = {
        "type": "link_shared", "user": who.id, "channel": channel.id, "message_ts": message["ts"], "links": links,
        "source": "conversations_history", "unfurl_id": f"{channel.id}.{message['ts']}", "event_ts": message["ts"],
        "is_bot_user_member": BOT in channel.members,
    }  # fmt: skip
    if message.get("thread_ts"):
        event["thread_ts"] = message["thread_ts"]
    return event


def find_element(blocks: list[Json], action_id: str) -> tuple[Json, Json]:
    """Give the block and the element with an action id.

    Raises:
        LookupError: there is none.
    """
    queue = deque(blocks)
    while queue:
        block = queue.popleft()
        queue.extend(block.get("blocks") or [])
        for element in [*(block.get("elements") or []), block.get("accessory") or {}, block.get("element") or {}]:
            if isinstance(element, dict) and element.get("action_id") == action_id:
                return block, element
    msg = f"no element with action_id {action_id!r}"
    raise LookupError(msg)


def number_blocks(blocks: list[Json] | None) -> list[Json] | None:
    """Give every block an id, and every interactive element, as Slack does."""
    for block in blocks or []:
        block.setdefault("block_id", secrets.token_urlsafe(4))
        for element in block.get("elements") or []:
            if isinstance(element, dict) and element.get("type") == "button":
                element.setdefault("action_id", secrets.token_urlsafe(4))
    return blocks


async def _arguments(request: web.Request) -> Json:
    if request.content_type == "application/json":
        arguments: Json = await request.json()
        return arguments
    form = dict(request.query) | {key: value for key, value in (await request.post()).items() if isinstance(value, str)}
    parsed: Json = dict(form)
    for key in ("blocks", "view", "attachments", "metadata", "files"):
        if isinstance(parsed.get(key), str):
            parsed[key] = json.loads(parsed[key])
    return parsed
