"""Which object was meant, and which Workload decides for it."""

from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.diagnosis import JobId
from bot.core.facts.kin import DEPTH
from bot.core.facts.lazy import fact
from bot.core.facts.named import PodGroup
from bot.core.jobs import POD_LEVEL, SERVING, created, job_finished, kind_of
from bot.core.marks import ALLOWED_FLAVORS, group_name, prebuilt_name, queue_name
from bot.core.objects import condition
from bot.core.snapshot import Unknown, owned
from bot.core.workloads import advance, deciding, is_variant, migrates, owner_of, phase_of, side_by_side

if TYPE_CHECKING:
    from bot.core.facts import Facts


class Identity:
    """The answers about identity; `target` None means that no single object of that name was found."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    @fact
    def target(self) -> o.KubeObject | None:
        """The one object that was meant; None for a pod group, for a job that was not read, and when it is not clear."""
        return self._facts.named.chosen.item if self._facts.named.chosen is not None else None

    @fact
    def group(self) -> PodGroup | None:
        """The pod group that was asked about by its name or by one of its pods; not the one that a StatefulSet makes."""
        chosen = self._facts.named.chosen
        if chosen is not None and chosen.group is not None:
            return chosen.group
        if isinstance(self.target, o.Pod) and self.root is self.target:
            name = group_name(self.target)
            if name:
                return PodGroup(name, self.target.namespace, self._facts.named.groups.get(name, (self.target,)))
        return None

    @fact
    def orphans(self) -> tuple[o.Workload, ...]:
        """The Workloads of the asked job when the job itself was not read."""
        return self._facts.named.chosen.workloads if self._facts.named.chosen is not None else ()

    @fact
    def job(self) -> JobId | None:
        """The job that was meant, by its object or by what its Workloads or pods say of it; None when it was not found.

        For a Workload it is the job that owns it, when one does.
        """
        chosen, namespace = self._facts.named.chosen, self._ref.namespace
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

    @fact
    def unread_owner(self) -> o.OwnerReference | None:
        """The owner of a job kind at which the climb ended because it was not read; None when the chain is complete."""
        if self.target is None:
            return None
        last = (self.target, *self._facts.kin.owners(self.target))[-1]
        reference = self._facts.kin.owner_reference(last)
        if reference is None or len(self._facts.kin.owners(self.target)) >= DEPTH or isinstance(last, o.Workload):
            return None
        kind = kinds.of_object(reference.api_version, reference.kind)
        if kind is None or (kind.job is None and kind.kind != "Pod") or kind.kind in {"CronJob", *POD_LEVEL}:
            return None
        gone = self._snapshot.covers(kind.kind, last.namespace, reference.name)
        return None if gone or self._facts.kin.resolve(reference, last.namespace) is not None else reference

    @fact
    def root(self) -> o.KubeObject | None:
        """The object that decides for the target: the one that Kueue manages, or whose suspension the target follows.

        The job that owns an asked Workload; of a CronJob's Jobs the one that matters; the topmost owner with a queue name
        or with the target's Workload; for a job that Kueue does not manage, the topmost job above it. Else the target.
        """
        target = self.target
        if target is None:
            return None
        owners = self._facts.kin.owners(target)
        if isinstance(target, o.Workload):
            jobs = [owner for owner in owners if not isinstance(owner, o.Workload)]
            serving = [owner for owner in jobs if kind_of(owner) in SERVING]
            return (serving[-1:] or jobs[:1] or [target])[0]
        if kind_of(target) == "CronJob":
            return self._run_of(target)
        own = self._facts.matching.direct(target)
        if own:
            sharing = [
                owner
                for owner in owners
                if kind_of(owner) not in POD_LEVEL and any(workload in own for workload in self._shared(owner))
            ]
            return sharing[-1] if sharing else target
        chosen = self.chosen_cluster
        if chosen is not None:
            owners = (*owners, chosen, *self._facts.kin.owners(chosen))
        above = [owner for owner in owners if kind_of(owner) not in {"CronJob", "Workload"}]
        managing = [owner for owner in above if queue_name(owner) is not None or self._facts.matching.direct(owner)]
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
        return (
            self._facts.matching.workloads_of(owner)
            if kind_of(owner) in SERVING
            else self._facts.matching.direct(owner)
        )

    def _run_of(self, cron: o.KubeObject) -> o.KubeObject:
        """The Job of a CronJob that the question is about: the newest that waits, else the newest unfinished, else the newest.

        It is the CronJob itself when it has none, or when a later one could not be created.
        """
        runs = sorted(self._facts.kin.children(cron), key=lambda run: (created(run), run.name))
        waiting = [run for run in runs if self._facts.matching.is_waiting(run)]
        unfinished = [run for run in runs if job_finished(run) is None]
        best = (waiting or unfinished or runs or [cron])[-1]
        if best is cron or waiting or unfinished:
            return best
        failed = [
            event
            for event in self._facts.kin.events(cron)
            if event.reason.startswith("Failed") and event.last_seen is not None
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

    @fact
    def family(self) -> tuple[o.KubeObject, ...]:
        """The target, what decides for it, their owners, what they own, their Workloads: whose events concern the question."""
        group = self.group
        start = [item for item in (self.target, self.root) if item is not None] + list(group.pods if group else ())
        found: list[o.KubeObject] = []
        for item in start:
            found += [item, *self._facts.kin.owners(item), *self._facts.kin.descendants(item)]
        unique = {id(item): item for item in [*found, *self.workloads]}
        return tuple(unique.values())

    @fact
    def workloads(self) -> tuple[o.Workload, ...]:
        """All Workloads of the asked job that were read, oldest first."""
        found: tuple[o.Workload, ...] = self._facts.matching.with_variants(self.orphans)
        if isinstance(self.target, o.Workload):
            found = self._facts.matching.workloads_of(self.target)
        elif self.root is not None:
            own = self._facts.matching.direct(self.target) if isinstance(self.target, o.Pod) else ()
            found = self._facts.matching.with_variants(own) or self._facts.matching.workloads_of(self.root)
            if not found and self.unread_owner is not None:
                found = tuple(self._facts.matching.by_job.get(self.unread_owner.uid, ()))
        elif self.group is not None:
            found = self._facts.matching.of_group(self.group)
        return tuple(sorted(found, key=lambda workload: (created(workload), workload.name)))

    @fact
    def workload(self) -> o.Workload | None:
        """The Workload that decides: one that waits, before one that holds quota, is admitted, or is finished.

        Of several of one job (slices) the newest; of several that stand in line side by side (the pods of a Deployment, the
        groups of a LeaderWorkerSet) the first in line. Of a Workload with variants, the variant that got furthest. None when
        it is proven that there is none. Raises Unknown when Workloads could not be read, or when it is not clear which job
        was meant.
        """
        if self._facts.named.ambiguous:
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

    def want(self) -> o.Workload:
        """The deciding Workload for rules that need one. Raises Unknown when there is none."""
        if self.workload is None:
            reason = "there is no Workload"
            raise Unknown(reason)
        return self.workload

    @fact
    def beside(self) -> int:
        """How many Workloads of the asked job stand in line beside the deciding one, as far as it is. Raises as `workload`."""
        workload = self.workload
        among = deciding(self.workloads) if workload is not None and not is_variant(workload) else []
        return len(among) - 1 if workload in among and side_by_side(among) else 0

    def _with_siblings(self, variant: o.Workload) -> tuple[o.Workload, ...]:
        """A variant that was asked about; with the sibling or the parent that is admitted, when there is one: that decides."""
        parents = {ref.uid for ref in variant.metadata.owner_references if ref.kind == "Workload" and ref.uid}
        family = [workload for uid in parents for workload in self._facts.matching.by_job.get(uid, ())]
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
