"""The store, on SQLite and on a real PostgreSQL: once is once, nothing is lost, nothing secret is kept."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store import Answer, DigestRun, Store, StoreError, Watch, new_id, schema
from tests import postgres


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with Store.open(store_url) as opened:
        async with opened._begin() as connection:
            for table in reversed(schema.metadata.sorted_tables):
                if table is not schema.version:
                    await connection.execute(sa.delete(table))
        yield opened


def watch(**changes: object) -> Watch:
    made = Watch(new_id(), "T1", "U1", "C1", "1.1", "team-a", "train", "namespace", started=100.0, ends=1000.0)
    return replace(made, **changes)  # type: ignore[arg-type]


async def first(store: Store, key: str, now: float = 1.0) -> bool:
    return (await store.take_in([((key,), None)], now))[0]


async def test_a_delivery_is_first_exactly_once(store: Store) -> None:
    seen = await asyncio.gather(*(first(store, "Ev1") for _ in range(50)))
    assert sorted(seen) == [False] * 49 + [True]
    assert await first(store, "Ev2")


async def test_of_what_arrives_together_the_answers_of_repetitions_are_not_noted(store: Store) -> None:
    new, again = (Answer(new_id(), "T1", "U1", "C1", "team-a", "train", "asked", 1.0, owner="one") for _ in range(2))
    assert await first(store, "Ev1")
    arrived = [(("Ev1",), again), (("Ev2", "Ev3"), new), (("Ev2",), again), ((), None)]
    assert await store.take_in(arrived, 2.0) == (False, True, False, True)
    kept = await store.take_abandoned("two", 100.0)
    assert [answer.id for answer in kept] == [new.id]


async def test_three_replicas_and_a_thousand_deliveries_are_one(store_url: str) -> None:
    async with Store.open(store_url) as one, Store.open(store_url) as two, Store.open(store_url) as three:
        key = new_id()
        stores = (one, two, three)
        seen = await asyncio.gather(*(first(stores[n % 3], key) for n in range(1000)))
        assert seen.count(True) == 1


async def test_replicas_that_start_together_migrate_once(tmp_path: Path, postgresql: postgres.Server) -> None:
    for target in (f"sqlite:///{tmp_path / 'together.sqlite3'}", postgresql.url):

        async def start(target: str = target) -> None:
            async with Store.open(target) as opened:
                await opened.ping()

        await asyncio.gather(*(start() for _ in range(5)))
        async with Store.open(target) as opened, opened._begin() as connection:
            numbers = (await connection.execute(sa.select(schema.version.c.number))).scalars().all()
        assert list(numbers) == list(range(1, len(schema.MIGRATIONS) + 1))


async def test_a_replica_that_starts_while_another_makes_the_file_waits_for_it(tmp_path: Path) -> None:
    """SQLite refuses the change to WAL at once while somebody writes, however long one would wait."""
    path = tmp_path / "together.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def start() -> None:
            async with Store.open(f"sqlite:///{path}") as opened:
                await opened.ping()

        starting = asyncio.create_task(start())
        await asyncio.wait([starting], timeout=0.3)
        other.execute("COMMIT")
        await starting


async def test_an_abandoned_answer_is_taken_by_one(store: Store) -> None:
    answer = Answer(new_id(), "T1", "U1", "C1", "team-a", "train", "asked", at=10.0, owner="one", lease=20.0)
    await store.begin_answer(answer)
    assert await store.take_abandoned("two", now=15.0) == ()
    taken = await asyncio.gather(*(store.take_abandoned(f"p{n}", now=30.0) for n in range(5)))
    assert sum(len(part) for part in taken) == 1
    await store.change_answer(answer.id, state="answered", rule="quota-in-use", message="2.2")
    assert [a.rule for a in await store.recent_answers("U1")] == ["quota-in-use"]
    found = await store.answer_of("C1", "2.2")
    assert found is not None
    assert found.name == "train"


async def test_a_watch_is_there_once_and_survives(store_url: str, store: Store) -> None:
    first = watch()
    assert await store.add_watch(first)
    assert not await store.add_watch(watch())
    assert await store.add_watch(watch(user="U2"))
    async with Store.open(store_url) as again:
        assert {w.user for w in await again.watches(channel="C1")} == {"U1", "U2"}
        assert await again.remove_watch(first.id)
        assert not await again.remove_watch(first.id)


async def test_a_watch_has_one_owner_and_moves_once(store: Store) -> None:
    await store.add_watch(watch())
    claims = await asyncio.gather(*(store.claim_watches(f"p{n}", now=200.0, lease=30.0) for n in range(5)))
    owned = [part for part in claims if part]
    assert len(owned) == 1
    mine = owned[0][0]
    moved = await asyncio.gather(*(store.move_watch(mine, state="quota-in-use", told=mine.told + 1) for _ in range(5)))
    assert sum(result is not None for result in moved) == 1
    assert await store.claim_watches("late", now=210.0, lease=30.0) == ()
    assert len(await store.claim_watches("late", now=231.0, lease=30.0)) == 1
    assert await store.move_watch(mine, told=9) is None


async def test_a_digest_run_is_kept_once(store: Store) -> None:
    run = DigestRun(
        "morning",
        "2026-11-30T09:00",
        at=10.0,
        complete=True,
        entries={"team-a/train": ["quota-in-use", 1.0]},
        counts={"quota-in-use": {"q": 1}},
    )
    assert await store.begin_digest(run)
    assert not await store.begin_digest(run)
    assert await store.last_digest("morning") is None, "nobody has seen it yet"
    await store.change_digest(run, posted=True)
    run = replace(run, posted=True)
    newer = replace(run, run="2026-12-01T09:00", at=20.0, entries={})
    assert await store.begin_digest(newer)
    assert await store.last_digest("morning", before=newer.run) == run
    await store.drop_digest(replace(newer, owner="another"))
    assert not await store.begin_digest(newer)
    await store.drop_digest(newer)
    assert await store.begin_digest(newer)
    assert [r.run for r in await store.digests("morning")] == [newer.run, run.run]


async def test_a_digest_run_whose_process_died_is_taken_by_one_with_what_stands(store: Store) -> None:
    run = DigestRun("morning", "one", 10.0, complete=True, entries={}, counts={}, owner="p", lease=30.0, begun=10.0)
    assert await store.begin_digest(run)
    await store.change_digest(run, parts={"root": "1.1"})
    await store.change_digest(replace(run, owner="another"), parts={})
    later = [replace(run, at=31.0, begun=31.0, owner=f"p{n}", lease=60.0) for n in range(5)]
    assert await store.take_digest(later[0], now=20.0) is None
    assert await store.unposted_digests("morning", now=20.0) == ()
    assert [old.parts for old in await store.unposted_digests("morning", now=31.0)] == [{"root": "1.1"}]
    taken = [found for found in await asyncio.gather(*(store.take_digest(one, now=31.0) for one in later)) if found]
    assert [(found.parts, found.at, found.begun) for found in taken] == [({"root": "1.1"}, 31.0, 10.0)]
    await store.change_digest(taken[0], posted=True)
    assert await store.take_digest(replace(run, owner="late", lease=99.0), now=98.0) is None


async def test_a_database_of_the_first_schema_gets_the_columns_of_the_next(tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'older.sqlite3'}"
    async with Store.open(target) as opened, opened._begin() as connection:
        for column in ("parts", "owner", "lease", "begun"):
            await connection.execute(sa.text(f"ALTER TABLE digests DROP COLUMN {column}"))
        await connection.execute(sa.text("DELETE FROM schema_version WHERE number > 1"))
        await connection.execute(
            sa.text(
                "INSERT INTO digests (name, run, at, complete, posted, entries, counts) VALUES ('d', 'one', 1, 1, 1, '{}', '{}')"
            )
        )
    async with Store.open(target) as opened:
        assert [(run.run, run.posted, run.parts, run.begun) for run in await opened.digests("d")] == [
            ("one", True, {}, 1.0)
        ]


async def test_old_rows_go(store: Store) -> None:
    await first(store, "old", 0.0)
    await first(store, "new", 10_000.0)
    assert await store.prune(10_001.0) == 1
    assert await first(store, "old", 10_002.0)
    assert not await first(store, "new", 10_002.0)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("mysql://x/y", "sqlite:///"),
        ("nonsense", "sqlite:///"),
        ("sqlite:////nowhere/at/all.sqlite3", "unable to open"),
        ("postgresql://u:secret@127.0.0.1:1/x", "cannot be opened"),
    ],
)
async def test_a_store_that_cannot_be_opened_says_why_and_no_password(bad: str, said: str) -> None:
    before = set(threading.enumerate())
    with pytest.raises(StoreError, match=said) as error:
        async with Store.open(bad):
            pass
    assert "secret" not in str(error.value)
    for thread in set(threading.enumerate()) - before:  # SQLite's reports to this event loop before it ends
        await asyncio.to_thread(thread.join, 10)


async def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'newer.sqlite3'}"
    async with Store.open(target) as opened, opened._begin() as connection:
        await connection.execute(sa.insert(schema.version).values(number=99))
    with pytest.raises(StoreError, match="schema 99"):
        async with Store.open(target):
            pass


async def test_a_restarted_postgresql_is_used_again(postgresql: postgres.Server) -> None:
    async with Store.open(postgresql.url) as opened:
        await opened.ping()
        postgresql.stop()
        with pytest.raises(StoreError):
            await opened.ping()
        postgresql.start()
        await opened.ping()


async def test_a_locked_sqlite_waits_then_says_so(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "locked.sqlite3"
    async with Store.open(f"sqlite:///{path}") as opened:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(first(opened, "Ev1"))
        await asyncio.sleep(0)
        other.execute("COMMIT")
        assert await waiting
        other.close()
