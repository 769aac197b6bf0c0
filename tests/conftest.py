"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest
import structlog

from tests import postgres


@pytest.fixture(autouse=True)
def _logging_of_its_own() -> Iterator[None]:
    """What a command sets up for its process (only errors are logged) must not silence the tests that come later."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.Server]:
    """A running PostgreSQL; skipped with a sentence where there is none."""
    if postgres.binaries() is None:
        pytest.skip("PostgreSQL's server is missing (Debian: package postgresql)")
    with postgres.server() as running:
        yield running
