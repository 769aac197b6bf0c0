"""Fixtures for all tests."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests import postgres

_THRESHOLD = gc.get_threshold()


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all tests that need the control plane in one process, where tests run in several: there is one of it."""
    for item in items:
        if item.get_closest_marker("live") is not None:
            item.add_marker(pytest.mark.xdist_group("live"))


@pytest.fixture(autouse=True)
def _process_as_it_was() -> Iterator[None]:
    """What a command sets up for its process (quiet logs, a garbage collector that seldom or never looks) ends with its test."""
    yield
    structlog.reset_defaults()
    gc.enable()
    if gc.get_threshold() != _THRESHOLD:
        gc.set_threshold(*_THRESHOLD)
        gc.unfreeze()


@pytest.fixture(scope="session")
def _postgresql() -> Iterator[postgres.Server]:
    if postgres.binaries() is None:
        pytest.skip("PostgreSQL's server is missing (Debian: package postgresql)")
    with postgres.server() as running:
        yield running


@pytest.fixture
def postgresql(_postgresql: postgres.Server) -> postgres.Server:
    """A running PostgreSQL with a database of the test's own; skipped with a sentence where there is none."""
    _postgresql.renew()
    return _postgresql


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store, on each database that it may be in."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite3'}"
    server: postgres.Server = request.getfixturevalue("postgresql")
    return server.url
