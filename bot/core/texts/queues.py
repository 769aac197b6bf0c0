"""Why a ClusterQueue says that it is not active."""

import re
from typing import Literal

import msgspec

from bot.core.patterns import SHORT, regex

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
    message = message[:SHORT].strip()
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
