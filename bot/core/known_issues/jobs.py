"""Signatures of issues in how Kueue starts, stops and replaces a job and its Workload."""

from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core.diagnosis import Evidence
from bot.core.jobs import subject_of, suspended
from bot.core.known_issues.issue import OFTEN, Match
from bot.core.names import named, quoted, subject
from bot.core.objects import is_true

if TYPE_CHECKING:
    from bot.core.facts import Facts


def unmanaged_child(facts: "Facts") -> Match | None:
    """A child of a job that Kueue does not manage was suspended and resumed again and again."""
    target = facts.identity.target
    if target is None or facts.progress.phase not in {"unmanaged", "no-workload"} or suspended(target) is not False:
        return None
    for child in sorted(facts.kin.children(target), key=lambda item: item.name):
        if not isinstance(child, o.Job) or not suspended(child):
            continue
        events = facts.history.events_about(child)
        stopped = sum(event.times for event in events if event.reason == "Suspended")
        resumed = sum(event.times for event in events if event.reason == "Resumed")
        if min(stopped, resumed) >= OFTEN:
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


def replacement_pods(facts: "Facts") -> Match | None:
    """A pod group that waits for replacement pods was admitted and evicted all the same, again and again."""
    workload = facts.identity.workload
    if workload is None or not is_true(workload.status.conditions, "WaitingForReplacementPods"):
        return None
    evicted = facts.history.evicted
    if evicted is None:
        return None
    if evicted.reason != "PodsReadyTimeout" or evicted.count < OFTEN - 1:
        return None
    return Match(
        f"pod group {named('Workload', workload.name, workload.namespace)} waits for replacement pods, and Kueue has "
        f"admitted and evicted it {evicted.count} times all the same",
        (
            Evidence(subject_of(workload), "status.conditions[WaitingForReplacementPods].status", "True", "kueue"),
            Evidence(subject_of(workload), "status.schedulingStats.evictions[].count", str(evicted.count)),
        ),
    )


def partial_admission(facts: "Facts") -> Match | None:
    """A job was admitted with exactly its minimum of pods and is still suspended."""
    workload, root = facts.identity.workload, facts.identity.root
    if workload is None or root is None or facts.progress.phase != "admitted" or suspended(root) is not True:
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
                    Evidence(subject_of(workload), f"spec.podSets[{pod_set.name}].minCount", str(pod_set.min_count)),
                    Evidence(
                        subject_of(workload), f"status.admission.podSetAssignments[{pod_set.name}].count", str(count)
                    ),
                ),
            )
    return None


def finished_at_birth(facts: "Facts") -> Match | None:
    """The Workload is Finished because its owner is gone, and the owner is there."""
    end, root = facts.progress.never_ran, facts.identity.root
    if end is None or end.reason != "OwnerNotFound" or root is None or isinstance(root, o.Workload):
        return None
    return Match(
        f"{named('Workload', end.workload.name, end.workload.namespace)} is Finished because its owner no longer exists, and "
        f"{root.kind} {named(root.kind, root.name, root.namespace)} does",
        (
            Evidence(
                subject_of(end.workload), "status.conditions[Finished]", quoted(f"{end.reason}: {end.message}"), "kueue"
            ),
        ),
    )
