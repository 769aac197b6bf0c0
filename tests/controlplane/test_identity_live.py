"""The bot's own identity on a real API server: all that it reads is granted, nothing else, and a gap is never an all-clear."""

import copy
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.controlplane import bot_account
from tests.controlplane.plane import ControlPlane
from tests.controlplane.questions import live, rules
from tests.controlplane.scenario import Body, Player, Scenario, scenarios

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ALL_CLEAR = {"running", "finished"}
WAITS = "quota-lent-out"
SCENES = (WAITS, "node-resources-insufficient", "image-not-pulled", "kueue-down-seen")
OVERLAY = Path(__file__).parents[2] / "manifests" / "overlays" / "access-review"


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


def _less() -> Iterator[tuple[str, str, str, list[Body], list[Body]]]:
    """Every resource that is granted, with what both roles say without it: place, group, resource, ClusterRole, Role."""
    cluster, kueue = bot_account.granted()
    for place, mine in (("", cluster), ("kueue-system", kueue)):
        for rule in mine:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    less = _without(mine, group, resource)
                    yield place, group, resource, *((cluster, less) if place else (less, kueue))


def _without(rules_: list[Body], group: str, resource: str) -> list[Body]:
    """The rules without one resource."""
    kept = []
    for rule in copy.deepcopy(rules_):
        if group in rule["apiGroups"]:
            rule["resources"] = [name for name in rule["resources"] if name != resource]
        if rule["resources"]:
            kept.append(rule)
    return kept


def _names(rule: Body) -> str:
    names: list[str] = rule.get("resourceNames", [""])
    return names[0]


def _may(plane: ControlPlane, place: str, group: str, resource: str) -> bool:
    """Whether it may still be read there: get, because a rule with names allows no list."""
    mine = bot_account.granted()[1 if place else 0]
    name = next(_names(rule) for rule in mine if group in rule["apiGroups"] and resource in rule["resources"])
    return bot_account.may(plane, "get", group, resource, namespace=place or "team-a", name=name)


def _may_not(plane: ControlPlane, place: str, group: str, resource: str) -> bool:
    return not _may(plane, place, group, resource)


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


def _acts(plane: ControlPlane) -> set[bot_account.Act]:
    """Every verb on every resource that the server discovers: in a namespace, in Kueue's own, in the cluster."""
    # what every identity may do: ask who it is and what it may
    everybody = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
    usual = {
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
        "impersonate",
        "escalate",
    }
    return {
        bot_account.Act(verb, group, resource, namespace)
        for group, _, resource, verbs, namespaced in _served(plane)
        if resource not in everybody
        for verb in usual | {*verbs}
        for namespace in (("team-a", "kueue-system", "") if namespaced else ("",))
    }


def test_nothing_but_what_is_granted(plane: ControlPlane, kubeconfig: Path) -> None:
    cluster, kueue = bot_account.granted()
    everywhere, there = (
        {
            (group, resource, verb)
            for rule in mine
            if "resourceNames" not in rule
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        for mine in (cluster, kueue)
    )
    acts = _acts(plane)
    assert len(acts) > 3000
    granted = {
        act
        for act in acts
        if (act.group, act.resource, act.verb) in everywhere
        or (act.namespace == "kueue-system" and (act.group, act.resource, act.verb) in there)
    }
    allowed = bot_account.allowed(plane, acts)
    print(f"{len(acts)} acts asked about, {len(allowed)} allowed")
    assert allowed - granted == set(), "granted beyond the manifests"
    assert granted - allowed == set(), "not granted, although the manifests say so"
    for resource in ("secrets", "configmaps", "pods/log", "pods/exec"):
        for namespace in ("team-a", "kueue-system", "whypending"):
            assert not bot_account.may(plane, "get", "", resource, namespace=namespace)
    assert bot_account.may(plane, "get", "", "configmaps", namespace="kueue-system", name="kueue-manager-config")
    assert not bot_account.may(plane, "get", "", "configmaps", namespace="kueue-system", name="other")
    assert not bot_account.may(plane, "get", "", "configmaps", namespace="team-a", name="kueue-manager-config")

    # the optional overlay lets it create access reviews, and nothing else
    for file, place in (("clusterrole.yaml", "clusterroles"), ("clusterrolebinding.yaml", "clusterrolebindings")):
        plane.apply(f"/apis/rbac.authorization.k8s.io/v1/{place}", yaml.safe_load((OVERLAY / file).read_text()))
    review = bot_account.Act("create", "authorization.k8s.io", "subjectaccessreviews")
    try:
        plane.wait(lambda: bot_account.allowed(plane, [review]), "the overlay's permission", 10)
        assert bot_account.allowed(plane, acts) - allowed == {review}
    finally:
        for place in ("clusterroles", "clusterrolebindings"):
            plane.call("DELETE", f"/apis/rbac.authorization.k8s.io/v1/{place}/whypending-access-review")


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", SCENES)
def test_without_one_permission_the_answer_names_the_gap(name: str, plane: ControlPlane, kubeconfig: Path) -> None:
    scenario = _scenario(name)
    Player(plane).play(scenario)
    full = live(plane, scenario.ask, kubeconfig)
    assert full["complete"]
    read = bot_account.reads(plane, scenario.ask)
    wrong, taken = [], []
    for place, group, resource, cluster, kueue in _less():
        if not any((where == "kueue-system") == bool(place) for where, *what in read if what == [group, resource]):
            continue
        bot_account.grant(plane, cluster, kueue)
        if place and resource in {"pods", "deployments"}:
            assert _may(plane, place, group, resource), "the ClusterRole grants it, too"
            continue
        plane.wait(partial(_may_not, plane, place, group, resource), f"no permission for {resource}", 10)
        taken.append(resource)
        document = live(plane, scenario.ask, kubeconfig)
        headline = document["headline"]
        if headline["rule"] in ALL_CLEAR:
            wrong.append(f"{resource}: {headline['rule']} is an all-clear")
        if headline["rule"] not in {full["headline"]["rule"], "access-denied"} and document["complete"]:
            wrong.append(f"{resource}: {headline['rule']}, and it claims to be complete")
        named = resource in json.dumps([document["notChecked"], document["context"], headline])
        # Kueue's own order is there twice, and can be worked out from the Workloads: then nothing is missing
        if resource.endswith("/pendingworkloads") and document["ahead"] == full["ahead"]:
            continue
        if not named:
            wrong.append(f"{resource}: nothing names what is missing, the headline is {headline['rule']}")
        if not rules(document) & {"access-denied", "reduced-permissions"}:
            wrong.append(f"{resource}: neither access-denied nor reduced-permissions says that it may not be read")
    print(f"{name}: without {', '.join(taken)}")
    assert wrong == []
    assert len(taken) > 7


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
