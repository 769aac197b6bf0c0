"""What the answer says would help is done, and then the job is admitted; what it says can never start stays out.

Every next step of the answer about a quota scenario is found here again by its words and carried out on a cluster of its
own: commands with kubectl as they stand. A step that is not known here fails, so that none goes unproven.
"""

import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bot.core.quantity import parse
from tests.clusters import merge
from tests.controlplane.plane import ApiError, ControlPlane
from tests.controlplane.questions import live
from tests.controlplane.scenario import BASES, Body, Player, Scenario, scenarios

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

_KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
WAITS = (
    "quota-in-use", "borrowing-limit-reached", "cohort-exhausted", "quota-lent-out",
    "other-queue-has-room", "other-flavor-has-room",
)  # fmt: skip
NEVER = (
    "exceeds-queue-capacity", "exceeds-borrowing-limit", "exceeds-cohort-capacity", "resource-not-covered",
    "flavor-taint-not-tolerated", "flavor-labels-not-selected", "requests-invalid",
)  # fmt: skip


@dataclass
class Stage:
    """A played scenario and the job that is asked about."""

    plane: ControlPlane
    scenario: Scenario

    @property
    def job(self) -> tuple[str, str]:
        namespace, _, name = self.scenario.content["ask"].partition("/")
        return namespace, name

    def workload(self) -> Body:
        namespace, name = self.job
        items = self.plane.call("GET", f"{_KUEUE}/namespaces/{namespace}/workloads")["items"]
        own = [w for w in items if any(o["name"] == name for o in w["metadata"].get("ownerReferences", []))]
        return max(own, key=lambda w: str(w["metadata"]["creationTimestamp"])) if own else {}

    def admitted(self) -> bool:
        conditions = self.workload().get("status", {}).get("conditions") or []
        return any(c["type"] == "Admitted" and c["status"] == "True" for c in conditions)

    def kubectl(self, command: str) -> None:
        words = shlex.split(command)
        assert words[0] == "kubectl", command
        told = subprocess.run(
            [str(self.plane.bin / "kubectl"), f"--kubeconfig={self.plane.kubeconfig()}", *words[1:]],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert told.returncode == 0, f"{command}: {told.stderr}"

    def resubmit(self, change: Callable[[Body], None]) -> None:
        """Delete the Job and create it again, changed."""
        namespace, name = self.job
        path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        old = self.plane.call("GET", f"{path}/{name}")
        spec = {key: value for key, value in old["spec"].items() if key not in {"selector", "suspend"}}
        spec["template"]["metadata"].pop("labels", None)
        made = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": namespace, "labels": old["metadata"].get("labels", {})},
            "spec": spec | {"suspend": True},
        }
        change(made)
        self.plane.call("DELETE", f"{path}/{name}", {"propagationPolicy": "Background"})

        def gone() -> bool:
            try:
                self.plane.call("GET", f"{path}/{name}")
            except ApiError as error:
                return error.status == 404
            return not self.workload()

        self.plane.wait(gone, "the old Job is gone", 20)
        self.plane.wait(lambda: not self.workload(), "its Workload is gone", 20)
        self.plane.call("POST", path, made)

    def queue(self, name: str, change: Callable[[Body], None]) -> None:
        """Change a ClusterQueue's or Cohort's spec."""
        path = f"{_KUEUE}/{name}"

        def changed() -> bool:
            item = self.plane.call("GET", path)
            change(item["spec"])
            self.plane.call("PUT", path, item)  # refused while Kueue writes the status: then once more
            return True

        self.plane.wait(changed, f"another {name}", 10)

    def release(self) -> None:
        """Every other job goes."""
        own = self.job
        for item in self.plane.call("GET", "/apis/batch/v1/jobs")["items"]:
            meta = item["metadata"]
            if (meta["namespace"], meta["name"]) != own:
                path = f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs/{meta['name']}"
                self.plane.call("DELETE", path, {"propagationPolicy": "Background"})


def _cells(spec: Body, flavor: str, resource: str) -> list[Body]:
    return [
        cell
        for group in spec.get("resourceGroups", [])
        for entry in group["flavors"]
        if entry["name"] == flavor
        for cell in entry["resources"]
        if cell["name"] == resource
    ]


def _raise_quota(stage: Stage, found: re.Match[str]) -> None:
    def change(spec: Body) -> None:
        for resource, flavor, amount in re.findall(r"(\S+) in flavor (\S+) to (\S+?)(?=,| and |\.)", found[2] + "."):
            for cell in _cells(spec, flavor, resource):
                cell["nominalQuota"] = amount

    stage.queue(f"clusterqueues/{found[1]}", change)


def _raise_borrowing(stage: Stage, found: re.Match[str]) -> None:
    def change(spec: Body) -> None:
        for cell in _cells(spec, found[2], found[1]):
            cell["borrowingLimit"] = str(int(cell["borrowingLimit"]) + int(found[5]))

    stage.queue(f"{found[3].lower()}s/{found[4]}", change)


def _raise_every_borrowing(stage: Stage, found: re.Match[str]) -> None:
    """The limit that is named, and those of the Cohorts above it."""

    def change(spec: Body) -> None:
        for cell in _cells(spec, found[2], found[1]):
            cell.pop("borrowingLimit", None)

    spec = stage.plane.call("GET", f"{_KUEUE}/{found[3].lower()}s/{found[4]}")["spec"]
    stage.queue(f"{found[3].lower()}s/{found[4]}", change)
    above = spec.get("cohortName") or spec.get("parentName")
    while above:
        stage.queue(f"cohorts/{above}", change)
        above = stage.plane.call("GET", f"{_KUEUE}/cohorts/{above}")["spec"].get("parentName")


def _raise_lending(stage: Stage, found: re.Match[str]) -> None:
    def change(spec: Body) -> None:
        for cell in _cells(spec, found[2], found[1]):
            cell["lendingLimit"] = str(int(cell["lendingLimit"]) + int(found[5]))

    stage.queue(f"{found[3].lower()}s/{found[4]}", change)


def _into_a_cohort(stage: Stage, found: re.Match[str]) -> None:
    Player(stage.plane).make(
        {
            "clusterQueues": {
                "lender": {"cohortName": "pool", "quota": {"default": {"cpu": "16", "nvidia.com/gpu": "16"}}}
            }
        }
    )
    stage.queue(f"clusterqueues/{found[1]}", lambda spec: spec.update(cohortName="pool"))


def _per_pod(stage: Stage, found: re.Match[str]) -> None:
    amounts = {}
    for number, noun in re.findall(r"(\d+m?|\d+Gi|\d+Mi) ([\w./-]+)", found[1]):
        amounts["cpu" if noun.startswith("CPU") else noun] = number

    def change(job: Body) -> None:
        resources = job["spec"]["template"]["spec"]["containers"][0]["resources"]
        for resource, amount in amounts.items():
            resources["requests"][resource] = amount
            if resource in resources.get("limits", {}):
                resources["limits"][resource] = amount

    stage.resubmit(change)


def _fewer(stage: Stage, found: re.Match[str]) -> None:
    def change(job: Body) -> None:
        job["spec"] |= {"parallelism": int(found[1]), "completions": int(found[1])}

    stage.resubmit(change)


def _split(stage: Stage, found: re.Match[str]) -> None:
    """The first part: as many pods as the part may have of every resource that is named."""
    parts = {
        "cpu" if noun.startswith("CPU") else noun: amount
        for amount, noun in re.findall(r"(\d\S*) ([\w./-]+)", found[1])
    }

    def change(job: Body) -> None:
        requests = {**job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"], "Pods": "1"}
        pods = min(int(parse(amount) // parse(requests[resource])) for resource, amount in parts.items())
        job["spec"] |= dict.fromkeys(("parallelism", "completions"), pods)

    stage.resubmit(change)


def _to_queue(stage: Stage, found: re.Match[str]) -> None:
    stage.resubmit(lambda job: job["metadata"]["labels"].update({"kueue.x-k8s.io/queue-name": found[1]}))


def _tolerate(stage: Stage, found: re.Match[str]) -> None:
    key, value, effect = re.match(r"([^=]+)=([^:]*):(\w+)", found[1]).groups()  # type: ignore[union-attr]
    toleration = {"key": key, "value": value, "effect": effect, "operator": "Equal"}
    stage.resubmit(lambda job: job["spec"]["template"]["spec"].update(tolerations=[toleration]))


def _select(stage: Stage, found: re.Match[str]) -> None:
    key, _, value = found[1].partition("=")
    stage.resubmit(lambda job: job["spec"]["template"]["spec"].update(nodeSelector={key: value}))


def _drop(stage: Stage, found: re.Match[str]) -> None:
    def change(job: Body) -> None:
        resources = job["spec"]["template"]["spec"]["containers"][0]["resources"]
        for part in resources.values():
            part.pop(found[1], None)

    stage.resubmit(change)


def _cover(stage: Stage, found: re.Match[str]) -> None:
    def change(spec: Body) -> None:
        group = spec["resourceGroups"][0]
        group["coveredResources"].append(found[1])
        for flavor in group["flavors"]:
            flavor["resources"].append({"name": found[1], "nominalQuota": "8"})

    stage.queue(f"clusterqueues/{found[2]}", change)


def _reclaim(stage: Stage, found: re.Match[str]) -> None:
    stage.queue(
        f"clusterqueues/{found[1]}", lambda spec: spec.setdefault("preemption", {}).update(reclaimWithinCohort=found[2])
    )


def _wait(stage: Stage, found: re.Match[str]) -> None:
    del found
    stage.release()


_AMOUNTS = r"((?:\d\S* [\w./-]+)(?:(?:, | and )\d\S* [\w./-]+)*)"
ACTIONS: tuple[tuple[str, Callable[[Stage, re.Match[str]], None] | None], ...] = (
    (r"ait: it starts", _wait),
    (r"aise nominalQuota in ClusterQueue (\S+): (.+)\.$", _raise_quota),
    (
        r"aise the borrowingLimit of (\S+) in flavor (\S+) of (ClusterQueue|Cohort) (\S+) by at least (\d+)\.",
        _raise_borrowing,
    ),
    (
        r"aise the borrowingLimit of (\S+) in flavor (\S+) of (ClusterQueue|Cohort) (\S+), together with the other limits",
        _raise_every_borrowing,
    ),
    (
        r"aise the lendingLimit of (\S+) in flavor (\S+) of (ClusterQueue|Cohort) (\S+) by (\d+) in all\.",
        _raise_lending,
    ),
    (r"ut ClusterQueue (\S+) into a cohort", _into_a_cohort),
    (rf"ubmit it again and ask for {_AMOUNTS} ?(?:per pod)?: that (?:fits now|can start)", _per_pod),
    (r"ubmit it again and ask for (\d+) pods?", _fewer),
    (r"ubmit it to LocalQueue (\S+):", _to_queue),
    (r"olerate (\S+) if", _tolerate),
    (r"dd a toleration for (\S+) to the pods", _tolerate),
    (r"elect (?:what one of these flavors offers: \S+ \()?([\w./-]+=[\w./-]+)", _select),
    (r"rop the request for (\S+), if", _drop),
    (r"dd (\S+) to a resource group of ClusterQueue (\S+), with quota", _cover),
    (r"reclaimWithinCohort of ClusterQueue (\S+) to LowerPriority or (Any)", _reclaim),
    (rf"plit the job into parts of at most {_AMOUNTS} each", _split),
    (r"ake the job smaller, or split it", None),  # names nothing that could be carried out
    (r"LimitRange", None),
)


LIMITS = {
    # two limits on the way: one alone would not help
    "cohorts": {
        "all": {},
        "half": {"parentName": "all", "quota": {"default": {"cpu": {"nominalQuota": "0", "borrowingLimit": "2"}}}},
    },
    "clusterQueues": {
        "cq": {"cohortName": "half", "quota": {"default": {"cpu": {"nominalQuota": "4", "borrowingLimit": "1"}}}},
        "other": {"cohortName": "all", "quota": {"default": {"cpu": "8"}}},
    },
    "jobs": {"team-a/train": {"queue": "main", "pods": 8, "requests": {"cpu": "1"}}},
    "steps": [{"until": {"kind": "Workload", "namespace": "team-a", "of": "train", "condition": "QuotaReserved=False"}}],
    "ask": "team-a/train",
}  # fmt: skip


def _of(name: str) -> Scenario:
    if name == "two-borrowing-limits":
        return Scenario(name, merge(BASES["small"], LIMITS))
    return next(scenario for scenario in scenarios() if scenario.name == name)


def _apply(stage: Stage, step: Body) -> bool:
    """Carry out a step; False when it names nothing that could be."""
    if step["command"]:
        stage.kubectl(step["command"])
        return True
    for pattern, action in ACTIONS:
        found = re.search(pattern, step["do"])
        if found is not None:
            if action is not None:
                action(stage, found)
            return action is not None
    pytest.fail(f"no test knows how to carry out: {step['do']}")


def _carried_out(plane: ControlPlane, name: str) -> list[str]:
    scenario = _of(name)
    stage = Stage(plane, scenario)
    Player(plane).play(scenario)
    steps: list[Body] = live(plane, scenario.ask)["headline"]["next"]
    assert steps
    done, dirty = [], False
    for step in steps:
        if dirty:
            Player(plane).play(scenario)
        dirty = _apply(stage, step)
        if not dirty:
            continue
        done.append(step["do"])
        try:
            plane.wait(stage.admitted, f"admission after: {step['do']} {step['command'] or ''}", 10)
        except RuntimeError as error:
            conditions: Any = stage.workload().get("status", {}).get("conditions")
            pytest.fail(f"{error}\n{conditions}")
    return done


@pytest.mark.parametrize("name", WAITS)
def test_what_would_help_helps(name: str, plane: ControlPlane) -> None:
    done = _carried_out(plane, name)
    assert any(text.removeprefix("Or ").lower().startswith("wait") for text in done)
    print(f"{name}: {len(done)} steps carried out")


@pytest.mark.parametrize("name", [*(name for name in NEVER if name != "requests-invalid"), "two-borrowing-limits"])
def test_what_would_help_a_job_that_can_never_start_helps(name: str, plane: ControlPlane) -> None:
    done = _carried_out(plane, name)
    assert done
    print(f"{name}: {len(done)} steps carried out")


@pytest.mark.parametrize("name", NEVER)
def test_never_as_written_stays_out_of_an_empty_cohort(name: str, plane: ControlPlane) -> None:
    scenario = _of(name)
    stage = Stage(plane, scenario)
    Player(plane).play(scenario)
    Player(plane).make(
        {
            "localQueues": {"team-a/again": "cq"},
            "jobs": {"team-a/other": {"queue": "again", "requests": {"cpu": "100m"}}},
        }
    )
    assert live(plane, scenario.ask)["outlook"] == "never-as-written"
    stage.release()  # Kueue looks again at everybody when quota is released
    with pytest.raises(RuntimeError):
        plane.wait(stage.admitted, "admission", 1.5)
