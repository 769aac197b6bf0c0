"""More than the borrowing limits on the way let it ever have."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import cohort, queue, small, waiting


def test_fires() -> None:
    answer = recorded("v0.19.2/borrowing-limit").ask("team-a/train")
    assert answer.headline.rule == "exceeds-borrowing-limit"
    assert (answer.outlook, answer.move) == ("never-as-written", "queue-admin")
    sentence = show(answer.headline.sentence, plain)
    assert "never have more than 6, because" in sentence
    assert "ClusterQueue a-cq may borrow 2 on top of its 4" in sentence
    assert ": 2 too many" in sentence
    assert "by at least 2" in answer.headline.next[0].do


def test_fires_for_an_ancestors_limit() -> None:
    answer = recorded("v0.19.2/hierarchical-cohort").ask("team-a/train")
    assert answer.headline.rule == "exceeds-borrowing-limit"
    assert "Cohort left may borrow 2 on top of its 4" in show(answer.headline.sentence, plain)


def test_two_limits_on_the_way_are_not_promised_away_one_by_one() -> None:
    tree = (
        queue("gpu-cq", {"f": {"gpu": (4, 1, None)}}, cohort="low"), cohort("low", "top", {"f": {"gpu": (0, 2, None)}}),
        cohort("top", quotas={"f": {"gpu": 20}}),
    )  # fmt: skip
    answer = small(*tree, waiting(gpu=10)).ask("team-a/train")
    assert answer.headline.rule == "exceeds-borrowing-limit"
    assert "together with the other limits" in answer.headline.next[0].do


def test_near_miss() -> None:
    """Without the limit the cohort has no more either; and within the limit it fits."""
    limited = queue("gpu-cq", {"f": {"gpu": (4, 2, None)}}, cohort="co")
    poor = queue("other", {"f": {"gpu": 2}}, cohort="co")
    assert small(limited, poor, waiting(gpu=8)).ask("team-a/train").headline.rule == "exceeds-cohort-capacity"
    rich = queue("other", {"f": {"gpu": 9}}, cohort="co")
    assert "exceeds-borrowing-limit" not in fired(small(limited, rich, waiting(gpu=6)).ask("team-a/train"))
    assert small(limited, rich, waiting(gpu=7)).ask("team-a/train").headline.rule == "exceeds-borrowing-limit"
