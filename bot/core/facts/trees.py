"""The trees of ClusterQueues and Cohorts, and what is in use in them.

Sources: ClusterQueue and Cohort specs (`status.effectiveQuota` where it is set), the Workloads that hold quota or,
for queues whose Workloads were not all read, `status.flavorsReservation`. The arithmetic is in `cohorts`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bot.core import objects as o
from bot.core.cohorts import Key, Node, Tree
from bot.core.facts.lazy import fact
from bot.core.facts.requests import held, holds_quota
from bot.core.quantity import amount
from bot.core.quotas import quotas, root_of
from bot.core.snapshot import Unknown, holders

if TYPE_CHECKING:
    from bot.core.facts import Facts


class Trees:
    """Facts about the trees in which ClusterQueues stand."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @fact
    def tree(self) -> Tree:
        """The tree of the ClusterQueue, with all usage. Raises Unknown when any of it was not read."""
        queue = self._facts.queue.cluster_queue
        if queue is None:
            reason = "there is no ClusterQueue"
            raise Unknown(reason)
        return self.tree_of(queue)

    def tree_of(self, queue: o.ClusterQueue) -> Tree:
        """Give the tree in which a ClusterQueue stands, its usage included. Raises Unknown when any of it was not read."""
        if not queue.cohort:
            return self._snapshot.once(("queue tree", queue.name), lambda: Tree([self._node(queue)]))
        cohorts = {item.name: item for item in self._snapshot.all_of(o.Cohort)}
        queues = self._snapshot.all_of(o.ClusterQueue)
        parents = {name: cohort.parent for name, cohort in cohorts.items()}
        root = root_of(queue.cohort, parents)
        if root is None:
            reason = f"the Cohorts above ClusterQueue {queue.name} form a ring"
            raise Unknown(reason)
        return self._snapshot.once(("cohort tree", root), lambda: self._grow(root, parents, cohorts, queues))

    def _grow(
        self, root: str, parents: Mapping[str, str], cohorts: Mapping[str, o.Cohort], queues: Iterable[o.ClusterQueue]
    ) -> Tree:
        roots = {name: root_of(name, parents) for name in {item.cohort for item in queues if item.cohort}}
        nodes = [self._node(item) for item in queues if item.cohort and roots[item.cohort] == root]
        nodes += [
            Node("Cohort", name, cohort.parent, quotas(cohort))
            for name, cohort in cohorts.items()
            if root_of(name, parents) == root
        ]
        return Tree(nodes)

    def _node(self, queue: o.ClusterQueue) -> Node:
        return Node("ClusterQueue", queue.name, queue.cohort, quotas(queue), self.usage(queue)[0])

    def usage(self, queue: o.ClusterQueue) -> tuple[Mapping[Key, int], bool]:
        """Give what is reserved in a ClusterQueue, and whether it is the sum over its Workloads.

        The sum decides where all Workloads of the queue were read; otherwise `status.flavorsReservation` does, which
        Kueue writes in batches. Raises Unknown when neither was read.
        """
        return self._snapshot.once(("usage", queue.name), lambda: self._count(queue))

    def _count(self, queue: o.ClusterQueue) -> tuple[Mapping[Key, int], bool]:
        total: dict[Key, int] = {}
        if self._snapshot.covers("Workload", selector=holders(queue.name)):
            for _, amounts_held in self.holdings(queue.name):
                for key, value in amounts_held.items():
                    total[key] = total.get(key, 0) + value
            return total, True
        if queue.status == o.QueueStatus():
            reason = f"usage of ClusterQueue {queue.name}: neither its Workloads nor its status were read"
            raise Unknown(reason)
        try:
            for flavor in queue.status.flavors_reservation:
                for resource in flavor.resources:
                    total[flavor.name, resource.name] = amount(resource.name, resource.total)
        except ValueError as error:
            reason = f"ClusterQueue {queue.name}: {error}"
            raise Unknown(reason) from error
        return total, False

    @fact
    def estimated(self) -> tuple[str, ...]:
        """The ClusterQueues of the tree whose usage is what their status says: Kueue writes it in batches, seconds late."""
        queues = {item.name: item for item in self._snapshot.all_of(o.ClusterQueue, read="seen")}
        names = [node.name for node in self.tree.nodes if node.kind == "ClusterQueue" and node.name in queues]
        return tuple(name for name in names if not self.usage(queues[name])[1])

    def reserving(self, queue: str) -> tuple[o.Workload, ...]:
        """Give the Workloads that were seen to have their reservation in a ClusterQueue."""
        return tuple(self._snapshot.once(("reserving",), self._reserving).get(queue, ()))

    def _reserving(self) -> Mapping[str, list[o.Workload]]:
        found: dict[str, list[o.Workload]] = {}
        for workload in self._snapshot.all_of(o.Workload, read="seen"):
            if workload.status.admission is not None:
                found.setdefault(workload.status.admission.cluster_queue, []).append(workload)
        return found

    def holdings(self, queue: str) -> list[tuple[o.Workload, Mapping[Key, int]]]:
        """Give who holds what in a ClusterQueue, of the Workloads that were seen."""
        return self._snapshot.once(("holding", queue), lambda: self._held_in(queue))

    def _held_in(self, queue: str) -> list[tuple[o.Workload, Mapping[Key, int]]]:
        """Who holds what in a queue. What equal Workloads of one walk hold is worked out once: they share their parts."""
        known: dict[tuple[int, int, int], Mapping[Key, int]] = {}
        found = []
        for workload in self.reserving(queue):
            if not holds_quota(workload):
                continue
            status = workload.status
            alike = (id(status.admission), id(status.reclaimable_pods), id(workload.spec.pod_sets))
            if alike not in known:
                known[alike] = held(workload)
            found.append((workload, known[alike]))
        return found
