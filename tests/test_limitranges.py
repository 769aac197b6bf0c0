"""LimitRanges: defaults filled in, the tightest bound counts, order does not matter."""

import itertools

from bot.core import limitranges
from bot.core import objects as o


def _range(name: str, scope: str = "Container", **bounds: dict[str, str]) -> o.LimitRange:
    item = o.LimitRangeItem(
        type=scope,
        max=dict(bounds.get("max", {})),
        min=dict(bounds.get("min", {})),
        default=dict(bounds.get("default", {})),
        default_request=dict(bounds.get("default_request", {})),
    )
    return o.LimitRange(metadata=o.Meta(name=name), spec=o.LimitRangeSpec(limits=(item,)))


def _pod(
    requests: dict[str, str], limits: dict[str, str] | None = None, init: dict[str, str] | None = None
) -> o.PodSpec:
    def container(name: str, asked: dict[str, str], limited: dict[str, str]) -> o.Container:
        resources = o.ResourceRequirements(requests=dict(asked), limits=dict(limited))
        return o.Container(name=name, resources=resources)

    return o.PodSpec(
        containers=(container("main", requests, limits or {}),),
        init_containers=(container("setup", init, {}),) if init else (),
    )


def _found(spec: o.PodSpec, *ranges: o.LimitRange) -> list[tuple[str, str, str, str, str]]:
    return [(p.what, p.resource, p.asked, p.bound, p.limit_range) for p in limitranges.problems(spec, ranges)]


def test_own_limit() -> None:
    assert _found(_pod({"cpu": "2"}, {"cpu": "1500m"})) == [("above-limits", "cpu", "2", "1500m", "")]
    assert _found(_pod({"cpu": "1500m"}, {"cpu": "1.5"})) == []
    assert _found(_pod({"cpu": "2"})) == []


def test_default_limit() -> None:
    default = _range("lr", default={"cpu": "500m"})
    assert _found(_pod({"cpu": "700m"}), default) == [("above-limits", "cpu", "700m", "500m", "lr")]
    assert _found(_pod({"cpu": "700m"}, {"cpu": "1"}), default) == []
    # a container that requests nothing gets the default as its request as well
    assert _found(_pod({}), default) == []


def test_default_request_meets_the_own_limit() -> None:
    assert _found(_pod({}, {"cpu": "100m"}), _range("lr", default_request={"cpu": "1"})) == [
        ("above-limits", "cpu", "1", "100m", "")
    ]


def test_bounds_take_requests_and_limits_alike() -> None:
    assert _found(_pod({"cpu": "1"}, {"cpu": "4"}), _range("lr", max={"cpu": "2"})) == [
        ("above-max", "cpu", "4", "2", "lr")
    ]
    assert _found(_pod({"memory": "1Gi"}), _range("lr", min={"memory": "2Gi"})) == [
        ("below-min", "memory", "1Gi", "2Gi", "lr")
    ]
    assert _found(_pod({"cpu": "2"}), _range("lr", max={"cpu": "2"}, min={"cpu": "2"})) == []
    assert _found(_pod({"cpu": "2"}), _range("lr", max={"memory": "1Gi"})) == []


def test_init_containers_count() -> None:
    found = limitranges.problems(_pod({"cpu": "1"}, init={"cpu": "9"}), [_range("lr", max={"cpu": "2"})])
    assert [(p.container, p.path) for p in found] == [("setup", "initContainers[0]")]


def test_whole_pod() -> None:
    pod = o.PodSpec(
        containers=tuple(
            o.Container(name=name, resources=o.ResourceRequirements(requests={"cpu": "1500m"})) for name in "ab"
        )
    )
    assert _found(pod, _range("lr", "Pod", max={"cpu": "2"})) == [("above-max", "cpu", "3", "2", "lr")]
    assert _found(pod, _range("lr", "Pod", max={"cpu": "3"})) == []
    assert _found(pod, _range("lr", "PersistentVolumeClaim", max={"cpu": "1"})) == []


def test_the_tightest_counts_in_any_order() -> None:
    ranges = [_range("a", max={"cpu": "4"}), _range("b", max={"cpu": "2"}), _range("c", max={"cpu": "3"})]
    for order in itertools.permutations(ranges):
        assert _found(_pod({"cpu": "5"}), *order) == [("above-max", "cpu", "5", "2", "b")]


def test_what_is_not_a_quantity_is_left_out() -> None:
    assert _found(_pod({"cpu": "lots"}, {"cpu": "1"}), _range("lr", max={"cpu": "many"})) == []
