"""The command `digest` as a process: what it prints, and that a digest stands once although its process is killed."""

import asyncio
import contextlib
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import digests
from bot.demo import apiserver
from bot.demo.apiserver import RecordedApi
from bot.demo.slack import Channel, LocalSlack
from tests.clusters import recorded
from tests.test_app import KUBECONFIG, environment
from tests.workspace import by_bot, shown

Json = dict[str, Any]


class Lab:
    """A workspace, a cluster, and processes that post the digest."""

    def __init__(self, slack: LocalSlack, channel: Channel, folder: Path, slack_url: str, api_url: str) -> None:
        self.slack, self.channel, self.folder, self.slack_url = slack, channel, folder, slack_url
        (folder / "kubeconfig").write_text(KUBECONFIG.format(url=api_url))
        digest = {"name": "d", "channel": channel.id, "namespaces": ["*"], "minimum_age_seconds": 0}
        configuration = {
            "clusters": [{"kubeconfig": str(folder / "kubeconfig")}],
            "digests": [digest],
            "lease_seconds": 1,
            "read_seconds": 60,
        }
        (folder / "config.yaml").write_text(yaml.safe_dump(configuration))

    async def start(self, *arguments: str, stderr: int = asyncio.subprocess.STDOUT) -> asyncio.subprocess.Process:
        more = {"KUBECONFIG": str(self.folder / "kubeconfig")}
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "digest", *arguments,
            env=environment(self.folder, self.slack_url, **more), stdout=asyncio.subprocess.PIPE, stderr=stderr,
        )  # fmt: skip

    async def run(self, run: str, *arguments: str) -> tuple[int, str]:
        """Run the configured digest; give its exit status and what it printed."""
        process = await self.start("d", "--config", str(self.folder / "config.yaml"), "--run", run, *arguments)
        said, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, said.decode()

    async def post(self, run: str) -> None:
        status, said = await self.run(run)
        assert status == digests.STUCK, said

    async def killed(self, run: str, *, once: Any) -> None:
        """Kill a process as soon as `once` gives something."""
        process = await self.start("d", "--config", str(self.folder / "config.yaml"), "--run", run)
        await self.slack.until(once, seconds=60)
        process.kill()
        await process.communicate()

    @property
    def roots(self) -> list[Json]:
        return by_bot(self.channel.roots())

    @property
    def replies(self) -> list[Json]:
        return [m for m in by_bot(self.channel.messages) if m.get("thread_ts") and m["thread_ts"] != m["ts"]]

    def posted(self, count: int) -> Any:
        return lambda: len(self.slack.called("chat.postMessage")) >= count or None


@pytest.fixture
async def lab(tmp_path: Path) -> Any:
    slack = LocalSlack()
    channel = slack.channel("queues", slack.person("ann"))
    api = RecordedApi(recorded("v0.19.2/local-queue-missing").items)
    async with slack.serve() as slack_url, apiserver.serve(api) as api_url:
        yield Lab(slack, channel, tmp_path, slack_url, api_url)


async def test_a_dry_run_prints_posts_nothing_and_is_not_remembered(lab: Lab) -> None:
    status, said = await lab.run("one", "--dry-run")
    assert status == digests.STUCK
    assert said.startswith("d\n1 misconfigured.")
    assert lab.roots == []
    await lab.post("one")
    status, said = await lab.run("two", "--dry-run", "-o", "markdown")
    assert "nothing changed" in said
    assert len(lab.roots) == 1
    status, _ = await lab.run("three", "--only-changes")
    assert status == digests.STUCK
    assert len(lab.roots) == 1, "nothing changed, so it is silent"


async def test_what_slack_does_not_take_is_a_sentence(lab: Lab) -> None:
    lab.slack.fail("chat.postMessage", error="not_in_channel")
    status, said = await lab.run("one")
    assert status == digests.INCOMPLETE
    assert f"the digest was not posted: Slack said not_in_channel; invite the bot to {lab.channel.id}" in said


async def test_on_a_terminal_it_shows_how_far_it_is_and_elsewhere_nothing(lab: Lab) -> None:
    reader, terminal = os.openpty()
    process = await lab.start("--context", "c", stderr=terminal)
    os.close(terminal)
    said = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while part := await asyncio.to_thread(os.read, reader, 4096):
            said += part
    os.close(reader)
    out, _ = await process.communicate()
    assert process.returncode == digests.STUCK
    assert b"Reading Workloads" in said
    assert out.startswith(b"1 misconfigured")
    process = await lab.start("--context", "c", stderr=asyncio.subprocess.PIPE)
    assert (await process.communicate())[1] == b""


@pytest.mark.parametrize("when", ["root", "reply"])
async def test_a_process_that_is_killed_while_it_posts_is_completed_by_its_retry(lab: Lab, when: str) -> None:
    """Slack took the message, and the process died before it heard so."""
    in_thread = when == "reply"
    lab.slack.fail("chat.postMessage", late=600, when=lambda call: bool(call.get("thread_ts")) is in_thread)
    await lab.killed("one", once=lambda: (lab.replies if in_thread else lab.roots) or None)
    await lab.post("one")
    (root,) = lab.roots
    (reply,) = lab.replies
    assert "1 misconfigured" in root["text"]
    assert "twice" not in root["text"]
    assert (reply["thread_ts"], "Misconfigured" in shown(reply)) == (root["ts"], True)
    await lab.post("two")
    assert "nothing changed" in lab.roots[1]["text"], "what was told by the first is compared with"
    assert "interrupted" not in lab.roots[1]["text"]


async def test_where_it_cannot_be_looked_up_the_retry_says_so(lab: Lab) -> None:
    lab.slack.fail("chat.postMessage", late=600)
    await lab.killed("one", once=lambda: lab.roots or None)
    lab.slack.fail("conversations.history", error="missing_scope", times=9)
    await lab.post("one")
    assert ["may stand here twice" in root["text"] for root in lab.roots] == [False, True]
    assert "may stand here twice" in json.dumps(lab.roots[1]["blocks"])


async def test_a_run_that_nobody_repeated_is_told_of_by_the_next_one(lab: Lab) -> None:
    lab.slack.fail("chat.postMessage", hang=600, error="internal_error")
    await lab.killed("one", once=lab.posted(1))
    with contextlib.closing(sqlite3.connect(lab.folder / "store.sqlite3")) as store, store:
        store.execute("UPDATE digests SET lease = 0")  # the next run is a day later
    await lab.post("two")
    (root,) = lab.roots
    assert "was interrupted and was not posted" in root["text"]
    assert "Since" not in root["text"], "nobody has seen the first"
    await lab.post("three")
    assert "interrupted" not in lab.roots[1]["text"]
