"""What is suggested fits, and what does not fit is not suggested."""

import pytest

from bot.core.facts.suggestions import Suggestion, suggestions
from bot.core.names import plain, show
from tests.clusters import recorded
from tests.small import flavor, holder, local_queue, pod_set, queue, small, waiting

ONE = queue("gpu-cq", {"f": {"gpu": 8}})


def found(*objects: object) -> dict[str, Suggestion]:
    cluster = small(*objects)  # type: ignore[arg-type]
    return {entry.change: entry for entry in suggestions(cluster.facts("team-a/train"))}


def test_the_most_pods_that_fit() -> None:
    some = found(ONE, holder("a", "gpu-cq", {"gpu": ("f", 2)}), waiting("train", pod_set(count=8, gpu=1)))
    assert "it fits now with 6 pods" in some["fewer-pods"].step.do
    assert some["fewer-pods"].step.command == (
        """kubectl patch job train -n team-a --type merge -p '{"spec":{"parallelism":6}}'"""
    )
    assert "at least 6" in some["partial-admission"].step.do


@pytest.mark.parametrize("used", range(9))
def test_what_is_suggested_fits(used: int) -> None:
    held = [holder("a", "gpu-cq", {"gpu": ("f", used)})] if used else []
    many = found(ONE, *held, waiting("train", pod_set(count=9, gpu=1)))
    if used < 8:
        fits = small(ONE, *held, waiting("train", pod_set(count=8 - used, gpu=1))).facts("team-a/train").quota.verdict
        over = small(ONE, *held, waiting("train", pod_set(count=9 - used, gpu=1))).facts("team-a/train").quota.verdict
        assert (fits, over == "fits") == ("fits", False)
        assert f"with {8 - used} pod" in many["fewer-pods"].step.do
        assert many["fewer-pods"].verdict == "fits"
    else:
        assert many["fewer-pods"].verdict == "wait"
        assert "can start once quota is free" in many["fewer-pods"].step.do
        assert "partial-admission" not in many


def test_smaller_requests_of_one_pod() -> None:
    some = found(ONE, holder("a", "gpu-cq", {"gpu": ("f", 6)}), waiting(gpu=4))
    assert "ask for 2 gpu: that fits now" in some["smaller-requests"].step.do
    assert "fewer-pods" not in some
    assert "smaller-requests" not in found(ONE, holder("a", "gpu-cq", {"gpu": ("f", 8)}), waiting(gpu=4))


def test_a_flavor_that_the_pods_could_tolerate_or_select() -> None:
    both = queue("gpu-cq", {"f": {"gpu": 2}, "g": {"gpu": 8}, "h": {"gpu": 3}})
    taints = [{"key": "spot", "value": "true", "effect": "NoSchedule"}]
    some = found(both, flavor("g", nodeTaints=taints), flavor("h", nodeTaints=taints), waiting(gpu=4))
    advice = "Tolerate spot=true:NoSchedule if the pods may run there, and submit it again: flavor g has room now."
    assert some["tolerate"].step.do == advice
    labels = (
        flavor("f", nodeLabels={"tier": "a"}),
        flavor("g", nodeLabels={"tier": "b"}),
        flavor("h", nodeLabels={"tier": "c"}),
    )
    some = found(both, labels, waiting("train", pod_set(spec={"nodeSelector": {"tier": "a"}}, gpu=4)))
    assert some["select"].step.do == "Select tier=b instead, and submit it again: flavor g has room now."


def test_another_queue_of_the_namespace_only_where_it_would_start() -> None:
    mine, other = local_queue("train-queue", "gpu-cq"), local_queue("big-queue", "big-cq")
    big = queue("big-cq", {"f": {"gpu": 16}})
    question = (ONE, mine, other, waiting(gpu=12))
    step = found(*question, big)["other-queue"].step
    assert "LocalQueue team-a/big-queue" in show(step.do, plain)
    closed = [
        queue("big-cq", {"f": {"gpu": 16}}, stopPolicy="Hold"),
        queue("big-cq", {"f": {"gpu": 16}}, namespaceSelector={"matchLabels": {"team": "b"}}),
        queue("big-cq", {"f": {"gpu": 16}}, namespaceSelector=None),
        {**big, "status": {"conditions": [{**big["status"]["conditions"][0], "status": "False"}]}},
        queue("big-cq", {"f": {"gpu": 11}}),
    ]
    for queue_of_its_own in closed:
        assert "other-queue" not in found(*question, queue_of_its_own)
    held = holder("a", "big-cq", {"gpu": ("f", 5)})
    assert "other-queue" not in found(*question, big, held)
    chosen = queue("big-cq", {"f": {"gpu": 16}}, namespaceSelector={"matchLabels": {"team": "a"}})
    assert "other-queue" in found(*question, chosen)


def test_the_ways_out_of_never() -> None:
    """Two CPUs and two Pod slots, three of each asked: raise the quota, borrow, or make it smaller."""
    answer = recorded("v0.19.2/blog-example").ask("team-a/train")
    assert answer.headline.rule == "exceeds-queue-capacity"
    assert answer.outlook == "never-as-written"
    assert "1 CPU and 1 Pod too many" in answer.headline.sentence
    ways = [show(step.do, plain) for step in answer.headline.next]
    assert ways[0].startswith("Ask for 2 pods")
    assert any("nominalQuota" in way and "to 3" in way for way in ways)
    assert any("cohort" in way for way in ways)
    assert any("plit the job" in way for way in ways)
    assert [step.move for step in answer.headline.next].count("queue-admin") == 2


@pytest.mark.parametrize(
    ("pods", "each", "offered"), [(3, 2, True), (3, 4, True), (3, 5, False), (1, 5, False)], ids=str
)
def test_a_job_is_split_where_a_part_holds_a_pod(pods: int, each: int, offered: bool) -> None:  # noqa: FBT001
    """Of 4 GPUs at most no part can hold a pod of 5; one pod alone cannot be split."""
    cluster = small(queue("gpu-cq", {"f": {"gpu": 4}}), waiting("train", pod_set("main", pods, gpu=each)))
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "exceeds-queue-capacity"
    assert any("plit the job into parts of at most 4 gpu each" in step.do for step in answer.headline.next) is offered


def test_fewer_pods_than_partial_admission_allows() -> None:
    """Kueue refuses a Workload whose minimum is more than its pods, so the annotation has to go with them."""
    some = found(
        ONE, holder("a", "gpu-cq", {"gpu": ("f", 7)}), waiting("train", {**pod_set(count=4, gpu=1), "minCount": 2})
    )
    step = some["fewer-pods"].step
    assert step.do.endswith("it fits now with 1 pod, without the annotation kueue.x-k8s.io/job-min-parallelism.")
    assert step.command is not None
    assert (
        '\'{"metadata":{"annotations":{"kueue.x-k8s.io/job-min-parallelism":null}},"spec":{"parallelism":1}}\''
        in step.command
    )
