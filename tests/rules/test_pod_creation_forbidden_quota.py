"""Rule pod-creation-forbidden-quota."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/resource-quota").ask("team-a/train")
    assert answer.headline.rule == "pod-creation-forbidden-quota"
    assert "requests.cpu: 2 of 2 used, one pod asks for 1" in answer.headline.sentence
    assert answer.pods is not None
    assert (answer.pods.wanted, answer.pods.created) == (4, 2)


def test_fires_for_limits_that_are_not_stated() -> None:
    answer = recorded("cases/P58").ask("ml-a/rq")
    assert answer.headline.rule == "pod-creation-forbidden-quota"
    assert "limits.cpu, limits.memory" in answer.headline.sentence


def test_near_miss_the_quota_was_raised_since() -> None:
    raised = {"spec": {"hard": {"requests.cpu": "9"}}, "status": {"hard": {"requests.cpu": "9"}}}
    answer = recorded("v0.19.2/resource-quota").edit("ResourceQuota", "rq", raised).ask("team-a/train")
    assert "pod-creation-forbidden-quota" not in fired(answer)
    assert answer.headline.rule == "pods-not-created"


def test_near_miss_all_pods_exist() -> None:
    cluster = recorded("v0.19.2/running")
    event = next(i for i in recorded("v0.19.2/resource-quota").items if i.get("reason") == "FailedCreate")
    event = {
        **event,
        "involvedObject": {**event["involvedObject"], "uid": cluster.get("Job", "train")["metadata"]["uid"]},
    }
    assert fired(cluster.add(event).ask("team-a/train")) == {"running"}
