"""Known issues of Kueue that keep a job waiting: which versions have them, and how they show in the objects.

An issue is named only where its signature fits the facts and the version may have it. References are issues and pull
requests of kubernetes-sigs/kueue; the fixed versions are those of its changelogs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core import quantity, texts
from bot.core.diagnosis import Evidence
from bot.core.facts.flavors import exclusion, selected_keys
from bot.core.facts.topology import HOSTNAME
from bot.core.jobs import is_over, suspended
from bot.core.marks import ELASTIC, POD_SET, PREFIX, TOPOLOGY_GATE
from bot.core.moments import lasting
from bot.core.names import named, quoted, subject
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.scheduling import node_affinity_matches, tolerates
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

_LOOKED_AT = 20  # pods of one job are alike
_OFTEN = 3  # a text or a pair of events that comes so often is a loop, not a moment
Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Match:
    """How an issue shows here: a sentence with names and numbers, and its proof."""

    sentence: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue: `title` says what Kueue does wrong, `fixed` the first version without it in each line that got a fix.

    `since` is the first version that has it, "" for all before the fix. `signature` may raise Unknown.
    """

    reference: str
    title: str
    fixed: tuple[str, ...]
    signature: Callable[["Facts"], Match | None]
    since: str = ""
    workaround: str = ""


def version_of(text: str) -> Version | None:
    """Give (major, minor, patch) of "v0.17.3" or "0.17.3-rc.1", None when it is not a version."""
    found = re.match(r"v?(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def _versions(issue: Issue) -> list[Version]:
    return sorted(version for text in issue.fixed if (version := version_of(text)) is not None)


def affected(issue: Issue, version: Version) -> bool:
    """Say whether a version has the issue: before the fix of its own line, else before the first line that has one."""
    since = version_of(issue.since)
    if since is not None and version < since:
        return False
    for fixed in _versions(issue):
        if fixed[:2] == version[:2]:
            return version < fixed
    return version < _versions(issue)[0]


def upgrade(issue: Issue, version: Version | None) -> str:
    """Give the nearest version without the issue: of the same line, else the next one; the first fix without a version."""
    later = [fixed for fixed in _versions(issue) if version is not None and fixed > version]
    return ".".join(str(part) for part in (later or _versions(issue))[0])


# --- signatures -------------------------------------------------------------------------------------------------------


def _about(workload: o.Workload) -> str:
    return subject("Workload", workload.name, workload.namespace)


def _said(facts: "Facts") -> Evidence:
    about = _about(facts.identity.want())
    return Evidence(about, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue")


def _verdict(facts: "Facts") -> texts.Assignment | None:
    if facts.identity.phase != "waiting":
        return None
    said = facts.history.said
    return said if isinstance(said, texts.Assignment) else None


def _scan_stuck(facts: "Facts") -> Match | None:
    said = _verdict(facts)
    if said is None or said.preempting is not None or facts.history.repeats(facts.history.text) < _OFTEN:
        return None
    if not all(isinstance(reason, texts.NotFree) for reason in said.reasons):
        return None
    chosen = facts.quota.assignment_now
    free = sorted(set(chosen.values()) - said.flavors) if chosen else []
    named_only = sorted(said.flavors)
    if not free or not named_only:
        return None
    return Match(
        f"Kueue's text names flavor {', '.join(quoted(f) for f in named_only)} alone, again and again, while it fits into "
        f"flavor {', '.join(quoted(f) for f in free)}",
        (
            _said(facts),
            Evidence(_about(facts.identity.want()), "verdict", f"fits in {quoted(', '.join(free))}", "computed"),
        ),
    )


def _hierarchical_reclaim(facts: "Facts") -> Match | None:
    said, queue = _verdict(facts), facts.queue.cluster_queue
    if said is None or said.preempting is not None or queue is None or not queue.cohort:
        return None
    policy = queue.spec.preemption.reclaim_within_cohort if queue.spec.preemption is not None else "Never"
    cohort = facts.snapshot.look_of(o.Cohort, queue.cohort)
    if policy in {"", "Never"} or cohort is None or not cohort.parent:
        return None
    quotas = {
        (f.name, r.name): r.nominal_quota for g in cohort.spec.resource_groups for f in g.flavors for r in f.resources
    }
    for row in facts.quota.rows:
        if row.verdict != "wait" or row.nominal is None or row.used is None or row.requested + row.used <= row.nominal:
            continue
        own = quotas.get((row.flavor, row.resource))
        amount = _amount(row.resource, own) if own is not None else 0
        borrower = _borrower(facts, queue.cohort, row.flavor, row.resource)
        if amount and row.requested + row.used <= row.nominal + amount and borrower is not None:
            return Match(
                f"ClusterQueue {queue.name} has its quota of {quoted(row.resource)} from Cohort "
                f"{named('Cohort', cohort.name)} ({quantity.canonical(row.resource, amount)}), and Kueue takes "
                f"nothing back for it from ClusterQueue {named('ClusterQueue', borrower)}, which borrowed it",
                (
                    Evidence(subject("ClusterQueue", queue.name), "spec.preemption.reclaimWithinCohort", policy),
                    Evidence(subject("Cohort", cohort.name), f"nominalQuota[{row.flavor}][{row.resource}]", str(own)),
                ),
            )
    return None


def _amount(resource: str, text: quantity.Quantity) -> int:
    try:
        return quantity.amount(resource, text)
    except ValueError:
        return 0


def _borrower(facts: "Facts", cohort: str, flavor: str, resource: str) -> str | None:
    """A ClusterQueue outside the cohort that has borrowed in this flavor."""
    for queue in sorted(facts.snapshot.all_of(o.ClusterQueue, read="seen"), key=lambda item: item.name):
        if not queue.cohort or queue.cohort == cohort:
            continue
        for usage in queue.status.flavors_reservation:
            if usage.name == flavor and any(
                entry.name == resource and _amount(resource, entry.borrowed) > 0 for entry in usage.resources
            ):
                return queue.name
    return None


def _flavor_tolerations(facts: "Facts") -> Match | None:
    said = _verdict(facts)
    for reason in said.reasons if said is not None else ():
        if not isinstance(reason, texts.UntoleratedTaint):
            continue
        flavor = facts.snapshot.look_of(o.ResourceFlavor, reason.flavor)
        for taint in flavor.spec.node_taints if flavor is not None else ():
            if (taint.key, taint.effect) == (reason.key, reason.effect) and flavor is not None:
                if not tolerates(taint, flavor.spec.tolerations):
                    continue
                mark = quoted(f"{taint.key}={taint.value}:{taint.effect}")
                return Match(
                    f"Kueue names taint {mark} of flavor {quoted(flavor.name)}, although the flavor's own tolerations "
                    "cover it",
                    (
                        Evidence(subject("ResourceFlavor", flavor.name), "spec.tolerations", f"covers {mark}", "computed"),
                        _said(facts),
                    ),
                )  # fmt: skip
    return None


def _unmanaged_child(facts: "Facts") -> Match | None:
    target = facts.identity.target
    if target is None or facts.identity.phase not in {"unmanaged", "no-workload"} or suspended(target) is not False:
        return None
    for child in sorted(facts.identity.children(target), key=lambda item: item.name):
        if not isinstance(child, o.Job) or not suspended(child):
            continue
        events = facts.history.events_about(child)
        stopped = sum(event.times for event in events if event.reason == "Suspended")
        resumed = sum(event.times for event in events if event.reason == "Resumed")
        if min(stopped, resumed) >= _OFTEN:
            where = subject(child.kind, child.name, child.namespace)
            return Match(
                f"{child.kind} {named(child.kind, child.name, child.namespace)} was suspended {stopped} times and resumed "
                f"{resumed} times, although Kueue does not manage {target.kind} "
                f"{named(target.kind, target.name, target.namespace)}",
                (
                    Evidence(where, "events[Suspended].count", str(stopped)),
                    Evidence(where, "events[Resumed].count", str(resumed)),
                ),
            )
    return None


def _replacement_pods(facts: "Facts") -> Match | None:
    workload = facts.identity.workload
    if workload is None or not is_true(workload.status.conditions, "WaitingForReplacementPods"):
        return None
    evicted = facts.history.evicted
    if evicted is None:
        return None
    if evicted.reason != "PodsReadyTimeout" or evicted.count < _OFTEN - 1:
        return None
    return Match(
        f"pod group {named('Workload', workload.name, workload.namespace)} waits for replacement pods, and Kueue has "
        f"admitted and evicted it {evicted.count} times all the same",
        (
            Evidence(_about(workload), "status.conditions[WaitingForReplacementPods].status", "True", "kueue"),
            Evidence(_about(workload), "status.schedulingStats.evictions[].count", str(evicted.count)),
        ),
    )


def _pinned(facts: "Facts") -> Iterable[tuple[o.Pod, o.PodSpec, dict[str, str], list[o.Node]]]:
    """Unscheduled pods that Kueue pinned: the pod, its own template, what Kueue added to its selector, the nodes that has."""
    workload = facts.identity.workload
    if workload is None or facts.identity.phase != "admitted":
        return
    flavors = [
        facts.snapshot.look_of(o.ResourceFlavor, name)
        for entry in (workload.status.admission.pod_set_assignments if workload.status.admission else ())
        for name in entry.flavors.values()
    ]
    injected_by_flavor = {key for flavor in flavors if flavor is not None for key in flavor.spec.node_labels}
    for pod in sorted(facts.pods.unscheduled, key=lambda item: item.name)[:_LOOKED_AT]:
        template = _template(workload, pod)
        added = {
            key: value
            for key, value in pod.spec.node_selector.items()
            if key not in template.node_selector and key not in injected_by_flavor
        }
        nodes = [
            node
            for node in facts.snapshot.all_of(o.Node, read="seen")
            if added and all(node.metadata.labels.get(key) == value for key, value in added.items())
        ]
        if nodes:
            yield pod, template, added, nodes


def _template(workload: o.Workload, pod: o.Pod) -> o.PodSpec:
    name = pod.metadata.labels.get(POD_SET, "")
    sets = workload.spec.pod_sets
    found = next((entry for entry in sets if entry.name == name), sets[0] if sets else None)
    return found.template.spec if found is not None else o.PodSpec()


def _own_placement(facts: "Facts", *, by_selector: bool) -> Match | None:
    for pod, template, added, nodes in _pinned(facts):
        own = template if template.node_selector or template.affinity else pod.spec
        selector = {key: value for key, value in own.node_selector.items() if key not in added}
        affinity = own.affinity.node_affinity if own.affinity is not None else None
        if by_selector:
            wanted = o.PodSpec(node_selector=selector)
            shown = ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))
        else:
            wanted = o.PodSpec(affinity=own.affinity)
            shown = "the required node affinity"
        if not (selector if by_selector else affinity):
            continue
        if any(node_affinity_matches(wanted, node.metadata.labels, node.name) for node in nodes):
            continue
        others = [
            node.name
            for node in facts.snapshot.all_of(o.Node, read="seen")
            if node_affinity_matches(wanted, node.metadata.labels, node.name)
        ]
        if not others:
            continue
        placed = ", ".join(named("Node", node.name) for node in nodes[:3])
        fit = ", ".join(named("Node", name) for name in sorted(others)[:3])
        return Match(
            f"Kueue put pod {named('Pod', pod.name, pod.namespace)} on {placed}, which does not match {quoted(shown)}; "
            f"{fit} {'does' if len(others) == 1 else 'do'}",
            (
                Evidence(
                    subject("Pod", pod.name, pod.namespace), "spec.nodeSelector",
                    quoted(", ".join(f"{k}={v}" for k, v in sorted(pod.spec.node_selector.items()))),
                ),
            ),
        )  # fmt: skip
    return None


def _pods_of_node(facts: "Facts", *, several: bool) -> Match | None:
    workload = facts.identity.workload
    if workload is None or (len(workload.spec.pod_sets) > 1) is not several:
        return None
    runs = Counter(other.spec.node_name for other in facts.snapshot.all_of(o.Pod, read="seen") if not is_over(other))
    for pod, _, _, nodes in _pinned(facts):
        rooms = {node.name: _amount("pods", node.status.allocatable.get("pods", "0")) for node in nodes}
        said = condition(pod.status.conditions, "PodScheduled")
        told = said is not None and "Too many pods" in said.message and len(nodes) == 1
        if not all(room and (runs[name] >= room or told) for name, room in rooms.items()):
            continue
        node, room = min(rooms.items())
        return Match(
            f"Kueue put pod {named('Pod', pod.name, pod.namespace)} on {named('Node', node)}, which runs as many pods as it may "
            f"({room})",
            (
                Evidence(subject("Node", node), "status.allocatable[pods]", str(room)),
                Evidence(
                    subject("Pod", pod.name, pod.namespace),
                    "status.conditions[PodScheduled].message",
                    quoted(said.message if said is not None else ""),
                ),
            ),
        )
    return None


def _partial_admission(facts: "Facts") -> Match | None:
    workload, root = facts.identity.workload, facts.identity.root
    if workload is None or root is None or facts.identity.phase != "admitted" or suspended(root) is not True:
        return None
    given = (
        {entry.name: entry.count for entry in workload.status.admission.pod_set_assignments}
        if workload.status.admission
        else {}
    )
    for pod_set in workload.spec.pod_sets:
        count = given.get(pod_set.name)
        if pod_set.min_count is not None and count == pod_set.min_count and count < pod_set.count:
            return Match(
                f"it was admitted with {count} of {pod_set.count} pods, exactly its minimum of {pod_set.min_count}, and Kueue's "
                "own webhook refuses to start it so",
                (
                    Evidence(_about(workload), f"spec.podSets[{pod_set.name}].minCount", str(pod_set.min_count)),
                    Evidence(_about(workload), f"status.admission.podSetAssignments[{pod_set.name}].count", str(count)),
                ),
            )
    return None


def _elastic_preemption(facts: "Facts") -> Match | None:
    said, queue, root = _verdict(facts), facts.queue.cluster_queue, facts.identity.root
    if said is None or said.preempting is not None or queue is None or root is None:
        return None
    workload = facts.identity.want()
    if root.metadata.annotations.get(ELASTIC) != "true" or queue.spec.preemption is None:
        return None
    if queue.spec.preemption.within_cluster_queue in {"", "Never"}:
        return None
    if not any(isinstance(reason, texts.NotFree) for reason in said.reasons):
        return None
    own = {item.name for item in facts.identity.workloads}
    old = [
        item
        for item in facts.identity.workloads
        if item.name != workload.name and is_true(item.status.conditions, "Admitted")
    ]
    mine = workload.spec.priority or 0
    victims = [
        item
        for item in facts.snapshot.all_of(o.Workload, read="seen")
        if item.status.admission is not None
        and item.status.admission.cluster_queue == queue.name
        and not (item.namespace == workload.namespace and item.name in own)
        and (item.spec.priority or 0) < mine
    ]
    if not old or not victims:
        return None
    victim = min(victims, key=lambda item: (item.spec.priority or 0, item.name))
    slice_ = named("Workload", old[-1].name, old[-1].namespace)
    return Match(
        f"the job is elastic and still runs as {slice_}; for the larger Workload Kueue preempts nobody, although "
        f"{named('Workload', victim.name, victim.namespace)} has a lower priority",
        (
            Evidence(_about(old[-1]), "status.conditions[Admitted].status", "True"),
            Evidence(_about(victim), "spec.priority", f"{victim.spec.priority or 0}, against {mine}"),
            Evidence(
                subject("ClusterQueue", queue.name), "spec.preemption.withinClusterQueue",
                queue.spec.preemption.within_cluster_queue,
            ),
        ),
    )  # fmt: skip


def _devices_resolved(facts: "Facts") -> Match | None:
    workload = facts.identity.workload
    requeued = condition(workload.status.conditions, "Requeued") if workload is not None else None
    if workload is None or requeued is None or requeued.status != "False" or requeued.reason != "Inadmissible":
        return None
    said = texts.devices(requeued.message)
    if said is None or not any(entry.what == "devices" for entry in facts.history.outdated):
        return None
    return Match(
        "its claim can be read now, and Kueue still keeps it out: Requeued is False with reason Inadmissible",
        (Evidence(_about(workload), "status.conditions[Requeued]", quoted(f"False, {requeued.message}"), "kueue"),),
    )


def _flavor_edited(facts: "Facts") -> Match | None:
    if facts.identity.phase != "waiting":
        return None
    for entry in facts.history.outdated:
        flavor = facts.snapshot.look_of(o.ResourceFlavor, entry.flavor) if entry.flavor else None
        if entry.what not in {"taint", "labels"} or flavor is None or flavor.metadata.generation < 2:
            continue
        if any(tolerates(taint, flavor.spec.tolerations) for taint in flavor.spec.node_taints):
            continue
        return Match(
            f"ResourceFlavor {named('ResourceFlavor', flavor.name)} was changed after Kueue looked, and Kueue does not "
            "look again for that",
            (
                Evidence(
                    subject("ResourceFlavor", flavor.name), "metadata.generation", str(flavor.metadata.generation)
                ),
                *entry.evidence,
            ),
        )
    return None


def _label_keys(facts: "Facts") -> Match | None:
    said, queue = _verdict(facts), facts.queue.cluster_queue
    if said is None or queue is None:
        return None
    for reason in said.reasons:
        if not isinstance(reason, texts.AffinityMismatch):
            continue
        flavor = facts.snapshot.look_of(o.ResourceFlavor, reason.flavor)
        beside = _flavors_beside(facts, queue, reason.flavor)
        if flavor is None or not beside:
            continue
        specs = [pod_set.template.spec for pod_set in facts.identity.want().spec.pod_sets]
        keys = {key for other in beside for key in other.spec.node_labels} - flavor.spec.node_labels.keys()
        foreign = sorted({key for spec in specs for key in selected_keys(spec) if key in keys})
        alone = exclusion(flavor.name, flavor, facts.quota.requests)
        if not foreign or (alone is not None and alone.cause == "labels"):
            continue
        return Match(
            f"flavor {quoted(flavor.name)} has no label {quoted(', '.join(foreign))}, which the pods select; another flavor of "
            "its resource group has it, and so Kueue takes this one for a mismatch",
            (
                Evidence(
                    subject("ResourceFlavor", flavor.name), "spec.nodeLabels",
                    quoted(", ".join(f"{k}={v}" for k, v in sorted(flavor.spec.node_labels.items()))) or "none",
                ),
                _said(facts),
            ),
        )  # fmt: skip
    return None


def _gated(facts: "Facts", gate: str) -> list[o.Pod]:
    """The pods of an admitted Workload that still carry one of Kueue's gates, by name."""
    if facts.identity.phase != "admitted":
        return []
    return [
        pod
        for pod in sorted(facts.pods.all, key=lambda item: item.name)
        if not pod.spec.node_name and any(entry.name == gate for entry in pod.spec.scheduling_gates)
    ]


def _origin_slice_gone(facts: "Facts") -> Match | None:
    for pod in _gated(facts, ELASTIC):
        origin = pod.metadata.annotations.get(PREFIX + "workload-slice-name", "")
        if origin and facts.snapshot.find("Workload", origin, pod.namespace) is None:
            name = named("Pod", pod.name, pod.namespace)
            return Match(
                f"gated pod {name} refers to Workload {named('Workload', origin, pod.namespace)}, which is gone",
                (
                    Evidence(
                        subject("Pod", pod.name, pod.namespace),
                        f"metadata.annotations[{PREFIX}workload-slice-name]",
                        origin,
                    ),
                ),
            )
    return None


def _slices_alone(facts: "Facts") -> Match | None:
    for pod in _gated(facts, TOPOLOGY_GATE):
        asks = {key.removeprefix(PREFIX) for key in pod.metadata.annotations if key.startswith(PREFIX)}
        alone = sorted(key for key in asks if key.startswith("podset-slice-required-topology"))
        if alone and not asks & {f"podset-{mode}-topology" for mode in ("required", "preferred", "unconstrained")}:
            return Match(
                f"gated pod {named('Pod', pod.name, pod.namespace)} asks for topology by {quoted(alone[0])} alone",
                (Evidence(subject("Pod", pod.name, pod.namespace), "metadata.annotations", quoted(alone[0])),),
            )
    return None


def _uneven_slices(facts: "Facts") -> Match | None:
    for pod in _gated(facts, TOPOLOGY_GATE):
        size = _amount("pods", pod.metadata.annotations.get(PREFIX + "podset-slice-size", "0"))
        place = facts.pods.pod_set_of(pod)
        count = place[1].count if place is not None and place[1] is not None else 0
        if size and count % size:
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} is gated, and its slices of {size} do not divide the {count} pods",
                (
                    Evidence(
                        subject("Pod", pod.name, pod.namespace),
                        f"metadata.annotations[{PREFIX}podset-slice-size]",
                        str(size),
                    ),
                ),
            )
    return None


def _surge_group(facts: "Facts") -> Match | None:
    root = facts.identity.root
    if not isinstance(root, o.Job) or root.kind != "LeaderWorkerSet":
        return None
    replicas = root.spec.get("replicas")
    wanted = replicas if isinstance(replicas, int) else 1
    for pod in sorted(facts.pods.all, key=lambda item: item.name):
        index = pod.metadata.labels.get("leaderworkerset.sigs.k8s.io/group-index", "")
        if index.isdecimal() and int(index) >= wanted and suspended(pod) and not pod.spec.node_name:
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} of the surge group {index} is gated, beyond the {wanted} groups of "
                f"LeaderWorkerSet {named(root.kind, root.name, root.namespace)}",
                (Evidence(subject("Pod", pod.name, pod.namespace), "spec.schedulingGates", "set"),),
            )
    return None


def _topology_freed(facts: "Facts") -> Match | None:
    """Kueue found no place on the nodes, there is one now, and nobody has looked again."""
    said = _verdict(facts)
    if said is None or not any(
        isinstance(reason, texts.TopologyReason) and reason.fits is not None for reason in said.reasons
    ):
        return None
    chosen = facts.quota.assignment_now
    rooms = [room for flavor in sorted(set((chosen or {}).values())) for room in facts.topology.rooms(flavor)]
    if not rooms or not all(room.enough for room in rooms):
        return None
    room = rooms[0]
    pods = f"all {room.wanted} pods" if room.wanted > 1 else "its pod"
    return Match(
        f"the nodes of flavor {quoted(room.flavor)} have room for {pods}, and Kueue's text still says that they have not",
        (
            _said(facts),
            Evidence(subject("Topology", room.topology), "pods that fit", f"{room.fits} of {room.wanted}", "computed"),
        ),
    )


def _named_like_its_domain(facts: "Facts") -> Match | None:
    """A node whose hostname is also the value of the topology's highest level: such a node is left out."""
    said = _verdict(facts)
    if said is None or not any(isinstance(reason, texts.TopologyReason) for reason in said.reasons):
        return None
    for flavor in facts.queue.flavor_names:
        levels = facts.topology.levels(flavor)
        for node in facts.topology.nodes_of(flavor) if len(levels) > 1 else ():
            host = node.metadata.labels.get(HOSTNAME, node.name)
            if levels[-1] == HOSTNAME and node.metadata.labels.get(levels[0]) == host:
                return Match(
                    f"{named('Node', node.name)} has the hostname {quoted(host)}, and its label {levels[0]} has the same value",
                    (Evidence(subject("Node", node.name), f"metadata.labels[{levels[0]}]", quoted(host)),),
                )
    return None


def _shallow_preference(facts: "Facts") -> Match | None:
    said, queue = _verdict(facts), facts.queue.cluster_queue
    if said is None or queue is None or queue.spec.flavor_fungibility.get("preference") != "PreemptionOverBorrowing":
        return None
    chosen = facts.quota.assignment_now
    free = sorted(set((chosen or {}).values()) - said.flavors)
    if not free or not any(isinstance(reason, texts.NotFree) for reason in said.reasons):
        return None
    return Match(
        f"it fits into flavor {', '.join(quoted(name) for name in free)}, and Kueue keeps to flavor "
        f"{', '.join(quoted(name) for name in sorted(said.flavors))}, where it would have to preempt",
        (
            _said(facts),
            Evidence(
                subject("ClusterQueue", queue.name), "spec.flavorFungibility.preference", "PreemptionOverBorrowing"
            ),
        ),
    )


def _preemption_given_up(facts: "Facts") -> Match | None:
    """Kueue announced victims long ago, and nobody is being evicted."""
    said = facts.history.said if facts.identity.phase == "waiting" else None
    if not isinstance(said, texts.Assignment) or not said.preempting or not facts.order.preemption.read_in_full:
        return None
    refusal = facts.history.refusal
    age = facts.age(refusal.last_transition_time) if refusal is not None else None
    if age is None or age <= facts.thresholds.long or facts.order.preemption.victims:
        return None
    return Match(
        f"Kueue says that it waits for {said.preempting} Workload{'s' if said.preempting > 1 else ''} to be preempted, and none "
        "is being evicted",
        (_said(facts),),
    )


def _ended_and_kept(facts: "Facts") -> Match | None:
    """A pod of a StatefulSet has ended, and Kueue's finalizer keeps it, so that no new one takes its place."""
    root = facts.identity.root
    if not isinstance(root, o.Job) or root.kind != "StatefulSet":
        return None
    for pod in sorted(facts.pods.all, key=lambda item: item.name):
        kept = PREFIX + "managed" in pod.metadata.finalizers and pod.metadata.deletion_timestamp is not None
        if kept and is_over(pod):
            return Match(
                f"pod {named('Pod', pod.name, pod.namespace)} has ended and is kept by Kueue's finalizer",
                (Evidence(subject("Pod", pod.name, pod.namespace), "metadata.finalizers", PREFIX + "managed"),),
            )
    return None


def _own_quota_counted_twice(facts: "Facts") -> Match | None:
    """The second pass finds too little quota for a Workload that holds its quota."""
    if facts.identity.phase != "reserved":
        return None
    for event in reversed(facts.history.events_about(facts.identity.want())):
        said = texts.assignment(event.message) if event.reason == "SecondPassFailed" else None
        if said is not None and any(isinstance(reason, texts.NotFree) for reason in said.reasons):
            return Match(
                "the second pass says that quota is missing for a Workload that holds it",
                (Evidence(_about(facts.identity.want()), "event SecondPassFailed", quoted(event.message), "kueue"),),
            )
    return None


def _left_behind(facts: "Facts", *, by_pod: bool) -> Match | None:
    """Workloads whose owner is gone hold what this one waits for."""
    if facts.identity.phase != "waiting" or facts.quota.verdict != "wait":
        return None
    found = [stale.workload for stale in facts.order.stale_holders if stale.kind == "ownerless"]
    found = [item for item in found if any(owner.kind == "Pod" for owner in item.metadata.owner_references) is by_pod]
    if not found:
        return None
    first = found[0]
    more = f" and {len(found) - 1} more hold" if len(found) > 1 else " holds"
    return Match(
        f"{named('Workload', first.name, first.namespace)}{more} quota, and what {'they were' if len(found) > 1 else 'it was'} "
        "made for is gone",
        (Evidence(_about(first), "metadata.ownerReferences", "gone"),),
    )


def _finished_at_birth(facts: "Facts") -> Match | None:
    end, root = facts.identity.never_ran, facts.identity.root
    if end is None or end.reason != "OwnerNotFound" or root is None or isinstance(root, o.Workload):
        return None
    return Match(
        f"{named('Workload', end.workload.name, end.workload.namespace)} is Finished because its owner no longer exists, and "
        f"{root.kind} {named(root.kind, root.name, root.namespace)} does",
        (
            Evidence(
                _about(end.workload), "status.conditions[Finished]", quoted(f"{end.reason}: {end.message}"), "kueue"
            ),
        ),
    )


def _unseen_since_restart(facts: "Facts") -> Match | None:
    """Its queue has topology-aware flavors, and Kueue has not looked since its controller started."""
    if facts.identity.phase != "waiting" or facts.quota.verdict != "fits":
        return None
    started, look = facts.controller.started, facts.history.last_look
    flavors = [facts.queue.flavor(name) for name in facts.queue.flavor_names]
    if started is None or not any(flavor is not None and flavor.spec.topology_name for flavor in flavors):
        return None
    age, made = facts.age(started), facts.identity.want().metadata.creation_timestamp
    if (
        age is None
        or age <= facts.thresholds.long
        or made is None
        or made >= started
        or (look is not None and look >= started)
    ):
        return None
    return Match(
        f"Kueue's controller started {lasting(age)} ago, and has not looked at this Workload since",
        (Evidence(_about(facts.identity.want()), "events of Kueue's scheduler", "none since the start", "computed"),),
    )


def _flavors_beside(facts: "Facts", queue: o.ClusterQueue, name: str) -> list[o.ResourceFlavor]:
    names = {
        entry.name
        for group in queue.spec.resource_groups
        if any(entry.name == name for entry in group.flavors)
        for entry in group.flavors
        if entry.name != name
    }
    found = (facts.snapshot.look_of(o.ResourceFlavor, other) for other in sorted(names))
    return [flavor for flavor in found if flavor is not None]


ISSUES: tuple[Issue, ...] = (
    Issue(
        "kubernetes-sigs/kueue#2391",
        "the search through the flavors sticks at the last one",
        ("0.8.0",),
        _scan_stuck,
        workaround="delete the Workload so that it is made anew, or change the order of the flavors",
    ),
    Issue(
        "kubernetes-sigs/kueue#13658",
        "how far the search through the flavors got is forgotten in a busy cohort",
        ("0.18.5", "0.19.1"),
        _scan_stuck,
        since="0.8.0",
    ),
    Issue(
        "kubernetes-sigs/kueue#3948",
        "quota that a Cohort owns is never reclaimed for the ClusterQueues below it",
        ("0.12.0",),
        _hierarchical_reclaim,
        workaround="give the ClusterQueue the nominal quota itself",
    ),
    Issue(
        "kubernetes-sigs/kueue#3721",
        "the tolerations of a ResourceFlavor do not count against its taints",
        ("0.9.2", "0.10.0"),
        _flavor_tolerations,
        workaround="add the toleration to the job's pods",
    ),
    Issue(
        "kubernetes-sigs/kueue#7649",
        "child jobs in a namespace that Kueue does not manage are suspended again and again",
        ("0.13.10", "0.14.5", "0.15.0"),
        _unmanaged_child,
    ),
    Issue(
        "kubernetes-sigs/kueue#12656",
        "a pod group that waits for replacement pods is admitted and evicted over and over",
        ("0.17.7", "0.18.3", "0.19.0"),
        _replacement_pods,
        workaround="create the missing pods, or delete the group",
    ),
    Issue(
        "kubernetes-sigs/kueue#4571",
        "topology-aware scheduling ignores the pods' own node selector",
        ("0.10.5", "0.11.4", "0.12.0"),
        lambda facts: _own_placement(facts, by_selector=True),
        workaround="put the label into the flavor's nodeLabels",
    ),
    Issue(
        "kubernetes-sigs/kueue#7728",
        "topology-aware scheduling ignores the pods' required node affinity",
        ("0.13.10", "0.14.5", "0.15.0"),
        lambda facts: _own_placement(facts, by_selector=False),
        workaround="use a node selector instead of the affinity",
    ),
    Issue(
        "kubernetes-sigs/kueue#3140",
        "a job that was admitted with exactly its minimum of pods cannot be started",
        ("0.8.2", "0.9.0"),
        _partial_admission,
        workaround="lower the minimum parallelism by one",
    ),
    Issue(
        "kubernetes-sigs/kueue#6969",
        "an elastic job that grows does not preempt anybody",
        ("0.13.6", "0.14.1"),
        _elastic_preemption,
        since="0.13.0",
    ),
    Issue(
        "kubernetes-sigs/kueue#4270",
        "topology-aware scheduling does not count how many pods a node may run",
        ("0.10.2",),
        lambda facts: _pods_of_node(facts, several=False),
    ),
    Issue(
        "kubernetes-sigs/kueue#11287",
        "topology-aware scheduling miscounts how many pods a node may run when a Workload has several pod sets",
        ("0.16.9", "0.17.4", "0.18.0"),
        lambda facts: _pods_of_node(facts, several=True),
    ),
    Issue(
        "kubernetes-sigs/kueue#15888",
        "a Workload whose resource claim could not be read stays out although it can be read now",
        ("0.19.6", "0.20.0"),
        _devices_resolved,
        workaround="delete the Workload so that it is made anew",
    ),
    Issue(
        "kubernetes-sigs/kueue#3733",
        "waiting Workloads are not looked at again when a ResourceFlavor is edited",
        ("0.18.5", "0.19.1"),
        _flavor_edited,
        workaround="change any field of the ClusterQueue, so that Kueue looks again",
    ),
    Issue(
        "kubernetes-sigs/kueue#12446",
        "a flavor is refused for a node label that only another flavor of its resource group has",
        ("0.17.6", "0.18.2", "0.19.0"),
        _label_keys,
        workaround="give every flavor of the resource group the label, or put the flavors into queues of their own",
    ),
    Issue(
        "kubernetes-sigs/kueue#14129",
        "pods of an elastic job stay gated once its first Workload slice is deleted",
        ("0.18.5", "0.19.1"),
        _origin_slice_gone,
        workaround="delete the job and submit it again",
    ),
    Issue(
        "kubernetes-sigs/kueue#10282",
        "pods that ask for slices of a topology and for nothing else of it stay gated",
        ("0.16.6", "0.17.1", "0.18.0"),
        _slices_alone,
        workaround="add podset-required-topology or podset-preferred-topology to the pod template",
    ),
    Issue(
        "kubernetes-sigs/kueue#13266",
        "pods stay gated where the slice size does not divide their number",
        ("0.17.8", "0.18.4", "0.19.0"),
        _uneven_slices,
        workaround="ask for a number of pods that the slice size divides",
    ),
    Issue(
        "kubernetes-sigs/kueue#8769",
        "the extra groups of a rolling update of a LeaderWorkerSet stay gated",
        ("0.15.4", "0.16.1", "0.17.0"),
        _surge_group,
        workaround="set maxSurge to 0",
    ),
    Issue(
        "kubernetes-sigs/kueue#13772",
        "waiting topology-aware Workloads are not looked at again when pods outside Kueue end",
        ("0.18.5", "0.19.1"),
        _topology_freed,
        workaround="change any field of the ClusterQueue, so that Kueue looks again",
    ),
    Issue(
        "kubernetes-sigs/kueue#14233",
        "a node whose hostname is also the name of its topology's highest domain is left out",
        ("0.18.5", "0.19.1"),
        _named_like_its_domain,
        workaround="give the label of the highest level another value",
    ),
    Issue(
        "kubernetes-sigs/kueue#13903",
        "with PreemptionOverBorrowing a flavor that nobody can be preempted in outranks one that has room",
        ("0.18.5", "0.19.1"),
        _shallow_preference,
        workaround="remove spec.flavorFungibility.preference from the ClusterQueue",
    ),
    Issue(
        "kubernetes-sigs/kueue#7665",
        "an error during a preemption leaves it announced and never done",
        ("0.13.10", "0.14.5", "0.15.0"),
        _preemption_given_up,
        workaround="restart Kueue's controller manager",
    ),
    Issue(
        "kubernetes-sigs/kueue#9048",
        "the second pass fails for pods that state limits and no requests",
        ("0.15.7", "0.16.4", "0.17.0"),
        _own_quota_counted_twice,
        workaround="state requests in the pod template",
    ),
    Issue(
        "kubernetes-sigs/kueue#3690",
        "the rolling update of a StatefulSet stops at its first pod",
        ("0.10.0",),
        _ended_and_kept,
        workaround="remove the finalizer kueue.x-k8s.io/managed from the pod that has ended",
    ),
    Issue(
        "kubernetes-sigs/kueue#10407",
        "Workloads of pods that are gone stay, and are even admitted again",
        ("0.16.6", "0.17.1", "0.18.0"),
        lambda facts: _left_behind(facts, by_pod=True),
        workaround="delete the Workloads whose pods are gone",
    ),
    Issue(
        "kubernetes-sigs/kueue#1789",
        "the Workload of a job that was deleted with --cascade=orphan keeps its quota",
        ("0.17.4", "0.18.0"),
        lambda facts: _left_behind(facts, by_pod=False),
        workaround="delete the Workload",
    ),
    Issue(
        "kubernetes-sigs/kueue#11018",
        "new Workloads are taken for orphans and finished at once",
        ("0.16.8", "0.17.3", "0.18.0"),
        _finished_at_birth,
        since="0.16.6",
        workaround="delete the Workload, so that it is made anew",
    ),
    Issue(
        "kubernetes-sigs/kueue#10185",
        "Kueue remembers a preemption that is over, and waits for it for ever",
        ("0.15.8", "0.16.5", "0.17.0"),
        _preemption_given_up,
        since="0.15.0",
        workaround="restart Kueue's controller manager",
    ),
    Issue(
        "kubernetes-sigs/kueue#11647",
        "a race while admitting leaves a Workload waiting for a preemption that nobody carries out",
        ("0.16.9", "0.17.4", "0.18.0"),
        _preemption_given_up,
        since="0.16.5",
        workaround="restart Kueue's controller manager",
    ),
    Issue(
        "kubernetes-sigs/kueue#9057",
        "Workloads of topology-aware queues are not looked at after a restart of Kueue",
        ("0.15.4", "0.16.1", "0.17.0"),
        _unseen_since_restart,
        workaround="change any field of the ClusterQueue, so that Kueue looks again",
    ),
)
"""Every issue, in the order in which they are named. Add one with its signature, its fixed versions and its reference."""


def matching(facts: "Facts") -> tuple[tuple[Issue, Match, Version | None], ...]:
    """Give the issues that show here and that this Kueue may have, with the version (None when it cannot be told).

    Without a version every issue whose signature fits is given. Raises Unknown when none fits and one could not be checked.
    """
    version = version_of(facts.controller.version or "")
    found: list[tuple[Issue, Match, Version | None]] = []
    unknown: Unknown | None = None
    for issue in ISSUES:
        if version is not None and not affected(issue, version):
            continue
        try:
            match = issue.signature(facts)
        except Unknown as missing:
            unknown = missing
            continue
        if match is not None:
            found.append((issue, match, version))
    if unknown is not None and not found:
        raise unknown
    return tuple(found)
