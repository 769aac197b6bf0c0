"""What carries the asked name, and which of it was meant."""

from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.jobs import SERVING, job_finished, kind_of, same_kind, suspended
from bot.core.marks import group_name
from bot.core.records import dataclass
from bot.core.reference import JobRef
from bot.core.workloads import phase_of

if TYPE_CHECKING:
    from bot.core.diagnosis import Diagnosis
    from bot.core.facts import Facts


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


_HELD_STAGES = {"workload", "queue", "quota", "checks", "pods"}


class Named:
    """The things of the asked name."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

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
    def groups(self) -> dict[str, tuple[o.Pod, ...]]:
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
        pods = self.groups.get(self._ref.name, ())
        if pods and same_kind(self._ref.kind, "PodGroup", "v1"):
            things = self._with_group(things, pods)
        owners = [self._facts.kin.owner_reference(item) for item in self.candidates]
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
        serving = [owner for pod in pods for owner in self._facts.kin.owners(pod) if kind_of(owner) in SERVING]
        if serving:
            return things or [Meant(serving[-1].api_version, kind_of(serving[-1]), serving[-1])]
        if any(thing.item in self._facts.kin.owners(pod) for pod in pods for thing in things if thing.item is not None):
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
        if any(owner is other for owner in self._facts.kin.owners(item) for other in others):
            return True
        return isinstance(item, o.Workload) and any(
            item in self._facts.matching.direct(other) for other in others if not isinstance(other, o.Workload)
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
            return self._facts.matching.is_waiting(thing.item)
        workloads = thing.workloads
        if thing.group is not None:
            workloads = self._facts.matching.of_group(thing.group)
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
