"""Rule scaled-to-zero."""

import pytest

from tests.clusters import fired, recorded
from tests.made import cluster, job, workload


@pytest.mark.parametrize(
    ("kind", "field"),
    [("StatefulSet", "replicas"), ("LeaderWorkerSet", "replicas"), ("Deployment", "replicas"), ("Job", "parallelism")],
)
def test_fires(kind: str, field: str) -> None:
    answer = cluster(job(kind, spec={field: 0})).ask("team-a/train")
    assert answer.headline.rule == "scaled-to-zero"
    assert f"spec.{field} is 0" in answer.headline.sentence


def test_fires_with_a_workload_on_hold() -> None:
    item = job("StatefulSet", spec={"replicas": 0})
    held = workload(item)
    held["status"]["conditions"][0] |= {"reason": "OnHold", "message": "StatefulSet scaled to zero; workload on hold"}
    answer = cluster(item, held).ask("team-a/train")
    assert answer.headline.rule == "scaled-to-zero"
    assert "on-hold" in fired(answer)


def test_near_miss() -> None:
    assert "scaled-to-zero" not in fired(recorded("v0.19.2/statefulset").ask("team-a/serve"))
    assert "scaled-to-zero" not in fired(cluster(job("StatefulSet")).ask("team-a/train"))
