"""Rule pod-creation-forbidden-policy."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("v0.19.2/pod-security").ask("team-a/train")
    assert answer.headline.rule == "pod-creation-forbidden-policy"
    assert "restricted:latest" in answer.headline.sentence
    assert "pods-not-created" not in fired(answer)


def test_a_webhook_that_does_not_answer_is_the_platforms() -> None:
    cluster = recorded("cases/P59")
    event = next(i for i in cluster.items if i.get("reason") == "FailedCreate")
    text = 'Error creating: Internal error occurred: failed calling webhook "v.example.com": connection refused'
    answer = cluster.edit("Event", event["metadata"]["name"], {"message": text}).ask("ml-a/psa")
    assert answer.headline.rule == "pod-creation-forbidden-policy"
    assert answer.headline.move == "platform"


def test_near_miss_a_quota_is_not_a_policy() -> None:
    assert "pod-creation-forbidden-policy" not in fired(recorded("v0.19.2/resource-quota").ask("team-a/train"))


def test_near_miss_a_refusal_before_this_admission() -> None:
    cluster = recorded("cases/P59")
    event = next(i for i in cluster.items if i.get("reason") == "FailedCreate")
    old = {"lastTimestamp": "2020-01-01T00:00:00Z", "firstTimestamp": "2020-01-01T00:00:00Z", "series": None}
    answer = cluster.edit("Event", event["metadata"]["name"], old).ask("ml-a/psa")
    assert "pod-creation-forbidden-policy" not in fired(answer)
