"""Known issues of Kueue whose signature is in pods, nodes and what Kueue announced: each with and without what it needs."""

import pytest

from bot.core.diagnosis import Diagnosis
from tests.causes.world import (
    QUEUE,
    RECENT,
    TEMPLATE,
    YESTERDAY,
    Object,
    World,
    admission,
    admitted,
    asked,
    condition,
    event,
    holder,
    job,
    pod,
    waits,
    workload,
)
from tests.clusters import Cluster, recorded
from tests.made import made

PREFIX = "kueue.x-k8s.io/"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
FITS_NONE = "couldn't assign flavors to pod set main: topology \"rack\" doesn't allow to fit any of 2 pod(s)"
HOST = "kubernetes.io/hostname"


def known(answer: Diagnosis) -> set[str]:
    """The numbers of the issues that an answer names."""
    found = [finding for finding in answer.context if finding.rule == "known-kueue-issue"]
    return {entry["reference"].rpartition("#")[2] for finding in found for entry in finding.data["issues"]}


def gated(gate: str, **annotations: str) -> tuple[Object, Object, Object]:
    """An admitted job of two pods, one of which has a gate of Kueue's and annotations."""
    owner, loads = asked(*admitted(RECENT), status=admission(), job_suspended=False)
    held = {f"{PREFIX}{key.replace('_', '-')}": value for key, value in annotations.items()}
    return (
        owner,
        loads,
        pod(owner, phase="Pending", node="", annotations=held, spec={"schedulingGates": [{"name": PREFIX + gate}]}),
    )


@pytest.mark.parametrize(
    ("number", "objects", "has", "fixed"),
    [
        ("14129", gated("elastic-job", workload_slice_name="long-gone"), "v0.17.8", "v0.18.5"),
        (
            "10282",
            gated("topology", podset_slice_required_topology="rack", podset_slice_size="2"),
            "v0.16.5",
            "v0.16.6",
        ),
        ("13266", gated("topology", podset_required_topology="rack", podset_slice_size="3"), "v0.17.7", "v0.17.8"),
    ],
)
def test_pods_that_stay_gated(number: str, objects: tuple[Object, ...], has: str, fixed: str) -> None:
    answer = World(kueue=has).ask(*objects)
    assert answer.headline.rule == "kueue-gate-remains"
    assert number in known(answer)
    assert number not in known(World(kueue=fixed).ask(*objects))


@pytest.mark.parametrize(
    ("number", "objects"),
    [
        ("14129", gated("elastic-job", workload_slice_name="job-finetune-3fa5c")),
        ("14129", gated("elastic-job")),
        ("10282", gated("topology", podset_slice_required_topology="rack", podset_required_topology="block")),
        ("13266", gated("topology", podset_required_topology="rack", podset_slice_size="2")),
    ],
)
def test_near_miss_other_gated_pods(number: str, objects: tuple[Object, ...]) -> None:
    assert number not in known(World(kueue="v0.16.0").ask(*objects))


def test_a_surge_group_stays_gated() -> None:
    owner = job(
        "LeaderWorkerSet", spec={"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}}
    )
    loads = workload(owner, *admitted(), annotations={PREFIX + "component-workload-index": "0"}, status=admission())
    label = "leaderworkerset.sigs.k8s.io/group-index"
    surge = pod(owner, 2, phase="Pending", node="", spec={"schedulingGates": [{"name": PREFIX + "admission"}]})
    first = pod(owner, 0)
    for item, index in ((surge, "1"), (first, "0")):
        item["metadata"]["labels"][label] = index
    assert "8769" in known(World(kueue="v0.16.0").ask(owner, loads, first, surge))
    assert "8769" not in known(World(kueue="v0.16.1").ask(owner, loads, first, surge))
    surge["metadata"]["labels"][label] = "0"
    assert "8769" not in known(World(kueue="v0.16.0").ask(owner, loads, first, surge))


def test_an_announced_preemption_that_never_comes() -> None:
    announced = waits(SHORT + ". Pending the preemption of 1 workload(s)")
    preempting = {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
    answer = World(full=True, kueue="v0.14.4", cluster_queue=preempting).ask(*asked(announced, spec={"priority": 9}))
    assert "7665" in known(answer)
    young = waits(SHORT + ". Pending the preemption of 1 workload(s)", at="2026-11-30T13:59:50Z")
    answer = World(full=True, kueue="v0.14.4", cluster_queue=preempting).ask(*asked(young, spec={"priority": 9}))
    assert "7665" not in known(answer)


def test_a_flavor_that_is_preferred_without_room() -> None:
    two: Object = {"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": []}
    for name in ("l40s", "spare"):
        resources = [{"name": "cpu", "nominalQuota": "64"}, {"name": "nvidia.com/gpu", "nominalQuota": "4"}]
        two["flavors"].append({"name": name, "resources": resources})
    kinds = {
        "preference": "PreemptionOverBorrowing",
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
    }
    queue = {"spec": {"resourceGroups": [two], "flavorFungibility": kinds}}
    spare = made("ResourceFlavor", "spare", namespace="", created=YESTERDAY)
    answer = World(spare, cluster_queue=queue, kueue="v0.18.4").ask(*asked(waits(SHORT)))
    assert "13903" in known(answer)
    kinds.pop("preference")
    assert "13903" not in known(World(spare, cluster_queue=queue, kueue="v0.18.4").ask(*asked(waits(SHORT))))


def topological(*, version: str = "v0.18.4") -> Cluster:
    """A recorded job that fits into no rack, of a Kueue of this version."""
    cluster = recorded("v0.19.2/topology-no-fit")
    return Cluster(({**cluster.items[0], "kueueVersion": version}, *cluster.items[1:]))


def test_room_on_the_nodes_that_nobody_saw() -> None:
    full = topological()
    assert "13772" not in known(full.ask("team-a/train"))
    room = {"status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}}
    answer = full.edit_every("Node", room).ask("team-a/train")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert "13772" in known(answer)
    assert "13772" not in known(topological(version="v0.19.1").edit_every("Node", room).ask("team-a/train"))


def test_a_node_named_like_its_rack() -> None:
    cluster = topological()
    node = next(item["metadata"]["name"] for item in cluster.items if item["kind"] == "Node")
    levels = [{"nodeLabel": "cloud/rack"}, {"nodeLabel": HOST}]
    labels = {"cloud/rack": node, HOST: node}
    alike = cluster.edit("Topology", "rack", {"spec": {"levels": levels}}).edit(
        "Node", node, {"metadata": {"labels": labels}}
    )
    assert "14233" in known(alike.ask("team-a/train"))
    other = alike.edit("Node", node, {"metadata": {"labels": {"cloud/rack": "elsewhere"}}})
    assert "14233" not in known(other.ask("team-a/train"))


def test_nobody_looked_since_kueue_started() -> None:
    room = {"status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}}
    cluster = topological(version="v0.16.0").edit_every("Node", room).drop("Event")
    started, later = cluster.now.replace("T14:", "T15:"), cluster.now.replace("T14:", "T16:")
    manager = made(
        "Pod",
        "kueue-controller-manager-0",
        namespace="kueue-system",
        created=started,
        labels={"control-plane": "controller-manager", "app.kubernetes.io/name": "kueue"},
        spec={"containers": [{"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.16.0"}]},
        status={
            "phase": "Running",
            "startTime": started,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "manager", "ready": True, "state": {"running": {"startedAt": started}}}],
        },
    )
    assert "9057" in known(cluster.add(manager).at(later).ask("team-a/train"))
    assert "9057" not in known(cluster.at(later).ask("team-a/train"))


def test_quota_of_pods_that_are_gone() -> None:
    """Each eviction of a Deployment's pod leaves a Workload behind, which is admitted again without a pod."""
    alone = {"spec": {"cohortName": None}}
    left = [holder(f"srv-{number}", "nlp", "nlp-cq", 2)[1] for number in range(3)]
    for item in left:
        item["metadata"]["ownerReferences"][0] |= {"apiVersion": "v1", "kind": "Pod"}
    answer = World(kueue="v0.16.5", cluster_queue=alone).ask(*left, *asked(waits(SHORT)))
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert any("delete workloads.kueue.x-k8s.io" in (step.command or "") for step in answer.headline.next)
    assert "10407" in known(answer)
    assert "10407" not in known(World(kueue="v0.16.6", cluster_queue=alone).ask(*left, *asked(waits(SHORT))))
    job_left = holder("old", "nlp", "nlp-cq", 6)[1]
    answer = World(kueue="v0.17.3", cluster_queue=alone).ask(job_left, *asked(waits(SHORT)))
    assert known(answer) == {"1789"}


def test_finished_at_birth() -> None:
    text = "The workload's owner no longer exists"
    ended = condition("Finished", "True", "OwnerNotFound", text)
    answer = World(kueue="v0.17.2").ask(*asked(ended))
    assert answer.headline.rule == "finished-without-running"
    assert "11018" in known(answer)
    assert "11018" not in known(World(kueue="v0.17.3").ask(*asked(ended)))


def test_a_rolling_update_that_stops_at_its_first_pod() -> None:
    """A pod of a StatefulSet is never done: the one that ended is missing, and what keeps it is named."""
    owner = made("StatefulSet", "finetune", namespace="nlp", labels=QUEUE, spec={"replicas": 2, "template": TEMPLATE})
    loads = workload(owner, *admitted(), status=admission())
    ended = pod(owner, 1, phase="Succeeded")
    ended["metadata"] |= {"finalizers": [PREFIX + "managed"], "deletionTimestamp": RECENT}
    answer = World(kueue="v0.9.1").ask(owner, loads, pod(owner, 0), ended)
    assert answer.headline.rule == "pods-not-created"
    assert "1 of 2 pods exist." in answer.headline.sentence
    assert (
        "has ended and is not gone, so its place stays taken: finalizers kueue.x-k8s.io/managed."
        in answer.headline.sentence
    )
    assert known(answer) == {"3690"}
    assert not known(World(kueue="v0.10.0").ask(owner, loads, pod(owner, 0), ended))


def test_a_second_pass_that_counts_its_own_quota() -> None:
    pending = condition(
        "Admitted", "False", "PendingDelayedTopologyRequests", "There are pending delayed topology requests"
    )
    owner, loads = asked(*admitted()[:1], pending, status=admission())
    failed = event(loads, "SecondPassFailed", SHORT)
    answer = World(kueue="v0.16.0").ask(owner, loads, failed)
    assert answer.headline.rule == "topology-assignment-pending"
    assert "finds too little quota, as if it did not hold any" in answer.headline.sentence
    assert known(answer) == {"9048"}
    assert not known(World(kueue="v0.16.4").ask(owner, loads, failed))
    none = event(loads, "SecondPassFailed", FITS_NONE)
    answer = World(kueue="v0.16.0").ask(owner, loads, none)
    assert "finds no place in the topology" in answer.headline.sentence
    assert not known(answer)
