"""The ordinary wait: the queue's own Workloads hold it."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import cohort, holder, queue, small, waiting


def test_fires() -> None:
    answer = recorded("v0.19.2/quota-in-use").ask("team-a/train")
    assert answer.headline.rule == "quota-in-use"
    assert (answer.outlook, answer.move, answer.stage) == ("wait", "nobody", "quota")
    sentence = show(answer.headline.sentence, plain)
    assert sentence.startswith("Needs 2 more nvidia.com/gpu in flavor a100: 6 of 8 are in use")
    assert "nothing can be borrowed" in sentence
    assert "team-a/holder holds 6" in sentence
    assert [(entry.job, entry.amount) for entry in answer.holders] == [("Job/holder", 6)]
    assert "2 nvidia.com/gpu are released" in answer.headline.next[0].do


def test_the_nearer_of_two_flavors() -> None:
    answer = recorded("v0.19.2/two-flavors-both-full").ask("team-a/train")
    assert answer.headline.rule == "quota-in-use"
    assert "Needs 1 more nvidia.com/gpu in flavor on-demand" in answer.headline.sentence
    assert "Flavor reserved lacks 4 nvidia.com/gpu" in answer.headline.sentence


def test_in_a_cohort_its_own_queue_uses_too_much() -> None:
    tree = queue("gpu-cq", {"f": {"gpu": 4}}, cohort="co"), queue("other", {"f": {"gpu": 2}}, cohort="co"), cohort("co")
    held = holder("mine", "gpu-cq", {"gpu": ("f", 4)}), holder("theirs", "other", {"gpu": ("f", 2)})
    answer = small(*tree, *held, waiting(gpu=3)).ask("team-a/train")
    assert answer.headline.rule == "quota-in-use"
    assert "the cohort has no more to lend" in answer.headline.sentence
    assert [entry.job for entry in answer.holders] == ["Job/mine"]


def test_an_elastic_slice_names_others_before_itself() -> None:
    answer = recorded("cases/P49").ask("ml-a/elas")
    assert answer.headline.rule == "quota-in-use"
    assert "Needs 1 more CPU" in answer.headline.sentence
    assert "ml-a/low holds 1, ml-a/elas holds 2" in show(answer.headline.sentence, plain)


def test_kueues_word_where_the_queue_was_not_read() -> None:
    answer = recorded("v0.19.2/quota-in-use").unread("clusterqueues", "cohorts").ask("team-a/train")
    assert (answer.headline.rule, answer.headline.certainty) == ("quota-in-use", "reported")
    assert "Needs 2 more nvidia.com/gpu" in answer.headline.sentence
    assert answer.headline.evidence[0].source == "kueue"
    assert "team-a/holder holds 6" in show(answer.headline.sentence, plain)
    alone = recorded("v0.19.2/quota-in-use").unread("clusterqueues", "cohorts", "localqueues").ask("team-a/train")
    assert "who uses it was not read" in alone.headline.sentence


def test_near_miss() -> None:
    """With the holder gone there is room, whatever Kueue's old text says."""
    cluster = recorded("v0.19.2/quota-in-use")
    freed = cluster.drop("Workload", cluster.named("Workload", "job-holder"))
    assert "quota-in-use" not in fired(freed.ask("team-a/train"))
