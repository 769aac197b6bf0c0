"""A cluster without Kueue: a job that waits for it is told so, every other one is answered as everywhere."""

from pathlib import Path

import pytest

from tests.controlplane.plane import ControlPlane, what_is_missing
from tests.controlplane.questions import live, rules
from tests.controlplane.scenario import Player

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

GATED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "gated", "namespace": "team-a", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
    "spec": {
        "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}],
        "containers": [{"name": "main", "image": "registry.example/train:1"}],
    },
}
SCENE = {
    "jobs": {
        "team-a/held": {"queue": "main", "requests": {"cpu": "1"}},
        "team-a/suspended": {"suspend": True, "requests": {"cpu": "1"}},
        "team-a/runs": {"requests": {"cpu": "1"}},
        "team-a/labelled": {"queue": "main", "suspend": False, "requests": {"cpu": "1"}},
        "team-a/big": {"requests": {"cpu": "20"}},
        "team-a/done": {"requests": {"cpu": "1"}, "podAnnotations": {"kubelet": "done"}},
    },
    "objects": [GATED],
}
UNTIL = (
    {"kind": "Pod", "start": "runs-", "condition": "Ready"},
    {"kind": "Pod", "start": "labelled-", "condition": "Ready"},
    {"kind": "Pod", "start": "big-", "condition": "PodScheduled=False"},
    {"kind": "Job", "name": "done", "condition": "Complete"},
)
HEADLINES = {
    "held": "kueue-not-installed",
    "gated": "kueue-not-installed",
    "suspended": "kueue-not-installed",
    "runs": "running",
    "labelled": "running",
    "big": "node-resources-insufficient",
    "done": "finished",
    "nothing": "job-not-found",
}


def test_only_what_kueue_would_have_to_release_is_held(tmp_path: Path) -> None:
    missing = what_is_missing()
    if missing is not None:
        pytest.skip(f"no control plane here: {missing}")
    plane = ControlPlane(tmp_path)
    try:
        plane.start_kubernetes()
        player = Player(plane)
        plane.add_node("n1", {"cpu": "8"})
        player.make(SCENE)
        for until in UNTIL:
            player.step({"until": {"namespace": "team-a", **until}})
        for name, headline in HEADLINES.items():
            document = live(plane, f"team-a/{name}")
            assert document["headline"]["rule"] == headline, name
            assert "kueue-not-installed" in rules(document), name
            assert "workload-not-created" not in rules(document), name
            assert document["complete"], name
    finally:
        plane.close()
