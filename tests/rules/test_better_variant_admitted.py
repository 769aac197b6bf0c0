"""Beside a variant that waits: the variant of the same job that runs."""

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/quota-in-use"
TEXT = "A more favorable variant is already admitted"


def _said(text: str) -> Cluster:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    return cluster.condition("Workload", name, type="QuotaReserved", status="False", reason="Pending", message=text)


def test_fires() -> None:
    found = next(f for f in _said(TEXT).ask("team-a/train").context if f.rule == "better-variant-admitted")
    assert found.certainty == "reported"
    assert "more favorable variant" in found.sentence


def test_near_miss() -> None:
    assert "better-variant-admitted" not in fired(recorded(SCENARIO).ask("team-a/train"))


def _variants(parent: str) -> Cluster:
    """Two variants; the other one, of the same or of another parent, is admitted."""
    cluster = recorded(SCENARIO)
    own, other = cluster.named("Workload", "job-train"), cluster.named("Workload", "job-holder")
    for name, uid in ((own, "parent-1"), (other, parent)):
        owner = [
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": uid, "uid": uid, "controller": True}
        ]
        allowed = {"kueue.x-k8s.io/workload-allowed-resource-flavors": "a100"}
        meta = {"ownerReferences": owner, "annotations": allowed, "labels": None}
        cluster = cluster.edit("Workload", name, {"metadata": meta})
    return cluster


def test_fires_beside_the_variant_that_runs() -> None:
    cluster = _variants("parent-1")
    answer = cluster.ask("team-a/" + cluster.named("Workload", "job-train"), "Workload")
    found = next(f for f in answer.context if f.rule == "better-variant-admitted")
    assert "job-holder" in found.sentence
    assert found.certainty == "certain"


def test_near_miss_another_jobs_variant() -> None:
    cluster = _variants("parent-2")
    answer = cluster.ask("team-a/" + cluster.named("Workload", "job-train"), "Workload")
    assert "better-variant-admitted" not in fired(answer)
