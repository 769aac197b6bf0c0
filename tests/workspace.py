"""A Slack workspace on loopback with the real bot in it, for tests.

`async with workspace(recorded("v0.19.2/quota-in-use")) as world: await world.ask("team-a/train")`
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bot.app import Bot, running
from bot.core import engine
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.core.objects import Workload
from bot.core.reference import JobRef
from bot.core.transitions import Mark, mark
from bot.demo.slack import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Channel, Delivery, Json, LocalSlack, Person
from bot.service import Look, look
from bot.settings import Settings, given
from bot.slack.transport import PATH
from bot.slack.watching import Watched
from tests.clusters import Cluster


@dataclass
class Recorded:
    """Answers from a recorded cluster; `gate` holds every answer back until it is set."""

    cluster: Cluster
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[JobRef] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        self.asked.append(ref)
        await self.gate.wait()
        snapshot = self.cluster.snapshot()
        return disclose(engine.diagnose(snapshot, ref), audience, snapshot)

    async def observe(self, ref: JobRef, audience: Audience) -> Look:
        snapshot = self.cluster.snapshot()
        return look(snapshot, ref, engine.diagnose(snapshot, ref), audience)

    async def marks(self, cluster: str, namespace: str, uids: tuple[str, ...] = ()) -> tuple[Mark, ...] | None:
        del cluster, uids
        workloads = self.cluster.snapshot().all_of(Workload, read="seen", namespace=namespace)
        return tuple(mark(item) for item in workloads)


@dataclass
class World:
    """The workspace, the bot in it, one channel with the bot and one without, and Ann, who asks."""

    slack: LocalSlack
    bot: Bot
    service: Watched
    ml: Channel
    elsewhere: Channel
    ann: Person

    async def ask(self, text: str, channel: Channel | None = None, who: Person | None = None, **more: Any) -> Delivery:
        """Type the slash command."""
        return await self.slack.command(text, channel or self.ml, who or self.ann, **more)

    async def root(self, channel: Channel | None = None) -> Json:
        """Wait for the bot's root message."""
        where = channel or self.ml
        return await self.slack.until(lambda: next(iter(by_bot(where.roots())), None))

    async def card(self, channel: Channel | None = None) -> Json:
        """Wait for the card in the thread of the bot's root message."""
        where = channel or self.ml
        root = await self.root(where)
        return await self.slack.until(lambda: next(iter(by_bot(where.thread(root["ts"]))), None))

    async def whisper(self, channel: Channel | None = None) -> Json:
        """Wait for a message that only one person sees."""
        where = channel or self.ml
        return await self.slack.until(lambda: next((m for m in where.messages if "ephemeral" in m), None))


def by_bot(messages: list[Json]) -> list[Json]:
    """Keep the messages of the bot that everybody sees."""
    return [m for m in messages if m.get("bot_id") and "ephemeral" not in m]


def shown(message: Json) -> str:
    """Everything that a reader sees of a message, as one text."""

    def texts(part: object) -> list[str]:
        if isinstance(part, dict):
            own = [part["text"]] if isinstance(part.get("text"), str) else []
            return own + [
                text
                for key, value in part.items()
                if key != "text" or not isinstance(value, str)
                for text in texts(value)
            ]
        return [text for each in part for text in texts(each)] if isinstance(part, list) else []

    return "\n".join([message.get("text", ""), *texts(message.get("blocks") or [])])


def settings(api_url: str, **more: Any) -> Settings:
    """Settings of a bot in the local workspace."""
    values: dict[str, Any] = {
        "slack_api_url": api_url, "slack_bot_token": BOT_TOKEN, "slack_app_token": APP_TOKEN,
        "slack_signing_secret": SIGNING_SECRET, "slack_host": "127.0.0.1", "slack_port": 0,
        "web_host": "127.0.0.1", "web_port": 0, "drain_seconds": 5, "store_url": "sqlite://", **more,
    }  # fmt: skip
    return given(**values)


@contextlib.asynccontextmanager
async def workspace(
    answers: Cluster | Watched, *, slack: LocalSlack | None = None, **more: Any
) -> AsyncIterator[World]:
    """A workspace whose bot answers from a recorded cluster, or from whatever explains; `more` are settings."""
    slack = slack or LocalSlack()
    service = Recorded(answers) if isinstance(answers, Cluster) else answers
    ann = slack.person("ann", "Ann", email="ann@example.com")
    ml = slack.channel("ml", ann)
    elsewhere = slack.channel("elsewhere", ann, bot=False)
    async with slack.serve() as api_url, running(settings(api_url, **more), service) as bot:
        if bot.settings.slack_mode == "http":
            slack.request_url = f"http://127.0.0.1:{bot.slack_port}{PATH}"
        else:
            await slack.connected()
        await bot.greeted.wait()
        yield World(slack, bot, service, ml, elsewhere, ann)


@contextlib.asynccontextmanager
async def hanging_server() -> AsyncIterator[tuple[str, list[float]]]:
    """An API server that takes every request and never answers; gives its address and when requests came."""
    times: list[float] = []
    over = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        times.append(asyncio.get_running_loop().time())
        await over.wait()
        return web.Response(status=503)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hang)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", times
    finally:
        over.set()
        await runner.cleanup()
