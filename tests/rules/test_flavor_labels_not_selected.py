"""The pods select labels that no flavor offers."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import flavor, pod_set, queue, small, waiting


def test_fires() -> None:
    answer = recorded("v0.19.2/flavor-affinity").ask("team-a/train")
    assert answer.headline.rule == "flavor-labels-not-selected"
    assert (answer.outlook, answer.move) == ("never-as-written", "asker")
    sentence = show(answer.headline.sentence, plain)
    assert "select cloud/gpu=h100" in sentence
    assert "a100 (cloud/gpu=a100) and t4 (cloud/gpu=t4)" in sentence
    assert answer.headline.next[0].do == "Select cloud/gpu=a100 instead, and submit it again: flavor a100 has room now."
    assert {row.why for row in answer.quota} == {"labels cloud/gpu"}


def test_fires_for_an_affinity_and_takes_kueues_word() -> None:
    term = {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    parts = pod_set(spec={"affinity": {"nodeAffinity": required}}, gpu=1)
    only = queue("gpu-cq", {"f": {"gpu": 8}}), flavor("f", nodeLabels={"tier": "a"})
    answer = small(*only, waiting("train", parts)).ask("team-a/train")
    assert answer.headline.rule == "flavor-labels-not-selected"
    assert "tier NotIn a" in answer.headline.sentence
    told = recorded("v0.19.2/flavor-affinity").unread("resourceflavors").ask("team-a/train")
    assert (told.headline.rule, told.headline.certainty) == ("flavor-labels-not-selected", "reported")


def test_labels_of_other_flavors_count_where_kueues_text_shows_it() -> None:
    """Older Kueue compared the labels of the whole group; without such a text the flavor has room."""
    only = queue("gpu-cq", {"f": {"gpu": 8}, "g": {"gpu": 8}}), flavor("f", nodeLabels={"tier": "a"})
    parts = pod_set(spec={"nodeSelector": {"tier": "b"}}, gpu=1)
    text = "couldn't assign flavors to pod set main: flavor f doesn't match node affinity, flavor g doesn't match node affinity"
    answer = small(*only, waiting("train", parts, text=text)).ask("team-a/train")
    assert answer.headline.rule == "flavor-labels-not-selected"
    assert "g (no such label)" in answer.headline.sentence
    assert small(*only, waiting("train", parts)).ask("team-a/train").headline.rule == "fits-but-not-admitted"


def test_near_miss() -> None:
    """A key that no flavor has is not compared; one flavor that agrees is enough."""
    only = queue("gpu-cq", {"f": {"gpu": 8}, "g": {"gpu": 8}})
    flavors = flavor("f", nodeLabels={"tier": "a"}), flavor("g", nodeLabels={"tier": "b"})
    for selector in ({"zone": "z"}, {"tier": "b"}):
        parts = pod_set(spec={"nodeSelector": selector}, gpu=1)
        assert "flavor-labels-not-selected" not in fired(
            small(only, *flavors, waiting("train", parts)).ask("team-a/train")
        )
