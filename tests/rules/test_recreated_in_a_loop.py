"""Rule recreated-in-a-loop."""

from typing import Any

from tests.clusters import fired
from tests.made import LONG_AGO, cluster, event, job, workload

DELETED = "Deleted not matching Workload: team-a/job-train-1a2b3"


def spec(cpu: str) -> dict[str, Any]:
    """A pod template with one request."""
    return {"template": {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}}}


def test_fires() -> None:
    item = job(spec=spec("2"))
    made_of = workload(item, spec={"podSets": [{"name": "main", "count": 1, **spec("1")}]})
    said = event(item, "DeletedWorkload", DELETED, count=7, firstTimestamp="2026-11-30T13:40:00Z")
    answer = cluster(item, made_of, said).ask("team-a/train")
    assert answer.headline.rule == "recreated-in-a-loop"
    assert "7 times in 10 minutes" in answer.headline.sentence
    assert "resources.requests of container main" in answer.headline.sentence


def test_near_miss() -> None:
    """Once or twice is an edit, and long ago is over."""
    item = job()
    for said in (
        event(item, "DeletedWorkload", DELETED, count=2),
        event(item, "DeletedWorkload", DELETED, count=9, at=LONG_AGO),
        event(item, "Stopped", "Not admitted by cluster queue", count=9),
    ):
        assert "recreated-in-a-loop" not in fired(cluster(item, workload(item), said).ask("team-a/train"))
