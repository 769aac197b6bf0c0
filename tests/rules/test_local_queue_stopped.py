"""Hold or HoldAndDrain on the LocalQueue, from its spec."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import sentence, steps

RULE = "local-queue-stopped"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/local-queue-hold").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "train-queue is stopped (stopPolicy Hold)" in sentence(answer, RULE)
    assert "patch localqueues" in steps(answer, RULE)


def test_drained_one_names_the_eviction() -> None:
    cluster = recorded("v0.19.2/preempted")
    name = cluster.named("Workload", "job-train")
    cluster = cluster.edit("LocalQueue", "train-queue", {"spec": {"stopPolicy": "HoldAndDrain"}}).condition(
        "Workload", name, type="Evicted", status="True", reason="LocalQueueStopped", message="The LocalQueue is stopped"
    )
    assert "This job was evicted for it" in sentence(cluster.ask("team-a/train"), RULE)


def test_near_miss() -> None:
    # resumed: the status and Kueue's text lag behind the spec
    cluster = recorded("v0.19.2/local-queue-hold").edit("LocalQueue", "train-queue", {"spec": {"stopPolicy": "None"}})
    answer = cluster.ask("team-a/train")
    assert RULE not in fired(answer)
    assert "explanation-outdated" in fired(answer)
    # what holds quota is held by a draining queue alone
    held = recorded("v0.19.2/check-pending").edit("LocalQueue", "train-queue", {"spec": {"stopPolicy": "Hold"}})
    assert RULE not in fired(held.ask("team-a/train"))
    drained = recorded("v0.19.2/check-pending").edit(
        "LocalQueue", "train-queue", {"spec": {"stopPolicy": "HoldAndDrain"}}
    )
    assert drained.ask("team-a/train").headline.rule == RULE
