"""Where Kueue's last words no longer agree with the objects: what is said, and what is computed now.

Kueue writes a text when it looks at a Workload, and leaves it there. Only what can be disproved counts: a statement about
something that was not read is left alone.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core import quantity, texts
from bot.core.diagnosis import Evidence, QuotaRow
from bot.core.names import named, quoted, subject
from bot.core.records import dataclass
from bot.core.scheduling import tolerates
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One outdated statement: what Kueue said, and what holds now, each as part of a sentence; with the proof.

    `what` names the kind of statement: queue, namespace, requests, devices, covered, flavor, taint, labels, figures, fits.
    """

    what: str
    said: str
    now: str
    evidence: tuple[Evidence, ...]
    flavor: str = ""


def contradictions(facts: "Facts") -> tuple[Contradiction, ...]:
    """Give what Kueue's current refusal says and the objects disprove, () when nothing is. Raises Unknown without a Workload."""
    if facts.progress.phase != "waiting":
        return ()
    said = facts.history.said
    checks: list[Callable[[], Iterator[Contradiction]]] = []
    match said:
        case texts.QueueBlocker():
            checks = [lambda: _queue(facts, said)]
        case texts.Validation(what="namespace-not-selected"):
            checks = [lambda: _namespace(facts)]
        case texts.Validation(what="requests" | "limit-range"):
            checks = [lambda: _requests(facts)]
        case texts.Devices(what="template-unreadable"):
            checks = [lambda: _template(facts, said)]
        case texts.Assignment():
            checks = [partial(_reason, facts, reason) for reason in said.reasons]
            checks.append(lambda: _fits(facts, said))
    found: list[Contradiction] = []
    for check in checks:
        try:
            found.extend(check())
        except Unknown:
            continue
    return tuple(dict.fromkeys(found))


def _queue(facts: "Facts", said: texts.QueueBlocker) -> Iterator[Contradiction]:
    name = named(said.kind, said.name, _place(facts) if said.kind == "LocalQueue" else "")
    words = f"{said.kind} {name} {_STATES[said.state]}"
    if said.kind == "LocalQueue":
        if said.name != facts.queue.queue_name:
            now = facts.queue.queue_name
            where = subject("Workload", facts.identity.want().name, _place(facts))
            yield Contradiction(
                "queue", words, f"it names LocalQueue {named('LocalQueue', now, _place(facts))} now",
                (Evidence(where, "spec.queueName", now or '""'),),
            )  # fmt: skip
            return
        queue = facts.queue.local_queue
        if queue is None or queue.metadata.deletion_timestamp is not None:
            return
        if not facts.queue.draining(queue.spec.stop_policy):
            where = subject("LocalQueue", queue.name, queue.namespace)
            policy = queue.spec.stop_policy or "None"
            yield Contradiction(
                "queue", words, "it exists and is not stopped", (Evidence(where, "spec.stopPolicy", policy),)
            )
        return
    cluster_queue = facts.queue.cluster_queue
    if cluster_queue is None:
        return
    where = subject("ClusterQueue", cluster_queue.name)
    if said.name != cluster_queue.name:
        now = f"its LocalQueue points to ClusterQueue {cluster_queue.name} now"
        yield Contradiction("queue", words, now, (Evidence(where, "metadata.name", cluster_queue.name),))
        return
    if _usable(facts, cluster_queue):
        active = facts.queue.active
        yield Contradiction(
            "queue", words, "it exists and is active",
            (Evidence(where, "status.conditions[Active]", active.status if active is not None else "absent"),),
        )  # fmt: skip


_STATES = {
    "missing": "does not exist",
    "inactive": "is inactive",
    "stopped": "is stopped",
    "terminating-or-missing": "is being deleted or missing",
}


def _place(facts: "Facts") -> str:
    return facts.identity.want().namespace


def _usable(facts: "Facts", queue: o.ClusterQueue) -> bool:
    """Whether nothing that makes a ClusterQueue inactive holds. Raises Unknown when that is not known."""
    wrong = (
        facts.queue.draining(queue.spec.stop_policy),
        queue.metadata.deletion_timestamp is not None,
        facts.queue.missing_flavors,
        facts.queue.missing_checks,
        facts.queue.inactive_checks,
        facts.queue.ring,
        facts.queue.misconfigurations,
    )
    active = facts.queue.active
    return not any(wrong) and active is not None and active.status == "True"


def _namespace(facts: "Facts") -> Iterator[Contradiction]:
    queue = facts.queue.cluster_queue
    if queue is not None and facts.queue.namespace_selected:
        yield Contradiction(
            "namespace", "the ClusterQueue does not take this namespace", "its namespaceSelector matches",
            (Evidence(subject("ClusterQueue", queue.name), "spec.namespaceSelector", "matches", "computed"),),
        )  # fmt: skip


def _requests(facts: "Facts") -> Iterator[Contradiction]:
    if not facts.queue.request_problems:
        workload = facts.identity.want()
        where = subject("Workload", workload.name, workload.namespace)
        yield Contradiction(
            "requests", "the requests break a limit", "they stay within every limit and LimitRange",
            (Evidence(where, "spec.podSets[].template.spec.containers[].resources", "within the limits", "computed"),),
        )  # fmt: skip


def _template(facts: "Facts", said: texts.Devices) -> Iterator[Contradiction]:
    item = facts.snapshot.look("ResourceClaimTemplate", said.template, _place(facts))
    if item is not None:
        name = named("ResourceClaimTemplate", item.name, item.namespace)
        yield Contradiction(
            "devices", f"ResourceClaimTemplate {name} cannot be read", "it exists",
            (Evidence(subject("ResourceClaimTemplate", item.name, item.namespace), "metadata.name", "present"),),
        )  # fmt: skip


def _reason(facts: "Facts", reason: texts.Reason) -> Iterator[Contradiction]:
    match reason:
        case texts.Uncovered():
            yield from _covered(facts, reason)
        case texts.FlavorNotFound():
            if facts.queue.flavor(reason.flavor) is not None:
                where = subject("ResourceFlavor", reason.flavor)
                yield Contradiction(
                    "flavor", f"flavor {quoted(reason.flavor)} does not exist", "it exists",
                    (Evidence(where, "metadata.name", "present"),), reason.flavor,
                )  # fmt: skip
        case texts.UntoleratedTaint():
            yield from _taint(facts, reason)
        case texts.AffinityMismatch():
            rows = [row for row in facts.quota.rows if row.flavor == reason.flavor]
            if rows and all(row.verdict not in {None, "excluded"} for row in rows):
                yield Contradiction(
                    "labels", f"flavor {quoted(reason.flavor)} does not match the node affinity", "it matches",
                    (Evidence(subject("ResourceFlavor", reason.flavor), "spec.nodeLabels", "matches", "computed"),),
                    reason.flavor,
                )  # fmt: skip
        case texts.OverMaximum():
            yield from _maximum(facts, reason)
        case texts.NotFree():
            yield from _not_free(facts, reason)


def _covered(facts: "Facts", reason: texts.Uncovered) -> Iterator[Contradiction]:
    queue = facts.queue.cluster_queue
    if queue is not None and any(reason.resource in group.covered_resources for group in queue.spec.resource_groups):
        yield Contradiction(
            "covered", f"the ClusterQueue does not cover {quoted(reason.resource)}", "it covers it",
            (Evidence(subject("ClusterQueue", queue.name), "spec.resourceGroups[].coveredResources", quoted(reason.resource)),),
        )  # fmt: skip


def _taint(facts: "Facts", reason: texts.UntoleratedTaint) -> Iterator[Contradiction]:
    flavor = facts.queue.flavor(reason.flavor)
    if flavor is None:
        return
    mark = f"{reason.key}={reason.value}:{reason.effect}" if reason.value else f"{reason.key}:{reason.effect}"
    said = f"taint {quoted(mark)} of flavor {quoted(reason.flavor)} is not tolerated"
    where = subject("ResourceFlavor", reason.flavor)
    taint = next(
        (t for t in flavor.spec.node_taints if (t.key, t.value, t.effect) == (reason.key, reason.value, reason.effect)),
        None,
    )
    if taint is None:
        yield Contradiction(
            "taint",
            said,
            "the flavor has no such taint",
            (Evidence(where, "spec.nodeTaints", "lacks it"),),
            reason.flavor,
        )
    elif tolerates(taint, flavor.spec.tolerations):
        yield Contradiction(
            "taint", said, "the flavor's own tolerations cover it",
            (Evidence(where, "spec.tolerations", f"covers {quoted(mark)}", "computed"),), reason.flavor,
        )  # fmt: skip
    elif all(tolerates(taint, pod_set.template.spec.tolerations) for pod_set in facts.identity.want().spec.pod_sets):
        about = subject("Workload", facts.identity.want().name, _place(facts))
        yield Contradiction(
            "taint", said, "the pods tolerate it",
            (Evidence(about, "spec.podSets[].template.spec.tolerations", f"covers {quoted(mark)}", "computed"),), reason.flavor,
        )  # fmt: skip


def _row(facts: "Facts", flavor: str, resource: str) -> QuotaRow | None:
    return next((row for row in facts.quota.rows if (row.flavor, row.resource) == (flavor, resource)), None)


def _maximum(facts: "Facts", reason: texts.OverMaximum) -> Iterator[Contradiction]:
    row, said = _row(facts, reason.flavor, reason.resource), quantity.readable(reason.resource, reason.capacity)
    if row is None or said is None or row.capacity is None or row.verdict == "excluded" or row.capacity == said:
        return
    shown = quantity.human(row.resource, said), quantity.human(row.resource, row.capacity)
    yield Contradiction(
        "figures",
        f"at most {shown[0]} of {quoted(row.resource)} in flavor {quoted(row.flavor)} can ever be had",
        f"that is {shown[1]}",
        (_figure(facts, row, "capacity", row.capacity),),
        row.flavor,
    )


def _not_free(facts: "Facts", reason: texts.NotFree) -> Iterator[Contradiction]:
    row, said = _row(facts, reason.flavor, reason.resource), quantity.readable(reason.resource, reason.more)
    if row is None or said is None or row.short is None or row.verdict in {None, "excluded"}:
        return
    if row.short == said or (len(facts.identity.want().spec.pod_sets) > 1 and row.short):
        return
    shown = quantity.human(row.resource, said), quantity.human(row.resource, row.short)
    yield Contradiction(
        "figures",
        f"{shown[0]} {quoted(row.resource)} {'is' if shown[0] == '1' else 'are'} missing in flavor {quoted(row.flavor)}",
        f"{shown[1]} {'is' if shown[1] == '1' else 'are'} missing" if row.short else "enough is free",
        (_figure(facts, row, "short", row.short),),
        row.flavor,
    )


def _figure(facts: "Facts", row: QuotaRow, field: str, value: int) -> Evidence:
    where = subject("ClusterQueue", facts.queue.cluster_queue_name)
    return Evidence(
        where, f"{field}[{row.flavor}][{row.resource}]", quantity.canonical(row.resource, value), "computed"
    )


def _fits(facts: "Facts", said: texts.Assignment) -> Iterator[Contradiction]:
    if said.preempting is not None or facts.quota.verdict != "fits":
        return
    chosen = facts.quota.assignment_now or {}
    flavors = sorted(set(chosen.values()))
    if not flavors or any(isinstance(reason, texts.TopologyReason) for reason in said.reasons):
        return
    about = subject("Workload", facts.identity.want().name, _place(facts))
    shown = ", ".join(quoted(flavor) for flavor in flavors)
    yield Contradiction(
        "fits", "no flavor has room", f"it fits into flavor{'s' if len(flavors) > 1 else ''} {shown}",
        (Evidence(about, "verdict", f"fits in {shown}", "computed"),), flavors[0],
    )  # fmt: skip
