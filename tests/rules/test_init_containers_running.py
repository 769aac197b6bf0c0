"""Rule init-containers-running."""

from tests.clusters import Cluster, fired, recorded


def _init(state: dict[str, object], policy: str | None = None) -> Cluster:
    cluster = recorded("v0.19.2/image-pull")
    pod = cluster.named("Pod", "train-")
    init = {"name": "fetch", "image": "registry.example/fetch:1", "restartPolicy": policy}
    main = {"name": "main", "ready": False, "state": {"waiting": {"reason": "PodInitializing"}}}
    status = {"initContainerStatuses": [{"name": "fetch", "ready": False, "state": state}], "containerStatuses": [main]}
    return cluster.edit("Pod", pod, {"spec": {"initContainers": [init]}, "status": status})


def test_fires() -> None:
    answer = _init({"running": {"startedAt": "2026-11-30T14:56:00Z"}}).ask("team-a/train")
    assert answer.headline.rule == "init-containers-running"
    assert answer.outlook == "in-progress"
    assert "init container fetch for" in answer.headline.sentence


def test_near_miss_a_sidecar_runs_all_along() -> None:
    assert "init-containers-running" not in fired(_init({"running": {}}, "Always").ask("team-a/train"))


def test_near_miss_it_crashes() -> None:
    answer = _init({"waiting": {"reason": "CrashLoopBackOff"}}).ask("team-a/train")
    assert "init-containers-running" not in fired(answer)
    assert answer.headline.rule == "container-crashing"
