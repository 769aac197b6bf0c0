"""A taint of the flavor that nobody tolerates."""

from bot.core.names import plain, show
from tests.clusters import fired, recorded
from tests.small import flavor, pod_set, queue, small, waiting

SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}


def test_fires() -> None:
    answer = recorded("v0.19.2/flavor-taint").ask("team-a/train")
    assert answer.headline.rule == "flavor-taint-not-tolerated"
    assert (answer.outlook, answer.move) == ("never-as-written", "asker")
    assert "do not tolerate spot=true:NoSchedule of flavor spot, the only flavor" in show(
        answer.headline.sentence, plain
    )
    assert "Tolerate spot=true:NoSchedule" in answer.headline.next[0].do
    assert [(row.flavor, row.verdict, row.why) for row in answer.quota] == [
        ("spot", "excluded", "taint spot=true:NoSchedule")
    ]


def test_fires_when_labels_exclude_the_other_flavor_and_for_the_pod_set_that_is_out() -> None:
    both = queue("gpu-cq", {"f": {"gpu": 8}, "g": {"gpu": 8}})
    flavors = flavor("f", nodeTaints=[SPOT]), flavor("g", nodeLabels={"tier": "g"})
    tolerant = pod_set("head", spec={"tolerations": [{"operator": "Exists"}]}, gpu=1)
    worker = pod_set("worker", spec={"nodeSelector": {"tier": "x"}}, gpu=1)
    answer = small(both, *flavors, waiting("train", tolerant, worker)).ask("team-a/train")
    assert answer.headline.rule == "flavor-taint-not-tolerated"
    assert "takes pod set worker" in answer.headline.sentence


def test_needs_no_cohort_and_takes_kueues_word_without_flavors() -> None:
    cluster = recorded("v0.19.2/flavor-taint").edit("ClusterQueue", "gpu-cq", {"spec": {"cohortName": "co"}})
    assert cluster.unread("cohorts").ask("team-a/train").headline.certainty == "certain"
    answer = cluster.unread("resourceflavors").ask("team-a/train")
    assert (answer.headline.rule, answer.headline.certainty) == ("flavor-taint-not-tolerated", "reported")
    assert "spot=true:NoSchedule" in answer.headline.sentence


def test_near_miss() -> None:
    """The flavor's own toleration, one of the pods, or another flavor that takes them."""
    cluster = recorded("v0.19.2/flavor-taint")
    own = {"spec": {"tolerations": [{"key": "spot", "operator": "Exists"}]}}
    assert "flavor-taint-not-tolerated" not in fired(cluster.edit("ResourceFlavor", "spot", own).ask("team-a/train"))
    both = queue("gpu-cq", {"f": {"gpu": 8}, "g": {"gpu": 8}})
    assert "flavor-taint-not-tolerated" not in fired(
        small(both, flavor("f", nodeTaints=[SPOT]), waiting(gpu=1)).ask("team-a/train")
    )
