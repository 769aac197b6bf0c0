"""What a Workload asks for and holds, as Kueue counts it."""

from typing import Any

import pytest

from bot.core.facts.requests import PodSetRequests, held
from bot.core.snapshot import Unknown
from tests.clusters import Cluster
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
    (found,) = cluster.facts("team-a/train").quota.reserving("gpu-cq")
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
