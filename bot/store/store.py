"""The one module that talks to the database: SQLAlchemy's asyncio core, no mapped objects.

All times are Unix seconds and come in as arguments. Every method is one transaction. What replicas must not do twice is
decided by the database: a primary key for deliveries and digest runs, a lease for watches and answers under way.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.store import schema

T = TypeVar("T", "Answer", "Watch")

RETENTION: Mapping[str, float] = {
    "deliveries": 2 * 3600.0,  # Slack stops redelivering after five minutes, trigger ids live seconds
    "answers": 30 * 86400.0,  # recent answers in App Home, and which thread belongs to which job
    "digests": 90 * 86400.0,  # the line of the last digests
}
"""How long rows are kept, in seconds after they were written. A watch is deleted when it ends."""


LOCKED_SECONDS = 10.0
"""How long a SQLite file may be locked by others."""


class StoreError(RuntimeError):
    """The database cannot be used; the text says why and contains no password."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question and what became of it; `state` is asked, answered, unanswered (with a word why) or interrupted."""

    id: str
    team: str
    user: str
    channel: str
    namespace: str
    name: str
    state: str
    at: float
    enterprise: str = ""
    thread: str = ""
    message: str = ""
    cluster: str = ""
    kind: str = ""
    rule: str = ""
    outlook: str = ""
    owner: str = ""
    lease: float = 0.0


@dataclass(frozen=True, slots=True)
class Watch:
    """One "tell me when it changes"; see `schema.watches` for what each field means."""

    id: str
    team: str
    user: str
    channel: str
    thread: str
    namespace: str
    name: str
    level: str
    started: float
    ends: float
    enterprise: str = ""
    message: str = ""
    cluster: str = ""
    kind: str = ""
    uid: str = ""
    deadline: float | None = None
    state: str = ""
    seen: str = ""
    seen_at: float = 0.0
    told: int = 0
    posted: int = 0
    asked_by: str = ""
    owner: str = ""
    lease: float = 0.0


@dataclass(frozen=True, slots=True)
class DigestRun:
    """One digest that was made: `entries` maps a workload's key to [rule, since], `counts` a rule to {queue: count}.

    `posted` once all of it stands in Slack; before, `parts` has the timestamps of its messages that do, as far as known.
    `at` is when the cluster was looked at, `begun` when the first process tried to post it, which nobody who takes it over
    changes.
    """

    name: str
    run: str
    at: float
    complete: bool
    entries: dict[str, list[Any]]
    counts: dict[str, dict[str, int]]
    posted: bool = False
    parts: dict[str, str] = field(default_factory=dict)
    owner: str = ""
    lease: float = 0.0
    begun: float = 0.0


def new_id() -> str:
    """Give an id for an answer or a watch."""
    return uuid.uuid4().hex


class Store:
    """Open with `async with Store.open(url)`; every method may raise StoreError."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Take a connected engine whose schema is current; use `open`."""
        self._engine = engine

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> AsyncIterator["Store"]:
        """Connect and migrate: "sqlite:///PATH" (or "sqlite://" in memory) or "postgresql://USER:PASSWORD@HOST/NAME".

        Raises StoreError when the URL is of another kind or the database cannot be reached or migrated.
        """
        engine = _engine(url)
        try:
            try:
                await _made_ready(engine)
            except (SQLAlchemyError, OSError, RuntimeError) as error:
                raise StoreError(f"the store cannot be opened: {_reason(error)}") from error
            yield cls(engine)
        finally:
            await engine.dispose()

    @asynccontextmanager
    async def _begin(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            raise StoreError(f"the store does not answer: {_reason(error)}") from error

    # --- deliveries -------------------------------------------------------------------------------------------------------

    async def take_in(self, arrived: Sequence[tuple[Sequence[str], Answer | None]], now: float) -> tuple[bool, ...]:
        """Note deliveries, each with its keys and with the answer that it asks for, all in one transaction.

        Gives for each whether it is seen for the first time, by any replica; the answers of others are not noted. One
        that has no keys counts as seen for the first time.
        """
        # sorted: replicas wait for each other in one order
        keys = sorted({key[:200] for own, _ in arrived for key in own})
        new: set[str] = set()
        first: list[bool] = []
        async with self._begin() as connection:
            if keys:
                insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
                rows = [{"key": key, "at": now} for key in keys]
                statement = insert(schema.deliveries).values(rows).on_conflict_do_nothing()
                new.update((await connection.execute(statement.returning(schema.deliveries.c.key))).scalars())
            answers = []
            for own, answer in arrived:
                mine = {key[:200] for key in own}
                first.append(mine <= new)
                if first[-1]:
                    new -= mine
                    answers += [_row(answer)] if answer is not None else []
            if answers:
                await connection.execute(sa.insert(schema.answers), answers)
        return tuple(first)

    # --- answers ----------------------------------------------------------------------------------------------------------

    async def begin_answer(self, answer: Answer) -> None:
        """Note that a question is being answered, so that a crash in the middle can be told. An id is noted once."""
        async with self._begin() as connection:
            await _insert_once(connection, schema.answers, _row(answer))

    async def change_answer(self, answer_id: str, **changes: Any) -> None:  # noqa: ANN401 - columns of different types
        """Change columns of an answer: message, thread, rule, outlook, state, lease …"""
        async with self._begin() as connection:
            await connection.execute(
                sa.update(schema.answers).where(schema.answers.c.id == answer_id).values(**changes)
            )

    async def renew_answers(self, owner: str, lease: float) -> None:
        """Say that this process still works on its answers; `lease` is the moment until which that is believed."""
        table = schema.answers
        async with self._begin() as connection:
            await connection.execute(
                sa.update(table).where(table.c.owner == owner, table.c.state == "asked").values(lease=lease)
            )

    async def take_abandoned(self, owner: str, now: float) -> tuple[Answer, ...]:
        """Take the answers whose process died in the middle: each is given to one caller only, as interrupted."""
        table = schema.answers
        taken = []
        async with self._begin() as connection:
            dead = (table.c.state == "asked") & (table.c.lease < now)
            for row in (await connection.execute(sa.select(table).where(dead).limit(100))).mappings().all():
                done = await connection.execute(
                    sa.update(table).where(table.c.id == row["id"], dead).values(state="interrupted", owner=owner)
                )
                if done.rowcount == 1:
                    taken.append(_record(Answer, {**row, "state": "interrupted", "owner": owner}))
        return tuple(taken)

    async def answer_of(self, channel: str, message: str) -> Answer | None:
        """Give the answer whose card or thread is this message."""
        table = schema.answers
        here = (table.c.channel == channel) & ((table.c.message == message) | (table.c.thread == message))
        async with self._begin() as connection:
            found = await connection.execute(sa.select(table).where(here).order_by(table.c.at.desc()).limit(1))
            row = found.mappings().first()
        return None if row is None else _record(Answer, row)

    async def recent_answers(self, user: str, limit: int = 10) -> tuple[Answer, ...]:
        """Give the answered questions of everybody with this user id, newest first."""
        table = schema.answers
        mine = (table.c.user == user) & (table.c.state == "answered")
        async with self._begin() as connection:
            found = await connection.execute(sa.select(table).where(mine).order_by(table.c.at.desc()).limit(limit))
            return tuple(_record(Answer, row) for row in found.mappings().all())

    # --- watches ----------------------------------------------------------------------------------------------------------

    async def count_watches(self, team: str = "", user: str = "") -> int:
        """Count the watches of a person, or all."""
        table = schema.watches
        conditions = [table.c.team == team, table.c.user == user] if user else []
        async with self._begin() as connection:
            counted = await connection.execute(sa.select(sa.func.count()).select_from(table).where(*conditions))
            return int(counted.scalar_one())

    async def add_watch(self, watch: Watch) -> bool:
        """Start a watch; False when the same person already watches the same job in the same thread."""
        async with self._begin() as connection:
            return await _insert_once(connection, schema.watches, _row(watch))

    async def remove_watch(self, watch_id: str) -> bool:
        """End a watch; False when it was not there any more."""
        async with self._begin() as connection:
            done = await connection.execute(sa.delete(schema.watches).where(schema.watches.c.id == watch_id))
            return done.rowcount == 1

    async def watches(
        self, *, team: str = "", user: str = "", channel: str = "", thread: str = ""
    ) -> tuple[Watch, ...]:
        """Give the watches that match every argument that is given, oldest first."""
        table = schema.watches
        wanted = {"team": team, "user": user, "channel": channel, "thread": thread}
        conditions = [table.c[key] == value for key, value in wanted.items() if value]
        async with self._begin() as connection:
            found = await connection.execute(sa.select(table).where(*conditions).order_by(table.c.started, table.c.id))
            return tuple(_record(Watch, row) for row in found.mappings().all())

    async def claim_watches(self, owner: str, now: float, lease: float, limit: int = 1000) -> tuple[Watch, ...]:
        """Take or keep up to `limit` watches for `lease` seconds: those whose owner is this one or has not renewed in time."""
        table = schema.watches
        free = (table.c.lease < now) | (table.c.owner == owner)
        async with self._begin() as connection:
            ids = sa.select(table.c.id).where(free).order_by(table.c.lease, table.c.id).limit(limit)
            if connection.dialect.name == "postgresql":
                ids = ids.with_for_update(skip_locked=True)
            chosen = [row[0] for row in (await connection.execute(ids)).all()]
            if not chosen:
                return ()
            await connection.execute(
                sa.update(table).where(table.c.id.in_(chosen), free).values(owner=owner, lease=now + lease)
            )
            mine = (table.c.owner == owner) & (table.c.lease == now + lease)
            found = await connection.execute(sa.select(table).where(mine).order_by(table.c.started, table.c.id))
            return tuple(_record(Watch, row) for row in found.mappings().all())

    async def move_watch(self, watch: Watch, **changes: Any) -> Watch | None:  # noqa: ANN401 - columns of different types
        """Change a watch if nobody else told anything meanwhile (compare and set on `told` and `owner`).

        Gives the changed watch; None when it is gone or another process moved it, and then nothing may be posted.
        """
        table = schema.watches
        same = (table.c.id == watch.id) & (table.c.told == watch.told) & (table.c.owner == watch.owner)
        async with self._begin() as connection:
            done = await connection.execute(sa.update(table).where(same).values(**changes))
        return replace(watch, **changes) if done.rowcount == 1 else None

    # --- digests ----------------------------------------------------------------------------------------------------------

    async def last_digest(self, name: str, before: str = "") -> DigestRun | None:
        """Give the newest run of a digest that stands in Slack, other than the run `before` itself."""
        runs = await self.digests(name, limit=2)
        return next((run for run in runs if run.run != before), None)

    async def digests(self, name: str, limit: int = 30) -> tuple[DigestRun, ...]:
        """Give the newest runs of a digest that were posted, or had nothing to tell, newest first."""
        return await self._digests(schema.digests.c.name == name, schema.digests.c.posted, limit=limit)

    async def digest(self, name: str, run: str) -> DigestRun | None:
        """Give one run of a digest, posted or not."""
        found = await self._digests(schema.digests.c.name == name, schema.digests.c.run == run, limit=1)
        return found[0] if found else None

    async def unposted_digests(self, name: str, now: float) -> tuple[DigestRun, ...]:
        """Give the runs of a digest over whose posting their process died, newest first."""
        table = schema.digests
        return await self._digests(table.c.name == name, sa.not_(table.c.posted), table.c.lease < now, limit=10)

    async def _digests(self, *conditions: sa.ColumnElement[bool], limit: int) -> tuple[DigestRun, ...]:
        table = schema.digests
        newest = sa.select(table).where(*conditions).order_by(table.c.at.desc(), table.c.run.desc()).limit(limit)
        async with self._begin() as connection:
            rows = (await connection.execute(newest)).mappings().all()
        return tuple(_digest_run(row) for row in rows)

    async def begin_digest(self, run: DigestRun) -> bool:
        """Keep a run before anything of it is posted; False when this run of this digest is kept already."""
        row = {
            **_row(run), "entries": _json(run.entries), "counts": _json(run.counts), "parts": _json(run.parts),
        }  # fmt: skip
        table = schema.digests
        async with self._begin() as connection:
            if not await _insert_once(connection, table, row):
                return False
            # only the newest are compared with; of older ones the counts are enough, for the line over time
            mine = (table.c.name == run.name) & table.c.posted
            newest = sa.select(table.c.run).where(mine).order_by(table.c.at.desc()).limit(3)
            kept = [found[0] for found in (await connection.execute(newest)).all()]
            old = mine & table.c.run.not_in(kept) & (table.c.entries != "{}")
            await connection.execute(sa.update(table).where(old).values(entries="{}"))
            return True

    async def take_digest(self, run: DigestRun, now: float) -> DigestRun | None:
        """Take over a run whose process died while it posted: `run` has what is to be posted now, and by whom.

        Gives it with what is known to stand of it, and since when that may be; None when another process posts it, or has.
        """
        table = schema.digests
        mine = (table.c.name == run.name) & (table.c.run == run.run)
        async with self._begin() as connection:
            done = await connection.execute(
                sa.update(table)
                .where(mine, sa.not_(table.c.posted), table.c.lease < now)
                .values(
                    at=run.at, complete=run.complete, entries=_json(run.entries), counts=_json(run.counts),
                    owner=run.owner, lease=run.lease,
                )
            )  # fmt: skip
            if done.rowcount != 1:
                return None
            kept = (await connection.execute(sa.select(table.c.parts, table.c.begun).where(mine))).one()
        return replace(run, parts=json.loads(kept.parts), begun=kept.begun)

    async def change_digest(
        self,
        run: DigestRun,
        *,
        parts: Mapping[str, str] | None = None,
        lease: float | None = None,
        posted: bool | None = None,
    ) -> None:
        """Note how far the posting of a run is, if it is still this process that posts it."""
        given = {"parts": None if parts is None else _json(dict(parts)), "lease": lease, "posted": posted}
        changes = {column: value for column, value in given.items() if value is not None}
        table = schema.digests
        mine = (table.c.name == run.name) & (table.c.run == run.run) & (table.c.owner == run.owner)
        async with self._begin() as connection:
            await connection.execute(sa.update(table).where(mine).values(**changes))

    async def drop_digest(self, run: DigestRun) -> None:
        """Forget a run of which nothing stands, so that a retry begins anew; unless another process took it over."""
        table = schema.digests
        mine = (table.c.name == run.name) & (table.c.run == run.run) & (table.c.owner == run.owner)
        async with self._begin() as connection:
            await connection.execute(sa.delete(table).where(mine))

    # --- upkeep -----------------------------------------------------------------------------------------------------------

    async def prune(self, now: float) -> int:
        """Delete what is older than RETENTION allows; give how many rows went."""
        gone = 0
        async with self._begin() as connection:
            for name, keep in RETENTION.items():
                table = schema.metadata.tables[name]
                done = await connection.execute(sa.delete(table).where(table.c.at < now - keep))
                gone += done.rowcount
        return gone

    async def ping(self) -> None:
        """Raise StoreError when the database does not answer."""
        async with self._begin() as connection:
            await connection.execute(sa.select(sa.literal(1)))


def _engine(url: str) -> AsyncEngine:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.partition("+")[0] not in {"sqlite", "postgresql", "postgres"}:
        shown = scheme if separator else "a text without ://"
        raise StoreError(
            f"a store URL starts with sqlite:/// or postgresql://, not with {shown!r}; example: sqlite:///store.sqlite3"
        )
    if scheme.startswith("sqlite"):
        # Every transaction takes the write lock, so more connections than one would only wait for each other in the file;
        # and in memory each would be a database of its own.
        engine = create_async_engine(
            f"sqlite+aiosqlite://{rest}", connect_args={"timeout": LOCKED_SECONDS},
            poolclass=sa.AsyncAdaptedQueuePool, pool_size=1, max_overflow=0, pool_timeout=10,
        )  # fmt: skip

        def on_connect(connection: Any, _record: Any) -> None:  # noqa: ANN401 - DBAPI objects
            connection.isolation_level = None  # the driver's own transactions would start too late
            cursor = connection.cursor()
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={LOCKED_SECONDS * 1000:.0f}"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        def on_begin(connection: sa.Connection) -> None:
            # takes the write lock first: a transaction that reads and then writes never fails on a stale view
            connection.exec_driver_sql("BEGIN IMMEDIATE")

        sa.event.listen(engine.sync_engine, "connect", on_connect)
        sa.event.listen(engine.sync_engine, "begin", on_begin)
        return engine
    try:
        return create_async_engine(
            f"postgresql+asyncpg://{rest}", pool_size=5, max_overflow=5, pool_pre_ping=True, pool_timeout=10,
            connect_args={"timeout": 10, "command_timeout": 10},
        )  # fmt: skip
    except ModuleNotFoundError as error:
        raise StoreError("PostgreSQL needs the extra `postgresql`: pip install 'whypending[postgresql]'") from error
    except SQLAlchemyError as error:
        raise StoreError(f"the store URL cannot be read: {type(error).__name__}") from error


async def _made_ready(engine: AsyncEngine) -> None:
    """Migrate; try again while another process does.

    SQLite refuses a new file's change to WAL at once, not after `timeout`, while another process writes into it.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + LOCKED_SECONDS
    while True:
        try:
            async with engine.connect() as connection:
                await connection.run_sync(_migrate)
        except OperationalError as error:
            if "database is locked" not in str(error.orig) or loop.time() >= until:
                raise
            await asyncio.sleep(0.05)
        else:
            return


def _migrate(connection: sa.Connection) -> None:
    schema.migrate(connection)
    connection.commit()


def _reason(error: BaseException) -> str:
    """The driver's own sentence without the statement and its parameters."""
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"[:300]


async def _insert_once(connection: AsyncConnection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    done = await connection.execute(insert(table).values(**row).on_conflict_do_nothing())
    return done.rowcount == 1


def _row(record: Answer | Watch | DigestRun) -> dict[str, Any]:
    return {column.name: getattr(record, column.name) for column in fields(record)}


def _record(kind: type[T], row: Mapping[Any, Any]) -> T:
    return kind(**{column.name: row[column.name] for column in fields(kind)})


def _digest_run(row: Mapping[Any, Any]) -> DigestRun:
    kept = {name: json.loads(row[name]) for name in ("entries", "counts", "parts")}
    columns = {column.name: row[column.name] for column in fields(DigestRun)}
    return DigestRun(**{**columns, **kept, "complete": bool(row["complete"]), "posted": bool(row["posted"])})


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


__all__: Sequence[str] = ["RETENTION", "Answer", "DigestRun", "Store", "StoreError", "Watch", "new_id"]
