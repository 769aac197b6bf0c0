"""Rule runs-on-another-cluster."""

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, job, workload


def test_fires() -> None:
    answer = recorded("cases/P50").ask("ml-a/mk1")
    assert answer.headline.rule == "runs-on-another-cluster"
    assert "worker-2" in answer.headline.sentence
    assert not {"job-still-suspended", "managed-by-other-controller"} & fired(answer)


def test_fires_on_the_clusters_name_alone() -> None:
    item = job()
    answer = cluster(item, workload(item, conditions=admitted(), status={"clusterName": "east"})).ask("team-a/train")
    assert answer.headline.rule == "runs-on-another-cluster"
    assert "east" in answer.headline.sentence


def test_near_miss() -> None:
    """Another check is ready; no worker has taken it yet."""
    item = job()
    check = {"admissionChecks": [{"name": "prov", "state": "Ready", "message": "It was provisioned."}]}
    assert "runs-on-another-cluster" not in fired(
        cluster(item, workload(item, conditions=admitted(), status=check)).ask("team-a/train")
    )
    pending = [{"name": "mk", "state": "Pending", "message": ""}]
    waiting = recorded("cases/P50").edit(
        "Workload", "job-mk1-17870", {"status": {"admissionChecks": pending, "clusterName": None}}
    )
    assert "runs-on-another-cluster" not in fired(waiting.ask("ml-a/mk1"))
