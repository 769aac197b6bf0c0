"""Rule job-spec-rejected-by-operator."""

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, event, job, pod, workload


def test_fires() -> None:
    status = {"jobDeploymentStatus": "ValidationFailed", "message": "the head group has no container"}
    item = job("RayJob", suspended=False, status=status)
    answer = cluster(item, workload(item, conditions=admitted())).ask("team-a/train")
    assert answer.headline.rule == "job-spec-rejected-by-operator"
    assert "KubeRay" in answer.headline.sentence
    assert "the head group has no container" in answer.headline.sentence


def test_fires_on_the_operators_warning() -> None:
    item = job("MPIJob", suspended=False)
    said = event(
        item,
        "ValidationError",
        "spec.slotsPerWorker: Required value",
        type="Warning",
        reportingComponent="mpi-job-controller-x",
    )
    answer = cluster(item, workload(item, conditions=admitted()), said).ask("team-a/train")
    assert answer.headline.rule == "job-spec-rejected-by-operator"
    assert answer.headline.certainty == "reported"


def test_near_miss() -> None:
    """A job that is accepted; a warning after which pods were made; a Job of Kubernetes itself."""
    assert "job-spec-rejected-by-operator" not in fired(recorded("cases/P26").ask("ml-a/ray-1"))
    item = job("MPIJob", suspended=False)
    said = event(item, "ValidationError", "no", type="Warning", reportingComponent="mpi-operator")
    runs = cluster(item, workload(item, conditions=admitted()), said, pod("p", owner=item, phase="Running"))
    assert "job-spec-rejected-by-operator" not in fired(runs.ask("team-a/train"))
    plain = job(suspended=False)
    words = event(plain, "InvalidEnvironment", "no", type="Warning", reportingComponent="job-controller")
    assert "job-spec-rejected-by-operator" not in fired(cluster(plain, words).ask("team-a/train"))
