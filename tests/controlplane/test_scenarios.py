"""Every scenario is played on a real cluster; the product is asked there and asked of the recording, and both must be right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.core.rules import BY_SLUG
from tests.controlplane.bot_account import install
from tests.controlplane.plane import ControlPlane
from tests.controlplane.programs import KUBERNETES, KUEUE
from tests.controlplane.questions import from_file, live, wrong
from tests.controlplane.scenario import Body, Player, Scenario, record, reference, scenarios

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def kubeconfig(plane: ControlPlane) -> Path:
    """The bot's own identity, with exactly what the shipped manifests grant."""
    return install(plane)


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.name)
def test_scenario(
    scenario: Scenario, plane: ControlPlane, kubeconfig: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def worker() -> ControlPlane:
        second: ControlPlane = request.getfixturevalue("worker_plane")
        return second

    def ask(question: Body) -> None:
        later = question.get("later", 0)
        document = live(plane, reference(question), kubeconfig, later=later)
        recording = tmp_path / "recording.json"
        recording.write_text(json.dumps(record(plane, scenario.name, KUEUE, KUBERNETES, later=later)))
        assert not wrong(document, question["then"]), question["ask"]
        filed = from_file(recording, reference(question))
        if scenario.content.get("unserved"):
            filed["complete"] = True
        assert not wrong(filed, question["then"]), f"{question['ask']}, asked of the recording"

    player = Player(plane, ask, worker)
    player.play(scenario)
    ask(scenario.content)
    player.go_on(scenario)


def test_the_command_itself(plane: ControlPlane, kubeconfig: Path) -> None:
    scenario = next(s for s in scenarios() if s.name == "quota-in-use")
    Player(plane).play(scenario)
    told = subprocess.run(
        [sys.executable, "-m", "bot", "explain", scenario.ask, "--context", "c", "-o", "json"],
        env={**os.environ, "KUBECONFIG": str(kubeconfig)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 1, told.stderr
    assert not wrong(json.loads(told.stdout), scenario.content["then"])


def test_scenarios_name_rules_that_exist() -> None:
    named = {
        rule
        for scenario in scenarios()
        for question in scenario.questions
        for part in ("headline", "also", "context", "avoid")
        for rule in question["then"].get(part, [])
    }
    assert named <= set(BY_SLUG)
