"""blockAdmission: the Workload whose pods are not ready is named, with and without Kueue's text about the asked one."""

import pytest

from tests.clusters import Cluster, fired, recorded

EARLY = "2026-11-30T14:53:06Z"
VERSIONS = ("v0.10.6", "v0.16.9", "v0.19.2", "main-2026-08")


@pytest.mark.parametrize("version", VERSIONS)
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/blocked-until-pods-ready").ask("team-a/train")
    assert answer.headline.rule == "waiting-for-pods-ready"
    assert answer.headline.certainty == "reported"
    assert "slow" in answer.headline.sentence


def test_fires_for_somebody_of_whom_kueue_says_nothing() -> None:
    answer = recorded("cases/P38").ask("ml-a/nextjob")
    assert answer.headline.rule == "waiting-for-pods-ready"
    assert "behind-in-queue" not in fired(answer)


def test_says_that_there_is_none() -> None:
    cluster = recorded("v0.19.2/blocked-until-pods-ready")
    ready = cluster.condition(
        "Workload", cluster.named("Workload", "job-slow"), type="PodsReady", status="True", reason="Started", message=""
    )
    answer = ready.ask("team-a/train")
    assert answer.headline.rule == "waiting-for-pods-ready"
    assert "no such Workload is left" in answer.headline.sentence


def _silent(cluster: Cluster) -> Cluster:
    name = cluster.named("Workload", "job-train")
    return cluster.edit("Workload", name, {"status": {"conditions": []}})


def test_a_long_silence_is_likely_when_nothing_else_is_known() -> None:
    cluster = _silent(recorded("v0.16.9/blocked-until-pods-ready")).unread("configmaps", "endpointslices")
    kept = [item for item in cluster.items if item["kind"] != "ConfigMap"]
    late = Cluster(tuple(kept)).at("2026-11-30T18:00:00Z").ask("team-a/train")
    assert late.headline.rule == "waiting-for-pods-ready"
    assert late.headline.certainty == "likely"


def test_near_miss() -> None:
    cluster = _silent(recorded("v0.19.2/blocked-until-pods-ready"))
    config = {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {"controller_manager_config.yaml": "waitForPodsReady: {enable: true, blockAdmission: false}"},
    }  # fmt: skip
    kept = Cluster(tuple(item for item in cluster.items if item["kind"] != "ConfigMap"))
    late = kept.add(config).at("2026-11-30T18:00:00Z")
    assert "waiting-for-pods-ready" not in fired(late.ask("team-a/train"))


def test_near_miss_without_quota() -> None:
    assert "waiting-for-pods-ready" not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))


def test_near_miss_a_silence_with_another_reason() -> None:
    """Behind the head of a strict queue Kueue says nothing either."""
    cluster = recorded("v0.19.2/strict-fifo-head-blocks")
    holder = cluster.named("Workload", "job-holder")
    cluster = cluster.condition(
        "Workload",
        holder,
        type="PodsReady",
        status="False",
        reason="WaitForStart",
        message="",
        lastTransitionTime=EARLY,
    ).at("2026-11-30T18:00:00Z")
    assert cluster.ask("team-a/train").headline.rule == "behind-in-strict-queue"
