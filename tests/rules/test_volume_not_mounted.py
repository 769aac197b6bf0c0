"""Rule volume-not-mounted."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P72").ask("ml-a/rwo")
    assert answer.headline.rule == "volume-not-mounted"
    assert "Multi-Attach" in answer.headline.sentence
    assert "ReadWriteOnce" in answer.headline.sentence
    assert "1 of 2 pods runs." in answer.headline.sentence


def test_near_miss_the_container_has_started_since() -> None:
    status = {"name": "main", "ready": True, "state": {"running": {"startedAt": "2026-05-12T08:24:00Z"}}}
    ready = {"type": "Ready", "status": "True"}
    patch = {"status": {"phase": "Running", "containerStatuses": [status], "conditions": [ready]}}
    answer = recorded("cases/P72").edit("Pod", "rwo-b", patch).ask("ml-a/rwo")
    assert answer.headline.rule == "running"
    assert "volume-not-mounted" not in fired(answer)


def test_not_checked_without_events() -> None:
    answer = recorded("cases/P72").unread("events").ask("ml-a/rwo")
    assert not answer.complete
    assert "volume-not-mounted" in {entry.rule for entry in answer.not_checked}
