"""Rule workload-rejected."""

from typing import Any

from tests.clusters import fired
from tests.made import LONG_AGO, cluster, event, job, made

REFUSED = (
    'admission webhook "vworkload.kb.io" denied the request: spec.podSets: Too many: 20: must have at most 18 items'
)


def job_set(count: int) -> dict[str, Any]:
    """A JobSet with so many replicated jobs."""
    return job(
        "JobSet",
        spec={"replicatedJobs": [{"name": f"r{n}", "template": {"spec": {"template": {}}}} for n in range(count)]},
    )


def test_fires_on_too_many_pod_sets() -> None:
    answer = cluster(job_set(9), kueueVersion="v0.17.3").ask("team-a/train")
    assert answer.headline.rule == "workload-rejected"
    assert "9 pod sets" in answer.headline.sentence
    assert "allows at most 8" in answer.headline.sentence


def test_the_definition_of_the_kind_tells_how_many() -> None:
    """Where Kueue's version is not known, its CustomResourceDefinition knows; without either nothing is claimed."""
    pod_sets = {"properties": {"spec": {"properties": {"podSets": {"maxItems": 8}}}}}
    versions = [{"name": "v1beta2", "served": True, "schema": {"openAPIV3Schema": pod_sets}}]
    name = "workloads.kueue.x-k8s.io"
    definition = made("CustomResourceDefinition", name, namespace="", spec={"versions": versions})
    answer = cluster(job_set(9), definition, kueueVersion="").ask("team-a/train")
    assert answer.headline.rule == "workload-rejected"
    assert "allows at most 8" in answer.headline.sentence
    unknown = cluster(job_set(9), kueueVersion="").unread("customresourcedefinitions").ask("team-a/train")
    assert "workload-rejected" not in fired(unknown)
    assert "workload-rejected" in {entry.rule for entry in unknown.not_checked}


def test_fires_on_requests_that_no_workload_may_have() -> None:
    for requests in ({"pods": "1"}, {"cpu": "-1"}):
        containers = [{"name": "main", "resources": {"requests": requests}}]
        answer = cluster(job(spec={"template": {"spec": {"containers": containers}}})).ask("team-a/train")
        assert answer.headline.rule == "workload-rejected"


def test_fires_on_kueues_word() -> None:
    item = job()
    said = event(item, "FailedCreate", REFUSED, type="Warning", reportingComponent="batch/job-kueue-controller")
    answer = cluster(item, said).ask("team-a/train")
    assert answer.headline.rule == "workload-rejected"
    assert answer.headline.certainty == "reported"


def test_near_miss() -> None:
    """Few enough; an old event; somebody else's refusal of something else."""
    assert "workload-rejected" not in fired(cluster(job_set(9), kueueVersion="v0.19.2").ask("team-a/train"))
    item = job()
    old = event(
        item, "FailedCreate", REFUSED, at=LONG_AGO, type="Warning", reportingComponent="batch/job-kueue-controller"
    )
    other = event(
        item, "FailedCreate", "pods is forbidden: exceeded quota", type="Warning", reportingComponent="job-controller"
    )
    for said in (old, other):
        assert "workload-rejected" not in fired(cluster(item, said).ask("team-a/train"))
