"""The process: its endpoints, its start with a wrong configuration, its end on a signal."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import aiohttp

from bot.demo import apiserver
from bot.demo.catalogue import SCENARIOS
from bot.demo.slack import APP_TOKEN, BOT_TOKEN, LocalSlack
from tests.clusters import recorded
from tests.workspace import Recorded, by_bot, shown, workspace

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
clusters: [{{name: c, cluster: {{server: "{url}"}}}}]
users: [{{name: u, user: {{token: t}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
"""


async def get(port: int, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text()


async def test_the_endpoints_say_that_it_lives_and_is_ready_and_count_what_it_did() -> None:
    async with workspace(recorded("v0.19.2/quota-in-use")) as world:
        await world.ask("team-a/train")
        await world.card()
        port = world.bot.web_port
        assert await get(port, "/healthz") == (200, "ok\n")
        assert await get(port, "/readyz") == (200, "ok\n")
        status, metrics = await get(port, "/metrics")
        assert status == 200
        assert 'whypending_headlines_total{complete="false",outlook="wait",rule="quota-in-use"}' in metrics or (
            'whypending_headlines_total{complete="true",outlook="wait",rule="quota-in-use"}' in metrics
        )
        assert 'whypending_answers_total{form="card",place="thread"}' in metrics


async def test_it_is_not_ready_before_slack_has_answered_nor_while_it_ends() -> None:
    slack = LocalSlack()
    slack.fail("auth.test", error="internal_error", times=1)
    service = Recorded(recorded("v0.19.2/quota-in-use"))
    service.gate.clear()
    async with workspace(service, slack=slack) as world:
        port = world.bot.web_port
        world.bot.greeted.clear()
        status, text = await get(port, "/readyz")
        assert (status, text) == (503, "slack: it has not answered yet\n")
        world.bot.greeted.set()
        slack.fail("apps.connections.open", hang=0.5)
        await slack.drop()
        await slack.until(lambda: None if world.bot.connected() else True)
        assert await get(port, "/readyz") == (503, "slack: there is no socket connection\n")
        await slack.connected()
        await slack.until(lambda: world.bot.connected() or None)
        await world.ask("team-a/train")
        ending = asyncio.create_task(world.bot.work.drain(5))
        await asyncio.sleep(0)
        assert (await get(port, "/readyz"))[0] == 503
        assert (await get(port, "/healthz"))[0] == 200
        late = await world.ask("team-a/late")
        assert "restarted" in shown(late.response or {})
        service.gate.set()
        await ending


def environment(tmp_path: Path, api_url: str, **more: str) -> dict[str, str]:
    """The environment of a bot as a process of its own."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("WHYPENDING_")},
        "WHYPENDING_SLACK_API_URL": api_url, "WHYPENDING_SLACK_BOT_TOKEN": BOT_TOKEN, "WHYPENDING_SLACK_APP_TOKEN": APP_TOKEN,
        "WHYPENDING_WEB_HOST": "127.0.0.1", "WHYPENDING_WEB_PORT": "0", "WHYPENDING_LOG_FORMAT": "json",
        "WHYPENDING_CONFIG": str(tmp_path / "config.yaml"), "WHYPENDING_STORE_PATH": str(tmp_path / "store.sqlite3"), **more,
    }  # fmt: skip


async def start(tmp_path: Path, api_url: str, **more: str) -> asyncio.subprocess.Process:
    """Start `whypending serve`."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", env=environment(tmp_path, api_url, **more),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def test_a_process_reads_its_cluster_answers_and_ends_on_sigterm(tmp_path: Path) -> None:
    slack = LocalSlack(ack_seconds=20)
    ann = slack.person("ann")
    channel = slack.channel("ml", ann)
    async with slack.serve() as api_url, apiserver.serve(SCENARIOS[0].path) as url:
        (tmp_path / "kubeconfig").write_text(KUBECONFIG.format(url=url))
        (tmp_path / "config.yaml").write_text(f"clusters: [{{kubeconfig: {tmp_path / 'kubeconfig'}}}]")
        process = await start(tmp_path, api_url)
        try:
            await slack.until(lambda: slack.called("auth.test") or None, seconds=30)
            await slack.connected(seconds=30)
            await slack.command("team-a/train", channel, ann)
            process.send_signal(signal.SIGTERM)
            _, stderr = await asyncio.wait_for(process.communicate(), 30)
        finally:
            if process.returncode is None:
                process.kill()
    assert process.returncode == 0, stderr.decode()
    roots = by_bot(channel.roots())
    assert len(roots) == 1, "the question under way was answered before the end"
    assert "6 of 8 are in use" in shown(roots[0])
    assert by_bot(channel.thread(roots[0]["ts"]))
    assert b'"event": "ending"' in stderr


async def test_a_refused_token_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")
    async with LocalSlack().serve() as api_url:
        process = await start(tmp_path, api_url, WHYPENDING_SLACK_BOT_TOKEN="xoxb-other")
        _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 1
    assert b"Slack refuses the bot token (invalid_auth)" in stderr


async def test_a_refused_app_token_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")
    async with LocalSlack().serve() as api_url:
        process = await start(tmp_path, api_url, WHYPENDING_SLACK_APP_TOKEN="xapp-other")
        _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 1
    assert b"Slack refuses the app-level token (invalid_auth)" in stderr


async def test_a_taken_port_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")
    async with LocalSlack().serve() as api_url:
        port = api_url.split(":")[2].partition("/")[0]
        process = await start(tmp_path, api_url, WHYPENDING_WEB_PORT=port)
        _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}".encode() in stderr
    assert b"Traceback" not in stderr


async def test_a_wrong_configuration_ends_the_process_with_a_sentence_and_no_trace(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("read_second: 3")
    process = await start(tmp_path, "https://slack.example.com/api")
    _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 2
    assert b"line 1: read_second: no such setting; did you mean read_seconds?" in stderr
    assert b"Traceback" not in stderr
    (tmp_path / "config.yaml").write_text("")
    process = await start(tmp_path, "https://slack.example.com/api", WHYPENDING_SLACK_APP_TOKEN="")
    _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 2
    assert b"WHYPENDING_SLACK_APP_TOKEN is not set" in stderr
    assert b"Traceback" not in stderr
