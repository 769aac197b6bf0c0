"""The admission path: every link a row, a missing one too, and nothing known is None."""

from typing import Any

from bot.core.diagnosis import Diagnosis
from tests.clusters import recorded


def _rows(answer: Diagnosis) -> dict[tuple[str, str], tuple[str, bool | None]]:
    assert not answer.faults
    return {(link.kind, link.name): (link.state, link.ok) for link in answer.chain}


def test_a_whole_path() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    rows = _rows(cluster.ask("team-a/train"))
    assert list(rows) == [
        ("Workload", cluster.named("Workload", "job-train")),
        ("LocalQueue", "train-queue"),
        ("ClusterQueue", "gpu-cq"),
        ("ResourceFlavor", "a100"),
    ]
    assert rows["LocalQueue", "train-queue"] == ("active", True)
    assert rows["ClusterQueue", "gpu-cq"] == ("active, BestEffortFIFO", True)
    assert rows["ResourceFlavor", "a100"] == ("2 nvidia.com/gpu short", False)


def test_missing_links() -> None:
    assert _rows(recorded("v0.19.2/local-queue-missing").ask("team-a/train"))["LocalQueue", "train-queu"] == (
        "does not exist",
        False,
    )
    rows = _rows(recorded("v0.19.2/cluster-queue-missing").ask("team-a/train"))
    assert rows["ClusterQueue", "gpu-cluster-queue"] == ("does not exist", False)
    rows = _rows(recorded("v0.19.2/flavor-missing").ask("team-a/train"))
    assert rows["ClusterQueue", "gpu-cq"] == ("inactive: a ResourceFlavor is missing", False)
    assert rows["ResourceFlavor", "a100"] == ("does not exist", False)


def test_stopped_queues() -> None:
    rows = _rows(recorded("v0.19.2/local-queue-hold").ask("team-a/train"))
    assert rows["LocalQueue", "train-queue"] == ("stopped (Hold)", False)
    rows = _rows(recorded("v0.19.2/cluster-queue-drained").ask("team-a/train"))
    assert rows["ClusterQueue", "gpu-cq"] == ("stopped (HoldAndDrain)", False)


def test_what_was_not_read_is_not_known() -> None:
    rows = _rows(recorded("v0.19.2/quota-in-use").unread("localqueues", "clusterqueues").ask("team-a/train"))
    assert rows["LocalQueue", "train-queue"] == ("not read", None)
    assert rows["ClusterQueue", ""] == ("not read", None)


def test_how_far_the_workload_is() -> None:
    expected = {
        "check-pending": ("quota reserved, not admitted", False),
        "running": ("admitted", True),
        "finished": ("finished", True),
        "deactivated-by-user": ("deactivated", False),
        "preempted": ("evicted, not admitted", False),
    }
    for scenario, state in expected.items():
        cluster = recorded(f"v0.19.2/{scenario}")
        rows = _rows(cluster.ask("team-a/train"))
        assert rows["Workload", cluster.named("Workload", "job-train")] == state, scenario
    assert _rows(recorded("v0.19.2/running").ask("team-a/train"))["ResourceFlavor", "default"] == ("assigned", True)


def test_cohorts_up_to_the_root() -> None:
    rows = _rows(recorded("v0.19.2/hierarchical-cohort").ask("team-a/train"))
    assert [key for key in rows if key[0] == "Cohort"] == [("Cohort", "left"), ("Cohort", "root")]
    assert rows["Cohort", "root"][1] is True


def test_a_ring_of_cohorts() -> None:
    def cohort(name: str, parent: str) -> dict[str, Any]:
        meta, spec = {"name": name}, {"parentName": parent}
        return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": meta, "spec": spec}

    cluster = recorded("v0.19.2/quota-in-use").edit("ClusterQueue", "gpu-cq", {"spec": {"cohortName": "a"}})
    rows = _rows(cluster.add(cohort("a", "b"), cohort("b", "a")).ask("team-a/train"))
    assert rows["Cohort", "a"] == rows["Cohort", "b"] == ("its parents form a ring", False)
    assert rows["ClusterQueue", "gpu-cq"] == ("inactive: its cohorts form a ring", False)


def test_no_path_for_what_kueue_does_not_manage() -> None:
    assert _rows(recorded("v0.19.2/no-queue-label").ask("team-a/train")) == {}
