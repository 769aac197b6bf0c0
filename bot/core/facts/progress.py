"""How far the job is, and who runs it once it is admitted."""

import re
from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.jobs import is_over, job_finished, kind_of, suspended
from bot.core.marks import MULTIKUEUE, PREFIX, prebuilt_name, queue_name
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.rule import Phase
from bot.core.snapshot import owned
from bot.core.untyped import dig, each
from bot.core.workloads import is_replaced, of_a_group, phase_of

if TYPE_CHECKING:
    from bot.core.facts import Facts

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


class Progress:
    """How far the asked job is."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @fact
    def managed(self) -> bool:
        """Whether Kueue is asked to manage it: by a queue name, a Workload, one of Kueue's marks, or Kueue's configuration."""
        if self._facts.identity.workloads or (self._facts.identity.group is not None):
            return True
        item = self._facts.identity.root
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
        pods = [child for child in self._facts.kin.descendants(item) if isinstance(child, o.Pod)]
        if not pods:
            self._snapshot.require("Pod", item.namespace, selector=owned(item.metadata.uid))
        return any(suspended(pod) for pod in pods if not is_over(pod))

    @fact
    def finished(self) -> tuple[bool, str] | None:
        """(succeeded, message) when the job itself says that it is over, or all pods of the group do; else None."""
        if self._facts.identity.root is not None and self._facts.identity.group is None:
            member = isinstance(self._facts.identity.root, o.Pod) and any(
                of_a_group(workload) for workload in self._facts.identity.workloads
            )
            return None if member else job_finished(self._facts.identity.root)
        if self._facts.identity.group is not None:
            states = [job_finished(pod) for pod in self._facts.identity.group.pods]
            over = [state for state in states if state is not None]
            if over and len(over) == len(states) and self._facts.identity.workload is None:
                return all(good for good, _ in over), next((text for good, text in over if not good and text), "")
        return None

    @fact
    def phase(self) -> Phase:
        """How far the job is; see `rule.Phase`. Raises Unknown when Workloads could not be read."""
        if self._facts.named.chosen is None:
            return "unresolved"
        if self.finished is not None and self._says_so_itself():
            return "finished"
        workload = self._facts.identity.workload
        if workload is None:
            item = self._facts.identity.root
            if item is None:
                held = self._facts.identity.group is not None and any(
                    suspended(pod) for pod in self._facts.identity.group.pods
                )
            else:
                held = self.managed and self.held(item)
            return "no-workload" if held else "unmanaged"
        phase = phase_of(workload)
        if (
            phase == "finished"
            and is_replaced(workload)
            and self._facts.identity.root is not None
            and not isinstance(self._facts.identity.root, o.Workload)
        ):
            return "no-workload" if suspended(self._facts.identity.root) else "admitted"
        return phase

    def _says_so_itself(self) -> bool:
        """A finished job is finished whatever its Workload says; a Workload asked by name speaks for itself."""
        return (
            not isinstance(self._facts.identity.target, o.Workload)
            or phase_of(self._facts.identity.target) == "finished"
            or self._facts.identity.workload is self._facts.identity.target
        )

    @fact
    def admitted(self) -> bool | None:
        """Whether the deciding Workload is admitted; None when there is no Workload."""
        workload = self._facts.identity.workload
        return None if workload is None else is_true(workload.status.conditions, "Admitted")

    @fact
    def never_ran(self) -> End | None:
        """How the Workload ended when the job never ran; None when it ran, or when that is not known."""
        workload = self._facts.identity.workloads[-1] if self._facts.identity.workloads else None
        closed = condition(workload.status.conditions, "Finished") if workload is not None else None
        if workload is None or closed is None or closed.status != "True":
            return None
        root = self._facts.identity.root
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

    @fact
    def remote(self) -> Remote | None:
        """The worker cluster that MultiKueue gave the job to; None when none has taken it."""
        workload = self._facts.identity.workload
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
        item = self._facts.identity.root
        known = kinds.of_object(item.api_version, item.kind) if isinstance(item, o.Job) else None
        path = known.job.managed_by if known is not None and known.job is not None else ""
        value = dig({"spec": item.spec}, path) if path and isinstance(item, o.Job) else None
        if not isinstance(value, str) or not value or value in _OWN_CONTROLLERS:
            return None
        if value == MULTIKUEUE and self._facts.identity.workload is not None:
            for check in self._facts.identity.workload.status.admission_checks:
                known_check = self._snapshot.look_of(o.AdmissionCheck, check.name)
                if known_check is None or known_check.spec.controller_name == MULTIKUEUE:
                    return None
        return path, value

    @property
    def has_pods(self) -> bool:
        """Whether a pod of it was read."""
        return self._facts.identity.root is not None and any(
            isinstance(child, o.Pod) for child in self._facts.kin.descendants(self._facts.identity.root)
        )

    @fact
    def runs(self) -> bool:
        """Whether it is not suspended and every pod of it that was read runs or has ended well, and there is one."""
        item = self._facts.identity.root
        if item is None or suspended(item) is True:
            return False
        pods = [pod for pod in (item, *self._facts.kin.descendants(item)) if isinstance(pod, o.Pod)]
        return bool(pods) and all(pod.status.phase in {"Running", "Succeeded"} for pod in pods)

    @fact
    def suspended_children(self) -> tuple[o.KubeObject, ...]:
        """The unfinished jobs below an unsuspended one that are suspended, by name; not those that wait for their turn."""
        item = self._facts.identity.root
        if not isinstance(item, o.Job) or suspended(item) is not False or kind_of(item) == "CronJob":
            return ()
        below = [
            child
            for child in self._facts.kin.descendants(item)
            if isinstance(child, o.Job) and job_finished(child) is None
        ]
        found = [child for child in below if suspended(child) is True]
        if not found:
            self.require_children(item)
        steps = each({"spec": item.spec}, "spec.replicatedJobs[].dependsOn[]")
        in_order = dig({"spec": item.spec}, "spec.startupPolicy.startupPolicyOrder") == "InOrder" or bool(steps)
        if in_order and len(found) < len(
            [child for child in self._facts.kin.descendants(item) if isinstance(child, o.Job)]
        ):
            return ()
        return tuple(sorted(found, key=lambda child: (kind_of(child), child.name)))

    def require_children(self, item: o.KubeObject) -> None:
        """Raise Unknown unless the jobs that an object of this kind creates were read."""
        for kind in _CREATES.get(kind_of(item), ()):
            self._snapshot.require(kind, item.namespace, selector=owned(item.metadata.uid))

    @fact
    def partial(self) -> tuple[int, int] | None:
        """(admitted, wanted) pods when fewer were admitted than the Workload wants; else None."""
        workload = self._facts.identity.workload
        if workload is None or workload.status.admission is None:
            return None
        given = {a.name: a.count for a in workload.status.admission.pod_set_assignments}
        pairs = [(given.get(pod_set.name), pod_set.count) for pod_set in workload.spec.pod_sets]
        known = [(count if count is not None else wanted, wanted) for count, wanted in pairs]
        admitted, wanted = sum(count for count, _ in known), sum(count for _, count in known)
        return (admitted, wanted) if admitted < wanted else None
