"""The digest and the view of a queue over a real cluster, under the identity that the manifests grant."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.bot_account import install
from tests.controlplane.plane import ControlPlane
from tests.controlplane.scenario import Player, scenarios

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def kubeconfig(plane: ControlPlane) -> Path:
    return install(plane)


def told(kubeconfig: Path, *arguments: str) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bot", *arguments, "--context", "c", "-o", "json"],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("name", ["quota-in-use", "local-queue-missing", "exceeds-borrowing-limit"])
def test_a_digest_tells_what_explain_tells(name: str, plane: ControlPlane, kubeconfig: Path) -> None:
    scenario = next(entry for entry in scenarios() if entry.name == name)
    Player(plane).play(scenario)
    status, document = told(kubeconfig, "digest")
    assert (document["missing"], document["complete"]) == ([], True)
    (group,) = [
        group for group in document["groups"] for job in group["jobs"] if job["job"].endswith(f" {scenario.ask}")
    ]
    assert group["rule"] == scenario.content["then"]["headline"][0]
    assert status == (0 if group["category"] == "waiting" else 1)
    assert document["pending"] == sum(entry["count"] for entry in document["groups"])
    if not group["clusterQueue"]:
        return
    status, queue = told(kubeconfig, "queue", group["clusterQueue"])
    assert queue["pending"]["missing"] == []
    shown = {entry["rule"]: entry["count"] for entry in queue["pending"]["groups"]}
    assert shown == {
        entry["rule"]: entry["count"] for entry in document["groups"] if entry["clusterQueue"] == group["clusterQueue"]
    }
    assert queue["holdersComplete"] is True
