"""The random trees of the quota tests: what they put to the test, and that a difference is made as small as it can be."""

from tests.controlplane.quota_trees import GPU, SEEDS, Body, features, probes, smaller, tree

EXPECTED = {
    "cohorts 3 deep", "no cohort", "cohort", "a Cohort that is only named", "resourceGroups of a Cohort",
    "fairSharing of a Cohort", "fairSharing of a ClusterQueue", "several resource groups", "several flavors",
    "borrowingLimit of a ClusterQueue", "borrowingLimit of a Cohort", "lendingLimit of a ClusterQueue",
    "lendingLimit of a Cohort",
    "nominalQuota zero", "borrowingLimit zero", "lendingLimit zero",
    "quota of cpu", "quota of memory", f"quota of {GPU}", "quota of pods",
    "amount in m", "amount in Ki", "amount in Mi", "amount in Gi", "amount in G",
    "whenCanBorrow MayStopSearch", "whenCanBorrow TryNextFlavor", "whenCanPreempt MayStopSearch", "whenCanPreempt TryNextFlavor",
    "preference BorrowingOverPreemption", "preference PreemptionOverBorrowing",
    "withinClusterQueue LowerPriority", "withinClusterQueue Never", "reclaimWithinCohort LowerPriority",
    "reclaimWithinCohort Never",
    "1 pod sets", "2 pod sets", "3 pod sets", "minCount", "a resource that is not covered",
}  # fmt: skip


def test_the_seeds_that_are_played_cover_everything() -> None:
    found = set[str]()
    for seed in SEEDS:
        content = tree(seed)
        found |= features(content, probes(seed, content))
    assert EXPECTED - found == set()


def test_a_seed_gives_the_same_tree_again() -> None:
    assert tree(7) == tree(7)
    assert probes(7, tree(7), 9) == probes(7, tree(7), 9)


def test_a_difference_is_made_as_small_as_it_can_be() -> None:
    """Played against a fault that needs a borrowing limit in the own queue, one holder of it, and two pods of CPUs."""
    found = 0
    for seed in SEEDS:
        content = tree(seed)
        for probe in probes(seed, content, 12):
            if _differs(content, probe):
                found += 1
                _is_least(*smaller(content, probe, _differs, 500))
                break
    assert found > 3


def test_the_tries_are_counted() -> None:
    content = tree(3)
    (probe,) = probes(3, content, 1)
    asked = []

    def differs(*made: Body) -> bool:
        asked.append(made)
        return False

    smaller(content, probe, differs, 9)
    assert len(asked) == 9


def _differs(content: Body, probe: Body) -> bool:
    own = probe["spec"]["queueName"]
    cells = [
        cell
        for group in content["clusterQueues"][own]["resourceGroups"]
        for flavor in group["flavors"]
        for cell in flavor["resources"]
    ]
    return (
        any("borrowingLimit" in cell for cell in cells)
        and any(holder["spec"]["queueName"] == own for holder in content["objects"])
        and any(pod_set["count"] > 1 for pod_set in probe["spec"]["podSets"])
    )


def _is_least(content: Body, probe: Body) -> None:
    (queue,) = content["clusterQueues"].values()
    assert content["localQueues"].keys() == {f"team-a/{name}" for name in content["clusterQueues"]}
    assert content["cohorts"] == {}
    (holder,) = content["objects"]
    limits = [
        (field, cell)
        for group in queue["resourceGroups"]
        for flavor in group["flavors"]
        for cell in flavor["resources"]
        for field in ("borrowingLimit", "lendingLimit")
        if field in cell
    ]
    assert [field for field, _ in limits] == ["borrowingLimit"]
    assert not queue.keys() & {"fairSharing", "flavorFungibility", "preemption"}
    for workload, pods in ((holder, 1), (probe, 2)):
        (pod_set,) = workload["spec"]["podSets"]
        assert pod_set["count"] == pods
        assert "minCount" not in pod_set
        (amount,) = pod_set["template"]["spec"]["containers"][0]["resources"]["requests"].values()
        assert amount == "1"
