"""Which object was meant, which Workload decides for it, and how far it is.

Look-up order of a Workload (Kueue `pkg/controller/jobframework`): label job-uid, owner reference, prebuilt name, pod
group name, then the topmost managed owner's. Names are never guessed, and an object of the same name with another UID is
another object.
"""

import re
from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.diagnosis import JobId
from bot.core.facts.lazy import fact
from bot.core.jobs import EPOCH, POD_LEVEL, SERVING, created, is_over, job_finished, kind_of, same_kind, suspended
from bot.core.marks import ALLOWED_FLAVORS, JOB_UID_LABEL, MULTIKUEUE, PREFIX, group_name, prebuilt_name, queue_name
from bot.core.names import named
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.reference import JobRef
from bot.core.rule import Phase
from bot.core.snapshot import Gap, Unknown, owned
from bot.core.untyped import dig, each
from bot.core.workloads import (
    advance,
    deciding,
    is_replaced,
    is_variant,
    migrates,
    of_a_group,
    owner_of,
    phase_of,
    side_by_side,
)

if TYPE_CHECKING:
    from bot.core.diagnosis import Diagnosis
    from bot.core.facts import Facts

_DEPTH = 10  # Kueue stops climbing owners at this depth
_CORE = ("Job", "Pod", "Workload", "Deployment", "StatefulSet", "CronJob")
"""The kinds without which it is never said that there is no such job."""
_TAKEN = re.compile(r"(?:admitted|reservation) on \"([^\"]+)\"")
_OWN_CONTROLLERS = {
    "kubernetes.io/job-controller", "jobset.sigs.k8s.io/jobset-controller", "ray.io/kuberay-operator",
    "kubeflow.org/training-operator", "kubeflow.org/mpi-operator", "trainer.kubeflow.org/trainjob-controller",
    "workload.codeflare.dev/appwrapper-controller",
}  # fmt: skip
_CREATES = {
    "JobSet": ("Job",), "RayJob": ("RayCluster", "Job"), "RayService": ("RayCluster",), "TrainJob": ("JobSet",),
    "MPIJob": ("Job",),
}  # fmt: skip
"""The kinds of job that a kind's operator creates."""
_ENDED_BY_KUEUE = {"OutOfSync", "FailedToStart", "OwnerNotFound", "AdmissionChecksRejected"}
REFUSED = re.compile(r"forbidden|denied|unauthori[sz]ed|\b40[13]\b", re.IGNORECASE)
"""What the reason of a gap says when a read was refused."""
_HELD_STAGES = {"workload", "queue", "quota", "checks", "pods"}


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A pod group that was asked about by its name, or by the name of one of its pods."""

    name: str
    namespace: str
    pods: tuple[o.Pod, ...]


@dataclass(frozen=True, slots=True)
class Meant:
    """One thing that carries the asked name: an object, a pod group, or a job of which only its Workloads were read."""

    api_version: str
    kind: str
    item: o.KubeObject | None = None
    group: PodGroup | None = None
    workloads: tuple[o.Workload, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """How a Workload ended whose job never ran."""

    workload: o.Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Remote:
    """The worker cluster that has the job, and where it says so."""

    workload: o.Workload
    cluster: str
    check: str
    message: str
    field: str


@dataclass(frozen=True, slots=True)
class Absence:
    """What is known of a job that does not exist. `unread` names the kinds that were not read."""

    events: tuple[o.Event, ...]
    leftovers: tuple[o.Workload, ...]
    suggestions: tuple[str, ...]
    """Names in the asked namespace as they are; in others marked."""
    queues: tuple[str, ...]
    unread: tuple[str, ...]
    owner: str = ""
    """The kind of an object of that name that Kueue does not integrate, known by what it owns; those are suggested."""


class Identity:
    """The answers about identity; `target` None means that no single object of that name was found."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    # --- the object that was meant ---

    @fact
    def candidates(self) -> tuple[o.KubeObject, ...]:
        """Every object of that name and kind that was read, in the order of the kinds. Not proven complete."""
        snapshot, ref = self._snapshot, self._ref
        known = [*(kind.kind for kind in kinds.JOB_KINDS), "Pod", "Workload"]
        found = [
            item
            for kind in known
            if ref.kind in {"", kind} and (item := snapshot.look(kind, ref.name, ref.namespace)) is not None
        ]
        foreign = [
            item
            for item in snapshot.foreign
            if (item.namespace, item.name) == (ref.namespace, ref.name)
            and same_kind(ref.kind, item.kind, item.api_version)
        ]
        return (*found, *sorted(foreign, key=lambda item: (item.kind, item.api_version)))

    @fact
    def _groups(self) -> dict[str, tuple[o.Pod, ...]]:
        """The pods of the asked namespace that were read, by the name of their group."""
        by_name: dict[str, list[o.Pod]] = {}
        for pod in self._snapshot.all_of(o.Pod, read="seen", namespace=self._ref.namespace):
            name = group_name(pod)
            if name:
                by_name.setdefault(name, []).append(pod)
        return {name: tuple(sorted(pods, key=lambda pod: pod.name)) for name, pods in by_name.items()}

    @fact
    def meant(self) -> tuple[Meant, ...]:
        """The distinct things of that name: what belongs to another of them is left out."""
        things = [Meant(item.api_version, item.kind or kind_of(item), item) for item in self.candidates]
        pods = self._groups.get(self._ref.name, ())
        if pods and same_kind(self._ref.kind, "PodGroup", "v1"):
            things = self._with_group(things, pods)
        owners = [self._owner_reference(item) for item in self.candidates]
        known = {thing.kind for thing in things} | {
            owner.kind for owner in owners if owner and owner.name == self._ref.name
        }
        things += [thing for thing in self._by_reference if thing.kind not in known]
        if self._ref.kind:
            return tuple(things[:1])
        items = [thing.item for thing in things if thing.item is not None]
        return tuple(thing for thing in things if thing.item is None or not self._belongs(thing.item, items))

    def _with_group(self, things: list[Meant], pods: tuple[o.Pod, ...]) -> list[Meant]:
        """Add the pod group of that name. The group that a StatefulSet or LeaderWorkerSet makes of its pods is theirs."""
        serving = [owner for pod in pods for owner in self.owners(pod) if kind_of(owner) in SERVING]
        if serving:
            return things or [Meant(serving[-1].api_version, kind_of(serving[-1]), serving[-1])]
        if any(thing.item in self.owners(pod) for pod in pods for thing in things if thing.item is not None):
            return things
        group = PodGroup(self._ref.name, self._ref.namespace, pods)
        others = [thing for thing in things if not isinstance(thing.item, o.Workload) and thing.item not in pods]
        return [*others, Meant("v1", "PodGroup", group=group)]

    @fact
    def _by_reference(self) -> tuple[Meant, ...]:
        """Jobs of that name that were not read but whose Workloads name them as owner; not those proven to be gone."""
        found: dict[tuple[str, str], list[o.Workload]] = {}
        for workload, owner in self._owned_by_name:
            if same_kind(self._ref.kind, owner.kind, owner.api_version):
                known = kinds.of_object(owner.api_version, owner.kind)
                if known is None or not self._snapshot.covers(known.kind, self._ref.namespace, owner.name):
                    found.setdefault((owner.kind, owner.api_version), []).append(workload)
        return tuple(
            Meant(api_version, kind, workloads=tuple(workloads))
            for (kind, api_version), workloads in sorted(found.items())
        )

    @property
    def _owned_by_name(self) -> list[tuple[o.Workload, o.OwnerReference]]:
        """The Workloads of the asked namespace that were read and have an owner of the asked name, with that owner."""
        namespace, name = self._ref.namespace, self._ref.name
        if name not in self._snapshot.once(("names of workloads' owners", namespace), self._owner_names):
            return []
        workloads = self._snapshot.all_of(o.Workload, read="seen", namespace=namespace)
        return [(w, owner) for w in workloads for owner in w.metadata.owner_references if owner.name == name]

    def _owner_names(self) -> frozenset[str]:
        workloads = self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace)
        return frozenset(owner.name for workload in workloads for owner in workload.metadata.owner_references)

    @fact
    def leftovers(self) -> tuple[o.Workload, ...]:
        """Workloads whose owner had the asked name and is proven to be gone."""
        here = {id(workload) for thing in self.meant for workload in thing.workloads}
        return tuple(
            workload
            for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace)
            if id(workload) not in here
            and any(
                owner.name == self._ref.name and same_kind(self._ref.kind, owner.kind, owner.api_version)
                for owner in workload.metadata.owner_references
            )
        )

    def _belongs(self, item: o.KubeObject, items: list[o.KubeObject]) -> bool:
        """Say whether an object is owned, directly or not, by another of the same name, or is its Workload."""
        others = [other for other in items if other is not item]
        if any(owner is other for owner in self.owners(item) for other in others):
            return True
        return isinstance(item, o.Workload) and any(
            item in self._direct(other) for other in others if not isinstance(other, o.Workload)
        )

    @fact
    def answers(self) -> "tuple[tuple[Meant, Diagnosis | None], ...]":
        """Of several things with the asked name: each with its own answer on the same snapshot (None without an engine)."""
        if len(self.meant) < 2:
            return ()
        ask = self._facts.answer_for
        ref = self._ref
        return tuple(
            (thing, ask(JobRef(ref.namespace, ref.name, thing.kind, ref.cluster)) if ask else None)
            for thing in self.meant
        )

    @fact
    def ambiguous(self) -> "tuple[tuple[Meant, Diagnosis | None], ...]":
        """The things of that name that wait, with their answers, when there is more than one; else nothing."""
        waiting = tuple((thing, answer) for thing, answer in self.answers if self._thing_waits(thing, answer))
        return waiting if len(waiting) > 1 else ()

    def _thing_waits(self, thing: Meant, answer: "Diagnosis | None") -> bool:
        if answer is not None and answer.stage in _HELD_STAGES and answer.headline.rule != "scaled-to-zero":
            return answer.outlook not in {"running", "finished", "unknown"}
        if thing.item is not None:
            return self.is_waiting(thing.item)
        workloads = thing.workloads
        if thing.group is not None:
            workloads = self._of_group(thing.group)
            if not workloads:
                return any(suspended(pod) for pod in thing.group.pods)
        return any(phase_of(workload) in {"waiting", "reserved"} for workload in workloads)

    @fact
    def chosen(self) -> Meant | None:
        """What was meant: the only thing of that name, or of several the one that waits; None when several wait."""
        if self.ambiguous or not self.meant:
            return None
        if len(self.meant) == 1:
            return self.meant[0]
        waiting = [thing for thing, answer in self.answers if self._thing_waits(thing, answer)]
        unfinished = [thing for thing in self.meant if thing.item is None or job_finished(thing.item) is None]
        return (waiting or unfinished or list(self.meant))[0]

    @fact
    def target(self) -> o.KubeObject | None:
        """The one object that was meant; None for a pod group, for a job that was not read, and when it is not clear."""
        return self.chosen.item if self.chosen is not None else None

    @fact
    def group(self) -> PodGroup | None:
        """The pod group that was asked about by its name or by one of its pods; not the one that a StatefulSet makes."""
        chosen = self.chosen
        if chosen is not None and chosen.group is not None:
            return chosen.group
        if isinstance(self.target, o.Pod) and self.root is self.target:
            name = group_name(self.target)
            if name:
                return PodGroup(name, self.target.namespace, self._groups.get(name, (self.target,)))
        return None

    @fact
    def orphans(self) -> tuple[o.Workload, ...]:
        """The Workloads of the asked job when the job itself was not read."""
        return self.chosen.workloads if self.chosen is not None else ()

    @fact
    def job(self) -> JobId | None:
        """The job that was meant, by its object or by what its Workloads or pods say of it; None when it was not found.

        For a Workload it is the job that owns it, when one does.
        """
        chosen, namespace = self.chosen, self._ref.namespace
        if chosen is None:
            return None
        item = chosen.item
        if isinstance(item, o.Workload):
            owner = owner_of(item)
            if self.root is not None and self.root is not item:
                item = self.root
            elif owner is not None and owner.kind != "Workload":
                return JobId(owner.api_version, owner.kind, namespace, owner.name)
        if item is not None:
            return JobId(item.api_version, item.kind or kind_of(item), item.namespace, item.name)
        return JobId(chosen.api_version, chosen.kind, namespace, self._ref.name)

    # --- when it is not there ---

    @fact
    def absence(self) -> Absence | None:
        """What is known of a job that does not exist; None when something of that name was found.

        Proven by the core kinds and, where the server was asked what it serves, by every kind that it serves. Without that
        the other kinds that were not read are named. Raises Unknown when a kind that is needed for the proof was not read.
        """
        snapshot, ref = self._snapshot, self._ref
        if self.meant or (snapshot.covers("Namespace", "", ref.namespace) and not self._namespace_is_there()):
            return None
        known = kinds.BY_NAME.get(ref.kind)
        owned_here = self._owned_by_foreign
        if owned_here and known is None:
            names_here = tuple(item.name for _, item in owned_here)
            events = self._events_of_the_missing()
            return Absence(events, (), names_here, self._queue_names(), (), owned_here[0][0])
        if ref.kind and known is None and ref.kind != "PodGroup":
            raise Unknown(snapshot.why_not(ref.kind, ref.namespace, ref.name))
        wanted = [known] if known else [*kinds.JOB_KINDS, kinds.BY_NAME["Pod"], kinds.BY_NAME["Workload"]]
        wanted = [kind for kind in wanted if ref.kind != "PodGroup" or kind.kind in {"Pod", "Workload"}]
        unread = []
        for kind in wanted:
            if snapshot.covers(kind.kind, ref.namespace, ref.name) or self._not_installed(kind):
                continue
            if kind.kind in _CORE or known or snapshot.served is not None:
                raise Unknown(snapshot.why_not(kind.kind, ref.namespace, ref.name))
            unread.append(kind.plural)
        reasons = (f"{', '.join(unread)} in {ref.namespace}: not read",) if unread else ()
        return Absence(self._events_of_the_missing(), self.leftovers, self._suggestions(), self._queue_names(), reasons)

    @property
    def _owned_by_foreign(self) -> list[tuple[str, o.KubeObject]]:
        """What an object of the asked name owns that is of no kind known here, with that kind; what is held comes first."""
        ref = self._ref
        found = [
            (owner.kind, item)
            for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"])
            for item in self._snapshot.seen(kind.kind, ref.namespace)
            for owner in item.metadata.owner_references
            if owner.name == ref.name
            and kinds.of_object(owner.api_version, owner.kind) is None
            and same_kind(ref.kind, owner.kind, owner.api_version)
        ]
        return sorted(found, key=lambda entry: (not suspended(entry[1]), kind_of(entry[1]), entry[1].name))

    def _namespace_is_there(self) -> bool:
        return self._snapshot.look("Namespace", self._ref.namespace) is not None or any(
            item.namespace == self._ref.namespace for items in self._snapshot.objects.values() for item in items
        )

    def _not_installed(self, kind: kinds.Kind) -> bool:
        """Say whether the CustomResourceDefinitions were read in full and have none of this kind."""
        return (
            bool(kind.group.count("."))
            and self._snapshot.covers("CustomResourceDefinition")
            and self._snapshot.look("CustomResourceDefinition", kind.crd) is None
        )

    def _events_of_the_missing(self) -> tuple[o.Event, ...]:
        """Events about an object of the asked name, warnings first, newest first."""
        ref = self._ref
        found = [
            event
            for event in self._snapshot.all_of(o.Event, read="seen")
            if event.involved_object.name == ref.name
            and (event.involved_object.namespace or event.namespace) == ref.namespace
            and same_kind(ref.kind, event.involved_object.kind, event.involved_object.api_version)
        ]
        found.sort(key=lambda event: (event.last_seen or EPOCH, event.name), reverse=True)
        return tuple(sorted(found, key=lambda event: event.type != "Warning"))

    def _suggestions(self) -> tuple[str, ...]:
        """Close names in the namespace, the name as another kind, and the namespaces that have exactly this name."""
        ref, snapshot = self._ref, self._snapshot
        jobs = [item for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]) for item in snapshot.seen(kind.kind)]
        tops = [
            item for item in [*jobs, *snapshot.foreign] if not any(r.controller for r in item.metadata.owner_references)
        ]
        here = {item.name for item in tops if item.namespace == ref.namespace} | set(self._groups)
        other_kinds = sorted(
            {kind_of(item) for item in jobs if (item.namespace, item.name) == (ref.namespace, ref.name)}
            if ref.kind
            else set()
        )
        elsewhere = sorted(
            {
                (item.namespace, kind_of(item))
                for item in tops
                if item.name == ref.name
                and item.namespace != ref.namespace
                and same_kind(ref.kind, kind_of(item), item.api_version)
            }
        )
        return (
            *(f"{ref.namespace}/{kind.lower()}/{ref.name}" for kind in other_kinds),
            *closest(ref.name, here),
            *(named(kind, ref.name, namespace) for namespace, kind in elsewhere[:3]),
        )

    def _queue_names(self) -> tuple[str, ...]:
        queues = self._snapshot.seen("LocalQueue", self._ref.namespace)
        return tuple(sorted(item.name for item in queues))

    @fact
    def refused(self) -> tuple[Gap, ...]:
        """The refusals (403, 401) because of which nothing can be said: of the job's kinds, or of Workloads."""
        needed = ["Workload"] if self.meant else [*_CORE, *(kind.kind for kind in kinds.JOB_KINDS)]
        if self._ref.kind in kinds.BY_NAME and not self.meant:
            needed = [self._ref.kind]
        try:
            if not self.meant:
                if self.absence is not None:
                    return ()
            else:
                _ = self.phase
                return ()
        except Unknown:
            gaps = [
                gap
                for gap in self._snapshot.gaps
                if gap.kind in needed and gap.namespace in {"", self._ref.namespace} and REFUSED.search(gap.reason)
            ]
            return tuple(sorted(set(gaps), key=lambda gap: (needed.index(gap.kind), gap.namespace, gap.name)))
        return ()

    def is_waiting(self, item: o.KubeObject) -> bool:
        """Say whether this object has a Workload that is neither finished nor admitted, or is suspended without one."""
        workloads = self.workloads_of(item)
        if workloads:
            return any(phase_of(workload) in {"waiting", "reserved"} for workload in workloads)
        return bool(suspended(item)) and job_finished(item) is None and kind_of(item) != "CronJob"

    # --- its owners and its Workloads ---

    @fact
    def _by_owner(self) -> dict[str, list[o.KubeObject]]:
        """The objects of the asked namespace that were read, by the UID of each owner."""
        return self._snapshot.once(("objects by owner", self._ref.namespace), self._index_objects)

    def _index_objects(self) -> dict[str, list[o.KubeObject]]:
        index: dict[str, list[o.KubeObject]] = {}
        for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]):
            for child in self._snapshot.seen(kind.kind, self._ref.namespace):
                for reference in child.metadata.owner_references:
                    if reference.uid:
                        index.setdefault(reference.uid, []).append(child)
        return index

    @fact
    def _workload_index(self) -> dict[str, list[o.Workload]]:
        """The Workloads of the asked namespace that were read, by the UID of their job and of each owner."""
        return self._snapshot.once(("workloads by job", self._ref.namespace), self._index_workloads)

    def _index_workloads(self) -> dict[str, list[o.Workload]]:
        index: dict[str, list[o.Workload]] = {}
        for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace):
            uids = {owner.uid for owner in workload.metadata.owner_references}
            uids.add(workload.metadata.labels.get(JOB_UID_LABEL, ""))
            for uid in uids - {""}:
                index.setdefault(uid, []).append(workload)
        return index

    @fact
    def _workloads_by_owner(self) -> dict[tuple[str, str], list[tuple[o.Workload, str]]]:
        """The Workloads of the asked namespace that were read, by kind and name of each owner, with the UID that they give it."""
        return self._snapshot.once(("workloads by owner", self._ref.namespace), self._index_by_owner)

    def _index_by_owner(self) -> dict[tuple[str, str], list[tuple[o.Workload, str]]]:
        index: dict[tuple[str, str], list[tuple[o.Workload, str]]] = {}
        for workload in self._snapshot.all_of(o.Workload, read="seen", namespace=self._ref.namespace):
            for owner in workload.metadata.owner_references:
                index.setdefault((owner.kind, owner.name), []).append((workload, owner.uid))
        return index

    def owners(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The chain of controlling owners that were read, nearest first, at most ten."""
        chain: list[o.KubeObject] = []
        current = item
        while len(chain) < _DEPTH:
            reference = self._owner_reference(current)
            owner = self._resolve(reference, current.namespace) if reference is not None else None
            if owner is None or owner is item or any(owner is known for known in chain):
                break
            chain.append(owner)
            current = owner
        return tuple(chain)

    def _owner_reference(self, item: o.KubeObject) -> o.OwnerReference | None:
        """The reference to the owner that controls an object; for a Workload of several owners the one that is no pod."""
        references = item.metadata.owner_references
        controlling = next((ref for ref in references if ref.controller), None)
        if controlling is None and isinstance(item, o.Workload):
            above = [ref for ref in references if ref.kind != "Pod"]
            controlling = (above or references or (None,))[0]
        return controlling

    def _resolve(self, reference: o.OwnerReference, namespace: str) -> o.KubeObject | None:
        """The owner that a reference names, if it was read: an object of the same name with another UID is not it."""
        owner = self._snapshot.by_uid(reference.uid) if reference.uid else None
        if owner is None:
            same_name = self._snapshot.look(reference.kind, reference.name, namespace)
            if same_name is not None and not (same_name.metadata.uid and reference.uid):
                owner = same_name
        return owner

    @fact
    def unread_owner(self) -> o.OwnerReference | None:
        """The owner of a job kind at which the climb ended because it was not read; None when the chain is complete."""
        if self.target is None:
            return None
        last = (self.target, *self.owners(self.target))[-1]
        reference = self._owner_reference(last)
        if reference is None or len(self.owners(self.target)) >= _DEPTH or isinstance(last, o.Workload):
            return None
        kind = kinds.of_object(reference.api_version, reference.kind)
        if kind is None or (kind.job is None and kind.kind != "Pod") or kind.kind in {"CronJob", *POD_LEVEL}:
            return None
        gone = self._snapshot.covers(kind.kind, last.namespace, reference.name)
        return None if gone or self._resolve(reference, last.namespace) is not None else reference

    @fact
    def root(self) -> o.KubeObject | None:
        """The object that decides for the target: the one that Kueue manages, or whose suspension the target follows.

        The job that owns an asked Workload; of a CronJob's Jobs the one that matters; the topmost owner with a queue name
        or with the target's Workload; for a job that Kueue does not manage, the topmost job above it. Else the target.
        """
        target = self.target
        if target is None:
            return None
        owners = self.owners(target)
        if isinstance(target, o.Workload):
            jobs = [owner for owner in owners if not isinstance(owner, o.Workload)]
            serving = [owner for owner in jobs if kind_of(owner) in SERVING]
            return (serving[-1:] or jobs[:1] or [target])[0]
        if kind_of(target) == "CronJob":
            return self._run_of(target)
        own = self._direct(target)
        if own:
            sharing = [
                owner
                for owner in owners
                if kind_of(owner) not in POD_LEVEL and any(workload in own for workload in self._shared(owner))
            ]
            return sharing[-1] if sharing else target
        chosen = self.chosen_cluster
        if chosen is not None:
            owners = (*owners, chosen, *self.owners(chosen))
        above = [owner for owner in owners if kind_of(owner) not in {"CronJob", "Workload"}]
        managing = [owner for owner in above if queue_name(owner) is not None or self._direct(owner)]
        if isinstance(target, o.Pod):
            return managing[-1] if managing and kind_of(managing[-1]) not in POD_LEVEL else target
        jobs = [owner for owner in above if isinstance(owner, o.Job) and kind_of(owner) in kinds.BY_NAME]
        return (managing or jobs or [target])[-1]

    @fact
    def cluster_selector(self) -> dict[str, str]:
        """The labels by which an unfinished RayJob chooses a RayCluster that exists already; {} for anything else.

        Kueue makes no Workload of such a RayJob: the RayCluster's counts (Kueue `pkg/controller/jobs/rayjob`).
        """
        target = self.target
        if not isinstance(target, o.Job) or kind_of(target) != "RayJob" or job_finished(target) is not None:
            return {}
        selector = target.spec.get("clusterSelector")
        return {str(key): str(value) for key, value in selector.items()} if isinstance(selector, dict) else {}

    @fact
    def chosen_cluster(self) -> o.KubeObject | None:
        """The RayCluster that the asked RayJob chooses, None when it chooses none or that one was not seen."""
        name = self.cluster_selector.get("ray.io/cluster", "")
        return self._snapshot.look("RayCluster", name, self._ref.namespace) if name else None

    def _shared(self, owner: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that an owner has itself; those of its pods where it makes one pod group of them."""
        return self.workloads_of(owner) if kind_of(owner) in SERVING else self._direct(owner)

    def _run_of(self, cron: o.KubeObject) -> o.KubeObject:
        """The Job of a CronJob that the question is about: the newest that waits, else the newest unfinished, else the newest.

        It is the CronJob itself when it has none, or when a later one could not be created.
        """
        runs = sorted(self.children(cron), key=lambda run: (created(run), run.name))
        waiting = [run for run in runs if self.is_waiting(run)]
        unfinished = [run for run in runs if job_finished(run) is None]
        best = (waiting or unfinished or runs or [cron])[-1]
        if best is cron or waiting or unfinished:
            return best
        failed = [
            event for event in self.events(cron) if event.reason.startswith("Failed") and event.last_seen is not None
        ]
        return cron if failed and failed[-1].last_seen and failed[-1].last_seen > created(best) else best

    @fact
    def parent(self) -> o.KubeObject | None:
        """The ancestor that decides instead of the asked object, None when it decides for itself."""
        target, root = self.target, self.root
        if (
            target is None
            or root is None
            or root is target
            or isinstance(target, o.Workload)
            or kind_of(target) == "CronJob"
        ):
            return None
        return root

    def workloads_of(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that were read of an object: its own with their variants, else those of what it owns."""
        if isinstance(item, o.Workload):
            return self._with_variants((item,))
        found = self._direct(item)
        if not found:
            below: list[o.Workload] = []
            for child in self.descendants(item):
                below += [workload for workload in self._direct(child) if workload not in below]
            found = tuple(below)
        return self._with_variants(found)

    def _with_variants(self, workloads: tuple[o.Workload, ...]) -> tuple[o.Workload, ...]:
        """Add the variants that concurrent admission makes of a Workload: the Workload owns them."""
        variants = [
            variant
            for workload in workloads
            for variant in self._workload_index.get(workload.metadata.uid, ())
            if workload.metadata.uid and variant not in workloads
        ]
        return (*workloads, *variants)

    def _direct(self, item: o.KubeObject) -> tuple[o.Workload, ...]:
        """The Workloads that name an object as their job: by UID, as owner, as its pod group, or as its prebuilt Workload."""
        uid = item.metadata.uid
        found = list(self._workload_index.get(uid, ())) if uid else []
        for workload, owner_uid in self._workloads_by_owner.get((kind_of(item), item.name), ()):
            if not (uid and owner_uid) and workload not in found:
                found.append(workload)
        for name in (group_name(item) if isinstance(item, o.Pod) else "", prebuilt_name(item)):
            named_so = self._snapshot.look_of(o.Workload, name, item.namespace) if name else None
            if named_so is None or named_so in found:
                continue
            if self._may_own(item, named_so, is_group=name == group_name(item)):
                found.append(named_so)
        return tuple(found)

    def _may_own(self, item: o.KubeObject, workload: o.Workload, *, is_group: bool) -> bool:
        """Say whether a Workload found by name can be this object's: a prebuilt one must not be another job's."""
        owners = workload.metadata.owner_references
        if is_group:
            return all(owner.kind in {"Pod", *SERVING} for owner in owners)
        job_uid = workload.metadata.labels.get(JOB_UID_LABEL, "")
        return not owners and job_uid in {"", item.metadata.uid}

    def children(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The objects that were read and that this one owns."""
        uid = item.metadata.uid
        if not uid or item.namespace != self._ref.namespace:
            return ()
        return tuple(self._by_owner.get(uid, ()))

    def descendants(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """What an object owns, directly or not, nearest first."""
        found: list[o.KubeObject] = []
        known = {id(item)}
        level = [item]
        for _ in range(_DEPTH):
            level = [child for parent in level for child in self.children(parent) if id(child) not in known]
            if not level:
                break
            found += level
            known |= {id(child) for child in level}
        return tuple(found)

    @fact
    def family(self) -> tuple[o.KubeObject, ...]:
        """The target, what decides for it, their owners, what they own, their Workloads: whose events concern the question."""
        group = self.group
        start = [item for item in (self.target, self.root) if item is not None] + list(group.pods if group else ())
        found: list[o.KubeObject] = []
        for item in start:
            found += [item, *self.owners(item), *self.descendants(item)]
        unique = {id(item): item for item in [*found, *self.workloads]}
        return tuple(unique.values())

    def events(self, *items: o.KubeObject) -> tuple[o.Event, ...]:
        """The events that were read about objects, oldest first; not those about an earlier object of the same name."""
        uids = {item.metadata.uid for item in items} - {""}
        named = {(kind_of(item), item.namespace, item.name): item.metadata.uid for item in items}
        found = []
        for event in self._snapshot.all_of(o.Event, read="seen"):
            about = event.involved_object
            uid = named.get((about.kind, about.namespace or event.namespace, about.name))
            if about.uid in uids or (uid is not None and not (about.uid and uid)):
                found.append(event)
        return tuple(
            sorted(found, key=lambda event: (event.last_seen is not None, event.last_seen or EPOCH, event.name))
        )

    def _of_group(self, group: PodGroup) -> tuple[o.Workload, ...]:
        by_name = self._snapshot.look_of(o.Workload, group.name, group.namespace)
        found = [by_name] if by_name is not None and self._may_own(group.pods[0], by_name, is_group=True) else []
        for pod in group.pods:
            found += [workload for workload in self._direct(pod) if workload not in found]
        return self._with_variants(tuple(found))

    @fact
    def workloads(self) -> tuple[o.Workload, ...]:
        """All Workloads of the asked job that were read, oldest first."""
        found: tuple[o.Workload, ...] = self._with_variants(self.orphans)
        if isinstance(self.target, o.Workload):
            found = self.workloads_of(self.target)
        elif self.root is not None:
            own = self._direct(self.target) if isinstance(self.target, o.Pod) else ()
            found = self._with_variants(own) or self.workloads_of(self.root)
            if not found and self.unread_owner is not None:
                found = tuple(self._workload_index.get(self.unread_owner.uid, ()))
        elif self.group is not None:
            found = self._of_group(self.group)
        return tuple(sorted(found, key=lambda workload: (created(workload), workload.name)))

    @fact
    def workload(self) -> o.Workload | None:
        """The Workload that decides: one that waits, before one that holds quota, is admitted, or is finished.

        Of several of one job (slices) the newest; of several that stand in line side by side (the pods of a Deployment, the
        groups of a LeaderWorkerSet) the first in line. Of a Workload with variants, the variant that got furthest. None when
        it is proven that there is none. Raises Unknown when Workloads could not be read, or when it is not clear which job
        was meant.
        """
        if self.ambiguous:
            reason = "several objects have that name"
            raise Unknown(reason)
        workloads = self.workloads
        if not workloads:
            self._prove_absence()
            return None
        if isinstance(self.target, o.Workload) and is_variant(self.target):
            workloads = self._with_siblings(self.target)
        variants = [workload for workload in workloads if is_variant(workload)]
        own = [workload for workload in workloads if workload not in variants]
        migrating = next((workload for workload in variants if migrates(workload)), None)
        if migrating is not None:
            return migrating
        if variants and not any(phase_of(workload) in {"admitted", "finished"} for workload in own):
            return max(variants, key=self._lead)
        workloads = tuple(own) or workloads
        among = deciding(workloads)
        return among[0] if side_by_side(among) else among[-1]

    @fact
    def beside(self) -> int:
        """How many Workloads of the asked job stand in line beside the deciding one, as far as it is. Raises as `workload`."""
        workload = self.workload
        among = deciding(self.workloads) if workload is not None and not is_variant(workload) else []
        return len(among) - 1 if workload in among and side_by_side(among) else 0

    def _with_siblings(self, variant: o.Workload) -> tuple[o.Workload, ...]:
        """A variant that was asked about; with the sibling or the parent that is admitted, when there is one: that decides."""
        parents = {ref.uid for ref in variant.metadata.owner_references if ref.kind == "Workload" and ref.uid}
        family = [workload for uid in parents for workload in self._workload_index.get(uid, ())]
        above = [self._snapshot.by_uid(uid) for uid in sorted(parents)]
        family += [workload for workload in above if isinstance(workload, o.Workload)]
        runs = [workload for workload in family if phase_of(workload) == "admitted"]
        return (variant, *runs) if phase_of(variant) == "waiting" else (variant,)

    def _lead(self, workload: o.Workload) -> tuple[int, bool, int, str]:
        """Which of the variants speaks for all: the highest. The furthest; of those that wait one that can ever fit, as far as
        Kueue says, and the first by the ClusterQueue's order of flavors.
        """
        local = self._snapshot.look_of(o.LocalQueue, workload.spec.queue_name, workload.namespace)
        queue = self._snapshot.look_of(o.ClusterQueue, local.spec.cluster_queue) if local is not None else None
        groups = queue.spec.resource_groups if queue is not None else ()
        order = [flavor.name for group in groups for flavor in group.flavors]
        allowed = workload.metadata.annotations.get(ALLOWED_FLAVORS, "")
        place = order.index(allowed) if allowed in order else len(order)
        quota = condition(workload.status.conditions, "QuotaReserved")
        never = quota is not None and "maximum capacity" in quota.message
        return advance(workload), not never, -place, workload.name

    def _prove_absence(self) -> None:
        """Raise Unknown unless it is proven that there is no Workload."""
        namespace, snapshot = self._ref.namespace, self._snapshot
        if snapshot.covers("Workload", namespace):
            return
        item, owner = self.root, self.unread_owner
        uids = [item.metadata.uid if item is not None else "", owner.uid if owner is not None else ""]
        by_name = [prebuilt_name(item) if item is not None else "", self.group.name if self.group is not None else ""]
        asked = [uid for uid in uids if uid]
        if (
            (asked or self.group is not None)
            and all(snapshot.covers("Workload", namespace, selector=owned(uid)) for uid in asked)
            and all(snapshot.covers("Workload", namespace, name) for name in by_name if name)
            and not (item is not None and kind_of(item) in {*SERVING, *POD_LEVEL, "CronJob"})
        ):
            return
        snapshot.require("Workload", namespace)

    # --- how far it is ---

    @fact
    def managed(self) -> bool:
        """Whether Kueue is asked to manage it: by a queue name, a Workload, one of Kueue's marks, or Kueue's configuration."""
        if self.workloads or (self.group is not None):
            return True
        item = self.root
        if item is None:
            return False
        if (
            queue_name(item) is not None
            or prebuilt_name(item)
            or item.metadata.labels.get(PREFIX + "managed") == "true"
        ):
            return True
        if isinstance(item, o.Pod):
            return bool(suspended(item))
        return bool(suspended(item)) and self._facts.controller.takes_unlabelled(item)

    def held(self, item: o.KubeObject) -> bool:
        """Say whether something keeps an object from running until Kueue releases it: suspended, or its pods are gated.

        Raises Unknown when that depends on pods that were not read.
        """
        if job_finished(item) is not None:
            return False
        state = suspended(item)
        if state is not None:
            return state
        if isinstance(item, o.Job) and kinds.of_object(item.api_version, item.kind) is None:
            return True  # the controller of an external framework waits for its Workload
        pods = [child for child in self.descendants(item) if isinstance(child, o.Pod)]
        if not pods:
            self._snapshot.require("Pod", item.namespace, selector=owned(item.metadata.uid))
        return any(suspended(pod) for pod in pods if not is_over(pod))

    @fact
    def finished(self) -> tuple[bool, str] | None:
        """(succeeded, message) when the job itself says that it is over, or all pods of the group do; else None."""
        if self.root is not None and self.group is None:
            member = isinstance(self.root, o.Pod) and any(of_a_group(workload) for workload in self.workloads)
            return None if member else job_finished(self.root)
        if self.group is not None:
            states = [job_finished(pod) for pod in self.group.pods]
            over = [state for state in states if state is not None]
            if over and len(over) == len(states) and self.workload is None:
                return all(good for good, _ in over), next((text for good, text in over if not good and text), "")
        return None

    @fact
    def phase(self) -> Phase:
        """How far the job is; see `rule.Phase`. Raises Unknown when Workloads could not be read."""
        if self.chosen is None:
            return "unresolved"
        if self.finished is not None and self._says_so_itself():
            return "finished"
        workload = self.workload
        if workload is None:
            item = self.root
            if item is None:
                held = self.group is not None and any(suspended(pod) for pod in self.group.pods)
            else:
                held = self.managed and self.held(item)
            return "no-workload" if held else "unmanaged"
        phase = phase_of(workload)
        if (
            phase == "finished"
            and is_replaced(workload)
            and self.root is not None
            and not isinstance(self.root, o.Workload)
        ):
            return "no-workload" if suspended(self.root) else "admitted"
        return phase

    def _says_so_itself(self) -> bool:
        """A finished job is finished whatever its Workload says; a Workload asked by name speaks for itself."""
        return (
            not isinstance(self.target, o.Workload)
            or phase_of(self.target) == "finished"
            or self.workload is self.target
        )

    @fact
    def admitted(self) -> bool | None:
        """Whether the deciding Workload is admitted; None when there is no Workload."""
        workload = self.workload
        return None if workload is None else is_true(workload.status.conditions, "Admitted")

    @fact
    def never_ran(self) -> End | None:
        """How the Workload ended when the job never ran; None when it ran, or when that is not known."""
        workload = self.workloads[-1] if self.workloads else None
        closed = condition(workload.status.conditions, "Finished") if workload is not None else None
        if workload is None or closed is None or closed.status != "True":
            return None
        root = self.root
        own = self.finished is not None and self.finished[0]
        if closed.reason in _ENDED_BY_KUEUE and not own:
            return End(workload, closed.reason, closed.message)
        never = (
            closed.reason == "Failed"
            and workload.status.admission is None
            and condition(workload.status.conditions, "Admitted") is None
            and condition(workload.status.conditions, "QuotaReserved") is not None
            and isinstance(root, o.Job)
            and not root.status.get("startTime")
        )
        return End(workload, closed.reason, closed.message) if never else None

    # --- who runs it once it is admitted ---

    @fact
    def remote(self) -> Remote | None:
        """The worker cluster that MultiKueue gave the job to; None when none has taken it."""
        workload = self.workload
        if workload is None or phase_of(workload) not in {"admitted", "reserved"}:
            return None
        for check in workload.status.admission_checks:
            named_cluster = _TAKEN.search(check.message)
            known = self._snapshot.look_of(o.AdmissionCheck, check.name)
            multikueue = known is None or known.spec.controller_name == MULTIKUEUE
            if check.state == "Ready" and multikueue and (named_cluster or workload.status.cluster_name):
                cluster = workload.status.cluster_name or (named_cluster[1] if named_cluster else "")
                return Remote(
                    workload, cluster, check.name, check.message, f"status.admissionChecks[{check.name}].message"
                )
        if workload.status.cluster_name:
            return Remote(workload, workload.status.cluster_name, "", "", "status.clusterName")
        return None

    @fact
    def foreign_manager(self) -> tuple[str, str] | None:
        """(field, value) of a managedBy that is not the kind's own controller, nor MultiKueue where a check of it is there."""
        item = self.root
        known = kinds.of_object(item.api_version, item.kind) if isinstance(item, o.Job) else None
        path = known.job.managed_by if known is not None and known.job is not None else ""
        value = dig({"spec": item.spec}, path) if path and isinstance(item, o.Job) else None
        if not isinstance(value, str) or not value or value in _OWN_CONTROLLERS:
            return None
        if value == MULTIKUEUE and self.workload is not None:
            for check in self.workload.status.admission_checks:
                known_check = self._snapshot.look_of(o.AdmissionCheck, check.name)
                if known_check is None or known_check.spec.controller_name == MULTIKUEUE:
                    return None
        return path, value

    @property
    def has_pods(self) -> bool:
        """Whether a pod of it was read."""
        return self.root is not None and any(isinstance(child, o.Pod) for child in self.descendants(self.root))

    @fact
    def runs(self) -> bool:
        """Whether it is not suspended and every pod of it that was read runs or has ended well, and there is one."""
        item = self.root
        if item is None or suspended(item) is True:
            return False
        pods = [pod for pod in (item, *self.descendants(item)) if isinstance(pod, o.Pod)]
        return bool(pods) and all(pod.status.phase in {"Running", "Succeeded"} for pod in pods)

    @fact
    def suspended_children(self) -> tuple[o.KubeObject, ...]:
        """The unfinished jobs below an unsuspended one that are suspended, by name; not those that wait for their turn."""
        item = self.root
        if not isinstance(item, o.Job) or suspended(item) is not False or kind_of(item) == "CronJob":
            return ()
        below = [child for child in self.descendants(item) if isinstance(child, o.Job) and job_finished(child) is None]
        found = [child for child in below if suspended(child) is True]
        if not found:
            self.require_children(item)
        steps = each({"spec": item.spec}, "spec.replicatedJobs[].dependsOn[]")
        in_order = dig({"spec": item.spec}, "spec.startupPolicy.startupPolicyOrder") == "InOrder" or bool(steps)
        if in_order and len(found) < len([child for child in self.descendants(item) if isinstance(child, o.Job)]):
            return ()
        return tuple(sorted(found, key=lambda child: (kind_of(child), child.name)))

    def require_children(self, item: o.KubeObject) -> None:
        """Raise Unknown unless the jobs that an object of this kind creates were read."""
        for kind in _CREATES.get(kind_of(item), ()):
            self._snapshot.require(kind, item.namespace, selector=owned(item.metadata.uid))

    @fact
    def partial(self) -> tuple[int, int] | None:
        """(admitted, wanted) pods when fewer were admitted than the Workload wants; else None."""
        workload = self.workload
        if workload is None or workload.status.admission is None:
            return None
        given = {a.name: a.count for a in workload.status.admission.pod_set_assignments}
        pairs = [(given.get(pod_set.name), pod_set.count) for pod_set in workload.spec.pod_sets]
        known = [(count if count is not None else wanted, wanted) for count, wanted in pairs]
        admitted, wanted = sum(count for count, _ in known), sum(count for _, count in known)
        return (admitted, wanted) if admitted < wanted else None

    def want(self) -> o.Workload:
        """The deciding Workload for rules that need one. Raises Unknown when there is none."""
        if self.workload is None:
            reason = "there is no Workload"
            raise Unknown(reason)
        return self.workload
