"""Which object is meant, which Workload decides for it, and how far it is."""

import random
from typing import Any

import pytest

from bot.core import kinds
from bot.core.jobs import job_finished
from bot.core.snapshot import Unknown
from tests.clusters import Cluster, fired, merge, recorded
from tests.made import LONG_AGO, QUEUE, Object, admitted, cluster, event, job, made, pod, refer, workload

POD_KINDS = {"Deployment", "ReplicaSet", "CronJob"}


def seen(made_of: Cluster, name: str = "train", kind: str = "") -> tuple[str, str | None, str]:
    """(kind and name of what decides, the deciding Workload, the phase) for team-a/NAME."""
    facts = made_of.facts(f"team-a/{name}", kind)
    identity = facts.identity
    root, decides = identity.root, identity.workload
    return (f"{root.kind}/{root.name}" if root else "", decides.name if decides else None, facts.progress.phase)


@pytest.mark.parametrize("kind", [k.kind for k in kinds.JOB_KINDS if k.kind not in POD_KINDS])
def test_every_kind_by_bare_name(kind: str) -> None:
    """A job of every kind is found without naming the kind, and its Workload by UID."""
    item = job(kind)
    found = cluster(item, workload(item, "w"), job("Job", "other"), workload(job("Job", "other"), "other-w"))
    assert seen(found) == (f"{kind}/train", "w", "waiting")
    answer = found.ask("team-a/train")
    assert answer.job is not None
    assert (answer.job.kind, answer.job.api_version) == (kind, item["apiVersion"])
    assert "job-not-found" not in fired(answer)


@pytest.mark.parametrize("kind", [k.kind for k in kinds.JOB_KINDS if k.kind not in POD_KINDS])
def test_every_kind_by_the_workloads_owner_alone(kind: str) -> None:
    """A kind that was not read is known by what its Workload says of it, but it is said that the object was not read."""
    item = job(kind)
    bare = cluster(workload(item, "w"), read=["kueue.x-k8s.io/v1beta2/workloads"])
    identity = bare.facts("team-a/train").identity
    assert identity.workload is not None
    assert identity.target is None
    answer = bare.ask("team-a/train")
    assert answer.job is not None
    assert (answer.job.kind, answer.job.name) == (kind, "train")
    assert "job-not-found" not in fired(answer)


def test_external_framework() -> None:
    """A job of a kind that Kueue knows nothing of, by its object and by its Workload alone."""
    item = made("Notebook", "train", labels=QUEUE)
    assert seen(cluster(item, workload(item, "w"))) == ("Notebook/train", "w", "waiting")
    assert seen(cluster(item)) == ("Notebook/train", None, "no-workload")
    answer = cluster(workload(item, "w")).ask("team-a/train")
    assert answer.job is not None
    assert (answer.job.api_version, answer.job.kind, answer.job.name) == ("example.com/v1", "Notebook", "train")
    for kind in ("notebook", "Notebook", "notebooks.example.com"):
        assert cluster(workload(item, "w")).facts("team-a/train", kind).identity.workload is not None


def test_single_pod() -> None:
    """A pod with a Workload of its own."""
    item = pod("train", gated=True, labels={**QUEUE, "kueue.x-k8s.io/managed": "true"})
    assert seen(cluster(item, workload(item, "w"))) == ("Pod/train", "w", "waiting")
    assert seen(cluster(item)) == ("Pod/train", None, "no-workload")


GROUP = {**QUEUE, "kueue.x-k8s.io/pod-group-name": "grp"}


def group(count: int = 2) -> list[Object]:
    """Gated pods of the group grp."""
    total = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    return [pod(f"p-{number}", gated=True, labels=GROUP, annotations=total) for number in range(count)]


def test_pod_group_by_its_name_and_by_a_member() -> None:
    """A pod group is one job, whether its name or one of its pods is asked about."""
    pods = group()
    owners = [refer(item, controller=False) for item in pods]
    whole = workload(None, "grp")
    whole["metadata"]["ownerReferences"] = owners
    found = cluster(*pods, whole)
    facts = found.facts("team-a/grp")
    identity = facts.identity
    assert (facts.progress.phase, identity.workload.name if identity.workload else "") == ("waiting", "grp")
    assert identity.job is not None
    assert identity.job.kind == "PodGroup"
    assert not facts.named.ambiguous
    member = found.facts("team-a/p-1").identity
    assert member.workload is not None
    assert member.workload.name == "grp"
    assert member.group is not None
    assert len(member.group.pods) == 2


def test_pod_group_without_workload() -> None:
    """The group is found by its pods alone, and by the kind PodGroup."""
    found = cluster(*group(1))
    assert found.facts("team-a/grp").progress.phase == "no-workload"
    assert found.facts("team-a/grp", "PodGroup").progress.phase == "no-workload"
    assert found.facts("team-a/grp", "Job").progress.phase == "unresolved"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.13.8", "v0.16.9", "v0.19.2"])
@pytest.mark.parametrize("name", ["serve", "serve-0", "WORKLOAD"])
def test_statefulset_and_its_group(version: str, name: str) -> None:
    """The group that a StatefulSet makes of its pods is the StatefulSet's, by whichever name one asks."""
    found = recorded(f"{version}/statefulset")
    asked = found.named("Workload", "statefulset-serve") if name == "WORKLOAD" else name
    facts = found.facts(f"team-a/{asked}")
    identity = facts.identity
    assert identity.root is not None
    assert identity.root.kind == "StatefulSet"
    assert identity.workload is not None
    assert facts.progress.phase == "waiting"
    assert identity.group is None
    assert identity.job is not None
    assert identity.job.kind == ("Pod" if name == "serve-0" else "StatefulSet")


def test_workload_by_name() -> None:
    """Asked by its name, a Workload answers for itself, and the job is the one that owns it."""
    found = recorded("v0.19.2/quota-in-use")
    name = found.named("Workload", "job-train")
    answer = found.ask(f"team-a/{name}")
    assert answer.job is not None
    assert (answer.job.kind, answer.job.name) == ("Job", "train")
    assert found.facts(f"team-a/{name}").progress.phase == "waiting"
    lone = cluster(workload(None, "mine"))
    answer = lone.ask("team-a/mine")
    assert answer.job is not None
    assert answer.job.kind == "Workload"


def deployment(*states: dict[str, str]) -> tuple[Cluster, list[Object]]:
    """A Deployment with one pod and one Workload per state."""
    above = job("Deployment", "web")
    between = made("ReplicaSet", "web-6f", owner=above)
    pods = [
        pod(f"web-6f-{n}", gated="Admitted" not in state, owner=between, labels=QUEUE) for n, state in enumerate(states)
    ]
    own = [
        workload(item, f"pod-web-{n}", conditions=state, created=f"2026-11-30T13:0{n}:00Z")
        for n, (item, state) in enumerate(zip(pods, states, strict=True))
    ]
    return cluster(above, between, *pods, *own), pods


def test_deployment_has_a_workload_per_pod() -> None:
    """Of the pods of a Deployment the first in line that waits decides; asked by name, a pod speaks for itself."""
    waits = {"QuotaReserved": "False"}
    found, _ = deployment(admitted(), waits, waits)
    assert seen(found, "web") == ("Deployment/web", "pod-web-1", "waiting")
    assert seen(found, "web-6f") == ("Deployment/web", "pod-web-1", "waiting")
    assert seen(found, "web-6f-0") == ("Pod/web-6f-0", "pod-web-0", "admitted")
    assert seen(found, "web-6f-2") == ("Pod/web-6f-2", "pod-web-2", "waiting")
    assert len(found.facts("team-a/web").identity.workloads) == 3


def test_deployment_pods_that_name_the_deployments_uid() -> None:
    """Newer Kueue labels the pods' Workloads with the Deployment's UID: a pod still speaks for itself."""
    found, _ = deployment(admitted(), {"QuotaReserved": "False"})
    for name in ("pod-web-0", "pod-web-1"):
        found = found.edit("Workload", name, {"metadata": {"labels": {"kueue.x-k8s.io/job-uid": "deployment-web-uid"}}})
    assert seen(found, "web")[1:] == ("pod-web-1", "waiting")
    assert seen(found, "web-6f-0")[1:] == ("pod-web-0", "admitted")


def test_leader_worker_set() -> None:
    """A LeaderWorkerSet has a Workload per group: the one that waits decides."""
    item = job("LeaderWorkerSet", "lws")
    running = workload(item, "lws-0", conditions=admitted())
    leader = pod("lws-1", gated=True, labels=QUEUE)
    waiting = workload(item, "lws-1")
    waiting["metadata"]["ownerReferences"].append(refer(leader, controller=False))
    assert seen(cluster(item, leader, running, waiting), "lws") == ("LeaderWorkerSet/lws", "lws-1", "waiting")


def test_cron_job() -> None:
    """A CronJob stands for its Job that waits, else the newest; for itself when it has none or could not create a later one."""
    cron = job("CronJob", "nightly", suspended=False, labels={})
    done = {"conditions": [{"type": "Complete", "status": "True", "message": "done"}]}
    old = job("Job", "nightly-1", owner=cron, created=LONG_AGO, status=done)
    new = job("Job", "nightly-2", owner=cron)
    found = cluster(cron, old, new, workload(new, "w"))
    assert seen(found, "nightly") == ("Job/nightly-2", "w", "waiting")
    answer = found.ask("team-a/nightly")
    assert answer.job is not None
    assert answer.job.kind == "CronJob"
    assert seen(cluster(cron, old), "nightly") == ("Job/nightly-1", None, "finished")
    assert seen(cluster(cron), "nightly") == ("CronJob/nightly", None, "unmanaged")
    failed = event(cron, "FailedCreate", "Error creating job: denied", type="Warning")
    assert seen(cluster(cron, old, failed), "nightly") == ("CronJob/nightly", None, "unmanaged")


@pytest.mark.parametrize(
    "chain", [("TrainJob", "JobSet", "Job"), ("AppWrapper", "PyTorchJob", "Pod"), ("RayJob", "RayCluster", "Pod")]
)
def test_the_topmost_owner_decides(chain: tuple[str, str, str]) -> None:
    """What is below a managed job follows it: the answer is the ancestor's, and says so."""
    top = job(chain[0], "top")
    middle = job(chain[1], "middle", owner=top, labels={})
    low = pod("low", owner=middle) if chain[2] == "Pod" else job(chain[2], "low", owner=middle, labels={})
    found = cluster(top, middle, low, workload(top, "w"))
    for name in ("top", "middle", "low"):
        assert seen(found, name) == (f"{chain[0]}/top", "w", "waiting")
    answer = found.ask("team-a/low")
    assert "parent-decides" in {finding.rule for finding in answer.also}
    assert answer.job is not None
    assert answer.job.name == "low"
    assert "parent-decides" not in fired(found.ask("team-a/top"))


def test_names_that_owner_and_child_share() -> None:
    """An AppWrapper and the job in it have one name: that is one job, not two."""
    top = job("AppWrapper")
    found = cluster(top, job("JobSet", owner=top, labels={}), workload(top, "w"))
    assert seen(found) == ("AppWrapper/train", "w", "waiting")
    assert not found.facts("team-a/train").named.ambiguous


def test_owner_that_was_not_read() -> None:
    """The Workload of an owner that was not read is found by the owner's UID."""
    top = job("AppWrapper", "top")
    below = job("Job", "low", owner=top, labels={})
    read = ["batch/v1/jobs", "v1/pods", "kueue.x-k8s.io/v1beta2/workloads"]
    found = cluster(below, workload(top, "w"), read=read)
    facts = found.facts("team-a/low")
    identity = facts.identity
    assert identity.unread_owner is not None
    assert (facts.progress.phase, identity.workload.name if identity.workload else "") == ("waiting", "w")
    alone = cluster(below, read=read).ask("team-a/low")
    assert alone.headline.rule == "parent-decides"
    assert not alone.complete


def test_elastic_slices() -> None:
    """Of an elastic job's slices the newest that waits decides; a replaced one is no end."""
    item = job(suspended=False)
    old = workload(item, "old", created=LONG_AGO, conditions=admitted())
    new = workload(item, "new", annotations={"kueue.x-k8s.io/workload-slice-replacement-for": "team-a/old"})
    assert seen(cluster(item, old, new)) == ("Job/train", "new", "waiting")
    replaced = workload(item, "old", created=LONG_AGO, conditions={**admitted(), "Finished": "True"})
    replaced["status"]["conditions"][-1]["reason"] = "WorkloadSliceReplaced"
    running = workload(item, "new", conditions=admitted())
    assert seen(cluster(item, replaced, running))[1:] == ("new", "admitted")
    assert seen(cluster(item, replaced))[2] != "finished"


def test_job_recreated_under_the_same_name() -> None:
    """The Workload of an earlier job of the same name is not this job's."""
    earlier = job(uid="old-uid")
    item = job(uid="new-uid")
    assert seen(cluster(item, workload(earlier, "stale", conditions=admitted()))) == ("Job/train", None, "no-workload")
    assert seen(cluster(item, workload(earlier, "stale", conditions=admitted()), workload(item, "mine")))[1] == "mine"


def test_stale_owner_of_the_same_name() -> None:
    """An owner reference to an object that was recreated since leads nowhere."""
    item = job("Job", "low", owner=job("JobSet", "top", uid="gone"), labels={})
    assert seen(cluster(item, job("JobSet", "top"), workload(job("JobSet", "top"), "w")), "low")[1] is None


def test_prebuilt_workload() -> None:
    """A prebuilt Workload is found by name until somebody else owns it."""
    item = job(labels={**QUEUE, "kueue.x-k8s.io/prebuilt-workload-name": "ready-made"})
    loose = workload(None, "ready-made")
    assert seen(cluster(item, loose))[1] == "ready-made"
    assert seen(cluster(item, workload(job("Job", "other"), "ready-made")))[1] is None


def test_concurrent_variants() -> None:
    """Of a Workload with variants the furthest decides; the parent itself never queues."""
    item = job()
    parent = workload(item, "parent", conditions={})
    label = {"kueue.x-k8s.io/concurrent-admission-parent": "parent"}
    one = workload(None, "parent-variant-a", owner=parent, labels=label)
    two = workload(None, "parent-variant-b", owner=parent, labels=label, conditions={"QuotaReserved": "True"})
    assert seen(cluster(item, parent, one, two))[1:] == ("parent-variant-b", "reserved")
    assert seen(cluster(item, parent, one))[1:] == ("parent-variant-a", "waiting")
    won = workload(item, "parent", conditions=admitted())
    assert seen(cluster(item, won, one, two))[1:] == ("parent", "admitted")


def test_labelled_but_not_held() -> None:
    """A job with a queue name that Kueue does not hold is not Kueue's: what its pods say counts."""
    assert seen(cluster(job(suspended=False)))[2] == "unmanaged"
    above = job("Deployment", "web")
    between = made("ReplicaSet", "web-6f", owner=above)
    loose = pod("web-6f-0", owner=between, labels=QUEUE)
    assert seen(cluster(above, between, loose), "web")[2] == "unmanaged"
    held = pod("web-6f-0", gated=True, owner=between, labels=QUEUE)
    assert seen(cluster(above, between, held), "web")[2] == "no-workload"


def test_absence_needs_a_full_read() -> None:
    """Without a full read of Workloads nothing is said of the phase; a job that says itself that it is over is over."""
    item = job()
    assert cluster(item).facts("team-a/train").progress.phase == "no-workload"
    with pytest.raises(Unknown, match="workloads"):
        _ = cluster(item, read=["batch/v1/jobs"]).facts("team-a/train").progress.phase
    over = job(suspended=False, status={"conditions": [{"type": "Failed", "status": "True", "message": "no"}]})
    assert cluster(over, read=["batch/v1/jobs"]).facts("team-a/train").progress.phase == "finished"


@pytest.mark.parametrize(
    ("kind", "status", "ended"),
    [
        ("Job", {"conditions": [{"type": "Complete", "status": "True"}]}, True),
        ("Job", {"conditions": [{"type": "Failed", "status": "True"}]}, False),
        ("Job", {"conditions": [{"type": "Complete", "status": "False"}]}, None),
        ("Job", {"conditions": [{"type": "FailureTarget", "status": "True"}]}, None),
        ("Job", {"conditions": None, "succeeded": 1}, None),
        ("JobSet", {"conditions": [{"type": "Completed", "status": "True"}]}, True),
        ("PyTorchJob", {"conditions": [{"type": "Succeeded", "status": "True"}]}, True),
        ("RayJob", {"jobStatus": "SUCCEEDED"}, True),
        ("RayJob", {"jobStatus": "FAILED", "jobDeploymentStatus": "Retrying"}, None),
        ("RayJob", {"jobStatus": "FAILED", "jobDeploymentStatus": "Complete"}, False),
        ("RayJob", {"jobDeploymentStatus": "Failed"}, False),
        ("RayJob", {"jobDeploymentStatus": "ValidationFailed"}, None),
        ("AppWrapper", {"phase": "Succeeded"}, True),
        ("AppWrapper", {"phase": "Suspended"}, None),
        ("SparkApplication", {"applicationState": {"state": "FAILED"}}, False),
        ("Pod", {"phase": "Succeeded"}, True),
        ("Pod", {"phase": "Running"}, None),
        ("Deployment", {"readyReplicas": 3}, None),
        ("TrainJob", {}, None),
    ],
)  # fmt: skip
def test_finished_only_when_it_says_so(kind: str, status: dict[str, Any], ended: bool | None) -> None:  # noqa: FBT001 - parameters of the test
    """Finished is what the object says explicitly, never what is missing."""
    item = cluster(made(kind, "train", status=status)).snapshot().look(kind, "train", "team-a")
    assert item is not None
    over = job_finished(item)
    assert (over[0] if over else None) == ended


def test_order_of_objects_does_not_matter() -> None:
    """The same cluster read in another order gives the same answer."""
    found, _ = deployment(admitted(), {"QuotaReserved": "False"}, {"QuotaReserved": "False"})
    for seed in range(5):
        items = list(found.items[1:])
        random.Random(seed).shuffle(items)
        assert seen(Cluster((found.items[0], *items)), "web") == seen(found, "web")


def test_ring_of_owners_ends() -> None:
    """Objects that own each other do not make the look-up run forever."""
    one, two = job("JobSet", "one", labels={}), job("Job", "two", labels={})
    one["metadata"]["ownerReferences"], two["metadata"]["ownerReferences"] = [refer(two)], [refer(one)]
    assert cluster(one, two).ask("team-a/one").faults == ()


def test_of_groups_that_wait_side_by_side_the_first_in_line_speaks() -> None:
    """The groups of a LeaderWorkerSet have one owner and an index each: they are no slices, of which the newest counts."""
    cluster = recorded("v0.17.0-live/kind-leaderworkerset")
    name = cluster.named("Workload", "leaderworkerset-lws-0")
    index = "kueue.x-k8s.io/component-workload-index"
    later = [
        merge(
            cluster.get("Workload", name),
            {
                "metadata": {
                    "name": f"leaderworkerset-lws-{number}-{number:05}",
                    "uid": f"group-{number}",
                    "annotations": {index: str(number)},
                }
            },
        )
        for number in (1, 2)
    ]
    answer = cluster.add(*reversed(later)).ask("team-a/lws")
    assert (answer.chain[0].name, answer.headline.rule) == (name, "exceeds-queue-capacity")
    assert answer.chain[0].state == "not admitted, like 2 more of this LeaderWorkerSet"
