"""A process that is killed outright: what it was doing is done once, or its asker hears that it was interrupted."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.demo import apiserver
from bot.demo.apiserver import Fault, RecordedApi
from bot.demo.slack import BOT, Channel, LocalSlack, Person, mention_event
from bot.slack.watching import SIGNATURE
from tests.test_app import KUBECONFIG, start
from tests.test_watch import same_job
from tests.workspace import by_bot, shown

Json = dict[str, Any]


@dataclass
class Lab:
    """A workspace, a cluster, and processes of the bot that come and go."""

    slack: LocalSlack
    ann: Person
    ml: Channel
    api: RecordedApi
    folder: Path
    api_url: str
    process: asyncio.subprocess.Process | None = None

    async def start(self, **environment: str) -> None:
        """Start a process; give it back once it is connected."""
        greeted = len(self.slack.called("auth.test"))
        self.process = await start(
            self.folder, self.api_url, WHYPENDING_LEASE_SECONDS="1", WHYPENDING_WATCH_POLL_SECONDS="0.2",
            WHYPENDING_WATCH_SETTLE_SECONDS="0", **environment,
        )  # fmt: skip
        await self.slack.until(lambda: len(self.slack.called("auth.test")) > greeted or None, seconds=60)
        await self.slack.connected(seconds=60)

    async def kill(self) -> None:
        """Kill it outright."""
        assert self.process is not None
        self.process.kill()
        await self.process.communicate()
        await self.slack.until(lambda: not self.slack._sockets or None)
        self.process = None

    async def ask(self, text: str = "team-a/train") -> None:
        await self.slack.command(text, self.ml, self.ann)

    def seen(self) -> list[Json]:
        """Every message of the bot."""
        return [m for m in self.ml.messages if m.get("bot_id")]

    def roots(self) -> list[Json]:
        return by_bot(self.ml.roots())

    def cards(self) -> list[Json]:
        return [m for m in by_bot(self.ml.messages) if '"action_id": "details"' in json.dumps(m.get("blocks"))]

    def notices(self) -> list[Json]:
        return [m for m in self.seen() if "Interrupted" in m["text"]]


@contextlib.asynccontextmanager
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    slack = LocalSlack(ack_seconds=60)
    ann = slack.person("ann")
    channel = slack.channel("ml", ann)
    api = RecordedApi(same_job("quota-in-use").items)
    async with slack.serve() as api_url, apiserver.serve(api) as url:
        (tmp_path / "kubeconfig").write_text(KUBECONFIG.format(url=url))
        (tmp_path / "config.yaml").write_text(f"clusters: [{{kubeconfig: {tmp_path / 'kubeconfig'}}}]")
        made = Lab(slack, ann, channel, api, tmp_path, api_url)
        try:
            yield made
        finally:
            if made.process is not None:
                made.process.kill()
                await made.process.communicate()


def in_thread(arguments: Json) -> bool:
    return bool(arguments.get("thread_ts"))


def is_root(arguments: Json) -> bool:
    return not arguments.get("thread_ts")


async def test_killed_before_anything_was_posted_whoever_asked_is_told_and_can_ask_again(tmp_path: Path) -> None:
    async with lab(tmp_path) as at:
        await at.start()
        at.api.faults.append(Fault("/api", hang=True))
        await at.ask()
        await noted(at)
        await at.kill()
        at.api.faults.clear()
        await at.start()
        notice = await at.slack.until(lambda: next(iter(at.notices()), None), seconds=60)
        assert notice["ephemeral"] == at.ann.id
        assert at.roots() == []
        await at.slack.click(notice, at.ml, at.ann, "ask-again")
        await at.slack.until(lambda: at.cards() or None)
        assert len(at.notices()) == 1


async def test_killed_as_soon_as_it_was_acknowledged_whoever_asked_is_told(tmp_path: Path) -> None:
    async with lab(tmp_path) as at:
        await at.start(WHYPENDING_QUESTIONS_AT_ONCE="1")
        at.api.faults.append(Fault("/api", hang=True))
        await at.ask()
        for name in ("second", "third"):  # they wait for their turn
            await at.ask(f"team-a/{name}")
        said = at.slack.put(at.ml, {"user": at.ann.id, "text": f"<@{BOT}> team-a/fourth", "team": at.ann.team})
        await at.slack.event(mention_event("app_mention", said, at.ml, at.ann), at.ann)
        await at.kill()
        at.api.faults.clear()
        await at.start()
        await at.slack.until(lambda: len(at.notices()) == 4 or None, seconds=60)
        told = "\n".join(shown(notice) for notice in at.notices())
        for asked in ("team-a/train", "team-a/second", "team-a/third", "your question"):
            assert asked in told
        assert {notice["ephemeral"] for notice in at.notices()} == {at.ann.id}


async def test_killed_between_root_and_card_the_thread_says_so_and_answers_when_asked_again(tmp_path: Path) -> None:
    async with lab(tmp_path) as at:
        await at.start()
        at.slack.fail("chat.postMessage", hang=600, error="internal_error", when=in_thread)
        await at.ask()
        root = await at.slack.until(lambda: next(iter(at.roots()), None), seconds=60)
        await at.slack.until(lambda: len(at.slack.called("chat.postMessage")) >= 2 or None)
        await at.kill()
        await at.start()
        notice = await at.slack.until(lambda: next(iter(at.notices()), None), seconds=60)
        assert notice["thread_ts"] == root["ts"]
        assert f"<@{at.ann.id}>" in shown(notice)
        assert at.cards() == []
        await at.slack.click(notice, at.ml, at.ann, "ask-again")
        card = await at.slack.until(lambda: next(iter(at.cards()), None))
        assert card["thread_ts"] == root["ts"]
        assert len(at.roots()) == 1


async def test_killed_before_it_knew_that_its_root_stands_the_root_is_found(tmp_path: Path) -> None:
    async with lab(tmp_path) as at:
        await at.start()
        at.slack.fail("chat.postMessage", late=600, when=is_root)
        await at.ask()
        root = await at.slack.until(lambda: next(iter(at.roots()), None), seconds=60)
        await at.kill()
        await at.start()
        notice = await at.slack.until(lambda: next(iter(at.notices()), None), seconds=60)
        assert notice["thread_ts"] == root["ts"]
        assert len(at.roots()) == 1


@pytest.mark.parametrize("scope", [True, False])
async def test_killed_after_the_card_it_is_answered_once_or_it_is_not_known_and_said(
    tmp_path: Path, *, scope: bool
) -> None:
    async with lab(tmp_path) as at:
        await at.start()
        at.slack.fail("chat.postMessage", late=600, when=in_thread)
        await at.ask()
        await at.slack.until(lambda: next(iter(at.cards()), None), seconds=60)
        await at.kill()
        if not scope:
            at.slack.fail("conversations.replies", error="missing_scope", times=99)
        await at.start()
        if scope:
            await at.slack.until(lambda: at.slack.called("conversations.replies") or None, seconds=60)
            await at.ask("team-a/other")
            await at.slack.until(lambda: len(at.cards()) == 2 or None, seconds=60)
            assert at.notices() == []
        else:
            notice = await at.slack.until(lambda: next(iter(at.notices()), None), seconds=60)
            assert "If no card stands here" in shown(notice)
        assert len(at.roots()) == (2 if scope else 1)


async def test_killed_after_everything_nothing_is_said_again_and_a_repeated_delivery_is_not_answered(
    tmp_path: Path,
) -> None:
    async with lab(tmp_path) as at:
        await at.start()
        delivery = await at.slack.command("team-a/train", at.ml, at.ann)
        await at.slack.until(lambda: at.cards() or None, seconds=60)
        await at.ask("team-a/other")
        await at.slack.until(lambda: len(at.cards()) == 2 or None, seconds=60)
        await at.kill()
        await at.start()
        await at.slack.redeliver(delivery)
        await at.ask("team-a/third")
        await at.slack.until(lambda: len(at.cards()) == 3 or None, seconds=60)
        assert len(at.roots()) == 3
        assert not [m for m in at.notices() if "train" in m["text"]]


async def test_a_watch_outlives_being_killed_and_tells_once(tmp_path: Path) -> None:
    def told(at: Lab) -> list[Json]:
        return [m for m in by_bot(at.ml.messages) if (m.get("metadata") or {}).get("event_type") == SIGNATURE]

    async with lab(tmp_path) as at:
        await at.start()
        await at.ask("watch team-a/train")
        await at.slack.until(lambda: any("You will be told" in m["text"] for m in at.seen()) or None, seconds=60)
        await at.kill()
        running = same_job("running")
        for item in same_job("quota-in-use").items:
            if item["kind"] in {"Workload", "Pod", "Job"}:
                at.api.remove(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace", ""))
        for item in running.items:
            if item["kind"] in {"Workload", "Pod", "Job"}:
                at.api.put(item)
        at.slack.fail("chat.postMessage", late=600, when=in_thread)
        await at.start()
        await at.slack.until(lambda: told(at) or None, seconds=60)
        await at.kill()
        await at.start()
        await at.slack.until(lambda: at.slack.called("conversations.replies") or None, seconds=60)
        await at.ask("team-a/other")
        await at.slack.until(lambda: len(at.cards()) == 2 or None, seconds=60)
        (reply,) = told(at)
        assert "Running" in shown(reply)
        assert "Running" in next(m for m in at.cards() if "train" in m["text"])["text"]


async def noted(at: Lab) -> None:
    """Wait until the answer is noted in the store."""
    import sqlite3

    def is_noted() -> bool | None:
        with contextlib.closing(sqlite3.connect(at.folder / "store.sqlite3")) as store:
            return bool(store.execute("SELECT count(*) FROM answers").fetchone()[0]) or None

    await at.slack.until(is_noted, seconds=60)
