"""All Workloads of a cluster, of some namespaces or of some queues, page by page, and what stands around them.

Of queues that are named, only the namespaces that lead into them are walked, and who holds quota in their cohort is asked
for by ClusterQueue, where the server can select so. Each page is decoded, made small and dropped before the next one is
asked for; finished Workloads are not kept. What could not be read is a gap of the snapshot, what was read in full a scope,
as in `reader`.
"""

import asyncio
import contextlib
import fnmatch
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bot.core import kinds
from bot.core import objects as o
from bot.core import snapshot as s
from bot.core.compact import Pool
from bot.core.digest import ESSENTIAL
from bot.core.objects import condition
from bot.core.quotas import root_of
from bot.core.snapshot import Gap, Scope, Snapshot, Versions
from bot.core.workloads import phase_of
from bot.kube.client import PAGE, Client, Page, ReadError, is_name, object_path
from bot.kube.discovery import NOTHING_KNOWN, Served
from bot.kube.permissions import CONFIGURATION
from bot.kube.plan import HOLDS_IN
from bot.kube.reader import Reader, kueue_version

AROUND = (
    "Namespace", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "AdmissionCheck",
    "ProvisioningRequestConfig", "MultiKueueConfig", "MultiKueueCluster", "ProvisioningRequest", "WorkloadPriorityClass",
    "PriorityClass", "RuntimeClass", "LimitRange", "Node",
)  # fmt: skip
"""What the rules about waiting Workloads look at beside the Workloads; there is little of each."""
AT_ONCE = 4
"""Lists that are walked at once, where the cluster cannot, or need not, be walked as a whole."""
FEEDING = 100
"""Where more namespaces lead into the queues that are asked for, the whole cluster is walked instead."""
RELATED = 20
"""ClusterQueues of the same cohort whose holders are asked for one by one; of more, their own status counts."""
LONGEST, LONGEST_IN_ALL = 5, 40
"""Workloads that hold quota longest, per ClusterQueue and in all, whose jobs are looked up where others wait."""
ROWS_AROUND = 20_000
SHRINK_AT_ONCE = 100
"""Workloads that are made small before other work gets a turn."""


@dataclass
class Walk:
    """One walk: what was found so far. `progress` hears how many Workloads were read, and of how many (None: unknown)."""

    reader: Reader
    namespaces: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    progress: Callable[[int, int | None], None] = lambda _done, _total: None
    objects: dict[str, list[o.KubeObject]] = field(default_factory=dict)
    covered: set[Scope] = field(default_factory=set)
    gaps: list[Gap] = field(default_factory=list)
    odd: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    pool: Pool = field(default_factory=Pool)
    pods: list[o.Pod] = field(default_factory=list)
    """Pods without a node, as signs of what to look at; they are not all of anything."""
    pages: int = 0
    read: int = 0
    served: Served = NOTHING_KNOWN
    places: tuple[str, ...] | None = None
    """The namespaces that were to be walked; None: the whole cluster, or nobody knows which."""

    @property
    def client(self) -> Client:
        """The connection."""
        return self.reader.client

    async def snapshot(self) -> Snapshot:
        """Read everything. Never raises; what went wrong is a gap."""
        served = await self.reader.discovery.get()
        if served.reason:
            self.gaps.append(Gap("discovery", served.reason))
        self.served = served
        place = self.client.cluster.kueue_namespace
        await asyncio.gather(*(self._around(kind) for kind in AROUND if served.has(kind)))
        version, *_ = await asyncio.gather(
            self.reader.discovery.kubernetes(), self._one("ConfigMap", place, CONFIGURATION),
            *(self._around(kind, place) for kind in ("Deployment", "Lease")),
        )  # fmt: skip
        await self._workloads()
        await asyncio.gather(self._pods(), self._jobs())
        return Snapshot(
            observed_at=self.client.now(),
            objects={kind: tuple(items) for kind, items in self.objects.items() if items},
            covered=frozenset(self.covered),
            gaps=tuple(dict.fromkeys(self.gaps)),
            odd=dict(self.odd),
            served=served.kinds,
            versions=Versions(
                kueue=kueue_version(self.objects.get("Deployment", ()), place), kubernetes=version,
                api=served.versions.get("Workload"),
            ),
            cluster=self.client.cluster.name,
            kueue_namespace=place,
        )  # fmt: skip

    def _place(self, kind: str, namespace: str = "", name: str = "") -> tuple[kinds.Kind, str, str]:
        known = kinds.BY_NAME[kind]
        version = self.served.version(known) or known.versions[0]
        return known, object_path(known.group, version, known.plural, namespace, name), known.api_version(version)

    async def _around(self, kind: str, namespace: str = "") -> None:
        known, path, version = self._place(kind, namespace)
        try:
            listing = await self.client.list(path, kind, version, rows=ROWS_AROUND)
        except ReadError as error:
            if error.status == 403 and known.namespaced and not namespace and self._exact:
                # a person's own identity often reads its namespaces alone
                await asyncio.gather(*(self._around(kind, name) for name in self._exact))
                return
            self.gaps.append(Gap(kind, error.reason, namespace))
            return
        self._keep(kind, listing.objects, listing.odd)
        if listing.reason:
            self.gaps.append(Gap(kind, listing.reason, namespace))
        else:
            self.covered.add(Scope(kind, namespace))

    async def _one(self, kind: str, namespace: str, name: str) -> None:
        _, path, version = self._place(kind, namespace, name)
        try:
            found = await self.client.get(path, kind, version)
        except ReadError as error:
            self.gaps.append(Gap(kind, error.reason, namespace, name))
            return
        if found is not None:
            self._keep(kind, [found.object], {(namespace, name): found.odd} if found.odd else {})
        self.covered.add(Scope(kind, namespace, name))

    def _keep(self, kind: str, items: Iterable[o.KubeObject], odd: Mapping[tuple[str, str], tuple[str, ...]]) -> None:
        self.objects.setdefault(kind, []).extend(items)
        self.odd |= {(kind, *key): paths for key, paths in odd.items()}

    # --- Workloads ---

    @property
    def _exact(self) -> tuple[str, ...]:
        """The namespaces that were asked for by name; () when any was asked for by a pattern."""
        return () if any(set(name) & set("*?[") for name in self.namespaces) else self.namespaces

    async def _workloads(self) -> None:
        if not self.served.has("Workload"):
            self.gaps.append(Gap("Workload", "this server does not serve Kueue's Workloads"))
            return
        if self._feeding is not None:
            await self._each(self._feeding)
            await self._holders()
            self._derive()
            return
        if self._exact:
            await self._each(self._exact)
            return
        refused = await self._walk("")
        if refused is not None and refused.status == 403:
            # not everywhere: then in each namespace that is wanted and known
            known = [item.name for item in self.objects.get("Namespace", ())]
            wanted = self.namespaces or ("*",)
            chosen = [name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)]
            if chosen:
                await self._each(chosen)
                return
        if refused is not None:
            self.gaps.append(Gap("Workload", refused.reason))

    async def _each(self, namespaces: Iterable[str]) -> None:
        named = self._exact or self._feeding is not None
        self.places = tuple(namespaces) if named or Scope("Namespace") in self.covered else None
        turn = asyncio.Semaphore(AT_ONCE)

        async def walk(namespace: str) -> None:
            async with turn:
                refused = await self._walk(namespace)
                if refused is not None:
                    self.gaps.append(Gap("Workload", refused.reason, namespace))

        await asyncio.gather(*(walk(namespace) for namespace in namespaces))

    # --- of some queues alone ---

    @property
    def _named(self) -> frozenset[str]:
        """The ClusterQueues that were asked for by name; empty when any was asked for by a pattern."""
        return frozenset() if any(set(name) & set("*?[") for name in self.queues) else frozenset(self.queues)

    @cached_property
    def _feeding(self) -> tuple[str, ...] | None:
        """The namespaces that lead into the queues that were asked for by name; None where not known, or not few."""
        if not self._named or Scope("LocalQueue") not in self.covered or self._exact:
            return None
        local = [item for item in self.objects.get("LocalQueue", ()) if isinstance(item, o.LocalQueue)]
        found = {item.namespace for item in local if item.spec.cluster_queue in self._named}
        wanted = self.namespaces or ("*",)
        chosen = sorted(name for name in found if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted))
        return tuple(chosen) if len(chosen) <= FEEDING else None

    def _cohort_of(self, names: Collection[str]) -> list[str]:
        """The ClusterQueues that share a tree with these, these first."""
        above = {item.name: item.parent for item in self.objects.get("Cohort", ()) if isinstance(item, o.Cohort)}

        def root(name: str) -> str:
            with contextlib.suppress(s.Unknown):
                return root_of(name, above) or name
            return name

        queues = [item for item in self.objects.get("ClusterQueue", ()) if isinstance(item, o.ClusterQueue)]
        roots = {root(item.cohort) for item in queues if item.name in names and item.cohort}
        related = {item.name for item in queues if item.cohort and root(item.cohort) in roots}
        return [*sorted(names), *sorted(related - set(names))]

    async def _holders(self) -> None:
        """Read who holds quota in the queues and their cohort, wherever they are; a server may not be able to select so."""
        turn = asyncio.Semaphore(AT_ONCE)
        _, path, version = self._place("Workload")
        there = {(item.namespace, item.name) for item in self.objects.get("Workload", ())}

        async def ask(queue: str) -> None:
            async with turn:
                if HOLDS_IN in self.client.unsupported or not is_name(queue):
                    return
                query = (("fieldSelector", f"{HOLDS_IN}={queue}"),)
                try:
                    listing = await self.client.list(path, "Workload", version, query, rows=ROWS_AROUND)
                except ReadError as error:
                    if error.status == 400:
                        self.client.unsupported.add(HOLDS_IN)
                    elif queue in self._named:
                        self.gaps.append(Gap("Workload", f"those with quota of {queue}: {error.reason}"))
                    return
            found = [
                self.pool.shrink(item)
                for item in listing.objects
                if isinstance(item, o.Workload)
                and phase_of(item) != "finished"
                and (item.namespace, item.name) not in there
                and Scope("Workload", item.namespace) not in self.covered
            ]
            self.objects.setdefault("Workload", []).extend(found)
            self.odd |= {("Workload", *key): paths for key, paths in listing.odd.items()}
            if listing.reason:
                self.gaps.append(Gap("Workload", f"those with quota of {queue}: {listing.reason}"))
            else:
                self.covered.add(Scope("Workload", selector=s.holders(queue)))

        await asyncio.gather(*(ask(queue) for queue in self._cohort_of(self._named)[: len(self._named) + RELATED]))

    def _derive(self) -> None:
        """Note what the namespaces prove together: who waits in the queues, and who holds, unless a queue counts more."""
        if self.namespaces or not all(Scope("Workload", place) in self.covered for place in self.places or ()):
            return
        holding = Counter(
            item.status.admission.cluster_queue
            for item in self.objects.get("Workload", ())
            if isinstance(item, o.Workload) and item.status.admission is not None
        )
        queues = {item.name: item for item in self.objects.get("ClusterQueue", ()) if isinstance(item, o.ClusterQueue)}
        for name in self._named:
            self.covered.add(Scope("Workload", selector=s.waiting(name)))
            if name in queues and holding[name] >= queues[name].status.reserving_workloads:
                self.covered.add(Scope("Workload", selector=s.holders(name)))

    async def _walk(self, namespace: str) -> ReadError | None:
        """Walk one list; give what refused it before anything was read, or note what broke it off half-way."""
        _, path, version = self._place("Workload", namespace)
        found: list[o.KubeObject] = []
        broken: list[str] = []
        began = self.read
        whole = False
        try:
            async for page in self.client.pages(path, "Workload", version, size=PAGE):
                if page is None:  # it expired half-way and starts over
                    found.clear()
                    broken.clear()
                    self.read = began
                    continue
                await self._take(page, found)
                broken += page.broken
                more = page.meta.remaining_item_count
                self.progress(self.read, self.read + more if more is not None else None)
                del page
            whole = True
        except ReadError as error:
            if not found and self.read == began:
                return error
            self.gaps.append(Gap("Workload", f"{error.reason}; {self.read - began:,} were read before that", namespace))
        self.objects.setdefault("Workload", []).extend(found)
        if broken:
            self.gaps.append(Gap("Workload", f"{len(broken)} cannot be read: {broken[0]}", namespace))
        elif whole:
            self.covered.add(Scope("Workload", namespace))
        return None

    async def _take(self, page: Page, found: list[o.KubeObject]) -> None:
        self.pages += 1
        self.read += len(page.objects)
        self.odd |= {("Workload", *key): paths for key, paths in page.odd.items()}
        for at in range(0, len(page.objects), SHRINK_AT_ONCE):
            await asyncio.sleep(0)
            found += [
                self.pool.shrink(item)
                for item in page.objects[at : at + SHRINK_AT_ONCE]
                if isinstance(item, o.Workload) and phase_of(item) != "finished"
            ]

    # --- jobs of those who hold quota ---

    async def _jobs(self) -> None:
        """Read the jobs of those who hold quota longest where others wait; where one is gone, the pods that may be left."""
        turn = asyncio.Semaphore(AT_ONCE)
        refused: set[str] = set()
        emptied: set[str] = set()

        async def read(workload: o.Workload, owner: o.OwnerReference) -> None:
            async with turn:
                if owner.kind in refused:
                    return
                _, path, version = self._place(owner.kind, workload.namespace, owner.name)
                try:
                    found = await self.client.get(path, owner.kind, version)
                except ReadError as error:
                    if owner.kind not in refused:
                        self.gaps.append(Gap(owner.kind, error.reason))
                    refused.add(owner.kind)
                    return
            self.covered.add(Scope(owner.kind, workload.namespace, owner.name))
            job = found.object if found is not None else None
            if job is not None:
                self._keep(owner.kind, [job], {})
            if (
                job is None
                or job.metadata.uid != owner.uid
                or (isinstance(job, o.Job) and job.spec.get("replicas") == 0)
            ):
                emptied.add(workload.namespace)

        longest = await asyncio.to_thread(self._held_longest)  # over all Workloads: the event loop goes on meanwhile
        await asyncio.gather(*(read(*held) for held in longest))
        await asyncio.gather(*(self._around("Pod", namespace) for namespace in sorted(emptied)))

    def _held_longest(self) -> list[tuple[o.Workload, o.OwnerReference]]:
        """Of the queues in which most wait, those who hold quota longest, each with its job."""
        leads = {
            (item.namespace, item.name): item.spec.cluster_queue
            for item in self.objects.get("LocalQueue", ())
            if isinstance(item, o.LocalQueue)
        }
        waiting: Counter[str] = Counter()
        holding: dict[str, list[tuple[o.Workload, o.OwnerReference]]] = {}
        for item in self.objects.get("Workload", ()):
            if not isinstance(item, o.Workload):
                continue
            if item.status.admission is None:
                waiting[leads.get((item.namespace, item.spec.queue_name), "")] += 1
                continue
            owner = next((ref for ref in item.metadata.owner_references if ref.controller), None)
            if owner is not None and self._is_known(owner) and is_name(owner.name):
                holding.setdefault(item.status.admission.cluster_queue, []).append((item, owner))
        queues = [name for name, _ in waiting.most_common() if name in holding]
        longest = [held for name in queues for held in heapq.nsmallest(LONGEST, holding[name], key=_held_since)]
        return longest[:LONGEST_IN_ALL]

    def _is_known(self, owner: o.OwnerReference) -> bool:
        known = kinds.BY_NAME.get(owner.kind)
        return known is not None and owner.api_version.rpartition("/")[0] == known.group and self.served.has(owner.kind)

    # --- pods that wait for a node ---

    async def _pods(self) -> None:
        """Read the pods that have no node; they prove nothing by themselves, and are only signs of what to look at."""
        for namespace in self._feeding if self._feeding is not None else self._exact or ("",):
            _, path, version = self._place("Pod", namespace)
            query = (("fieldSelector", "status.phase=Pending,spec.nodeName="),)
            try:
                listing = await self.client.list(path, "Pod", version, query, rows=ROWS_AROUND)
            except ReadError as error:
                self.gaps.append(Gap("Pod", error.reason, namespace))
                continue
            self.pods += [_small(pod) for pod in listing.objects if isinstance(pod, o.Pod)]
            if listing.reason:
                self.gaps.append(Gap("Pod", listing.reason, namespace))


def _held_since(held: tuple[o.Workload, o.OwnerReference]) -> tuple[float, str]:
    workload = held[0]
    found = condition(workload.status.conditions, "QuotaReserved")
    at = found.last_transition_time if found is not None else None
    return (at.timestamp() if at is not None else 0.0, workload.metadata.uid)


def _small(pod: o.Pod) -> o.Pod:
    """Keep of a waiting pod whose it is and since when it waits."""
    meta = pod.metadata
    marks = {key: value for key, value in meta.annotations.items() if key == "kueue.x-k8s.io/workload"}
    kept = o.Meta(
        name=meta.name, namespace=meta.namespace, uid=meta.uid, annotations=marks, owner_references=meta.owner_references,
        creation_timestamp=meta.creation_timestamp,
    )  # fmt: skip
    return o.Pod(pod.api_version, pod.kind, kept, o.PodSpec(), o.PodStatus(phase="Pending"))


def told(gaps: Iterable[Gap]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give what is missing in words: what makes a digest incomplete, and what only makes some causes harder to tell."""
    essential: list[str] = []
    rest: list[str] = []
    for gap in gaps:
        (essential if gap.kind in ESSENTIAL or gap.kind == "discovery" else rest).append(gap.text)
    return tuple(dict.fromkeys(essential)), tuple(dict.fromkeys(rest))
