"""Rule volume-not-bound."""

from bot.core.names import plain, show
from tests.clusters import Cluster, fired, recorded

_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "disk.csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def test_fires() -> None:
    answer = recorded("v0.19.2/pvc-unbound").ask("team-a/train")
    assert answer.headline.rule == "volume-not-bound"
    assert "storage class fast does not exist" in _plain(answer.headline.sentence)


def test_near_miss_the_claim_waits_for_the_pod_to_be_placed() -> None:
    cluster = recorded("v0.19.2/pvc-unbound").add(_CLASS)
    pod = cluster.named("Pod", "train-")
    cluster = cluster.edit("Pod", pod, {"status": {"conditions": []}})
    cluster = Cluster(tuple(item for item in cluster.items if item["kind"] != "Event"))
    assert "volume-not-bound" not in fired(cluster.ask("team-a/train"))


def test_near_miss_the_claim_is_bound() -> None:
    cluster = recorded("v0.19.2/pvc-unbound").edit("PersistentVolumeClaim", "data", {"status": {"phase": "Bound"}})
    assert "volume-not-bound" not in fired(cluster.ask("team-a/train"))


def _plain(text: str) -> str:
    return show(text, plain)
