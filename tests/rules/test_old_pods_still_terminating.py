"""Rule old-pods-still-terminating."""

from tests.clusters import fired
from tests.made import LONG_AGO, cluster, job, pod


def test_fires() -> None:
    item = job()
    old = pod("train-old", phase="Running", owner=item)
    old["metadata"] |= {"deletionTimestamp": LONG_AGO, "finalizers": ["example.com/hold"]}
    answer = cluster(item, old, pod("train-other", phase="Running", owner=item)).ask("team-a/train")
    assert answer.headline.rule == "old-pods-still-terminating"
    assert "2 pods of its earlier run have not ended" in answer.headline.sentence
    assert "example.com/hold" in answer.headline.sentence
    assert answer.outlook == "in-progress"


def test_near_miss() -> None:
    """Pods that ended, and none at all."""
    item = job()
    for objects in ((item, pod("train-old", phase="Succeeded", owner=item)), (item,)):
        assert "old-pods-still-terminating" not in fired(cluster(*objects).ask("team-a/train"))
