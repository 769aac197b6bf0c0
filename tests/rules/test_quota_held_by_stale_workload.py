"""Quota of a Workload that runs nothing is told apart from quota that is in use."""

from tests.causes.world import EARLIER, JUST_NOW, World, admission, admitted, asked, condition, pod
from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P48").ask("ml-a/victim")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert answer.move == "platform"
    assert "statefulset-old-sts-aa" in answer.headline.sentence
    assert "8 nvidia.com/gpu" in answer.headline.sentence
    assert "no pod of it is left" in answer.headline.sentence


def test_fires_for_its_own_parent() -> None:
    answer = recorded("cases/P78").ask("ml-a/rj-c1", "RayCluster")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert answer.move == "asker"
    assert "rayjob-rj-40640" in answer.headline.sentence


def test_fires_when_the_holders_job_is_gone() -> None:
    cluster = recorded("v0.19.2/quota-in-use").drop("Job", "holder").at("2026-11-30T16:00:00Z")
    cluster = cluster.drop("Pod")
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert "Job holder is gone" in answer.headline.sentence


def test_near_miss() -> None:
    assert (
        recorded("v0.19.2/quota-in-use").at("2026-11-30T16:00:00Z").ask("team-a/train").headline.rule == "quota-in-use"
    )


def test_near_miss_just_evicted() -> None:
    cluster = recorded("cases/P48")
    cluster = cluster.condition(
        "Workload", "statefulset-old-sts-aa", type="Evicted", status="True", reason="PodsReadyTimeout", message=""
    )
    assert cluster.ask("ml-a/victim").headline.rule == "quota-in-use"


def test_near_miss_the_slice_that_it_replaces() -> None:
    assert "quota-held-by-stale-workload" not in fired(recorded("cases/P49").ask("ml-a/elas"))


def test_near_miss_pods_not_read() -> None:
    cluster = recorded("v0.19.2/quota-in-use").drop("Job", "holder").at("2026-11-30T16:00:00Z").unread("pods")
    assert "quota-held-by-stale-workload" not in fired(cluster.ask("team-a/train"))


def test_fires_for_its_own_earlier_workload() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    train = cluster.get("Job", "train")["metadata"]
    owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": train["uid"], "controller": True}]
    holder = cluster.named("Workload", "job-holder")
    answer = cluster.edit("Workload", holder, {"metadata": {"ownerReferences": owner}}).ask("team-a/train")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert "own earlier Workload" in answer.headline.sentence


def test_near_miss_workloads_side_by_side() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    owner = [
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "name": "s",
            "uid": "u",
            "controller": True,
        }
    ]
    for start in ("job-holder", "job-train"):
        cluster = cluster.edit("Workload", cluster.named("Workload", start), {"metadata": {"ownerReferences": owner}})
    name = cluster.named("Workload", "job-train")
    assert "quota-held-by-stale-workload" not in fired(cluster.ask(f"team-a/{name}", "Workload"))


def test_not_checked_when_the_job_was_not_read() -> None:
    answer = recorded("cases/P78").unread("rayclusters").ask("ml-a/rj-c1", "RayCluster")
    assert "quota-held-by-stale-workload" in {n.rule for n in answer.not_checked}
    assert not answer.complete


def gone(at: str) -> dict[str, object]:
    text = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"
    return condition("Evicted", "True", "Preempted", text, at)


def test_fires_when_it_never_gave_its_own_quota_back() -> None:
    job, loads = asked(*admitted(), gone(EARLIER), status=admission())
    job["spec"]["suspend"] = False
    answer = World().ask(job, loads)
    assert (answer.headline.rule, answer.move) == ("quota-held-by-stale-workload", "platform")
    assert "is still not suspended" in answer.headline.sentence


def test_near_miss_it_was_evicted_a_moment_ago() -> None:
    answer = World().ask(*asked(*admitted(), gone(JUST_NOW), status=admission()))
    assert "quota-held-by-stale-workload" not in fired(answer)


def test_near_miss_a_pod_of_it_is_left() -> None:
    job, loads = asked(*admitted(), gone(EARLIER), status=admission())
    assert "quota-held-by-stale-workload" not in fired(World().ask(job, loads, pod(job)))
