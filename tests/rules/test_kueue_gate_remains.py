"""Kueue's own gate on a pod of an admitted Workload; a foreign gate is somebody else's."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P46").ask("ml-a/late-1", "Pod")
    assert answer.headline.rule == "kueue-gate-remains"
    assert "kueue.x-k8s.io/admission" in answer.headline.sentence
    assert "after admission" in answer.headline.sentence


def test_says_that_it_may_pass_when_young() -> None:
    answer = recorded("cases/P46").at("2026-05-13T10:00:10Z").ask("ml-a/late-1", "Pod")
    assert "may pass by itself" in answer.headline.sentence


def test_near_miss() -> None:
    gates = {"spec": {"schedulingGates": [{"name": "example.com/slice-ready"}]}}
    assert "kueue-gate-remains" not in fired(
        recorded("cases/P46").edit("Pod", "late-1", gates).ask("ml-a/late-1", "Pod")
    )


def test_near_miss_while_it_waits() -> None:
    assert "kueue-gate-remains" not in fired(recorded("v0.19.2/plain-pod").ask("team-a/train"))
