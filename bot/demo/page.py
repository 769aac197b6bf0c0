"""The demo's web page: serves it, tells it what changes in the local Slack, and takes what its reader does.

Loopback only. Requests that name another host, or come from another site's page, are refused.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.demo.catalogue import Scenario
from bot.demo.slack import BOT, Channel, Json, LocalSlack, Person

STATIC = Path(__file__).parent / "static"
ALIVE_SECONDS = 15.0
HEADLAMP = "/headlamp"
"""Where the links of the demo's answers lead: a page in place of Headlamp."""
_IN_PLACE_OF_HEADLAMP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>In place of Headlamp</title>
<meta name="viewport" content="width=device-width">
<body style="font:16px/1.5 sans-serif;max-width:40em;margin:3em auto;padding:0 1em">
<h1>In place of Headlamp</h1>
<p>In your own cluster this link opens Headlamp. The demo has none.</p>
<p>Copy this page's address and paste it into a channel of the demo: the verdict is shown below the message.</p>
</body></html>
"""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Page:
    """The page of one person in the workspace.

    Args:
        slack: the workspace.
        me: whose page it is.
        scenarios: the recorded clusters to choose from.
        choose: called with the cluster that was chosen.
        command: the bot's slash command.
        shortcuts: the message shortcuts that the bot has: `{"callback_id", "name"}`.
        home_tab: whether the bot has a Home tab.
    """

    def __init__(
        self,
        slack: LocalSlack,
        me: Person,
        scenarios: tuple[Scenario, ...],
        choose: Callable[[str], None],
        *,
        command: str = "/whypending",
        shortcuts: tuple[Json, ...] = (),
        home_tab: bool = False,
    ) -> None:
        """Make the page; the first scenario is chosen."""
        self.slack, self.me, self.scenarios, self._choose = slack, me, scenarios, choose
        self.command, self.shortcuts, self.home_tab = command, shortcuts, home_tab
        self.chosen = scenarios[0].cluster
        choose(self.chosen)

    def application(self) -> web.Application:
        """Give the web application."""
        app = web.Application(middlewares=[_guard])
        app.router.add_get("/", self._index)
        app.router.add_static("/static/", STATIC)
        app.router.add_get("/state", self._state)
        app.router.add_get("/events", self._events)
        app.router.add_get("/file/{file}", self._file)
        app.router.add_get(HEADLAMP + "/{path:.*}", _in_place_of_headlamp)
        for path, handler in {
            "/say": self._say, "/act": self._act, "/choose": self._chosen, "/shortcut": self._shortcut, "/home": self._home,
            "/view_submit": self._view_submit, "/view_close": self._view_close, "/view_act": self._view_act,
        }.items():  # fmt: skip
            app.router.add_post(path, _json(handler))
        return app

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html")

    async def _state(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "me": asdict(self.me), "bot": BOT, "people": {p.id: asdict(p) for p in self.slack.people.values()},
                "channels": [self._about(c) | {"messages": self._visible(c)} for c in self.slack.channels.values()],
                "scenarios": [
                    {k: v for k, v in asdict(scenario).items() if k != "file"} for scenario in self.scenarios
                ],
                "chosen": self.chosen, "shortcuts": self.shortcuts, "homes": self.slack.homes, "home_tab": self.home_tab,
                "commands": [
                    {"command": self.command, "hint": "namespace/name, digest or queue NAME",
                     "description": "Why is this job pending?"},
                    {"command": "/invite", "hint": "@whypending", "description": "Add the bot to this channel"},
                ],
            }
        )  # fmt: skip

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: every change that this person may see."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        with self.slack.watch() as changes:
            await response.prepare(request)
            await response.write(b"retry: 1000\n\n")
            while True:
                try:
                    change = await asyncio.wait_for(changes.get(), ALIVE_SECONDS)
                except TimeoutError:
                    await response.write(b": alive\n\n")
                    continue
                if self._mine(change):
                    await response.write(f"data: {json.dumps(change)}\n\n".encode())

    def _mine(self, change: Json) -> bool:
        if change["type"] == "call":
            return False
        to = (change.get("message") or {}).get("ephemeral")
        return to in {None, self.me.id}

    def _visible(self, channel: Channel) -> list[Json]:
        return [m for m in channel.messages if m.get("ephemeral") in {None, self.me.id}]

    def _about(self, channel: Channel) -> Json:
        return {
            "id": channel.id, "name": channel.name, "im": channel.im, "private": channel.private, "topic": channel.topic,
            "members": len(channel.members), "member": BOT in channel.members,
        }  # fmt: skip

    def _channel(self, body: Json) -> Channel:
        channel = self.slack.channels.get(str(body.get("channel")))
        if channel is None:
            raise web.HTTPNotFound(text="there is no such channel")
        return channel

    def _message(self, channel: Channel, body: Json) -> Json:
        found = next((m for m in self._visible(channel) if m["ts"] == body.get("ts")), None)
        if found is None:
            raise web.HTTPNotFound(text="there is no such message")
        return found

    async def _say(self, body: Json) -> Json:
        channel, text, thread_ts = self._channel(body), str(body.get("text", "")).strip(), body.get("thread_ts")
        if not text.startswith("/"):
            bot = self.slack.people[BOT]
            await self.slack.say(text.replace(f"@{bot.name}", f"<@{BOT}>"), channel, self.me, thread_ts=thread_ts)
            return {}
        word, _, rest = text.partition(" ")
        if thread_ts:
            return self._slackbot(
                channel, f"{word} is not supported in threads. Sorry! Mention @whypending instead.", thread_ts
            )
        if word == "/invite":
            return self._invite(channel)
        if word != self.command:
            return self._slackbot(channel, f"{word} is not a valid command. Try {self.command} namespace/name.")
        await self.slack.command(rest.strip(), channel, self.me, command=word)
        return {}

    def _invite(self, channel: Channel) -> Json:
        if BOT in channel.members:
            return self._slackbot(channel, "whypending is already in this channel.")
        channel.members.add(BOT)
        self.slack.tell({"type": "channel", "channel": channel.id, "about": self._about(channel)})
        self.slack.put(
            channel, {"user": BOT, "text": f"was added to #{channel.name} by {self.me.real_name}.", "system": True}
        )
        return {}

    def _slackbot(self, channel: Channel, text: str, thread_ts: object = None) -> Json:
        self.slack.put(channel, {"user": "USLACKBOT", "text": text, "ephemeral": self.me.id, "thread_ts": thread_ts})
        return {}

    async def _act(self, body: Json) -> Json:
        channel = self._channel(body)
        message = self._message(channel, body)
        delivery = await self.slack.click(
            message, channel, self.me, str(body.get("action_id")), chosen=body.get("chosen")
        )
        return {} if delivery.acked_at else {"error": "whypending did not answer in time"}

    async def _shortcut(self, body: Json) -> Json:
        channel = self._channel(body)
        await self.slack.shortcut(str(body.get("callback_id")), self.me, self._message(channel, body), channel)
        return {}

    async def _home(self, _: Json) -> Json:
        await self.slack.open_home(self.me)
        return {}

    def _view(self, body: Json) -> Json:
        views = {**self.slack.views, **{view["id"]: view for view in self.slack.homes.values()}}
        view = views.get(str(body.get("view")))
        if view is None:
            raise web.HTTPNotFound(text="there is no such view")
        return view

    async def _view_submit(self, body: Json) -> Json:
        await self.slack.submit(self._view(body), self.me, body.get("values") or {})
        return {}

    async def _view_close(self, body: Json) -> Json:
        self.slack.views.pop(str(body.get("view")), None)
        return {}

    async def _view_act(self, body: Json) -> Json:
        await self.slack.view_click(self._view(body), self.me, str(body.get("action_id")), chosen=body.get("chosen"))
        return {}

    async def _chosen(self, body: Json) -> Json:
        cluster = str(body.get("cluster"))
        if cluster not in {scenario.cluster for scenario in self.scenarios}:
            raise web.HTTPNotFound(text="there is no such recording")
        self.chosen = cluster
        self._choose(cluster)
        return {"chosen": cluster}

    async def _file(self, request: web.Request) -> web.Response:
        known = self.slack.files.get(request.match_info["file"])
        if known is None:
            raise web.HTTPNotFound(text="there is no such file")
        if known["name"].endswith(".png"):
            return web.Response(body=known["content"], content_type="image/png")
        return web.Response(body=known["content"], content_type="text/plain", charset="utf-8")


async def _in_place_of_headlamp(_: web.Request) -> web.Response:
    return web.Response(text=_IN_PLACE_OF_HEADLAMP, content_type="text/html")


def _json(handler: Callable[[Json], Awaitable[Json]]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        try:
            body: Any = await request.json()
        except ValueError as error:
            raise web.HTTPBadRequest(text="the body is not JSON") from error
        if not isinstance(body, dict):
            raise web.HTTPBadRequest(text="the body is not an object")
        try:
            return web.json_response(await handler(body))
        except LookupError as error:
            raise web.HTTPNotFound(text=str(error)) from error

    return handle


@web.middleware
async def _guard(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Let only this machine's own page in: no other host name (rebinding), no other origin (a page elsewhere)."""
    name = request.host.rpartition(":")[0] or request.host
    origin = request.headers.get("Origin")
    if name not in {"127.0.0.1", "localhost", "[::1]"} or (origin is not None and origin != f"http://{request.host}"):
        raise web.HTTPForbidden(text="only this machine's own page may ask")
    response = await handler(request)
    if not response.prepared:
        response.headers.update(
            {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
        )
    return response
