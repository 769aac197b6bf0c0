"""Rule device-claim-not-prepared."""

from tests.clusters import Cluster, fired, recorded


def _creating(reason: str) -> Cluster:
    cluster = recorded("cases/P71")
    event = next(i for i in cluster.items if i.get("reason") == "FailedCreatePodSandBox")
    cluster = cluster.edit(
        "Pod", "ipx-1", {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}}
    )
    return cluster.edit("Event", event["metadata"]["name"], {"reason": reason, "message": "driver not registered"})


def test_fires() -> None:
    answer = _creating("FailedPrepareDynamicResources").ask("ml-a/ipx")
    assert answer.headline.rule == "device-claim-not-prepared"
    assert "driver not registered" in answer.headline.sentence


def test_near_miss_another_failure() -> None:
    assert "device-claim-not-prepared" not in fired(_creating("FailedCreatePodSandBox").ask("ml-a/ipx"))
