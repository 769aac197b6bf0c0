"""The Workload is being deleted and a finalizer holds it."""

from tests.clusters import fired, recorded
from tests.findings import sentence

RULE = "workload-terminating"


def test_fires() -> None:
    cluster = recorded("v0.19.2/local-queue-hold")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.edit("LocalQueue", "train-queue", {"spec": {"stopPolicy": "None"}})
    deleted = {"metadata": {"deletionTimestamp": "2026-11-30T14:00:00Z"}}
    answer = cluster.edit("Workload", name, deleted).ask("team-a/train")
    assert RULE in fired(answer)
    said = sentence(answer, RULE)
    assert "has been in deletion for" in said
    assert "kueue.x-k8s.io/resource-in-use" in said
    assert "may pass by itself" not in said


def test_young_one_may_pass() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    answer = cluster.edit("Workload", name, {"metadata": {"deletionTimestamp": cluster.now}}).ask("team-a/train")
    assert "may pass by itself" in sentence(answer, RULE)


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
