"""Rule running."""

from bot.core.diagnosis import PodCounts
from tests.clusters import Cluster, fired, recorded


def _pods(cluster: Cluster) -> list[str]:
    return sorted(item["metadata"]["name"] for item in cluster.items if item["kind"] == "Pod")


def test_fires() -> None:
    answer = recorded("v0.19.2/running").ask("team-a/train")
    assert answer.headline.rule == "running"
    assert answer.headline.sentence == "All 2 pods run."
    assert answer.pods == PodCounts(2, 2, 2, 2)


def test_near_miss_a_pod_that_is_not_there() -> None:
    cluster = recorded("v0.19.2/running")
    answer = cluster.drop("Pod", _pods(cluster)[0]).ask("team-a/train")
    assert "running" not in fired(answer)


def test_near_miss_a_count_that_is_missing_in_the_admission() -> None:
    cluster = recorded("v0.19.2/running")
    name = cluster.named("Workload", "job-train-")
    assignments = [{"name": "main", "flavors": {"cpu": "default"}, "count": 1}]
    cluster = cluster.edit("Workload", name, {"status": {"admission": {"podSetAssignments": assignments}}})
    answer = cluster.drop("Pod", _pods(cluster)[0]).ask("team-a/train")
    assert "running" not in fired(answer)


def test_near_miss_unread_pods_are_not_running_pods() -> None:
    answer = recorded("v0.19.2/running").unread("pods").ask("team-a/train")
    assert "running" not in fired(answer)
    assert answer.pods is None


def test_not_ready_is_in_progress() -> None:
    cluster = recorded("v0.19.2/running")
    ready = {"type": "Ready", "status": "False", "message": "containers with unready status: [main]"}
    answer = cluster.edit("Pod", _pods(cluster)[0], {"status": {"conditions": [ready]}}).ask("team-a/train")
    assert answer.headline.rule == "running"
    assert answer.outlook == "in-progress"
    assert "1 of them is not ready yet" in answer.headline.sentence
    assert answer.pods == PodCounts(2, 2, 2, 1)


def test_pods_that_have_done_their_work_are_not_missed() -> None:
    cluster = recorded("v0.19.2/running")
    pod = _pods(cluster)[0]
    cluster = cluster.edit("Job", "train", {"spec": {"completions": 2}, "status": {"succeeded": 1}})
    answer = cluster.edit("Pod", pod, {"status": {"phase": "Succeeded"}}).ask("team-a/train")
    assert answer.headline.rule == "running"
    assert answer.pods == PodCounts(1, 1, 1, 1)


def test_pods_are_still_wanted_while_completions_are_left() -> None:
    cluster = recorded("v0.19.2/running")
    pod = _pods(cluster)[0]
    cluster = cluster.edit("Job", "train", {"spec": {"completions": 9}, "status": {"succeeded": 1}})
    answer = cluster.edit("Pod", pod, {"status": {"phase": "Succeeded"}}).ask("team-a/train")
    assert "running" not in fired(answer)
    assert answer.pods == PodCounts(2, 1, 1, 1)
