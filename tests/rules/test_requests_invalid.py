"""Requests above limits, or outside a LimitRange."""

from typing import Any

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence

RULE = "requests-invalid"


def _ranged(*limits: dict[str, Any]) -> Cluster:
    item = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "lr", "namespace": "team-a"}}
    return recorded("v0.19.2/quota-in-use").add(item | {"spec": {"limits": list(limits)}})


def test_fires() -> None:
    answer = recorded("v0.19.2/requests-above-limits").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "requests 1 cpu, above the limit of 500m that LimitRange team-a/lr sets by default" in sentence(answer, RULE)


def test_default_limit_below_the_request() -> None:
    answer = recorded("cases/P65").ask("ml-a/lr")
    assert answer.headline.rule == RULE
    assert "requests 700m cpu, above the limit of 500m that LimitRange ml-a/defaults sets" in sentence(answer, RULE)


def test_maximum_minimum_and_the_whole_pod() -> None:
    above = _ranged({"type": "Container", "max": {"nvidia.com/gpu": "0"}}).ask("team-a/train")
    assert "above the maximum of 0 in LimitRange team-a/lr" in sentence(above, RULE)
    below = _ranged({"type": "Container", "min": {"nvidia.com/gpu": "2"}}).ask("team-a/train")
    assert "below the minimum of 2 in LimitRange team-a/lr" in sentence(below, RULE)
    whole = _ranged({"type": "Pod", "min": {"nvidia.com/gpu": "2"}}).ask("team-a/train")
    assert sentence(whole, RULE).startswith("A pod of pod set main requests")
    assert finding(whole, RULE).outlook == "never-as-written"


def test_unread_limit_ranges_leave_the_text() -> None:
    answer = recorded("v0.19.2/requests-above-limits").unread("limitranges").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert answer.headline.certainty == "reported"
    unread = recorded("v0.19.2/quota-in-use").unread("limitranges").ask("team-a/train")
    assert RULE in {entry.rule for entry in unread.not_checked}


def test_near_miss() -> None:
    # the LimitRange is gone, the text is still there
    answer = recorded("v0.19.2/requests-above-limits").drop("LimitRange", "lr").ask("team-a/train")
    assert RULE not in fired(answer)
    assert "explanation-outdated" in fired(answer)
    exact = _ranged({"type": "Container", "max": {"nvidia.com/gpu": "8"}, "min": {"nvidia.com/gpu": "1"}})
    assert RULE not in fired(exact.ask("team-a/train"))
