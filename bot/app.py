"""Puts the parts together: settings, clusters, Slack, web endpoints; owns the task group, the signals and the ending."""

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot import telemetry, web
from bot.core.facts import Thresholds
from bot.kube.client import preload, tune_gc
from bot.service import Service, site_of
from bot.settings import ConfigurationError, Settings
from bot.slack import listeners, transport, watch_listeners
from bot.slack.desk import Desk
from bot.slack.last_digests import LastDigests
from bot.slack.memory import Memory
from bot.slack.persons import Home
from bot.slack.post import Poster, Undeliverable, web_client
from bot.slack.queues import Queues
from bot.slack.recovery import Recovery
from bot.slack.watching import Watched, Watches
from bot.slack.work import Work

_log = telemetry.log("app")


@dataclass
class Bot:
    """A running bot: what it is made of, and what keeps it from answering."""

    settings: Settings
    desk: Desk
    app: AsyncApp
    work: Work
    memory: Memory
    watches: Watches
    slack_port: int = 0
    web_port: int = 0
    greeted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once Slack has said who the bot is; before, nobody counts as a member."""
    connected: Callable[[], bool] = lambda: True
    """Tells whether Slack can reach it."""
    failed: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Set with a sentence when the bot cannot go on."""

    def missing(self) -> list[str]:
        """Say what keeps the bot from answering."""
        if self.work.closed:
            return ["ending: questions under way are finished"]
        if not self.greeted.is_set():
            return ["slack: it has not answered yet"]
        return [] if self.connected() else ["slack: there is no socket connection"]

    def lacking(self) -> list[str]:
        """Say what the bot does without: it answers, but remembers nothing."""
        problem = self.memory.problem
        return [f"store: {problem}; questions are answered, watches are not kept"] if problem else []

    def fail(self, sentence: str) -> None:
        """Say that the bot cannot go on."""
        if not self.failed.done():
            self.failed.set_result(sentence)


def serve(settings: Settings) -> int:
    """Run the bot until it is told to end (SIGTERM, SIGINT); give the exit status.

    2: the configuration cannot be used. 1: Slack refuses the token, or a port is taken. The reason is on standard error.
    """
    telemetry.set_up(settings.log_level, settings.log_format)
    try:
        return asyncio.run(_until_signalled(settings))
    except ConfigurationError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a sentence for whoever starts it, not for the log
        return 2
    except OSError as error:
        where = f"{settings.web_host}:{settings.web_port}"
        if settings.slack_mode == "http":
            where += f" and {settings.slack_host}:{settings.slack_port}"
        print(f"cannot listen on {where}: {error.strerror or error}", file=sys.stderr)  # noqa: T201 - as above
        return 1


async def _until_signalled(settings: Settings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop.set)
    async with clusters(settings) as service, running(settings, service) as bot:
        tune_gc()
        bot.failed.add_done_callback(lambda _: stop.set())
        await stop.wait()
        if bot.failed.done():
            print(bot.failed.result(), file=sys.stderr)  # noqa: T201 - as above
            return 1
        _log.info("ending", questions=len(bot.work))
    return 0


@contextlib.asynccontextmanager
async def clusters(settings: Settings) -> AsyncIterator[Service]:
    """Be able to answer about every configured cluster for as long as the context lasts."""
    thresholds = Thresholds(young=settings.young_seconds, long=settings.long_seconds)
    sites = {cluster.name: site_of(cluster) for cluster in settings.clusters}
    async with Service(sites, deadline=settings.read_seconds, thresholds=thresholds) as service:
        yield service


@contextlib.asynccontextmanager
async def running(settings: Settings, service: Watched) -> AsyncIterator[Bot]:
    """Run the bot for as long as the context lasts; at its end questions under way are finished first.

    Raises:
        ConfigurationError: a token or secret that the mode needs is missing.
    """
    token = settings.secret("slack_bot_token")
    app_token = settings.secret("slack_app_token") if settings.slack_mode == "socket" else ""
    signing_secret = settings.secret("slack_signing_secret") if settings.slack_mode == "http" else "unused"
    preload()
    logger = logging.getLogger("whypending.bolt")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)  # it writes out every body when its own level is not above DEBUG
    timeout = aiohttp.ClientTimeout(total=settings.slack_timeout_seconds)
    async with contextlib.AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
        client = web_client(token, settings.slack_api_url, session, logger)
        memory = await stack.enter_async_context(Memory(settings.store(), lease=settings.lease_seconds).kept())
        group = await stack.enter_async_context(_tasks())
        work = Work(group, at_once=settings.questions_at_once, waiting=settings.questions_waiting)
        desk = Desk(settings, service, Poster(client, session), work, memory)
        app = bolt(client, desk.home, token, signing_secret, logger)
        listeners.register(app, desk)
        watches = Watches(desk, service, memory)
        watch_listeners.register(app, desk, watches)
        if isinstance(service, Service):
            Queues(desk, service).register()
        bot = Bot(settings, desk, app, work, memory, watches)
        bot.web_port = await stack.enter_async_context(
            web.listen(web.application(bot.missing, bot.lacking), settings.web_host, settings.web_port)
        )
        stack.push_async_callback(work.drain, settings.drain_seconds)
        greeting = group.create_task(_greet(bot), name="auth.test")
        stack.callback(greeting.cancel)
        for later in (Recovery(desk).run, LastDigests(settings, memory).run, watches.run):
            looking = group.create_task(_once_greeted(bot, later), name=later.__qualname__)
            stack.callback(looking.cancel)
        if settings.slack_mode == "socket":
            bot.connected = await stack.enter_async_context(
                transport.socket(
                    app, app_token, client, logger, lambda word: bot.fail(_refused("app-level token", word))
                )
            )
        else:
            bot.slack_port = await stack.enter_async_context(
                transport.http(app, settings.slack_host, settings.slack_port)
            )
        _log.info(
            "serving", mode=settings.slack_mode, web_port=bot.web_port, clusters=[c.name for c in settings.clusters]
        )
        yield bot


@contextlib.asynccontextmanager
async def _tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """Own a task group whose single failure is raised as it is: no job of ours fails, so it is the body's."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failed:
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None
        raise


def bolt(client: AsyncWebClient, home: Home, token: str, signing_secret: str, logger: logging.Logger) -> AsyncApp:
    """Make the Bolt app. Nothing in it asks Slack before a listener has acknowledged: it knows its only installation."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=home.enterprise or None, team_id=home.team or None, bot_token=token,
            bot_id=home.bot_id or None, bot_user_id=home.user or None,
        )  # fmt: skip

    bare = AsyncWebClient(base_url=client.base_url, session=client.session, logger=logger)
    return AsyncApp(name="whypending", logger=logger, client=bare, signing_secret=signing_secret, authorize=authorize)


def _refused(what: str, word: str) -> str:
    return f"Slack refuses the {what} ({word}): copy it again from the app's page, where it also tells the scopes."


async def _once_greeted(bot: Bot, do: Callable[[], Awaitable[None]]) -> None:
    """Do something once it is known who the bot is."""
    await bot.greeted.wait()
    await do()


async def _greet(bot: Bot) -> None:
    """Ask Slack who the bot is, until it says so."""
    home, wait = bot.desk.home, 0.5
    while True:
        try:
            told = await bot.desk.poster.call("auth.test")
        except Undeliverable as refused:
            if refused.error in transport.FINAL_WORDS:
                bot.fail(_refused("bot token", refused.error))
                return
            _log.warning("slack does not answer", error=refused.error)
            await asyncio.sleep(wait)
            wait = min(30.0, wait * 2)
            continue
        home.team, home.enterprise = str(told.get("team_id") or ""), str(told.get("enterprise_id") or "")
        home.user, home.bot_id = str(told.get("user_id") or ""), str(told.get("bot_id") or "")
        home.name = str(told.get("user") or home.name)
        home.org_wide = bool(told.get("is_enterprise_install"))
        bot.greeted.set()
        _log.info("greeted", team=home.team, user=home.user)
        for sentence in await bot.desk.gate.unusable():
            _log.warning("access rule not usable", reason=sentence)
        return
