"""From a question to a Snapshot: at most three rounds of concurrent reads, at most twenty requests, one deadline.

What is read is decided in `plan`, round by round. Every read ends as a `Scope` (read in full) or as a `Gap` (why not);
nothing is ever taken for absent because nobody looked.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from bot.core import bundle, kinds
from bot.core import objects as o
from bot.core import snapshot as s
from bot.core.facts import Facts
from bot.core.facts.order import pending
from bot.core.objects import is_true
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, PendingItem, Scope, Snapshot, Versions
from bot.core.untyped import each
from bot.kube.client import NOT_ACCEPTED, Client, Listing, ReadError, is_name, object_path
from bot.kube.discovery import NOTHING_KNOWN, VISIBILITY, Discovery, Served
from bot.kube.plan import NAMESPACE_ROWS, QUEUES, ROWS, Plan, Reads, See, Want, first, queues

T = TypeVar("T")
D = TypeVar("D")

REQUESTS = 20
"""Requests per question; only the search for a bare name that no Workload carries may cost one more per served kind."""
_SOFT = (0.4, 0.7)
"""The share of the deadline after which the next round starts without those who have not answered yet."""

_ESSENTIAL = ("Namespace", "Workload", "LocalQueue", "ClusterQueue", "Pod", "Job")


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
        self.kept_local_queues: Listing | None = None
        """The LocalQueues of a wide cluster, when they were read not long ago: who feeds what hardly changes."""
        self.older: dict[str, datetime] = {}
        self.tuples: dict[str, tuple[o.KubeObject, ...]] = {}
        """The objects by kind as they stand in snapshots, until more of the kind are read."""
        self.merged: tuple[tuple[set[str], int], tuple[o.KubeObject, ...]] | None = None
        """The LocalQueues that were kept with those that were read, and of which namespaces and how many these were."""
        self.last: Snapshot | None = None
        self.kubernetes: str | None = None
        self.asked: set[Want] = set()
        self.spent = 0
        self.answered = 0
        self.refused: set[str] = set()
        """Reasons of reads to which no answer came."""
        self.running: set[asyncio.Future[None]] = set()
        self.late: set[asyncio.Future[None]] = set()
        self.aside: set[asyncio.Future[None]] = set()
        """Reads on which no plan of the second round depends."""
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
        try:
            return await self.client.turns.take(self._whole, self._size)
        finally:
            # a read that failed keeps its error, which knows this question until the garbage collector looks
            vars(self).clear()

    def _whole(self) -> Snapshot:
        self._derive()
        return self._so_far()

    async def _planned(self, make: Callable[[Plan], T]) -> T:
        """Work out something from a plan of what is known so far."""
        snapshot = self._so_far()  # reads go on meanwhile

        def work() -> T:
            with Facts(snapshot, self.ref) as facts:
                return make(Plan(facts))

        return await self.client.turns.take(work, self._size)

    @property
    def _size(self) -> int:
        return sum(map(len, self.objects.values()))

    async def _rounds(self) -> None:
        if not (is_name(self.ref.namespace) and is_name(self.ref.name)):
            self._cannot_exist()
            return
        known = self.discovery.known
        if known is not None:
            self.served = known
            self._recall()
            # what is longest first
            wants = [*queues(self.ref.namespace, kept=self.kept_local_queues is not None), *first(self.ref)]
            await self._round(self._reads(wants), 0)
        else:
            self.spent += 1
            await self._round([self._discover(), *self._reads(first(self.ref))], 0)
            self._recall()
        if self._nobody_answers():
            return
        await self._round(await self._second(), 1)
        if self._nobody_answers():
            return
        plan = await self._last_plan()
        self.covered |= plan.proven
        self.gaps += plan.gaps
        others: list[Awaitable[None]] = [self._version()]
        if plan.foreign is not None:
            others.append(self._read_foreign(plan.foreign))
        if plan.see is not None and self.served.visibility:
            others.append(self._late(self._see(plan.see)) if plan.see.late else self._see(plan.see))
        allowed = max(0, REQUESTS - self.spent - len(others))
        wants = [want for want in dict.fromkeys(plan.wants) if not (want.kept and self._take_kept(want))]
        fresh = [want for want in wants if self._is_new(want)]
        for want in fresh[allowed:]:
            if not want.spare:
                self._gap(want, f"request budget of {REQUESTS} reached")
        self.spent += len(others)
        await self._round([*self._reads([*plan.search, *fresh[:allowed]]), *others], 2)

    async def _last_plan(self) -> Reads:
        """Plan the last round; only what is not about waiting depends on events, which may come late."""
        late = bool(self.aside & self.running)

        def third(plan: Plan) -> Reads | None:
            return None if late and not plan.waits else plan.third()

        reads = await self._planned(third)
        if reads is None:
            await self._wait(self.aside & self.running, self.deadline * _SOFT[1] - self._elapsed)
            reads = await self._planned(lambda plan: plan.third())
        return reads

    async def _second(self) -> list[Awaitable[None]]:
        wants, searched = await self._planned(lambda plan: ([*plan.second(), *plan.owners()], plan.search()))
        reads = self._reads(wants)
        spent = self.spent
        search = self._reads(searched)
        self.spent = spent
        return [*reads, *search]

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

    def _aside(self, read: Coroutine[Any, Any, None]) -> Awaitable[None]:
        task = asyncio.ensure_future(read)
        self.aside.add(task)
        return task

    def _late(self, read: Coroutine[Any, Any, None]) -> Awaitable[None]:
        """Mark a read as good to have: it is given up when it makes the question a quarter longer."""
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
        return [self._aside(self._read(want)) if want.kind == "Event" else self._read(want) for want in fresh]

    async def _round(self, reads: Sequence[Awaitable[None]], number: int) -> None:
        """Start reads together and go on when all are done, or without the slow ones once their share of time is over."""
        if not reads:
            return
        tasks = {asyncio.ensure_future(read) for read in reads}
        self.running |= tasks
        last = number == len(_SOFT)
        soft = self.deadline if last else self.deadline * _SOFT[number]
        await self._wait((self.running - self.late) if last else tasks - self.aside, soft - self._elapsed)
        if last and self.running:
            # what is good to have may make it a quarter longer, not more
            await self._wait(self.running, min(self._elapsed / 4, self.deadline - self._elapsed))
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

    def _path(self, kind: str, served: Served) -> str:
        known = kinds.BY_NAME[kind]
        return object_path(known.group, served.version(known) or known.versions[0], known.plural)

    def _recall(self) -> None:
        """Take the LocalQueues that are kept; they are read again beside the question when they are old."""
        kept = self._kept(QUEUES[0])
        if kept is not None:
            self.kept_local_queues = kept

    def _take_kept(self, want: Want) -> bool:
        """Take a list that is kept, if one is, instead of reading it."""
        kept = self._kept(want) if self._is_new(want) else None
        if kept is None:
            return False
        self.asked.add(want)
        self._take(want, want.kind, kept)
        return True

    def _kept(self, want: Want) -> Listing | None:
        """Give the list that is kept of a kind, and note how old it is."""
        path = self._path(want.kind, self.served)
        kept = self.client.recall(path)
        if kept is None or kept.listing.at is None:
            return None
        known = kinds.BY_NAME[want.kind]
        version = known.api_version(self.served.version(known) or known.versions[0])
        self.client.renew(path, want.kind, version, min(want.rows, self.rows), want.page)
        self.older[want.kind] = kept.listing.at
        return kept.listing

    async def _read(self, want: Want) -> None:
        served = self.served
        try:
            await self._read_at(want, served)
        except ReadError as error:
            self._count(error)
            if error.status == 400 and want.fields:
                self.client.unsupported.add(want.fields.partition("=")[0])
                await asyncio.gather(*self._reads(want.instead))
                if not want.instead:
                    self._gap(want, "this server cannot select them by ClusterQueue, and the namespaces are too large")
                return
            if error.status == 404:
                await self._rediscover(want, served)
                return
            self._gap(want, error.reason)
            if error.status == 403 and not want.namespace and want.kind in {"LocalQueue", "Workload", "Pod"}:
                # a person's own identity often reads its namespace alone
                await asyncio.gather(*self._reads([Want(want.kind, self.ref.namespace, rows=NAMESPACE_ROWS)]))
        except asyncio.CancelledError:
            self._gap(want, self.over)
            raise

    async def _rediscover(self, want: Want, stale: Served) -> None:
        """A list that is not there: its version was switched off since discovery, or its kind is gone."""
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
            path, known.kind, known.api_version(version), query, min(want.rows, self.rows), want.page
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

    async def _read_foreign(self, owner: o.OwnerReference) -> None:
        """Read the owner of an external framework's Workload, of a kind that is known to discovery alone."""
        kind, namespace, name = owner.kind, self.ref.namespace, owner.name
        group, _, version = owner.api_version.rpartition("/")
        plural = self.served.foreign.get((owner.api_version, kind))
        if plural is None:
            self.gaps.append(Gap(kind, "not served", namespace, name))
            return
        try:
            path = object_path(group, version, plural, namespace, name)
            decoded = await self.client.shared_get(path, kind, owner.api_version)
        except (ReadError, ValueError) as error:
            self.gaps.append(Gap(kind, getattr(error, "reason", "no such name"), namespace, name))
            return
        self.answered += 1
        self.covered.add(Scope(kind, namespace, name))
        if decoded is not None and isinstance(decoded.object, o.Job):
            self.foreign.append(decoded.object)

    async def _see(self, see: See) -> None:
        """Ask the visibility API; a status is an answer too."""
        path, limit = f"/apis/{VISIBILITY}/{self.served.visibility}/{see.paths[0]}", see.limit
        try:
            answer = await self.client.shared_body(path, (("limit", str(limit)),), retry=False)
            data = msgspec.json.decode(answer.body)
        except ReadError as error:
            self._count(error)
            if error.status:
                self.visibility[path] = error.status
                if error.status == 403 and len(see.paths) > 1:
                    await self._see(replace(see, paths=see.paths[1:]))
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
        self.tuples.pop(kind, None)
        if kind == "LocalQueue":
            self.merged = None

    def _gap(self, want: Want, reason: str) -> None:
        self.gaps.append(Gap(want.kind, reason, want.namespace, want.name))

    # --- the snapshot ---

    def _derive(self) -> None:
        """What several reads prove together: who waits in, and who holds in, a ClusterQueue whose namespaces were all read."""
        everywhere = Scope("LocalQueue") in self.covered
        if everywhere and Scope("Workload") in self.covered:
            return  # that says all of it
        if not everywhere and self.kept_local_queues is None:
            return
        local_queues = [item for item in self._so_far().seen("LocalQueue") if isinstance(item, o.LocalQueue)]
        known = {place for place in self._so_far().places("LocalQueue") if self._all_of_workloads(place)}
        may_be = {item.spec.cluster_queue for item in local_queues if item.metadata.namespace in known}
        fed: dict[str, set[str]] = {}
        leads: dict[tuple[str, str], str] = {}
        for item in local_queues:
            if item.spec.cluster_queue in may_be:
                fed.setdefault(item.spec.cluster_queue, set()).add(item.namespace)
                if item.spec.stop_policy in {"", "None"}:  # Kueue counts nobody who waits in one that is stopped
                    leads[item.namespace, item.name] = item.spec.cluster_queue
        read = {name for name, places in fed.items() if all(map(self._all_of_workloads, places))}
        holding, standing = self._counted(leads, read)
        for name in sorted(read):
            queue = self.objects.get("ClusterQueue", {}).get(("", name))
            if not everywhere and not self._as_counted(queue, standing[name], fed[name]):
                continue
            self.covered.add(Scope("Workload", selector=s.waiting(name)))
            # Workloads may hold on although their LocalQueue is gone: the queue's own count must not say more
            if isinstance(queue, o.ClusterQueue) and holding[name] >= queue.status.reserving_workloads:
                self.covered.add(Scope("Workload", selector=s.holders(name)))

    def _all_of_workloads(self, namespace: str) -> bool:
        return not self.covered.isdisjoint({Scope("Workload"), Scope("Workload", namespace)})

    def _counted(self, leads: dict[tuple[str, str], str], queues: set[str]) -> tuple[Counter[str], Counter[str]]:
        """How many of the Workloads that were read hold quota in, and wait for, each of these ClusterQueues.

        As Kueue counts them, or fewer: one too many that waits could stand for one that was not found.
        """
        holding, standing = Counter[str](), Counter[str]()
        for item in self.objects.get("Workload", {}).values() if queues else ():
            if not isinstance(item, o.Workload):
                continue
            inside = item.status.admission.cluster_queue if item.status.admission is not None else ""
            if inside in queues and _holds(item, inside):
                holding[inside] += 1
            waits = leads.get((item.namespace, item.spec.queue_name), "")
            if waits in queues and pending(item):
                standing[waits] += 1
        return holding, standing

    def _as_counted(self, queue: o.KubeObject | None, standing: int, namespaces: set[str]) -> bool:
        """Whether LocalQueues that were kept tell all who wait: all that lead here were read again, and Kueue counts no more.

        Where Kueue counts more, a LocalQueue is newer than the list that was kept: it is not used again.
        """
        if not isinstance(queue, o.ClusterQueue) or not all(
            Scope("LocalQueue", namespace) in self.covered for namespace in namespaces
        ):
            return False
        counted = queue.status.pending_workloads
        if standing >= counted:
            return True
        reason = f"ClusterQueue {queue.name} counts {counted:,} that wait, {standing:,} were found"
        self.gaps.append(Gap("LocalQueue", reason))
        self.client.forget(self._path("LocalQueue", self.served))
        return False

    def _local_queues(self) -> tuple[o.KubeObject, ...]:
        """The LocalQueues that were read, and those that were kept of the namespaces in which none were read."""
        read = self.objects.get("LocalQueue", {})
        if self.kept_local_queues is None or Scope("LocalQueue") in self.covered:
            return self.tuples.get("LocalQueue", ())
        anew = {scope.namespace for scope in self.covered if scope.kind == "LocalQueue"} | {self.ref.namespace}
        if self.merged is None or self.merged[0] != (anew, len(read)):
            old = (item for item in self.kept_local_queues.objects if item.metadata.namespace not in anew)
            self.merged = (anew, len(read)), (*read.values(), *old)
        return self.merged[1]

    def _older(self) -> dict[str, datetime]:
        """What is in the snapshot and was read before this question."""
        anew = {"LocalQueue"} if Scope("LocalQueue") in self.covered else set()
        return {kind: at for kind, at in self.older.items() if kind not in anew}

    def _so_far(self) -> Snapshot:
        for kind, items in self.objects.items():
            if items and kind not in self.tuples:
                self.tuples[kind] = tuple(items.values())
        local_queues = self._local_queues()
        snapshot = Snapshot(
            observed_at=self.client.now(),
            objects=self.tuples | ({"LocalQueue": local_queues} if local_queues else {}),
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
            older=self._older(),
            cluster=self.client.cluster.name,
            kueue_namespace=self.kueue_namespace,
        )
        if self.last is not None:
            snapshot.follow(self.last)
        self.last = snapshot
        return snapshot


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


def _holds(workload: o.Workload, cluster_queue: str) -> bool:
    admission = workload.status.admission
    return (
        admission is not None
        and admission.cluster_queue == cluster_queue
        and is_true(workload.status.conditions, "QuotaReserved")
        and not is_true(workload.status.conditions, "Finished")
    )
