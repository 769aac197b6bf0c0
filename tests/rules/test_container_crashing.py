"""Rule container-crashing."""

from tests.clusters import Cluster, fired, recorded


def _ended(code: int, **more: object) -> Cluster:
    cluster = recorded("v0.19.2/image-pull")
    pod = cluster.named("Pod", "train-")
    last = {"terminated": {"exitCode": code, "reason": "OOMKilled"}}
    status = {"name": "main", "ready": False, "restartCount": 4, "lastState": last, **more}
    return cluster.edit("Pod", pod, {"status": {"phase": "Running", "containerStatuses": [status]}})


def test_fires() -> None:
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}}
    answer = _ended(137, state=waiting).ask("team-a/train")
    assert answer.headline.rule == "container-crashing"
    assert "after 4 restarts (CrashLoopBackOff): exit code 137, OOMKilled." in answer.headline.sentence


def test_fires_between_two_crashes() -> None:
    answer = _ended(1, state={"running": {"startedAt": "2026-11-30T14:56:00Z"}}).ask("team-a/train")
    assert answer.headline.rule == "container-crashing"


def test_fires_for_pods_that_fail_one_after_the_other() -> None:
    cluster = recorded("v0.19.2/image-pull")
    pod = cluster.named("Pod", "train-")
    status = {"name": "main", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}
    answer = cluster.edit("Pod", pod, {"status": {"phase": "Failed", "containerStatuses": [status]}}).ask(
        "team-a/train"
    )
    assert answer.headline.rule == "container-crashing"
    assert "exit code 3" in answer.headline.sentence
    assert "pods-not-created" not in fired(answer)


def test_near_miss_it_was_never_started_again() -> None:
    answer = recorded("v0.19.2/running").ask("team-a/train")
    assert "container-crashing" not in fired(answer)
