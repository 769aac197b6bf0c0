"""The quota arithmetic against Kueue itself: random cohort trees, hundreds of probes, verdict and numbers must be Kueue's.

For each tree some Workloads are admitted for real, then probes are made that are not active. The product says of each
what would happen; then it is set active, and Kueue says what does happen. A difference is made smaller before it is shown.
"""

import copy
import random
import re
from decimal import Decimal
from typing import Any

import pytest
import yaml

from bot.core.diagnosis import Diagnosis
from bot.core.quantity import parse
from tests.clusters import Cluster
from tests.controlplane.plane import ApiError, ControlPlane
from tests.controlplane.programs import KUBERNETES, KUEUE
from tests.controlplane.scenario import Body, Player, Scenario, record

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SEEDS = range(8)
PROBES = 36
_WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads"
_WAIT = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")
_NEVER = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests \(\S+\) \+ "
    r"current podset request \(\S+\) > maximum capacity \((\S+)\)"
)


# --- trees ---------------------------------------------------------------------------------------------------------------


def _quota(dice: random.Random, flavors: list[str], resources: list[str], *, cohort: bool, parent: bool) -> Body:
    quota: Body = {}
    for flavor in flavors:
        quota[flavor] = {}
        for resource in resources:
            cell: Body = {"nominalQuota": str(dice.choice((0, 1, 2, 3, 4, 6, 8)))}
            if resource == "cpu" and dice.random() < 0.3:
                cell["nominalQuota"] = f"{dice.randrange(0, 8000, 250)}m"
            if parent and dice.random() < 0.35:
                cell["borrowingLimit"] = str(dice.choice((0, 1, 2, 4)))
            if parent and dice.random() < 0.35:
                lends = [n for n in (0, 1, 2, 4) if n <= parse(cell["nominalQuota"])]  # Kueue refuses more
                cell["lendingLimit"] = str(dice.choice(lends))
            quota[flavor][resource] = cell
    return quota


def tree(seed: int) -> Body:
    """A scenario of flavors, cohorts up to three deep, ClusterQueues with their LocalQueues, and Workloads that take quota."""
    dice = random.Random(seed)
    flavors = [f"f{n}" for n in range(dice.randint(1, 3))]
    resources = ["cpu", "example.com/gpu"][: dice.randint(1, 2)]
    cohorts: Body = {}
    names: list[str] = []
    for n in range(dice.randint(0, 4)):
        parent = dice.choice(names) if names and dice.random() < 0.75 else None
        if parent is not None and cohorts[parent].get("parentName", "") in names:
            grand = cohorts[cohorts[parent]["parentName"]]
            parent = None if "parentName" in grand else parent
        spec: Body = {"parentName": parent} if parent is not None else {}
        if dice.random() < 0.6:
            spec["quota"] = _quota(dice, flavors, resources, cohort=True, parent=parent is not None)
        if dice.random() < 0.3:
            spec["fairSharing"] = {"weight": str(dice.choice(("0", "1", "2")))}
        names.append(f"c{n}")
        cohorts[f"c{n}"] = spec
    queues: Body = {}
    for n in range(dice.randint(2, 5)):
        own = dice.sample(flavors, dice.randint(1, len(flavors)))
        cohort = dice.choice([*names, "implicit"]) if dice.random() < 0.85 else None
        spec = {"quota": _quota(dice, own, resources, cohort=False, parent=cohort is not None)}
        if cohort is not None:
            spec["cohortName"] = cohort
        if dice.random() < 0.3:
            spec["fairSharing"] = {"weight": str(dice.choice(("1", "3")))}
        queues[f"q{n}"] = spec
    holders = [
        workload(dice, f"holder-{n}", dice.choice(list(queues)), resources, large=False)
        for n in range(dice.randint(2, 8))
    ]
    return {
        "flavors": {flavor: {} for flavor in flavors},
        "cohorts": cohorts,
        "clusterQueues": queues,
        "localQueues": {f"team-a/{name}": name for name in queues},
        "objects": holders,
        "ask": "team-a/none",
    }


def workload(
    dice: random.Random, name: str, queue: str, resources: list[str], *, large: bool, active: bool = True
) -> Body:
    """A bare Workload of one or two pod sets; large ones reach beyond what the trees have."""
    sets = []
    for n in range(1 if dice.random() < 0.8 else 2):
        requests = {}
        for resource in resources:
            amount = dice.choice((1, 1, 2, 3, 5) if large else (1, 1, 1, 2))
            if resource == "cpu" and dice.random() < 0.4:
                requests[resource] = f"{amount * 1000 - dice.choice((250, 500))}m"
            elif resource == "cpu" or dice.random() < 0.8:
                requests[resource] = str(amount)
        container: Body = {"name": "main", "image": "registry.example/probe:1", "resources": {"requests": requests}}
        extended = {key: value for key, value in requests.items() if "/" in key}
        container["resources"] |= {"limits": extended} if extended else {}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        sets.append({"name": f"p{n}", "count": dice.randint(1, 4 if large else 2), "template": template})
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"queueName": queue, "active": active, "podSets": sets},
    }


def probes(seed: int, content: Body) -> list[Body]:
    """Workloads that are not active yet."""
    dice = random.Random(f"probes {seed}")
    queues = list(content["clusterQueues"])
    resources = sorted({r for spec in content["clusterQueues"].values() for f in spec["quota"].values() for r in f})
    return [
        workload(dice, f"probe-{n}", dice.choice(queues), resources, large=n % 3 > 0, active=False)
        for n in range(PROBES)
    ]


# --- what the product says, what Kueue does ---------------------------------------------------------------------------------


def foretold(recording: Body, name: str) -> Diagnosis:
    """What the product says of one probe as if it were active and the others were not there."""
    items = [
        item
        for item in recording["items"]
        if not item["metadata"]["name"].startswith("probe-") or item["metadata"]["name"] == name
    ]
    cluster = Cluster(tuple(items)).edit("Workload", name, {"spec": {"active": True}, "status": None})
    return cluster.ask(f"team-a/{name}", "Workload")


def verdict_of(answer: Diagnosis) -> str:
    """The Workload's verdict by the headline's words: never, wait, or fits."""
    if answer.headline.rule.startswith("exceeds-") or answer.outlook == "never-as-written":
        return "never"
    return "wait" if any(f.rule in _WAITING for f in (answer.headline, *answer.also)) else "fits"


_WAITING = {"quota-in-use", "quota-lent-out", "borrowing-limit-reached", "cohort-exhausted"}


def differences(answer: Diagnosis, condition: Body) -> list[str]:
    """What Kueue's condition QuotaReserved says that the product did not."""
    told = verdict_of(answer)
    if condition["status"] == "True":
        return [] if told == "fits" else [f"Kueue admits it, foretold was {told}: {answer.headline.sentence}"]
    text = condition.get("message", "")
    waits, nevers = _WAIT.findall(text), _NEVER.findall(text)
    if not waits and not nevers:
        return [f"Kueue says something else: {text}"]
    found = []
    if told == "fits":
        found.append(f"Kueue does not admit it: {text}")
    rows = {(row.flavor, row.resource): row for row in answer.quota}
    # of several pod sets the rows show where each is counted at last, Kueue names what it tried: the verdict alone is compared
    for resource, flavor, capacity in nevers if _one_pod_set(answer) else ():
        own = [row for row in answer.quota if (row.flavor, row.resource, row.verdict) == (flavor, resource, "never")]
        if not any(row.capacity is not None and _of(resource, row.capacity) == parse(capacity) for row in own):
            found.append(f"capacity of {resource} in {flavor} is {capacity} by Kueue; the product's rows: {own}")
    if len(answer.quota) and all(len(row.pod_sets) <= 1 for row in answer.quota) and _one_pod_set(answer):
        for resource, flavor, more in waits:
            row = rows.get((flavor, resource))
            if row is None or row.short is None or _of(resource, row.short) != parse(more):
                found.append(f"{more} {resource} in {flavor} are short by Kueue; the product's row: {row}")
        # Kueue names one resource of a flavor, the first that it comes to: another one may be beyond all quota
        beyond = {row.flavor for row in answer.quota if row.verdict == "never"}
        if not nevers and told != "wait" and not {flavor for _, flavor, _ in waits} <= beyond:
            found.append(f"Kueue waits, foretold was {told}: {text}")
        if not waits and len({resource for resource, _, _ in nevers}) == 1 and told != "never":
            found.append(f"Kueue never admits it, foretold was {told}: {text}")
    return found


def _one_pod_set(answer: Diagnosis) -> bool:
    return len({name for row in answer.quota for name in row.pod_sets}) == 1


def _of(resource: str, amount: int) -> Decimal:
    return Decimal(amount) / 1000 if resource == "cpu" else Decimal(amount)


class Bench:
    """Plays trees and probes on one plane."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.player = plane, Player(plane)

    def play(self, content: Body, some: list[Body]) -> Body:
        """Bring up a tree with its holders, add the probes; give the recording once Kueue has settled."""
        self.player.play(Scenario("tree", copy.deepcopy(content)))
        names = [item["metadata"]["name"] for item in content["objects"]]
        self.plane.wait(lambda: all(self.condition(name) for name in names), "verdict about the holders", 30)
        self.plane.wait(lambda: self._counted(content), "the ClusterQueues' status", 30)
        for probe in some:
            self.plane.call("POST", _WORKLOADS, probe)
        return record(self.plane, "tree", KUEUE, KUBERNETES)

    def _counted(self, content: Body) -> bool:
        """Whether the ClusterQueues' status counts what the Workloads hold: Kueue writes it in batches."""
        holding = [w for w in self.plane.call("GET", _WORKLOADS)["items"] if "admission" in w.get("status", {})]
        queues = self.plane.call("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues")["items"]
        return len(queues) == len(content["clusterQueues"]) and sum(
            queue.get("status", {}).get("reservingWorkloads", 0) for queue in queues
        ) == len(holding)

    def condition(self, name: str) -> Body | None:
        """Kueue's word about a Workload."""
        status = self.plane.call("GET", f"{_WORKLOADS}/{name}").get("status", {})
        return next((c for c in status.get("conditions") or [] if c["type"] == "QuotaReserved"), None)

    def probe(self, answer: Diagnosis, name: str) -> list[str]:
        """Set a probe active, compare until Kueue has settled, take it away again."""
        self.plane.call("PATCH", f"{_WORKLOADS}/{name}", {"spec": {"active": True}})
        found: list[str] = ["Kueue says nothing"]

        def same() -> bool:
            condition = self.condition(name)
            found[:] = differences(answer, condition) if condition is not None else ["Kueue says nothing"]
            return not found

        try:
            self.plane.wait(same, "the same word", 4)
        except RuntimeError:
            return found
        finally:
            self._remove(name)
        return []

    def _remove(self, name: str) -> None:
        self.plane.call("DELETE", f"{_WORKLOADS}/{name}")

        def gone() -> bool:
            try:
                item = self.plane.call("GET", f"{_WORKLOADS}/{name}")
            except ApiError as error:
                return error.status == 404
            if item["metadata"].get("finalizers"):
                self.plane.call("PATCH", f"{_WORKLOADS}/{name}", {"metadata": {"finalizers": None}})
            return False

        self.plane.wait(gone, f"no {name}", 10)

    def wrong(self, content: Body, probe: Body) -> list[str]:
        """Play a tree with one probe; give the differences."""
        recording = self.play(content, [probe])
        return self.probe(foretold(recording, probe["metadata"]["name"]), probe["metadata"]["name"])

    def smaller(self, content: Body, probe: Body) -> Body:
        """Take away what the difference does not need: holders, queues, cohorts, limits. At most 25 tries."""
        best, tries = content, 0
        for candidate in _reductions(content, probe):
            if tries == 25:
                break
            reduced = candidate(best)
            if reduced is None:
                continue
            tries += 1
            try:
                if self.wrong(reduced, copy.deepcopy(probe)):
                    best = reduced
            except (RuntimeError, ApiError):
                continue
        return best


def _reductions(content: Body, probe: Body) -> list[Any]:
    own = probe["spec"]["queueName"]

    def without(section: str, key: str) -> Any:
        def reduce(tree: Body) -> Body | None:
            made = copy.deepcopy(tree)
            if section == "objects":
                made["objects"] = [o for o in made["objects"] if o["metadata"]["name"] != key]
            elif made[section].pop(key, None) is None:
                return None
            if section == "clusterQueues":
                made["localQueues"].pop(f"team-a/{key}", None)
                made["objects"] = [o for o in made["objects"] if o["spec"]["queueName"] != key]
            return made

        return reduce

    found = [without("clusterQueues", name) for name in content["clusterQueues"] if name != own]
    found += [without("objects", item["metadata"]["name"]) for item in content["objects"]]
    return found + [without("cohorts", name) for name in content["cohorts"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_kueue_does_what_was_foretold(seed: int, plane: ControlPlane) -> None:
    bench, content = Bench(plane), tree(seed)
    some = probes(seed, content)
    recording = bench.play(content, copy.deepcopy(some))
    verdicts: dict[str, int] = {}
    for probe in some:
        name = probe["metadata"]["name"]
        answer = foretold(recording, name)
        verdicts[verdict_of(answer)] = verdicts.get(verdict_of(answer), 0) + 1
        found = bench.probe(answer, name)
        if found:
            least = bench.smaller(content, copy.deepcopy(probe))
            pytest.fail("\n".join([*found, "a tree that shows it:", yaml.safe_dump(least), yaml.safe_dump(probe)]))
    print(f"seed {seed}: {verdicts}")
    assert sum(verdicts.values()) == PROBES
