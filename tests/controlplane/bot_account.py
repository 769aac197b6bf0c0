"""The bot's own identity on a running cluster: its ServiceAccount with what the shipped manifests grant, or less."""

import asyncio
import copy
import ssl
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import yaml

from bot.core.reference import JobRef
from bot.kube.client import Client, Cluster
from bot.kube.reader import Reader
from tests.controlplane.faults import Proxy
from tests.controlplane.plane import ApiError, ControlPlane
from tests.controlplane.scenario import Body

MANIFESTS = Path(__file__).parents[2] / "manifests" / "base"
NAMESPACE = NAME = "whypending"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def granted() -> tuple[list[Body], list[Body]]:
    """The rules of the shipped ClusterRole, and those of the Role in Kueue's namespace."""
    cluster = yaml.safe_load((MANIFESTS / "clusterrole.yaml").read_text())["rules"]
    kueue = yaml.safe_load((MANIFESTS / "role-kueue.yaml").read_text())["rules"]
    return cluster, kueue


def install(plane: ControlPlane) -> Path:
    """Apply the shipped ServiceAccount, roles and bindings; give a kubeconfig with a token of the ServiceAccount."""
    plane.apply("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
    plane.apply(
        accounts,
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}},
    )
    for file, place in (
        ("clusterrole.yaml", f"{_RBAC}/clusterroles"),
        ("clusterrolebinding.yaml", f"{_RBAC}/clusterrolebindings"),
        ("role-kueue.yaml", f"{_RBAC}/namespaces/kueue-system/roles"),
        ("rolebinding-kueue.yaml", f"{_RBAC}/namespaces/kueue-system/rolebindings"),
    ):
        plane.apply(place, yaml.safe_load((MANIFESTS / file).read_text()))
    kubeconfig = plane.kubeconfig(NAME, plane.service_account_token(NAMESPACE, NAME))

    def works() -> bool:
        # the authorizer learns of a new binding a moment later
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": f"system:serviceaccount:{NAMESPACE}:{NAME}",
                "resourceAttributes": {"verb": "list", "group": "kueue.x-k8s.io", "resource": "workloads"},
            },
        }
        answer = plane.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
        return bool(answer["status"]["allowed"])

    plane.wait(works, "permission of the bot's ServiceAccount", 30)
    return kubeconfig


def grant(plane: ControlPlane, cluster: list[Body], kueue: list[Body]) -> None:
    """Replace the rules of both roles."""
    for path, rules in (
        (f"{_RBAC}/clusterroles/{NAME}", cluster),
        (f"{_RBAC}/namespaces/kueue-system/roles/{NAME}", kueue),
    ):
        plane.call("PATCH", path, {"rules": copy.deepcopy(rules)})


@dataclass(frozen=True)
class Act:
    """Something that the bot's ServiceAccount might do. `resource` may be "pods/log"."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def review(self) -> Body:
        """The SubjectAccessReview that asks whether it may."""
        kind, _, part = self.resource.partition("/")
        attributes = {
            "verb": self.verb, "group": self.group, "resource": kind, "subresource": part, "namespace": self.namespace,
            "name": self.name,
        }  # fmt: skip
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": f"system:serviceaccount:{NAMESPACE}:{NAME}",
                "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated"],
                "resourceAttributes": {key: value for key, value in attributes.items() if value},
            },
        }


_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


def may(plane: ControlPlane, verb: str, group: str, resource: str, *, namespace: str = "", name: str = "") -> bool:
    """Ask the API server whether the bot's ServiceAccount may do this. `resource` may be "pods/log"."""
    try:
        answer = plane.call("POST", _REVIEWS, Act(verb, group, resource, namespace, name).review())
    except ApiError as error:
        raise RuntimeError(str(error)) from error
    return bool(answer["status"]["allowed"])


def allowed(plane: ControlPlane, acts: Collection[Act]) -> set[Act]:
    """Ask the API server about thousands of acts at once; give those that are allowed."""

    async def ask() -> set[Act]:
        trusted = ssl.create_default_context(cafile=str(plane.dir / "ca.crt"))
        waiting, found = iter(acts), set[Act]()

        async def work(session: aiohttp.ClientSession, waiting: Iterable[Act]) -> None:
            for act in waiting:
                async with session.post(plane.url + _REVIEWS, json=act.review()) as answer:
                    answer.raise_for_status()
                    if (await answer.json())["status"]["allowed"]:
                        found.add(act)

        headers = {"Authorization": "Bearer token-admin"}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusted), headers=headers) as session:
            await asyncio.gather(*(work(session, waiting) for _ in range(8)))
        return found

    return asyncio.run(ask())


def reads(plane: ControlPlane, ask: str) -> set[tuple[str, str, str]]:
    """Ask a question under the shipped identity; give (namespace, API group, resource) of everything that is read for it."""
    namespace, _, name = ask.partition("/")
    proxy = Proxy(plane)

    async def log() -> list[str]:
        async with proxy.serve():
            path = proxy.kubeconfig(NAME, plane.service_account_token(NAMESPACE, NAME))
            async with Client(Cluster(kubeconfig=path), shared_seconds=0) as client:
                await Reader.of(client).read(JobRef(namespace, name), 30)
        return [request.path for request in proxy.log]

    found = set()
    for path in asyncio.run(log()):
        parts = path.strip("/").split("/")
        group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1] if len(parts) > 1 else "", parts[3:])
        where = ""
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            where, rest = rest[1], rest[2:]
        if rest:
            found.add((where, group, "/".join(rest[::2])))
    return found
