"""The quota arithmetic against Kueue itself: random cohort trees, hundreds of probes, verdict and numbers must be Kueue's.

For each tree some Workloads are admitted for real, then probes are made that are not active. The product says of each
what would happen; then it is set active, and Kueue says what does happen. At last all holders go, and what was said to be
never possible must stay out, what waits must be admitted. A difference is made smaller and written down as a case.
"""

import copy
import re
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
from tests.controlplane.quota_trees import PROBES, SEEDS, Body, probes, smaller, tree
from tests.controlplane.scenario import Player, Scenario, record

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

TRIES = 50
"""How many trees are played at most to make a difference smaller."""
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


def differences(answer: Diagnosis, condition: Body) -> list[str]:
    """What Kueue's condition QuotaReserved says that the product did not."""
    told = verdict_of(answer)
    if condition["status"] == "True":
        return [] if told == "fits" else [f"Kueue admits it, foretold was {told}: {answer.headline.sentence}"]
    text = condition.get("message", "")
    reasons = said(text)
    if not reasons:
        return [f"Kueue says something else: {text}"]
    found = [f"Kueue does not admit it: {text}"] if told == "fits" else []
    for reason in reasons:
        rows = [row for row in answer.quota if (row.flavor, row.resource) == (reason.flavor, reason.resource)]
        rows = [row for row in rows if reason.pod_set in row.pod_sets]
        # what a later one lacks hangs on where the first that waits is imagined to be, once others have made room
        if not any(reason.pod_set != reasons[0].pod_set or _equals(reason, row) for row in rows):
            found.append(f"Kueue says {reason}; the product's rows: {rows}")
    return found


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


class Bench:
    """Plays trees and probes on one plane."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.player = plane, Player(plane)

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

    def condition(self, name: str) -> Body | None:
        """Kueue's word about a Workload."""
        status = self.plane.call("GET", f"{_WORKLOADS}/{name}").get("status", {})
        return next((c for c in status.get("conditions") or [] if c["type"] == "QuotaReserved"), None)

    def probe(self, answer: Diagnosis, name: str) -> list[str]:
        """Set a probe active, compare until Kueue has settled, let it rest again."""
        found: list[str] = ["Kueue says nothing"]

        def same() -> bool:
            condition = self.condition(name)
            found[:] = differences(answer, condition) if condition is not None else ["Kueue says nothing"]
            # a second scan goes on behind the flavor that the first one took: the words of each are in an event
            return not found or any(
                not differences(answer, {"status": "False", "message": text}) for text in self._words(name)
            )

        self._active(name, active=True)
        try:
            self.plane.wait(same, "the same word", 3)
        except RuntimeError:
            return found
        finally:
            self._rest(name)
        return []

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
            condition: Body = self.plane.wait(partial(self._fresh, name), f"a word about {name}", 10)
            if (condition["status"] == "True") == (verdict == "never"):
                found.append(f"{name}: {verdict} was foretold, with nothing in use: {condition.get('message')}")
            self._rest(name)
        return found

    def _fresh(self, name: str) -> Body:
        """Kueue's word about a Workload once it is one about quota, else nothing."""
        condition = self.condition(name) or {}
        decided = condition.get("status") == "True" or said(condition.get("message", ""))
        return condition if decided else {}

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
        answer = foretold(self.play(content, [probe]), name)
        found = self.probe(answer, name)
        return found or self.emptied({name: verdict_of(answer)} if _decided(probe) else {}, content)

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


@pytest.mark.parametrize("seed", SEEDS)
def test_kueue_does_what_was_foretold(seed: int, plane: ControlPlane) -> None:
    bench, content = Bench(plane), tree(seed)
    some = {probe["metadata"]["name"]: probe for probe in probes(seed, content)}
    recording = bench.play(content, list(some.values()))
    verdicts: dict[str, str] = {}
    for name, probe in some.items():
        answer = foretold(recording, name)
        verdicts[name] = verdict_of(answer)
        if found := bench.probe(answer, name):
            failed(bench, found, content, probe)
    alone = {name: verdict for name, verdict in verdicts.items() if _decided(some[name])}
    if found := bench.emptied(alone, content):
        failed(bench, found, content, some[found[0].partition(":")[0]])
    counts = {verdict: list(verdicts.values()).count(verdict) for verdict in ("fits", "wait", "never")}
    print(f"seed {seed}: {counts}, {len(alone)} of them with nothing in use")
    assert sum(counts.values()) == PROBES


@pytest.mark.parametrize("path", sorted(CASES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_difference_that_was_found_once(path: Path, plane: ControlPlane) -> None:
    case = yaml.safe_load(path.read_text())
    assert Bench(plane).wrong(case["tree"], case["probe"]) == []
