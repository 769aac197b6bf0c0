"""Parsers of the texts that Kueue writes into conditions, checks and events, with every wording since 0.6.

A parser gives a typed result, or None for a text that it does not know: such a text is quoted, never guessed. Parsers never
raise. Wordings from Kueue's source: `pkg/scheduler`, `pkg/scheduler/flavorassigner`, `pkg/cache/scheduler`,
`pkg/controller/core`, `pkg/workload`, `pkg/dra`, `pkg/controller/admissionchecks`. Reasons are not needed to parse a text:
the older vocabulary ("Pending" for almost everything) and the granular one ("WaitingForQuota" …) carry the same texts;
`REASONS` tells what a reason alone can say.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from bot.core.names import quoted
from bot.core.patterns import regex

_MAX = 32 * 1024  # Kueue cuts a condition's message there
_SHORT = 4 * 1024  # enough for the texts of queues and checks

Family = Literal["queue-blocker", "scheduler", "eviction", "gate", "hold", "pods-ready", "devices", "any", "pending"]

REASONS: dict[str, Family] = {
    # older vocabulary (default up to 0.19)
    "Pending": "any",
    "Inadmissible": "queue-blocker",
    "Waiting": "pods-ready",
    "AdmissionGated": "gate",
    "OnHold": "hold",
    # granular vocabulary (from 0.18.5, default from 0.20)
    "NoMatchingFlavor": "scheduler",
    "WaitingForQuota": "scheduler",
    "ExceedsMaxQuota": "scheduler",
    "TopologyPlacementFailed": "scheduler",
    "WaitingForPreemptedWorkloads": "scheduler",
    "WaitingForPodsReady": "pods-ready",
    "Misconfigured": "any",
    "Suspended": "queue-blocker",
    "PendingEvaluation": "pending",
    "Deactivated": "eviction",
    "DRAResourcesUnresolved": "devices",
}
"""What the reason of QuotaReserved=False tells by itself; "any" tells nothing."""


def cited(text: str, limit: int = 300) -> str:
    """Give text from the cluster between quotation marks, fit to stand in a sentence."""
    return f'"{quoted(text, limit).replace(chr(34), chr(39)).rstrip(".")}"'


# --- what the texts say -----------------------------------------------------------------------------------------------


class QueueBlocker(msgspec.Struct, frozen=True):
    """The state of a queue as the Workload controller saw it: LocalQueue q "doesn't exist" and the like."""

    kind: Literal["LocalQueue", "ClusterQueue"]
    name: str
    state: Literal["missing", "inactive", "stopped", "terminating-or-missing"]


class Uncovered(msgspec.Struct, frozen=True):
    """No resource group of the ClusterQueue covers a requested resource."""

    resource: str


class FlavorNotFound(msgspec.Struct, frozen=True):
    """A ResourceFlavor that the ClusterQueue names was not there."""

    flavor: str


class UntoleratedTaint(msgspec.Struct, frozen=True):
    """A taint of a ResourceFlavor that nothing tolerated."""

    flavor: str
    key: str
    value: str
    effect: str


class AffinityMismatch(msgspec.Struct, frozen=True):
    """The pods' node selector or affinity does not match the flavor's node labels."""

    flavor: str


class OverMaximum(msgspec.Struct, frozen=True):
    """More is asked than the flavor may ever give. Amounts are quantity texts; None where the wording has none."""

    resource: str
    flavor: str
    earlier: str | None = None
    """Requests of the pod sets that were considered before."""
    request: str | None = None
    """The request of this pod set; in the older wording, all of them together."""
    capacity: str | None = None


class NotFree(msgspec.Struct, frozen=True):
    """It fits the maximum, but `more` is missing now. `cohort`: the oldest wording, "in cohort"."""

    resource: str
    flavor: str
    more: str
    cohort: bool = False


class OverBorrowingLimit(msgspec.Struct, frozen=True):
    """Nominal quota plus borrowing limit is exceeded (wording of 0.6 and 0.7)."""

    resource: str
    flavor: str


class FlavorSkipped(msgspec.Struct, frozen=True):
    """A flavor was not tried: `why` is "nomination", "annotation" or "slice" (an elastic job must keep its flavor)."""

    flavor: str
    why: Literal["nomination", "annotation", "slice"]
    other: str = ""


class TopologyReason(msgspec.Struct, frozen=True):
    """Topology-aware scheduling found no place. `what` names the wording, `level`, `fits`, `of` and `excluded` its numbers."""

    what: Literal[
        "flavor-without-topology", "flavor-only-topology", "not-in-cache", "level-unknown", "fits-none", "fits-some",
        "no-domains", "bad-request", "no-flavor", "several-flavors", "not-with-elastic", "stale-domain", "no-replacement",
    ]  # fmt: skip
    topology: str = ""
    flavor: str = ""
    level: str = ""
    fits: int | None = None
    of: int | None = None
    unit: str = ""
    nodes: int | None = None
    excluded: tuple[tuple[str, int], ...] = ()


class Unread(msgspec.Struct, frozen=True):
    """One fragment that no parser knows."""

    text: str


Reason = (
    Uncovered | FlavorNotFound | UntoleratedTaint | AffinityMismatch | OverMaximum | NotFree | OverBorrowingLimit
    | FlavorSkipped | TopologyReason | Unread
)  # fmt: skip


class PodSetReasons(msgspec.Struct, frozen=True):
    """Why one pod set got no flavor. Kueue sorts the reasons by alphabet, so their order means nothing."""

    pod_set: str
    reasons: tuple[Reason, ...]


class Assignment(msgspec.Struct, frozen=True):
    """The scheduler's verdict, "couldn't assign flavors to pod set …", with what follows it.

    `preempting`: how many victims it waits for; `preemption_failed`: they could not be evicted, it will retry.
    """

    pod_sets: tuple[PodSetReasons, ...]
    preempting: int | None = None
    preemption_failed: bool = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of all pod sets."""
        return tuple(reason for part in self.pod_sets for reason in part.reasons)

    @property
    def flavors(self) -> frozenset[str]:
        """The flavors that are named."""
        return frozenset(name for reason in self.reasons if (name := getattr(reason, "flavor", "")))


class Contention(msgspec.Struct, frozen=True):
    """It lost inside one scheduling cycle. `fits_after`: it will fit once those preemptions are over."""

    what: Literal["overlapping-targets", "no-longer-fits", "others-first", "preemption-gated"]
    fits_after: bool = False


class FieldProblem(msgspec.Struct, frozen=True):
    """One broken field: `what` is above-limits, above-max or below-min."""

    field: str
    resources: tuple[str, ...]
    what: Literal["above-limits", "above-max", "below-min", "other"]


class Validation(msgspec.Struct, frozen=True):
    """The scheduler refused to look: namespace, selector, or what the containers ask for."""

    what: Literal[
        "namespace-missing", "namespace-not-selected", "requests", "limit-range", "selector-invalid", "checks-failed"
    ]
    fields: tuple[FieldProblem, ...] = ()


class Waits(msgspec.Struct, frozen=True):
    """It is not looked at: for pods to be ready, for its first look, or because an equal one failed."""

    what: Literal["pods-ready", "evaluation", "equivalent", "gate-cleared", "hold-released"]


class Gated(msgspec.Struct, frozen=True):
    """The admission gate annotation, with its value."""

    by: str


class OnHold(msgspec.Struct, frozen=True):
    """`what`: "scaled-to-zero" or "job"."""

    what: Literal["scaled-to-zero", "job"]


class Devices(msgspec.Struct, frozen=True):
    """Resource claims that Kueue cannot count. `what` names the family; the rest where the wording has it."""

    what: Literal[
        "not-enabled", "claims-unsupported", "unmapped-class", "template-unreadable", "selection-unsupported",
        "too-few-devices", "class-unreadable", "other",
    ]  # fmt: skip
    device_class: str = ""
    template: str = ""
    pod_set: str = ""
    detail: str = ""


class Preemption(msgspec.Struct, frozen=True):
    """Who preempted a Workload and why. `why` is the wording; UIDs are "" where the wording or Kueue did not know them."""

    why: str
    uid: str = ""
    job_uid: str = ""
    preemptor_path: str = ""
    preemptee_path: str = ""


Cause = Literal[
    "Preempted", "PodsReadyTimeout", "AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped", "NodeFailures",
    "FlavorMigration", "Deactivated",
]  # fmt: skip


class Eviction(msgspec.Struct, frozen=True):
    """The text of an eviction. `detail`: what is said of the cause (checks, nodes, why it was deactivated)."""

    cause: Cause
    detail: str = ""
    preemption: Preemption | None = None
    checks: tuple[tuple[str, str], ...] = ()
    """For a check: (name, message); the message is "" in the older wordings."""


QuotaText = (
    QueueBlocker | Assignment | Contention | Validation | Waits | Gated | OnHold | Devices | Eviction
)  # fmt: skip
VERDICTS = (Assignment, Contention, Validation)
"""The results that the scheduler alone writes: it looked at this Workload and said no."""


# --- QuotaReserved=False ----------------------------------------------------------------------------------------------


def quota(text: str) -> QuotaText | None:
    """Read the message of QuotaReserved=False (or of the event with the same text). None when nobody knows the text."""
    text = text[:_MAX].strip()
    if not text:
        return None
    for parser in (_blocker, _waits, _contention, _validation, assignment, eviction, devices):
        found = parser(text)
        if found is not None:
            return found
    return None


_BLOCKER = regex(
    r"(LocalQueue|ClusterQueue) (\S*) ?(doesn't exist|not found|is inactive|is stopped|is terminating or missing)"
)
_STATES: dict[str, Literal["missing", "inactive", "stopped", "terminating-or-missing"]] = {
    "doesn't exist": "missing",
    "not found": "missing",
    "is inactive": "inactive",
    "is stopped": "stopped",
    "is terminating or missing": "terminating-or-missing",
}


def _blocker(text: str) -> QueueBlocker | None:
    found = _BLOCKER.fullmatch(text)
    if found is None:
        return None
    kind: Literal["LocalQueue", "ClusterQueue"] = "LocalQueue" if found[1] == "LocalQueue" else "ClusterQueue"
    return QueueBlocker(kind, found[2], _STATES[found[3]])


def _waits(text: str) -> Waits | Gated | OnHold | None:
    lower = text.lower()
    if lower.startswith("waiting for all admitted workloads to be in podsready condition"):
        return Waits("pods-ready")
    if lower.startswith("workload is pending evaluation in the scheduling queue"):
        return Waits("evaluation")
    if lower.startswith("bypassed scheduling evaluation because an equivalent workload"):
        return Waits("equivalent")
    if lower.startswith("admissiongatedby cleared"):
        return Waits("gate-cleared")
    if lower.startswith("workload no longer on hold"):
        return Waits("hold-released")
    if lower.startswith("admission is gated by:"):
        return Gated(text.partition(":")[2].strip())
    if lower.startswith("statefulset scaled to zero"):
        return OnHold("scaled-to-zero")
    if lower.startswith("job is on hold"):
        return OnHold("job")
    return None


def _contention(text: str) -> Contention | None:
    lower = text.lower()
    if lower.startswith("workload has overlapping preemption targets with another workload"):
        return Contention("overlapping-targets", "but will fit after" in lower)
    if lower.startswith("workload no longer fits after processing another workload"):
        return Contention("no-longer-fits")
    if lower.startswith("other workloads in the cohort were prioritized"):
        return Contention("others-first")
    if lower.startswith("workload requires preemption, but it's gated"):
        return Contention("preemption-gated")
    return None


_FIELD = regex(
    r"(?P<field>(?:spec\.)?podSets\[\d+\][\w.\[\]-]*): Invalid value: (?P<list>\S*?[\[{][^\]}]*[\]}](?:\{[^}]*\})?): "
    r"(?P<what>requests must not (?:exceed its limits|exceed it's limits|be above the limitRange max"
    r"|be below the limitRange min))"
)


def _validation(text: str) -> Validation | None:
    lower = text.lower()
    if re.match(r'workload namespace ".*" does not exist', text) or lower.startswith(
        "could not obtain workload namespace"
    ):
        return Validation("namespace-missing")
    if lower.startswith("workload namespace doesn't match clusterqueue selector"):
        return Validation("namespace-not-selected")
    if lower.startswith("invalid namespace selector"):
        return Validation("selector-invalid")
    if lower.startswith("the workload has failed admission checks"):
        return Validation("checks-failed")
    if re.match(r"resources? validation failed", lower):
        return Validation("requests", _fields(text))
    if lower.startswith("resources didn't satisfy limitrange constraints"):
        return Validation("limit-range", _fields(text))
    return None


def _fields(text: str) -> tuple[FieldProblem, ...]:
    problems = []
    for found in _FIELD.finditer(text):
        what: Literal["above-limits", "above-max", "below-min"] = (
            "above-max" if "above" in found["what"] else "below-min" if "below" in found["what"] else "above-limits"
        )
        problems.append(FieldProblem(found["field"], tuple(re.findall(r'"([^"]+)"', found["list"])), what))
    return tuple(problems)


# --- the scheduler's verdict ------------------------------------------------------------------------------------------

_POD_SET = regex(r"(?:^|; )(couldn't assign flavors|failed to assign flavors) to pod set (\S+): ", re.IGNORECASE)
_VICTIMS = regex(r"\. Pending the preemption of (\d+) workload\(s\)\.?$")
_FAILED = regex(r"\. Preempting (\d+) workload\(s\) failed, will retry\.?$")


def assignment(text: str) -> Assignment | None:
    """Read "couldn't assign flavors to pod set …". None for any other text."""
    preempting, failed = None, False
    if (found := _VICTIMS.search(text)) is not None:
        preempting, text = int(found[1][:9]), text[: found.start()]
    elif (found := _FAILED.search(text)) is not None:
        preempting, failed, text = int(found[1][:9]), True, text[: found.start()]
    starts = list(_POD_SET.finditer(text))
    if not starts or starts[0].start() != 0:
        return None
    parts = []
    for at, start in enumerate(starts):
        body = text[start.end() : starts[at + 1].start() if at + 1 < len(starts) else len(text)]
        parts.append(PodSetReasons(start[2], _reasons(body)))
    return Assignment(tuple(parts), preempting, failed)


_STATISTICS = regex(r"\. Total nodes: (\d+); excluded: (.*)$")


def _reasons(body: str) -> tuple[Reason, ...]:
    statistics = _STATISTICS.search(body)
    nodes: int | None = None
    excluded: tuple[tuple[str, int], ...] = ()
    if statistics is not None:
        nodes, excluded, body = int(statistics[1][:9]), _excluded(statistics[2]), body[: statistics.start()]
    reasons = [_reason(fragment.strip()) for fragment in _split(body) if fragment.strip()]
    if nodes is not None:
        for at in range(len(reasons) - 1, -1, -1):
            reason = reasons[at]
            if isinstance(reason, TopologyReason):
                reasons[at] = TopologyReason(
                    reason.what, reason.topology, reason.flavor, reason.level, reason.fits, reason.of, reason.unit,
                    nodes, excluded,
                )  # fmt: skip
                break
    return tuple(reasons)


def _excluded(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name.strip(), int(count[:9])) for name, count in re.findall(r"(.+?): (\d+)(?:, |$)", text))


_STARTS = regex(
    r", (?=insufficient |resource \S+ unavailable|flavor \S+ (?:not found|doesn't match)|untolerated taint |skipping flavor "
    r"|could not assign |borrowing limit |Flavor \"|topology \"|no topology |no requested |podset slice |additional slice "
    r"|slice topology |workload requires Topology|no TAS flavor|more than one TAS|required topology |preferred topology "
    r"|Cannot replace |cannot find )",
    re.IGNORECASE,
)


def _split(body: str) -> list[str]:
    """Cut at ", " where a known fragment begins; what no parser knows stays in one piece and is quoted."""
    return _STARTS.split(body)


_F = r"(?P<flavor>\S+)"
_R = r"(?P<resource>\S+)"
_FRAGMENTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Reason]], ...] = (
    (regex(rf"resource {_R} unavailable in ClusterQueue"), lambda m: Uncovered(m["resource"])),
    (regex(rf"flavor {_F} not found"), lambda m: FlavorNotFound(m["flavor"])),
    (
        regex(rf"untolerated taint \{{(?P<key>\S*) (?P<value>\S*) (?P<effect>\S+) .*\}} in flavor {_F}"),
        lambda m: UntoleratedTaint(m["flavor"], m["key"], m["value"], m["effect"]),
    ),
    (regex(rf"flavor {_F} doesn't match node affinity"), lambda m: AffinityMismatch(m["flavor"])),
    (
        regex(
            rf"insufficient quota for {_R} in flavor {_F}, previously considered podsets requests \((?P<a>[^)]*)\) "
            r"\+ current podset request \((?P<b>[^)]*)\) > maximum capacity \((?P<c>[^)]*)\)"
        ),
        lambda m: OverMaximum(m["resource"], m["flavor"], m["a"], m["b"], m["c"]),
    ),
    (
        regex(rf"insufficient quota for {_R} in flavor {_F}, request > maximum capacity \((?P<x>\S+) > (?P<y>[^)]*)\)"),
        lambda m: OverMaximum(m["resource"], m["flavor"], None, m["x"], m["y"]),
    ),
    (
        regex(rf"insufficient quota for {_R} in flavor {_F} in ClusterQueue"),
        lambda m: OverMaximum(m["resource"], m["flavor"]),
    ),
    (
        regex(rf"insufficient unused quota(?P<cohort> in cohort)? for {_R} in flavor {_F}, (?P<n>\S+) more needed"),
        lambda m: NotFree(m["resource"], m["flavor"], m["n"], m["cohort"] is not None),
    ),
    (
        regex(rf"borrowing limit for {_R} in flavor {_F} exceeded"),
        lambda m: OverBorrowingLimit(m["resource"], m["flavor"]),
    ),
    (
        regex(rf"skipping flavor {_F} as it is not found in the nomination mapping.*"),
        lambda m: FlavorSkipped(m["flavor"], "nomination"),
    ),
    (
        regex(rf"skipping flavor {_F} due to WorkloadAllowedResourceFlavorAnnotation annotation"),
        lambda m: FlavorSkipped(m["flavor"], "annotation"),
    ),
    (
        regex(rf"could not assign {_F} flavor since the original workload is assigned: (?P<other>\S+)"),
        lambda m: FlavorSkipped(m["flavor"], "slice", m["other"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" does not support TopologyAwareScheduling'),
        lambda m: TopologyReason("flavor-without-topology", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" supports only TopologyAwareScheduling'),
        lambda m: TopologyReason("flavor-only-topology", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" information missing in TAS cache'),
        lambda m: TopologyReason("not-in-cache", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" does not contain the requested level'),
        lambda m: TopologyReason("level-unknown", flavor=m["flavor"]),
    ),
    (
        regex(r'topology "(?P<t>[^"]*)" doesn\'t allow to fit any of (?P<n>\d+) (?P<u>pod|slice)\(s\)'),
        lambda m: TopologyReason("fits-none", m["t"], fits=0, of=int(m["n"][:9]), unit=m["u"]),
    ),
    (
        regex(r'topology "(?P<t>[^"]*)" allows to fit only (?P<x>\d+) out of (?P<n>\d+) (?P<u>pod|slice)\(s\)'),
        lambda m: TopologyReason("fits-some", m["t"], fits=int(m["x"][:9]), of=int(m["n"][:9]), unit=m["u"]),
    ),
    (
        regex(
            r'topology "(?P<t>[^"]*)" doesn\'t allow to fit; (?P<a>\d+)/(?P<b>\d+) slice\(s\) fit on level (?P<l>[^,]+)(?:, .*)?'
        ),
        lambda m: TopologyReason(
            "fits-some", m["t"], level=m["l"].strip(), fits=int(m["a"][:9]), of=int(m["b"][:9]), unit="slice"
        ),
    ),
    (
        regex(r"no topology domains at level: (?P<l>.+)"),
        lambda m: TopologyReason("no-domains", level=m["l"].strip()),
    ),
    (
        regex(r"no requested topology level(?: for [a-z ]+)?: (?P<l>.+)"),
        lambda m: TopologyReason("level-unknown", level=m["l"].strip()),
    ),
    (
        regex(
            r"(?:podset slice topology|additional slice layer|slice topology requested|topology level not specified"
            r"|invalid node selectors|invalid affinity node selectors|invalid preferred node affinity terms"
            r"|invalid podSetUpdate|unable to calculate domain capacities).*"
        ),
        lambda _: TopologyReason("bad-request"),
    ),
    (
        regex(r"workload requires Topology, but there is no TAS cache information"),
        lambda _: TopologyReason("not-in-cache"),
    ),
    (regex(r"no TAS flavor assigned"), lambda _: TopologyReason("no-flavor")),
    (regex(r"more than one TAS flavor assigned: .*"), lambda _: TopologyReason("several-flavors")),
    (
        regex(r"(?:required|preferred) topology is not supported with ElasticJobsViaWorkloadSlices"),
        lambda _: TopologyReason("not-with-elastic"),
    ),
    (
        regex(r"Cannot replace the node, because the existing topologyAssignment is invalid.*"),
        lambda _: TopologyReason("stale-domain"),
    ),
    (
        regex(r"cannot find replacement assignment for unhealthy node: (?P<l>.+)"),
        lambda m: TopologyReason("no-replacement", level=m["l"].strip()),
    ),
)


def _reason(fragment: str) -> Reason:
    for pattern, build in _FRAGMENTS:
        found = pattern.fullmatch(fragment)
        if found is not None:
            return build(found)
    return Unread(fragment)


# --- evictions --------------------------------------------------------------------------------------------------------

_PREEMPTED = regex(
    r"Preempted to accommodate a workload(?: \(UID: (?P<uid>[^,)]*)(?:, JobUID: (?P<job>[^)]*))?\))?"
    r"(?: due to (?P<why>.+?)| in the (?P<where>ClusterQueue|cohort))?"
    r"(?:; preemptor path: (?P<by>[^;]*); preemptee path: (?P<of>[^;]*))?"
)
_STATED = regex(r'"(?P<name>[^"]*)" \((?P<text>.*?)\)(?=; "|$)')


def preemption(text: str) -> Preemption | None:
    """Read the text of a Preempted condition, in any wording. None for any other text."""
    text = text[:_MAX].removeprefix("Previously: ").strip()
    if text == "Preempted to accommodate a higher priority Workload":
        return Preemption("higher priority")
    found = _PREEMPTED.fullmatch(text)
    if found is None:
        return None

    def known(value: str | None) -> str:
        return "" if value in {None, "UNKNOWN"} else str(value)

    why = found["why"] or (f"in the {found['where']}" if found["where"] else "")
    return Preemption(known(why), known(found["uid"]), known(found["job"]), found["by"] or "", found["of"] or "")


def eviction(text: str) -> Eviction | None:
    """Read the text of an eviction, also with "Previously: " before it. None for any other text."""
    text = text[:_MAX].removeprefix("Previously: ").strip()
    by = preemption(text)
    if by is not None:
        return Eviction("Preempted", by.why, by)
    if text.startswith("Exceeded the PodsReady timeout"):
        return Eviction("PodsReadyTimeout", text.removeprefix("Exceeded the PodsReady timeout").strip())
    if text == "At least one admission check is false":
        return Eviction("AdmissionCheck")
    found = re.fullmatch(r"Evicted due to AdmissionChecks? in Retry state: (.*)", text, re.DOTALL)
    if found is not None:
        return Eviction("AdmissionCheck", found[1], checks=_stated(found[1]))
    if text.startswith("The ClusterQueue is stopped"):
        return Eviction("ClusterQueueStopped")
    if text.startswith("The LocalQueue is stopped"):
        return Eviction("LocalQueueStopped")
    found = re.fullmatch(
        r"Workload (?:was evicted as there was no replacement for unhealthy node\(s\)"
        r"|eviction triggered due to multiple TAS assigned node failures, including): (.*)",
        text,
    )
    if found is not None:
        return Eviction("NodeFailures", found[1])
    if text.startswith("Evicted to accommodate a workload (UID: "):
        return Eviction("FlavorMigration")
    found = re.fullmatch(r"The workload is deactivated(?: due to (.*))?", text, re.DOTALL)
    if found is not None:
        return Eviction("Deactivated", found[1] or "", checks=rejected(found[1] or ""))
    return None


def rejected(text: str) -> tuple[tuple[str, str], ...]:
    """Read which checks were rejected, and what they said, from a condition or event in any wording: (name, message)."""
    text = text[:_MAX]
    found = re.search(r"AdmissionChecks?(?:\(s\))? in Rejected state: (.*)", text, re.DOTALL)
    if found is not None:
        return _stated(found[1])
    found = re.search(r"Admission check\(s\): (.*?),? were rejected", text)
    if found is not None:
        names = [name.strip() for name in re.split(r"[, ]+", found[1].strip("[] ")) if name.strip()]
        return tuple((name, "") for name in names)
    found = re.search(r"AdmissionCheck for (.*?) was Rejected: (.*)", text, re.DOTALL)
    if found is not None:
        names = [name.strip() for name in found[1].split(",") if name.strip()]
        return tuple((name, found[2].strip()) for name in names)
    return ()


def _stated(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((found["name"], found["text"]) for found in _STATED.finditer(text))


_CAUSES = (
    "RequeuingLimitExceeded", "MaximumExecutionTimeExceeded", "AdmissionCheck", "EvictedOnManagerCluster",
)  # fmt: skip


def deactivation_cause(reason: str) -> str:
    """Give Kueue's own cause from a reason such as "DeactivatedDueToAdmissionCheck" or "InactiveWorkloadAdmissionCheck".

    "" when the reason names none ("Deactivated", "InactiveWorkload": a person or a tool, or no deactivation at all).
    """
    for prefix in ("DeactivatedDueTo", "InactiveWorkload"):
        if reason.startswith(prefix):
            return reason.removeprefix(prefix)
    return reason if reason in _CAUSES[:2] or reason == _CAUSES[3] else ""


# --- resource claims --------------------------------------------------------------------------------------------------

_UNMAPPED = regex(r"DeviceClass (\S+) is not mapped in DRA configuration(?: for (?:workload \S+ )?podset (\S+))?")
_TEMPLATE = regex(r"failed to get claim spec for ResourceClaimTemplate (\S+) in podset (\S+?)(?:: (.*))?$", re.DOTALL)
_FEW = regex(r"insufficient matching devices for CEL selector in DeviceClass (\S+): ")
_CLASS = regex(r"failed to get DeviceClass (\S+?):? ")


def devices(text: str) -> Devices | None:
    """Read a text about resource claims. None for any other text."""
    text = text[:_MAX]
    if (found := _UNMAPPED.search(text)) is not None:
        return Devices("unmapped-class", device_class=found[1], pod_set=(found[2] or "").rstrip(":"))
    if (found := _TEMPLATE.search(text)) is not None:
        return Devices("template-unreadable", template=found[1], pod_set=found[2], detail=found[3] or "")
    if (found := _FEW.search(text)) is not None:
        return Devices("too-few-devices", device_class=found[1])
    if re.search(r"insufficient matching devices for (?:counter|capacity) driver|matched devices have no ", text):
        return Devices("too-few-devices")
    if re.search(r"Workload uses DRA resources but the \S+ feature gate is not enabled", text):
        return Devices("not-enabled")
    if re.search(r"feature does not support use of resource claims|DRA resource claims not supported", text):
        return Devices("claims-unsupported")
    if re.search(
        r"FirstAvailable device selection is not supported|Exactly must be set if FirstAvailable is nil"
        r"|AdminAccess is not supported|AllocationMode '?\w+'? is not supported|unsupported allocation mode",
        text,
        re.IGNORECASE,
    ):
        return Devices("selection-unsupported")
    if (found := _CLASS.search(text + " ")) is not None:
        return Devices("class-unreadable", device_class=found[1])
    if re.search(r"failed to list ResourceSlices", text):
        return Devices("class-unreadable")
    if re.search(r"\bDRA\b|DeviceClass|ResourceClaim|CEL selector", text):
        return Devices("other")
    return None


# --- queues -----------------------------------------------------------------------------------------------------------

InactiveWhat = Literal[
    "stopped", "terminating", "flavor-missing", "check-missing", "check-inactive", "topology-missing", "cohort-cycle",
    "several-multikueue", "multikueue-per-flavor", "multikueue-with-provisioning", "topology-unsupported", "not-synced",
    "unknown", "lagging",
]  # fmt: skip


class InactivePart(msgspec.Struct, frozen=True):
    """One reason for which a ClusterQueue says that it is not active; `names` are the objects it names."""

    what: InactiveWhat
    names: frozenset[str] = frozenset()
    text: str = ""


_INACTIVE_REASONS: dict[str, InactiveWhat] = {
    "Stopped": "stopped",
    "Terminating": "terminating",
    "FlavorNotFound": "flavor-missing",
    "AdmissionCheckNotFound": "check-missing",
    "AdmissionCheckInactive": "check-inactive",
    "CheckNotFoundOrInactive": "check-inactive",
    "TopologyNotFound": "topology-missing",
    "CohortCycleDetected": "cohort-cycle",
    "MultipleMultiKueueAdmissionChecks": "several-multikueue",
    "MultipleSingleInstanceControllerChecks": "several-multikueue",
    "MultipleSingleInstanceControllerAdmissionChecks": "several-multikueue",
    "MultiKueueAdmissionCheckAppliedPerFlavor": "multikueue-per-flavor",
    "FlavorIndependentAdmissionCheckAppliedPerFlavor": "multikueue-per-flavor",
    "MultiKueueWithProvisioningRequest": "multikueue-with-provisioning",
    "NotSupportedWithTopologyAwareScheduling": "topology-unsupported",
    "NotFound": "not-synced",
    "Unknown": "unknown",
}
_PARTS: tuple[tuple[re.Pattern[str], InactiveWhat], ...] = (
    (regex(r"references missing ResourceFlavor\(s\): (.+)"), "flavor-missing"),
    (regex(r"references missing AdmissionCheck\(s\): (.+)"), "check-missing"),
    (regex(r"references inactive AdmissionCheck\(s\): (.+)"), "check-inactive"),
    (regex(r'there is no Topology "([^"]*)" for TAS flavor "[^"]*"'), "topology-missing"),
    (regex(r"Cannot use both MultiKueue and ProvisioningRequest.*?found: (.+)"), "multikueue-with-provisioning"),
    (regex(r"Cannot use multiple MultiKueue AdmissionChecks.*?found: (.+)"), "several-multikueue"),
    (regex(r"Cannot specify MultiKueue AdmissionCheck per flavor, found: (.+)"), "multikueue-per-flavor"),
    (regex(r".*(?:TAS|TopologyAwareScheduling)\b.* not supported.*"), "topology-unsupported"),
    (regex(r".*cohort.*cycle.*|.*cycle.*cohort.*", re.IGNORECASE), "cohort-cycle"),
    (regex(r"is stopped"), "stopped"),
    (regex(r".*clusterQueue is terminating.*", re.IGNORECASE), "terminating"),
    (regex(r"ClusterQueue not found"), "not-synced"),
)
_MARKERS = regex(r", (?=references |there is no Topology|is stopped|Cannot use |Cannot specify |TAS )")


def inactive(reason: str, message: str) -> tuple[InactivePart, ...]:
    """Read the Active=False condition of a ClusterQueue, any wording: the reasons as a set; their order varies in Kueue.

    Empty only when both texts are empty. What is not known comes back as `what="unknown"` with its text.
    """
    message = message[:_SHORT].strip()
    body = re.sub(r"^Can't admit new workloads[:;.]?\s*", "", message)
    body = body.removesuffix(".").strip()
    first = _INACTIVE_REASONS.get(reason)
    parts: list[InactivePart] = []
    for fragment in _MARKERS.split(body) if body else ():
        word = _INACTIVE_REASONS.get(fragment.strip())
        if word is not None:  # 0.6: "Can't admit new workloads: Stopped, FlavorNotFound"
            parts.append(InactivePart(word, text=fragment))
            continue
        words = [_INACTIVE_REASONS.get(name.strip()) for name in fragment.split(",")]
        if all(words):
            parts.extend(InactivePart(known, text=fragment) for known in words if known is not None)
            continue
        for pattern, what in _PARTS:
            found = pattern.fullmatch(fragment.strip())
            if found is not None:
                names = found[1] if found.groups() and found[1] else ""
                parts.append(
                    InactivePart(what, frozenset(n for n in re.split(r"[,\s]+", names.strip("[] ")) if n), fragment)
                )
                break
        else:
            parts.append(InactivePart(first if first is not None and not parts else "unknown", text=fragment))
    if not parts and (reason or message):
        parts.append(InactivePart(first or "unknown", text=message))
    return tuple(parts)


# --- admission checks -------------------------------------------------------------------------------------------------


class CheckText(msgspec.Struct, frozen=True):
    """The message of an admission check. `detail`: the controller's own words in it; `previous`: the state before a reset."""

    what: Literal[
        "reset", "not-active", "not-needed", "create-failed", "retry-after-failure", "retry-after-expiry", "remote-lost",
        "remote-gone", "remote-unrecorded", "out-of-sync", "evicted-on-worker", "on-cluster", "no-adapter",
        "owner-not-managed",
    ]  # fmt: skip
    detail: str = ""
    cluster: str = ""
    previous: str = ""


_CHECKS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], CheckText]], ...] = (
    (
        regex(r'Reset to Pending after eviction\. Previously: "?(\w+)"?.*', re.DOTALL),
        lambda m: CheckText("reset", previous=m[1]),
    ),
    (regex(r"the check is not active"), lambda _: CheckText("not-active")),
    (regex(r"the provisioning request is not needed"), lambda _: CheckText("not-needed")),
    (
        regex(r'Error creating (?:ProvisioningRequest|PodTemplate) "([^"]*)": (.*)', re.DOTALL),
        lambda m: CheckText("create-failed", m[2]),
    ),
    (regex(r"Retrying after failure: (.*)", re.DOTALL), lambda m: CheckText("retry-after-failure", m[1])),
    (regex(r"Retrying after booking expired: (.*)", re.DOTALL), lambda m: CheckText("retry-after-expiry", m[1])),
    (
        regex(r"(?:Admitting|Reserving) remote lost.*?(?:Previously: \"?(\w+)\"?)?\.?"),
        lambda m: CheckText("remote-lost", previous=m[1] or ""),
    ),
    (
        regex(r"(?:Admitting|Reserving) remote no longer exists.*?(?:Previously: \"?(\w+)\"?)?\.?"),
        lambda m: CheckText("remote-gone", previous=m[1] or ""),
    ),
    (
        regex(r"Admission check is Ready but no admitting cluster is recorded.*", re.DOTALL),
        lambda _: CheckText("remote-unrecorded"),
    ),
    (
        regex(r'Remote workload on worker cluster "([^"]*)" is out of sync.*', re.DOTALL),
        lambda m: CheckText("out-of-sync", cluster=m[1]),
    ),
    (
        regex(r'Workload evicted on worker cluster: "([^"]*)".*?(?:Previously: "?(\w+)"?)?\.?', re.DOTALL),
        lambda m: CheckText("evicted-on-worker", cluster=m[1], previous=m[2] or ""),
    ),
    (
        regex(r'The workload (?:was admitted|got reservation) on "([^"]*)"'),
        lambda m: CheckText("on-cluster", cluster=m[1]),
    ),
    (regex(r"No multikueue adapter found.*", re.DOTALL), lambda _: CheckText("no-adapter")),
    (
        regex(r"The owner is not managed by Kueue: (.*)", re.DOTALL),
        lambda m: CheckText("owner-not-managed", m[1]),
    ),
)


def check(text: str) -> CheckText | None:
    """Read the message of status.admissionChecks[] where Kueue's own controllers wrote it. None for anybody else's text."""
    text = text[:_SHORT].strip()
    for pattern, build in _CHECKS:
        found = pattern.fullmatch(text)
        if found is not None:
            return build(found)
    return None
