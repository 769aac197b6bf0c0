"""Rule job-still-suspended."""

from tests.clusters import fired, recorded
from tests.made import NOW, admitted, cluster, job, workload


def test_fires() -> None:
    answer = recorded("cases/P47").ask("ml-a/sample-big")
    assert answer.headline.rule == "job-still-suspended"
    assert "9 of 10 pods were admitted" in answer.headline.sentence
    assert "34 minutes ago" in answer.headline.sentence


def test_young() -> None:
    item = job()
    fresh = workload(item, conditions=admitted())
    for entry in fresh["status"]["conditions"]:
        entry["lastTransitionTime"] = NOW
    assert "may pass by itself" in cluster(item, fresh).ask("team-a/train").headline.sentence


def test_near_miss() -> None:
    """It runs; it runs elsewhere; it is being evicted."""
    for name, ask in (("v0.19.2/running", "team-a/train"), ("cases/P50", "ml-a/mk1")):
        assert "job-still-suspended" not in fired(recorded(name).ask(ask))
    item = job()
    evicted = cluster(item, workload(item, conditions={**admitted(), "Evicted": "True"}))
    assert "job-still-suspended" not in fired(evicted.ask("team-a/train"))
