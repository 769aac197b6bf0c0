"""The connection: pages, selectors, statuses, retries, shared reads, broken bodies; and the server that plays them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core import objects as o
from bot.demo.apiserver import Fault, RecordedApi
from bot.kube.client import Client, Cluster, Listing, ReadError, decode_page, object_path
from bot.kube.discovery import Discovery
from tests.clusters import RECORDINGS

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
KUEUE = "kueue.x-k8s.io/v1beta2"


def workload(number: int, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": KUEUE, "kind": "Workload",
        "metadata": {"name": f"job-w{number:05}", "namespace": "team-a", "uid": f"u{number}", "labels": labels},
        "spec": {"queueName": "train-queue"},
        "status": {"admission": {"clusterQueue": "cq-even" if number % 2 == 0 else "cq-odd"}},
    }  # fmt: skip


def recording(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "whypending/v1", "kind": "Recording", "kueueVersion": "v0.19.2",
        "observedAt": "2026-11-30T14:52:10Z", "read": ["kueue.x-k8s.io/v1beta2/workloads", "v1/pods", "v1/nodes"], **fields,
    }  # fmt: skip


def api(count: int = 0, **settings: Any) -> RecordedApi:
    return RecordedApi([recording(), *(workload(number) for number in range(count))], **settings)


def client(url: str, **settings: Any) -> Client:
    return Client(Cluster(url=url), **settings)


async def test_a_list_comes_in_pages_of_five_hundred() -> None:
    server = api(1201)
    async with server.serve() as url, client(url) as kube:
        listing = await kube.list(WORKLOADS, "Workload", KUEUE)
    assert len(listing.objects) == 1201
    assert listing.reason == ""
    assert [request.query.split("limit=")[1].split("&")[0] for request in server.log] == ["500", "500", "500"]
    first = listing.objects[0]
    assert isinstance(first, o.Workload)
    assert (first.kind, first.api_version, first.spec.queue_name) == ("Workload", KUEUE, "train-queue")


async def test_items_of_a_built_in_kind_get_their_kind_back() -> None:
    server = RecordedApi(
        [recording(), {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "a"}}]
    )
    async with server.serve() as url, client(url) as kube:
        raw = json.loads((await kube.body("/api/v1/pods")).body)
        listing = await kube.list("/api/v1/pods", "Pod", "v1")
    assert "kind" not in raw["items"][0]
    assert [(item.kind, item.api_version) for item in listing.objects] == [("Pod", "v1")]


async def test_a_list_beyond_the_budget_is_cut_after_its_first_page() -> None:
    server = api(1201)
    async with server.serve() as url, client(url) as kube:
        listing = await kube.list(WORKLOADS, "Workload", KUEUE, rows=1000)
    assert len(listing.objects) == 500
    assert listing.reason == "row budget of 1,000 reached"
    assert len(server.log) == 1


async def test_an_expired_token_starts_the_list_over_once() -> None:
    server = api(1200)
    server.faults = [Fault("workloads", query="continue", status=410, times=1)]
    async with server.serve() as url, client(url) as kube:
        listing = await kube.list(WORKLOADS, "Workload", KUEUE)
    names = [item.name for item in listing.objects]
    assert len(names) == len(set(names)) == 1200
    assert listing.reason == ""
    assert len(server.log) == 5


async def test_a_token_that_expires_twice_leaves_a_reason() -> None:
    server = api(1200)
    server.faults = [Fault("workloads", query="continue", status=410)]
    async with server.serve() as url, client(url) as kube:
        listing = await kube.list(WORKLOADS, "Workload", KUEUE)
    assert listing.reason == "the list expired while it was read (410)"
    assert len(listing.objects) == 500


async def test_the_server_lets_tokens_expire_for_real() -> None:
    server = api(600)
    async with server.serve() as url, client(url) as kube:
        page = json.loads((await kube.body(WORKLOADS, (("limit", "500"),))).body)
        assert page["metadata"]["remainingItemCount"] == 100
        server.compact()
        with pytest.raises(ReadError) as caught:
            await kube.body(WORKLOADS, (("limit", "500"), ("continue", page["metadata"]["continue"])))
    assert caught.value.status == 410


async def test_selectors() -> None:
    server = RecordedApi([
        recording(), workload(1, team="x"), workload(2, team="y"), workload(3), workload(4, team="x", gpu="a100"),
    ])  # fmt: skip

    async def names(kube: Client, **query: str) -> list[str]:
        asked = tuple(query.items())
        return [item.name[-1] for item in (await kube.list(WORKLOADS, "Workload", KUEUE, asked)).objects]

    async with server.serve() as url, client(url) as kube:
        assert await names(kube, labelSelector="team=x") == ["1", "4"]
        assert await names(kube, labelSelector="team==x,gpu") == ["4"]
        assert await names(kube, labelSelector="team!=x") == ["2", "3"]
        assert await names(kube, labelSelector="team in (x, y),!gpu") == ["1", "2"]
        assert await names(kube, labelSelector="team notin (x)") == ["2", "3"]
        assert await names(kube, fieldSelector="status.admission.clusterQueue=cq-even") == ["2", "4"]
        assert await names(kube, fieldSelector="metadata.name!=job-w00001,metadata.namespace=team-a") == ["2", "3", "4"]
        server.kueue = "v0.17.0"
        with pytest.raises(ReadError) as caught:
            await names(kube, fieldSelector="status.admission.clusterQueue=cq-even")
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("nodes", status=403), "forbidden for this identity"),
        (Fault("nodes", status=404), "not found (404)"),
        (Fault("nodes", status=429), "the API server is overloaded (429)"),
        (Fault("nodes", status=500), "the API server answers 500"),
        (Fault("nodes", status=401), "the API server does not accept this identity (401)"),
        (Fault("nodes", reset=True), "the connection was cut"),
        (Fault("nodes", cut=True), "the connection was cut"),
        (Fault("nodes", hang=True), "timed out after 1 s"),
    ],
)
async def test_what_goes_wrong_has_a_name(fault: Fault, reason: str) -> None:
    server = api()
    server.faults = [fault]
    async with server.serve() as url, client(url, timeout=1 if fault.hang else 8) as kube:
        await kube.body("/version")
        with pytest.raises(ReadError) as caught:
            await kube.list("/api/v1/nodes", "Node", "v1")
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "fault",
    [
        Fault("nodes", status=429, retry_after=0, times=1),
        Fault("nodes", status=503, times=2),
        Fault("nodes", reset=True, times=1),
        Fault("nodes", cut=True, times=1),
    ],
)
async def test_what_passes_is_tried_again(fault: Fault) -> None:
    server = api()
    server.faults = [fault]
    async with server.serve() as url, client(url) as kube:
        assert await kube.list("/api/v1/nodes", "Node", "v1") == Listing(())
    assert fault.times == 0


async def test_a_refusal_is_not_tried_again_and_a_long_wait_neither() -> None:
    server = api()
    server.faults = [Fault("nodes", status=403), Fault("pods", status=429, retry_after=60)]
    async with server.serve() as url, client(url) as kube:
        for path in ("/api/v1/nodes", "/api/v1/pods"):
            with pytest.raises(ReadError):
                await kube.body(path)
    assert len(server.log) == 2


async def test_nobody_listens() -> None:
    async with client("http://127.0.0.1:9", timeout=2) as kube:
        with pytest.raises(ReadError) as caught:
            await kube.body("/version")
    assert caught.value.reason.startswith("the API server cannot be reached: ")


async def test_equal_reads_are_shared_for_a_while_and_failures_are_not() -> None:
    server = api(3, latency=0.05)
    async with server.serve() as url, client(url) as kube:
        asked = [kube.shared_list(WORKLOADS, "Workload", KUEUE, (), 5000) for _ in range(5)]
        assert len({len(listing.objects) for listing in await asyncio.gather(*asked)}) == 1
        assert len(server.log) == 1
        server.faults = [Fault("nodes", status=403, times=1)]
        with pytest.raises(ReadError):
            await kube.shared_list("/api/v1/nodes", "Node", "v1", (), 5000)
        assert await kube.shared_list("/api/v1/nodes", "Node", "v1", (), 5000) == Listing(())


async def test_who_gives_up_does_not_end_the_read_of_others() -> None:
    server = api(3, latency=0.2)
    async with server.serve() as url, client(url) as kube:
        patient = asyncio.ensure_future(kube.shared_list(WORKLOADS, "Workload", KUEUE, (), 5000))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await kube.shared_list(WORKLOADS, "Workload", KUEUE, (), 5000)
        assert len((await patient).objects) == 3
    assert len(server.log) == 1


async def test_a_token_is_sent_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    server = api(token="right")
    async with server.serve() as url:
        async with Client(Cluster(url=url, token="right")) as kube:
            assert (await kube.body("/version")).body
        async with Client(Cluster(url=url, token="wrong")) as kube:
            with pytest.raises(ReadError) as caught:
                await kube.body("/version")
    assert caught.value.reason == "the API server does not accept this identity (401)"
    assert "wrong" not in repr(Cluster(token="wrong"))
    del tmp_path


def kubeconfig(path: Path, url: str, user: dict[str, Any]) -> str:
    path.write_text(
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "one",
            "clusters": [{"name": "c", "cluster": {"server": url}}, {"name": "d", "cluster": {"server": "http://127.0.0.1:9"}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [
                {"name": "one", "context": {"cluster": "c", "user": "u"}},
                {"name": "two", "context": {"cluster": "d", "user": "u"}},
            ],
        })
    )  # fmt: skip
    return str(path)


async def test_a_rotated_token_is_read_again(tmp_path: Path) -> None:
    server = api(token="first")
    token = tmp_path / "token"
    token.write_text("first")
    async with server.serve() as url:
        config = kubeconfig(tmp_path / "config", url, {"tokenFile": str(token)})
        async with Client(Cluster(kubeconfig=config)) as kube:
            assert (await kube.body("/version")).body
            server.token = "second"
            token.write_text("second")
            assert (await kube.body("/version")).body


async def test_exec_plugins_and_contexts(tmp_path: Path) -> None:
    server = api(token="from-plugin")
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "import json; print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential',"
        " 'status': {'token': 'from-plugin'}}))"
    )
    run = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": [str(plugin)],
           "interactiveMode": "Never"}  # fmt: skip
    async with server.serve() as url:
        config = kubeconfig(tmp_path / "config", url, {"exec": run})
        async with Client(Cluster(kubeconfig=config)) as kube:
            assert (await kube.body("/version")).body
        async with Client(Cluster(kubeconfig=config, context="two"), timeout=2) as kube:
            with pytest.raises(ReadError) as caught:
                await kube.body("/version")
    assert caught.value.status == 0


async def test_a_missing_file_and_a_missing_context_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = kubeconfig(tmp_path / "config", "http://127.0.0.1:9", {"token": "t"})
    async with Client(Cluster(kubeconfig=str(tmp_path / "absent"))) as kube:
        with pytest.raises(ReadError, match=r"there is no kubeconfig at .*absent"):
            await kube.body("/version")
    assert not [record for record in caplog.records if record.name.startswith("kubernetes")], "one sentence is enough"
    async with Client(Cluster(kubeconfig=config, context="nowhere")) as kube:
        with pytest.raises(ReadError) as caught:
            await kube.body("/version")
    assert caught.value.reason.startswith("no usable configuration: ")
    assert "nowhere" in caught.value.reason


async def test_the_user_agent_says_who_asks() -> None:
    server = api()
    async with server.serve() as url, client(url) as kube:
        await kube.body("/version")
        assert kube._api.user_agent.startswith("whypending/")


async def test_the_server_s_clock_decides() -> None:
    server = api()
    async with server.serve() as url, client(url) as kube:
        await kube.body("/version")
        now = kube.now()
    assert (now.year, now.hour, now.minute) == (2026, 14, 52)


def test_a_page_may_be_null_and_an_odd_object_costs_only_itself() -> None:
    assert decode_page(b'{"metadata":{},"items":null}', "Workload", KUEUE).objects == ()
    assert decode_page(b"{}", "Workload", KUEUE).objects == ()
    body = (
        b'{"items":[{"metadata":{"name":"good"}},{"metadata":{"name":"odd"},"spec":{"queueName":7,"podSets":null}},4]}'
    )
    page = decode_page(body, "Workload", KUEUE)
    assert [item.name for item in page.objects] == ["good", "odd"]
    assert page.odd["", "odd"][0] == "spec.queueName"
    assert len(page.broken) == 1
    for wrong in (b"<html>", b'"text"', b""):
        with pytest.raises(ReadError):
            decode_page(wrong, "Workload", KUEUE)


def test_no_name_leaves_its_place_in_the_path() -> None:
    assert object_path("", "v1", "pods", "team-a", "train-x.y") == "/api/v1/namespaces/team-a/pods/train-x.y"
    for wrong in ("..", "a/b", "a?b", "ä", "A b", "."):
        with pytest.raises(ValueError, match="not a name"):
            object_path("", "v1", "pods", "team-a", wrong)


@pytest.mark.parametrize("aggregated", [True, False])
@pytest.mark.parametrize(("version", "expected"), [("v0.19.2", "v1beta2"), ("v0.10.6", "v1beta1")])
async def test_discovery_prefers_the_newest_served_version(aggregated: bool, version: str, expected: str) -> None:  # noqa: FBT001
    server = RecordedApi.load(RECORDINGS / version / "hierarchical-cohort.json", aggregated=aggregated)
    async with server.serve() as url, client(url) as kube:
        served = await Discovery(kube).get()
    assert served.versions["Workload"] == expected
    assert served.versions["Cohort"] == ("v1beta2" if expected == "v1beta2" else "v1alpha1")
    assert served.versions["JobSet"] == "v1alpha2"
    assert served.has("Pod")
    assert not served.has("NodePool")


async def test_discovery_is_kept_shared_and_forgotten() -> None:
    server = RecordedApi.load(RECORDINGS / "v0.19.2" / "quota-in-use.json", latency=0.02)
    async with server.serve() as url, client(url) as kube:
        discovery = Discovery(kube)
        first, second = await asyncio.gather(discovery.get(), discovery.get())
        assert first is second
        assert len(server.log) == 1
        discovery.forget(first)
        assert await discovery.get() is not first
        server.faults = [Fault("/apis", status=403)]
        discovery.forget(await discovery.get())
        refused = await discovery.get()
    assert refused.kinds is None
    assert refused.reason == "forbidden for this identity"
    assert refused.has("Workload")


def test_the_official_client_is_imported_on_first_use_alone() -> None:
    program = "import sys, bot.core.engine, bot.service; print('kubernetes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
