"""Rule image-not-pulled."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/image-pull").ask("team-a/train")
    assert answer.headline.rule == "image-not-pulled"
    assert answer.stage == "start"
    assert "registry.example/train:1" in answer.headline.sentence
    assert answer.outlook == "fix"


def test_a_pull_that_is_under_way() -> None:
    cluster = recorded("cases/P71")
    event = next(i for i in cluster.items if i.get("reason") == "FailedCreatePodSandBox")
    text = 'Pulling image "registry.example/app:1"'
    answer = cluster.edit("Event", event["metadata"]["name"], {"reason": "Pulling", "message": text}).ask("ml-a/ipx")
    assert answer.headline.rule == "image-not-pulled"
    assert answer.outlook == "in-progress"


def test_near_miss_another_reason_to_wait() -> None:
    cluster = recorded("v0.19.2/image-pull")
    pod = cluster.named("Pod", "train-")
    status = {
        "name": "main",
        "ready": False,
        "state": {"waiting": {"reason": "CreateContainerConfigError", "message": ""}},
    }
    answer = cluster.edit("Pod", pod, {"status": {"containerStatuses": [status]}}).ask("team-a/train")
    assert "image-not-pulled" not in fired(answer)
