"""Which flavor a pod set gets, how the verdicts combine, and what stands in the quota table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.cohorts import Key, Limits, Node, Tree
from bot.core.diagnosis import QuotaRow
from bot.core.facts.assignment import Group, Offer, fits, place
from bot.core.facts.flavors import Exclusion
from bot.core.facts.quota import Quota
from bot.core.facts.requests import PodSetRequests
from bot.core.snapshot import Unknown
from tests.small import cohort, flavor, holder, pod_set, queue, small, waiting


def quota(*objects: object, read: list[str] | None = None) -> Quota:
    return small(*objects, read=read).facts("team-a/train").quota  # type: ignore[arg-type]


def table(found: Quota) -> dict[tuple[str, str], QuotaRow]:
    return {(row.flavor, row.resource): row for row in found.rows}


TWO = queue("gpu-cq", {"reserved": {"cpu": 10, "gpu": 4}, "spot": {"cpu": 10, "gpu": 8}})


def test_the_first_flavor_with_room_for_all_resources() -> None:
    found = quota(TWO, waiting(cpu=2, gpu=6))
    assert found.verdict == "fits"
    assert found.assignment_now == {("main", "cpu"): "spot", ("main", "gpu"): "spot"}
    assert {key: row.verdict for key, row in table(found).items()} == {
        ("reserved", "cpu"): "fits", ("reserved", "gpu"): "never", ("spot", "cpu"): "fits", ("spot", "gpu"): "fits",
    }  # fmt: skip


def test_one_flavor_for_all_resources_of_a_group() -> None:
    """The first flavor lacks cpu, the second one gpu: together they would do, and Kueue does not split."""
    split = queue("gpu-cq", {"reserved": {"cpu": 1, "gpu": 8}, "spot": {"cpu": 8, "gpu": 1}})
    assert quota(split, waiting(cpu=4, gpu=4)).verdict == "never"


def test_several_groups_each_choose_their_own() -> None:
    groups = queue("gpu-cq", [{"a100": {"gpu": 8}}, {"default": {"cpu": 2}}])
    found = quota(groups, waiting(cpu=4, gpu=4))
    assert [group.verdict for group in found.groups] == ["fits", "never"]
    assert found.verdict == "never"
    assert found.shortfall is not None
    assert found.shortfall.flavor == "default"


def test_of_two_that_wait_the_smaller_shortage_then_the_first() -> None:
    held = (holder("a", "gpu-cq", {"gpu": ("reserved", 3)}), holder("b", "gpu-cq", {"gpu": ("spot", 6)}))
    found = quota(TWO, waiting(gpu=4), *held)
    assert found.shortfall is not None
    assert (found.shortfall.flavor, [figure.short for figure in found.shortfall.figures]) == ("spot", [2])
    same = quota(TWO, waiting(gpu=4), held[0], holder("b", "gpu-cq", {"gpu": ("spot", 7)}))
    assert same.shortfall is not None
    assert same.shortfall.flavor == "reserved"


def test_wait_is_better_than_never_and_excluded_is_worst() -> None:
    held = holder("a", "gpu-cq", {"gpu": ("spot", 6)})
    tainted = flavor("reserved", nodeTaints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    found = quota(TWO, tainted, waiting(gpu=6), held)
    assert found.verdict == "wait"
    row = table(found)["reserved", "gpu"]
    assert (row.verdict, row.why, row.nominal) == ("excluded", "taint dedicated=x:NoSchedule", 4)


def test_the_flavors_own_tolerations_count_and_prefer_no_schedule_does_not() -> None:
    taint = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
    own = flavor("reserved", nodeTaints=[taint], tolerations=[{"key": "gpu", "operator": "Exists"}])
    assert quota(TWO, own, waiting(gpu=4)).assignment_now == {("main", "gpu"): "reserved"}
    soft = flavor("reserved", nodeTaints=[{**taint, "effect": "PreferNoSchedule"}])
    assert quota(TWO, soft, waiting(gpu=4)).assignment_now == {("main", "gpu"): "reserved"}
    hard = flavor("reserved", nodeTaints=[{**taint, "effect": "NoExecute"}])
    assert quota(TWO, hard, waiting(gpu=4)).assignment_now == {("main", "gpu"): "spot"}


def affinity(*terms: list[dict[str, object]]) -> dict[str, object]:
    entries = [{"matchExpressions": term} for term in terms]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": entries}}}
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {"tier": "b"}}, "spot"),
        ({"nodeSelector": {"tier": "a", "zone": "elsewhere"}}, "reserved"),
        (affinity([{"key": "tier", "operator": "In", "values": ["b"]}]), "spot"),
        (affinity([{"key": "tier", "operator": "NotIn", "values": ["a"]}]), "spot"),
        (
            affinity([{"key": "tier", "operator": "In", "values": ["b"]}], [{"key": "zone", "operator": "Exists"}]),
            "reserved",
        ),
        (affinity([{"key": "zone", "operator": "In", "values": ["x"]}]), "reserved"),
    ],
)
def test_node_labels_are_compared_by_the_flavors_own_keys(spec: dict[str, object], expected: str) -> None:
    flavors = flavor("reserved", nodeLabels={"tier": "a"}), flavor("spot", nodeLabels={"tier": "b"})
    found = quota(TWO, flavors, waiting("train", pod_set(spec=spec, gpu=4)))
    assert found.assignment_now == {("main", "gpu"): expected}


def test_pod_sets_see_what_earlier_ones_took() -> None:
    found = quota(TWO, waiting("train", pod_set("a", gpu=4), pod_set("b", gpu=4), pod_set("c", gpu=4)))
    assert found.assignment_now == {("a", "gpu"): "reserved", ("b", "gpu"): "spot", ("c", "gpu"): "spot"}
    rows = table(found)
    assert (rows["reserved", "gpu"].requested, rows["reserved", "gpu"].pod_sets) == (4, ("a",))
    assert (rows["spot", "gpu"].requested, rows["spot", "gpu"].pod_sets) == (8, ("b", "c"))


def test_all_pod_sets_of_a_flavor_count_together() -> None:
    found = quota(
        queue("gpu-cq", {"f": {"gpu": 4}}), waiting("train", pod_set("a", gpu=2), pod_set("b", count=3, gpu=1))
    )
    row = table(found)["f", "gpu"]
    assert (row.requested, row.capacity, row.short, row.verdict) == (5, 4, 1, "never")


def test_a_group_of_pod_sets_gets_one_flavor() -> None:
    sets = [pod_set(name, gpu=3) | {"topologyRequest": {"podSetGroupName": "g"}} for name in ("a", "b")]
    found = quota(TWO, waiting("train", *sets))
    assert found.assignment_now == {("a", "gpu"): "spot", ("b", "gpu"): "spot"}


def test_a_flavor_that_borrows_is_passed_over_where_the_queue_says_so() -> None:
    quotas = {"reserved": {"gpu": 2}, "spot": {"gpu": 8}}
    other = queue("other", {"reserved": {"gpu": 8}, "spot": {"gpu": 0}}, cohort="co")
    eager = queue("gpu-cq", quotas, cohort="co")
    assert quota(eager, other, cohort("co"), waiting(gpu=4)).assignment_now == {("main", "gpu"): "reserved"}
    shy = queue("gpu-cq", quotas, cohort="co", flavorFungibility={"whenCanBorrow": "TryNextFlavor"})
    assert quota(shy, other, cohort("co"), waiting(gpu=4)).assignment_now == {("main", "gpu"): "spot"}


def test_of_flavors_that_borrow_the_one_with_the_nearest_quota() -> None:
    quotas = {"far": {"gpu": 0}, "near": {"gpu": 0}}
    tree = (
        cohort("all"),
        cohort("half", parent="all"),
        queue("upper", {"far": {"gpu": 8}}, cohort="all"),
        queue("near-cq", {"near": {"gpu": 8}}, cohort="half"),
    )
    shy = queue("gpu-cq", quotas, cohort="half", flavorFungibility={"whenCanBorrow": "TryNextFlavor"})
    assert quota(shy, *tree, waiting(gpu=4)).assignment_now == {("main", "gpu"): "near"}
    # what is left beside it does not do: both come from the root, and the first one is taken
    held = holder("a", "near-cq", {"gpu": ("near", 2)})
    more = queue("top", {"near": {"gpu": 8}}, cohort="all")
    assert quota(shy, *tree, more, held, waiting(gpu=7)).assignment_now == {("main", "gpu"): "far"}
    eager = queue("gpu-cq", quotas, cohort="half")
    assert quota(eager, *tree, waiting(gpu=4)).assignment_now == {("main", "gpu"): "far"}


def test_partial_admission_counts_at_its_smallest_size() -> None:
    only = queue("gpu-cq", {"f": {"gpu": 4}})
    assert quota(only, waiting("train", pod_set(count=8, gpu=1))).verdict == "never"
    assert quota(only, waiting("train", pod_set(count=8, gpu=1) | {"minCount": 4})).verdict == "fits"
    assert quota(only, waiting("train", pod_set(count=8, gpu=1) | {"minCount": 5})).verdict == "never"
    held = holder("a", "gpu-cq", {"gpu": ("f", 2)})
    found = quota(only, held, waiting("train", pod_set(count=8, gpu=1) | {"minCount": 3}))
    assert found.verdict == "wait"
    assert found.shortfall is not None
    assert found.shortfall.at_minimum


def test_variants_and_slices_are_held_to_their_flavors() -> None:
    parts = waiting(gpu=4)
    parts[1]["metadata"]["annotations"] = {"kueue.x-k8s.io/workload-allowed-resource-flavors": "spot"}
    assert quota(TWO, parts).assignment_now == {("main", "gpu"): "spot"}
    slices = waiting("train", pod_set(count=4, gpu=1))
    slices[1]["metadata"]["annotations"] = {"kueue.x-k8s.io/workload-slice-replacement-for": "team-a/job-old"}
    found = quota(TWO, slices, holder("old", "gpu-cq", {"gpu": ("spot", 2)}, namespace="team-a"))
    assert found.assignment_now == {("main", "gpu"): "spot"}
    assert table(found)["spot", "gpu"].requested == 2


def test_usage_comes_from_the_workloads_or_else_from_the_status() -> None:
    lagging = {"flavorsReservation": [{"name": "reserved", "resources": [{"name": "gpu", "total": "1"}]}]}
    old = {**TWO, "status": {**TWO["status"], **lagging}}
    cluster = small(old, waiting(gpu=4), holder("a", "gpu-cq", {"gpu": ("reserved", 3)}))
    facts = cluster.facts("team-a/train")
    queue_of = facts.queue.cluster_queue
    assert (table(facts.quota)["reserved", "gpu"].used, facts.trees.usage(queue_of)[1]) == (3, True)  # type: ignore[arg-type]
    read = [entry for entry in cluster.items[0]["read"] if not entry.endswith("workloads")]
    unsure = small(*cluster.items[2:], read=read).facts("team-a/train")
    queue_of = unsure.queue.cluster_queue
    assert (table(unsure.quota)["reserved", "gpu"].used, unsure.trees.usage(queue_of)[1]) == (1, False)  # type: ignore[arg-type]


def test_nothing_is_guessed_where_the_tree_was_not_read() -> None:
    member = queue("gpu-cq", {"f": {"gpu": 4}}, cohort="co")
    cluster = small(member, cohort("co"), waiting(gpu=6), holder("a", "gpu-cq", {"gpu": ("f", 1)}))
    for plural in ("cohorts", "clusterqueues"):
        read = [entry for entry in cluster.items[0]["read"] if not entry.endswith(plural)]
        found = small(*cluster.items[2:], read=read).facts("team-a/train").quota
        with pytest.raises(Unknown, match=plural):
            _ = found.verdict
        (row,) = found.rows
        assert (row.requested, row.nominal, row.used, row.available, row.capacity) == (6, 4, 1, None, None)
        assert row.verdict is None


def test_a_ring_above_the_queue_is_unknown() -> None:
    ring = cohort("co", "top"), cohort("top", "co")
    with pytest.raises(Unknown, match="ring"):
        _ = quota(queue("gpu-cq", {"f": {"gpu": 4}}, cohort="co"), ring, waiting(gpu=1)).verdict


def test_cohorts_nested_without_end_are_unknown() -> None:
    chain = [cohort(f"c{n}", f"c{n + 1}") for n in range(2000)]
    with pytest.raises(Unknown, match="nested"):
        _ = quota(queue("gpu-cq", {"f": {"gpu": 4}}, cohort="c0"), *chain, waiting(gpu=1)).verdict


def test_effective_quotas_replace_the_spec_or_are_not_known() -> None:
    plain = queue("gpu-cq", {"f": {"gpu": 8}})
    shrunk = [{"name": "f", "resources": [{"name": "gpu", "nominalQuota": "2"}]}]
    known = {**plain, "status": {**plain["status"], "effectiveQuotas": shrunk}}
    assert table(quota(known, waiting(gpu=4)))["f", "gpu"].capacity == 2
    by = {"apiGroup": "kueue.x-k8s.io", "kind": "DynamicQuotaOrchestrator", "name": "nodes"}
    whole = [
        {"coveredResources": ["gpu"], "flavors": [{"name": "f", "resources": [{"name": "gpu", "nominalQuota": 3}]}]}
    ]
    managed = {"lastUpdateTime": "2026-01-01T09:00:00Z", "managerRef": by, "resourceGroups": whole}
    for field in ("effectiveQuota", "effectiveQuotas"):
        orchestrated = {**plain, "status": {**plain["status"], field: managed}}
        assert table(quota(orchestrated, waiting(gpu=4)))["f", "gpu"].capacity == 3
        answer = small(orchestrated, waiting(gpu=4)).ask("team-a/train")
        assert any(
            "ave DynamicQuotaOrchestrator" in step.do and "gpu in flavor f to 4" in step.do
            for step in answer.headline.next
        )
        assert any(proof.field == f"status.{field}[f][gpu].nominalQuota" for proof in answer.headline.evidence)
    strange = {**plain, "status": {**plain["status"], "effectiveQuotas": {"something": {"else": 1}}}}
    with pytest.raises(Unknown, match="effectiveQuota"):
        _ = quota(strange, waiting(gpu=4)).verdict


def test_the_order_of_lists_does_not_matter() -> None:
    objects = [
        TWO,
        *waiting(gpu=6),
        *holder("a", "gpu-cq", {"gpu": ("spot", 3)}),
        *holder("b", "gpu-cq", {"gpu": ("spot", 3)}),
    ]
    one, other = quota(*objects), quota(*reversed(objects))
    assert (one.rows, one.holders) == (other.rows, other.holders)
    assert [entry.job for entry in one.holders] == ["Job/a", "Job/b"]


def test_pod_sets_that_find_no_room_have_rows_where_others_have_theirs() -> None:
    """The driver takes the first flavor, the worker waits for the second: of the first it gets a row of its own."""
    held = (holder("a", "gpu-cq", {"gpu": ("reserved", 2)}), holder("b", "gpu-cq", {"gpu": ("spot", 4)}))
    sets = [pod_set("driver", 1, gpu=2), pod_set("worker", 1, gpu=5)]
    rows = [
        (row.flavor, row.pod_sets, row.requested, row.verdict, row.short)
        for row in quota(TWO, *held, waiting("train", *sets)).rows
    ]
    assert rows == [
        ("reserved", ("driver",), 2, "fits", 0),
        ("spot", ("worker",), 5, "wait", 1),
        ("reserved", ("driver", "worker"), 7, "never", 3),
    ]


def test_a_row_names_the_pod_sets_that_ask_for_its_resource() -> None:
    found = quota(TWO, waiting("train", pod_set("driver", 1, cpu=1), pod_set("worker", 1, gpu=9)))
    assert table(found)["reserved", "cpu"].pod_sets == ("driver",)
    assert table(found)["spot", "gpu"].pod_sets == ("worker",)


NAMES, RESOURCES = ("one", "two", "three"), ("cpu", "gpu")
SMALL = st.integers(0, 6)


@st.composite
def offers(draw: st.DrawFn) -> tuple[Offer, tuple[PodSetRequests, ...]]:
    """Random offers of a ClusterQueue in a cohort, and pod sets that ask for some of it, some of them together."""

    def quotas() -> dict[Key, Limits]:
        limits = st.builds(Limits, SMALL, st.none() | SMALL, st.none() | SMALL)
        return {(name, resource): draw(limits) for name in NAMES for resource in RESOURCES}

    def used() -> dict[Key, int]:
        return {(name, resource): draw(SMALL) for name in NAMES for resource in RESOURCES}

    nodes = [Node("ClusterQueue", name, "all", quotas(), used()) for name in ("mine", "theirs")]
    groups = draw(
        st.sampled_from(
            [
                (Group(RESOURCES, NAMES),),
                (Group(("cpu",), NAMES[:2]), Group(("gpu",), NAMES[2:])),
                (Group(("cpu",), NAMES),),
            ]
        )
    )
    shut = draw(st.sets(st.sampled_from(NAMES), max_size=2))
    pod_sets = tuple(
        PodSetRequests(
            f"p{at}", 1, {r: value for r in RESOURCES if (value := draw(SMALL))}, group=draw(st.sampled_from(["", "g"]))
        )
        for at in range(draw(st.integers(1, 3)))
    )
    out = Exclusion("taint", "taint")
    offer = Offer(
        Tree([*nodes, Node("Cohort", "all")]), ("ClusterQueue", "mine"), groups,
        lambda name, _: out if name in shut else None, draw(st.booleans()),
    )  # fmt: skip
    return offer, pod_sets


@given(offers())
def test_whether_it_fits_is_told_as_the_whole_placement_tells_it(
    drawn: tuple[Offer, tuple[PodSetRequests, ...]],
) -> None:
    offer, pod_sets = drawn
    assert fits(offer, pod_sets) == (place(offer, pod_sets).verdict == "fits")
