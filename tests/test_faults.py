"""Faults at every read of every kind of question, against recorded clusters: never an all-clear, never a traceback."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from bot.core.reference import JobRef
from bot.demo.apiserver import RecordedApi
from bot.kube.client import Cluster
from tests.clusters import RECORDINGS, expectations
from tests.faults import KINDS, Server, at_every_read
from tests.test_reader import question

TRUE_TOO = {("strict-fifo-head-blocks", "not-evaluated-yet"), ("namespace-not-found", "job-not-found")}
"""What is also true of a recording, although it is not said beside the headline."""


async def wrong(name: str, ref: JobRef, kinds: tuple[str, ...]) -> list[str]:
    @contextlib.asynccontextmanager
    async def serve() -> AsyncIterator[tuple[Server, Cluster]]:
        server = RecordedApi.load(RECORDINGS / "v0.19.2" / f"{name}.json")
        async with server.serve() as url:
            yield server, Cluster(url=url)

    outcomes = await at_every_read(serve, ref, kinds, 8)
    assert outcomes
    return [
        str(outcome) for outcome in outcomes if outcome.wrong and (name, outcome.answer.headline.rule) not in TRUE_TOO
    ]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["quota-in-use", "image-pull", "job-not-found"])
async def test_every_kind_of_fault(name: str) -> None:
    assert await wrong(name, JobRef("team-a", "train"), tuple(KINDS)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "expected",
    [entry for entry in expectations(RECORDINGS) if (RECORDINGS / "v0.19.2" / f"{entry['name']}.json").exists()],
    ids=lambda entry: entry["name"],
)
async def test_every_read_of_every_recording_refused(expected: dict[str, str]) -> None:
    assert await wrong(expected["name"], question(expected), ("403", "404")) == []
