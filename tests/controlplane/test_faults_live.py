"""Faults between the bot and a real API server: an answer in time that names what is missing, whatever goes wrong."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from bot.core import engine
from bot.core.diagnosis import Diagnosis
from bot.core.reference import JobRef
from bot.demo.apiserver import Fault
from bot.kube.client import Client, Cluster
from bot.kube.reader import Reader
from tests.clusters import merge
from tests.controlplane.faults import Proxy
from tests.controlplane.plane import ApiError, ControlPlane
from tests.controlplane.scenario import BASES, Player, Scenario
from tests.faults import DOCTOR, MARKS, SURVEY, Question, Server, at_every_read, each_fault_at_each_read

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

TRAIN = JobRef("team-a", "train")
SCENE = {
    "cohorts": {"research": {}},
    "clusterQueues": {
        "shared": {"cohortName": "research", "quota": {"default": {"cpu": "1"}}},
        "lender": {"cohortName": "research", "quota": {"default": {"cpu": "3"}}},
    },
    "localQueues": {"team-b/shared": "shared"},
    "jobs": {
        "team-b/borrower": {"queue": "shared", "requests": {"cpu": "2"}},
        "team-a/holder": {"queue": "main", "requests": {"cpu": "2"}},
        "team-a/image": {"queue": "main", "requests": {"cpu": "1"}, "podAnnotations": {"kubelet": "image-pull"}},
        "team-a/lost": {"queue": "nowhere", "requests": {"cpu": "1"}},
        "team-a/alone": {"requests": {"cpu": "100"}},
    },
    "steps": [
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "holder", "condition": "Admitted"}},
        {"until": {"kind": "Workload", "namespace": "team-b", "of": "borrower", "condition": "Admitted"}},
        {"jobs": {"team-b/waits": {"queue": "shared", "pods": 2, "requests": {"cpu": "2"}}}},
        {"until": {"kind": "Workload", "namespace": "team-b", "of": "waits", "condition": "QuotaReserved=False"}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "image", "condition": "Admitted"}},
        {"jobs": {"team-a/train": {"queue": "main", "requests": {"cpu": "2"}}}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "train", "condition": "QuotaReserved=False"}},
        {"until": {"kind": "Pod", "namespace": "team-a", "start": "image-", "is": "ImagePullBackOff",
                   "field": "status.containerStatuses.0.state.waiting.reason"}},
        {"until": {"kind": "Pod", "namespace": "team-a", "start": "alone-", "condition": "PodScheduled=False"}},
    ],
}  # fmt: skip
CAUSES = {
    "train": "quota-in-use", "image": "image-not-pulled", "lost": "local-queue-missing", "alone": "node-resources-insufficient",
    "nothing": "job-not-found",
}  # fmt: skip


@pytest.fixture(scope="module")
def scene(own_plane: ControlPlane) -> ControlPlane:
    """A cluster with a job for every kind of question."""
    Player(own_plane).play(Scenario("faults", merge(BASES["small"], SCENE)))
    return own_plane


@contextlib.asynccontextmanager
async def between(plane: ControlPlane) -> AsyncIterator[Proxy]:
    proxy = Proxy(plane)
    async with proxy.serve():
        yield proxy


async def ask(client: Client, ref: JobRef = TRAIN, reader: Reader | None = None, deadline: float = 8.0) -> Diagnosis:
    return engine.diagnose(await (reader or Reader.of(client)).read(ref, deadline), ref)


PLAYED = ("reset once", "cut", "hang", "403", "404", "409", "429 for a moment", "429 for long", "500", "503 once")


def serving(plane: ControlPlane) -> Callable[[], contextlib.AbstractAsyncContextManager[tuple[Server, Cluster]]]:
    @contextlib.asynccontextmanager
    async def serve() -> AsyncIterator[tuple[Server, Cluster]]:
        async with between(plane) as proxy:
            yield proxy, proxy.cluster()

    return serve


@pytest.mark.parametrize("name", sorted(CAUSES))
async def test_each_kind_of_fault_at_each_read(scene: ControlPlane, name: str) -> None:
    """The answer, its snapshot as a file, and what a watch would make of it."""
    outcomes = await at_every_read(serving(scene), JobRef("team-a", name), PLAYED)
    print(f"{name}: {len(outcomes)} faults")
    assert len(outcomes) > 80
    assert outcomes[0].sound == CAUSES[name]
    assert [str(outcome) for outcome in outcomes if outcome.wrong] == []


@pytest.mark.parametrize(
    ("question", "kinds", "least"),
    [(SURVEY, ("reset once", "cut", "hang", "403", "404", "500"), 120), (MARKS, PLAYED, 15), (DOCTOR, PLAYED, 30)],
    ids=["digest and queues", "watches", "doctor"],
)
async def test_each_kind_of_fault_at_each_read_of_other_questions(
    scene: ControlPlane, question: Question[Any], kinds: tuple[str, ...], least: int
) -> None:
    played, wrong = await each_fault_at_each_read(serving(scene), question, kinds)
    print(f"{played} faults")
    assert wrong == []
    assert played > least


async def test_a_list_that_expires_half_way_is_read_again(scene: ControlPlane) -> None:
    for n in range(150):
        event = {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": f"filler-{n}", "namespace": "team-a"},
            "involvedObject": {"kind": "Pod", "name": "filler", "namespace": "team-a", "uid": "filler"},
            "reason": "Filler", "message": "nothing", "type": "Normal",
        }  # fmt: skip
        with contextlib.suppress(ApiError):
            scene.call("POST", "/api/v1/namespaces/team-a/events", event)
    async with between(scene) as proxy, Client(proxy.cluster(), shared_seconds=0) as client:
        ref = JobRef("team-a", "image")
        proxy.faults = [Fault("/events$", query="continue=", status=410, times=1)]
        snapshot = await Reader.of(client).read(ref)
        assert snapshot.covers("Event", "team-a")
        assert proxy.faults[0].times == 0
        names = [event.name for event in snapshot.seen("Event", "team-a")]
        assert len(names) == len(set(names)) > 150
        proxy.faults = [Fault("/events$", query="continue=", status=410)]
        snapshot = await Reader.of(client).read(ref)
        assert not snapshot.covers("Event", "team-a")
        assert any(gap.kind == "Event" and "410" in gap.reason for gap in snapshot.gaps)
        assert engine.diagnose(snapshot, ref).headline.rule == "image-not-pulled"


async def test_a_certificate_that_changes_is_said_and_the_right_one_trusted_again(scene: ControlPlane) -> None:
    async with between(scene) as proxy, Client(proxy.cluster(), shared_seconds=0) as client:
        reader = Reader.of(client)
        assert (await ask(client, reader=reader)).headline.rule == "quota-in-use"
        await proxy.listen(trusted=False)
        proxy.faults = [Fault("", reset=True)]  # the old connections end
        await ask(client, reader=reader, deadline=3)
        proxy.faults = []
        answer = await ask(client, reader=reader, deadline=3)
        assert answer.headline.rule == "no-explanation-visible"
        assert not answer.complete
        assert any("certificate is not trusted" in gap.reason for gap in answer.gaps)
        await proxy.listen(trusted=True)
        assert (await ask(client, reader=reader)).headline.rule == "quota-in-use"


async def test_a_token_that_ends_is_said_and_its_successor_is_taken_up(scene: ControlPlane) -> None:
    player = Player(scene)
    player.namespace("team-a")
    admin = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "faults"},
        "roleRef": admin, "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "team-a"}],
    }  # fmt: skip
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "team-a"}}
    scene.apply("/api/v1/namespaces/team-a/serviceaccounts", account)
    scene.apply("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    paths = [scene.kubeconfig(name, scene.service_account_token("team-a", "reader")) for name in ("left", "renewed")]
    async with (
        Client(Cluster(kubeconfig=str(paths[0])), shared_seconds=0) as left,
        Client(Cluster(kubeconfig=str(paths[1])), shared_seconds=0) as renewed,
    ):
        readers = Reader.of(left), Reader.of(renewed)
        # the server remembers for ten seconds that a token is good: the renewed one's is forgotten first
        for client, reader in ((renewed, readers[1]), (left, readers[0])):
            assert (await ask(client, reader=reader)).headline.rule == "quota-in-use"
        # a token is bound to its account: with that gone it has ended
        scene.call("DELETE", "/api/v1/namespaces/team-a/serviceaccounts/reader")
        scene.apply("/api/v1/namespaces/team-a/serviceaccounts", account)
        content = yaml.safe_load(paths[1].read_text())
        content["users"][0]["user"]["token"] = scene.service_account_token("team-a", "reader")
        paths[1].write_text(yaml.safe_dump(content))
        end = datetime.now(UTC) + timedelta(seconds=30)
        while (answer := await ask(left, reader=readers[0])).headline.rule == "quota-in-use":
            assert datetime.now(UTC) < end, "the old token is still taken"
            await asyncio.sleep(0.5)
        assert any("does not accept this identity" in gap.reason for gap in answer.gaps)
        assert not answer.complete
        answer = await ask(renewed, reader=readers[1])
        assert (answer.headline.rule, answer.complete) == ("quota-in-use", True)


async def test_an_api_server_that_restarts_is_used_again(scene: ControlPlane) -> None:
    async with Client(Cluster(kubeconfig=str(scene.kubeconfig())), shared_seconds=0) as client:
        reader = Reader.of(client)
        assert (await ask(client, reader=reader)).headline.rule == "quota-in-use"
        scene.stop("kube-apiserver", kill=True)
        try:
            began = time.monotonic()
            answer = await ask(client, reader=reader, deadline=2)
            assert time.monotonic() - began < 3
            assert answer.headline.rule == "no-explanation-visible"
            assert not answer.complete
            assert any("cannot be reached" in gap.reason or "cut" in gap.reason for gap in answer.gaps)
        finally:
            scene.restart("kube-apiserver")
            scene.wait(lambda: scene.call("GET", "/readyz"), "kube-apiserver")
            scene.wait(lambda: scene.call("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2"), "visibility API")
        assert (await ask(client, reader=reader)).headline.rule == "quota-in-use"


async def test_a_version_that_an_upgrade_switches_off_is_left_and_taken_again(scene: ControlPlane) -> None:
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    names = [f"{plural}.kueue.x-k8s.io" for plural in ("workloads", "localqueues", "clusterqueues")]

    def serve(name: str, *, newest: bool) -> None:
        spec = scene.call("GET", f"{crd}/{name}")["spec"]
        for version in spec["versions"]:
            if version["name"] == "v1beta2":
                version["served"] = newest
        scene.call("PATCH", f"{crd}/{name}", {"spec": {"versions": spec["versions"]}})

    def served(version: str) -> bool:
        try:
            for plural in ("workloads", "localqueues", "clusterqueues"):
                scene.call("GET", f"/apis/kueue.x-k8s.io/{version}/{plural}?limit=1")
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    async with Client(Cluster(kubeconfig=str(scene.kubeconfig())), shared_seconds=0) as client:
        reader = Reader.of(client)
        assert (await ask(client, reader=reader)).versions.api == "v1beta2"
        try:
            for name in names:
                serve(name, newest=False)
            scene.wait(lambda: not served("v1beta2"), "v1beta2 is gone", 60)
            answer = await ask(client, reader=reader)
            if answer.headline.rule != "quota-in-use":  # discovery of the server itself may be a moment behind
                assert not answer.complete
                await asyncio.sleep(5)
                answer = await ask(client, reader=reader)
            assert answer.headline.rule == "quota-in-use"
            assert answer.versions.api == "v1beta1"
        finally:
            for name in names:
                serve(name, newest=True)
            scene.wait(lambda: served("v1beta2"), "v1beta2 is back", 60)
        assert (await ask(client, reader=reader)).headline.rule == "quota-in-use", "the older version is still served"
        assert (await ask(client)).versions.api == "v1beta2", "whoever asks anew takes the newest"
