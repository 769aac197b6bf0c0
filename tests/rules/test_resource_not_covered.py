"""A requested resource has no quota at all."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P06").ask("ml-a/palm-x")
    assert answer.headline.rule == "resource-not-covered"
    assert (answer.outlook, answer.move) == ("never-as-written", "queue-admin")
    sentence = show(answer.headline.sentence, plain)
    assert "asks for cpu and memory, which ClusterQueue team-cq does not cover; it covers google.com/tpu" in sentence
    assert answer.headline.data == {"resources": ["cpu", "memory"]}
    assert {(row.resource, row.why) for row in answer.quota if row.verdict == "excluded"} == {
        ("cpu", "not covered"),
        ("memory", "not covered"),
    }


def test_the_limit_range_that_adds_it_is_named() -> None:
    answer = recorded("cases/P07").ask("ml-a/ci-42")
    assert answer.headline.rule == "resource-not-covered"
    assert "The LimitRange ml-a/default adds ephemeral-storage" in show(answer.headline.sentence, plain)


def test_kueues_word_where_the_queue_was_not_read() -> None:
    answer = recorded("v0.19.2/resource-not-covered").unread("clusterqueues").ask("team-a/train")
    assert (answer.headline.rule, answer.headline.certainty) == ("resource-not-covered", "reported")
    assert "nvidia.com/gpu" in answer.headline.sentence


def test_near_miss() -> None:
    """Covered since: the old text no longer counts."""
    groups = {"spec": {"resourceGroups": [
        {"coveredResources": ["cpu", "memory", "nvidia.com/gpu"], "flavors": [{"name": "default", "resources": [
            {"name": name, "nominalQuota": "100Gi"} for name in ("cpu", "memory", "nvidia.com/gpu")]}]}]}}  # fmt: skip
    answer = recorded("v0.19.2/resource-not-covered").edit("ClusterQueue", "gpu-cq", groups).ask("team-a/train")
    assert "resource-not-covered" not in fired(answer)
