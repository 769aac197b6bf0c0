"""Pod sets take the same flavor from each other."""

from tests.clusters import fired, recorded
from tests.small import pod_set, queue, small, waiting


def test_fires() -> None:
    answer = recorded("cases/P11").ask("ml-a/big-hp", "PyTorchJob")
    assert answer.headline.rule in {"exceeds-queue-capacity", "exceeds-cohort-capacity"}
    (context,) = [finding for finding in answer.context if finding.rule == "pod-sets-compete"]
    assert "master takes flavor single-node first, and there is not enough left of it for worker" in context.sentence
    assert "It would fit with master in flavor multi-node and worker in flavor single-node" in context.sentence


def test_no_split_is_promised_where_none_fits() -> None:
    only = queue("gpu-cq", {"f": {"gpu": 8}})
    answer = small(only, waiting("train", pod_set("a", gpu=8), pod_set("b", gpu=1))).ask("team-a/train")
    (context,) = [finding for finding in answer.context if finding.rule == "pod-sets-compete"]
    assert "would fit" not in context.sentence


def test_near_miss() -> None:
    """One pod set alone is too large; and two that both fit do not compete."""
    only = queue("gpu-cq", {"f": {"gpu": 8}})
    for sets in ((pod_set("a", gpu=9), pod_set("b", gpu=1)), (pod_set("a", gpu=7), pod_set("b", gpu=1))):
        assert "pod-sets-compete" not in fired(small(only, waiting("train", *sets)).ask("team-a/train"))


def test_what_another_split_would_hold_is_never_only_where_kueue_says_so() -> None:
    """After a scan that failed Kueue may begin behind the flavor that the first pod set took, and admit it."""
    two = queue("gpu-cq", {"one": {"gpu": 8}, "two": {"gpu": 1}})
    answer = small(two, waiting("train", pod_set("a", gpu=1), pod_set("b", gpu=8))).ask("team-a/train")
    assert answer.outlook != "never-as-written"
    assert any(
        entry.rule == "exceeds-queue-capacity" and "Kueue has not tried it yet" in entry.reason
        for entry in answer.not_checked
    )
    larger = waiting("train", pod_set("a", gpu=1), pod_set("b", gpu=9))
    assert small(two, larger).ask("team-a/train").headline.rule == "exceeds-queue-capacity"
