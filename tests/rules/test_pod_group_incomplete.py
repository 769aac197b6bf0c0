"""Rule pod-group-incomplete."""

from typing import Any

from tests.clusters import fired, recorded
from tests.made import QUEUE, cluster, pod


def member(number: int, total: str = "2", **fields: Any) -> dict[str, Any]:
    """One gated pod of the group grp."""
    labels = {**QUEUE, "kueue.x-k8s.io/pod-group-name": "grp"}
    return pod(
        f"p-{number}", gated=True, labels=labels, annotations={"kueue.x-k8s.io/pod-group-total-count": total}, **fields
    )


def test_fires() -> None:
    for name in ("grp-a", "grp-a-0"):
        answer = recorded("cases/P24").ask(f"ml-a/{name}")
        assert answer.headline.rule == "pod-group-incomplete"
        assert "3 of 4 pods" in answer.headline.sentence


def test_ended_pods_do_not_count() -> None:
    answer = cluster(member(0), member(1, phase="Failed")).ask("team-a/grp")
    assert "1 of 2 pods" in answer.headline.sentence


def test_near_miss() -> None:
    """All are there; pods were not read in full."""
    assert "pod-group-incomplete" not in fired(cluster(member(0), member(1)).ask("team-a/grp"))
    unread = cluster(member(0), read=["kueue.x-k8s.io/v1beta2/workloads"]).ask("team-a/grp")
    assert "pod-group-incomplete" not in fired(unread)
    assert "pod-group-incomplete" in {entry.rule for entry in unread.not_checked}
