"""Which pods belong to a job, how many are wanted, and what is said of them when only part of it is known."""

import dataclasses
from typing import Any

import pytest

from bot.core import engine
from bot.core import objects as o
from bot.core.diagnosis import PodCounts
from bot.core.facts.pods import error_kind, is_ready, pods_of_spec
from bot.core.names import plain, show
from bot.core.reference import JobRef
from bot.core.snapshot import ACTIVE, Scope
from tests.clusters import fired, recorded
from tests.test_funnel import UNSCHEDULABLE, node, pod, thing, world


def job(kind: str, spec: dict[str, Any], api: str = "batch/v1") -> o.Job:
    return o.Job(api_version=api, kind=kind, spec=spec)


GROUPS = {"workerGroupSpecs": [{"replicas": 2, "numOfHosts": 2}, {"replicas": 1}]}
REPLICAS = {"Master": {"replicas": 1, "template": {}}, "Worker": {"replicas": 3, "template": {}}}


@pytest.mark.parametrize(
    ("kind", "spec", "count"),
    [
        ("Job", {}, 1),
        ("Job", {"parallelism": 4, "completions": 3}, 3),
        ("Job", {"parallelism": 4, "completions": 9}, 4),
        ("JobSet", {"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3}}}, {}]}, 7),
        ("RayCluster", GROUPS, 6),
        ("RayJob", {"rayClusterSpec": GROUPS}, 7),
        ("RayJob", {"rayClusterSpec": GROUPS, "submissionMode": "HTTPMode"}, 6),
        ("RayJob", {"clusterSelector": {"a": "b"}}, None),
        ("LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": {"size": 4}}, 8),
        ("Deployment", {"replicas": 0}, 0),
        ("StatefulSet", {}, 1),
        ("PyTorchJob", {"pytorchReplicaSpecs": REPLICAS}, 4),
        ("AppWrapper", {}, None),
    ],
)
def test_pods_of_spec(kind: str, spec: dict[str, Any], count: int | None) -> None:
    assert pods_of_spec(job(kind, spec)) == count


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('pods "x" is forbidden: exceeded quota: rq, requested: cpu=1, used: cpu=2, limited: cpu=2', "quota"),
        ('pods "x" is forbidden: failed quota: team: must specify limits.cpu for: main', "quota"),
        ('pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true', "policy"),
        ('admission webhook "p.example.com" denied the request: no', "policy"),
        ('pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2', "policy"),
        ('failed calling webhook "mpod.kb.io": Post "https://kueue-webhook-service.kueue-system.svc"', "kueue"),
        ('error looking up service account team-a/x: serviceaccount "x" not found', "service-account"),
        ("the sky is green", "other"),
    ],
)
def test_error_kind(text: str, kind: str) -> None:
    assert error_kind(text) == kind


def test_ready_needs_a_proof() -> None:
    running = o.PodStatus(phase="Running")
    assert not is_ready(o.Pod(status=running))
    assert not is_ready(
        o.Pod(status=o.PodStatus(phase="Pending", conditions=(o.Condition(type="Ready", status="True"),)))
    )
    assert is_ready(o.Pod(status=o.PodStatus(phase="Running", conditions=(o.Condition(type="Ready", status="True"),))))
    named = o.PodSpec(containers=(o.Container(name="a"), o.Container(name="b")))
    one = o.ContainerStatus(name="a", ready=True)
    assert not is_ready(o.Pod(spec=named, status=o.PodStatus(phase="Running", container_statuses=(one,))))


def test_nothing_is_counted_before_anything_was_admitted() -> None:
    assert recorded("v0.19.2/quota-in-use").ask("team-a/train").pods is None


def test_a_ray_job_without_its_submitter_does_not_run() -> None:
    cluster = recorded("cases/P26").drop("Job", "ray-1-submit")
    answer = cluster.ask("ml-a/ray-1")
    assert "running" not in fired(answer)
    assert answer.pods == PodCounts(4, 3, 3, 3)


def test_a_pod_set_that_is_short_is_not_made_up_for_by_another() -> None:
    cluster = recorded("v0.19.2/running")
    name = cluster.named("Workload", "job-train-")
    template = cluster.get("Workload", name)["spec"]["podSets"][0]
    sets = [{**template, "name": "main", "count": 1}, {**template, "name": "other", "count": 1}]
    assigned = [{"name": entry["name"], "count": 1, "flavors": {"cpu": "default"}} for entry in sets]
    patch = {"spec": {"podSets": sets}, "status": {"admission": {"podSetAssignments": assigned}}}
    assert "running" not in fired(cluster.edit("Workload", name, patch).ask("team-a/train"))


def test_the_first_pod_of_an_ordered_set_holds_up_the_rest() -> None:
    cluster = world(
        node("n1", cpu="1"), thing("StatefulSet", "apps/v1", "db", replicas=3), pod("db-0", ("StatefulSet", "db"))
    )
    answer = cluster.ask("team-a/db")
    assert answer.headline.rule == "node-resources-insufficient"
    assert "pods-not-created" not in fired(answer)
    assert answer.pods == PodCounts(3, 1, 0, 0)


def test_a_running_pod_on_a_lost_node_is_the_platforms() -> None:
    cluster = recorded("v0.19.2/running")
    name = min(item["metadata"]["name"] for item in cluster.items if item["kind"] == "Pod")
    cluster = cluster.edit("Pod", name, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    lost = cluster.edit("Node", "node-1", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}})
    answer = lost.ask("team-a/train")
    assert answer.move == "platform"
    assert answer.outlook == "fix"
    assert "is on a node that is not ready now" in answer.headline.sentence


def test_a_pod_may_be_asked_for_by_its_own_name() -> None:
    cluster = recorded("v0.19.2/some-pods-running")
    waiting = next(i["metadata"]["name"] for i in cluster.items if i["kind"] == "Pod" and not i["spec"].get("nodeName"))
    answer = cluster.ask(f"team-a/{waiting}")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.pods == PodCounts(4, 4, 3, 3)


def test_a_workload_may_be_asked_for_by_its_own_name() -> None:
    cluster = recorded("v0.19.2/some-pods-running")
    answer = cluster.ask(f"team-a/{cluster.named('Workload', 'job-train-')}", "Workload")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.pods == PodCounts(4, 4, 3, 3)


def test_a_flavor_that_does_not_know_its_nodes_taint_is_the_queue_admins() -> None:
    taint = {"key": "pool", "value": "gpu", "effect": "NoSchedule"}
    cluster = recorded("v0.19.2/flavor-labels-match-no-node")
    patch = {"metadata": {"labels": {"cloud/gpu": "h100"}}, "spec": {"taints": [taint]}}
    answer = cluster.edit_every("Node", patch).ask("team-a/train")
    assert answer.headline.rule == "node-taint-not-tolerated"
    assert answer.move == "queue-admin"
    assert "ResourceFlavor h100 stands for these nodes" in answer.headline.sentence


def _own_namespace_only(*, nodes: bool) -> Any:
    """A full node, seen by somebody who may read pods of the asked namespace alone, and nodes or not."""
    said = {**UNSCHEDULABLE, "message": "0/1 nodes are available: 1 Insufficient cpu. preemption: none."}
    cluster = world(
        node("n1"), thing("Job", "batch/v1", "train", parallelism=1), pod("train-0", ("Job", "train")),
        pod("x", None, "n1", "team-b"), pod("y", None, "n1", "team-b"),
    ).edit("Pod", "train-0", {"status": {"conditions": [said]}})  # fmt: skip
    snapshot = cluster.snapshot()
    hidden = {"Pod"} if nodes else {"Pod", "Node"}
    mine = tuple(item for item in snapshot.objects["Pod"] if item.namespace == "team-a")
    covered = {scope for scope in snapshot.covered if scope.kind not in hidden} | {Scope("Pod", "team-a")}
    objects = {kind: items for kind, items in snapshot.objects.items() if kind not in hidden} | {"Pod": mine}
    return dataclasses.replace(snapshot, covered=frozenset(covered), objects=objects)


@pytest.mark.parametrize("nodes", [True, False])
def test_unread_pods_of_others_leave_the_schedulers_words(nodes: bool) -> None:  # noqa: FBT001 - a test's parameter
    answer = engine.diagnose(_own_namespace_only(nodes=nodes), JobRef("team-a", "train"))
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.headline.certainty == "reported"
    assert "finds no node with 4 CPUs free" in show(answer.headline.sentence, plain)


def test_all_active_pods_are_enough_to_recompute() -> None:
    cluster = recorded("v0.19.2/some-pods-running")
    snapshot = cluster.snapshot()
    covered = (snapshot.covered - {Scope("Pod")}) | {Scope("Pod", "team-a"), Scope("Pod", selector=ACTIVE)}
    answer = engine.diagnose(dataclasses.replace(snapshot, covered=covered), JobRef("team-a", "train"))
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.headline.certainty == "certain"


def test_what_the_scheduler_said_is_outdated_when_a_node_would_take_it_now() -> None:
    cluster = recorded("v0.19.2/no-node-big-enough")
    cluster = cluster.edit("Node", "node-1", {"status": {"allocatable": {"cpu": "64"}}})
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "scheduler-not-responding"
    assert answer.outlook == "in-progress"
    late = cluster.at("2026-11-30T20:00:00Z").ask("team-a/train")
    assert late.outlook == "fix"
    assert "has not tried again for" in late.headline.sentence
