"""Watches through the real app against the local Slack: what people see, on SQLite and PostgreSQL, without any sleeping."""

import asyncio
import contextlib
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import structlog

from bot.app import Bot, running
from bot.core.disclosure import Audience
from bot.core.reference import JobRef
from bot.demo.slack import BOT, Channel, Delivery, LocalSlack, Person, mention_event
from bot.service import Look
from bot.slack import watching
from bot.slack.memory import Memory
from bot.slack.watching import Watches
from bot.store import Store, Watch, new_id
from tests import postgres
from tests.clusters import Cluster, recorded
from tests.workspace import Recorded, World, by_bot, shown, workspace
from tests.workspace import settings as configured

JOB_UID = "11111111-2222-3333-4444-555555555555"
START = 1_800_000_000.0


def same_job(name: str) -> Cluster:
    """A recording in which team-a/train is the one job that all these recordings share."""
    cluster = recorded(f"v0.19.2/{name}")
    uid = cluster.get("Job", "train", "team-a")["metadata"]["uid"]
    workload = cluster.named("Workload", "job-train")
    for entry in cluster.get("Workload", workload)["status"].get("conditions", []):
        if (entry["type"], entry["status"]) == ("Admitted", "True"):
            born = datetime.fromisoformat(entry["lastTransitionTime"]) - timedelta(hours=2, minutes=10)
            cluster = cluster.edit("Workload", workload, {"metadata": {"creationTimestamp": born.isoformat()}})
    return Cluster(tuple(json.loads(json.dumps(cluster.items).replace(uid, JOB_UID))))


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: float = START

    def __call__(self) -> float:
        return self.now


@dataclass
class Watching:
    """A workspace in which Ann watches team-a/train, with a cluster that can be changed and a clock that can be moved."""

    world: World
    service: Recorded
    clock: Clock
    looks: list[JobRef] = field(default_factory=list)

    @property
    def watches(self) -> Watches:
        return self.world.bot.watches

    async def step(self, name: str | None = None, seconds: float = 15.0) -> None:
        """Let some time pass, change the cluster, and look once."""
        self.clock.now += seconds
        if name is not None:
            self.service.cluster = same_job(name)
        await self.watches.round()

    def replies(self) -> list[dict[str, Any]]:
        """What the watch said in the thread, oldest first."""
        told = [m for m in self.world.ml.messages if m.get("thread_ts") and m["ts"] != m["thread_ts"]]
        return [m for m in told if (m.get("metadata") or {}).get("event_type") == watching.SIGNATURE]

    async def kept(self) -> tuple[Watch, ...]:
        return await self.world.bot.memory.ask("test", lambda store: store.watches(), ())


class Counted(Recorded):
    """Counts what is read for watches."""

    looked = 0
    listed = 0

    async def observe(self, ref: JobRef, audience: Audience) -> Look:
        self.looked += 1
        return await super().observe(ref, audience)

    async def marks(self, cluster: str, namespace: str, uids: tuple[str, ...] = ()) -> Any:
        self.listed += 1
        return await super().marks(cluster, namespace, uids)


@contextlib.asynccontextmanager
async def started(
    name: str = "quota-in-use", *, url: str = "sqlite://", slack: LocalSlack | None = None, **more: Any
) -> AsyncIterator[Watching]:
    service = Counted(same_job(name))
    values: dict[str, Any] = {"store_url": url, "watch_poll_seconds": 3600, "lease_seconds": 20, **more}
    async with workspace(service, slack=slack, **values) as world:
        clock = Clock()
        world.bot.memory.clock = clock
        yield Watching(world, service, clock)


async def press(at: Watching, button: str = "watch", message: dict[str, Any] | None = None) -> dict[str, Any]:
    """Press a button and wait for what only the person sees."""
    before = len(at.world.ml.messages)
    await at.world.slack.click(message or await at.world.card(), at.world.ml, at.world.ann, button)
    return await at.world.slack.until(
        lambda: next((m for m in at.world.ml.messages[before:] if "ephemeral" in m), None)
    )


@contextlib.asynccontextmanager
async def watched(name: str = "quota-in-use", **more: Any) -> AsyncIterator[Watching]:
    """A watch that has begun."""
    async with started(name, **more) as at:
        await at.world.ask("team-a/train")
        said = await press(at)
        assert "You will be told in this thread" in shown(said)
        yield at


async def test_one_reply_for_each_change_and_the_card_follows(store_url: str) -> None:
    async with watched(url=store_url) as at:
        await at.step()
        await at.step(seconds=600)
        assert at.replies() == [], "nothing has changed"
        await at.step("running")
        (reply,) = at.replies()
        assert "Running, admitted after 2 h 10 min" in shown(reply)
        assert f"<@{at.world.ann.id}>" in shown(reply)
        assert f"<@{at.world.ann.id}>" in reply["text"], "a phone's notification shows the text alone"
        assert reply["thread_ts"] == (await at.world.root())["ts"]
        assert "Running" in (await at.world.card())["text"]
        assert "Running" in (await at.world.root())["text"]
        await at.step(seconds=4000)
        assert len(at.replies()) == 1
        await at.step("finished")
        assert len(at.replies()) == 2
        assert "Finished" in shown(at.replies()[1])
        assert "Admitted after 2 h 10 min. This watch has ended." in shown(at.replies()[1])
        assert await at.kept() == ()


async def test_a_new_state_must_hold_before_it_is_told() -> None:
    async with watched() as at:
        await at.step("check-pending")
        assert at.replies() == []
        await at.step(seconds=20)
        assert at.replies() == []
        await at.step(seconds=15)
        (reply,) = at.replies()
        assert "Quota reserved" in shown(reply)


async def test_a_reason_that_swings_is_no_change() -> None:
    async with watched() as at:
        for name in ("preemption-pending", "quota-in-use") * 20:
            await at.step(name)
        assert at.replies() == []


async def test_evicted_is_told() -> None:
    async with watched() as at:
        await at.step("running")
        await at.step("quota-in-use")
        await at.step(seconds=31)
        assert "Evicted" in shown(at.replies()[1])
        assert "Waiting its turn again" in shown(at.replies()[1])
        assert "Waiting its turn" in (await at.world.card())["text"]


async def test_who_evicted_it_is_told_where_it_may_be() -> None:
    async with watched("running") as at:
        await at.step("preempted")
        await at.step(seconds=31)
        assert "was preempted" in shown(at.replies()[0])
        assert "by vip" in shown(at.replies()[0]) or "by Job vip" in shown(at.replies()[0])


async def test_what_can_never_start_is_said_at_once() -> None:
    async with started("borrowing-limit") as at:
        await at.world.ask("team-a/train")
        said = await press(at)
        assert "can never start" in shown(said)
        assert len(await at.kept()) == 1
    async with watched() as at:
        await at.step("borrowing-limit")
        assert "Cannot run as written" in shown(at.replies()[0])


async def test_a_deleted_job_ends_the_watch_and_a_new_one_of_its_name_is_told() -> None:
    async with watched() as at:
        at.service.cluster = recorded("v0.19.2/quota-in-use")
        await at.step()
        (reply,) = at.replies()
        assert "created anew" in shown(reply)
        gone = recorded("v0.19.2/quota-in-use").drop("Job", "train", "team-a")
        at.service.cluster = gone.drop("Workload", gone.named("Workload", "job-train"), "team-a").drop("Pod")
        await at.step()
        assert len(at.replies()) == 1, "it may come again in a moment"
        await at.step(seconds=31)
        assert "Deleted" in shown(at.replies()[1])
        assert await at.kept() == ()


async def test_a_command_answers_and_watches_in_the_thread_of_the_answer() -> None:
    async with started() as at:
        await at.world.ask("watch team-a/train until 2 h")
        said = await at.world.whisper()
        assert "You will be told" in shown(said)
        (watch,) = await at.kept()
        root = await at.world.root()
        assert (watch.thread, watch.message) == (root["ts"], (await at.world.card())["ts"])
        assert watch.deadline == START + 7200
        await at.step(seconds=7000)
        assert at.replies() == []
        await at.step(seconds=300)
        (reply,) = at.replies()
        assert "not started by" in shown(reply)
        await at.step(seconds=300)
        assert len(at.replies()) == 1
        await at.world.ask("watches")
        await at.world.slack.until(lambda: any("You watch:" in m["text"] for m in at.world.ml.messages) or None)
        await at.world.ask("unwatch team-a/train")
        await at.world.slack.until(
            lambda: any("not watched any more" in m["text"] for m in at.world.ml.messages) or None
        )
        assert await at.kept() == ()


async def test_a_job_that_started_in_time_is_not_called_late() -> None:
    async with started() as at:
        await at.world.ask("watch team-a/train until 1h")
        await at.world.whisper()
        await at.step("running")
        await at.step(seconds=4000)
        assert len(at.replies()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("watch team-a/train until teatime", "is no moment"),
        ("watch", "example"),
        ("watch team-a/train until 900h", "168 hours"),
    ],
)
async def test_what_cannot_be_watched_is_said(text: str, said: str) -> None:
    async with started() as at:
        delivery = await at.world.ask(text)
        told = delivery.response or await at.world.whisper()
        assert said in shown(told)
        assert await at.kept() == ()


async def test_pressed_twice_is_one_watch_and_stop_ends_it() -> None:
    async with watched() as at:
        again = await press(at)
        assert "already" in shown(again)
        assert len(await at.kept()) == 1
        stopped = await press(at, "unwatch", again)
        assert "not watched any more" in shown(stopped)
        await at.step("running")
        assert at.replies() == []


async def test_in_an_organisation_a_watch_is_ones_own_from_whichever_workspace() -> None:
    async with watched() as at:
        slack, home = at.world.slack, at.world.bot.desk.home
        home.enterprise = "E0ORG"
        (watch,) = await at.kept()
        await at.world.bot.memory.move(watch, enterprise="E0ORG")

        async def said_to(enterprise: str, text: str) -> str:
            before = len(at.world.ml.messages)
            first = slack.deliveries[0].payload
            elsewhere = {
                "team_id": "T0SISTER",
                "enterprise_id": enterprise,
                "trigger_id": slack.trigger(),
                "text": text,
            }
            await slack.deliver("slash_commands", {**first, **elsewhere})
            told = await slack.until(lambda: next((m for m in at.world.ml.messages[before:] if "ephemeral" in m), None))
            return shown(told)

        assert "team-a/job/train" in await said_to("E0ORG", "watches")
        assert "is not watched any more" in await said_to("E0ORG", "unwatch team-a/train")
        assert await at.kept() == ()


async def test_two_people_in_one_thread_are_told_in_one_reply() -> None:
    async with watched() as at:
        ben = at.world.slack.person("ben")
        at.world.ml.members.add(ben.id)
        await at.world.slack.click(await at.world.card(), at.world.ml, ben, "watch")
        await at.world.slack.until(lambda: any(m.get("ephemeral") == ben.id for m in at.world.ml.messages) or None)
        await at.step("running")
        (reply,) = at.replies()
        assert f"<@{at.world.ann.id}> <@{ben.id}>" in shown(reply)


async def test_there_are_bounds() -> None:
    async with watched(watches_each=1) as at:
        await at.world.ask("team-a/other")
        other = await at.world.slack.until(lambda: next(iter(by_bot(at.world.ml.roots())[1:]), None))
        card = await at.world.slack.until(lambda: next(iter(by_bot(at.world.ml.thread(other["ts"]))), None))
        card["blocks"][-1]["elements"].append(
            {"type": "button", "action_id": "watch", "value": "team-a/other", "text": {}}
        )
        assert "one person may watch 1 jobs" in shown(await press(at, message=card))
        assert len(await at.kept()) == 1


async def test_a_watch_ends_by_itself_and_says_so() -> None:
    async with watched(watch_hours=1) as at:
        await at.step(seconds=3601)
        (reply,) = at.replies()
        assert "ended after 1 h" in shown(reply)
        assert "ask-again" in json.dumps(reply)
        assert await at.kept() == ()


@pytest.mark.parametrize("lost", ["deleted", "archived", "removed"])
async def test_a_watch_whose_thread_is_gone_ends_with_a_log_line(lost: str) -> None:
    slack = LocalSlack()
    async with watched(slack=slack) as at:
        if lost == "deleted":
            at.world.ml.messages.clear()
        elif lost == "archived":
            slack.fail("chat.postMessage", error="is_archived", times=9)
        else:
            at.world.ml.members.discard(BOT)
        with structlog.testing.capture_logs() as logs:
            await at.step("running")
        assert [entry for entry in logs if "thread is gone" in entry["event"]]
        assert await at.kept() == ()


async def test_a_slack_that_is_down_for_a_while_is_told_later_once() -> None:
    slack = LocalSlack()
    async with watched(slack=slack) as at:
        fault = slack.fail("chat.postMessage", error="internal_error", times=1)
        await at.step("running")
        assert fault.times == 0
        assert at.replies() == []
        await at.step()
        await at.step()
        assert len(at.replies()) == 1


async def test_other_namespaces_names_are_in_nothing_that_a_watch_says() -> None:
    def hide(cluster: Cluster) -> Cluster:
        items = json.loads(json.dumps(cluster.items).replace("holder", "secret-project"))
        for item in items:
            if "secret-project" in item.get("metadata", {}).get("name", ""):
                item["metadata"]["namespace"] = "rivals"
        return Cluster(tuple(items))

    with structlog.testing.capture_logs() as logs:
        async with watched("running") as at:
            at.service.cluster = hide(same_job("quota-in-use"))
            await at.step()
            await at.step(seconds=31)
            assert "Evicted" in shown(at.replies()[0])
            sent = json.dumps([call.arguments for call in at.world.slack.calls])
    for text in (sent, json.dumps(logs, default=str)):
        assert "secret-project" not in text
        assert "rivals" not in text


async def test_the_level_of_the_beginning_bounds_what_is_shown_later() -> None:
    async with watched() as at:
        (watch,) = await at.kept()
        assert watch.level == "namespace"
        seen: list[Audience] = []
        observe = at.service.observe

        async def remember(ref: JobRef, audience: Audience) -> Look:
            seen.append(audience)
            return await observe(ref, audience)

        at.service.observe = remember  # type: ignore[method-assign]
        wide = at.watches._seen_in

        async def wider(*arguments: Any) -> Audience:
            return replace(await wide(*arguments), level="all")

        at.watches._seen_in = wider  # type: ignore[method-assign,assignment]
        await at.step("running")
        assert {audience.level for audience in seen} == {"namespace"}


async def test_a_channel_that_may_not_see_the_job_any_more_ends_the_watch(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    slack = LocalSlack()
    async with watched(url=url, slack=slack) as at:
        messages = at.world.ml.messages
    narrowed = [{"name": "default", "namespaces": ["team-b"]}]
    async with started("running", url=url, slack=slack, access=narrowed) as again:
        again.world.ml.messages[:] = messages
        again.clock.now = START + 100_000
        await again.step()
        told = [m for m in again.world.ml.messages if "Not watched" in m["text"]]
        reply = told[0]
        assert "may not see" in shown(reply)
        assert "Running" not in shown(reply)
        assert await again.kept() == ()


async def test_unchanged_jobs_cost_one_list_and_no_answers() -> None:
    async with watched() as at:
        assert isinstance(at.service, Counted)
        (one,) = await at.kept()

        async def add(watch: Watch, store: Store) -> bool:
            return await store.add_watch(watch)

        for n in range(500):
            more = replace(one, id=new_id(), user=f"U{n}", thread=f"{n}.1")
            await at.world.bot.memory.ask("test", partial(add, more), None)
        turns = itertools.cycle(range(100))
        at.watches._chance = lambda: next(turns) / 100
        await at.step()
        before = at.service.looked, at.service.listed
        await at.step()
        await at.step()
        assert at.service.looked - before[0] <= 40, "full answers are spread over the time between two of them"
        assert at.service.listed - before[1] == 2


async def test_watches_outlive_the_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    slack = LocalSlack()
    async with watched(url=url, slack=slack) as at:
        await at.step()
        messages = at.world.ml.messages
    async with started(url=url, slack=slack) as again:
        again.world.ml.messages[:] = messages
        again.clock.now = START + 100_000
        await again.step("running")
        assert len(again.replies()) == 1
        await again.step()
        assert len(again.replies()) == 1


async def test_replicas_tell_once(postgresql: postgres.Server) -> None:
    async with watched(url=postgresql.url) as at:
        others = []
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(2):
                memory = await stack.enter_async_context(Memory(postgresql.url, clock=at.clock).kept())
                others.append(Watches(at.world.bot.desk, at.service, memory))
            at.service.cluster = same_job("running")
            at.clock.now += 50_000
            await asyncio.gather(at.watches.round(), *(other.round() for other in others))
            assert len(at.replies()) == 1
            at.clock.now += 50_000
            await asyncio.gather(*(other.round() for other in others), at.watches.round())
            assert len(at.replies()) == 1
        for watch in await at.kept():
            await at.world.bot.memory.forget(watch)


@pytest.mark.parametrize("scope", ["history", "history without metadata", ""])
@pytest.mark.parametrize("posted", [True, False])
async def test_a_process_that_dies_between_deciding_and_posting_never_tells_twice(*, scope: str, posted: bool) -> None:
    slack = LocalSlack()
    async with watched(slack=slack) as at:
        move = at.world.bot.memory.move

        async def die(watch: Watch, **changes: Any) -> Watch | None:
            moved = await move(watch, **changes)
            if "posted" in changes or (not posted and "told" in changes):
                raise asyncio.CancelledError
            return moved

        at.world.bot.memory.move = die  # type: ignore[method-assign]
        with contextlib.suppress(asyncio.CancelledError):
            await at.step("running")
        at.world.bot.memory.move = move  # type: ignore[method-assign]
        assert len(at.replies()) == int(posted)
        if not scope:
            slack.fail("conversations.replies", error="missing_scope", times=99)
        elif "without" in scope:
            bare = [
                {k: v for k, v in m.items() if k != "metadata"} for m in at.world.ml.messages if "ephemeral" not in m
            ]
            slack.fail("conversations.replies", body=json.dumps({"ok": True, "messages": bare}), times=99)
        successor = Watches(at.world.bot.desk, at.service, at.world.bot.memory)
        at.clock.now += 50_000
        for _ in range(3):
            await successor.round()
        assert len(at.replies()) == int(posted or scope == "history")
        assert "Running" in (await at.world.card())["text"]


async def test_without_a_store_questions_are_answered_and_a_watch_says_that_it_cannot_be_kept(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        async with started(url=f"sqlite:///{tmp_path / 'no' / 'folder' / 'x'}") as at:
            await at.world.ask("team-a/train")
            assert "6 of 8" in shown(await at.world.card())
            assert "a watch could not be kept" in shown(await press(at))
            address = f"http://127.0.0.1:{at.world.bot.web_port}/readyz"
            async with aiohttp.ClientSession() as session, session.get(address) as answer:
                assert answer.status == 200
                assert "watches are not kept" in await answer.text()
    assert [entry for entry in logs if entry["event"].startswith("store lost") and entry["log_level"] == "error"]


async def test_a_store_that_comes_back_is_used_again(
    postgresql: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.memory.RETRY_SECONDS", 0.1)
    async with watched(url=postgresql.url) as at:
        postgresql.stop()
        try:
            await at.world.ask("team-a/train")
            await at.world.slack.until(lambda: len(by_bot(at.world.ml.roots())) == 2 or None)
            await at.step("running")
            assert at.replies() == []
            assert not at.world.bot.memory.works
        finally:
            postgresql.start()
        await at.world.slack.until(lambda: at.world.bot.memory.works or None)
        await at.step()
        assert len(at.replies()) == 1


async def test_a_process_that_is_told_to_end_leaves_no_question_untold_and_tells_none_twice(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    slack = LocalSlack()
    async with started(url=url, slack=slack, drain_seconds=0.1) as at:
        at.service.gate.clear()
        await at.world.ask("team-a/train")
        await slack.until(lambda: at.service.asked or None)
    slack.fail(
        "chat.postMessage", hang=60, error="internal_error", when=lambda arguments: bool(arguments.get("thread_ts"))
    )
    async with started(url=url, slack=slack, drain_seconds=0.1) as at:
        await at.world.ask("team-a/train")
        await at.world.root()
        await slack.until(lambda: len(slack.called("chat.postMessage")) == 2 or None)
        messages = at.world.ml.messages
    async with started(url=url, slack=slack) as again:
        again.world.ml.messages[:] = messages
        told = await slack.until(lambda: next((m for m in again.world.ml.messages if "Interrupted" in m["text"]), None))
        assert told["thread_ts"] == by_bot(again.world.ml.roots())[0]["ts"]
        assert [m["text"] for m in messages if "ephemeral" in m and "Interrupted" in m["text"]] == []


@pytest.mark.parametrize("when", ["at the start", "later"])
async def test_a_store_that_hangs_delays_nobody_for_long(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.memory.PATIENCE_SECONDS", 0.3)
    if when == "at the start":

        async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        async with await asyncio.start_server(hang, "127.0.0.1", 0) as server:
            url = f"postgresql://bot@127.0.0.1:{server.sockets[0].getsockname()[1]}/postgres"
            async with started(url=url) as at:
                await at.world.ask("team-a/train")
                await at.world.card()
                assert not at.world.bot.memory.works
        return
    path = tmp_path / "store.sqlite3"
    async with started(url=f"sqlite:///{path}") as at:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        await at.world.ask("team-a/train")
        await at.world.card()
        assert "could not be kept" in shown(await press(at))
        other.execute("COMMIT")
        other.close()
        at.world.bot.memory._rest_until = 0.0
        await at.world.slack.until(lambda: at.world.bot.memory.works or None)
        assert await at.world.bot.memory.take_in(["after"])
        assert not await at.world.bot.memory.take_in(["after"])


# Deliveries to several replicas


@contextlib.asynccontextmanager
async def replicas(slack: LocalSlack, url: str) -> AsyncIterator[tuple[list[Bot], list[Recorded], Channel, Person]]:
    """Three bots with one store, all connected to one workspace."""
    ann = slack.person("ann")
    channel = slack.channel("ml", ann)
    services = [Recorded(same_job("quota-in-use")) for _ in range(3)]
    async with slack.serve() as api_url, contextlib.AsyncExitStack() as stack:
        values = configured(api_url, store_url=url, watch_poll_seconds=3600)
        bots = [await stack.enter_async_context(running(values, service)) for service in services]
        await slack.until(lambda: len(slack._sockets) == 3 or None)
        for bot in bots:
            await bot.greeted.wait()
        yield bots, services, channel, ann


def idle(bots: list[Bot]) -> bool | None:
    return not any(len(bot.work) for bot in bots) or None


@pytest.mark.parametrize("forgetful", [False, True])
async def test_a_thousand_deliveries_to_three_replicas_are_one_answer(
    postgresql: postgres.Server, *, forgetful: bool
) -> None:
    slack = LocalSlack(ack_seconds=60)
    async with replicas(slack, postgresql.url) as (bots, services, channel, ann):
        first = await slack.command("team-a/train", channel, ann, trigger_id=new_id())
        for _ in range(20):
            if forgetful:  # as if each replica had been started anew
                for bot in bots:
                    bot.desk.deliveries._seen.clear()
            await asyncio.gather(*(slack.deliver("slash_commands", first.payload) for _ in range(50)))
            await slack.until(partial(idle, bots), seconds=60)
        assert len(by_bot(channel.roots())) == 1
        assert sum(len(service.asked) for service in services) == 1


async def test_a_repeated_mention_is_answered_by_one_of_three_replicas(postgresql: postgres.Server) -> None:
    slack = LocalSlack(ack_seconds=60)
    async with replicas(slack, postgresql.url) as (bots, services, channel, ann):
        said = slack.put(channel, {"user": ann.id, "text": f"<@{BOT}> team-a/train", "team": ann.team})
        event = mention_event("app_mention", said, channel, ann)
        await asyncio.gather(*(slack.event(event, ann, event_id=f"Ev{said['ts']}") for _ in range(100)))
        await slack.until(partial(idle, bots), seconds=60)
        assert sum(len(service.asked) for service in services) == 1
        assert len(by_bot(channel.thread(said["ts"]))) == 1


async def test_the_store_remembers_a_delivery_over_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    slack = LocalSlack()
    delivery: Delivery
    async with started(url=url, slack=slack) as at:
        delivery = await at.world.ask("team-a/train")
        await at.world.card()
    async with started(url=url, slack=slack) as again:
        await slack.redeliver(delivery)
        await slack.until(lambda: not len(again.world.bot.work) or None)
        assert by_bot(again.world.ml.messages) == []


async def test_nothing_secret_is_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with watched(url=f"sqlite:///{path}") as at:
        await at.step("running")
        async with Store.open(f"sqlite:///{path}") as store:
            assert len(await store.watches()) == 1
    content = _everything(tmp_path)
    for text in (b"xoxb-", b"6 of 8", b"a100", b"hooks.slack", b"/response/"):
        assert text not in content


def _everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())
