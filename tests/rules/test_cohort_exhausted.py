"""It must borrow, and the cohort has nothing left."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P69").ask("ml-a/hi")
    assert answer.headline.rule == "cohort-exhausted"
    assert (answer.outlook, answer.move) == ("wait", "nobody")
    sentence = show(answer.headline.sentence, plain)
    assert "Needs 1 more CPU in flavor default: it asks for 5 CPUs" in sentence
    assert "ClusterQueue team-cq has 4 of its own" in sentence
    assert "it could take 4 now; b-cq uses 4; ml-b/lo holds 4" in sentence
    assert [(entry.workload, entry.cluster_queue) for entry in answer.holders] == [("job-lo-26811", "b-cq")]
    assert any("ask for 4 CPUs: that fits now" in step.do for step in answer.headline.next)


def test_fires_when_the_quota_is_the_parent_cohorts() -> None:
    answer = recorded("cases/P16").ask("ml-a/guar")
    assert answer.headline.rule == "cohort-exhausted"
    assert "best-effort uses 100m" in show(answer.headline.sentence, plain)


def test_kueues_word_where_the_cohort_was_not_read() -> None:
    answer = recorded("cases/P69").unread("cohorts").ask("ml-a/hi")
    assert (answer.headline.rule, answer.headline.certainty) == ("cohort-exhausted", "reported")


def test_near_miss() -> None:
    """Within its own quota it need not borrow; and with a free neighbour there is room."""
    cluster = recorded("cases/P69")
    less = {"status": {"resourceRequests": [{"name": "main", "resources": {"cpu": "4"}}]}}
    assert "cohort-exhausted" not in fired(cluster.edit("Workload", "job-hi-26810", less).ask("ml-a/hi"))
    assert "cohort-exhausted" not in fired(cluster.drop("Workload", "job-lo-26811").ask("ml-a/hi"))
