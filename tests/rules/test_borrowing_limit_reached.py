"""The cohort has room, the borrowing limit is used up."""

from bot.core.names import plain, show
from tests.clusters import fired
from tests.small import cohort, holder, queue, small, waiting

LIMITED = queue("gpu-cq", {"f": {"gpu": (4, 2, None)}}, cohort="co")
RICH = queue("other", {"f": {"gpu": 10}}, cohort="co")


def test_fires() -> None:
    held = holder("big", "gpu-cq", {"gpu": ("f", 5)})
    answer = small(LIMITED, RICH, held, waiting(gpu=2)).ask("team-a/train")
    assert answer.headline.rule == "borrowing-limit-reached"
    assert (answer.outlook, answer.move) == ("wait", "nobody")
    sentence = show(answer.headline.sentence, plain)
    assert "Needs 1 more gpu in flavor f" in sentence
    assert "ClusterQueue gpu-cq uses 5 of the 6 that it may have (4 of its own and 2 borrowed)" in sentence
    assert "team-b/big holds 5" in sentence
    assert "by at least 1" in show(answer.headline.next[-1].do, plain)


def test_fires_for_an_ancestors_limit_and_names_who_fills_it() -> None:
    tree = (
        queue("gpu-cq", {"f": {"gpu": 2}}, cohort="low"), queue("sister", {"f": {"gpu": 2}}, cohort="low"),
        cohort("low", "co", {"f": {"gpu": (0, 3, None)}}), RICH,
    )  # fmt: skip
    held = holder("filler", "sister", {"gpu": ("f", 6)})
    answer = small(*tree, held, waiting(gpu=3)).ask("team-a/train")
    assert answer.headline.rule == "borrowing-limit-reached"
    assert "Cohort low uses 6 of the 7 that it may have (4 of its own and 3 borrowed)" in show(
        answer.headline.sentence, plain
    )
    assert [entry.job for entry in answer.holders] == ["Job/filler"]


def test_near_miss() -> None:
    """The cohort is full as well: lifting the limit would not help. And with room under the limit it fits."""
    mine, theirs = holder("big", "gpu-cq", {"gpu": ("f", 5)}), holder("them", "other", {"gpu": ("f", 9)})
    assert "borrowing-limit-reached" not in fired(
        small(LIMITED, RICH, mine, theirs, waiting(gpu=2)).ask("team-a/train")
    )
    assert "borrowing-limit-reached" not in fired(small(LIMITED, RICH, mine, waiting(gpu=1)).ask("team-a/train"))
