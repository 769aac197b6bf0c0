"""Who could be preempted for a Workload by the policies of its ClusterQueue, and why the others cannot.

As Kueue's classical preemption has it (`pkg/scheduler/preemption`): in its own ClusterQueue by `withinClusterQueue`, in
the cohort by `reclaimWithinCohort`, there only Workloads of queues that borrow. With Fair Sharing, which stands in
Kueue's own configuration, other rules apply in the cohort.
"""

from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core.facts.assignment import Figure
from bot.core.facts.order import priority_of
from bot.core.facts.quota import Shortfall
from bot.core.facts.requests import held
from bot.core.names import named
from bot.core.records import dataclass
from bot.core.snapshot import holders

if TYPE_CHECKING:
    from bot.core.facts import Facts


_RECLAIMS_FOR_COHORTS = (0, 12)
"""The first version in which quota that a Cohort owns is reclaimed for the queues below it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Workload that holds what is missing; `refused` says why it cannot be preempted, "" when it can."""

    workload: o.Workload
    queue: str
    amount: int
    refused: str


@dataclass(frozen=True, slots=True)
class Policies:
    """The preemption policies of a ClusterQueue, "Never" where nothing is set."""

    within: str
    reclaim: str
    borrow: str
    threshold: int | None = None
    """The highest priority that borrowWithinCohort lets be preempted; None for no such limit."""

    @property
    def any(self) -> bool:
        """Whether any preemption is allowed at all."""
        return {self.within, self.reclaim, self.borrow} != {"Never"}


def policies(queue: o.ClusterQueue) -> Policies:
    """Give the preemption policies of a ClusterQueue."""
    found = queue.spec.preemption or o.Preemption()
    borrow = found.borrow_within_cohort.get("policy")
    threshold = found.borrow_within_cohort.get("maxPriorityThreshold")
    return Policies(
        found.within_cluster_queue or "Never",
        found.reclaim_within_cohort or "Never",
        borrow if isinstance(borrow, str) and borrow else "Never",
        threshold if isinstance(threshold, int) and not isinstance(threshold, bool) else None,
    )


def candidates(facts: "Facts", short: Shortfall) -> tuple[Candidate, ...]:
    """Give every Workload that holds what is missing, largest first, with the reason why it cannot be preempted.

    Raises Unknown when the Workloads of a queue that holds some were not read.
    """
    return _holding(facts, short.main) if short.main is not None else ()


def elsewhere(facts: "Facts", short: Shortfall) -> bool:
    """Say whether somebody could be preempted in another flavor for which the Workload waits. Raises Unknown as `candidates`."""
    figures = [entry for result in short.others if result.verdict == "wait" for entry in result.deciding[:1]]
    return any(not candidate.refused for figure in figures for candidate in _holding(facts, figure))


def _holding(facts: "Facts", main: Figure) -> tuple[Candidate, ...]:
    queue = facts.quota.queue
    if queue is None:
        return ()
    key = (main.flavor, main.resource)
    tree, me = facts.trees.tree, facts.quota.offer.queue
    members = [node.name for node in tree.below(tree.path(me)[-1]) if tree.usage(node.id, key) > 0]
    found = []
    for name in members:
        facts.snapshot.require("Workload", selector=holders(name))
        for workload in facts.trees.reserving(name):
            amount = held(workload).get(key, 0)
            if amount > 0:
                found.append(Candidate(workload, name, amount, _refused(facts, queue, workload, name, main)))
    return tuple(sorted(found, key=lambda c: (-c.amount, c.workload.namespace, c.workload.name)))


def _refused(facts: "Facts", queue: o.ClusterQueue, other: o.Workload, name: str, main: Figure) -> str:
    own, policy, tree = facts.identity.want(), policies(queue), facts.trees.tree
    key = (main.flavor, main.resource)
    mine, theirs = priority_of(own), priority_of(other)
    borrows = main.requested > main.nominal and bool(queue.cohort) and not _reclaims_above(facts, main)
    if borrows and policy.borrow == "Never":
        return "the request is larger than the nominal quota, and borrowWithinCohort is Never"
    priorities = f"priority {theirs} is not lower than {mine}"
    if name == queue.name:
        if policy.within == "Never":
            return "withinClusterQueue is Never"
        newer = _created(other) > _created(own)
        if theirs < mine or (policy.within == "LowerOrNewerEqualPriority" and theirs == mine and newer):
            return ""
        return priorities
    if tree.borrowing(("ClusterQueue", name), key) <= 0:
        return f"ClusterQueue {named('ClusterQueue', name)} does not borrow"
    if policy.reclaim == "Never":
        return "reclaimWithinCohort is Never"
    if policy.reclaim == "LowerPriority" and theirs >= mine:
        return priorities
    if borrows:
        if theirs >= mine:
            return f"{priorities}, which borrowWithinCohort asks for"
        if policy.threshold is not None and theirs > policy.threshold:
            return f"priority {theirs} is above the maxPriorityThreshold {policy.threshold} of borrowWithinCohort"
    return ""


def _reclaims_above(facts: "Facts", main: Figure) -> bool:
    """Whether a Cohort below the root has the quota for the request, so that Kueue reclaims for it (since 0.12)."""
    release = facts.controller.release
    if release is not None and release < _RECLAIMS_FOR_COHORTS:
        return False
    tree, key = facts.trees.tree, (main.flavor, main.resource)
    between = tree.path(facts.quota.offer.queue)[1:-1]
    return any(tree.usage(node, key) + main.requested <= tree.subtree(node, key) for node in between)


def _created(workload: o.Workload) -> float:
    moment = workload.metadata.creation_timestamp
    return moment.timestamp() if moment is not None else 0
