"""The reader: the same answer as from a file, within twenty requests and three rounds, and every miss is a gap."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.core import engine
from bot.core import snapshot as s
from bot.core.diagnosis import Diagnosis
from bot.core.kinds import JOB_KINDS
from bot.core.reference import JobRef
from bot.core.rules import RULES
from bot.core.snapshot import Scope, Snapshot
from bot.demo.apiserver import Fault, RecordedApi
from bot.kube.client import Client, Cluster
from bot.kube.permissions import KINDS_READ, PERMISSIONS
from bot.kube.reader import REQUESTS, Reader
from tests.clusters import RECORDINGS, expectations, recorded

TRAIN = JobRef("team-a", "train")
OTHERWISE = {
    "integration-not-enabled",  # no Workload names these two: every kind is searched by name, beyond the budget
    "scaled-to-zero",
    "workload-rejected",  # only the recording knows Kueue's version
    "requeue-backoff",  # says in how many minutes
}
CASES = [
    pytest.param(path, expected, id=f"{path.parent.name}/{path.stem}")
    for expected in (*expectations(RECORDINGS), *expectations(RECORDINGS / "v0.17.0-live"))
    if expected["name"] not in OTHERWISE
    for path in sorted(RECORDINGS.glob(f"*/{expected['name']}.json"))
]


def question(expected: dict[str, Any]) -> JobRef:
    namespace, _, name = expected["ask"].partition("/")
    return JobRef(namespace, name, expected.get("kind") or "")


def quota_in_use(**settings: Any) -> RecordedApi:
    return RecordedApi.load(RECORDINGS / "v0.19.2" / "quota-in-use.json", **settings)


async def ask(server: RecordedApi, ref: JobRef = TRAIN, deadline: float = 8.0, **settings: Any) -> Snapshot:
    async with server.serve() as url, Client(Cluster(url=url), **settings) as client:
        return await Reader.of(client).read(ref, deadline)


def answer(snapshot: Snapshot, ref: JobRef = TRAIN) -> Diagnosis:
    return engine.diagnose(snapshot, ref)


def rounds(server: RecordedApi) -> int:
    """How many requests stood one after the other: a new round begins when all before it have ended."""
    count, end = 0, -1.0
    for request in sorted(server.log, key=lambda request: request.began):
        if request.began >= end:
            count += 1
            end = request.ended
        else:
            end = max(end, request.ended)
    return count


def reasons(snapshot: Snapshot, kind: str) -> list[str]:
    return [gap.reason for gap in snapshot.gaps if gap.kind == kind]


@pytest.mark.parametrize(("path", "expected"), CASES)
async def test_a_living_cluster_gives_the_same_answer_as_its_recording(path: Path, expected: dict[str, Any]) -> None:
    ref = question(expected)
    server = RecordedApi.load(path)
    alive = answer(await ask(server, ref), ref)
    filed = recorded(f"{path.parent.name}/{path.stem}").ask(expected["ask"], ref.kind)
    assert alive.headline.rule == filed.headline.rule
    assert alive.headline.sentence.replace("forbidden for this identity", "not read") == filed.headline.sentence
    assert [f.rule for f in alive.also] == [f.rule for f in filed.also]
    assert alive.complete >= filed.complete, "discovery proves more than a recording"
    assert alive.quota == filed.quota
    if alive.headline.rule != "job-not-found":
        assert len(server.log) <= REQUESTS


@pytest.mark.parametrize(
    "name", ["quota-in-use", "hierarchical-cohort", "image-pull", "check-pending", "topology-no-fit"]
)
async def test_at_most_three_rounds_and_twenty_requests(name: str) -> None:
    server = RecordedApi.load(RECORDINGS / "v0.19.2" / f"{name}.json", latency=0.1)
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        assert rounds(server) <= 3
        assert len(server.log) <= REQUESTS
        server.log.clear()
        await asyncio.sleep(0.05)
        await reader.read(TRAIN)
    assert rounds(server) <= 3
    assert len(server.log) < REQUESTS, "discovery and the server's version are known"


async def test_the_same_question_at_the_same_time_is_read_once() -> None:
    server = quota_in_use(latency=0.05)
    async with server.serve() as url, Client(Cluster(url=url)) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        alone = len(server.log)
        server.log.clear()
        await asyncio.gather(*(reader.read(TRAIN) for _ in range(5)))
    assert len(server.log) < alone, "all of it was read a moment ago"


async def test_a_question_about_nothing_proves_absence_kind_by_kind() -> None:
    server = RecordedApi.load(RECORDINGS / "v0.19.2" / "job-not-found.json")
    ref = JobRef("team-a", "trian")
    snapshot = await ask(server, ref)
    for kind in (*JOB_KINDS, *[kind for kind in JOB_KINDS if kind.kind == "Pod"]):
        assert snapshot.covers(kind.kind, "team-a", "trian"), kind.kind
    assert snapshot.covers("Workload", "team-a", "trian")
    assert answer(snapshot, ref).headline.rule == "job-not-found"


async def test_a_namespace_that_is_not_there_holds_nothing() -> None:
    ref = JobRef("team-x", "train")
    snapshot = await ask(quota_in_use(), ref)
    assert snapshot.find("Namespace", "team-x") is None
    assert snapshot.every("Job", "team-x") == ()
    assert {item.name for item in snapshot.every("Namespace")} >= {"team-a"}


@pytest.mark.parametrize("name", ["..", "a/b", "UPPER", "a?x=1", "ä" * 5])
async def test_what_can_be_no_name_is_not_asked_for(name: str) -> None:
    server = quota_in_use()
    ref = JobRef("team-a", name)
    snapshot = await ask(server, ref)
    assert server.log == []
    assert snapshot.find("Job", name, "team-a") is None


async def test_a_kind_that_is_given_is_read_by_name() -> None:
    server = RecordedApi.load(RECORDINGS / "v0.19.2" / "rayjob.json")
    snapshot = await ask(server, JobRef("team-a", "ray", "RayJob"))
    assert snapshot.look("RayJob", "ray", "team-a") is not None
    assert any(request.path.endswith("/rayjobs/ray") for request in server.log)


@pytest.mark.parametrize(
    ("resource", "kind"),
    [
        ("nodes", "Node"),
        ("cohorts", "Cohort"),
        ("events", "Event"),
        ("localqueues", "LocalQueue"),
        ("workloads", "Workload"),
    ],
)
async def test_what_is_forbidden_is_a_gap(resource: str, kind: str) -> None:
    server = RecordedApi.load(RECORDINGS / "v0.19.2" / "hierarchical-cohort.json", forbidden=[resource])
    snapshot = await ask(server)
    assert "forbidden for this identity" in reasons(snapshot, kind)
    assert not snapshot.covers(kind)


async def test_a_person_who_may_read_one_namespace_still_gets_its_queues() -> None:
    server = quota_in_use()
    server.faults = [Fault(r"v1beta2/localqueues$", status=403), Fault(r"v1beta2/workloads$", status=403)]
    snapshot = await ask(server)
    assert snapshot.covers("LocalQueue", "team-a")
    assert not snapshot.covers("LocalQueue")
    assert snapshot.look("LocalQueue", "train-queue", "team-a") is not None


async def test_what_hangs_costs_its_own_part_alone() -> None:
    server = quota_in_use()
    server.faults = [Fault("/events", hang=True)]
    began = time.monotonic()
    snapshot = await ask(server, deadline=3.0)
    assert time.monotonic() - began < 6
    assert reasons(snapshot, "Event") == ["timed out after 3 s"]
    assert answer(snapshot).headline.rule == "quota-in-use"


async def test_everything_hangs() -> None:
    server = quota_in_use()
    server.faults = [Fault("/", hang=True)]
    began = time.monotonic()
    snapshot = await ask(server, deadline=0.5)
    assert time.monotonic() - began < 5
    assert snapshot.objects == {}
    assert reasons(snapshot, "Workload") != []
    assert answer(snapshot).headline.rule in {"access-denied", "no-explanation-visible"}


@pytest.mark.parametrize("fault", [Fault("/", reset=True), Fault("/", status=401), Fault("/", status=500)])
async def test_a_server_that_answers_nothing_useful(fault: Fault) -> None:
    server = quota_in_use()
    server.faults = [fault]
    snapshot = await ask(server, deadline=3)
    assert reasons(snapshot, "Workload") != []
    assert answer(snapshot).complete is False


async def test_a_version_that_was_switched_off_is_discovered_anew() -> None:
    server = quota_in_use()
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        await reader.read(TRAIN)
        for item in json.loads((RECORDINGS / "v0.16.9" / "quota-in-use.json").read_bytes())["items"]:
            if item["kind"] in {"Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor"}:
                server.put({**item, "apiVersion": "kueue.x-k8s.io/v1beta1"})
        server.switch_off("kueue.x-k8s.io", "v1beta2")
        await asyncio.sleep(0.05)
        snapshot = await reader.read(TRAIN)
    assert snapshot.look("ClusterQueue", "gpu-cq") is not None
    assert snapshot.versions.api == "v1beta1"
    assert snapshot.is_served("Workload")


async def test_kueue_is_not_there() -> None:
    server = quota_in_use()
    for version in ("v1beta2", "v1beta1"):
        server.switch_off("kueue.x-k8s.io", version)
    snapshot = await ask(server)
    assert snapshot.served is not None
    assert not snapshot.is_served("Workload")
    assert answer(snapshot).headline.rule == "kueue-not-installed"


async def test_kueue_s_version_comes_from_its_image() -> None:
    server = quota_in_use()
    server.put({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"},
        "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.19.2"}]}}},
    })  # fmt: skip
    snapshot = await ask(server)
    assert (snapshot.versions.kueue, snapshot.versions.kubernetes, snapshot.versions.api) == (
        "v0.19.2",
        "v1.36.2",
        "v1beta2",
    )


async def test_owners_are_climbed_from_a_pod() -> None:
    cluster = recorded("v0.19.2/image-pull")
    ref = JobRef("team-a", cluster.named("Pod", "train-"))
    snapshot = await ask(RecordedApi(cluster.items), ref)
    found = answer(snapshot, ref)
    assert snapshot.look("Job", "train", "team-a") is not None
    assert snapshot.look("Workload", cluster.named("Workload", "job-train"), "team-a") is not None
    assert "image-not-pulled" in {found.headline.rule, *(finding.rule for finding in found.also)}


async def test_visibility_answers_and_refusals_are_kept() -> None:
    snapshot = await ask(quota_in_use())
    path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/gpu-cq/pendingworkloads"
    rows = snapshot.visibility[path]
    assert not isinstance(rows, int)
    assert [row.local_queue for row in rows] == ["train-queue"]
    server = quota_in_use()
    server.faults = [Fault("pendingworkloads", status=503)]
    snapshot = await ask(server)
    assert set(snapshot.visibility.values()) == {503}


# --- big clusters ---


def crowd(count: int, namespaces: int, *, kueue: str = "v0.19.2", queue: str = "crowd-cq") -> RecordedApi:
    """The recorded cluster, with `count` more Workloads waiting in another ClusterQueue, spread over namespaces."""
    base = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"]
    base[0] = {**base[0], "kueueVersion": kueue}
    gpu = next(item for item in base if item["kind"] == "ClusterQueue")
    waiting = next(item for item in base if item["kind"] == "Workload" and "train" in item["metadata"]["name"])
    crowded = {
        **gpu, "metadata": {**gpu["metadata"], "name": queue, "uid": "crowd"} if queue != "gpu-cq" else gpu["metadata"],
        "status": {**gpu["status"], "pendingWorkloads": count},
    }  # fmt: skip
    queues = [
        {
            "apiVersion": waiting["apiVersion"], "kind": "LocalQueue",
            "metadata": {"name": "lq", "namespace": f"crowd-{n}"}, "spec": {"clusterQueue": queue},
            "status": {"pendingWorkloads": count // namespaces},
        }
        for n in range(namespaces)
    ]  # fmt: skip
    workloads = [
        {
            **waiting,
            "metadata": {"name": f"job-c-{n:05}", "namespace": f"crowd-{n % namespaces}", "uid": f"c{n}", "labels": {}},
            "spec": {**waiting["spec"], "queueName": "lq"},
        }
        for n in range(count)
    ]
    return RecordedApi([*base, crowded, *queues, *workloads])


async def test_a_big_cluster_is_never_listed() -> None:
    server = crowd(3000, 10)
    snapshot = await ask(server)
    lists = [request for request in server.log if request.path.endswith("/v1beta2/workloads")]
    assert [request.query for request in lists if "fieldSelector" not in request.query] == []
    assert len(snapshot.objects["Workload"]) < 100
    assert snapshot.covers("Workload", selector=s.holders("gpu-cq"))
    assert snapshot.covers("Workload", selector=s.waiting("gpu-cq"))
    found = answer(snapshot)
    assert found.headline.rule == "quota-in-use"
    assert "6 of 8" in found.headline.sentence


async def test_without_the_field_selector_the_queue_s_namespaces_are_read() -> None:
    server = crowd(3000, 10, kueue="v0.17.0")
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        snapshot = await reader.read(TRAIN)
        assert snapshot.covers("Workload", selector=s.holders("gpu-cq"))
        assert answer(snapshot).headline.rule == "quota-in-use"
        server.log.clear()
        await asyncio.sleep(0.05)
        await reader.read(TRAIN)
    assert not any("clusterQueue" in request.query for request in server.log), "a refused selector is not tried again"


async def test_a_queue_fed_from_many_namespaces_is_cut_and_says_so() -> None:
    server = crowd(3000, 10, kueue="v0.17.0", queue="gpu-cq")
    snapshot = await ask(server)
    assert len(server.log) <= REQUESTS + 4
    assert not snapshot.covers("Workload", selector=s.waiting("gpu-cq"))
    assert not snapshot.covers("Workload", selector=s.holders("gpu-cq"))


async def test_in_a_crowded_namespace_the_job_is_found_by_its_label() -> None:
    base = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"]
    waiting = next(item for item in base if item["kind"] == "Workload" and "train" in item["metadata"]["name"])
    event = {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Job", "name": "x", "uid": "x"}}
    crowded = [
        {**waiting, "metadata": {"name": f"a-{n:05}", "namespace": "team-a", "uid": f"c{n}", "labels": {}}}
        for n in range(2500)
    ]
    events = [{**event, "metadata": {"name": f"a-{n:05}", "namespace": "team-a"}} for n in range(2500)]
    cluster = [
        {**item, "status": {**item["status"], "pendingWorkloads": 2500}}
        if item["kind"] in {"ClusterQueue", "LocalQueue"}
        else item
        for item in base
    ]
    server = RecordedApi([*cluster, *crowded, *events])
    snapshot = await ask(server)
    assert any("only those of the job were read" in reason for reason in reasons(snapshot, "Workload"))
    assert len(snapshot.objects["Workload"]) == 2
    assert snapshot.look("Workload", waiting["metadata"]["name"], "team-a") is not None
    assert not any("involvedObject" in request.query for request in server.log), "it waits: its conditions tell as much"
    assert answer(snapshot).headline.rule == "quota-in-use"
    assert len(server.log) <= REQUESTS


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("kind", ["Job", "RayJob"])
async def test_in_a_crowded_namespace_a_bare_name_finds_its_job_among_thousands(kind: str, warm: bool) -> None:  # noqa: FBT001
    base = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"]
    job = next(item for item in base if item["kind"] == "Job" and item["metadata"]["name"] == "train")
    cluster = [
        {**item, "status": {**item["status"], "pendingWorkloads": 2500}} if item["kind"] == "LocalQueue" else item
        for item in base
    ]
    if kind == "RayJob":
        cluster = [item for item in cluster if item is not job]
        ray = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": job["metadata"], "spec": {"suspend": True}}
        owner = {"apiVersion": "ray.io/v1", "kind": "RayJob"}
        cluster = [ray, *(_owned_by(item, owner) if item["kind"] == "Workload" else item for item in cluster)]
    others = [{**job, "metadata": {**job["metadata"], "name": f"a-{n:05}", "uid": f"j{n}"}} for n in range(2500)]
    server = RecordedApi([*cluster, *others])
    async with server.serve() as url, Client(Cluster(url=url), shared_seconds=0) as client:
        reader = Reader.of(client)
        if warm:
            await reader.read(JobRef("team-b", "other"))
            server.log.clear()
        found = answer(await reader.read(TRAIN))
    assert found.headline.rule == "quota-in-use"
    assert found.job is not None
    assert found.job.kind == kind
    assert sum(request.path.endswith("/jobs") for request in server.log) == 1, "its first page alone"


def _owned_by(item: dict[str, Any], owner: dict[str, Any]) -> dict[str, Any]:
    owners = [{**known, **owner} for known in item["metadata"]["ownerReferences"]]
    return {**item, "metadata": {**item["metadata"], "ownerReferences": owners}}


async def test_in_a_crowded_namespace_pods_keep_their_story() -> None:
    cluster = recorded("v0.19.2/image-pull")
    event = {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Job", "name": "x", "uid": "x"}}
    events = [{**event, "metadata": {"name": f"a-{n:05}", "namespace": "team-a"}} for n in range(1600)]
    snapshot = await ask(RecordedApi([*cluster.items, *events]))
    pod = snapshot.look("Pod", cluster.named("Pod", "train-"), "team-a")
    assert pod is not None
    assert snapshot.covers("Event", "team-a", selector=s.about(pod.metadata.uid))
    assert answer(snapshot).headline.rule == "image-not-pulled"


async def test_a_long_line_is_asked_for_but_not_waited_for() -> None:
    server = crowd(3000, 10, queue="gpu-cq")
    server.faults = [Fault("pendingworkloads", delay=30)]
    began = time.monotonic()
    snapshot = await ask(server, deadline=25)
    assert time.monotonic() - began < 20
    assert [gap.reason for gap in snapshot.gaps if gap.kind == "visibility API"] == [
        "given up, it took too long beside everything else"
    ]


async def test_the_row_budget_is_a_setting() -> None:
    server = crowd(900, 1)
    async with server.serve() as url, Client(Cluster(url=url)) as client:
        snapshot = await Reader.of(client, rows=100).read(JobRef("crowd-0", "nothing"))
    assert "row budget of 100 reached" in reasons(snapshot, "Workload")


# --- permissions ---


def test_every_kind_that_a_rule_needs_may_be_read() -> None:
    for rule in RULES:
        assert set(rule.needs) <= KINDS_READ, rule.slug


def test_permissions_only_read_and_touch_no_secrets() -> None:
    for permission in PERMISSIONS:
        assert set(permission.verbs) <= {"get", "list"}
        assert permission.resource not in {"secrets", "pods/log", "pods/exec"}
        assert permission.why
        if permission.resource == "configmaps":
            assert (permission.place, permission.verbs, permission.names) == (
                "kueue",
                ("get",),
                ("kueue-manager-config",),
            )


async def test_only_what_is_permitted_is_asked_for() -> None:
    """What a question asks for stands in PERMISSIONS: group, resource, verb, and in which namespace."""
    for name in ("quota-in-use", "image-pull", "job-not-found", "check-pending", "topology-no-fit", "pvc-unbound"):
        server = RecordedApi.load(RECORDINGS / "v0.19.2" / f"{name}.json")
        await ask(server, JobRef("team-a", "trian" if name == "job-not-found" else "train"))
        for request in server.log:
            assert _permitted(request.path), request.path


def _permitted(path: str) -> bool:
    parts = path.strip("/").split("/")
    if path in {"/version", "/apis"}:
        return True
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource = f"{rest[0]}/{rest[2]}" if len(rest) > 2 else rest[0]
    verb = "get" if len(rest) > 1 else "list"
    return any(
        (p.group, p.resource) == (group, resource)
        and verb in p.verbs
        and (p.place == "cluster" or namespace == "kueue-system")
        and (not p.names or rest[1] in p.names)
        for p in PERMISSIONS
    )


def test_scopes_are_what_the_snapshot_understands() -> None:
    snapshot = replace(recorded("v0.19.2/quota-in-use").snapshot(), covered=frozenset({Scope("Node")}))
    assert snapshot.covers("Node", name="n1")
    assert not snapshot.covers("Pod", "team-a")
