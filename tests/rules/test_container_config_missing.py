"""Rule container-config-missing."""

from tests.clusters import fired, recorded


def test_fires_for_a_mounted_secret() -> None:
    answer = recorded("cases/P73").ask("ml-a/sec")
    assert answer.headline.rule == "container-config-missing"
    assert "user-sa" in answer.headline.sentence
    assert "volume-not-mounted" not in fired(answer)


def test_fires_for_a_config_map_in_the_environment() -> None:
    cluster = recorded("v0.19.2/image-pull")
    pod = cluster.named("Pod", "train-")
    waiting = {"reason": "CreateContainerConfigError", "message": 'configmap "settings" not found'}
    status = {"name": "main", "ready": False, "state": {"waiting": waiting}}
    answer = cluster.edit("Pod", pod, {"status": {"containerStatuses": [status]}}).ask("team-a/train")
    assert answer.headline.rule == "container-config-missing"
    assert answer.headline.sentence.startswith("ConfigMap")
    assert "settings" in answer.headline.sentence


def test_near_miss_a_volume_that_cannot_be_attached() -> None:
    assert "container-config-missing" not in fired(recorded("cases/P72").ask("ml-a/rwo"))
