"""The manifests on a real API server: every object is taken, and the doctor says what is missing in words."""

import asyncio
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot import __version__
from bot.kube.client import Client, Cluster
from bot.kube.doctor import Check, examine
from bot.kube.permissions import PERMISSIONS
from bot.kube.reader import Reader
from tests.controlplane.plane import ApiError, Authority, ControlPlane
from tests.controlplane.questions import command, identity
from tests.controlplane.scenario import Player

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


ROOT = Path(__file__).parents[2]
NAMESPACE = "whypending"
ROLES = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module", autouse=True)
def _others(plane: ControlPlane) -> Iterator[None]:
    """Nothing of other tests is in the cluster, and those that follow find a Kueue that sees all of its kinds."""
    plane.configure({}, "")
    Player(plane).clear()
    yield
    plane.resume("kueue")


def kubectl(plane: ControlPlane, *arguments: str, stdin: str | None = None) -> str:
    command = [str(plane.bin / "kubectl"), f"--kubeconfig={plane.kubeconfig()}", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stderr[-3000:]}"
    # what other tests have made without kubectl lacks its annotation
    warned = [line for line in done.stderr.splitlines() if "Warning" in line and "last-applied-config" not in line]
    assert warned == []
    return done.stdout


def kustomized(plane: ControlPlane, folder: Path) -> str:
    return kubectl(plane, "kustomize", str(folder), "--load-restrictor=LoadRestrictionsNone")


@pytest.fixture
def granted(plane: ControlPlane) -> ControlPlane:
    """A plane with the base applied, as an installation does it, but for its pods; it mends what a test broke."""
    documents = yaml.safe_load_all(kustomized(plane, ROOT / "manifests" / "base"))
    wanted = [document for document in documents if document["kind"] != "Deployment"]
    kubectl(plane, "apply", "-f", "-", stdin=yaml.safe_dump_all(wanted))
    return plane


@pytest.mark.parametrize(
    "components",
    [[], ["overlays/persistent-store"], ["overlays/access-review"], ["digest"], ["overlays/access-review", "digest"]],
)
def test_every_object_is_taken_by_the_server(plane: ControlPlane, tmp_path: Path, components: list[str]) -> None:
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": [_relative(tmp_path, "base")], "components": [_relative(tmp_path, name) for name in components],
    }  # fmt: skip
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(content))
    objects = kustomized(plane, tmp_path)
    # a dry run cannot put an object into a namespace that is not there
    kubectl(plane, "apply", "-f", str(ROOT / "manifests" / "base" / "namespace.yaml"))
    said = kubectl(plane, "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=objects)
    kinds = [document["kind"] for document in yaml.safe_load_all(objects)]
    images = set(re.findall(r"image: (whypending\S*)", objects))
    assert images == {f"whypending:{__version__}"}
    assert ("CronJob" in kinds) is ("digest" in components)
    assert len(said.splitlines()) == len(kinds)
    assert all("server dry run" in line for line in said.splitlines())


def _relative(start: Path, name: str) -> str:
    return "/".join([".."] * len(start.resolve().parts[1:])) + str(ROOT / "manifests" / name)


def examined(plane: ControlPlane, token: str | None = None) -> dict[str, Check]:
    """The doctor's checks with the identity of the installed bot, by name."""
    token = token or plane.service_account_token(NAMESPACE, "whypending")
    path = plane.kubeconfig("doctor", token)

    async def ask() -> list[Check]:
        async with Client(Cluster(kubeconfig=str(path))) as client:
            return await examine(Reader.of(client))

    return {check.name: check for check in asyncio.run(ask())}


def test_the_doctor_finds_nothing_missing(granted: ControlPlane) -> None:
    checks = examined(granted)
    assert {name: check.sentence for name, check in checks.items() if check.ok is False} == {}
    assert checks["permissions"].sentence.startswith("All ")
    assert "v1beta2" in checks["kueue"].sentence
    # Kueue runs beside this cluster, not in it
    assert checks["kueue controller"].ok is None


def test_several_replicas_with_postgresql_are_taken_by_the_server(plane: ControlPlane, tmp_path: Path) -> None:
    """What the README says of several replicas: the address of the database in the Secret, and no file."""
    container = {
        "name": "bot",
        "env": [
            {"name": "WHYPENDING_STORE_PATH", "$patch": "delete"},
            {"name": "WHYPENDING_STORE_URL_FILE", "value": "/var/run/secrets/slack/store-url"},
        ],
    }
    patch = {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "whypending", "namespace": NAMESPACE},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
    }  # fmt: skip
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": [_relative(tmp_path, "base")], "patches": [{"patch": yaml.safe_dump(patch)}],
    }  # fmt: skip
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(content))
    objects = kustomized(plane, tmp_path)
    assert "STORE_PATH" not in objects
    kubectl(plane, "apply", "-f", str(ROOT / "manifests" / "base" / "namespace.yaml"))
    said = kubectl(plane, "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=objects)
    assert "deployment.apps/whypending" in said


def test_the_command_says_by_its_status_whether_anything_is_missing(granted: ControlPlane) -> None:
    path = granted.kubeconfig("doctor", granted.service_account_token(NAMESPACE, "whypending"))
    with identity(path):
        status, text = command("doctor")
        assert status == 0, text
        role = f"{ROLES}/clusterroles/whypending"
        granted.call("PATCH", role, {"rules": []})
        granted.wait(lambda: command("doctor")[0] != 0, "an exit status that says so", 20)
        status, text = command("doctor")
    assert status == 3
    assert "permission workloads.kueue.x-k8s.io" in text
    assert "Grant get and list on workloads.kueue.x-k8s.io in the ClusterRole." in text


def test_without_any_permission_each_is_named_with_what_it_costs(granted: ControlPlane) -> None:
    for path in (f"{ROLES}/clusterroles/whypending", f"{ROLES}/namespaces/kueue-system/roles/whypending"):
        granted.call("PATCH", path, {"rules": []})
    granted.wait(lambda: "permission configmaps in kueue-system" in examined(granted), "all of them are gone", 20)
    checks = examined(granted)
    named = 0
    for known in PERMISSIONS:
        full = f"{known.resource}.{known.group}" if known.group else known.resource
        place = " in kueue-system" if known.place == "kueue" else ""
        check = checks.get(f"permission {full}{place}")
        if check is None:  # a kind that this server does not serve, such as Karpenter's
            assert known.group in {"karpenter.sh", "kubeflow.org"}, full
            continue
        named += 1
        assert check.ok is (None if known.optional else False), full
        assert known.why in check.sentence
        assert f"on {full} in the {'Role' if place else 'ClusterRole'}{place}" in check.remedy
    assert named > 50
    assert not [name for name in checks if name == "permissions"]


@pytest.mark.parametrize(
    ("group", "resource"), [("kueue.x-k8s.io", "workloads"), ("", "pods"), ("", "nodes"), ("", "events")]
)
def test_each_permission_that_lacks_is_named(granted: ControlPlane, group: str, resource: str) -> None:
    path = f"{ROLES}/clusterroles/whypending"
    role = granted.call("GET", path)
    rules = role["rules"]
    for rule in rules:
        if group in rule["apiGroups"]:
            rule["resources"] = [name for name in rule["resources"] if name != resource]
    granted.call("PATCH", path, {"rules": [rule for rule in rules if rule["resources"]]})
    full = f"{resource}.{group}" if group else resource
    granted.wait(lambda: f"permission {full}" in examined(granted), f"{full} is missing", 20)
    checks = examined(granted)
    known = next(p for p in PERMISSIONS if (p.group, p.resource) == (group, resource))
    broken = checks[f"permission {full}"]
    assert broken.ok is (None if known.optional else False)
    assert known.why in broken.sentence
    assert f"on {full} in the ClusterRole" in broken.remedy
    assert [name for name, check in checks.items() if check.ok is False and name != f"permission {full}"] == []


def test_a_role_in_kueue_s_namespace_that_lacks_is_named(granted: ControlPlane) -> None:
    bindings = f"{ROLES}/namespaces/kueue-system/rolebindings"
    for binding in granted.call("GET", bindings)["items"]:
        if "whypending" in binding["metadata"]["name"]:
            granted.call("DELETE", f"{bindings}/{binding['metadata']['name']}")
    granted.wait(lambda: "permissions" not in examined(granted), "the Role is gone", 20)
    missing = [check for name, check in examined(granted).items() if name.endswith(" in kueue-system")]
    assert missing
    assert all("in the Role in kueue-system" in check.remedy for check in missing)


def test_a_token_that_nobody_knows_and_a_server_that_is_not_there(granted: ControlPlane) -> None:
    assert [check.sentence for check in examined(granted, "unknown").values()] == [
        "The API server answers, but does not accept this identity."
    ]

    async def nobody() -> list[Check]:
        async with Client(Cluster(url="https://127.0.0.1:1"), timeout=3) as client:
            return await examine(Reader.of(client))

    (check,) = asyncio.run(nobody())
    assert check.ok is False
    assert "cannot be reached" in check.sentence


def test_a_certificate_of_another_authority(granted: ControlPlane, tmp_path: Path) -> None:
    Authority(tmp_path).certificate("ca")
    content = yaml.safe_load(granted.kubeconfig("doctor", "unknown").read_text())
    del content["clusters"][0]["cluster"]["certificate-authority-data"]
    content["clusters"][0]["cluster"]["certificate-authority"] = str(tmp_path / "ca.crt")
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    with identity(path):
        status, text = command("doctor")
    assert status == 3
    assert "certificate is not trusted" in text


def test_a_visibility_api_that_is_not_served(granted: ControlPlane) -> None:
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    names = [f"{version}.visibility.kueue.x-k8s.io" for version in ("v1beta1", "v1beta2")]
    kept = [granted.call("GET", f"{services}/{name}") for name in names]
    for name in names:
        granted.call("DELETE", f"{services}/{name}")
    try:
        granted.wait(lambda: examined(granted)["visibility API"].ok is None, "it is gone", 30)
        assert "not served" in examined(granted)["visibility API"].sentence
    finally:
        for item in kept:
            granted.apply(services, {**{key: item[key] for key in ("apiVersion", "kind", "spec")},
                                     "metadata": {"name": item["metadata"]["name"]}})  # fmt: skip
        granted.wait(lambda: granted.call("GET", "/apis/visibility.kueue.x-k8s.io/v1beta2"), "it is back", 30)


def test_kueue_s_deployment_is_named_with_its_version(granted: ControlPlane) -> None:
    path = "/apis/apps/v1/namespaces/kueue-system/deployments"
    labels = {"control-plane": "controller-manager", "app.kubernetes.io/name": "kueue"}
    container = {"name": "manager", "image": "registry.example/kueue:v0.17.0"}
    granted.apply(path, {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system", "labels": labels},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}},
    })  # fmt: skip
    try:
        check = examined(granted)["kueue controller"]
        assert (check.ok, check.sentence) == (True, "Kueue v0.17.0 is deployed in kueue-system.")
    finally:
        granted.call("DELETE", f"{path}/kueue-controller-manager")


def test_kueue_s_kinds_that_are_not_served_are_said(granted: ControlPlane) -> None:
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
    versions = granted.call("GET", crd)["spec"]["versions"]
    off = [{**version, "served": False} for version in versions]
    granted.call("PATCH", crd, {"spec": {"versions": off}})
    try:
        granted.wait(lambda: examined(granted)["kueue"].ok is False, "Workloads are not served", 60)
        assert "not installed" in examined(granted)["kueue"].sentence
    finally:
        granted.call("PATCH", crd, {"spec": {"versions": versions}})
        granted.wait(lambda: _lists(granted), "Workloads are served again", 60)


def _lists(plane: ControlPlane) -> bool:
    try:
        plane.call("GET", "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=1")
    except ApiError:
        return False
    return True
