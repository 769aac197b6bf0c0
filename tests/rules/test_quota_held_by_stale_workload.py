"""Quota of a Workload that runs nothing is told apart from quota that is in use."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P48").ask("ml-a/victim")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert answer.move == "platform"
    assert "statefulset-old-sts-aa" in answer.headline.sentence
    assert "8 nvidia.com/gpu" in answer.headline.sentence
    assert "no pod of it is left" in answer.headline.sentence


def test_fires_for_its_own_parent() -> None:
    answer = recorded("cases/P78").ask("ml-a/rj-c1", "RayCluster")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert answer.move == "asker"
    assert "rayjob-rj-40640" in answer.headline.sentence


def test_fires_when_the_holders_job_is_gone() -> None:
    cluster = recorded("v0.19.2/quota-in-use").drop("Job", "holder").at("2026-11-30T16:00:00Z")
    cluster = cluster.drop("Pod")
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "quota-held-by-stale-workload"
    assert "Job holder is gone" in answer.headline.sentence


def test_near_miss() -> None:
    assert (
        recorded("v0.19.2/quota-in-use").at("2026-11-30T16:00:00Z").ask("team-a/train").headline.rule == "quota-in-use"
    )


def test_near_miss_just_evicted() -> None:
    cluster = recorded("cases/P48")
    cluster = cluster.condition(
        "Workload", "statefulset-old-sts-aa", type="Evicted", status="True", reason="PodsReadyTimeout", message=""
    )
    assert cluster.ask("ml-a/victim").headline.rule == "quota-in-use"


def test_near_miss_the_slice_that_it_replaces() -> None:
    assert "quota-held-by-stale-workload" not in fired(recorded("cases/P49").ask("ml-a/elas"))


def test_near_miss_pods_not_read() -> None:
    cluster = recorded("v0.19.2/quota-in-use").drop("Job", "holder").at("2026-11-30T16:00:00Z").unread("pods")
    assert "quota-held-by-stale-workload" not in fired(cluster.ask("team-a/train"))
