"""What is short, in words and as evidence, the same for every rule about quota."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bot.core import objects as o
from bot.core import texts
from bot.core.diagnosis import Evidence, Holder, Step
from bot.core.facts.assignment import Figure, FlavorResult
from bot.core.facts.quota import Shortfall
from bot.core.facts.requests import defaulted_by, left_to_run
from bot.core.moments import clock
from bot.core.names import named, quoted, subject
from bot.core.objects import is_true
from bot.core.quantity import amount as quantity
from bot.core.quantity import canonical, human
from bot.core.quotas import effective
from bot.core.scheduling import pod_requests
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts
    from bot.core.facts.order import ReleaseWindow

_COUNTED = {"cpu": ("CPU", "CPUs"), "pods": ("Pod", "Pods")}


def amount(resource: str, value: int, more: str = "") -> str:
    """Write an amount in Kueue's unit for people: "3 CPUs", "1 Pod", "4Gi memory", "2 nvidia.com/gpu".

    `more` stands between number and noun: "2 more nvidia.com/gpu".
    """
    number = human(resource, value)
    one, many = _COUNTED.get(resource, (resource, resource))
    return " ".join(part for part in (number, more, one if number == "1" or number.endswith("m") else many) if part)


def listing(parts: Iterable[str]) -> str:
    """Join with commas and "and"."""
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else "nothing"


def here(facts: "Facts") -> str:
    """Write which ClusterQueue it is, with its name where that is known."""
    try:
        return f"ClusterQueue {named('ClusterQueue', facts.queue.cluster_queue_name)}"
    except Unknown:
        return "its ClusterQueue"


def subjects(facts: "Facts", short: Shortfall, *more: tuple[str, str]) -> tuple[str, ...]:
    """Give the ClusterQueue, the flavor and more cluster-scoped objects (kind, name) as subjects, each once."""
    found = []
    with suppress(Unknown):
        found.append(subject("ClusterQueue", facts.queue.cluster_queue_name))
    found += [subject("ResourceFlavor", short.flavor), *(subject(kind, name) for kind, name in more)]
    return tuple(dict.fromkeys(found))


def lacking(short: Shortfall) -> str:
    """Write what is missing: "2 more nvidia.com/gpu", of several resources all of them."""
    if short.figures:
        return listing(amount(entry.resource, entry.short, "more") for entry in short.figures)
    return listing(_told_amounts(short, "more"))


def _told_amounts(short: Shortfall, more: str = "") -> list[str]:
    found = []
    for entry in short.told:
        if isinstance(entry, texts.NotFree):
            try:
                found.append(amount(entry.resource, quantity(entry.resource, entry.more), more))
            except ValueError:
                found.append(f"more {quoted(entry.resource)}")
    return found


def requested(short: Shortfall) -> str:
    """Write what is asked for: "3 CPUs and 3 Pods", of an elastic job "3 CPUs beyond the 2 that it holds"."""
    held = any(entry.kept for entry in short.figures)
    kept = (
        f" beyond the {listing(human(entry.resource, entry.kept) for entry in short.figures)} that it holds"
        if held
        else ""
    )
    return listing(amount(entry.resource, entry.requested) for entry in short.figures) + kept


def most(short: Shortfall) -> str:
    """Write the most there could ever be after the request: the bare number where one resource decides."""
    if len(short.figures) == 1:
        return human(short.figures[0].resource, short.figures[0].capacity.amount)
    return capacities(short)


def split(facts: "Facts", short: Shortfall) -> Step | None:
    """Give the step of splitting the job into parts; None where not even one of its pods would fit into a part.

    Nor where it is one pod alone, or runs already and wants to grow.
    """
    if any(entry.capacity.amount <= 0 or entry.kept for entry in short.figures):
        return None
    asking = [pod_set for pod_set in facts.quota.requests if pod_set.count > 0]
    if sum(pod_set.count for pod_set in asking) < 2:
        return None
    for pod_set in asking:
        for entry in short.figures:
            if pod_set.requests.get(entry.resource, 0) > entry.capacity.amount * pod_set.count:
                return None
    return Step("asker", f"Split the job into parts of at most {capacities(short)} each.")


def capacities(short: Shortfall) -> str:
    """Write the most there could ever be: "2 CPUs and 2 Pods"."""
    return listing(amount(entry.resource, entry.capacity.amount) for entry in short.figures)


def too_many(short: Shortfall) -> str:
    """Write by how much the request is too large: "1 CPU and 1 Pod too many", of one resource "1 too many"."""
    if len(short.figures) == 1:
        return f"{human(short.figures[0].resource, short.figures[0].short)} too many"
    return f"{listing(amount(entry.resource, entry.short) for entry in short.figures)} too many"


def told(short: Shortfall) -> str:
    """Write the figures of Kueue's own text: ": 8 nvidia.com/gpu in flavor a100, at most 6", "" when it gives none."""
    parts = []
    for entry in short.told:
        if isinstance(entry, texts.OverMaximum) and entry.request is not None and entry.capacity is not None:
            with suppress(ValueError):
                asked = sum(quantity(entry.resource, text) for text in (entry.request, entry.earlier or "0"))
                most = human(entry.resource, quantity(entry.resource, entry.capacity))
                parts.append(f"{amount(entry.resource, asked)} in flavor {quoted(entry.flavor)}, at most {most}")
    return f": {'; '.join(parts)}" if parts else ""


def released(short: Shortfall) -> str:
    """Write what has to happen: "2 nvidia.com/gpu are released"."""
    return _are_released([amount(entry.resource, entry.short) for entry in short.figures] or _told_amounts(short))


def _are_released(parts: list[str]) -> str:
    single = len(parts) == 1 and (parts[0].startswith("1 ") or not parts[0].partition(" ")[0].isdigit())
    return f"{listing(parts)} {'is' if single else 'are'} released"


def waiting(facts: "Facts", short: Shortfall, under: str = "") -> tuple[Step, ...]:
    """Give the step of waiting: for what, with partial admission from which size on, and until when at the latest.

    `under` narrows where the release counts: " in the cohort". The moment is known only where those who hold what is
    missing declare a maximum execution time.
    """
    part = _at_smallest(facts, short)
    what = f"when {released(short)}{under}"
    do = f"Wait: it starts {what}." if not part else f"Wait: it starts {part}{under}, and in full {what}."
    window = _window(facts)
    if window is not None:
        first = "" if window.latest is not None else " (for it alone, not for those before it)"
        at = clock(window.latest if window.latest is not None else window.earliest)
        do += f" Enough is released until {at}{first} {window.basis}."
    return (Step("nobody", do),)


def _window(facts: "Facts") -> "ReleaseWindow | None":
    try:
        return facts.order.release_window
    except Unknown:
        return None


def _at_smallest(facts: "Facts", short: Shortfall) -> str:
    """Write from which size on partial admission starts it: "with 4 of its 8 pods when 2 CPUs are released"; "" without."""
    if not short.figures or short.at_minimum:
        return ""
    smallest = facts.quota.smallest
    group = smallest.deciding if smallest is not None else None
    nearest = group.nearest if group is not None and group.verdict == "wait" else None
    if nearest is None:
        return ""
    pod_sets = facts.quota.requests
    least = sum(pod_set.count if pod_set.min_count is None else pod_set.min_count for pod_set in pod_sets)
    parts = [amount(entry.resource, entry.short) for entry in nearest.deciding]
    return f"with {least} of its {sum(p.count for p in pod_sets)} pods when {_are_released(parts)}"


def usage(short: Shortfall) -> str:
    """Write how much of the queue's own quota is in use: "6 of 8 are in use"."""
    if len(short.figures) == 1:
        entry = short.figures[0]
        return f"{human(entry.resource, entry.used)} of {human(entry.resource, entry.nominal)} are in use"
    parts = [f"{human(e.resource, e.used)} of {amount(e.resource, e.nominal)}" for e in short.figures]
    return f"{listing(parts)} are in use"


def where(short: Shortfall) -> str:
    """Write which size is meant, when it is the smallest that partial admission would start; else ""."""
    return "even at its smallest size " if short.at_minimum else ""


def holding(facts: "Facts", short: Shortfall, most: int = 2) -> str:
    """Write who holds what is missing: "; team-a/holder holds 6"; others before the asked job's own, "" for nobody."""
    found = holders(facts, short)
    if not found:
        return ""
    parts = [
        f"{_holder(entry)} holds {human(entry.resource, entry.amount)}{_not_running(facts, entry)}"
        for entry in found[:most]
    ]
    rest = len(found) - most
    return (
        "; " + ", ".join(parts) + (f" and {rest} more Workload{'s' if rest > 1 else ''} the rest" if rest > 0 else "")
    )


def holders(facts: "Facts", short: Shortfall) -> tuple[Holder, ...]:
    """Give the holders of the resource that is short, largest first, the asked job's own Workloads last."""
    main = short.main
    resource = main.resource if main is not None else short.told[0].resource
    own = {workload.name for workload in facts.identity.workloads}
    found = [holder for holder in facts.quota.holders if holder.resource == resource]
    return tuple(sorted(found, key=lambda h: h.namespace == facts.ref.namespace and h.workload in own))


def _holder(holder: Holder) -> str:
    kind, _, name = holder.job.partition("/")
    return named(kind, name, holder.namespace)


def _not_running(facts: "Facts", holder: Holder) -> str:
    """Write of a holder that it has its quota and does not run with it; "" of the others."""
    workload = facts.snapshot.look_of(o.Workload, holder.workload, holder.namespace)
    if workload is None:
        return ""
    if is_true(workload.status.conditions, "Evicted"):
        read = facts.snapshot.covers("Pod", workload.namespace)
        gone = read and not facts.order.preemption.hanging(workload)
        return ", evicted and not released" if gone else " until its pods are gone"
    return "" if is_true(workload.status.conditions, "Admitted") else ", not admitted yet"


def elsewhere(facts: "Facts", short: Shortfall) -> str:
    """Write how the other flavors of the group stand, and what makes the request larger than the pod template.

    " Flavor reserved lacks 4, flavor spot is excluded (taint …). Kueue counts 3 CPUs, the pod template has 1: …"; "" for
    neither.
    """
    parts = [_other(result) for result in short.others]
    return (f" {_upper('; '.join(parts[:3]))}." if parts else "") + _added(facts, short)


def _added(facts: "Facts", short: Shortfall) -> str:
    """Write where the request is more than what stands in the pod templates, and what adds to it if that was seen."""
    main = short.main
    if main is None or main.resource == "pods":
        return ""
    workload = facts.identity.want()
    names = {result.name for result in facts.quota.requests if not result.kept}
    pod_sets = [pod_set for pod_set in workload.spec.pod_sets if pod_set.name in names]
    counted = sum(r.requests.get(main.resource, 0) for r in facts.quota.requests if r.name in names)
    bare = [replace(pod_set.template.spec, overhead={}) for pod_set in pod_sets]
    written = sum(
        left_to_run(workload, pod_set) * pod_requests(spec).get(main.resource, 0)
        for pod_set, spec in zip(pod_sets, bare, strict=True)
    )
    if counted <= written:
        return ""
    limits = defaulted_by(workload, main.resource, facts.snapshot)
    classes = sorted({spec.runtime_class_name for spec in bare if spec.runtime_class_name})
    asked = {name for spec in bare for name in pod_requests(spec)}
    made_of = [name for name in facts.quota.made_of(main.resource) if name in asked]
    by = ""
    if made_of:
        by = f", which its configuration makes of {listing(quoted(name) for name in made_of)}"
    elif limits is not None:
        by = f", which LimitRange {named('LimitRange', limits, workload.namespace)} adds"
    elif classes:
        by = f", with the overhead of RuntimeClass {named('RuntimeClass', classes[0])}"
    own = human(main.resource, written) if written else "none of it"
    return f" Kueue counts {amount(main.resource, counted)}{by}; the pod templates state {own}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _other(result: FlavorResult) -> str:
    name = quoted(result.flavor)
    if result.exclusion is not None:
        return f"flavor {name} is excluded ({quoted(result.exclusion.text)})"
    if result.verdict == "fits" or not result.deciding:
        return f"flavor {name} has room for {listing(map(quoted, result.pod_sets))}"
    first = result.deciding[0]
    if result.verdict == "never":
        return f"flavor {name} can never give more than {amount(first.resource, first.capacity.amount)}"
    return f"flavor {name} lacks {amount(first.resource, first.short)}"


def evidence(facts: "Facts", short: Shortfall) -> tuple[Evidence, ...]:
    """Give the proof of a shortfall: the request, the quota, what is in use and by what source, both limits, the holders."""
    workload = facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    if not short.figures:
        return (Evidence(mine, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),)
    found: list[Evidence] = []
    for entry in short.figures:
        found += figure_evidence(facts, mine, entry)
    for holder in holders(facts, short)[:3] if short.verdict == "wait" else ():
        found.append(
            Evidence(
                subject("Workload", holder.workload, holder.namespace),
                f"status.admission.podSetAssignments[].resourceUsage[{holder.resource}]",
                canonical(holder.resource, holder.amount),
            )
        )
    return tuple(found)


def figure_evidence(facts: "Facts", workload: str, entry: Figure) -> list[Evidence]:
    """Give the proof of one flavor's figures; `workload` is the asked Workload as a subject."""
    quota = facts.quota
    queue = quota.queue
    if queue is None:
        return []
    name, resource, flavor = subject("ClusterQueue", queue.name), entry.resource, entry.flavor
    at = f"[{flavor}][{resource}]"
    counted = facts.trees.usage(queue)[1]
    bound = entry.bound
    found = [
        Evidence(workload, f"requested[{resource}]", canonical(resource, entry.requested), "computed"),
        Evidence(name, f"{_from(queue)}{at}.nominalQuota", canonical(resource, entry.nominal)),
        Evidence(
            name,
            f"sum of its Workloads' reservations{at}" if counted else f"status.flavorsReservation{at}.total",
            canonical(resource, entry.used),
            "computed" if counted else "cluster",
        ),
        Evidence(name, f"available{at}", canonical(resource, entry.available.amount), "computed"),
        Evidence(name, f"capacity{at}", canonical(resource, entry.capacity.amount), "computed"),
    ]
    limits = facts.trees.tree.limits((bound.kind, bound.name), (flavor, resource))
    if bound.field == "borrowingLimit" and limits.borrowing is not None:
        found.append(
            Evidence(
                subject(bound.kind, bound.name),
                f"spec.resourceGroups{at}.borrowingLimit",
                canonical(resource, limits.borrowing),
            )
        )
    return found


def _from(queue: o.ClusterQueue) -> str:
    """Where the quota stands that counts."""
    if not effective(queue):
        return "spec.resourceGroups"
    return "status.effectiveQuota" if queue.status.effective_quota else "status.effectiveQuotas"
