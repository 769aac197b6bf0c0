"""What a Workload says of itself: how far it is, whether it stands for another, and which of several decides."""

from datetime import datetime
from typing import Any

from bot.core import objects as o
from bot.core.jobs import created
from bot.core.marks import COMPONENT_INDEX, CONCURRENT_PARENT, PREFIX
from bot.core.objects import condition, is_true
from bot.core.rule import Phase


def phase_of(workload: o.Workload) -> Phase:
    """How far a Workload is, from its conditions alone (Kueue `workload.Status`)."""
    conditions = workload.status.conditions
    if is_true(conditions, "Finished"):
        return "finished"
    if is_true(conditions, "Admitted"):
        return "admitted"
    if is_true(conditions, "QuotaReserved"):
        return "reserved"
    return "waiting"


def since(workload: o.Workload, kind: str) -> Any:  # noqa: ANN401
    """When a condition flipped last, None when it is absent."""
    found = condition(workload.status.conditions, kind)
    return found.last_transition_time if found else None


def of_a_group(workload: o.Workload) -> bool:
    """Say whether a Workload is a pod group's: one pod's end is not the group's."""
    return workload.metadata.annotations.get(PREFIX + "is-group-workload") == "true"


def is_variant(workload: o.Workload) -> bool:
    """Say whether a Workload is a variant of concurrent admission: another Workload owns it, or its label names that one.

    Kueue sets the label `concurrent-admission-parent` to "true" on the parent; some versions set it on the variants, to the
    parent's name.
    """
    label = workload.metadata.labels.get(CONCURRENT_PARENT, "true")
    return label != "true" or any(owner.kind == "Workload" for owner in workload.metadata.owner_references)


def migrates(workload: o.Workload) -> bool:
    """Say whether Kueue moves the job to this variant: another of its variants is being evicted for it."""
    quota = condition(workload.status.conditions, "QuotaReserved")
    return quota is not None and quota.status == "False" and "pending the migration of" in quota.message.lower()


def is_replaced(workload: o.Workload) -> bool:
    """Say whether a finished Workload is a slice that a newer one took over."""
    finished = condition(workload.status.conditions, "Finished")
    return finished is not None and finished.status == "True" and finished.reason == "WorkloadSliceReplaced"


def _turn(workload: o.Workload) -> int:
    """Which of several Workloads of one job decides: the highest. What waits decides over what is under way or over."""
    phase = phase_of(workload)
    if phase == "finished":
        return -1 if is_replaced(workload) else 0
    if workload.metadata.deletion_timestamp is not None:
        return 1
    return {"admitted": 2, "reserved": 3}.get(phase, 4)


def deciding(workloads: tuple[o.Workload, ...]) -> list[o.Workload]:
    """Of several Workloads of one job those whose turn it is: side by side in the order of the line, else oldest first."""
    workloads = tuple(workload for workload in workloads if not is_variant(workload)) or workloads
    best = max((_turn(workload) for workload in workloads), default=0)
    among = [workload for workload in workloads if _turn(workload) == best]
    return sorted(among, key=_place) if side_by_side(among) else among


def side_by_side(workloads: list[o.Workload]) -> bool:
    """Say whether Workloads of one job are parts of it, not one after the other of the whole: each has its own owner or index."""
    owners = {frozenset(owner.uid for owner in workload.metadata.owner_references) for workload in workloads}
    return len(owners) > 1 or len({_index(workload) for workload in workloads}) > 1


def _index(workload: o.Workload) -> str:
    meta = workload.metadata
    return meta.annotations.get(COMPONENT_INDEX) or meta.labels.get(COMPONENT_INDEX) or ""


def _place(workload: o.Workload) -> tuple[int, datetime, int, str]:
    index = _index(workload)
    at = int(index) if index.isascii() and index.isdecimal() and len(index) < 10 else 0
    return -(workload.spec.priority or 0), created(workload), at, workload.name


def advance(workload: o.Workload) -> int:
    """How far a variant of a Workload is: the furthest decides."""
    if phase_of(workload) == "waiting":
        return 1 if workload.spec.active is False else 2
    return {"finished": 0, "reserved": 3}.get(phase_of(workload), 4)


def owner_of(workload: o.Workload) -> o.OwnerReference | None:
    """Give the owner of a Workload: the one that controls it, else the only one; None when nobody owns it."""
    owners = workload.metadata.owner_references
    return next((entry for entry in owners if entry.controller), owners[0] if len(owners) == 1 else None)


def job_of(workload: o.Workload) -> tuple[str, str, str]:
    """Give (kind, namespace, name) of what people call this Workload: its owner, else the Workload itself."""
    owner = owner_of(workload)
    if owner is None or not owner.name:
        return "Workload", workload.namespace, workload.name
    return owner.kind, workload.namespace, owner.name
