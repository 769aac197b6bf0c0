"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest

from tests import postgres


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgres.Server]:
    """A running PostgreSQL; skipped with a sentence where there is none."""
    if postgres.binaries() is None:
        pytest.skip("PostgreSQL's server is missing (Debian: package postgresql)")
    with postgres.server() as running:
        yield running
