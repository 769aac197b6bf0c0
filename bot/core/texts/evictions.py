"""The texts of evictions and preemptions, of rejected checks, and of what deactivated a Workload."""

import re
from typing import Literal

import msgspec

from bot.core.patterns import LONGEST, regex


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


_PREEMPTED = regex(
    r"Preempted to accommodate a workload(?: \(UID: (?P<uid>[^,)]*)(?:, JobUID: (?P<job>[^)]*))?\))?"
    r"(?: due to (?P<why>.+?)| in the (?P<where>ClusterQueue|cohort))?"
    r"(?:; preemptor path: (?P<by>[^;]*); preemptee path: (?P<of>[^;]*))?"
)


_STATED = regex(r'"(?P<name>[^"]*)" \((?P<text>.*?)\)(?=; "|$)')


def preemption(text: str) -> Preemption | None:
    """Read the text of a Preempted condition, in any wording. None for any other text."""
    text = text[:LONGEST].removeprefix("Previously: ").strip()
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
    text = text[:LONGEST].removeprefix("Previously: ").strip()
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
    text = text[:LONGEST]
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
