"""Kueue's last words no longer agree with the objects."""

import pytest

from tests.causes.world import JUST_NOW, World, asked, waits
from tests.clusters import CASES, RECORDINGS, Cluster, expectations, fired, recorded
from tests.findings import sentence

RULE = "explanation-outdated"
MAXIMUM = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor a100, "
    "previously considered podsets requests (0) + current podset request (4) > maximum capacity (2)"
)


def _said(message: str, reason: str = "Pending") -> Cluster:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")
    return cluster.condition("Workload", name, type="QuotaReserved", status="False", reason=reason, message=message)


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("LocalQueue train-queue doesn't exist", "it exists and is not stopped"),
        ("LocalQueue other doesn't exist", "it names LocalQueue team-a/train-queue now"),
        ("LocalQueue train-queue is inactive", "it exists and is not stopped"),
        ("ClusterQueue gpu-cq doesn't exist", "it exists and is active"),
        ("ClusterQueue gpu-cq is inactive", "it exists and is active"),
        ("ClusterQueue old-cq is stopped", "points to ClusterQueue gpu-cq now"),
        ("workload namespace doesn't match ClusterQueue selector", "its namespaceSelector matches"),
        (
            'resources validation failed: spec.containers[0]: Invalid value: ["cpu"]: requests must not exceed its limits',
            "stay within every limit",
        ),
        ("couldn't assign flavors to pod set main: flavor a100 not found", "it exists"),
        (
            "couldn't assign flavors to pod set main: resource nvidia.com/gpu unavailable in ClusterQueue",
            "it covers it",
        ),
        (
            "couldn't assign flavors to pod set main: untolerated taint {spot true NoSchedule <nil>} in flavor a100",
            "the flavor has no such taint",
        ),
        ("couldn't assign flavors to pod set main: flavor a100 doesn't match node affinity", "it matches"),
        (
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 3 more needed",
            "2 are missing",
        ),
        (
            MAXIMUM,
            "that is 8",
        ),
    ],
)
def test_fires(message: str, part: str) -> None:
    assert part in sentence(_said(message).ask("team-a/train"), RULE)


def test_room_where_it_saw_none() -> None:
    said = sentence(recorded("cases/P15").ask("ml-a/fr-131"), RULE)
    assert "no flavor has room, but it fits into flavor a40" in said


@pytest.mark.parametrize(
    "message",
    [
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed",
        "a text that nobody knows",
        "",
    ],
)
def test_near_miss(message: str) -> None:
    assert RULE not in fired(_said(message).ask("team-a/train"))


def test_what_was_not_read_disproves_nothing() -> None:
    cluster = _said("couldn't assign flavors to pod set main: flavor a100 not found").unread("resourceflavors")
    assert RULE not in fired(cluster.ask("team-a/train"))


def test_true_words_of_every_recording_stay_true() -> None:
    expected = {"P15", "P20"}
    found = set()
    for folder, pattern in ((CASES, ""), (RECORDINGS, "v0.19.2/"), (RECORDINGS, "main-2026-08/")):
        for entry in expectations(folder):
            name = f"cases/{entry['name']}" if folder == CASES else pattern + entry["name"]
            if (folder / f"{name.removeprefix('cases/')}.json").exists() and RULE in fired(
                recorded(name).ask(entry["ask"], entry.get("kind", ""))
            ):
                found.add(entry["name"])
    assert found == expected


def test_near_miss_the_local_queue_is_being_deleted() -> None:
    text = "LocalQueue batch is terminating or missing"
    leaving = {"metadata": {"deletionTimestamp": JUST_NOW, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}}
    answer = World(local_queue=leaving).ask(*asked(waits(text, "Inadmissible")))
    assert answer.headline.rule == "local-queue-missing"
    assert "explanation-outdated" not in fired(answer)
    assert "explanation-outdated" in fired(World().ask(*asked(waits(text, "Inadmissible"))))
