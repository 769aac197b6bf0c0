"""What would make a Workload fit, computed with the same arithmetic: nothing is suggested that would not.

Each suggestion is a change to the question, placed again on the same snapshot: fewer pods, smaller requests, a flavor
that the pods could use, another LocalQueue of the namespace, partial admission.
"""

import contextlib
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from bot.core import objects as o
from bot.core.cohorts import Bound
from bot.core.diagnosis import Step
from bot.core.facts.assignment import RANK, Figure, Offer, fits, place
from bot.core.facts.flavors import Exclusion
from bot.core.facts.requests import PODS, PodSetRequests, with_defaults
from bot.core.facts.shortage import amount, listing
from bot.core.names import named, quoted
from bot.core.objects import is_true
from bot.core.quantity import canonical
from bot.core.quotas import effective, manager
from bot.core.records import dataclass
from bot.core.scheduling import pod_requests, selector_matches, taint_text
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change after which it fits: now ("fits"), or as soon as others release quota ("wait")."""

    change: Literal["fewer-pods", "smaller-requests", "tolerate", "select", "other-queue", "partial-admission"]
    verdict: Literal["fits", "wait"]
    step: Step


def suggestions(facts: "Facts") -> tuple[Suggestion, ...]:
    """Give the changes that would help, the smallest first. What cannot be told is left out; never raises Unknown."""
    found: list[Suggestion] = []
    for make in (_fewer_pods, _smaller, _partial, _other_flavor, _other_queue):
        try:
            found += make(facts)
        except Unknown:
            continue
    return tuple(found)


def steps(facts: "Facts") -> tuple[Step, ...]:
    """Give the suggestions as next steps."""
    return tuple(suggestion.step for suggestion in suggestions(facts))


def ways(*found: Step | None) -> tuple[Step, ...]:
    """Give next steps as alternatives: every one but the first begins with "Or"."""
    kept = [step for step in found if step is not None]
    bare = [replace(step, do=_upper(step.do.removeprefix("Or "))) for step in kept]
    return (*bare[:1], *(replace(step, do=f"Or {step.do[:1].lower()}{step.do[1:]}") for step in bare[1:]))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _most(count: int, good: Callable[[int], bool]) -> int:
    """Give the largest n below `count` for which `good` holds, 0 when there is none; `good` is monotone."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low


def _with(pod_sets: tuple[PodSetRequests, ...], at: int, changed: PodSetRequests) -> tuple[PodSetRequests, ...]:
    return (*pod_sets[:at], changed, *pod_sets[at + 1 :])


def _reaches(offer: Offer, pod_sets: tuple[PodSetRequests, ...], wanted: Literal["fits", "wait"]) -> bool:
    return fits(offer, pod_sets) if wanted == "fits" else RANK[place(offer, pod_sets).verdict] >= RANK[wanted]


def _largest(pod_sets: tuple[PodSetRequests, ...]) -> int | None:
    many = [at for at, pod_set in enumerate(pod_sets) if pod_set.count > 1]
    return max(many, key=lambda at: pod_sets[at].count, default=None)


def _fewer(facts: "Facts") -> tuple[int, int, Literal["fits", "wait"]] | None:
    """Give (position of the pod set, number of pods, verdict) of the largest smaller size that helps."""
    quota = facts.quota
    pod_sets, offer, verdict = quota.requests, quota.offer, quota.deciding.verdict
    at = _largest(pod_sets)
    if at is None or verdict not in {"never", "wait"}:
        return None
    goals: tuple[Literal["fits", "wait"], ...] = ("fits",) if verdict == "wait" else ("fits", "wait")
    for goal in goals:
        pods = _most(
            pod_sets[at].count,
            lambda n, goal=goal: _reaches(offer, _with(pod_sets, at, pod_sets[at].scaled(n)), goal),  # type: ignore[misc]
        )
        if pods > 0 and (pod_sets[at].scaled(pods).requests or not pod_sets[at].before):
            return at, pods, goal
    return None


def _fewer_pods(facts: "Facts") -> list[Suggestion]:
    found = _fewer(facts)
    if found is None:
        return []
    at, pods, goal = found
    pod_set = facts.quota.requests[at]
    which = f" of pod set {quoted(pod_set.name)}" if len(facts.quota.requests) > 1 else ""
    noun = "pod" if pods == 1 else "pods"
    when = (
        f"it fits now with {pods} {noun}" if goal == "fits" else f"with {pods} {noun} it can start once quota is free"
    )
    root = facts.identity.root
    again, command = "submit it again and ", None
    if isinstance(root, o.Job) and (root.kind, root.api_version) == ("Job", "batch/v1"):
        patch = f'{{"spec":{{"parallelism":{pods}}}}}'
        if pod_set.min_count is not None and pods < pod_set.min_count:
            # Kueue refuses a Workload whose minimum is more than its pods
            patch = f'{{"metadata":{{"annotations":{{"{MIN_PARALLELISM}":null}}}},{patch[1:]}'
            when += f", without the annotation {MIN_PARALLELISM}"
        command = f"kubectl patch job {root.name} -n {root.namespace} --type merge -p {shlex.quote(patch)}"
        again = ""  # the API server lets a Job's parallelism change, and Kueue takes it over while the Job is suspended
    do = f"Or {again}ask for {pods} {noun}{which} instead of {pod_set.count}: {when}."
    return [Suggestion("fewer-pods", goal, Step("asker", do, command))]


def _smaller(facts: "Facts") -> list[Suggestion]:
    """Ask for less per pod: what is available, or could ever be, divided by the pods of the pod set that asks most.

    What Kueue adds to each pod stays as it is; what the pods do not ask for themselves cannot be asked for less.
    """
    quota = facts.quota
    pod_sets, short = quota.requests, quota.shortfall
    if short is None or not short.figures or _grows(facts) or any(entry.resource == PODS for entry in short.figures):
        return []
    main = short.figures[0]
    at = max(range(len(pod_sets)), key=lambda n: pod_sets[n].requests.get(main.resource, 0), default=None)
    if at is None or pod_sets[at].count < 1:
        return []
    goals: tuple[Literal["fits", "wait"], ...] = ("fits",) if short.verdict == "wait" else ("fits", "wait")
    added = {entry.resource: _added_to_each(facts, pod_sets[at], entry.resource) for entry in short.figures}
    for goal in goals:
        changed, per_pod = pod_sets[at], {}
        for entry in short.figures:
            more = added[entry.resource]
            if more is None:
                return []
            limit = entry.available.amount if goal == "fits" else entry.capacity.amount
            others = entry.requested - pod_sets[at].requests.get(entry.resource, 0)
            each = _round(entry.resource, (limit - others) // pod_sets[at].count - more)
            per_pod[entry.resource] = each
            changed = replace(changed, requests={**changed.requests, entry.resource: (each + more) * changed.count})
        if min(per_pod.values()) <= 0 or not _reaches(quota.offer, _with(pod_sets, at, changed), goal):
            continue
        each_pod = " per pod" if pod_sets[at].count > 1 else ""
        each_pod += f" in pod set {quoted(pod_sets[at].name)}" if len(pod_sets) > 1 else ""
        what = listing(amount(resource, value) for resource, value in per_pod.items())
        when = "that fits now" if goal == "fits" else "that can start once quota is free"
        return [
            Suggestion(
                "smaller-requests", goal, Step("asker", f"Or submit it again and ask for {what}{each_pod}: {when}.")
            )
        ]
    return []


def _added_to_each(facts: "Facts", pod_set: PodSetRequests, resource: str) -> int | None:
    """Give what Kueue counts for each pod beyond its own requests: a RuntimeClass's overhead, in most cases nothing.

    None where the amount is not, or not only, what the pods ask for: Kueue's configuration makes it out of another resource.
    """
    bare = structs.replace(pod_set.spec, overhead={}, runtime_class_name="")
    spec, _ = with_defaults(bare, facts.ref.namespace, facts.snapshot)
    own = pod_requests(spec).get(resource, 0)
    more, left = divmod(pod_set.requests.get(resource, 0) - own * pod_set.count, pod_set.count)
    if own <= 0 or left or more < 0 or (more and not pod_set.spec.runtime_class_name):
        return None
    return more


def _round(resource: str, value: int) -> int:
    """Round an amount down to what people write: memory to whole Mi, CPU to 100m, where that leaves something."""
    size = {"memory": 2**20, "ephemeral-storage": 2**20, "cpu": 100}.get(resource, 1)
    return value // size * size if value >= size else value


def _grows(facts: "Facts") -> bool:
    """Whether it is an elastic job that runs already and wants more pods: those must be like the others."""
    return any(pod_set.before for pod_set in facts.quota.requests)


def _partial(facts: "Facts") -> list[Suggestion]:
    found = _fewer(facts)
    root = facts.identity.root
    if found is None or found[2] != "fits" or not isinstance(root, o.Job) or _grows(facts):
        return []
    if (root.kind, root.api_version) != ("Job", "batch/v1") or MIN_PARALLELISM in root.metadata.annotations:
        return []
    pods = found[1]
    do = f"Or let Kueue start it with as many pods as fit (partial admission, at least {pods}): that fits now."
    command = f"kubectl annotate job {root.name} -n {root.namespace} {MIN_PARALLELISM}={pods}"
    return [Suggestion("partial-admission", "fits", Step("asker", do, command))]


def _other_flavor(facts: "Facts") -> list[Suggestion]:
    """Offer flavors that are excluded by a taint or a label and would have room."""
    quota = facts.quota
    offer, verdict = quota.offer, quota.deciding.verdict
    if verdict == "fits":
        return []
    found = []
    for group in quota.groups:
        for result in group.flavors:
            out = result.exclusion
            if out is None or out.cause not in {"taint", "labels"}:
                continue
            opened = replace(offer, exclusion=_without(offer, result.flavor))
            if fits(opened, quota.requests):
                found.append(_open(facts, result.flavor, out))
    return found


def _without(offer: Offer, flavor: str) -> Callable[[str, tuple[PodSetRequests, ...]], Exclusion | None]:
    return lambda name, pod_sets: None if name == flavor else offer.exclusion(name, pod_sets)


def _open(facts: "Facts", flavor: str, out: Exclusion) -> Suggestion:
    name = quoted(flavor)
    if out.cause == "taint":
        taints = listing(quoted(taint_text(taint)) for taint in out.taints)
        do = f"Tolerate {taints} if the pods may run there, and submit it again: flavor {name} has room now."
        return Suggestion("tolerate", "fits", Step("asker", do))
    item = facts.snapshot.look_of(o.ResourceFlavor, flavor)
    labels = item.spec.node_labels if item is not None else {}
    wanted = [quoted(f"{key}={labels[key]}") for key in out.labels if key in labels]
    unknown = [quoted(key) for key in out.labels if key not in labels]
    do = f"Select {listing(wanted)} instead" if wanted else f"Do not select {listing(unknown)}"
    return Suggestion("select", "fits", Step("asker", f"{do}, and submit it again: flavor {name} has room now."))


def _other_queue(facts: "Facts") -> list[Suggestion]:
    """Offer the namespace's other LocalQueues in whose ClusterQueues it would fit now."""
    quota, namespace = facts.quota, facts.ref.namespace
    mine = quota.queue
    found = []
    room: dict[str, bool] = {}
    for local, queue in facts.snapshot.once(("open queues", namespace), lambda: _open_queues(facts)):
        if local.name == facts.queue.queue_name or queue is mine:
            continue
        if queue.name not in room:  # several LocalQueues may lead there
            try:
                room[queue.name] = fits(quota.offer_of(queue), quota.requests_in(queue))
            except Unknown:
                room[queue.name] = False
        if room[queue.name]:
            do = (
                f"Or submit it to LocalQueue {named('LocalQueue', local.name, namespace)}: ClusterQueue"
                f" {named('ClusterQueue', queue.name)} has room for it now."
            )
            found.append(Suggestion("other-queue", "fits", Step("asker", do, _move(facts, local.name))))
    return found


def _open_queues(facts: "Facts") -> tuple[tuple[o.LocalQueue, o.ClusterQueue], ...]:
    """The LocalQueues of the namespace by name, with their ClusterQueues, as far as both take what is submitted to them."""
    found = []
    feeding = facts.snapshot.all_of(o.LocalQueue, read="seen", namespace=facts.ref.namespace)
    for local in sorted(feeding, key=lambda item: item.name):
        queue = facts.snapshot.look_of(o.ClusterQueue, local.spec.cluster_queue)
        if queue is None or not (_open_queue(local) and _open_queue(queue)):
            continue
        with contextlib.suppress(Unknown):
            if _selects(facts, queue):
                found.append((local, queue))
    return tuple(found)


def _move(facts: "Facts", queue: str) -> str | None:
    """The command that moves a Job that waits: Kueue lets the queue change while the Job is suspended."""
    root = facts.identity.root
    if not isinstance(root, o.Job) or (root.kind, root.api_version) != ("Job", "batch/v1"):
        return None
    label = shlex.quote(f"kueue.x-k8s.io/queue-name={queue}")
    return f"kubectl label job {root.name} -n {root.namespace} {label} --overwrite"


def _open_queue(queue: o.LocalQueue | o.ClusterQueue) -> bool:
    return (
        queue.spec.stop_policy in {"", "None"}
        and queue.metadata.deletion_timestamp is None
        and is_true(queue.status.conditions, "Active")
    )


def _selects(facts: "Facts", queue: o.ClusterQueue) -> bool:
    namespace = facts.queue.namespace
    if namespace is None:
        return False
    labels = {"kubernetes.io/metadata.name": namespace.name, **namespace.metadata.labels}
    return selector_matches(queue.spec.namespace_selector, labels)


def raise_limit(facts: "Facts", entry: Figure, bound: Bound) -> Step:
    """Give the step that raises the borrowing limit which binds: by how much, where raising this one alone helps."""
    alone = facts.quota.lifted((entry,), only=(bound.kind, bound.name))[0]
    enough = alone.capacity.amount >= entry.requested + entry.kept and (
        entry.verdict == "never" or alone.available.amount >= entry.requested
    )
    by = (
        f" by at least {canonical(entry.resource, entry.short)}"
        if enough
        else ", together with the other limits on the way"
    )
    node = f"{bound.kind} {named(bound.kind, bound.name)}"
    return Step(
        "queue-admin", f"Raise the borrowingLimit of {entry.resource} in flavor {quoted(entry.flavor)} of {node}{by}."
    )


def lend_more(facts: "Facts", entry: Figure) -> Step | None:
    """Give the step that makes the others lend more, where that is enough; None where it is not, or nobody keeps any."""
    offer = facts.quota.offer
    key = (entry.flavor, entry.resource)
    if offer.tree.without_lending_limits().capacity(offer.queue, key).amount < entry.requested + entry.kept:
        return None
    path = offer.tree.path(offer.queue)
    keepers = [n for n in offer.tree.nodes if n.id not in path and offer.tree.local(n.id, key) > 0]
    if not keepers:
        return None
    who = listing(f"{node.kind} {named(node.kind, node.name)}" for node in keepers[:3])
    more = canonical(entry.resource, entry.short)
    return Step(
        "queue-admin",
        f"Raise the lendingLimit of {entry.resource} in flavor {quoted(entry.flavor)} of {who} by {more} in all.",
    )


def raise_quota(facts: "Facts") -> Step | None:
    """Give the step that raises the nominal quota to what is asked, checked by the arithmetic; None without figures."""
    short = facts.quota.shortfall
    if short is None or not short.figures or facts.quota.queue is None:
        return None
    queue = facts.quota.queue
    parts = [
        f"{entry.resource} in flavor {quoted(entry.flavor)} to {canonical(entry.resource, entry.nominal + entry.short)}"
        for entry in short.figures
    ]
    where = f"ClusterQueue {named('ClusterQueue', queue.name)}"
    if effective(queue):
        by = manager(queue)
        who = f"{quoted(by[0], 60)} {named(by[0], by[1])}" if by is not None else "whatever sets its effective quota"
        do = f"Have {who} give {where} more: {listing(parts)}. Its status.effectiveQuota counts, not its spec."
        return Step("queue-admin", do)
    return Step("queue-admin", f"Raise nominalQuota in {where}: {listing(parts)}.")
