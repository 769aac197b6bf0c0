"""From a question to a Snapshot: at most three rounds of concurrent reads, at most twenty requests, one deadline.

First what lies in the asked namespace and needs no discovery, then Kueue's objects and the owners that the first
round named, then what the phase calls for: a waiting Workload needs those who hold and those who wait, an admitted
one nodes and volumes. A server whose discovery is known already answers the first two at once. Every read ends as a
`Scope` (read in full) or as a `Gap` (why not); nothing is ever taken for absent because nobody looked.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from bot.core import bundle, kinds
from bot.core import objects as o
from bot.core import snapshot as s
from bot.core.facts import Facts
from bot.core.facts.identity import GROUP_LABEL, JOB_UID_LABEL, PREBUILT, PREFIX, each, queue_name, suspended
from bot.core.objects import is_true
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, PendingItem, Scope, Snapshot, Unknown, Versions
from bot.kube.client import NOT_ACCEPTED, PAGE, Client, Listing, ReadError, is_name, object_path
from bot.kube.discovery import NOTHING_KNOWN, VISIBILITY, Discovery, Served
from bot.kube.permissions import CONFIGURATION

T = TypeVar("T")
D = TypeVar("D")

REQUESTS = 20
"""Requests per question; only the search for a bare name that no Workload carries may cost one more per served kind."""
ROWS = 5000
"""Objects per list; a longer one is cut and the answer says so."""
NAMESPACE_ROWS = 1500
SMALL_CLUSTER = 300
"""Up to this many pending and reserving Workloads all of them are read at once, with the pods and Jobs around them."""
OTHER_NAMESPACES = 3
"""How many further namespaces of a ClusterQueue are read for those who wait there."""
VISIBLE = 1000
"""Rows asked of the visibility API, its own default; of a longer line only a fifth, those who stand first."""
HOLDS_IN = "status.admission.clusterQueue"
ACTIVE_PODS = "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="
_SOFT = (0.4, 0.7)
"""The share of the deadline after which the next round starts without those who have not answered yet."""

_BELOW: dict[str, tuple[str, ...]] = {
    "RayJob": ("RayCluster",), "RayService": ("RayCluster",), "TrainJob": ("JobSet",),
    "LeaderWorkerSet": ("StatefulSet",), "Deployment": ("ReplicaSet",),
}  # fmt: skip
_ESSENTIAL = ("Namespace", "Workload", "LocalQueue", "ClusterQueue", "Pod", "Job")


@dataclass(frozen=True, slots=True)
class Want:
    """One read: a list of a kind everywhere or in a namespace, narrowed by selectors, or one object by name.

    `proves` is what a full answer proves, by default the place itself. `instead` is read when the server refuses the
    field selector. `spare` reads are left out without a word when the budget is spent: nobody relies on them.
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
    late: bool = False
    """Good to have: given up when it makes the question half as long again."""

    @property
    def place(self) -> Scope | None:
        """The place that is read, None when selectors narrow it."""
        return None if self.labels or self.fields else Scope(self.kind, self.namespace, self.name)


@dataclass
class Reader:
    """Reads for one cluster; shared by all its questions."""

    client: Client
    discovery: Discovery
    rows: int = ROWS
    """At most so many objects of one list are read."""

    @classmethod
    def of(cls, client: Client, rows: int = ROWS) -> "Reader":
        """Make a reader with a discovery of its own."""
        return cls(client, Discovery(client), rows)

    async def read(self, ref: JobRef, deadline: float = 8.0) -> Snapshot:
        """Read what a question needs within `deadline` seconds. Never raises; what went wrong is a gap."""
        return await _Question(self, ref, deadline).snapshot()


async def read(client: Client, ref: JobRef, deadline: float = 8.0) -> Snapshot:
    """Read what one question needs with a fresh discovery. Never raises; what went wrong is a gap."""
    return await Reader.of(client).read(ref, deadline)


class _Question:
    """The reads of one question, as they come in."""

    def __init__(self, reader: Reader, ref: JobRef, deadline: float) -> None:
        self.client = reader.client
        self.discovery = reader.discovery
        self.ref = ref
        self.deadline = deadline
        self.rows = reader.rows
        self.kueue_namespace = reader.client.cluster.kueue_namespace
        self.served: Served = NOTHING_KNOWN
        self.objects: dict[str, dict[tuple[str, str], o.KubeObject]] = {}
        self.covered: set[Scope] = set()
        self.gaps: list[Gap] = []
        self.odd: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self.foreign: list[o.Job] = []
        self.visibility: dict[str, tuple[PendingItem, ...] | int] = {}
        self.kubernetes: str | None = None
        self.asked: set[Want] = set()
        self.spent = 0
        self.answered = 0
        self.refused: set[str] = set()
        """Reasons of reads to which no answer came."""
        self.running: set[asyncio.Future[None]] = set()
        self.late: set[asyncio.Future[None]] = set()
        self.over = f"timed out after {deadline:g} s"
        self.started = 0.0

    # --- the three rounds ---

    async def snapshot(self) -> Snapshot:
        self.started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self.deadline):
                await self._rounds()
        except TimeoutError:
            pass
        finally:
            await self._end()
        self._derive()
        return self._so_far()

    async def _rounds(self) -> None:
        if not (is_name(self.ref.namespace) and is_name(self.ref.name)):
            self._cannot_exist()
            return
        known = self.discovery.known
        if known is not None:
            self.served = known
            await self._round(self._reads([*self._first(), *self._queues()]), 0)
            if self._nobody_answers():
                return
            await self._round(self._reads([*self._second(), *self._owners()]), 1)
        else:
            self.spent += 1
            await self._round([self._discover(), *self._reads(self._first())], 0)
            if self._nobody_answers():
                return
            await self._round(self._reads([*self._second(), *self._owners()]), 1)
        if self._nobody_answers():
            return
        exempt, wants, others = self._third()
        others = [self._version(), *others]
        allowed = max(0, REQUESTS - self.spent - len(others))
        fresh = [want for want in dict.fromkeys(wants) if self._is_new(want)]
        for want in fresh[allowed:]:
            if not want.spare:
                self._gap(want, f"request budget of {REQUESTS} reached")
        self.spent += len(others)
        await self._round([*self._reads([*exempt, *fresh[:allowed]]), *others], 2)

    def _nobody_answers(self) -> bool:
        """Stop early when not a single read was answered; what was not asked any more fails for the same reason."""
        if self.answered or not self.refused:
            return False
        reason = NOT_ACCEPTED if NOT_ACCEPTED in self.refused else min(self.refused)
        known = {gap.kind for gap in self.gaps}
        self.gaps += [Gap(kind, reason) for kind in _ESSENTIAL if kind not in known]
        return True

    def _cannot_exist(self) -> None:
        """No object can have such a name, so nothing needs to be asked."""
        namespace = self.ref.namespace
        if not is_name(namespace):
            self.covered |= {Scope("Namespace", name=namespace), Scope("Namespace", namespace, namespace)}
        for kind in kinds.KINDS:
            if kind.namespaced:
                self.covered.add(Scope(kind.kind, namespace, self.ref.name))

    def _first(self) -> list[Want]:
        """What needs no discovery: the namespace, its pods, events and Jobs, and the object by name where its kind is given."""
        namespace = self.ref.namespace
        wants = [
            Want("Namespace", name=namespace),
            Want("Pod", namespace, rows=NAMESPACE_ROWS),
            Want("Event", namespace, rows=NAMESPACE_ROWS),
            Want("Job", namespace, rows=NAMESPACE_ROWS),
        ]
        known = kinds.BY_NAME.get(self.ref.kind)
        if known is not None and known.namespaced and known.group in {"", "apps", "batch"} and known.kind not in {
            "Job", "Pod",
        }:  # fmt: skip
            wants.append(Want(known.kind, namespace, self.ref.name))
        return wants

    @staticmethod
    def _queues() -> list[Want]:
        """Kueue's objects that every question needs; there are few of them."""
        return [Want("LocalQueue"), Want("ClusterQueue"), Want("ResourceFlavor")]

    def _second(self) -> list[Want]:
        """Queues, Workloads (the job's own where the job is known already), and an object of a custom kind by name."""
        namespace = self.ref.namespace
        own = self._own_workloads()
        wants = [own or Want("Workload", namespace, rows=NAMESPACE_ROWS), *self._queues()]
        if own is None and self.ref.kind in {"", "Workload", "PodGroup"} and not self._is_job():
            # in a crowded namespace it may not be among the first
            wants.append(Want("Workload", namespace, self.ref.name))
        known = kinds.BY_NAME.get(self.ref.kind)
        if known is not None and known.namespaced and known.kind != "Workload":
            wants.append(Want(known.kind, namespace, self.ref.name))
        return wants

    def _is_job(self) -> bool:
        """Whether a Job or pod of the asked name was read."""
        key = (self.ref.namespace, self.ref.name)
        return any(key in self.objects.get(kind, {}) for kind in ("Job", "Pod"))

    def _own_workloads(self) -> Want | None:
        """A Job's own Workloads by Kueue's label, its owner's too; None where the label may be missing.

        A namespace may hold thousands. It proves nothing: the whole namespace is read later if it is not too large.
        """
        facts = Facts(self._so_far(), self.ref)
        candidates = _try(lambda: facts.identity.candidates, ())
        if len(candidates) != 1 or candidates[0].kind != "Job" or not candidates[0].metadata.uid:
            return None
        meta = candidates[0].metadata
        if PREBUILT in meta.labels or PREBUILT in meta.annotations:
            return None
        uids = sorted({meta.uid, *(owner.uid for owner in meta.owner_references if owner.uid)})
        return Want("Workload", self.ref.namespace, labels=f"{JOB_UID_LABEL} in ({','.join(uids)})")

    def _namespace_workloads(self, snapshot: Snapshot, workload: o.Workload | None) -> list[Want]:
        """All Workloads of the namespace, unless too many wait or hold quota in it."""
        namespace = self.ref.namespace
        if Scope("Workload", namespace) in self.covered or self._cut("Workload", namespace):
            return []
        count = _in_namespace(snapshot, namespace)
        if workload is not None and count > PAGE:
            reason = f"{count:,} wait or hold quota there, only those of the job were read"
            self.gaps.append(Gap("Workload", reason, namespace))
            return []
        return [Want("Workload", namespace, rows=NAMESPACE_ROWS)]

    def _owners(self) -> list[Want]:
        """What the first round named but did not read: owners, and the Deployment of pods that look like the asked one."""
        facts = Facts(self._so_far(), self.ref)
        wants: list[Want] = []
        for item in _try(lambda: facts.identity.candidates, ()):
            wants += self._chain(facts.snapshot, item)
        group = _try(lambda: facts.identity.group, None)
        for pod in group.pods[:1] if group is not None else ():
            wants += self._chain(facts.snapshot, pod)
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

    def _third(self) -> tuple[list[Want], list[Want], list[Awaitable[None]]]:
        """Give (reads beyond the budget, reads in the order of their weight, other reads)."""
        facts = Facts(self._so_far(), self.ref)
        identity, snapshot, namespace = facts.identity, facts.snapshot, self.ref.namespace
        if snapshot.look("Namespace", namespace) is None and Scope("Namespace", name=namespace) in self.covered:
            self._nothing_in(namespace)
            return [], [Want("Namespace")], []
        root = _try(lambda: identity.root, None)
        target = _try(lambda: identity.target, None)
        workload = _try(lambda: identity.workload, None)
        phase = _try(lambda: identity.phase, None) or self._guess(root)
        exempt: list[Want] = []
        wants: list[Want] = []
        others: list[Awaitable[None]] = []
        if target is None and _try(lambda: identity.group, None) is None:
            exempt, wants, others = self._search(identity.orphans)
        for item in (target, root, *_try(lambda: identity.candidates, ())):
            if item is not None:
                wants += self._chain(snapshot, item)
        wants += self._namespace_workloads(snapshot, workload)
        wants += self._lost_among_many(snapshot, target, root, workload)
        queue = _Path.of(snapshot, namespace, root, workload)
        if phase == "unresolved":
            wants += [Want("Node", spare=True), *(replace(want, spare=True) for want in self._own_objects())]
            wants += [replace(want, spare=True) for want in (*self._webhooks(), Want("WorkloadPriorityClass"))]
        elif phase == "no-workload":
            wants += [*self._own_objects(), *self._classes(root, None), *self._webhooks()]
            wants.append(Want("LimitRange", namespace))
            others += self._visible(queue)
        elif phase in {"waiting", "reserved"}:
            wants += self._queueing(snapshot, queue, workload, phase)
            others += self._visible(queue) if phase == "waiting" else []
        elif phase == "unmanaged" and root is not None and suspended(root):
            wants += [*self._own_objects(), *self._webhooks()]
        elif phase in {"admitted", "unmanaged"}:
            if phase == "unmanaged":
                wants += [Want("ConfigMap", self.kueue_namespace, CONFIGURATION), *self._webhooks()]
            wants += self._running(facts, root, workload, queue)
        else:
            wants += [Want("Deployment", self.kueue_namespace)]
        return exempt, wants, others

    @staticmethod
    def _guess(root: o.KubeObject | None) -> str:
        """When the Workloads could not be read: a suspended job is taken to wait, any other to run."""
        if root is None:
            return "unresolved"
        return "waiting" if suspended(root) else "admitted"

    def _search(self, orphans: Sequence[o.Workload]) -> tuple[list[Want], list[Want], list[Awaitable[None]]]:
        """Nothing of that name yet: the kinds that Workloads name as owners of it, else every served job kind by name."""
        namespace, name = self.ref.namespace, self.ref.name
        if self.ref.kind and self.ref.kind != "PodGroup":
            return [], [], []
        owners = [owner for workload in orphans for owner in workload.metadata.owner_references if owner.name == name]
        if owners:
            known = [Want(owner.kind, namespace, name) for owner in owners if owner.kind in kinds.BY_NAME]
            foreign = [
                self._read_foreign(owner.api_version, owner.kind, namespace, name)
                for owner in owners
                if owner.kind not in kinds.BY_NAME
            ]
            return [], known, list(foreign[:1])
        searched = [kind.kind for kind in kinds.JOB_KINDS] if not self.ref.kind else []
        found = [Want(kind, namespace, name) for kind in (*searched, "Workload", "Pod")]
        if not searched:
            return found, [], []
        # pods of a Deployment belong to ReplicaSets; Jobs of that name elsewhere are offered
        beside = [
            Want("ReplicaSet", namespace, rows=NAMESPACE_ROWS, spare=True),
            Want("Job", fields=f"metadata.name={name}", spare=True),
        ]
        return found, beside, []

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
        if self._cut("Event", namespace):
            # a server looks through all events of the namespace for each; only pods' stories need them
            subjects = [*own, *([workload] if workload is not None else [])]
            admitted = workload is not None and is_true(workload.status.conditions, "Admitted")
            wants += [
                Want("Event", namespace, fields=f"involvedObject.uid={item.metadata.uid}", late=not admitted,
                     proves=(Scope("Event", namespace, selector=s.about(item.metadata.uid)),))
                for item in subjects
                if item.metadata.uid
            ]  # fmt: skip
        return wants

    def _cut(self, kind: str, namespace: str) -> bool:
        """Whether this list was answered, but not to its end."""
        return Scope(kind, namespace) not in self.covered and any(
            gap.kind == kind and gap.namespace == namespace and "row budget" in gap.reason for gap in self.gaps
        )

    def _queueing(self, snapshot: Snapshot, queue: "_Path", workload: o.Workload | None, phase: str) -> list[Want]:
        """For a Workload that waits: who holds, who waits, the cohort tree, checks, topology, Kueue itself, the nodes."""
        namespace = self.ref.namespace
        wants = self._holders(snapshot, queue) if phase == "waiting" else []
        if any(isinstance(item, o.ClusterQueue) and item.cohort for item in snapshot.seen("ClusterQueue")):
            wants.append(Want("Cohort"))
        wants += self._checks(queue, workload)
        if queue.has_topology(snapshot):
            wants += [Want("Topology"), Want("Node"), self._active_pods()]
        if any(spec.resource_claims for spec in _templates(None, workload)):
            wants += [Want("ResourceClaimTemplate", namespace), Want("DeviceClass", spare=True)]
        wants += [Want("LimitRange", namespace), Want("Deployment", self.kueue_namespace), Want("Node")]
        wants.append(Want("ConfigMap", self.kueue_namespace, CONFIGURATION))
        wants += [Want(kind, self.kueue_namespace, spare=True) for kind in ("Lease", "Pod", self._addresses)]
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
        wants = [Want("Workload", rows=NAMESPACE_ROWS)] if small else []
        wants.append(self._holders_of(snapshot, name))
        if not small:
            wants += self._waiting(snapshot, name)
            wants += [self._holders_of(snapshot, other) for other in _neighbours(snapshot, name)[:2]]
        return wants

    def _holders_of(self, snapshot: Snapshot, cluster_queue: str) -> Want:
        fed = [name for name in _fed_from(snapshot, cluster_queue) if _in_namespace(snapshot, name) <= NAMESPACE_ROWS]
        others = tuple(Want("Workload", namespace, rows=NAMESPACE_ROWS) for namespace in fed)
        return Want(
            "Workload", fields=f"{HOLDS_IN}={cluster_queue}", rows=ROWS,
            proves=(Scope("Workload", selector=s.holders(cluster_queue)),), instead=others[: OTHER_NAMESPACES + 1],
        )  # fmt: skip

    def _waiting(self, snapshot: Snapshot, cluster_queue: str) -> list[Want]:
        """The namespaces of the queue, where they are few and little waits there."""
        pending = {
            item.namespace: item.status.pending_workloads
            for item in snapshot.all_of(o.LocalQueue, read="seen")
            if item.spec.cluster_queue == cluster_queue
        }
        with_some = [namespace for namespace, count in sorted(pending.items()) if count]
        if len(with_some) > OTHER_NAMESPACES or sum(pending.values()) > NAMESPACE_ROWS:
            return []
        return [Want("Workload", namespace, rows=NAMESPACE_ROWS) for namespace in with_some]

    def _checks(self, queue: "_Path", workload: o.Workload | None) -> list[Want]:
        """Admission checks and what stands behind them."""
        reported = workload is not None and bool(workload.status.admission_checks)
        if not reported and not (queue.cluster_queue is not None and queue.cluster_queue.check_rules):
            return []
        wants = [Want("AdmissionCheck"), Want("ProvisioningRequestConfig"), Want("MultiKueueConfig")]
        if reported:
            wants += [
                Want("ProvisioningRequest", self.ref.namespace, rows=NAMESPACE_ROWS),
                Want("MultiKueueCluster"),
            ]
        return wants

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
        wants += [Want("Deployment", self.kueue_namespace)]
        if unscheduled:
            wants += [
                Want("DaemonSet", spare=True),
                Want("NodePool", spare=True),
                Want("NodeClaim", spare=True),
                *self._priority(specs),
            ]
            wants += [Want("ConfigMap", self.kueue_namespace, CONFIGURATION), Want("Lease", self.kueue_namespace)]
        if starting and not unscheduled:
            wants.append(Want("Node"))
        return wants

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
        return "EndpointSlice" if self.served.has("EndpointSlice") else "Endpoints"

    def _own_objects(self) -> list[Want]:
        """Kueue itself; a Role in its namespace grants them."""
        place = self.kueue_namespace
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

    def _visible(self, queue: "_Path") -> list[Awaitable[None]]:
        """Kueue's own order of those who wait in the ClusterQueue, or where that is forbidden in the LocalQueue."""
        version = self.served.visibility
        if not version:
            return []
        base = f"/apis/{VISIBILITY}/{version}"
        paths = []
        if queue.cluster_queue_name and is_name(queue.cluster_queue_name):
            paths.append(f"{base}/clusterqueues/{queue.cluster_queue_name}/pendingworkloads")
        if queue.name and is_name(queue.name) and queue.local_queue is not None:
            paths.append(f"{base}/namespaces/{self.ref.namespace}/localqueues/{queue.name}/pendingworkloads")
        waiting = queue.cluster_queue.status.pending_workloads if queue.cluster_queue is not None else 0
        if not paths:
            return []
        # Kueue sorts the whole line for every answer
        return [self._see(VISIBLE, *paths) if waiting <= VISIBLE else self._late(self._see(VISIBLE // 5, *paths))]

    def _late(self, read: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Mark a read as good to have: it is given up when it makes the question half as long again."""
        task = asyncio.ensure_future(read)
        self.late.add(task)
        return task

    # --- reading ---

    def _is_new(self, want: Want) -> bool:
        """Whether a read would tell anything: it was not asked yet, is not known already, and its kind is served."""
        place = want.place
        known = place is not None and (
            place in self.covered
            or (bool(place.name) and Scope(place.kind, place.namespace) in self.covered)
            or (bool(place.name) and (place.namespace, place.name) in self.objects.get(place.kind, {}))
            or Scope(place.kind) in self.covered
        )
        return want not in self.asked and not known and self.served.has(want.kind)

    def _reads(self, wants: Iterable[Want]) -> list[Awaitable[None]]:
        fresh = [want for want in dict.fromkeys(wants) if self._is_new(want)]
        self.asked |= set(fresh)
        self.spent += len(fresh)
        return [self._late(self._read(want)) if want.late else self._read(want) for want in fresh]

    async def _round(self, reads: Sequence[Awaitable[None]], number: int) -> None:
        """Start reads together and go on when all are done, or without the slow ones once their share of time is over."""
        if not reads:
            return
        tasks = {asyncio.ensure_future(read) for read in reads}
        self.running |= tasks
        last = number == len(_SOFT)
        soft = self.deadline if last else self.deadline * _SOFT[number]
        await self._wait((self.running - self.late) if last else tasks, soft - self._elapsed)
        if last and self.running:
            # what is good to have may make it half as long again, not more
            await self._wait(self.running, min(self._elapsed / 2, self.deadline - self._elapsed))
            if self._elapsed < self.deadline:
                self.over = "given up, it took too long beside everything else"

    @property
    def _elapsed(self) -> float:
        return asyncio.get_running_loop().time() - self.started

    async def _wait(self, tasks: Iterable[asyncio.Future[None]], seconds: float) -> None:
        wanted = set(tasks)
        if not wanted:
            return
        done, _ = await asyncio.wait(wanted, timeout=max(0.05, seconds))
        self.running -= done
        for task in done:
            task.result()

    async def _end(self) -> None:
        """Give up what has not come."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def _read(self, want: Want) -> None:
        try:
            await self._read_at(want, self.served)
        except ReadError as error:
            self._count(error)
            if error.status == 400 and want.fields:
                self.client.unsupported.add(want.fields.partition("=")[0])
                await asyncio.gather(*self._reads(want.instead))
                if not want.instead:
                    self._gap(want, "this server cannot select them by ClusterQueue, and the namespaces are too large")
                return
            if error.status == 404:
                await self._rediscover(want)
                return
            self._gap(want, error.reason)
            if error.status == 403 and not want.namespace and want.kind in {"LocalQueue", "Workload", "Pod"}:
                # a person's own identity often reads its namespace alone
                await asyncio.gather(*self._reads([Want(want.kind, self.ref.namespace, rows=NAMESPACE_ROWS)]))
        except asyncio.CancelledError:
            self._gap(want, self.over)
            raise

    async def _rediscover(self, want: Want) -> None:
        """A list that is not there: its version was switched off since discovery, or its kind is gone."""
        stale = self.served
        self.discovery.forget(stale)
        fresh = await self.discovery.get()
        known = kinds.BY_NAME[want.kind]
        if fresh.kinds is None or fresh.version(known) == stale.version(known):
            self._gap(want, "the API server does not find it (404)")
            return
        self.served = fresh
        if fresh.has(want.kind):
            try:
                await self._read_at(want, fresh)
            except ReadError as error:
                self._gap(want, error.reason)

    async def _read_at(self, want: Want, served: Served) -> None:
        known = kinds.BY_NAME[want.kind]
        version = served.version(known) or known.versions[0]
        if want.fields and want.instead and want.fields.partition("=")[0] in self.client.unsupported:
            await asyncio.gather(*self._reads(want.instead))
            return
        path = object_path(known.group, version, known.plural, want.namespace if known.namespaced else "", want.name)
        if want.name:
            decoded = await self.client.shared_get(path, known.kind, known.api_version(version))
            self.answered += 1
            if decoded is not None:
                self._keep(known.kind, [decoded.object])
                if decoded.odd:
                    self.odd[known.kind, decoded.object.namespace, decoded.object.name] = decoded.odd
            self.covered.add(Scope(known.kind, want.namespace, want.name))
            return
        query = tuple(
            (key, value) for key, value in (("labelSelector", want.labels), ("fieldSelector", want.fields)) if value
        )
        listing = await self.client.shared_list(
            path, known.kind, known.api_version(version), query, min(want.rows, self.rows)
        )
        self.answered += 1
        self._take(want, known.kind, listing)

    def _take(self, want: Want, kind: str, listing: Listing) -> None:
        self._keep(kind, listing.objects)
        for (namespace, name), paths in listing.odd.items():
            self.odd[kind, namespace, name] = paths
        if listing.reason:
            self._gap(want, listing.reason)
        elif want.proves:
            self.covered |= set(want.proves)
        elif want.place is not None:
            self.covered.add(want.place)

    async def _read_foreign(self, api_version: str, kind: str, namespace: str, name: str) -> None:
        """Read the owner of an external framework's Workload, of a kind that is known to discovery alone."""
        group, _, version = api_version.rpartition("/")
        plural = self.served.foreign.get((api_version, kind))
        if plural is None:
            self.gaps.append(Gap(kind, "not served", namespace, name))
            return
        try:
            decoded = await self.client.shared_get(
                object_path(group, version, plural, namespace, name), kind, api_version
            )
        except (ReadError, ValueError) as error:
            self.gaps.append(Gap(kind, getattr(error, "reason", "no such name"), namespace, name))
            return
        self.answered += 1
        self.covered.add(Scope(kind, namespace, name))
        if decoded is not None and isinstance(decoded.object, o.Job):
            self.foreign.append(decoded.object)

    async def _see(self, limit: int, path: str, *else_paths: str) -> None:
        """Ask the visibility API; a status is an answer too. The next path is asked where the first is forbidden."""
        try:
            answer = await self.client.shared_body(path, (("limit", str(limit)),), retry=False)
            data = msgspec.json.decode(answer.body)
        except ReadError as error:
            self._count(error)
            if error.status:
                self.visibility[path] = error.status
                if error.status == 403 and else_paths:
                    await self._see(limit, *else_paths)
            else:
                self.gaps.append(Gap("visibility API", error.reason))
            return
        except msgspec.DecodeError:
            self.gaps.append(Gap("visibility API", "its answer cannot be read"))
            return
        except asyncio.CancelledError:
            self.gaps.append(Gap("visibility API", self.over))
            raise
        self.answered += 1
        rows = bundle.pending(data) if isinstance(data, dict) else ()
        self.visibility[path] = rows
        if isinstance(rows, tuple) and len(rows) >= limit:
            self.gaps.append(Gap("visibility API", f"only the first {limit:,} rows were read"))

    async def _version(self) -> None:
        self.kubernetes = await self.discovery.kubernetes()

    async def _discover(self) -> None:
        self.served = await self.discovery.get()
        if self.served.reason:
            self.refused.add(self.served.reason)
            self.gaps.append(Gap("discovery", self.served.reason))
        else:
            self.answered += 1

    def _count(self, error: ReadError) -> None:
        """A refusal of one read is an answer of the server; no answer at all, or an unknown identity, is none."""
        if error.status in {0, 401}:
            self.refused.add(error.reason)
        else:
            self.answered += 1

    def _keep(self, kind: str, items: Iterable[o.KubeObject]) -> None:
        place = self.objects.setdefault(kind, {})
        for item in items:
            place[item.namespace, item.name] = item

    def _gap(self, want: Want, reason: str) -> None:
        self.gaps.append(Gap(want.kind, reason, want.namespace, want.name))

    def _nothing_in(self, namespace: str) -> None:
        """A namespace that does not exist holds nothing."""
        self.covered |= {Scope(kind.kind, namespace) for kind in kinds.KINDS if kind.namespaced}

    # --- the snapshot ---

    def _derive(self) -> None:
        """What several reads prove together: who waits in, and who holds in, a ClusterQueue whose namespaces were all read."""
        if Scope("LocalQueue") not in self.covered or Scope("Workload") in self.covered:
            return
        fed: dict[str, set[str]] = {}
        for item in self.objects.get("LocalQueue", {}).values():
            if isinstance(item, o.LocalQueue):
                fed.setdefault(item.spec.cluster_queue, set()).add(item.namespace)
        for name, namespaces in fed.items():
            if not all(Scope("Workload", namespace) in self.covered for namespace in namespaces):
                continue
            self.covered.add(Scope("Workload", selector=s.waiting(name)))
            queue = self.objects.get("ClusterQueue", {}).get(("", name))
            holding = sum(
                isinstance(item, o.Workload) and _holds(item, name)
                for item in self.objects.get("Workload", {}).values()
            )
            # Workloads may hold on although their LocalQueue is gone: the queue's own count must not say more
            if isinstance(queue, o.ClusterQueue) and holding >= queue.status.reserving_workloads:
                self.covered.add(Scope("Workload", selector=s.holders(name)))

    def _so_far(self) -> Snapshot:
        return Snapshot(
            observed_at=self.client.now(),
            objects={kind: tuple(items.values()) for kind, items in self.objects.items() if items},
            covered=frozenset(self.covered),
            gaps=tuple(dict.fromkeys(self.gaps)),
            odd=dict(self.odd),
            served=self.served.kinds,
            foreign=tuple(self.foreign),
            visibility=dict(self.visibility),
            versions=Versions(
                kueue=kueue_version(self.objects.get("Deployment", {}).values(), self.kueue_namespace),
                kubernetes=self.kubernetes,
                api=self.served.versions.get("Workload"),
            ),
            cluster=self.client.cluster.name,
            kueue_namespace=self.kueue_namespace,
        )


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


def kueue_version(deployments: Iterable[o.KubeObject], namespace: str) -> str | None:
    """Give Kueue's version from the image tag of its Deployment, None when it is not told there."""
    for item in deployments:
        if not isinstance(item, o.Job) or item.namespace != namespace or "kueue" not in item.name:
            continue
        for image in each(item.spec, "template.spec.containers[].image"):
            tag = image.partition("@")[0].rpartition("/")[2].rpartition(":")[2] if isinstance(image, str) else ""
            if tag.startswith("v") and tag[1:2].isdigit() and "kueue" in str(image):
                return tag
    return None


def _try(compute: Callable[[], T], otherwise: D) -> T | D:
    """Plan with what is known; a fact that is unknown, or breaks, only makes the plan coarser."""
    try:
        return compute()
    except Unknown:
        return otherwise
    except Exception:  # noqa: BLE001 - the engine will report the broken fact; the reads must go on
        return otherwise


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
    """Other ClusterQueues of the same cohort in which something holds quota, fullest first."""
    own = snapshot.look_of(o.ClusterQueue, cluster_queue)
    if own is None or not own.cohort:
        return []
    others = [
        item
        for item in snapshot.all_of(o.ClusterQueue, read="seen")
        if item.cohort == own.cohort and item.name != own.name and item.status.reserving_workloads
    ]
    return [item.name for item in sorted(others, key=lambda item: (-item.status.reserving_workloads, item.name))]


def _holds(workload: o.Workload, cluster_queue: str) -> bool:
    admission = workload.status.admission
    return (
        admission is not None
        and admission.cluster_queue == cluster_queue
        and is_true(workload.status.conditions, "QuotaReserved")
        and not is_true(workload.status.conditions, "Finished")
    )


def _pods(facts: Facts, root: o.KubeObject | None) -> list[o.Pod]:
    """The pods of the asked job that were read, down its tree."""
    group = _try(lambda: facts.identity.group, None)
    found = list(group.pods) if group is not None else []
    level: list[o.KubeObject] = [root] if root is not None else []
    for _ in range(4):
        found += [item for item in level if isinstance(item, o.Pod) and item not in found]
        level = list(itertools.chain.from_iterable(facts.identity.children(item) for item in level))
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
