"""No worker cluster has taken the Workload."""

from typing import Any

from tests.clusters import Cluster, fired, recorded
from tests.findings import finding, sentence

RULE = "multikueue-waiting"


def _cluster(*states: dict[str, Any], nominated: tuple[str, ...] = ("east",), active: str = "True") -> Cluster:
    group = "kueue.x-k8s.io/v1beta2"
    cluster = recorded("v0.19.2/check-pending").edit(
        "AdmissionCheck",
        "budget",
        {
            "spec": {
                "controllerName": "kueue.x-k8s.io/multikueue",
                "parameters": {"kind": "MultiKueueConfig", "name": "mk"},
            }
        },
    )
    cluster = cluster.add(
        {
            "apiVersion": group,
            "kind": "MultiKueueConfig",
            "metadata": {"name": "mk"},
            "spec": {"clusters": ["east", "west"]},
        },
        *(
            {
                "apiVersion": group,
                "kind": "MultiKueueCluster",
                "metadata": {"name": name},
                "spec": {},
                "status": {
                    "conditions": [
                        {"type": "Active", "status": active, "reason": "Why", "message": f"{name}: retry at 10:15"}
                    ]
                },
            }
            for name in ("east", "west")
        ),
    )
    name = cluster.named("Workload", "job-train")
    found = [{"name": "budget", "state": "Pending", "message": ""}, *states]
    return cluster.edit(
        "Workload", name, {"status": {"admissionChecks": found, "nominatedClusterNames": list(nominated)}}
    )


def test_fires() -> None:
    answer = _cluster().ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "MultiKueue has asked east" in sentence(answer, RULE)
    assert finding(answer, RULE).move == "nobody"


def test_clusters_that_cannot_be_reached() -> None:
    answer = _cluster(nominated=(), active="False").ask("team-a/train")
    said = sentence(answer, RULE)
    assert "MultiKueue may ask east, west" in said
    assert 'west is not active: "west: retry at 10:15"' in said
    assert "None of them can take it" in said
    assert finding(answer, RULE).move == "platform"


def test_another_check_holds_it_up() -> None:
    # MultiKueue asks its clusters only when every other check is Ready
    other = {"name": "audit", "state": "Pending", "message": "wait for the audit"}
    answer = _cluster(other).ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "MultiKueue waits until AdmissionCheck audit is Ready" in sentence(answer, RULE)
    assert "admission-check-pending" in fired(answer)


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/check-pending").ask("team-a/train"))
