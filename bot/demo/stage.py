"""Sets the demo's stage: recorded clusters, the workspace with its people and channels, the bot, the page."""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

from bot import settings, telemetry, web
from bot.app import Bot, running
from bot.core.diagnosis import Level
from bot.demo import apiserver
from bot.demo.catalogue import SCENARIOS, Scenario
from bot.demo.page import HEADLAMP, Page
from bot.demo.slack import APP_TOKEN, BOT_TOKEN, Channel, Json, LocalSlack, Person
from bot.kube.client import Cluster
from bot.render.links import Templates
from bot.service import Service, Site
from bot.slack.talk import WHY


@dataclass
class Stage:
    """The demo while it runs: its address and its parts."""

    url: str
    slack: LocalSlack
    bot: Bot
    page: Page
    me: Person


def run(port: int) -> int:
    """Run the demo until it is interrupted; give the exit status."""
    telemetry.set_up("warning", "auto")
    try:
        return asyncio.run(_until_interrupted(port))
    except OSError as error:
        print(f"cannot listen on 127.0.0.1:{port}: {error.strerror}; take another with --port 8766", file=sys.stderr)  # noqa: T201
        return 1


async def _until_interrupted(port: int) -> int:
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    async with stage(port) as demo:
        print(f"The demo runs at {demo.url}  (Ctrl+C ends it)", flush=True)  # noqa: T201 - what the command is for
        await stop.wait()
    return 0


@contextlib.asynccontextmanager
async def stage(port: int = 0, scenarios: tuple[Scenario, ...] = SCENARIOS) -> AsyncIterator[Stage]:
    """Run the demo for as long as the context lasts.

    Raises:
        OSError: the port cannot be listened on.
    """
    held = _bound(port)  # kept: a free port that is let go of may be taken before it is listened on
    port = held.getsockname()[1]
    elsewhere = f"http://127.0.0.1:{port}{HEADLAMP}"
    slack = LocalSlack()
    slack.unfurl_domains = {"127.0.0.1"}
    me = slack.person("asker", "Asker", email="asker@example.com")
    colleague = slack.person("on-call", "On call", email="on-call@example.com")
    alerts = slack.person("alerts", "Alerts")
    alerts.bot = True
    channels = _channels(slack, me, colleague)
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(held.close)
        urls = {s.cluster: await stack.enter_async_context(apiserver.serve(s.path)) for s in scenarios}
        sites = {
            name: Site(Cluster(name=name, url=url), Templates(elsewhere, name, cluster=name))
            for name, url in urls.items()
        }
        service = await stack.enter_async_context(Service(sites))
        configured = settings.given(
            slack_api_url=await stack.enter_async_context(slack.serve()),
            slack_bot_token=BOT_TOKEN, slack_app_token=APP_TOKEN, slack_mode="socket",
            web_host="127.0.0.1", web_port=0, drain_seconds=2, store_url="sqlite://",
            clusters=tuple(
                settings.Cluster(
                    name=name,
                    links=settings.Links(headlamp=settings.Headlamp(base_url=elsewhere, cluster_name=name)),
                )
                for name in urls
            ),
            access=tuple(
                settings.Access(name=channel.name, channels=(channel.id,), level=level)
                for channel, level in channels
                if level != "namespace"
            ),
        )  # fmt: skip

        told: set[str] = set()

        def choose(cluster: str) -> None:
            for channel, _ in channels:
                configured.channels[channel.id] = settings.Channel(cluster=cluster)
            if cluster not in told:
                told.add(cluster)
                says = next(scenario.says for scenario in scenarios if scenario.cluster == cluster)
                slack.put(channels[0][0], {"user": colleague.id, "text": says})
                slack.put(channels[1][0], _alert(alerts, next(s for s in scenarios if s.cluster == cluster)))

        page = Page(
            slack, me, scenarios, choose, command=configured.slack_command,
            shortcuts=({"callback_id": WHY, "name": "Why pending?"},), home_tab=True,
        )  # fmt: skip
        bot = await stack.enter_async_context(running(configured, service))
        listening = await stack.enter_async_context(web.listen(page.application(), "127.0.0.1", port, held))
        await bot.greeted.wait()
        await slack.connected()
        yield Stage(f"http://127.0.0.1:{listening}", slack, bot, page, me)


def _bound(port: int) -> socket.socket:
    """Listen on a port on loopback, 0 for a free one. Raises OSError."""
    held = socket.socket()
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
        held.listen()  # others may bind to it, too, as long as nobody listens
    except OSError:
        held.close()
        raise
    return held


def _alert(alerts: Person, scenario: Scenario) -> Json:
    """Write what an alert manager would: the message that a shortcut is used on."""
    namespace, name = scenario.ask.split("/")
    return {
        "user": alerts.id, "bot_id": "B0ALERTS", "text": "KueueWorkloadPendingTooLong",
        "attachments": [
            {
                "color": "#b0563f", "title": "A workload is pending for too long",
                "text": f"*cluster:* `{scenario.cluster}`\n*namespace:* `{namespace}`\n*job_name:* `{name}`",
                "fallback": f"A workload is pending for too long: {scenario.ask}",
            }
        ],
    }  # fmt: skip


def _channels(slack: LocalSlack, me: Person, colleague: Person) -> list[tuple[Channel, Level]]:
    """Make the channels, each with what its answers may name."""
    both = (me, colleague)
    training = slack.channel(
        "ml-training", *both, topic="Answers here name what is in the asked namespace and count the rest"
    )
    operators = slack.channel(
        "gpu-operators",
        *both,
        topic="For those who run the queues: answers here name everything. Alerts: point at one and press Why pending?",
    )
    random = slack.channel("random", *both, bot=False, topic="The bot is not in this channel: see what it does then")
    direct = slack.channel("asker", me, im=True, topic="Between you and the bot")
    return [(training, "namespace"), (operators, "all"), (random, "namespace"), (direct, "namespace")]
