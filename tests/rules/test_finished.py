"""Rule finished."""

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, job, pod, workload


def test_fires() -> None:
    answer = recorded("v0.19.2/finished").ask("team-a/train")
    assert answer.headline.rule == "finished"
    assert "it succeeded: Reached expected number of succeeded pods" in answer.headline.sentence
    assert answer.outlook == "finished"


def test_fires_with_the_jobs_own_message() -> None:
    status = {
        "conditions": [{"type": "Failed", "status": "True", "message": "Job has reached the specified backoff limit"}]
    }
    answer = cluster(job(suspended=False, status=status)).ask("team-a/train")
    assert answer.headline.rule == "finished"
    assert "it failed: Job has reached the specified backoff limit" in answer.headline.sentence


def test_fires_for_pods_and_groups() -> None:
    for state, word in (("Succeeded", "succeeded"), ("Failed", "failed")):
        single = cluster(pod("train", phase=state)).ask("team-a/train")
        assert (single.headline.rule, word in single.headline.sentence) == ("finished", True)
        member = pod("p-0", phase=state, labels={"kueue.x-k8s.io/pod-group-name": "grp"})
        assert cluster(member).ask("team-a/grp").headline.rule == "finished"


def test_near_miss() -> None:
    """It runs; it never ran; a condition that is not true."""
    assert "finished" not in fired(recorded("v0.19.2/running").ask("team-a/train"))
    item = job(suspended=False, status={"conditions": [{"type": "Complete", "status": "False"}]})
    assert "finished" not in fired(cluster(item, workload(item, conditions=admitted())).ask("team-a/train"))
