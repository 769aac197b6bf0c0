"""More than the ClusterQueue could ever give, and nothing to borrow."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import cohort, holder, pod_set, queue, small, waiting


def test_fires() -> None:
    answer = recorded("v0.19.2/multi-podset").ask("team-a/train", "JobSet")
    assert answer.headline.rule == "exceeds-queue-capacity"
    assert (answer.outlook, answer.move, answer.headline.certainty) == ("never-as-written", "asker", "certain")
    sentence = show(answer.headline.sentence, plain)
    assert "asks for 5 CPUs in flavor default" in sentence
    assert "gpu-cq can never give more than 4: 1 too many" in sentence


def test_a_queue_without_any_quota_is_its_owners_move() -> None:
    answer = small(queue("gpu-cq", {"f": {"gpu": 0}}), waiting(gpu=1)).ask("team-a/train")
    assert (answer.headline.rule, answer.move) == ("exceeds-queue-capacity", "queue-admin")


def test_kueues_word_where_the_queue_was_not_read() -> None:
    answer = recorded("v0.19.2/multi-podset").unread("clusterqueues").ask("team-a/train", "JobSet")
    assert (answer.headline.rule, answer.headline.certainty) == ("exceeds-queue-capacity", "reported")
    assert "5 CPUs in flavor default, at most 4" in answer.headline.sentence


def test_near_miss() -> None:
    """Exactly what there is fits; what others use makes it wait; a cohort makes it another rule's."""
    only = queue("gpu-cq", {"f": {"gpu": 4}})
    assert "exceeds-queue-capacity" not in fired(small(only, waiting(gpu=4)).ask("team-a/train"))
    held = holder("a", "gpu-cq", {"gpu": ("f", 4)})
    assert small(only, held, waiting(gpu=4)).ask("team-a/train").headline.rule == "quota-in-use"
    member = queue("gpu-cq", {"f": {"gpu": 4}}, cohort="co")
    assert small(member, cohort("co"), waiting(gpu=5)).ask("team-a/train").headline.rule == "exceeds-cohort-capacity"
    shrinks = waiting("train", pod_set(count=8, gpu=1) | {"minCount": 4})
    assert "exceeds-queue-capacity" not in fired(small(only, shrinks).ask("team-a/train"))
