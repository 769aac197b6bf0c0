"""Rule pod-affinity-unsatisfied."""

from tests.clusters import fired, recorded


def test_fires_for_its_own_anti_affinity() -> None:
    answer = recorded("v0.19.2/anti-affinity").ask("team-a/train")
    assert answer.headline.rule == "pod-affinity-unsatisfied"
    assert "its own anti-affinity" in answer.headline.sentence
    assert answer.pods is not None
    assert (answer.pods.wanted, answer.pods.running) == (2, 1)


def test_fires_for_the_anti_affinity_of_a_running_pod() -> None:
    answer = recorded("cases/P62").ask("ml-a/fe")
    assert answer.headline.rule == "pod-affinity-unsatisfied"
    assert "gpu-0" in answer.headline.sentence


def test_near_miss_another_namespace_is_not_meant() -> None:
    cluster = recorded("cases/P62")
    pod = cluster.get("Pod", "gpu-0")
    pod["metadata"]["namespace"] = "ml-b"
    answer = cluster.drop("Pod", "gpu-0").add(pod).ask("ml-a/fe")
    assert "pod-affinity-unsatisfied" not in fired(answer)


def test_near_miss_the_labels_do_not_match() -> None:
    cluster = recorded("cases/P62").edit("Pod", "fe-1", {"metadata": {"labels": {"part-of": "other"}}})
    assert "pod-affinity-unsatisfied" not in fired(cluster.ask("ml-a/fe"))
