"""What a Workload asks for and holds, as Kueue counts it."""

import json
from typing import Any

import msgspec
import pytest

from bot.core import objects as o
from bot.core.facts.requests import PodSetRequests, held
from bot.core.facts.requests import asked as count
from bot.core.snapshot import Unknown
from tests.clusters import CASES, QUOTA_TREES, RECORDINGS, Cluster, recorded
from tests.small import READ, holder, pod_set, queue, small, thing, waiting

BOTH = queue("gpu-cq", {"a100": {"cpu": 10, "memory": "10Gi", "gpu": 8}})


def asked(cluster: Cluster) -> list[PodSetRequests]:
    return list(cluster.facts("team-a/train").quota.requests)


def requests(cluster: Cluster) -> dict[str, int]:
    (only,) = asked(cluster)
    return dict(only.requests)


def containers(*parts: dict[str, Any], init: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, Any]:
    return pod_set(spec={"containers": list(parts), "initContainers": init or [], **spec})


def container(restart: str = "", limits: dict[str, str] | None = None, **requests: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": "c", "resources": {"requests": requests, "limits": limits or {}}}
    return found | ({"restartPolicy": restart} if restart else {})


def test_kueues_own_count_wins_over_the_template() -> None:
    status = {"resourceRequests": [{"name": "main", "resources": {"cpu": "1500m"}}]}
    assert requests(small(BOTH, waiting("train", pod_set(count=3, cpu=1), status=status))) == {"cpu": 1500}


TRANSFORMED = {"v0.17.0-live/counted-beyond-the-template"}
"""Kueue counts other resources there, by a part of its configuration that the recording does not hold."""


def _counted() -> list[Any]:
    found: list[Any] = []
    for folder, prefix in ((RECORDINGS, ""), (QUOTA_TREES, "quota_trees/"), (CASES, "cases/")):
        found += [
            prefix + str(path.relative_to(folder)).removesuffix(".json")
            for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")])
            if '"resourceRequests"' in path.read_text()
        ]
    return sorted(set(found) - TRANSFORMED)


@pytest.mark.parametrize("name", _counted())
def test_the_template_counts_to_what_kueue_counted(name: str) -> None:
    """Wherever Kueue wrote `status.resourceRequests`, our own count of the templates gives the same amounts."""
    snapshot = recorded(name).snapshot()
    for workload in snapshot.all_of(o.Workload):
        if workload.status.resource_requests and not workload.metadata.annotations:
            bare = msgspec.structs.replace(
                workload, status=msgspec.structs.replace(workload.status, resource_requests=(), conditions=())
            )
            for pods_covered in (False, True):
                ours = count(bare, snapshot, pods_covered=pods_covered)
                theirs = count(workload, snapshot, pods_covered=pods_covered)
                assert [entry.requests for entry in ours] == [entry.requests for entry in theirs]


def test_kueues_count_of_an_older_spec_is_passed_over() -> None:
    """Half of the pods are left since Kueue counted; a resource that only Kueue knows of keeps its count."""
    refused = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "", "observedGeneration": 1}
    for resources, expected in (({"cpu": "4"}, {"cpu": 2000}), ({"cpu": "4", "gpu": "1"}, {"cpu": 4000, "gpu": 1})):
        status = {"resourceRequests": [{"name": "main", "resources": resources}], "conditions": [refused]}
        parts = waiting("train", pod_set(count=2, cpu=1), status=status)
        parts[1]["metadata"]["generation"] = 2
        assert requests(small(BOTH, parts)) == expected
        parts[1]["metadata"]["generation"] = 1
        assert requests(small(BOTH, parts))["cpu"] == 4000


def test_pods_count_only_where_they_are_covered() -> None:
    status = {"resourceRequests": [{"name": "main", "resources": {"cpu": "3", "pods": "3"}}]}
    question = waiting("train", pod_set(count=3, cpu=1), status=status)
    assert requests(small(BOTH, question)) == {"cpu": 3000}
    assert requests(small(queue("gpu-cq", {"f": {"cpu": 2, "pods": 2}}), question)) == {"cpu": 3000, "pods": 3}
    assert requests(
        small(queue("gpu-cq", {"f": {"cpu": 2, "pods": 2}}), waiting("train", pod_set(count=3, cpu=1)))
    ) == {
        "cpu": 3000,
        "pods": 3,
    }


def test_containers_sidecars_and_init_containers() -> None:
    parts = containers(
        container(cpu="1"), container(cpu="500m"), init=[container(cpu="3"), container("Always", cpu="250m")]
    )
    assert requests(small(BOTH, waiting("train", parts))) == {"cpu": 3000}
    parts = containers(container(cpu="1"), container(cpu="500m"), init=[container("Always", cpu="2")])
    assert requests(small(BOTH, waiting("train", parts))) == {"cpu": 3500}


def test_a_limit_stands_for_a_missing_request() -> None:
    parts = containers(container(cpu="1", limits={"cpu": "4", "gpu": "2"}))
    assert requests(small(BOTH, waiting("train", parts))) == {"cpu": 1000, "gpu": 2}


def test_limit_ranges_add_what_nobody_wrote() -> None:
    limits = {
        "type": "Container",
        "defaultRequest": {"cpu": "100m", "memory": "1Gi"},
        "default": {"memory": "2Gi", "gpu": "1"},
    }
    spec = {"limits": [limits, {"type": "Pod", "max": {"cpu": "1"}}]}
    ranges = thing("v1", "LimitRange", "defaults", "team-a", spec=spec)
    other = thing(
        "v1", "LimitRange", "elsewhere", "team-b", spec={"limits": [{"type": "Container", "default": {"disk": "1"}}]}
    )
    cluster = small(BOTH, ranges, other, waiting("train", pod_set(count=2, cpu=1)))
    assert requests(cluster) == {"cpu": 2000, "memory": 2 * 2**30, "gpu": 2}


def test_without_the_limit_ranges_never_is_known_and_fits_is_not() -> None:
    read = [entry for entry in READ if entry != "v1/limitranges"]
    assert small(BOTH, waiting("train", cpu=20), read=read).facts("team-a/train").quota.verdict == "never"
    with pytest.raises(Unknown, match="limitranges"):
        _ = small(BOTH, waiting("train", cpu=2), read=read).facts("team-a/train").quota.verdict


def test_runtime_class_overhead_counts() -> None:
    runtime = thing("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata", overhead={"podFixed": {"cpu": "250m"}})
    parts = containers(container(cpu="1"), runtimeClassName="kata")
    assert requests(small(BOTH, runtime, waiting("train", parts))) == {"cpu": 1250}


def configured(**resources: Any) -> dict[str, Any]:
    text = json.dumps({"kind": "Configuration", "resources": resources})
    data = {"controller_manager_config.yaml": text}
    return thing("v1", "ConfigMap", "kueue-manager-config", "kueue-system", data=data)


def test_what_kueues_configuration_leaves_out() -> None:
    only = queue("gpu-cq", {"f": {"cpu": 10}})
    parts = waiting("train", pod_set(cpu=1, example_com__net=2))
    assert small(only, parts).facts("team-a/train").quota.verdict == "excluded"
    for resources in ({"excludeResourcePrefixes": ["example.com"]}, {"quotaCheckStrategy": "IgnoreUndeclared"}):
        found = small(only, parts, configured(**resources)).facts("team-a/train").quota
        assert (found.verdict, dict(found.requests[0].requests)) == ("fits", {"cpu": 1000})


def test_a_transformation_is_left_to_kueue() -> None:
    change = configured(transformations=[{"input": "gpu", "strategy": "Replace", "outputs": {"credits": "5"}}])
    with pytest.raises(Unknown, match="transforms gpu"):
        requests(small(BOTH, change, waiting(gpu=1)))
    told = {"resourceRequests": [{"name": "main", "resources": {"credits": "5"}}]}
    assert requests(small(BOTH, change, waiting(gpu=1, status=told))) == {"credits": 5}


def test_pods_that_are_done_no_longer_count() -> None:
    status = {"reclaimablePods": [{"name": "main", "count": 2}]}
    assert requests(small(BOTH, waiting("train", pod_set(count=3, cpu=1), status=status))) == {"cpu": 1000}


def test_an_elastic_slice_asks_for_the_difference() -> None:
    old = holder("old", "gpu-cq", {"cpu": ("a100", 2), "gpu": ("a100", 4)}, namespace="team-a")
    parts = waiting("train", pod_set(count=3, cpu=1, gpu=1))
    parts[1]["metadata"]["annotations"] = {"kueue.x-k8s.io/workload-slice-replacement-for": "team-a/job-old"}
    assert requests(small(BOTH, old, parts)) == {"cpu": 1000}


def test_an_odd_quantity_is_unknown_and_named() -> None:
    with pytest.raises(Unknown, match="not a Kubernetes quantity"):
        requests(small(BOTH, waiting("train", cpu="lots")))


def test_reservations_are_scaled_to_the_pods_that_still_count() -> None:
    (_, workload, _) = holder("big", "gpu-cq", {"cpu": ("a100", 8)})
    workload["status"]["admission"]["podSetAssignments"][0]["count"] = 4
    workload["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
    cluster = small(BOTH, waiting("train", cpu=1), (workload,))
    (found,) = cluster.facts("team-a/train").trees.reserving("gpu-cq")
    assert held(found) == {("a100", "cpu"): 6000}


@pytest.mark.parametrize("why", ["inactive", "finished", "unreserved"])
def test_what_no_longer_holds_quota(why: str) -> None:
    (_, workload, _) = holder("big", "gpu-cq", {"cpu": ("a100", 8)})
    if why == "inactive":
        workload["spec"]["active"] = False
    elif why == "finished":
        workload["status"]["conditions"].append(
            {"type": "Finished", "status": "True", "reason": "Succeeded", "message": ""}
        )
    else:
        workload["status"]["conditions"] = [
            {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": ""}
        ]
    rows = small(BOTH, waiting("train", cpu=1), (workload,)).facts("team-a/train").quota.rows
    assert [row.used for row in rows] == [0]
