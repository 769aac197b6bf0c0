"""Fixtures for all tests."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from xdist.scheduler import LoadScopeScheduling

from tests import postgres

_THRESHOLD = gc.get_threshold()


class _Apart(LoadScopeScheduling):  # type: ignore[misc]
    """Shares out whole files, in their order; those that need the control plane go to one process: there is one of it."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return str(Path(file).parent) if file.startswith("tests/controlplane/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Apart:
    """Say how tests are shared out where they run in several processes (`-n 2`)."""
    config.option.loadscopereorder = False
    return _Apart(config, log)


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
