"""The doctor says in words what is missing."""

from pathlib import Path
from typing import Any

import pytest

from bot.demo.apiserver import Fault, RecordedApi
from bot.kube.client import Client, Cluster
from bot.kube.doctor import Check, examine
from bot.kube.permissions import PERMISSIONS
from bot.kube.reader import Reader
from bot.service import doctor_once
from tests.clusters import RECORDINGS


def server(**settings: Any) -> RecordedApi:
    api = RecordedApi.load(RECORDINGS / "v0.19.2" / "quota-in-use.json", **settings)
    api.review = lambda _: True
    return api


async def checks(api: RecordedApi, **settings: Any) -> dict[str, Check]:
    async with api.serve() as url, Client(Cluster(url=url, **settings), timeout=20) as client:
        return {check.name: check for check in await examine(Reader.of(client))}


async def test_everything_is_there() -> None:
    api = server()
    api.put({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"},
        "spec": {"template": {"spec": {"containers": [{"image": "registry.k8s.io/kueue/kueue:v0.19.2"}]}}},
    })  # fmt: skip
    found = await checks(api)
    assert all(check.ok for check in found.values())
    assert found["cluster"].sentence == "The API server answers: Kubernetes v1.36.2."
    assert found["kueue"].sentence == "Kueue's kinds are served in v1beta2."
    assert found["kueue controller"].sentence == "Kueue v0.19.2 is deployed in kueue-system."
    assert "PyTorchJob" in found["job kinds"].sentence


async def test_each_missing_permission_is_named_with_what_it_costs() -> None:
    api = server()
    api.review = lambda asked: asked["resource"] not in {"nodes", "leases"}
    found = await checks(api)
    assert found["permission nodes"] == Check(
        "permission nodes",
        ok=False,
        sentence="get and list nodes: forbidden for this identity. Without it answers cannot say which nodes could take a "
        "pod, and what keeps the others out.",
        remedy="Grant get and list on nodes in the ClusterRole.",
    )
    lease = found["permission leases.coordination.k8s.io in kueue-system"]
    assert lease.ok is None
    assert lease.remedy == "Grant get and list on leases.coordination.k8s.io in the Role in kueue-system."
    assert "permissions" not in found


async def test_reviews_ask_for_exactly_the_permissions() -> None:
    api = server()
    asked = set()

    def review(attributes: dict[str, Any]) -> bool:
        resource = attributes["resource"] + (f"/{attributes['subresource']}" if "subresource" in attributes else "")
        asked.add(
            (
                attributes["group"],
                resource,
                attributes["verb"],
                attributes.get("namespace", ""),
                attributes.get("name", ""),
            )
        )
        return True

    api.review = review
    await checks(api)
    expected = {
        (p.group, p.resource, verb, "kueue-system" if p.place == "kueue" else "", p.names[0] if p.names else "")
        for p in PERMISSIONS
        for verb in p.verbs
    }
    assert asked <= expected
    assert {("", "configmaps", "get", "kueue-system", "kueue-manager-config"), ("", "nodes", "list", "", "")} <= asked


async def test_reviews_that_are_refused_are_said() -> None:
    api = server()
    api.faults = [Fault("accessreviews", status=403)]
    found = await checks(api)
    assert found["permissions"].ok is None
    assert found["permissions"].sentence.endswith("could not be examined: forbidden for this identity.")


async def test_a_review_that_fails_once_is_asked_again() -> None:
    api = server()
    api.faults = [Fault("accessreviews", status=503, times=1)]
    assert (await checks(api))["permissions"].sentence.startswith("All ")


async def test_kueue_is_not_installed() -> None:
    api = server()
    for version in ("v1beta2", "v1beta1"):
        api.switch_off("kueue.x-k8s.io", version)
    found = await checks(api)
    assert found["kueue"].ok is False
    assert "Kueue is not installed" in found["kueue"].sentence


async def test_kueue_s_namespace_may_be_unreadable() -> None:
    api = server()
    api.faults = [Fault("kueue-system/deployments", status=403)]
    found = await checks(api)
    assert found["kueue controller"].ok is None
    assert found["kueue controller"].sentence.endswith("deployments in kueue-system: forbidden for this identity.")


async def test_a_wrong_identity() -> None:
    found = await checks(server(token="right"), token="wrong")
    assert list(found) == ["cluster"]
    assert found["cluster"].ok is False
    assert "does not accept this identity" in found["cluster"].sentence


async def test_no_answer() -> None:
    async with Client(Cluster(name="prod", url="http://127.0.0.1:9"), timeout=3) as client:
        found = await examine(Reader.of(client))
    assert [check.name for check in found] == ["cluster prod"]
    assert found[0].sentence.startswith("The API server cannot be reached: ")


async def test_something_else_answers() -> None:
    api = server()
    api.faults = [Fault("/version", cut=False, status=0)]
    api.kubernetes = ""
    found = await checks(api)
    assert found["cluster"].sentence == "The API server answers: Kubernetes of unknown version."


async def test_slack_is_asked_where_it_is_given() -> None:
    async def slack() -> list[Check]:
        return [Check("slack", ok=True, sentence="auth.test: whypending in Example.")]

    api = server()
    async with api.serve() as url, Client(Cluster(url=url), timeout=20) as client:
        found = await examine(Reader.of(client), slack)
    assert found[-1].name == "slack"


@pytest.mark.parametrize("permission", PERMISSIONS, ids=lambda p: f"{p.group}/{p.resource}@{p.place}")
def test_every_permission_says_why(permission: Any) -> None:
    assert permission.why[0].islower() or permission.why.startswith("Kueue")
    assert not permission.why.endswith(".")


@pytest.mark.parametrize(("folder", "mark", "said"), [(".", "ok", "can be made"), ("no/such", "partly", "not kept")])
def test_the_store_is_examined(tmp_path: Path, folder: str, mark: str, said: str) -> None:
    (tmp_path / "config.yaml").write_text(f"store_path: {tmp_path / folder / 'store.sqlite3'}\n")
    _, lines = doctor_once(config=tmp_path / "config.yaml")
    assert any(line.startswith(mark) and "store:" in line and said in line for line in lines)
    assert not (tmp_path / "store.sqlite3").exists()
