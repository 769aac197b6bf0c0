"""More than the whole cohort could ever give."""

from bot.core.names import plain, show
from tests.clusters import recorded
from tests.small import cohort, queue, small, waiting


def test_fires() -> None:
    answer = recorded("v0.19.2/lending-limit").ask("team-a/train")
    assert answer.headline.rule == "exceeds-cohort-capacity"
    assert (answer.outlook, answer.move) == ("never-as-written", "queue-admin")
    sentence = show(answer.headline.sentence, plain)
    assert "never have more than 3 with all" in sentence
    assert "b-cq keeps 7 by lendingLimit" in sentence
    assert ": 1 too many" in sentence
    assert any("lendingLimit" in step.do and "b-cq" in show(step.do, plain) for step in answer.headline.next)


def test_the_names_of_the_cohort_and_of_a_cohort_without_an_object() -> None:
    tree = queue("gpu-cq", {"f": {"gpu": 2}}, cohort="shared"), queue("other", {"f": {"gpu": 3}}, cohort="shared")
    answer = small(*tree, waiting(gpu=6)).ask("team-a/train")
    assert answer.headline.rule == "exceeds-cohort-capacity"
    assert "Cohort shared" in show(answer.headline.sentence, plain)
    assert not any("lendingLimit" in step.do for step in answer.headline.next)


def test_kueues_word_where_the_cohort_was_not_read() -> None:
    answer = recorded("v0.19.2/lending-limit").unread("cohorts").ask("team-a/train")
    assert (answer.headline.rule, answer.headline.certainty) == ("exceeds-cohort-capacity", "reported")
    assert answer.headline.evidence[0].source == "kueue"


def test_near_miss() -> None:
    tree = queue("gpu-cq", {"f": {"gpu": 2}}, cohort="co"), cohort("co", "top"), cohort("top", quotas={"f": {"gpu": 4}})
    assert small(*tree, waiting(gpu=6)).ask("team-a/train").headline.rule != "exceeds-cohort-capacity"
    assert small(*tree, waiting(gpu=7)).ask("team-a/train").headline.rule == "exceeds-cohort-capacity"
