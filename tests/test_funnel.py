"""The funnel over nodes: which filter is blamed, what the scheduler's text says, and how pods are found and counted."""

import itertools
from typing import Any

import pytest

from bot.core import objects as o
from bot.core import scheduler_text
from bot.core.diagnosis import PodCounts
from bot.core.facts.nodes import FILTERS, NodeView, blamed
from bot.core.scheduler_text import Filter
from tests.clusters import Cluster, fired, recorded

WHEN = "2026-11-30T14:57:24Z"
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no"}


def view(name: str, *fails: Filter) -> NodeView:
    return NodeView(o.Node(metadata=o.Meta(name=name)), fails)


def test_a_node_that_takes_it_blames_nobody() -> None:
    assert blamed([view("a", "taint"), view("b")]) == (None, False)
    assert blamed([]) == (None, False)


@pytest.mark.parametrize("name", FILTERS)
def test_the_only_filter_is_blamed(name: Filter) -> None:
    assert blamed([view("a", name), view("b", name)]) == (name, True)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations([f for f in FILTERS if f != "labels"], 2)))
def test_of_two_that_would_each_do_the_first_is_blamed(one: Filter, other: Filter) -> None:
    assert blamed([view("a", other), view("b", one)]) == (one, True)


def test_the_filter_that_is_alone_wins_over_one_that_is_not() -> None:
    assert blamed([view("a", "taint", "resources"), view("b", "resources")]) == ("resources", True)
    assert blamed([view("cpu", "resources", "cordon"), view("gpu", "taint")]) == ("taint", True)


def test_if_no_single_one_is_to_blame_the_first_that_leaves_none() -> None:
    assert blamed([view("a", "cordon", "resources"), view("b", "taint", "port")]) == ("taint", False)
    assert blamed([view("a", "labels", "taint"), view("b", "labels", "resources")]) == ("labels", False)


def test_full_nodes_inside_the_labels_come_before_free_nodes_outside() -> None:
    assert blamed([view("full", "resources"), view("other-pool", "labels")]) == ("resources", True)
    assert blamed([view("shut", "cordon"), view("other-pool", "labels")]) == ("cordon", True)
    assert blamed([view("bad", "cordon", "resources"), view("other-pool", "labels")]) == ("labels", True)


@pytest.mark.parametrize(
    ("text", "nearest", "details"),
    [
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "resources", ["nvidia.com/gpu"]),
        ("0/2 nodes are available: 1 Too many pods, 1 node(s) were unschedulable.", "resources", ["pods", ""]),
        ("0/1 nodes are available: 1 node(s) had untolerated taint {pool: gpu}.", "taint", ["pool: gpu"]),
        (
            "0/2 nodes are available: 2 node(s) had taint {a: b}, that the pod didn't tolerate.",
            "taint",
            ["a: b"],
        ),
        ("0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.", "labels", [""]),
        ("0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.", "affinity", [""]),
        ("0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.", "affinity", [""]),
        ("0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.", "spread", [""]),
        (
            "0/1 nodes are available: 1 node(s) had volume node affinity conflict, 2 Insufficient cpu.",
            "volume",
            ["", "cpu"],
        ),
        ("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found", "unbound", [""]),
        ('0/1 nodes are available: persistentvolumeclaim "data" not found.', None, ["data"]),
        ("no nodes available to schedule pods", None, [""]),
        ("0/2 nodes are available: 2 node(s) were struck by lightning.", None, [""]),
    ],
)
def test_the_schedulers_text(text: str, nearest: str | None, details: list[str]) -> None:
    tail = " preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling."
    for whole in (text, text + tail, text + " no new claims to deallocate," + tail):
        verdict = scheduler_text.parse(whole)
        assert verdict is not None
        assert verdict.nearest == nearest
        assert [part.detail for part in verdict.parts] == details
        assert "preemption" not in verdict.text


def test_text_that_is_not_the_schedulers_is_nothing() -> None:
    assert scheduler_text.parse("all is well") is None


# --- a cluster made by hand ---


def node(
    name: str, labels: dict[str, str] | None = None, taints: list[Any] | None = None, **allocatable: str
) -> dict[str, Any]:
    offered = {"cpu": "8", "memory": "32Gi", "pods": "110", **allocatable}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name, "labels": labels or {}},
        "spec": {"taints": taints or []},
        "status": {"allocatable": offered, "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def pod(
    name: str, owner: tuple[str, str] | None, on: str = "", namespace: str = "team-a", **spec: Any
) -> dict[str, Any]:
    owners = [{"kind": owner[0], "name": owner[1], "uid": owner[1], "controller": True}] if owner else []
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": name, "creationTimestamp": WHEN, "ownerReferences": owners},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}], "nodeName": on, **spec},
        "status": {"phase": "Running", "conditions": ready} if on else {"phase": "Pending", "conditions": [UNSCHEDULABLE]},
    }  # fmt: skip


def thing(kind: str, api: str, name: str, owner: tuple[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    owners = [{"kind": owner[0], "name": owner[1], "uid": owner[1], "controller": True}] if owner else []
    meta = {"name": name, "namespace": "team-a", "uid": name, "creationTimestamp": WHEN, "ownerReferences": owners}
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec}


def world(*objects: dict[str, Any]) -> Cluster:
    """Everything that the recording with all is well has read, with other objects in it."""
    empty = Cluster(recorded("v0.19.2/running").items[:1])
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    return empty.read("apps/v1/daemonsets").add(namespace, *objects)


def test_a_deployments_pods_are_found_through_its_replica_set() -> None:
    cluster = world(
        node("n1"),
        thing("Deployment", "apps/v1", "serve", replicas=2),
        thing("ReplicaSet", "apps/v1", "serve-1", ("Deployment", "serve"), replicas=2),
        pod("serve-1-a", ("ReplicaSet", "serve-1"), "n1"),
        pod("serve-1-b", ("ReplicaSet", "serve-1"), "n1"),
        pod("other", None, "n1"),
    )
    answer = cluster.ask("team-a/serve")
    assert answer.headline.rule == "running"
    assert answer.pods == PodCounts(2, 2, 2, 2)


def test_a_job_sets_pods_are_found_through_its_jobs_and_counted_by_its_replicas() -> None:
    part = {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 2, "completions": 2}}}
    jobs = [thing("Job", "batch/v1", f"js-w-{i}", ("JobSet", "js"), parallelism=2, completions=2) for i in range(2)]
    pods = [pod(f"js-w-{i}-{j}", ("Job", f"js-w-{i}"), f"n{i}") for i in range(2) for j in range(2)]
    cluster = world(
        node("n0"),
        node("n1"),
        thing("JobSet", "jobset.x-k8s.io/v1alpha2", "js", replicatedJobs=[part]),
        *jobs,
        *pods[:-1],
    )
    assert cluster.facts("team-a/js").pods.counts == PodCounts(4, 3, 3, 3)
    assert "running" not in fired(cluster.ask("team-a/js"))
    assert cluster.add(pods[-1]).ask("team-a/js").headline.rule == "running"


def test_leader_worker_sets_workers_hang_on_the_leader_pod() -> None:
    cluster = world(
        node("n1"),
        thing("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "lws", replicas=1, leaderWorkerTemplate={"size": 2}),
        thing("StatefulSet", "apps/v1", "lws-sts", ("LeaderWorkerSet", "lws"), replicas=1),
        pod("lws-0", ("StatefulSet", "lws-sts"), "n1"),
        thing("StatefulSet", "apps/v1", "lws-0-workers", ("Pod", "lws-0"), replicas=1),
        pod("lws-0-1", ("StatefulSet", "lws-0-workers"), "n1"),
    )
    assert cluster.facts("team-a/lws").pods.counts == PodCounts(2, 2, 2, 2)


def test_deleted_and_failed_pods_do_not_count_twice() -> None:
    gone = pod("train-old", ("Job", "train"), "n1")
    gone["metadata"]["deletionTimestamp"] = WHEN
    failed = pod("train-bad", ("Job", "train"), "n1")
    failed["status"] = {"phase": "Failed"}
    job = thing("Job", "batch/v1", "train", parallelism=1, completions=1)
    cluster = world(node("n1"), job, gone, failed, pod("train-new", ("Job", "train"), "n1"))
    assert cluster.facts("team-a/train").pods.counts == PodCounts(1, 1, 1, 1)


def _waiting(*nodes: dict[str, Any], **spec: Any) -> Cluster:
    job = thing("Job", "batch/v1", "train", parallelism=1, completions=1)
    return world(job, pod("train-0", ("Job", "train"), "", **spec), *nodes)


def test_the_funnel_counts_step_by_step() -> None:
    taint = {"key": "spot", "value": "true", "effect": "NoSchedule"}
    cluster = _waiting(
        node("a", {"pool": "x"}, cpu="2"),
        node("b", {"pool": "x"}, [taint], cpu="2"),
        node("c", {"pool": "x"}, cpu="3"),
        node("d", {"pool": "y"}),
        nodeSelector={"pool": "x"},
    )
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "node-resources-insufficient"
    assert answer.outlook == "never-as-written"
    expected = "3 carry the labels that it asks for, 2 of those are free of taints that keep it out, none of those has"
    assert expected in answer.headline.sentence


def test_daemon_sets_pods_stay_when_a_node_is_emptied() -> None:
    agent = pod("agent-1", ("DaemonSet", "agent"), "n1", "kube-system")
    cluster = _waiting(node("n1", cpu="7"), agent)
    assert cluster.ask("team-a/train").outlook == "never-as-written"
    other = pod("agent-1", ("Job", "agent"), "n1", "kube-system")
    assert _waiting(node("n1", cpu="7"), other).ask("team-a/train").outlook == "wait"


def test_pods_of_all_namespaces_use_the_nodes_and_finished_ones_do_not() -> None:
    full = [pod("x", None, "n1", "team-b"), pod("y", None, "n1", "team-c")]
    assert _waiting(node("n1"), *full).ask("team-a/train").headline.rule == "node-resources-insufficient"
    full[0]["status"] = {"phase": "Succeeded"}
    assert "node-resources-insufficient" not in fired(_waiting(node("n1"), *full).ask("team-a/train"))


def _affinity(kind: str, term: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **term}]}}


def test_affinity_wants_a_pod_in_the_same_domain() -> None:
    wanted = _affinity("podAffinity", {"labelSelector": {"matchLabels": {"app": "cache"}}})
    cluster = _waiting(node("n1", {"zone": "a"}), node("n2", {"zone": "b"}), affinity=wanted)
    assert cluster.ask("team-a/train").headline.rule == "pod-affinity-unsatisfied"
    cache = pod("cache-0", None, "n2")
    cache["metadata"]["labels"] = {"app": "cache"}
    views = cluster.add(cache).facts("team-a/train").nodes.funnels[0].nodes
    assert {entry.node.name: entry.fails for entry in views} == {"n1": ("affinity",), "n2": ()}


def test_the_first_pod_of_a_group_that_attracts_itself_may_go_anywhere() -> None:
    itself = _affinity("podAffinity", {"labelSelector": {"matchLabels": {"app": "me"}}})
    cluster = _waiting(node("n1", {"zone": "a"}), affinity=itself)
    cluster = cluster.edit("Pod", "train-0", {"metadata": {"labels": {"app": "me"}}})
    assert "pod-affinity-unsatisfied" not in fired(cluster.ask("team-a/train"))


def test_anti_affinity_reaches_the_namespaces_that_its_selector_names() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "me"}}, "namespaceSelector": {"matchLabels": {"shared": "yes"}}}
    guard = pod("guard", None, "n1", "team-b", affinity=_affinity("podAntiAffinity", term))
    cluster = _waiting(node("n1", {"zone": "a"}), guard).edit("Pod", "train-0", {"metadata": {"labels": {"app": "me"}}})
    assert "pod-affinity-unsatisfied" not in fired(cluster.ask("team-a/train"))
    shared = cluster.edit("Namespace", "team-a", {"metadata": {"labels": {"shared": "yes"}}})
    assert shared.ask("team-a/train").headline.rule == "pod-affinity-unsatisfied"


def test_a_node_that_says_nothing_of_its_size_is_unknown_and_not_too_small() -> None:
    cluster = _waiting(node("n1")).edit("Node", "n1", {"status": {"allocatable": None}})
    answer = cluster.ask("team-a/train")
    assert "node-resources-insufficient" not in fired(answer)
    assert any("allocatable is empty" in entry.reason for entry in answer.not_checked)


def test_the_answer_does_not_depend_on_the_order_of_nodes_and_pods() -> None:
    objects = [node("a", cpu="1"), node("b", cpu="2"), node("c", {"x": "y"}, cpu="2"), pod("z", None, "b", "team-b")]
    sentences = {_waiting(*order).ask("team-a/train").headline.sentence for order in itertools.permutations(objects)}
    assert len(sentences) == 1
