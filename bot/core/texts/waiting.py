"""The text of QuotaReserved=False: why a Workload waits."""

import re
from typing import Literal

import msgspec

from bot.core.patterns import LONGEST, regex
from bot.core.texts.claims import Devices, devices
from bot.core.texts.evictions import Eviction, eviction
from bot.core.texts.verdict import Assignment, assignment

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


class QueueBlocker(msgspec.Struct, frozen=True):
    """The state of a queue as the Workload controller saw it: LocalQueue q "doesn't exist" and the like."""

    kind: Literal["LocalQueue", "ClusterQueue"]
    name: str
    state: Literal["missing", "inactive", "stopped", "terminating-or-missing"]


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


QuotaText = (
    QueueBlocker | Assignment | Contention | Validation | Waits | Gated | OnHold | Devices | Eviction
)  # fmt: skip


VERDICTS = (Assignment, Contention, Validation)
"""The results that the scheduler alone writes: it looked at this Workload and said no."""


def quota(text: str) -> QuotaText | None:
    """Read the message of QuotaReserved=False (or of the event with the same text). None when nobody knows the text."""
    text = text[:LONGEST].strip()
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
