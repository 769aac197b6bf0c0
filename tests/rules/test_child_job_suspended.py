"""Rule child-job-suspended."""

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, job, workload


def test_fires() -> None:
    for name in ("ray-1", "ray-1-submit"):
        answer = recorded("cases/P26").ask(f"ml-a/{name}")
        assert answer.headline.rule == "child-job-suspended"
        assert "ray-1-submit" in answer.headline.sentence
        assert "above it is not and is admitted" in answer.headline.sentence


def test_fires_where_kueue_manages_neither() -> None:
    answer = recorded("cases/P27").ask("ml-a/sleepy")
    assert answer.headline.rule == "child-job-suspended"
    assert "40 times" in answer.headline.sentence


def test_fires_when_the_child_was_queued_by_itself() -> None:
    """Seen from the parent, whose Workload holds the quota."""
    answer = recorded("cases/P78").ask("ml-a/rj")
    assert "child-job-suspended" in fired(answer)


def test_near_miss() -> None:
    """The parent itself is suspended; the child is over; later Jobs of a JobSet wait for their turn."""
    top = job("JobSet", "top", labels={})
    child = job("Job", "low", owner=top, labels={})
    assert "child-job-suspended" not in fired(cluster(top, child).ask("team-a/top"))
    runs = job("JobSet", "top", suspended=False)
    over = job("Job", "low", owner=runs, labels={}, status={"conditions": [{"type": "Complete", "status": "True"}]})
    assert "child-job-suspended" not in fired(
        cluster(runs, over, workload(runs, conditions=admitted())).ask("team-a/top")
    )
    order = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}
    ordered = job("JobSet", "top", suspended=False, spec=order)
    first = job("Job", "first", owner=ordered, labels={}, suspended=False)
    second = job("Job", "second", owner=ordered, labels={})
    in_order = cluster(ordered, first, second, workload(ordered, conditions=admitted()))
    assert "child-job-suspended" not in fired(in_order.ask("team-a/top"))
