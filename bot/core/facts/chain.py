"""The admission path as rows: Workload, LocalQueue, ClusterQueue, ResourceFlavors, Cohorts.

A missing link is still a row, with `ok` False; what is not known has `ok` None. Nothing here raises.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from bot.core import objects as o
from bot.core.diagnosis import Link, QuotaRow
from bot.core.names import quoted
from bot.core.objects import is_true
from bot.core.quantity import human
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

T = TypeVar("T")
ABSENT, UNREAD = "does not exist", "not read"


def links(facts: "Facts") -> tuple[Link, ...]:
    """Give the path of the asked job, () when Kueue does not manage it. Never raises."""
    if not _try(lambda: facts.progress.managed, otherwise=True) or (
        facts.identity.target is None and not _known(facts)
    ):
        return ()
    return (_workload(facts), *_queues(facts), *_flavors(facts), *_cohorts(facts))


def _try(compute: Callable[[], T], otherwise: T) -> T:
    try:
        return compute()
    except Unknown:
        return otherwise


def _known(facts: "Facts") -> bool:
    return facts.identity.group is not None or bool(facts.identity.orphans)


def _workload(facts: "Facts") -> Link:
    try:
        workload = facts.identity.workload
    except Unknown:
        return Link("Workload", "", UNREAD, None, facts.ref.namespace)
    if workload is None:
        return Link("Workload", "", ABSENT, ok=False, namespace=facts.ref.namespace)
    phase, evicted = facts.progress.phase, is_true(workload.status.conditions, "Evicted")
    if phase == "finished":
        state, ok = "finished", True
    elif workload.metadata.deletion_timestamp is not None:
        state, ok = "being deleted", False
    elif workload.spec.active is False:
        state, ok = "deactivated", False
    elif phase == "admitted":
        state, ok = ("admitted, being evicted", False) if evicted else ("admitted", True)
    elif phase == "reserved":
        state, ok = ("quota reserved, being evicted" if evicted else "quota reserved, not admitted"), False
    else:
        state, ok = ("evicted, not admitted" if evicted else "not admitted"), False
    if ok is False and facts.identity.beside:
        state += f", like {facts.identity.beside} more of this {quoted(_kind(facts), 60)}"
    return Link("Workload", workload.name, state, ok, workload.namespace)


def _kind(facts: "Facts") -> str:
    job = facts.identity.job
    return job.kind if job is not None else "job"


def _queues(facts: "Facts") -> list[Link]:
    workload = _try(lambda: facts.identity.workload, None)
    place = workload.namespace if workload is not None else facts.ref.namespace
    rows: list[Link] = []
    try:
        name = facts.queue.queue_name
    except Unknown:
        return [Link("LocalQueue", "", UNREAD, None, place)]
    try:
        local = facts.queue.local_queue
        if local is None:
            rows.append(Link("LocalQueue", name, ABSENT if name else "no name", ok=False, namespace=place))
        else:
            policy = local.spec.stop_policy
            stopped = policy in {"Hold", "HoldAndDrain"}
            rows.append(Link("LocalQueue", name, f"stopped ({policy})" if stopped else "active", not stopped, place))
    except Unknown:
        rows.append(Link("LocalQueue", name, UNREAD, None, place))
    try:
        target = facts.queue.cluster_queue_name
    except Unknown:
        return [*rows, Link("ClusterQueue", "", UNREAD, None)]
    if not target and rows[-1].ok is False:
        return rows
    return [*rows, _cluster_queue(facts, target)]


def _cluster_queue(facts: "Facts", name: str) -> Link:
    try:
        queue = facts.queue.cluster_queue
    except Unknown:
        return Link("ClusterQueue", name, UNREAD, None)
    if queue is None:
        return Link("ClusterQueue", name, ABSENT if name else "no name", ok=False)
    strategy = quoted(queue.spec.queueing_strategy or "BestEffortFIFO", 40)
    if queue.spec.stop_policy in {"Hold", "HoldAndDrain"}:
        return Link("ClusterQueue", name, f"stopped ({queue.spec.stop_policy})", ok=False)
    if queue.metadata.deletion_timestamp is not None:
        return Link("ClusterQueue", name, "being deleted", ok=False)
    wrong = {
        "a ResourceFlavor is missing": lambda: bool(facts.queue.missing_flavors),
        "an AdmissionCheck is missing": lambda: bool(facts.queue.missing_checks),
        "an AdmissionCheck is not active": lambda: bool(facts.queue.inactive_checks),
        "its cohorts form a ring": lambda: bool(facts.queue.ring),
        "misconfigured": lambda: bool(facts.queue.misconfigurations),
    }
    for state, holds in wrong.items():
        if _try(holds, otherwise=False):
            return Link("ClusterQueue", name, f"inactive: {state}", ok=False)
    active = facts.queue.active
    if active is None:
        return Link("ClusterQueue", name, strategy, None)
    if active.status != "True" and any(part.what == "topology-missing" for part in facts.queue.said):
        return Link("ClusterQueue", name, "inactive: a Topology is missing", ok=False)
    return Link("ClusterQueue", name, f"active, {strategy}", ok=True)


def _flavors(facts: "Facts") -> list[Link]:
    workload = _try(lambda: facts.identity.workload, None)
    admission = workload.status.admission if workload is not None else None
    if admission is not None:
        assigned = dict.fromkeys(
            name for entry in admission.pod_set_assignments for _, name in sorted(entry.flavors.items())
        )
        return [_flavor(facts, name, "assigned", ok=True) for name in assigned if name]
    names: tuple[str, ...] = _try(lambda: facts.queue.flavor_names, ())
    if not names:
        return []
    rows: tuple[QuotaRow, ...] = _try(lambda: tuple(facts.quota.rows), ())
    tried = {row.flavor for row in rows}
    found = []
    missing: tuple[str, ...] = _try(lambda: facts.queue.missing_flavors, ())
    for name in names:
        if tried and name not in tried and name not in missing:
            continue
        state, ok = _fit([row for row in rows if row.flavor == name])
        if state == "fits":
            state, ok = _try(lambda name=name: _placed(facts, name), None) or (state, ok)  # type: ignore[misc]
        found.append(_flavor(facts, name, state, ok=ok))
    return found


def _flavor(facts: "Facts", name: str, state: str, *, ok: bool | None) -> Link:
    try:
        missing = facts.queue.flavor(name) is None
    except Unknown:
        return Link("ResourceFlavor", name, state or UNREAD, ok)
    return (
        Link("ResourceFlavor", name, ABSENT, ok=False)
        if missing
        else Link("ResourceFlavor", name, state or "exists", ok)
    )


def _fit(rows: list[QuotaRow]) -> tuple[str, bool | None]:
    if not rows or any(row.verdict is None for row in rows):
        return "", None
    excluded = next((row for row in rows if row.verdict == "excluded"), None)
    if excluded is not None:
        return f"excluded: {quoted(excluded.why or 'does not match', 80)}", False
    short = [f"{human(row.resource, row.short)} {row.resource} short" for row in rows if row.short]
    if short:
        return ", ".join(short), False
    return ("fits", True) if all(row.verdict == "fits" for row in rows) else ("does not fit", False)


def _placed(facts: "Facts", name: str) -> tuple[str, bool] | None:
    """The state of a flavor that has the quota and not the place; None when its topology holds the pods, or it has none."""
    if not facts.topology.levels(name) or facts.topology.delayed(name):
        return None
    room = next((room for room in facts.topology.rooms(name) if not room.enough), None)
    if room is None:
        return None
    return f"has the quota, and places for {room.fits} of {room.wanted} {room.unit}s", False


def _cohorts(facts: "Facts") -> list[Link]:
    queue = _try(lambda: facts.queue.cluster_queue, None)
    if queue is None or not queue.cohort:
        return []
    try:
        path, ring = facts.queue.cohort_path, facts.queue.ring
    except Unknown:
        return [Link("Cohort", queue.cohort, UNREAD, None)]
    found = []
    for name in path:
        cohort = facts.snapshot.look_of(o.Cohort, name)
        if name in ring:
            found.append(Link("Cohort", name, "its parents form a ring", ok=False))
        elif cohort is None:
            found.append(Link("Cohort", name, "implicit, without quota of its own", ok=True))
        else:
            found.append(
                Link("Cohort", name, "root" if not cohort.parent else f"below {quoted(cohort.parent, 80)}", ok=True)
            )
    return found
