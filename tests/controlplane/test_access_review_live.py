"""Access reviews against a real API server: with the shipped component, the bot is told what people may read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.diagnosis import Level
from bot.kube.client import Client, Cluster, ReadError
from bot.kube.review import PATH, Reviewer
from tests.controlplane import bot_account
from tests.controlplane.plane import ControlPlane

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


COMPONENT = Path(__file__).parents[2] / "manifests" / "overlays" / "access-review"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ANN = "ann@example.com"


@pytest.fixture
def granted(plane: ControlPlane) -> Iterator[list[str]]:
    """The paths of what a test grants: it goes again when the test ends."""
    paths: list[str] = []
    yield paths
    for path in paths:
        plane.call("DELETE", path)


def grant(plane: ControlPlane, granted: list[str], collection: str, obj: dict[str, Any]) -> None:
    """Make a role or a binding for the time of the test."""
    plane.apply(collection, obj)
    granted.append(f"{collection}/{obj['metadata']['name']}")


def allow(
    plane: ControlPlane,
    granted: list[str],
    name: str,
    *rules: tuple[str, str, str],
    namespace: str = "",
    group: bool = False,
) -> None:
    """Let Ann, or everybody who is authenticated, do these: (verb, API group, resource)."""
    place, kind = (f"{RBAC}/namespaces/{namespace}/", "Role") if namespace else (f"{RBAC}/", "ClusterRole")
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    subject = {"kind": "Group" if group else "User", "name": "system:authenticated" if group else ANN}
    grant(
        plane, granted, f"{place}{kind.lower()}s",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
            "rules": [{"apiGroups": [api], "resources": [what], "verbs": [verb]} for verb, api, what in rules],
        },
    )  # fmt: skip
    grant(
        plane, granted, f"{place}{kind.lower()}bindings",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": f"{kind}Binding", "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [{**subject, "apiGroup": "rbac.authorization.k8s.io"}],
        },
    )  # fmt: skip


def known(plane: ControlPlane, user: str, verb: str, group: str, resource: str, *, namespace: str = "") -> None:
    """Wait until the authorizer has learnt of a new binding."""
    attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
    body = {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
    }  # fmt: skip
    plane.wait(lambda: bool(plane.call("POST", PATH, body)["status"]["allowed"]), f"{verb} {resource} for {user}", 30)


async def test_the_level_follows_what_rbac_grants(plane: ControlPlane, granted: list[str]) -> None:
    kubeconfig = bot_account.install(plane)
    cluster = Cluster(kubeconfig=str(kubeconfig))

    async def level(namespace: str = "team-a", user: str = ANN) -> Level | None:
        async with Client(cluster) as client:
            return await Reviewer(client).level(user, namespace)

    with pytest.raises(ReadError, match="forbidden"):
        await level()
    async with Client(cluster) as client:
        assert (await Reviewer(client).examine()).ok is False
    for file, place in (("clusterrole.yaml", "clusterroles"), ("clusterrolebinding.yaml", "clusterrolebindings")):
        grant(plane, granted, f"{RBAC}/{place}", yaml.safe_load((COMPONENT / file).read_text()))
    account = f"system:serviceaccount:{bot_account.NAMESPACE}:{bot_account.NAME}"
    known(plane, account, "create", "authorization.k8s.io", "subjectaccessreviews")
    async with Client(cluster) as client:
        assert (await Reviewer(client).examine()).ok is True
    assert await level() is None

    kueue = "kueue.x-k8s.io"
    plane.apply("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    allow(plane, granted, "ann-own", ("get", kueue, "workloads"), namespace="team-a")
    known(plane, ANN, "get", kueue, "workloads", namespace="team-a")
    assert await level() == "namespace"
    assert await level("team-b") is None
    allow(plane, granted, "ann-queue", ("list", kueue, "workloads"), ("list", kueue, "clusterqueues"))
    known(plane, ANN, "list", kueue, "clusterqueues")
    assert await level() == "queue"
    assert await level("team-b") is None, "to list is not to get"
    allow(plane, granted, "ann-cohort", ("list", kueue, "cohorts"))
    known(plane, ANN, "list", kueue, "cohorts")
    assert await level() == "cohort"
    allow(plane, granted, "ann-all", ("list", "", "pods"))
    known(plane, ANN, "list", "", "pods")
    assert await level() == "all"

    assert await level(user="ben@example.com") is None
    allow(plane, granted, "everybody", ("get", kueue, "workloads"), namespace="team-a", group=True)
    known(plane, "ben@example.com", "get", kueue, "workloads", namespace="team-a")
    assert await level(user="ben@example.com") == "namespace", "what every authenticated person may"
