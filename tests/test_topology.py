"""Topology arithmetic: assignments are decoded as they were written, and the room in a domain is what fits there."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core import objects as o
from bot.core.facts.topology import Placed, decode
from bot.core.snapshot import Unknown
from tests.clusters import Cluster, recorded

SCENARIO = "v0.19.2/topology-no-fit"
LABELS = st.text("ab-1", min_size=0, max_size=5)


def _slice(rows: list[tuple[tuple[str, ...], int]], *, share: bool) -> dict[str, Any]:
    """Write domains as one v1beta2 slice; with `share`, what is common to a level stands once (prefix and universal)."""
    levels = []
    for column in zip(*(values for values, _ in rows), strict=True):
        if share and len(set(column)) == 1:
            levels.append({"universal": column[0]})
            continue
        size = 0
        if share:
            while size < min(map(len, column)) and len({value[: size + 1] for value in column}) == 1:
                size += 1
        individual: dict[str, Any] = {"roots": [value[size:] for value in column]}
        if size:
            individual["prefix"] = column[0][:size]
        levels.append({"individual": individual})
    counts = [count for _, count in rows]
    same = share and len(set(counts)) == 1
    return {
        "domainCount": len(rows),
        "valuesPerLevel": levels,
        "podCounts": {"universal": counts[0]} if same else {"individual": counts},
    }


@settings(max_examples=60, deadline=None)
@given(
    levels=st.integers(1, 3),
    data=st.data(),
    cuts=st.integers(1, 4),
    share=st.booleans(),
)
def test_slices_say_what_domains_say(*, levels: int, data: st.DataObject, cuts: int, share: bool) -> None:
    row = st.tuples(st.tuples(*[LABELS] * levels), st.integers(1, 9))
    rows = data.draw(st.lists(row, min_size=1, max_size=12))
    parts = [rows[at : at + cuts] for at in range(0, len(rows), cuts)]
    names = tuple(f"level-{at}" for at in range(levels))
    written = o.TopologyAssignment(names, slices=tuple(_slice(part, share=share) for part in parts))
    plain = o.TopologyAssignment(names, domains=tuple(o.TopologyDomain(values, count) for values, count in rows))
    assert decode(written) == decode(plain) == tuple(Placed(values, count) for values, count in rows)


def test_prefix_and_suffix() -> None:
    part = {
        "domainCount": 2,
        "valuesPerLevel": [
            {"universal": "rack-1"},
            {"individual": {"prefix": "gpu-", "suffix": ".example.com", "roots": ["a", "b"]}},
        ],
        "podCounts": {"individual": [1, 2]},
    }
    assert decode(o.TopologyAssignment(("rack", "host"), slices=(part,))) == (
        Placed(("rack-1", "gpu-a.example.com"), 1),
        Placed(("rack-1", "gpu-b.example.com"), 2),
    )


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a"]}}], "podCounts": {"universal": 1}},
        {"domainCount": 1, "valuesPerLevel": [{}], "podCounts": {"universal": 1}},
        {"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"individual": []}},
        {"domainCount": -1, "valuesPerLevel": [], "podCounts": {"universal": 1}},
        {"domainCount": 1, "valuesPerLevel": [None], "podCounts": {"universal": 1}},
    ],
)
def test_what_contradicts_itself_is_not_known(part: dict[str, Any]) -> None:
    with pytest.raises(Unknown):
        decode(o.TopologyAssignment(("rack",), slices=(part,)))


# --- room -------------------------------------------------------------------------------------------------------------


def _ask(cluster: Cluster, count: int, request: Any) -> Cluster:
    name = cluster.named("Workload", "job-train")
    sets = cluster.get("Workload", name)["spec"]["podSets"]
    sets[0] |= {"count": count, "topologyRequest": request}
    return cluster.edit("Workload", name, {"spec": {"podSets": sets}})


LAYERS = {
    "podsetSliceRequiredTopologyConstraints": [
        {"topology": "cloud/rack", "size": 6},
        {"topology": "kubernetes.io/hostname", "size": 3},
    ]
}


def _room(cluster: Cluster) -> Any:
    topology = cluster.facts("team-a/train").topology
    return topology.rooms("tas")[0]


@pytest.mark.parametrize(
    ("count", "request_", "fits", "enough"),
    [
        (8, {"required": "cloud/rack"}, 8, True),
        (9, {"required": "cloud/rack"}, 8, False),
        (5, {"required": "kubernetes.io/hostname"}, 4, False),
        (4, {"required": "kubernetes.io/hostname"}, 4, True),
        (16, {"preferred": "cloud/rack"}, 16, True),
        (17, {"preferred": "cloud/rack"}, 16, False),
        (16, {"preferred": "kubernetes.io/hostname"}, 16, True),
        (16, {"unconstrained": True}, 16, True),
        (17, {"unconstrained": True}, 16, False),
        (17, None, 16, False),
        # slices of 3: one per node of 4 CPUs, two per rack of 8
        (12, {"podSetSliceRequiredTopology": "kubernetes.io/hostname", "podSetSliceSize": 3}, 4, True),
        (15, {"podSetSliceRequiredTopology": "kubernetes.io/hostname", "podSetSliceSize": 3}, 4, False),
        (6, {"required": "cloud/rack", "podSetSliceRequiredTopology": "kubernetes.io/hostname", "podSetSliceSize": 3}, 2, True),
        (9, {"required": "cloud/rack", "podSetSliceRequiredTopology": "kubernetes.io/hostname", "podSetSliceSize": 3}, 2, False),
        (16, {"podSetSliceRequiredTopology": "cloud/rack", "podSetSliceSize": 8}, 2, True),
        # slices of 6 in a rack, in them slices of 3 on a node of 4: one slice of 6 per rack
        (12, LAYERS, 2, True),
        (18, LAYERS, 2, False),
    ],
)  # fmt: skip
def test_room_of_four_nodes_in_two_racks(*, count: int, request_: Any, fits: int, enough: bool) -> None:
    room = _room(_ask(recorded(SCENARIO), count, request_))
    assert (room.fits, room.enough) == (fits, enough)


def _pod(name: str, node: str, cpu: str, **meta: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "serve", "uid": f"p-{name}", **meta},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running"},
    }  # fmt: skip


def test_pods_outside_kueue_take_room_and_finished_ones_do_not() -> None:
    done = _pod("done", "t1", "4")
    done["status"]["phase"] = "Succeeded"
    room = _room(_ask(recorded(SCENARIO).add(_pod("a", "t0", "2500m"), done), 8, {"required": "cloud/rack"}))
    assert (room.fits, room.best, room.fits_empty) == (8, ("r1",), 8)
    room = _room(
        _ask(recorded(SCENARIO).add(_pod("a", "t0", "2500m"), _pod("b", "t2", "1")), 8, {"required": "cloud/rack"})
    )
    assert (room.fits, room.best, room.enough, room.enough_empty) == (7, ("r1",), False, True)


def _placed(cluster: Cluster, counts: list[int]) -> Cluster:
    """Another Workload that holds nodes t0 and t1 by its assignment."""
    other = cluster.get("Workload", cluster.named("Workload", "job-train"))
    hosts = {"prefix": "t", "roots": ["0", "1"]}
    slices = [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"universal": "r0"}, {"individual": hosts}],
            "podCounts": {"individual": counts},
        }
    ]
    assignment = {"levels": ["cloud/rack", "kubernetes.io/hostname"], "slices": slices}
    part = {"name": "main", "count": sum(counts), "flavors": {"cpu": "tas"}, "topologyAssignment": assignment}
    other["metadata"] = {"name": "job-other", "namespace": "team-b", "uid": "w-other"}
    reserved = [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}]
    other["status"] = {"admission": {"clusterQueue": "gpu-cq", "podSetAssignments": [part]}, "conditions": reserved}
    return cluster.add(other)


def test_assignments_of_others_count_before_their_pods_are_there_and_once() -> None:
    cluster = _ask(_placed(recorded(SCENARIO), [3, 1]), 16, {"unconstrained": True})
    assert _room(cluster).fits == 12
    mark = {"annotations": {"kueue.x-k8s.io/workload": "job-other"}, "namespace": "team-b"}
    assert _room(cluster.add(_pod("x", "t0", "1", **mark))).fits == 12


@settings(max_examples=25, deadline=None)
@given(used=st.lists(st.integers(0, 5), min_size=4, max_size=4), count=st.integers(1, 20))
def test_room_against_a_plain_count(used: list[int], count: int) -> None:
    pods = [_pod(f"p{at}", f"t{at}", str(cpu)) for at, cpu in enumerate(used)]
    free = [max(4 - cpu, 0) for cpu in used]
    cluster = recorded(SCENARIO).add(*pods)
    racks = [free[0] + free[1], free[2] + free[3]]
    room = _room(_ask(cluster, count, {"required": "cloud/rack"}))
    assert room.enough == (max(racks) >= count)
    assert room.fits == (min(rack for rack in racks if rack >= count) if room.enough else max(racks))
    assert _room(_ask(cluster, count, {"preferred": "kubernetes.io/hostname"})).enough == (sum(free) >= count)


def test_the_order_of_nodes_and_pods_does_not_matter() -> None:
    cluster = _ask(recorded(SCENARIO).add(_pod("a", "t0", "1"), _pod("b", "t3", "1")), 8, {"required": "cloud/rack"})
    assert _room(cluster) == _room(Cluster((cluster.items[0], *reversed(cluster.items[1:]))))


def test_a_leader_shares_the_domain_of_its_workers() -> None:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    workers = cluster.get("Workload", name)["spec"]["podSets"][0]
    request = {"required": "cloud/rack", "podSetGroupName": "g"}
    leader = {**workers, "name": "leader", "count": 1, "topologyRequest": request}
    for count, enough in ((7, True), (8, False)):
        sets = [leader, {**workers, "name": "workers", "count": count, "topologyRequest": request}]
        room = _room(cluster.edit("Workload", name, {"spec": {"podSets": sets}}))
        assert (room.pod_set, room.fits, room.enough) == ("workers", 7, enough)


def test_pod_sets_see_what_the_earlier_ones_took() -> None:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    first = cluster.get("Workload", name)["spec"]["podSets"][0]
    sets = [{**first, "name": n, "count": 8, "topologyRequest": {"required": "cloud/rack"}} for n in ("a", "b", "c")]
    rooms = cluster.edit("Workload", name, {"spec": {"podSets": sets}}).facts("team-a/train").topology.rooms("tas")
    assert [(room.pod_set, room.fits, room.enough) for room in rooms] == [
        ("a", 8, True),
        ("b", 8, True),
        ("c", 0, False),
    ]


def test_partial_admission_needs_the_smallest_count_alone() -> None:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    sets = cluster.get("Workload", name)["spec"]["podSets"]
    sets[0] |= {"count": 12, "minCount": 6}
    room = _room(cluster.edit("Workload", name, {"spec": {"podSets": sets}}))
    assert (room.wanted, room.enough) == (6, True)


def test_larger_domains_count_per_flavor() -> None:
    """Where the lowest level is no node, what another flavor's Workloads hold in a domain of that name is not counted."""
    cluster = recorded(SCENARIO).edit("Topology", "rack", {"spec": {"levels": [{"nodeLabel": "cloud/rack"}]}})
    cluster = _ask(cluster, 8, {"required": "cloud/rack"})
    for flavor, fits in (("tas", 5), ("other", 8)):
        other = cluster.get("Workload", cluster.named("Workload", "job-train"))
        assignment = {"levels": ["cloud/rack"], "domains": [{"values": [rack], "count": 3} for rack in ("r0", "r1")]}
        part = {"name": "main", "count": 6, "flavors": {"cpu": flavor}, "topologyAssignment": assignment}
        other["metadata"] = {"name": "job-other", "namespace": "team-b", "uid": "w-other"}
        reserved = [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}]
        other["status"] = {"admission": {"clusterQueue": "cq", "podSetAssignments": [part]}, "conditions": reserved}
        assert _room(cluster.add(other)).fits == fits
