"""The service: several clusters, an answer whatever happens, links, and what the command line calls."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
import yaml

from bot import service as service_module
from bot.core.disclosure import Audience, disclose
from bot.core.reference import JobRef
from bot.demo.apiserver import Fault, RecordedApi
from bot.kube.client import Cluster
from bot.kube.reader import Reader
from bot.render.links import Templates
from bot.service import Service, Site, UnknownClusterError, look
from bot.settings import Cluster as ClusterSettings
from tests.clusters import RECORDINGS

TRAIN = JobRef("team-a", "train")


def server(name: str = "quota-in-use") -> RecordedApi:
    return RecordedApi.load(RECORDINGS / "v0.19.2" / f"{name}.json")


async def test_each_question_goes_to_its_cluster() -> None:
    async with server().serve() as first, server("image-pull").serve() as second:
        sites = {"east": Site(Cluster(url=first)), "west": Site(Cluster(url=second))}
        async with Service(sites, default="east") as service:
            here = await service.explain(TRAIN)
            there = await service.explain(JobRef("team-a", "train", cluster="west"))
            nowhere = await service.explain(JobRef("team-a", "train", cluster="north"))
            with pytest.raises(UnknownClusterError, match="there are: east, west"):
                service.reader("north")
    assert (here.headline.rule, here.cluster) == ("quota-in-use", "east")
    assert (there.headline.rule, there.cluster) == ("image-not-pulled", "west")
    assert nowhere.outlook == "unknown"
    assert "there is no cluster 'north'" in nowhere.gaps[0].reason


@pytest.mark.parametrize("name", ["quota-in-use", "image-pull", "job-not-found", "topology-no-fit", "plain-pod"])
async def test_what_was_read_for_a_question_does_not_wait_for_the_garbage_collector(name: str) -> None:
    async with server(name).serve() as url, Service({"": Site(Cluster(url=url))}, shared_seconds=0) as service:
        gc.disable()
        audience = Audience("namespace", "team-a")
        snapshot = await service.snapshot(TRAIN)
        answer = service.diagnose(snapshot, TRAIN)
        disclose(answer, audience, snapshot)
        look(snapshot, TRAIN, answer, audience)
        gone = weakref.ref(snapshot)
        del snapshot
        await asyncio.sleep(0)
        assert gone() is None


async def test_a_cluster_that_cannot_be_reached_still_gets_an_answer() -> None:
    async with Service({"": Site(Cluster(url="http://127.0.0.1:9"))}, deadline=2) as service:
        answer = await service.explain(TRAIN)
        assert await service.reachable() is False
    assert answer.outlook == "unknown"
    assert answer.complete is False
    assert {gap.kind for gap in answer.gaps} >= {"Workload", "Pod"}


async def test_a_defect_of_the_reader_costs_nobody_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        msg = "defect"
        raise RuntimeError(msg)

    monkeypatch.setattr(Reader, "read", broken)
    async with Service({"": Site(Cluster(url="http://127.0.0.1:9"))}) as service:
        answer = await service.explain(TRAIN)
    assert answer.gaps[0].reason == "internal error: RuntimeError"


async def test_links_are_those_of_the_cluster() -> None:
    async with server().serve() as url:
        site = Site(Cluster(url=url), Templates(kueueviz="https://kueueviz.example.com"))
        async with Service({"prod": site}) as service:
            answer = await service.explain(TRAIN)
    queue = next(row for row in answer.chain if row.kind == "ClusterQueue")
    assert queue.links == {"KueueViz": "https://kueueviz.example.com/cluster-queue/gpu-cq"}


async def test_a_closed_service_can_be_asked_again() -> None:
    async with server().serve() as url, Service({"": Site(Cluster(url=url))}) as service:
        await service.explain(TRAIN)
        await service.close()
        assert (await service.explain(TRAIN)).headline.rule == "quota-in-use"


def test_it_needs_a_cluster_and_a_known_default() -> None:
    with pytest.raises(ValueError, match="no cluster is configured"):
        Service({})
    with pytest.raises(ValueError, match="'b' is not configured; there are: a"):
        Service({"a": Site(Cluster())}, default="b")


def test_a_configured_cluster_becomes_a_site() -> None:
    settings = ClusterSettings.model_validate({
        "name": "prod", "context": "ctx", "kueue_namespace": "kueue",
        "links": {"headlamp": {"base_url": "https://headlamp.example.com", "cluster_name": "one"}},
    })  # fmt: skip
    site = service_module.site_of(settings)
    assert (site.cluster.name, site.cluster.context, site.cluster.kueue_namespace) == ("prod", "ctx", "kueue")
    assert (site.links.headlamp, site.links.headlamp_cluster) == ("https://headlamp.example.com", "one")


# --- what the command line calls: each runs an event loop of its own, so the server runs in a thread ---


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


def write(path: Path, url: str) -> None:
    path.write_text(
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url}}], "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        })
    )  # fmt: skip


def test_one_question(kubeconfig: Path) -> None:
    with served(server()) as url:
        write(kubeconfig, url)
        answer = service_module.explain_once(TRAIN, deadline=20)
        content = service_module.snapshot_once(TRAIN, deadline=20)
        other = service_module.snapshot_once(TRAIN, deadline=20, replace_names=True)
    assert answer.headline.rule == "quota-in-use"
    documents = list(yaml.safe_load_all(content))
    assert documents[0]["kind"] == "Recording"
    assert {"team-a", "train"} <= {
        item["metadata"]["name"] for item in documents if item["kind"] in {"Job", "Namespace"}
    }
    assert b"team-a" not in other
    assert b"gpu-cq" not in other


def test_nobody_answers(kubeconfig: Path) -> None:
    write(kubeconfig, "http://127.0.0.1:9")
    for ask in (service_module.explain_once, service_module.snapshot_once):
        with pytest.raises(service_module.UnreachableError, match="The API server cannot be reached"):
            ask(TRAIN, deadline=3)


def test_a_context_that_is_not_there(kubeconfig: Path) -> None:
    write(kubeconfig, "http://127.0.0.1:9")
    with pytest.raises(service_module.UnreachableError, match="No usable configuration"):
        service_module.explain_once(TRAIN, context="nowhere")


def test_doctor(kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = server()
    with served(api) as url:
        write(kubeconfig, url)
        healthy, lines = service_module.doctor_once()
        assert any("The API server answers: Kubernetes v1.36.2." in line for line in lines)
        config = tmp_path / "config.yaml"
        config.write_text("slack_mode: socket\n")
        monkeypatch.setenv("WHYPENDING_SLACK_BOT_TOKEN", "xoxb-1")
        healthy, lines = service_module.doctor_once(config=config)
    assert not healthy
    assert any(line.startswith("ok       slack_bot_token") for line in lines)
    assert any(line.startswith("missing  slack_app_token: WHYPENDING_SLACK_APP_TOKEN is not set") for line in lines)
    config.write_text("nonsense: 1\n")
    healthy, lines = service_module.doctor_once(config=config)
    assert not healthy
    assert "no such setting" in lines[0]


def test_only_the_answer_is_printed(kubeconfig: Path) -> None:
    """In a process of its own, as the command is: who configured logging first decides where lines go."""
    api = server()
    api.faults = [Fault("nodes", status=500, times=2)]
    with served(api) as url:
        write(kubeconfig, url)
        code = "from bot.core.reference import JobRef; from bot import service; service.explain_once(JobRef('team-a', 'train'))"
        environ = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=environ
        )
    assert done.stdout == ""


class served:  # noqa: N801 - reads as a verb: `with served(api) as url`
    """A server in a thread of its own."""

    def __init__(self, api: RecordedApi) -> None:
        self.api = api

    def __enter__(self) -> str:
        started = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.stop = asyncio.Event()

        async def run() -> None:
            async with self.api.serve() as url:
                self.url = url
                started.set()
                await self.stop.wait()

        def main() -> None:
            asyncio.set_event_loop(self.loop)
            self.loop.run_until_complete(run())
            self.loop.close()

        self.thread = threading.Thread(target=main)
        self.thread.start()
        started.wait(10)
        return self.url

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(10)
