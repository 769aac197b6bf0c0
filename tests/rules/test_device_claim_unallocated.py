"""Rule device-claim-unallocated."""

from tests.clusters import Cluster, fired, recorded


def _claiming(message: str = "") -> Cluster:
    cluster = recorded("v0.19.2/some-pods-running").read("resource.k8s.io/v1/resourceclaims")
    waiting = next(i["metadata"]["name"] for i in cluster.items if i["kind"] == "Pod" and not i["spec"].get("nodeName"))
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    patch = {
        "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]},
        "status": {"conditions": [said]},
    }
    return cluster.edit("Pod", waiting, patch)


_CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "shared", "namespace": "team-a"},
}


def test_fires_for_a_missing_claim() -> None:
    answer = _claiming().ask("team-a/train")
    assert answer.headline.rule == "device-claim-unallocated"
    assert answer.headline.move == "asker"
    assert "shared" in answer.headline.sentence


def test_fires_when_the_scheduler_cannot_allocate() -> None:
    answer = _claiming("0/1 nodes are available: 1 cannot allocate all claims.").add(_CLAIM).ask("team-a/train")
    assert answer.headline.rule == "device-claim-unallocated"
    assert answer.headline.certainty == "reported"


def test_near_miss_the_scheduler_speaks_of_something_else() -> None:
    text = (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available."
    )
    answer = _claiming(text).add(_CLAIM).ask("team-a/train")
    assert "device-claim-unallocated" not in fired(answer)
