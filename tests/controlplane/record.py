"""Play scenarios and keep their recordings: `python -m tests.controlplane.record [NAME ...]`.

Without names: every scenario whose name no other recording has. Writes `tests/recordings/v0.17.0-live/NAME.json` and, beside
them, `expect.yaml` with what each scenario says is then true; both are read by the tests that need no cluster.
"""

import json
import platform
import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.clusters import RECORDINGS, expectations
from tests.controlplane.plane import ControlPlane
from tests.controlplane.programs import KUBERNETES, KUEUE
from tests.controlplane.questions import from_file, wrong
from tests.controlplane.scenario import Player, Scenario, record, scenarios

FOLDER = RECORDINGS / f"{KUEUE}-live"
_OF_THIS_MACHINE = ("webhook", "health", "metrics", "visibilityServer", "internalCertManagement", "clientConnection")


def tidy(recording: dict[str, Any]) -> dict[str, Any]:
    """Take out what belongs to the machine on which it was played, and what no answer can depend on."""
    for item in recording["items"]:
        if item["kind"] == "Event":
            item.pop("reportingInstance", None)
        if item["kind"] == "ConfigMap":
            for key, text in item["data"].items():
                configuration = yaml.safe_load(text)
                kept = {name: value for name, value in configuration.items() if name not in _OF_THIS_MACHINE}
                item["data"][key] = yaml.safe_dump(kept)
    text = re.sub(rf"\b{re.escape(platform.node())}\b", "localhost", json.dumps(recording))
    tidied: dict[str, Any] = json.loads(text)
    return tidied


def written(recording: dict[str, Any]) -> str:
    """One object a line: small, and a difference shows which object it is in."""
    items = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in recording["items"])
    return f'{{"apiVersion":"v1","kind":"List","items":[\n{items}\n]}}\n'


def expected(scenario: Scenario) -> dict[str, Any]:
    """What the scenario says, in the form of `expect.yaml`."""
    content = scenario.content
    kind = {"kind": content["kind"]} if "kind" in content else {}
    return {"name": scenario.name, "about": content["about"], "ask": content["ask"], **kind, **content["then"]}


def main(names: list[str]) -> int:
    """Play, record, and ask each recording; give 1 when an answer is not as the scenario says."""
    taken = {entry["name"] for entry in expectations(RECORDINGS)}
    chosen = [s for s in scenarios() if (s.name in names if names else s.name not in taken)]
    if clashing := [s.name for s in chosen if s.name in taken]:
        print(f"other recordings have these names: {', '.join(clashing)}")
        return 2
    FOLDER.mkdir(exist_ok=True)
    failed = 0
    file = FOLDER / "expect.yaml"
    entries = {entry["name"]: entry for entry in (yaml.safe_load(file.read_text()) if file.exists() else [])}
    with tempfile.TemporaryDirectory() as state:
        plane, second = ControlPlane(Path(state) / "plane"), ControlPlane(Path(state) / "worker")
        try:
            plane.start(other_kinds=True)
            for scenario in chosen:
                failed += _one(plane, second, scenario, entries)
                kept = [entries[name] for name in sorted(entries)]
                file.write_text(yaml.safe_dump(kept, sort_keys=False, width=120))
        finally:
            second.close()
            plane.close()
    print(f"{len(chosen)} recorded, {failed} of them not as their scenario says")
    return 1 if failed else 0


def _one(plane: ControlPlane, second: ControlPlane, scenario: Scenario, entries: dict[str, Any]) -> bool:
    """Play and record one; True when it did not play or is not answered as it says, then nothing of it is kept."""
    try:
        Player(plane, worker=partial(_started, second)).play(scenario)
    except RuntimeError as error:
        print(scenario.name, error, sep="\n  ", flush=True)
        return True
    recording = tidy(record(plane, scenario.name, KUEUE, KUBERNETES, later=scenario.content.get("later", 0)))
    path = FOLDER / f"{scenario.name}.json"
    path.write_text(written(recording))
    found = wrong(from_file(path, scenario.ask), scenario.content["then"])
    if found:
        path.unlink()
    else:
        entries[scenario.name] = expected(scenario)
    print(scenario.name, *found, sep="\n  ", flush=True)
    return bool(found)


def _started(second: ControlPlane) -> ControlPlane:
    """The worker cluster, which few scenarios need."""
    if not second.processes:
        second.start()
    return second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
