"""Signatures of issues that keep a Workload waiting: flavors, quota, preemption, and looks that Kueue does not take."""

from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core import quantity, texts
from bot.core.diagnosis import Evidence
from bot.core.facts.flavors import exclusion, selected_keys
from bot.core.facts.topology import HOSTNAME
from bot.core.jobs import subject_of
from bot.core.known_issues.issue import OFTEN, Match, said_by_kueue, verdict
from bot.core.marks import ELASTIC
from bot.core.moments import lasting
from bot.core.names import named, quoted, subject
from bot.core.objects import condition, is_true
from bot.core.scheduling import tolerates

if TYPE_CHECKING:
    from bot.core.facts import Facts


def scan_stuck(facts: "Facts") -> Match | None:
    """Kueue's text names some flavors again and again, and the Workload fits into another."""
    said = verdict(facts)
    if said is None or said.preempting is not None or facts.history.repeats(facts.history.text) < OFTEN:
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
            said_by_kueue(facts),
            Evidence(subject_of(facts.identity.want()), "verdict", f"fits in {quoted(', '.join(free))}", "computed"),
        ),
    )


def hierarchical_reclaim(facts: "Facts") -> Match | None:
    """The quota is a Cohort's, somebody outside has borrowed it, and Kueue preempts nobody for it."""
    said, queue = verdict(facts), facts.queue.cluster_queue
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
        amount = quantity.readable(row.resource, own) or 0
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


def _borrower(facts: "Facts", cohort: str, flavor: str, resource: str) -> str | None:
    """A ClusterQueue outside the cohort that has borrowed in this flavor."""
    for queue in sorted(facts.snapshot.all_of(o.ClusterQueue, read="seen"), key=lambda item: item.name):
        if not queue.cohort or queue.cohort == cohort:
            continue
        for usage in queue.status.flavors_reservation:
            if usage.name == flavor and any(
                entry.name == resource and (quantity.readable(resource, entry.borrowed) or 0) > 0
                for entry in usage.resources
            ):
                return queue.name
    return None


def flavor_tolerations(facts: "Facts") -> Match | None:
    """Kueue names a taint of a flavor that the flavor's own tolerations cover."""
    said = verdict(facts)
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
                        said_by_kueue(facts),
                    ),
                )  # fmt: skip
    return None


def elastic_preemption(facts: "Facts") -> Match | None:
    """An elastic job that grows waits for quota, runs in its old size, and somebody of lower priority could be preempted."""
    said, queue, root = verdict(facts), facts.queue.cluster_queue, facts.identity.root
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
            Evidence(subject_of(old[-1]), "status.conditions[Admitted].status", "True"),
            Evidence(subject_of(victim), "spec.priority", f"{victim.spec.priority or 0}, against {mine}"),
            Evidence(
                subject("ClusterQueue", queue.name), "spec.preemption.withinClusterQueue",
                queue.spec.preemption.within_cluster_queue,
            ),
        ),
    )  # fmt: skip


def devices_resolved(facts: "Facts") -> Match | None:
    """Kueue could not read a resource claim that can be read now, and takes the Workload for inadmissible."""
    workload = facts.identity.workload
    requeued = condition(workload.status.conditions, "Requeued") if workload is not None else None
    if workload is None or requeued is None or requeued.status != "False" or requeued.reason != "Inadmissible":
        return None
    said = texts.devices(requeued.message)
    if said is None or not any(entry.what == "devices" for entry in facts.history.outdated):
        return None
    return Match(
        "its claim can be read now, and Kueue still keeps it out: Requeued is False with reason Inadmissible",
        (Evidence(subject_of(workload), "status.conditions[Requeued]", quoted(f"False, {requeued.message}"), "kueue"),),
    )


def flavor_edited(facts: "Facts") -> Match | None:
    """The taint or the labels that Kueue names are not in the flavor any more, which was changed since."""
    if facts.progress.phase != "waiting":
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


def label_keys(facts: "Facts") -> Match | None:
    """Kueue takes a flavor for a mismatch because of a label that only another flavor of its group has."""
    said, queue = verdict(facts), facts.queue.cluster_queue
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
                said_by_kueue(facts),
            ),
        )  # fmt: skip
    return None


def topology_freed(facts: "Facts") -> Match | None:
    """Kueue found no place on the nodes, there is one now, and nobody has looked again."""
    said = verdict(facts)
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
            said_by_kueue(facts),
            Evidence(subject("Topology", room.topology), "pods that fit", f"{room.fits} of {room.wanted}", "computed"),
        ),
    )


def named_like_its_domain(facts: "Facts") -> Match | None:
    """A node whose hostname is also the value of the topology's highest level: such a node is left out."""
    said = verdict(facts)
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


def shallow_preference(facts: "Facts") -> Match | None:
    """The queue prefers preemption over borrowing, and Kueue keeps to a flavor where it fits into another."""
    said, queue = verdict(facts), facts.queue.cluster_queue
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
            said_by_kueue(facts),
            Evidence(
                subject("ClusterQueue", queue.name), "spec.flavorFungibility.preference", "PreemptionOverBorrowing"
            ),
        ),
    )


def preemption_given_up(facts: "Facts") -> Match | None:
    """Kueue announced victims long ago, and nobody is being evicted."""
    said = facts.history.said if facts.progress.phase == "waiting" else None
    if not isinstance(said, texts.Assignment) or not said.preempting or not facts.order.preemption.read_in_full:
        return None
    refusal = facts.history.refusal
    age = facts.age(refusal.last_transition_time) if refusal is not None else None
    if age is None or age <= facts.thresholds.long or facts.order.preemption.victims:
        return None
    return Match(
        f"Kueue says that it waits for {said.preempting} Workload{'s' if said.preempting > 1 else ''} to be preempted, and none "
        "is being evicted",
        (said_by_kueue(facts),),
    )


def own_quota_counted_twice(facts: "Facts") -> Match | None:
    """The second pass finds too little quota for a Workload that holds its quota."""
    if facts.progress.phase != "reserved":
        return None
    for event in reversed(facts.history.events_about(facts.identity.want())):
        said = texts.assignment(event.message) if event.reason == "SecondPassFailed" else None
        if said is not None and any(isinstance(reason, texts.NotFree) for reason in said.reasons):
            return Match(
                "the second pass says that quota is missing for a Workload that holds it",
                (
                    Evidence(
                        subject_of(facts.identity.want()), "event SecondPassFailed", quoted(event.message), "kueue"
                    ),
                ),
            )
    return None


def left_behind(facts: "Facts", *, by_pod: bool) -> Match | None:
    """Workloads whose owner is gone hold what this one waits for."""
    if facts.progress.phase != "waiting" or facts.quota.verdict != "wait":
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
        (Evidence(subject_of(first), "metadata.ownerReferences", "gone"),),
    )


def unseen_since_restart(facts: "Facts") -> Match | None:
    """Its queue has topology-aware flavors, and Kueue has not looked since its controller started."""
    if facts.progress.phase != "waiting" or facts.quota.verdict != "fits":
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
        (
            Evidence(
                subject_of(facts.identity.want()), "events of Kueue's scheduler", "none since the start", "computed"
            ),
        ),
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
