"""A store that fails: full, locked, restarted, hung. Answers still arrive, nothing is claimed that was not kept, it recovers."""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.slack import memory as memory_of
from bot.slack.memory import Memory
from bot.store import Answer, Store, StoreError, new_id
from tests import postgres
from tests.clusters import recorded
from tests.workspace import World, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"


def an_answer(**changes: Any) -> Answer:
    values: dict[str, Any] = {
        "id": new_id(), "team": "T1", "user": "U1", "channel": "C1", "namespace": "team-a", "name": "train", "state": "asked",
        "at": 1.0, **changes,
    }  # fmt: skip
    return Answer(**values)


async def asked_and_answered(world: World, text: str = "team-a/train") -> bool:
    """Ask, wait for the answer, and say whether Slack had its acknowledgement."""
    roots = len(world.ml.roots())
    delivery = await world.ask(text)
    await world.slack.until(lambda: len(world.ml.roots()) > roots or None)
    root = world.ml.roots()[-1]
    await world.slack.until(lambda: world.ml.thread(root["ts"]) or None)
    assert SENTENCE in shown(world.ml.thread(root["ts"])[0])
    return delivery.acked_at is not None


async def fill(store: Store) -> None:
    """Write until it is full."""
    for _ in range(500):
        await store.begin_answer(an_answer(name="n" * 200))


async def break_off(store: Store) -> None:
    """Delete everything, and then fail in the same transaction."""
    async with store._begin() as connection:
        await connection.execute(sa.text("DELETE FROM answers"))
        await connection.execute(sa.text("no such statement"))


async def fill_up(store: Store) -> None:
    """Leave the database no further page."""
    async with store._begin() as connection:
        used = (await connection.execute(sa.text("PRAGMA page_count"))).scalar_one()
        await connection.execute(sa.text(f"PRAGMA max_page_count = {used}"))


async def test_a_full_disk_is_said_and_reading_goes_on(tmp_path: Path) -> None:
    async with Store.open(f"sqlite:///{tmp_path / 'store.sqlite3'}") as store:
        kept = an_answer(message="1.2")
        await store.begin_answer(kept)
        await fill_up(store)
        with pytest.raises(StoreError, match="full"):
            await fill(store)
        found = await store.answer_of("C1", "1.2")
        assert found is not None
        assert found.id == kept.id, "what was kept is still there"
        async with store._begin() as connection:
            await connection.execute(sa.text("PRAGMA max_page_count = 100000"))
        await store.begin_answer(an_answer())


async def test_a_transaction_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    async with Store.open(f"sqlite:///{tmp_path / 'store.sqlite3'}") as store:
        await store.begin_answer(an_answer(message="1.2"))
        with pytest.raises(StoreError):
            await break_off(store)
        assert await store.answer_of("C1", "1.2") is not None


async def test_a_lock_that_stays_ends_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with Store.open(f"sqlite:///{path}") as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(StoreError, match="locked"):
            await store.begin_answer(an_answer())
        assert time.monotonic() - began < 30
        other.execute("ROLLBACK")
        other.close()
        await store.begin_answer(an_answer())


async def test_questions_are_answered_while_sqlite_is_locked_and_kept_again_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_of, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(memory_of, "RETRY_SECONDS", 0.3)
    path = tmp_path / "store.sqlite3"
    async with workspace(recorded(QUOTA), store_url=f"sqlite:///{path}") as world:
        await asked_and_answered(world)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        acknowledged = await asked_and_answered(world)
        assert acknowledged
        assert other.in_transaction, "nobody waited for the store"
        memory = world.bot.memory
        assert "in time" in memory.problem or "locked" in memory.problem
        other.execute("ROLLBACK")
        other.close()
        await world.slack.until(lambda: not memory.problem or None, seconds=15)
        await asked_and_answered(world)
    kept = sqlite3.connect(path)
    assert kept.execute("SELECT count(*) FROM answers WHERE state = 'answered'").fetchone()[0] >= 2
    kept.close()


async def test_questions_are_answered_while_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_of, "RETRY_SECONDS", 0.3)
    async with workspace(recorded(QUOTA), store_url=f"sqlite:///{tmp_path / 'store.sqlite3'}") as world:
        store = world.bot.memory._store
        assert store is not None
        await fill_up(store)
        for _ in range(3):
            await asked_and_answered(world)


async def test_questions_are_answered_while_postgresql_restarts(
    postgresql: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_of, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(memory_of, "RETRY_SECONDS", 0.3)
    async with workspace(recorded(QUOTA), store_url=postgresql.url) as world:
        await asked_and_answered(world)
        postgresql.stop()
        try:
            await asked_and_answered(world)
            assert world.bot.memory.problem
        finally:
            postgresql.start()
        await world.slack.until(lambda: not world.bot.memory.problem or None, seconds=15)
        await asked_and_answered(world)


async def test_a_database_that_is_there_only_later_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_of, "RETRY_SECONDS", 0.1)
    folder = tmp_path / "later"
    memory = Memory(f"sqlite:///{folder / 'store.sqlite3'}")
    async with memory.kept():
        assert memory.problem
        assert await memory.take_in(["Ev1"]), "without a store everything is new"
        folder.mkdir()
        async with asyncio.timeout(10):
            while memory.problem:  # noqa: ASYNC110 - nobody tells when it is there
                await asyncio.sleep(0.02)
        assert await memory.take_in(["Ev2"])
        assert not await memory.take_in(["Ev2"])
