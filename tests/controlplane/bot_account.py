"""The bot's own identity on a running cluster: its ServiceAccount with what the shipped manifests grant, or less."""

import copy
from pathlib import Path

import yaml

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


def may(plane: ControlPlane, verb: str, group: str, resource: str, *, namespace: str = "", name: str = "") -> bool:
    """Ask the API server whether the bot's ServiceAccount may do this. `resource` may be "pods/log"."""
    kind, _, part = resource.partition("/")
    attributes = {
        "verb": verb,
        "group": group,
        "resource": kind,
        "subresource": part,
        "namespace": namespace,
        "name": name,
    }
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{NAMESPACE}:{NAME}",
            "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated"],
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        },
    }
    try:
        answer = plane.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
    except ApiError as error:
        raise RuntimeError(str(error)) from error
    return bool(answer["status"]["allowed"])
