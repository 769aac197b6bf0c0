"""The bot's own identity on a real API server: all that it reads is granted, nothing else, and a gap is never an all-clear."""

import copy
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.controlplane import bot_account
from tests.controlplane.plane import ControlPlane
from tests.controlplane.questions import live, rules
from tests.controlplane.scenario import Body, Player, Scenario, scenarios

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ALL_CLEAR = {"running", "finished"}
WAITS = "quota-lent-out"
STARTS = "node-resources-insufficient"
PRINCIPAL = {
    # without these the question of a waiting Job cannot be answered in full
    "workloads", "localqueues", "clusterqueues", "resourceflavors", "cohorts", "namespaces", "jobs",
}  # fmt: skip


def _scenario(name: str) -> Scenario:
    return next(scenario for scenario in scenarios() if scenario.name == name)


@pytest.fixture(scope="module")
def kubeconfig(plane: ControlPlane) -> Iterator[Path]:
    yield bot_account.install(plane)
    bot_account.grant(plane, *bot_account.granted())


@pytest.fixture
def restored(plane: ControlPlane) -> Iterator[None]:
    """Whatever a test takes away is granted again."""
    yield
    bot_account.grant(plane, *bot_account.granted())


def _resources(cluster: list[Body]) -> list[tuple[str, str]]:
    """Every (group, resource) of the ClusterRole that may be listed."""
    return sorted(
        (group, resource)
        for rule in cluster
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if "list" in rule["verbs"]
    )


def _without(cluster: list[Body], group: str, resource: str) -> list[Body]:
    """The rules without one resource."""
    kept = []
    for rule in copy.deepcopy(cluster):
        if group in rule["apiGroups"]:
            rule["resources"] = [name for name in rule["resources"] if name != resource]
        if rule["resources"]:
            kept.append(rule)
    return kept


def _refused(plane: ControlPlane, group: str, resource: str) -> bool:
    return not bot_account.may(plane, "list", group, resource, namespace="team-a")


def _served(plane: ControlPlane) -> Iterator[tuple[str, str, str, list[str], bool]]:
    """Everything that the server discovers: group, version, resource (with its part), verbs, whether namespaced."""
    paths = ["/api/v1"]
    for group in plane.call("GET", "/apis")["groups"]:
        paths += [f"/apis/{version['groupVersion']}" for version in group["versions"]]
    for path in paths:
        group, version = ("", "v1") if path == "/api/v1" else tuple(path.removeprefix("/apis/").split("/"))
        for resource in plane.call("GET", path)["resources"]:
            yield group, version, resource["name"], resource["verbs"], resource["namespaced"]


def test_everything_granted_is_read_and_no_read_is_refused(plane: ControlPlane, kubeconfig: Path) -> None:
    Player(plane).play(_scenario(WAITS))
    document = live(plane, _scenario(WAITS).ask, kubeconfig)
    assert document["complete"]
    assert "forbidden" not in json.dumps(document)
    assert not rules(document) & {"access-denied", "reduced-permissions"}


def test_nothing_but_what_is_granted(plane: ControlPlane, kubeconfig: Path) -> None:
    cluster, kueue = bot_account.granted()
    allowed = {
        (group, resource, verb)
        for rule in cluster
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if "resourceNames" not in rule
    }
    in_kueue = {
        (group, resource, verb)
        for rule in kueue
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if "resourceNames" not in rule
    }
    # what every identity may do: ask who it is and what it may
    everybody = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
    asked, surplus, lacking = 0, list[tuple[str, str, str]](), list[tuple[str, str, str]]()
    seen = set()
    for group, _, resource, verbs, namespaced in _served(plane):
        for verb in sorted({*verbs, "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}):
            if (group, resource, verb) in seen or resource in everybody:
                continue
            seen.add((group, resource, verb))
            asked += 1
            may = bot_account.may(plane, verb, group, resource, namespace="team-a" if namespaced else "")
            if may != ((group, resource, verb) in allowed):
                (surplus if may else lacking).append((group, resource, verb))
    assert not surplus, "granted beyond the manifests"
    assert not lacking, "not granted, although the manifests say so"
    assert asked > 500
    for group, resource, verb in sorted(in_kueue):
        assert bot_account.may(plane, verb, group, resource, namespace="kueue-system")
    for resource in ("secrets", "configmaps", "pods/log", "pods/exec"):
        for namespace in ("team-a", "kueue-system", "whypending"):
            assert not bot_account.may(plane, "get", "", resource, namespace=namespace)
    assert bot_account.may(plane, "get", "", "configmaps", namespace="kueue-system", name="kueue-manager-config")
    assert not bot_account.may(plane, "get", "", "configmaps", namespace="kueue-system", name="other")


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", [WAITS, STARTS])
def test_without_one_permission_the_answer_names_the_gap(name: str, plane: ControlPlane, kubeconfig: Path) -> None:
    scenario = _scenario(name)
    Player(plane).play(scenario)
    cluster, kueue = bot_account.granted()
    full = live(plane, scenario.ask, kubeconfig)["headline"]
    silent, cleared, surer = [], [], []
    for group, resource in _resources(cluster):
        bot_account.grant(plane, _without(cluster, group, resource), kueue)
        plane.wait(partial(_refused, plane, group, resource), f"no permission for {resource}", 10)
        document = live(plane, scenario.ask, kubeconfig)
        headline, gaps = document["headline"], json.dumps([document["notChecked"], document["context"]])
        if headline["rule"] in ALL_CLEAR:
            cleared.append(resource)
        if headline["rule"] not in {full["rule"], "access-denied"} and document["complete"]:
            surer.append(f"{resource}: {headline['rule']}, and it says to be complete")
        needed = (name == WAITS and resource in PRINCIPAL) or headline["rule"] != full["rule"]
        if needed and resource not in gaps and resource not in json.dumps(document):
            silent.append(f"{resource}: {headline['rule']}")
    assert not cleared
    assert not surer
    assert not silent, "the answer changed or its ground is gone, and the gap is not named"


@pytest.mark.usefixtures("restored")
def test_without_any_permission_it_says_so(plane: ControlPlane, kubeconfig: Path) -> None:
    scenario = _scenario(WAITS)
    Player(plane).play(scenario)
    bot_account.grant(plane, [], [])
    plane.wait(lambda: not bot_account.may(plane, "list", "kueue.x-k8s.io", "workloads"), "no permission", 10)
    document = live(plane, scenario.ask, kubeconfig)
    assert document["headline"]["rule"] == "access-denied"
    assert document["outlook"] == "unknown"
    assert not document["complete"]
