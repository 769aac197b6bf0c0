"""What to read for a question, round by round, from what is known so far. Nothing is read here.

First what lies in the asked namespace and needs no discovery; then Kueue's objects and the owners that the first round
named; then what the phase calls for: a waiting Workload needs those who hold and those who wait, an admitted one nodes
and volumes, a missing one every place in which it could be.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from bot.core import kinds
from bot.core import objects as o
from bot.core import snapshot as s
from bot.core.facts import Facts
from bot.core.facts.operator import deployments_of
from bot.core.jobs import suspended
from bot.core.marks import GROUP_LABEL, JOB_UID_LABEL, PREBUILT, PREFIX, queue_name
from bot.core.objects import condition, is_true
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, Scope, Snapshot, Unknown
from bot.core.untyped import each
from bot.kube.client import PAGE, is_name
from bot.kube.permissions import CONFIGURATION

T = TypeVar("T")
D = TypeVar("D")

ROWS = 5000
"""Objects per list; a longer one is cut and the answer says so."""
NAMESPACE_ROWS = 1500
PROBE = 100
"""Items of the first page of a namespace's list: it tells how many more there are, and a list that is too long ends there."""
QUEUE_PAGE = 2000
"""Queues in one page: they are small, and pages come one after the other."""
SMALL_CLUSTER = 300
"""Up to this many pending and reserving Workloads all of them are read at once, with the pods and Jobs around them."""
FEW = 100
"""So many Workloads that wait or hold quota are read sooner by their namespaces than found among all of a cluster."""
OTHER_NAMESPACES = 3
"""How many further namespaces of a ClusterQueue are read for those who wait there."""
POD_SETS = 8
"""So many pod sets a Workload may have in every version of Kueue."""
VISIBLE = 1000
"""Rows asked of the visibility API, its own default; of a longer line only a fifth, those who stand first."""
HOLDS_IN = "status.admission.clusterQueue"
ACTIVE_PODS = "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="
_BELOW: dict[str, tuple[str, ...]] = {
    "RayJob": ("RayCluster",), "RayService": ("RayCluster",), "TrainJob": ("JobSet",),
    "LeaderWorkerSet": ("StatefulSet",), "Deployment": ("ReplicaSet",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Want:
    """One read: a list of a kind everywhere or in a namespace, narrowed by selectors, or one object by name.

    `proves` is what a full answer proves, by default the place itself. `instead` is read when the server refuses the
    field selector. `spare` reads are left out without a word when the budget is spent: nobody relies on them. `page`
    is how many the first page holds. `kept`: a list that was kept for some time will do.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    labels: str = ""
    fields: str = ""
    rows: int = ROWS
    proves: tuple[Scope, ...] = ()
    instead: tuple["Want", ...] = ()
    spare: bool = False
    page: int = PAGE
    kept: bool = False

    @property
    def place(self) -> Scope | None:
        """The place that is read, None when selectors narrow it."""
        return None if self.labels or self.fields else Scope(self.kind, self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class See:
    """One question to the visibility API: the next path is asked where the first is forbidden.

    `late`: good to have, given up when it makes the question a quarter longer.
    """

    paths: tuple[str, ...]
    limit: int = VISIBLE
    late: bool = False


@dataclass(slots=True)
class Reads:
    """The reads of the last round: `wants` in the order of their weight, within the budget; `search` beyond it."""

    wants: list[Want]
    search: list[Want] = field(default_factory=list)
    foreign: o.OwnerReference | None = None
    """An owner of a kind that discovery alone knows."""
    see: See | None = None
    proven: set[Scope] = field(default_factory=set)
    gaps: list[Gap] = field(default_factory=list)


QUEUES = (Want("LocalQueue", page=QUEUE_PAGE), Want("ClusterQueue", page=QUEUE_PAGE), Want("ResourceFlavor"))
"""Kueue's objects that every question needs; there are few of them."""


def queues(namespace: str, *, kept: bool) -> tuple[Want, ...]:
    """Give the reads of QUEUES; where the LocalQueues of a wide cluster are kept, only the namespace's own are read anew."""
    return (Want("LocalQueue", namespace), *QUEUES[1:]) if kept else QUEUES


def first(ref: JobRef) -> list[Want]:
    """What needs no discovery: the namespace, its pods, events and Jobs, and the object by name where its kind is given.

    In a crowded namespace the Job is not among the first, so that it is asked for by name, too.
    """
    namespace = ref.namespace
    wants = [
        Want("Namespace", name=namespace),
        Want("Pod", namespace, rows=NAMESPACE_ROWS, page=PROBE),
        Want("Event", namespace, rows=NAMESPACE_ROWS, page=PROBE),
        Want("Job", namespace, rows=NAMESPACE_ROWS, page=PROBE),
    ]
    if ref.kind in {"", "Job"}:
        wants.append(Want("Job", namespace, ref.name))
    known = kinds.BY_NAME.get(ref.kind)
    if known is not None and known.namespaced and known.group in {"", "apps", "batch"} and known.kind not in {
        "Job", "Pod",
    }:  # fmt: skip
        wants.append(Want(known.kind, namespace, ref.name))
    return wants


class Plan:
    """The next reads for a question, given what was read so far."""

    def __init__(self, facts: Facts) -> None:
        """Take what follows from the snapshot so far for the question."""
        self.facts = facts
        self.snapshot = facts.snapshot
        self.ref = facts.ref
        self.kept = "LocalQueue" in facts.snapshot.older
        """Whether LocalQueues of other namespaces are those of a list that was kept."""

    def second(self) -> list[Want]:
        """Queues, Workloads (the job's own where the job is known already), and an object of a custom kind by name."""
        namespace = self.ref.namespace
        own = self._own_workloads()
        wants = [*([own] if own is not None else ()), *queues(namespace, kept=self.kept)]
        if own is None and _in_namespace(self.snapshot, namespace) <= NAMESPACE_ROWS:
            wants.append(Want("Workload", namespace, rows=NAMESPACE_ROWS, page=PROBE))
        if own is None and self.ref.kind in {"", "Workload", "PodGroup"} and not self._is_job():
            # in a crowded namespace it may not be among the first
            wants.append(Want("Workload", namespace, self.ref.name))
        known = kinds.BY_NAME.get(self.ref.kind)
        if known is not None and known.namespaced and known.kind != "Workload":
            wants.append(Want(known.kind, namespace, self.ref.name))
        return wants

    def search(self) -> list[Want]:
        """Where the namespace seems too large for its Workloads to be read: every served job kind by the asked name."""
        namespace, ref = self.ref.namespace, self.ref
        waiting = _in_namespace(self.snapshot, namespace)
        crowded = waiting > NAMESPACE_ROWS or self._cut("Job", namespace) or self._cut("Pod", namespace)
        if ref.kind or not crowded or self._is_job():
            return []
        return [Want(kind.kind, namespace, ref.name) for kind in kinds.JOB_KINDS]

    def _is_job(self) -> bool:
        """Whether a Job or pod of the asked name was read."""
        names = (self.ref.name, self.ref.namespace)
        return any(self.snapshot.look(kind, *names) is not None for kind in ("Job", "Pod"))

    def _own_workloads(self) -> Want | None:
        """A Job's own Workloads by Kueue's label, its owner's too; None where the label may be missing.

        A namespace may hold thousands. It proves nothing: the whole namespace is read later if it is not too large.
        """
        facts = self.facts
        candidates = _try(lambda: facts.named.candidates, ())
        if len(candidates) != 1 or candidates[0].kind != "Job" or not candidates[0].metadata.uid:
            return None
        meta = candidates[0].metadata
        if PREBUILT in meta.labels or PREBUILT in meta.annotations:
            return None
        uids = sorted({meta.uid, *(owner.uid for owner in meta.owner_references if owner.uid)})
        return Want("Workload", self.ref.namespace, labels=f"{JOB_UID_LABEL} in ({','.join(uids)})")

    def _namespace_workloads(self, reads: Reads, workload: o.Workload | None) -> None:
        """All Workloads of the namespace, unless too many wait or hold quota in it."""
        namespace = self.ref.namespace
        if Scope("Workload", namespace) in self.snapshot.covered or self._cut("Workload", namespace):
            return
        count = _in_namespace(self.snapshot, namespace)
        if count > (PAGE if workload is not None else NAMESPACE_ROWS):
            reason = f"{count:,} wait or hold quota there, only those of the job were read"
            reads.gaps.append(Gap("Workload", reason, namespace))
        else:
            reads.wants.append(Want("Workload", namespace, rows=NAMESPACE_ROWS))

    def owners(self) -> list[Want]:
        """What the first round named but did not read: owners, and the Deployment of pods that look like the asked one."""
        facts = self.facts
        wants: list[Want] = []
        for item in _try(lambda: facts.named.candidates, ()):
            wants += self._chain(facts.snapshot, item)
        group = _try(lambda: facts.identity.group, None)
        for pod in group.pods[:1] if group is not None else ():
            wants += self._chain(facts.snapshot, pod)
        wants += self._named_as_owner()
        if self.ref.kind in {"", "Deployment"} and any(
            owner.kind == "ReplicaSet" and owner.name.startswith(f"{self.ref.name}-")
            for pod in facts.snapshot.seen("Pod", self.ref.namespace)
            for owner in pod.metadata.owner_references
        ):
            wants += [
                Want("ReplicaSet", self.ref.namespace, rows=NAMESPACE_ROWS),
                Want("Deployment", self.ref.namespace, self.ref.name),
            ]
        return wants

    def _named_as_owner(self) -> list[Want]:
        """What Jobs and pods name as their owner under the asked name: then no search through all kinds is needed."""
        owners = {
            owner.kind
            for kind in ("Job", "Pod")
            for item in self.snapshot.seen(kind, self.ref.namespace)
            for owner in item.metadata.owner_references
            if owner.controller and owner.name == self.ref.name and owner.kind in kinds.BY_NAME
        }
        return [
            Want(kind, self.ref.namespace, self.ref.name)
            for kind in sorted(owners)
            if self.ref.kind in {"", kind} and self.snapshot.look(kind, self.ref.name, self.ref.namespace) is None
        ]

    def _chain(self, snapshot: Snapshot, item: o.KubeObject) -> list[Want]:
        """The first owner up the chain that was not read yet."""
        for _ in range(10):
            owner = next((ref for ref in item.metadata.owner_references if ref.controller), None)
            if owner is None:
                return []
            known = kinds.of_object(owner.api_version, owner.kind)
            if known is None or not is_name(owner.name):
                return []
            found = snapshot.look(owner.kind, owner.name, item.namespace)
            if found is None:
                return [Want(owner.kind, item.namespace, owner.name)]
            item = found
        return []

    # --- the third round: what the phase calls for ---

    @property
    def waits(self) -> bool:
        """Whether the job is known to wait for Kueue: then events add nothing that conditions do not tell."""
        workload = _try(lambda: self.facts.identity.workload, None)
        return workload is not None and not is_true(workload.status.conditions, "Admitted")

    def third(self) -> Reads:
        """Give the reads of the last round."""
        identity, snapshot, namespace = self.facts.identity, self.snapshot, self.ref.namespace
        if snapshot.look("Namespace", namespace) is None and Scope("Namespace", name=namespace) in snapshot.covered:
            empty = {Scope(kind.kind, namespace) for kind in kinds.KINDS if kind.namespaced}
            return Reads([Want("Namespace")], proven=empty)
        root = _try(lambda: identity.root, None)
        target = _try(lambda: identity.target, None)
        workload = _try(lambda: identity.workload, None)
        if root is None and workload is None:
            workload = self._orphan(_try(lambda: identity.orphans, ()))
        phase = _try(lambda: self.facts.progress.phase, None) or self._guess(root)
        if root is None and workload is not None and phase == "unresolved":
            # the job itself comes with this round; its Workload tells already what will be asked of it
            phase = "admitted" if is_true(workload.status.conditions, "Admitted") else "waiting"
        reads = Reads([])
        if target is None and _try(lambda: identity.group, None) is None:
            self._search(reads, _try(lambda: identity.orphans, ()))
        for item in (target, root, *_try(lambda: self.facts.named.candidates, ())):
            if item is not None:
                reads.wants += self._chain(snapshot, item)
        queue = _Path.of(snapshot, namespace, root, workload)
        if phase == "waiting" and workload is not None and _size(snapshot) <= SMALL_CLUSTER:
            # the Workloads of all namespaces are read: these are for a list of them that is cut
            reads.wants += self._lost_among_many(snapshot, target, root, workload)
            reads.wants += self._by_phase(phase, root, workload, queue)
            self._namespace_workloads(reads, workload)
        else:
            self._namespace_workloads(reads, workload)
            reads.wants += self._lost_among_many(snapshot, target, root, workload)
            reads.wants += self._by_phase(phase, root, workload, queue)
        if phase in {"no-workload", "waiting"}:
            reads.see = self._visible(queue)
        return reads

    def _by_phase(
        self, phase: str, root: o.KubeObject | None, workload: o.Workload | None, queue: "_Path"
    ) -> list[Want]:
        if phase == "unresolved":
            wants = [Want("Node"), *self._own_objects(), *self._webhooks(), Want("WorkloadPriorityClass")]
            return [replace(want, spare=True) for want in wants]
        if phase == "no-workload":
            wants = [*self._own_objects(), *self._classes(root, None), *self._webhooks(), *self._definition(root)]
            return [*wants, Want("LimitRange", self.ref.namespace)]
        if phase in {"waiting", "reserved"}:
            wants = self._queueing(self.snapshot, queue, workload, phase)
            if workload is None:  # it may as well have none, and what keeps it from being made is little
                wants = [*self._classes(root, None), *self._definition(root), *wants, *self._webhooks()]
            return wants
        if phase == "unmanaged" and root is not None and suspended(root):
            return [*self._own_objects(), *self._webhooks()]
        if phase == "unmanaged":
            wants = [Want("ConfigMap", self.snapshot.kueue_namespace, CONFIGURATION), *self._webhooks()]
            return [*wants, *self._running(self.facts, root, workload, queue)]
        if phase == "admitted":
            return self._running(self.facts, root, workload, queue)
        return [Want("Deployment", self.snapshot.kueue_namespace)]

    def _orphan(self, orphans: Sequence[o.Workload]) -> o.Workload | None:
        """The Workload, waiting ones first, whose owner of the asked name was not read yet."""
        own = [w for w in orphans if any(owner.name == self.ref.name for owner in w.metadata.owner_references)]
        return min(own, key=lambda w: (is_true(w.status.conditions, "Admitted"), w.name), default=None)

    @staticmethod
    def _guess(root: o.KubeObject | None) -> str:
        """When the Workloads could not be read: a suspended job is taken to wait, any other to run."""
        if root is None:
            return "unresolved"
        return "waiting" if suspended(root) else "admitted"

    def _search(self, reads: Reads, orphans: Sequence[o.Workload]) -> None:
        """Nothing of that name yet: the kinds that Workloads name as owners of it, else every served job kind by name."""
        namespace, name = self.ref.namespace, self.ref.name
        if self.ref.kind and self.ref.kind != "PodGroup":
            return
        owners = [owner for workload in orphans for owner in workload.metadata.owner_references if owner.name == name]
        if owners:
            known = sorted({owner.kind for owner in owners if owner.kind in kinds.BY_NAME})
            reads.wants += [Want(kind, namespace, name) for kind in known]
            reads.wants += [
                Want(below, namespace, rows=NAMESPACE_ROWS) for kind in known for below in _BELOW.get(kind, ())
            ]
            reads.foreign = next((owner for owner in owners if owner.kind not in kinds.BY_NAME), None)
            return
        searched = [kind.kind for kind in kinds.JOB_KINDS] if not self.ref.kind else []
        reads.search = [Want(kind, namespace, name) for kind in (*searched, "Workload", "Pod")]
        if searched:
            # pods of a Deployment belong to ReplicaSets; Jobs of that name elsewhere are offered
            reads.wants += [
                Want("ReplicaSet", namespace, rows=NAMESPACE_ROWS, spare=True),
                Want("Job", fields=f"metadata.name={name}", spare=True),
            ]

    def _lost_among_many(
        self, snapshot: Snapshot, target: o.KubeObject | None, root: o.KubeObject | None, workload: o.Workload | None
    ) -> list[Want]:
        """In a namespace too large to be read whole, ask for what belongs to the job by label and by UID."""
        namespace, wants = self.ref.namespace, list[Want]()
        both = (root,) if root is target else (root, target)
        own = [item for item in both if item is not None and item.metadata.uid]
        crowded = self._cut("Workload", namespace) or _in_namespace(snapshot, namespace) > PAGE
        if crowded and workload is None:
            for item in own:
                uid, meta = item.metadata.uid, item.metadata
                wants.append(
                    Want("Workload", namespace, labels=f"{JOB_UID_LABEL}={uid}",
                         proves=(Scope("Workload", namespace, selector=s.owned(uid)),))
                )  # fmt: skip
                names = {meta.labels.get(PREBUILT), meta.annotations.get(PREBUILT), meta.labels.get(GROUP_LABEL)}
                wants += [Want("Workload", namespace, name) for name in sorted(n for n in names if n and is_name(n))]
            wants += [Want("Workload", namespace, self.ref.name)]
        if self._cut("Job", namespace) and snapshot.look("Job", self.ref.name, namespace) is None:
            wants.append(Want("Job", namespace, self.ref.name))
        if self._cut("Pod", namespace):
            wants += [
                Want("Pod", namespace, labels=f"batch.kubernetes.io/controller-uid={item.metadata.uid}",
                     proves=(Scope("Pod", namespace, selector=s.owned(item.metadata.uid)),))
                for item in own
                if item.kind == "Job"
            ]  # fmt: skip
            wants.append(Want("Pod", namespace, labels=f"{GROUP_LABEL}={self.ref.name}"))
        if self._cut("Event", namespace) and not self.waits:
            # a server looks through all events of the namespace for each; a waiting Workload's conditions tell as much
            pods = [pod for pod in _pods(self.facts, root) if not _is_up(pod)][:2]
            subjects = [*own, *([workload] if workload is not None else []), *pods]
            wants += [
                Want("Event", namespace, fields=f"involvedObject.uid={item.metadata.uid}",
                     proves=(Scope("Event", namespace, selector=s.about(item.metadata.uid)),))
                for item in subjects
                if item.metadata.uid
            ]  # fmt: skip
        return wants

    def _cut(self, kind: str, namespace: str) -> bool:
        """Whether this list was answered, but not to its end."""
        return Scope(kind, namespace) not in self.snapshot.covered and any(
            gap.kind == kind and gap.namespace == namespace and "row budget" in gap.reason for gap in self.snapshot.gaps
        )

    def _queueing(self, snapshot: Snapshot, queue: "_Path", workload: o.Workload | None, phase: str) -> list[Want]:
        """For a Workload that waits: who holds, who waits, the cohort tree, checks, topology, Kueue itself, the nodes."""
        namespace = self.ref.namespace
        wants = self._holders(snapshot, queue) if phase == "waiting" else []
        if any(isinstance(item, o.ClusterQueue) and item.cohort for item in snapshot.seen("ClusterQueue")):
            wants.append(Want("Cohort"))
        checks = self._checks(queue, workload)
        # only a check that was asked stands before the quota
        first = len(checks) if phase == "reserved" or _refused(workload) else 1
        wants += checks[:first]
        # without a topology, nodes are only context for the quota; whom preemption waits for may be on a lost one, and
        # whether there is the room that was refused is a matter of this moment
        topology = queue.has_topology(snapshot)
        nodes = Want(
            "Node", kept=phase == "waiting" and not topology and not _preempts(workload) and not _refused(workload)
        )
        if topology:
            wants += [Want("Topology"), nodes, self._active_pods()]
        elif _refused(workload):
            wants += [nodes, self._active_pods()]  # whether the nodes have the room that was refused
        if any(spec.resource_claims for spec in _templates(None, workload)):
            wants += [Want("ResourceClaimTemplate", namespace), Want("DeviceClass", spare=True)]
        wants += [Want("LimitRange", namespace), Want("Deployment", self.snapshot.kueue_namespace), nodes]
        wants.append(Want("ConfigMap", self.snapshot.kueue_namespace, CONFIGURATION))
        wants += checks[first:]
        wants += [Want(kind, self.snapshot.kueue_namespace, spare=True) for kind in ("Lease", "Pod", self._addresses)]
        wants += self._classes(None, workload)
        if phase == "waiting" and _size(snapshot) <= SMALL_CLUSTER:
            wants += [Want("Pod", rows=500, spare=True), Want("Job", rows=500, spare=True)]
        return wants

    def _holders(self, snapshot: Snapshot, queue: "_Path") -> list[Want]:
        """Who holds quota in the ClusterQueue and its cohort, and who waits for it."""
        name = queue.cluster_queue_name
        if not name or not is_name(name):
            return []
        small = _size(snapshot) <= SMALL_CLUSTER
        # finished ones are not counted and may be many
        wants = [Want("Workload", rows=NAMESPACE_ROWS, page=PROBE)] if small else []
        few = self._few_holders(snapshot, queue) if not small else []
        wants += few or [self._holders_of(snapshot, name, NAMESPACE_ROWS)]
        if small:
            others = [place for place in _fed_from(snapshot, name) if place != self.ref.namespace]
            wants += self._kept_anew(others)
        else:
            wants += self._waiting(snapshot, queue)
            near = _neighbours(snapshot, name)[:2]
            wants += [self._holders_of(snapshot, other, SMALL_CLUSTER) for other in near]
        return wants

    @staticmethod
    def _few_holders(snapshot: Snapshot, queue: "_Path") -> list[Want]:
        """The namespaces that feed a queue, where they are few and small and count as many that hold quota as it does.

        A server that selects by ClusterQueue looks through the Workloads of the whole cluster for it.
        """
        fed = _fed_from(snapshot, queue.cluster_queue_name)
        if not fed or len(fed) > OTHER_NAMESPACES or sum(_in_namespace(snapshot, name) for name in fed) > FEW:
            return []
        counted = sum(
            item.status.reserving_workloads
            for namespace in fed
            for item in snapshot.all_of(o.LocalQueue, read="seen", namespace=namespace)
            if item.spec.cluster_queue == queue.cluster_queue_name
        )
        if queue.cluster_queue is None or counted < queue.cluster_queue.status.reserving_workloads:
            return []  # somebody holds on whose LocalQueue is gone
        return [Want("Workload", namespace, rows=NAMESPACE_ROWS) for namespace in fed]

    def _holders_of(self, snapshot: Snapshot, cluster_queue: str, rows: int) -> Want:
        """Those who hold, or the namespaces that feed the queue as far as no more than `rows` wait and hold in them."""
        fed: list[str] = []
        for name in sorted(_fed_from(snapshot, cluster_queue), key=lambda name: (name != self.ref.namespace, name)):
            count = _in_namespace(snapshot, name)
            if count <= rows:
                fed.append(name)
                rows -= count
        others = tuple(Want("Workload", namespace, rows=NAMESPACE_ROWS) for namespace in fed)
        return Want(
            "Workload", fields=f"{HOLDS_IN}={cluster_queue}", rows=ROWS,
            proves=(Scope("Workload", selector=s.holders(cluster_queue)),), instead=others[: OTHER_NAMESPACES + 1],
        )  # fmt: skip

    def _waiting(self, snapshot: Snapshot, queue: "_Path") -> list[Want]:
        """The namespaces of the queue, where they are few and little waits there."""
        name = queue.cluster_queue_name
        pending: dict[str, int] = {}
        for item in snapshot.all_of(o.LocalQueue, read="seen"):
            if item.spec.cluster_queue == name:
                pending[item.namespace] = pending.get(item.namespace, 0) + item.status.pending_workloads
        places = [namespace for namespace, count in sorted(pending.items()) if count]
        many = sum(pending.values())
        if self.kept:  # counts that were kept are old
            places = sorted(pending) if len(pending) <= OTHER_NAMESPACES else places
            many = max(many, queue.cluster_queue.status.pending_workloads if queue.cluster_queue is not None else 0)
        if len(places) > OTHER_NAMESPACES or many > NAMESPACE_ROWS:
            return []
        wants = [Want("Workload", namespace, rows=NAMESPACE_ROWS) for namespace in places]
        return [*wants, *self._kept_anew([namespace for namespace in places if namespace != self.ref.namespace])]

    def _kept_anew(self, namespaces: Sequence[str]) -> list[Want]:
        """The LocalQueues of other namespaces anew, where those that are known were kept: they may be stopped, or gone."""
        if not self.kept:
            return []
        if len(namespaces) > OTHER_NAMESPACES:
            return [QUEUES[0]]
        return [Want("LocalQueue", namespace) for namespace in namespaces]

    def _checks(self, queue: "_Path", workload: o.Workload | None) -> list[Want]:
        """Admission checks and what stands behind them."""
        reported = workload is not None and bool(workload.status.admission_checks)
        if not reported and not (queue.cluster_queue is not None and queue.cluster_queue.check_rules):
            return []
        wants = [Want("AdmissionCheck"), Want("ProvisioningRequestConfig"), Want("MultiKueueConfig")]
        if reported:
            wants.append(Want("ProvisioningRequest", self.ref.namespace, rows=NAMESPACE_ROWS))
        return [*wants, Want("MultiKueueCluster")]

    def _running(
        self,
        facts: Facts,
        root: o.KubeObject | None,
        workload: o.Workload | None,
        queue: "_Path",
    ) -> list[Want]:
        """For an admitted or unmanaged job: its children, and what keeps pods from existing, being scheduled and starting."""
        namespace = self.ref.namespace
        pods = _pods(facts, root)
        wants: list[Want] = []
        if root is not None:
            wants += [Want(kind, namespace, rows=NAMESPACE_ROWS) for kind in self._kinds_below(root)]
        wants += self._checks(_Path(None, None, queue.name, ""), workload)
        specs = [pod.spec for pod in pods] or _templates(root, workload)
        unscheduled = not pods or any(not pod.spec.node_name and pod.status.phase in {"", "Pending"} for pod in pods)
        starting = unscheduled or any(not _is_up(pod) for pod in pods)
        if unscheduled:
            wants += [Want("Node"), self._active_pods()]
        if not pods or unscheduled:
            wants += [Want("ResourceQuota", namespace), Want("LimitRange", namespace)]
            wants += self._accounts(specs)
        if starting and any(
            volume.persistent_volume_claim or volume.ephemeral for spec in specs for volume in spec.volumes
        ):
            wants += [Want("PersistentVolumeClaim", namespace), Want("PersistentVolume"), Want("StorageClass")]
        if starting and any(spec.resource_claims for spec in specs):
            wants += [
                Want("ResourceClaim", namespace), Want("ResourceClaimTemplate", namespace), Want("DeviceClass"),
            ]  # fmt: skip
        if any(spec.runtime_class_name for spec in specs):
            wants.append(Want("RuntimeClass"))
        if _topology_of(workload):
            wants.append(Want("Topology"))
        wants += [Want("Deployment", self.snapshot.kueue_namespace)]
        if not pods:
            wants += self._operator(root, workload)
        if unscheduled:
            wants += self._priority(specs)
            wants += [Want(kind, spare=True) for kind in ("DaemonSet", "NodePool", "NodeClaim")]
            wants.append(Want("ConfigMap", self.snapshot.kueue_namespace, CONFIGURATION, spare=True))
            wants.append(Want("Lease", self.snapshot.kueue_namespace, spare=True))
        if starting and not unscheduled:
            wants.append(Want("Node"))
        return wants

    @staticmethod
    def _operator(root: o.KubeObject | None, workload: o.Workload | None) -> list[Want]:
        """The Deployment of the operator that should have made pods, by its usual names; the job may still be unread."""
        found = [(root.api_version, root.kind)] if root is not None else []
        if root is None and workload is not None:
            found = [
                (owner.api_version, owner.kind) for owner in workload.metadata.owner_references if owner.controller
            ]
        names = [name for version, kind in found for name in deployments_of(kind, version)]
        return [Want("Deployment", fields=f"metadata.name={name}", spare=True) for name in names]

    def _kinds_below(self, root: o.KubeObject) -> tuple[str, ...]:
        below = _BELOW.get(root.kind, ())
        if root.kind == "AppWrapper" and isinstance(root, o.Job):
            wrapped = [part.get("kind") for part in each(root.spec, "components[].template") if isinstance(part, dict)]
            named = [kind for kind in wrapped if isinstance(kind, str) and kind in kinds.BY_NAME]
            below = tuple(kind for kind in named if kinds.BY_NAME[kind].job is not None)
        return below

    def _accounts(self, specs: Iterable[o.PodSpec]) -> list[Want]:
        names = sorted({spec.service_account_name or "default" for spec in specs})
        return [Want("ServiceAccount", self.ref.namespace, name) for name in names[:1] if is_name(name)]

    @staticmethod
    def _priority(specs: Iterable[o.PodSpec]) -> list[Want]:
        return [Want("PriorityClass")] if any(spec.priority_class_name for spec in specs) else []

    @staticmethod
    def _classes(root: o.KubeObject | None, workload: o.Workload | None) -> list[Want]:
        """The priority classes by name, where one is named."""
        wants: list[Want] = []
        label = root.metadata.labels.get(PREFIX + "priority-class", "") if root is not None else ""
        if workload is not None:
            reference = workload.spec.priority_class_ref
            name = reference.name if reference is not None else workload.spec.priority_class_name
            kind = (
                f"{reference.group}/{reference.kind}" if reference is not None else workload.spec.priority_class_source
            )
            if name and is_name(name):
                wants.append(Want("PriorityClass" if "scheduling" in kind else "WorkloadPriorityClass", name=name))
        if label and is_name(label):
            wants.append(Want("WorkloadPriorityClass"))
        if root is not None:
            wants += [Want("PriorityClass") for spec in _templates(root, None)[:1] if spec.priority_class_name]
        return wants

    @property
    def _addresses(self) -> str:
        """The kind that tells a Service's addresses: Endpoints are going away since Kubernetes 1.33."""
        return "EndpointSlice" if self.snapshot.is_served("EndpointSlice") else "Endpoints"

    @staticmethod
    def _definition(root: o.KubeObject | None) -> list[Want]:
        """How many pod sets a Workload may have, where the job has many. It is large and rarely needed."""
        many = len(_templates(root, None)) > POD_SETS
        return [Want("CustomResourceDefinition", name=kinds.BY_NAME["Workload"].crd)] if many else []

    def _own_objects(self) -> list[Want]:
        """Kueue itself; a Role in its namespace grants them."""
        place = self.snapshot.kueue_namespace
        return [
            Want("Deployment", place), Want("Pod", place), Want("Lease", place), Want(self._addresses, place),
            Want("ConfigMap", place, CONFIGURATION),
        ]  # fmt: skip

    @staticmethod
    def _webhooks() -> list[Want]:
        return [Want("MutatingWebhookConfiguration"), Want("ValidatingWebhookConfiguration", spare=True)]

    @staticmethod
    def _active_pods() -> Want:
        return Want("Pod", fields=ACTIVE_PODS, proves=(Scope("Pod", selector=s.ACTIVE),))

    def _visible(self, queue: "_Path") -> See | None:
        """Kueue's own order of those who wait in the ClusterQueue, or where that is forbidden in the LocalQueue."""
        paths = []
        if queue.cluster_queue_name and is_name(queue.cluster_queue_name):
            paths.append(f"clusterqueues/{queue.cluster_queue_name}/pendingworkloads")
        if queue.name and is_name(queue.name) and queue.local_queue is not None:
            paths.append(f"namespaces/{self.ref.namespace}/localqueues/{queue.name}/pendingworkloads")
        if not paths:
            return None
        waiting = queue.cluster_queue.status.pending_workloads if queue.cluster_queue is not None else 0
        # Kueue sorts the whole line for every answer
        return See(tuple(paths)) if waiting <= VISIBLE else See(tuple(paths), VISIBLE // 5, late=True)


@dataclass(frozen=True, slots=True)
class _Path:
    """The queue that the job names and the ClusterQueue behind it, as far as they were read."""

    local_queue: o.LocalQueue | None
    cluster_queue: o.ClusterQueue | None
    name: str
    cluster_queue_name: str

    @classmethod
    def of(cls, snapshot: Snapshot, namespace: str, root: o.KubeObject | None, workload: o.Workload | None) -> "_Path":
        name = workload.spec.queue_name if workload is not None else ""
        if not name and root is not None:
            name = queue_name(root) or ""
        local = snapshot.look_of(o.LocalQueue, name, namespace)
        admission = workload.status.admission if workload is not None else None
        behind = admission.cluster_queue if admission is not None else ""
        if not behind and local is not None:
            behind = local.spec.cluster_queue
        return cls(local, snapshot.look_of(o.ClusterQueue, behind), name, behind)

    def has_topology(self, snapshot: Snapshot) -> bool:
        """Whether a flavor of the ClusterQueue has a topology, or cannot be told to have none."""
        if self.cluster_queue is None:
            return False
        names = {quota.name for group in self.cluster_queue.spec.resource_groups for quota in group.flavors}
        flavors = [snapshot.look_of(o.ResourceFlavor, name) for name in sorted(names)]
        return any(flavor is not None and flavor.spec.topology_name for flavor in flavors)


def _try(compute: Callable[[], T], otherwise: D) -> T | D:
    """Plan with what is known; a fact that is unknown, or breaks, only makes the plan coarser."""
    try:
        return compute()
    except Unknown:
        return otherwise
    except Exception:  # noqa: BLE001 - the engine will report the broken fact; the reads must go on
        return otherwise


def _refused(workload: o.Workload | None) -> bool:
    """Whether an admission check said no: the Workload may have given its quota back for it."""
    if workload is None:
        return False
    evicted = condition(workload.status.conditions, "Evicted")
    return (evicted is not None and evicted.status == "True" and evicted.reason == "AdmissionCheck") or any(
        state.state in {"Retry", "Rejected"} for state in workload.status.admission_checks
    )


def _size(snapshot: Snapshot) -> int:
    """How many Workloads wait or hold quota in the whole cluster, by the ClusterQueues' own counts."""
    return sum(
        item.status.pending_workloads + item.status.reserving_workloads
        for item in snapshot.all_of(o.ClusterQueue, read="seen")
    )


def _in_namespace(snapshot: Snapshot, namespace: str) -> int:
    """How many Workloads wait or hold quota in a namespace, by its LocalQueues' own counts."""
    return sum(
        item.status.pending_workloads + item.status.reserving_workloads
        for item in snapshot.all_of(o.LocalQueue, read="seen", namespace=namespace)
    )


def _fed_from(snapshot: Snapshot, cluster_queue: str) -> list[str]:
    """The namespaces whose LocalQueues lead into a ClusterQueue."""
    return sorted(
        {
            item.namespace
            for item in snapshot.all_of(o.LocalQueue, read="seen")
            if item.spec.cluster_queue == cluster_queue
        }
    )


def _neighbours(snapshot: Snapshot, cluster_queue: str) -> list[str]:
    """Other ClusterQueues of the same cohort in which not too many hold what this one offers, fullest first."""
    own = snapshot.look_of(o.ClusterQueue, cluster_queue)
    if own is None or not own.cohort:
        return []
    offers = {
        (flavor.name, resource.name)
        for group in own.spec.resource_groups
        for flavor in group.flavors
        for resource in flavor.resources
    }
    others = [
        item
        for item in snapshot.all_of(o.ClusterQueue, read="seen")
        if item.cohort == own.cohort
        and item.name != own.name
        and 0 < item.status.reserving_workloads <= SMALL_CLUSTER
        and not offers.isdisjoint(_reserved(item))
    ]
    return [item.name for item in sorted(others, key=lambda item: (-item.status.reserving_workloads, item.name))]


def _reserved(queue: o.ClusterQueue) -> set[tuple[str, str]]:
    """The flavors and resources of which something is reserved in a ClusterQueue."""
    return {
        (flavor.name, resource.name)
        for flavor in queue.status.flavors_reservation
        for resource in flavor.resources
        if resource.total not in {"0", 0}
    }


def _preempts(workload: o.Workload | None) -> bool:
    """Whether Kueue says that the Workload waits for others to be preempted."""
    quota = condition(workload.status.conditions, "QuotaReserved") if workload is not None else None
    return quota is not None and "preempt" in quota.message.lower()


def _pods(facts: Facts, root: o.KubeObject | None) -> list[o.Pod]:
    """The pods of the asked job that were read, down its tree."""
    group = _try(lambda: facts.identity.group, None)
    found = list(group.pods) if group is not None else []
    level: list[o.KubeObject] = [root] if root is not None else []
    for _ in range(4):
        found += [item for item in level if isinstance(item, o.Pod) and item not in found]
        level = list(itertools.chain.from_iterable(facts.kin.children(item) for item in level))
    return found


def _is_up(pod: o.Pod) -> bool:
    return pod.status.phase in {"Succeeded", "Failed"} or (
        pod.status.phase == "Running" and all(status.ready for status in pod.status.container_statuses)
    )


def _templates(root: o.KubeObject | None, workload: o.Workload | None) -> list[o.PodSpec]:
    """The pod specs that the job would make: from its Workload, else from its own templates."""
    if workload is not None:
        return [pod_set.template.spec for pod_set in workload.spec.pod_sets]
    if isinstance(root, o.Pod):
        return [root.spec]
    known = kinds.BY_NAME.get(root.kind) if root is not None else None
    if known is None or known.job is None or not isinstance(root, o.Job):
        return []
    specs = []
    for path in known.job.templates:
        for template in each({"spec": root.spec}, path):
            with contextlib.suppress(msgspec.ValidationError):
                specs.append(msgspec.convert(template, o.PodTemplate).spec)
    return specs


def _topology_of(workload: o.Workload | None) -> bool:
    admission = workload.status.admission if workload is not None else None
    return admission is not None and any(part.topology_assignment is not None for part in admission.pod_set_assignments)
