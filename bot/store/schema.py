"""The tables, and the steps that bring an older database to them.

A migration is one function from connection to nothing; its number is its place in `MIGRATIONS`. They run in one
transaction under a lock (SQLite: its write lock, taken at the transaction's start), so that replicas that start
together run each exactly once.
"""

from collections.abc import Callable

import sqlalchemy as sa

metadata = sa.MetaData()

version = sa.Table("schema_version", metadata, sa.Column("number", sa.Integer, primary_key=True))

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("key", sa.String(200), primary_key=True, comment="Slack's event_id or trigger_id: answered once"),
    sa.Column("at", sa.Float, nullable=False, index=True, comment="Unix time, seconds"),
)

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("enterprise", sa.String(40), nullable=False, default=""),
    sa.Column("team", sa.String(40), nullable=False),
    sa.Column("user", sa.String(40), nullable=False),
    sa.Column("channel", sa.String(40), nullable=False),
    sa.Column("thread", sa.String(40), nullable=False, default="", comment="the message in whose thread it stands"),
    sa.Column("message", sa.String(40), nullable=False, default="", comment="the card itself"),
    sa.Column("cluster", sa.String(253), nullable=False, default=""),
    sa.Column("namespace", sa.String(253), nullable=False),
    sa.Column("kind", sa.String(100), nullable=False, default=""),
    sa.Column("name", sa.String(253), nullable=False),
    sa.Column("rule", sa.String(100), nullable=False, default="", comment="the headline's slug, once answered"),
    sa.Column("outlook", sa.String(40), nullable=False, default=""),
    sa.Column("state", sa.String(20), nullable=False, comment="asked, answered, unanswered or interrupted"),
    sa.Column("at", sa.Float, nullable=False, index=True),
    sa.Column("owner", sa.String(80), nullable=False, default="", comment="the process that works on it"),
    sa.Column("lease", sa.Float, nullable=False, default=0.0, comment="until when its owner is believed to live"),
    sa.Index("answers_by_person", "team", "user", "at"),
    sa.Index("answers_by_message", "channel", "message"),
)

watches = sa.Table(
    "watches",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("enterprise", sa.String(40), nullable=False, default=""),
    sa.Column("team", sa.String(40), nullable=False),
    sa.Column("user", sa.String(40), nullable=False),
    sa.Column("channel", sa.String(40), nullable=False),
    sa.Column("thread", sa.String(40), nullable=False),
    sa.Column("message", sa.String(40), nullable=False, default="", comment="the card that is kept up to date"),
    sa.Column("cluster", sa.String(253), nullable=False, default=""),
    sa.Column("namespace", sa.String(253), nullable=False),
    sa.Column("kind", sa.String(100), nullable=False, default=""),
    sa.Column("name", sa.String(253), nullable=False),
    sa.Column(
        "uid", sa.String(64), nullable=False, default="", comment="the job's UID: a new job of that name is another"
    ),
    sa.Column("level", sa.String(20), nullable=False, comment="the disclosure level under which it was asked"),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("ends", sa.Float, nullable=False, comment="when the watch ends by itself"),
    sa.Column("deadline", sa.Float, nullable=True, comment="tell me if it has not started by then"),
    sa.Column("state", sa.String(200), nullable=False, default="", comment="the last state that was told"),
    sa.Column(
        "seen", sa.String(200), nullable=False, default="", comment="a newer state that has not held long enough"
    ),
    sa.Column("seen_at", sa.Float, nullable=False, default=0.0),
    sa.Column("told", sa.Integer, nullable=False, default=0, comment="how many transitions were decided on"),
    sa.Column("posted", sa.Integer, nullable=False, default=0, comment="how many of them are known to stand in Slack"),
    sa.Column(
        "asked_by", sa.String(40), nullable=False, default="", comment="who asked, where the root message is ours"
    ),
    sa.Column("owner", sa.String(80), nullable=False, default=""),
    sa.Column("lease", sa.Float, nullable=False, default=0.0, index=True),
    sa.UniqueConstraint(
        "team", "channel", "thread", "user", "cluster", "namespace", "kind", "name", name="one_watch_each"
    ),
)

digests = sa.Table(
    "digests",
    metadata,
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("run", sa.String(100), primary_key=True, comment="the scheduled moment: a run that repeats posts once"),
    sa.Column("at", sa.Float, nullable=False, index=True, comment="when the cluster was looked at"),
    sa.Column(
        "begun",
        sa.Float,
        nullable=False,
        server_default="0",
        comment="the first attempt: nothing of it is older in Slack",
    ),
    sa.Column("complete", sa.Boolean, nullable=False),
    sa.Column("posted", sa.Boolean, nullable=False, default=False, comment="whether all of it stands in Slack"),
    sa.Column(
        "parts", sa.Text, nullable=False, server_default="{}", comment="JSON: part to timestamp, as far as known"
    ),
    sa.Column("owner", sa.String(80), nullable=False, server_default="", comment="the process that posts it"),
    sa.Column(
        "lease", sa.Float, nullable=False, server_default="0", comment="until when its owner is believed to live"
    ),
    sa.Column("entries", sa.Text, nullable=False, comment="JSON: workload key to [rule, since]"),
    sa.Column("counts", sa.Text, nullable=False, comment="JSON: rule to queue to count, for the line over time"),
)


def _first(connection: sa.Connection) -> None:
    metadata.create_all(connection)


def _second(connection: sa.Connection) -> None:
    """Digests note which of their messages stand; a database that is made now has the columns already."""
    there = {column["name"] for column in sa.inspect(connection).get_columns(digests.name)}
    for column, kind in (
        ("parts", "TEXT NOT NULL DEFAULT '{}'"),
        ("owner", "VARCHAR(80) NOT NULL DEFAULT ''"),
        ("lease", "DOUBLE PRECISION NOT NULL DEFAULT 0"),
    ):
        if column not in there:
            connection.execute(sa.text(f"ALTER TABLE {digests.name} ADD COLUMN {column} {kind}"))


def _third(connection: sa.Connection) -> None:
    """Digests keep when they were first tried, whoever repeats them."""
    if "begun" not in {column["name"] for column in sa.inspect(connection).get_columns(digests.name)}:
        connection.execute(sa.text(f"ALTER TABLE {digests.name} ADD COLUMN begun DOUBLE PRECISION NOT NULL DEFAULT 0"))
        connection.execute(sa.update(digests).values(begun=digests.c.at))


MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_first, _second, _third)


def migrate(connection: sa.Connection) -> int:
    """Bring the database to the newest schema; give its number. Safe to run by several processes at once.

    Raises RuntimeError when the database is newer than this program.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(721050801)"))
    version.create(connection, checkfirst=True)
    current: int = connection.execute(sa.select(sa.func.coalesce(sa.func.max(version.c.number), 0))).scalar_one()
    if current > len(MIGRATIONS):
        raise RuntimeError(
            f"the store has schema {current}, this program knows {len(MIGRATIONS)}: start the newer version"
        )
    for number, step in enumerate(MIGRATIONS[current:], current + 1):
        step(connection)
        connection.execute(sa.insert(version).values(number=number))
    return len(MIGRATIONS)
