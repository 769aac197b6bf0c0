"""Rule integration-not-enabled."""

from typing import Any

from tests.clusters import Cluster, fired, recorded
from tests.made import NOW, cluster, job, made, pod


def configured(frameworks: str, *objects: dict[str, Any], **recording: Any) -> Cluster:
    """A cluster whose Kueue runs these integrations."""
    text = f"integrations: {{frameworks: [{frameworks}]}}\n"
    config = made(
        "ConfigMap", "kueue-manager-config", namespace="kueue-system", data={"controller_manager_config.yaml": text}
    )
    return cluster(config, *objects, **recording)


def test_fires() -> None:
    answer = configured("batch/job", job("PyTorchJob")).ask("team-a/train")
    assert answer.headline.rule == "integration-not-enabled"
    assert "kubeflow.org/pytorchjob" in answer.headline.sentence
    assert answer.headline.certainty == "certain"


def test_fires_on_pods_without_the_pod_integration() -> None:
    gated = pod("train", gated=True, labels={"kueue.x-k8s.io/queue-name": "train-queue"})
    assert configured("batch/job", gated).ask("team-a/train").headline.rule == "integration-not-enabled"


def test_fires_on_a_definition_younger_than_kueue() -> None:
    answer = recorded("cases/P28").ask("ml-a/mpi-pi")
    assert answer.headline.rule == "integration-not-enabled"
    assert "2023-07-20" in answer.headline.sentence
    assert "2023-07-24" in answer.headline.sentence
    assert answer.headline.certainty == "likely"


def test_fires_on_a_kueue_that_does_not_know_the_kind() -> None:
    answer = cluster(job("TrainJob"), kueueVersion="v0.12.3").ask("team-a/train")
    assert answer.headline.rule == "integration-not-enabled"
    assert "0.14" in answer.headline.sentence


def test_fires_on_a_gate_that_is_off() -> None:
    answer = configured("sparkoperator.k8s.io/sparkapplication", job("SparkApplication")).ask("team-a/train")
    assert answer.headline.rule == "integration-not-enabled"
    assert "SparkApplicationIntegration" in answer.headline.sentence


def test_near_miss() -> None:
    """It is listed; it is external; Kueue started after the definition was made; the job is not held."""
    assert "integration-not-enabled" not in fired(
        configured("kubeflow.org/pytorchjob", job("PyTorchJob")).ask("team-a/train")
    )
    restarted = recorded("cases/P28").edit(
        "Pod", "kueue-controller-manager-1", {"metadata": {"creationTimestamp": NOW}}
    )
    assert "integration-not-enabled" not in fired(restarted.ask("ml-a/mpi-pi"))
    runs = configured("batch/job", job("PyTorchJob", suspended=False)).ask("team-a/train")
    assert runs.headline.rule != "integration-not-enabled"
    unread = cluster(job("PyTorchJob")).ask("team-a/train")
    assert "integration-not-enabled" in {entry.rule for entry in unread.not_checked}
