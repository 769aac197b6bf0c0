"""The quota arithmetic against Kueue itself: random cohort trees, hundreds of probes; all that is foretold must be so.

For each tree some Workloads are admitted for real, then probes are made that are not active. The product says of each
what would happen; then it is set active, and Kueue says what does happen: verdict, numbers, flavors. At last all holders
go, and what was said to be never possible must stay out, what waits must be admitted. A difference is made smaller and
written down as a case.
"""

import copy
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
import yaml

from bot.core.diagnosis import Diagnosis, QuotaRow
from bot.core.quantity import parse
from tests.clusters import Cluster
from tests.controlplane.plane import ApiError, ControlPlane
from tests.controlplane.programs import KUBERNETES, KUEUE
from tests.controlplane.quota_trees import PROBES, SEEDS, STEEP, Body, probes, smaller, steep, tree
from tests.controlplane.scenario import Player, Scenario, record

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

TRIES = 50
"""How many trees are played at most to make a difference smaller."""
ISSUE = "kubernetes-sigs/kueue#13903"
"""A near flavor without room outranks a far one with room: with the preference PreemptionOverBorrowing, before 0.18.5."""
CASES = Path(__file__).parent / "quota_cases"
"""Differences that were found once: `tree` and `probe`."""
_WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads"
_POD_SET = re.compile(r"couldn't assign flavors to pod set ([^:]+): ")
_WAIT = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")
_NEVER = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests \(\S+\) \+ "
    r"current podset request \(\S+\) > maximum capacity \((\S+)\)"
)
_UNCOVERED = re.compile(r"resource (\S+) unavailable in ClusterQueue")
_WAITING = {"quota-in-use", "quota-lent-out", "borrowing-limit-reached", "cohort-exhausted"}


# --- what the product says ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foretold:
    """What the product says of a probe: its answer, and the flavor of each (pod set, resource), None where it gets none."""

    answer: Diagnosis
    flavors: dict[tuple[str, str], str] | None

    @property
    def verdict(self) -> str:
        """The Workload's verdict by the headline's words: never, wait, or fits; unknown where the product does not say."""
        answer = self.answer
        if any(entry.rule.startswith("exceeds-") for entry in answer.not_checked):
            return "unknown"
        if answer.headline.rule.startswith("exceeds-") or answer.outlook == "never-as-written":
            return "never"
        return "wait" if any(f.rule in _WAITING for f in (answer.headline, *answer.also)) else "fits"


def foretold(recording: Body, name: str) -> Foretold:
    """What the product says of one probe as if it were active and the others were not there."""
    items = [
        item
        for item in recording["items"]
        if not item["metadata"]["name"].startswith("probe-") or item["metadata"]["name"] == name
    ]
    cluster = Cluster(tuple(items)).edit("Workload", name, {"spec": {"active": True}, "status": None})
    answer, facts = cluster.ask(f"team-a/{name}", "Workload"), cluster.facts(f"team-a/{name}", "Workload")
    # what may start smaller is placed at its smallest size, and Kueue tries larger ones
    smaller_too = any(pod_set.min_count is not None for pod_set in facts.identity.want().spec.pod_sets)
    chosen = None if smaller_too else facts.quota.assignment_now
    return Foretold(answer, dict(chosen) if chosen is not None else None)


# --- what Kueue says ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """One reason in Kueue's words: that a pod set waits for (`short`), can never have, or finds no such resource."""

    pod_set: str
    resource: str
    flavor: str = ""
    short: Decimal | None = None
    capacity: Decimal | None = None


def said(text: str) -> list[Said]:
    """Read Kueue's words, pod set by pod set."""
    parts = _POD_SET.split(text)
    found = []
    for pod_set, words in zip(parts[1::2], parts[2::2], strict=True):
        found += [Said(pod_set, r, f, short=Decimal(parse(amount))) for r, f, amount in _WAIT.findall(words)]
        found += [Said(pod_set, r, f, capacity=Decimal(parse(amount))) for r, f, amount in _NEVER.findall(words)]
        found += [Said(pod_set, resource) for resource in _UNCOVERED.findall(words)]
    return found


def differences(told: Foretold, status: Body) -> list[str]:
    """What Kueue says and does in a Workload's status that the product did not say."""
    condition = _decision(status)
    if condition is None:
        return ["Kueue says nothing"]
    if told.verdict == "unknown":
        return []
    if condition["status"] == "True":
        if told.verdict != "fits":
            return [f"Kueue admits it, foretold was {told.verdict}: {told.answer.headline.sentence}"]
        given = _given(status)
        return [] if told.flavors in (None, given) else [f"Kueue gives it {given}, foretold was {told.flavors}"]
    text = condition.get("message", "")
    reasons = said(text)
    if not reasons:
        return [f"Kueue says something else: {text}"]
    found = [f"Kueue does not admit it: {text}"] if told.verdict == "fits" else []
    for reason in reasons:
        rows = [row for row in told.answer.quota if (row.flavor, row.resource) == (reason.flavor, reason.resource)]
        rows = [row for row in rows if reason.pod_set in row.pod_sets]
        # what a later one lacks hangs on where the first that waits is imagined to be, once others have made room
        if not any(reason.pod_set != reasons[0].pod_set or _equals(reason, row) for row in rows):
            found.append(f"Kueue says {reason}; the product's rows: {rows}")
    return found


def _decision(status: Body) -> Body | None:
    """Kueue's word about quota."""
    return next((c for c in status.get("conditions") or [] if c["type"] == "QuotaReserved"), None)


def _given(status: Body) -> dict[tuple[str, str], str]:
    """The flavor of each (pod set, resource) that Kueue has admitted."""
    return {
        (given["name"], resource): flavor
        for given in status["admission"]["podSetAssignments"]
        for resource, flavor in given["flavors"].items()
    }


def _equals(reason: Said, row: QuotaRow) -> bool:
    """Whether a row holds the figure that Kueue named of a pod set.

    A row counts all pod sets that would come from the flavor, Kueue only those up to the one that it speaks of: with later
    ones more is missing, or it is too much for ever.
    """
    if not reason.flavor:
        return row.verdict == "excluded"
    if reason.capacity is not None:
        return row.verdict == "never" and row.capacity is not None and _of(row, row.capacity) == reason.capacity
    assert reason.short is not None
    if row.pod_sets[-1] == reason.pod_set:
        return row.verdict == "wait" and row.short is not None and _of(row, row.short) == reason.short
    return row.verdict == "never" or (
        row.verdict == "wait" and row.short is not None and _of(row, row.short) > reason.short
    )


def _of(row: QuotaRow, amount: int) -> Decimal:
    return Decimal(amount) / 1000 if row.resource == "cpu" else Decimal(amount)


# --- the two of them ----------------------------------------------------------------------------------------------------------


def _refused(text: str) -> Body:
    """The status of a Workload that Kueue does not admit, in these words."""
    return {"conditions": [{"type": "QuotaReserved", "status": "False", "message": text}]}


@dataclass
class Bench:
    """Plays trees and probes on one plane. `compare` gives the differences, `patience` the seconds for the same word."""

    plane: ControlPlane
    compare: Callable[[Foretold, Body], list[str]] = differences
    patience: float = 3

    @property
    def player(self) -> Player:
        """What brings up a tree."""
        return Player(self.plane)

    def play(self, content: Body, some: list[Body]) -> Body:
        """Bring up a tree with its holders, add the probes; give the recording once Kueue has settled."""
        self.player.play(Scenario("tree", copy.deepcopy(content)))
        names = [item["metadata"]["name"] for item in content["objects"]]
        with suppress(RuntimeError):  # at times Kueue never comes to one that stands behind another: it holds nothing
            self.plane.wait(lambda: all(self.condition(name) for name in names), "verdict about the holders", 10)
        self.plane.wait(lambda: self._counted(content), "the ClusterQueues' status", 30)
        for probe in some:
            self.plane.call("POST", _WORKLOADS, copy.deepcopy(probe))
        return record(self.plane, "tree", KUEUE, KUBERNETES)

    def _counted(self, content: Body) -> bool:
        """Whether the ClusterQueues' status counts what the Workloads hold: Kueue writes it in batches."""
        holding = [w for w in self.plane.call("GET", _WORKLOADS)["items"] if "admission" in w.get("status", {})]
        queues = self.plane.call("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues")["items"]
        return len(queues) == len(content["clusterQueues"]) and sum(
            queue.get("status", {}).get("reservingWorkloads", 0) for queue in queues
        ) == len(holding)

    def status(self, name: str) -> Body:
        """A Workload's status."""
        status: Body = self.plane.call("GET", f"{_WORKLOADS}/{name}").get("status", {})
        return status

    def condition(self, name: str) -> Body | None:
        """Kueue's word about a Workload."""
        return _decision(self.status(name))

    def probe(self, told: Foretold, name: str) -> list[str]:
        """Set a probe active, compare until Kueue has settled, let it rest again."""
        found: list[str] = ["Kueue says nothing"]

        def same() -> bool:
            status = self.status(name)
            found[:] = self.compare(told, status)
            # a second scan goes on behind the flavor that the first one took: the words of each are in an event
            return (
                not found
                or any(not self.compare(told, _refused(text)) for text in self._words(name))
                or self._prefers_no_room(told, name, status)
            )

        self._active(name, active=True)
        try:
            self.plane.wait(same, "the same word", self.patience)
        except RuntimeError:
            return found
        finally:
            self._rest(name)
        return []

    def _prefers_no_room(self, told: Foretold, name: str, status: Body) -> bool:
        """Whether a refusal is that of a Kueue which takes a near flavor without room before a far one with room (ISSUE).

        It then speaks of pod sets that have room; that of a Workload which fits it errs is what the product must say.
        """
        decision = _decision(status)
        own = self.plane.call("GET", f"{_WORKLOADS}/{name}")["spec"]["queueName"]
        spec = self.plane.call("GET", f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{own}")["spec"]
        prefers = spec.get("flavorFungibility", {}).get("preference") == "PreemptionOverBorrowing"
        if not prefers or decision is None or decision["status"] != "False":
            return False
        if told.verdict != "fits":
            return True
        items = tuple(record(self.plane, "tree", KUEUE, KUBERNETES)["items"])
        answer = Cluster(items).ask(f"team-a/{name}", "Workload")
        return any(ISSUE in finding.sentence for finding in answer.context)

    def _words(self, name: str) -> list[str]:
        """What Kueue has said of a Workload that it does not admit, since it was made."""
        if (self.condition(name) or {}).get("status") != "False":
            return []
        uid = self.plane.call("GET", f"{_WORKLOADS}/{name}")["metadata"]["uid"]
        events = self.plane.call("GET", f"/api/v1/namespaces/team-a/events?fieldSelector=involvedObject.uid={uid}")
        return [event["message"] for event in events["items"] if event["reason"] == "Pending"]

    def emptied(self, verdicts: dict[str, str], content: Body) -> list[str]:
        """Remove the holders; what was never possible stays out, what waits or fits is admitted. Give the differences."""
        for item in content["objects"]:
            self._remove(item["metadata"]["name"])
        found = []
        for name, verdict in verdicts.items():
            self._active(name, active=True)
            # what has just been removed may count for a moment: then it is said to wait, and admitted
            as_foretold = self._stays_out if verdict == "never" else self._starts
            try:
                self.plane.wait(partial(as_foretold, name), f"a word about {name}", 5)
            except RuntimeError:
                message = (self.condition(name) or {}).get("message")
                found.append(f"{name}: {verdict} was foretold, with nothing in use: {message}")
            self._rest(name)
        return found

    def _starts(self, name: str) -> bool:
        return (self.condition(name) or {}).get("status") == "True"

    def _stays_out(self, name: str) -> bool:
        """Whether Kueue has said about its quota that it does not start."""
        condition = self.condition(name) or {}
        return condition.get("status") == "False" and bool(said(condition.get("message", "")))

    def _active(self, name: str, *, active: bool) -> None:
        self.plane.call("PATCH", f"{_WORKLOADS}/{name}", {"spec": {"active": active}})

    def _rest(self, name: str) -> None:
        """Make the probe anew: neither quota nor words of it are left."""
        old = self.plane.call("GET", f"{_WORKLOADS}/{name}")
        self._remove(name)
        kept = {key: old[key] for key in ("apiVersion", "kind")}
        spec = {**old["spec"], "active": False}
        self.plane.call("POST", _WORKLOADS, {**kept, "metadata": {"name": name, "namespace": "team-a"}, "spec": spec})

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
        name = probe["metadata"]["name"]
        told = foretold(self.play(content, [probe]), name)
        found = self.probe(told, name)
        return found or self.emptied(
            {name: told.verdict} if told.verdict != "unknown" and _decided(probe) else {}, content
        )

    def differs(self, content: Body, probe: Body) -> bool:
        """Say whether a tree shows a difference; one that Kueue does not take shows none."""
        try:
            return bool(self.wrong(content, probe))
        except (RuntimeError, ApiError):
            return False


def _decided(probe: Body) -> bool:
    """Whether what holds others back alone decides: several pod sets take flavors from each other, whatever is in use."""
    return len(probe["spec"]["podSets"]) == 1


def failed(bench: Bench, found: list[str], content: Body, probe: Body) -> None:
    """Make the difference smaller, write it down and fail."""
    least = dict(zip(("tree", "probe"), smaller(content, probe, bench.differs, TRIES), strict=True))
    path = bench.plane.dir / "difference.yaml"
    path.write_text(yaml.safe_dump(least, sort_keys=False))
    pytest.fail("\n".join([*found, f"the least that shows it, to be kept in {CASES.name} ({path}):", path.read_text()]))


@pytest.mark.parametrize(
    ("make", "seed"),
    [*((tree, seed) for seed in SEEDS), *((steep, seed) for seed in STEEP)],
    ids=lambda part: str(getattr(part, "__name__", part)),
)
def test_kueue_does_what_was_foretold(make: Callable[[int], Body], seed: int, plane: ControlPlane) -> None:
    bench, content = Bench(plane), make(seed)
    some = {probe["metadata"]["name"]: probe for probe in probes(seed, content)}
    recording = bench.play(content, list(some.values()))
    verdicts: dict[str, str] = {}
    for name, probe in some.items():
        told = foretold(recording, name)
        verdicts[name] = told.verdict
        if found := bench.probe(told, name):
            failed(bench, found, content, probe)
    alone = {name: verdict for name, verdict in verdicts.items() if verdict != "unknown" and _decided(some[name])}
    if found := bench.emptied(alone, content):
        failed(bench, found, content, some[found[0].partition(":")[0]])
    counts = {verdict: list(verdicts.values()).count(verdict) for verdict in ("fits", "wait", "never", "unknown")}
    print(f"seed {seed}: {counts}, {len(alone)} of them with nothing in use")
    assert sum(counts.values()) == PROBES
    assert counts["unknown"] <= PROBES // 10


@pytest.mark.parametrize("path", sorted(CASES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_difference_that_was_found_once(path: Path, plane: ControlPlane) -> None:
    case = yaml.safe_load(path.read_text())
    assert Bench(plane).wrong(case["tree"], case["probe"]) == []


def _asks(name: str, cpu: str, *, active: bool) -> Body:
    """A Workload of ClusterQueue q0."""
    container = {"name": "main", "image": "registry.example/probe:1", "resources": {"requests": {"cpu": cpu}}}
    pods = {"name": "p0", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"queueName": "q0", "active": active, "podSets": [pods]},
    }  # fmt: skip


def test_a_difference_is_made_smaller_on_the_living_cluster(plane: ControlPlane) -> None:
    """Played against a wrong expectation: that everybody starts."""

    def everybody_starts(told: Foretold, status: Body) -> list[str]:
        decision = _decision(status)
        return [] if decision is not None and decision["status"] == "True" else ["it does not start"]

    cells = [{"name": "f0", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]
    spec = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": cells}]}
    content: Body = {
        "flavors": {"f0": {}}, "cohorts": {}, "clusterQueues": {"q0": spec, "q1": spec},
        "localQueues": {"team-a/q0": "q0", "team-a/q1": "q1"}, "objects": [_asks("holder-0", "1", active=True)],
        "ask": "team-a/none",
    }  # fmt: skip
    probe, bench = _asks("probe-0", "2", active=False), Bench(plane, everybody_starts, patience=1)
    with pytest.raises(pytest.fail.Exception, match="the least that shows it"):
        failed(bench, ["it does not start"], content, probe)
    least = yaml.safe_load((plane.dir / "difference.yaml").read_text())
    assert (list(least["tree"]["clusterQueues"]), list(least["tree"]["localQueues"])) == (["q0"], ["team-a/q0"])
    assert (least["tree"]["objects"], least["probe"]) == (content["objects"], probe)
