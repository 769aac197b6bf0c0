"""Rule scheduler-not-responding."""

from tests.clusters import Cluster, fired, recorded


def _silent(name: str, scheduler: str) -> Cluster:
    cluster = recorded(name)
    pod = cluster.named("Pod", "train-")
    cluster = cluster.edit("Pod", pod, {"spec": {"schedulerName": scheduler}, "status": {"conditions": None}})
    return Cluster(tuple(item for item in cluster.items if item["kind"] != "Event")).at("2026-11-30T16:00:00Z")


def test_fires() -> None:
    answer = _silent("v0.19.2/node-taint", "batch-scheduler").ask("team-a/train")
    assert answer.headline.rule == "scheduler-not-responding"
    assert answer.headline.move == "asker"
    assert "batch-scheduler" in answer.headline.sentence


def test_the_default_scheduler_is_the_platforms() -> None:
    assert _silent("v0.19.2/node-taint", "default-scheduler").ask("team-a/train").headline.move == "platform"


def test_near_miss_it_has_spoken() -> None:
    assert "scheduler-not-responding" not in fired(recorded("v0.19.2/node-taint").ask("team-a/train"))


def test_near_miss_a_pod_of_this_moment() -> None:
    cluster = recorded("v0.19.2/node-taint")
    pod = cluster.named("Pod", "train-")
    cluster = cluster.edit("Pod", pod, {"status": {"conditions": None}, "metadata": {"creationTimestamp": cluster.now}})
    cluster = Cluster(tuple(item for item in cluster.items if item["kind"] != "Event"))
    assert "scheduler-not-responding" not in fired(cluster.ask("team-a/train"))
