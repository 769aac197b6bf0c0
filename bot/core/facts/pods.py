"""The pods of the asked job: which they are, how many are wanted, and how far each of them is.

Pods are found by the chain of owners (JobSet → Job → Pod, RayJob → RayCluster → Pod, Deployment → ReplicaSet → Pod,
LeaderWorkerSet → StatefulSet → Pod → StatefulSet → Pod), by Kueue's annotation `kueue.x-k8s.io/workload`, by the pod
group's label, and by the job kind's own label where an owner in between was not read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeVar

from bot.core import kinds, names
from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence, PodCounts
from bot.core.facts.lazy import fact
from bot.core.jobs import is_over, job_finished, suspended
from bot.core.marks import GROUP_LABEL, GROUP_TOTAL, POD_SET, REPLACEMENT_FOR, WORKLOAD
from bot.core.objects import condition, is_true
from bot.core.quantity import amount
from bot.core.records import dataclass
from bot.core.snapshot import Unknown, about, owned
from bot.core.untyped import dig, each, number

if TYPE_CHECKING:
    from bot.core.facts import Facts

T = TypeVar("T")

DEFAULT_SCHEDULER = "default-scheduler"

_JOB_LABELS = {
    "Job": ("batch.kubernetes.io/job-name", "job-name"),
    "JobSet": ("jobset.sigs.k8s.io/jobset-name",),
    "LeaderWorkerSet": ("leaderworkerset.sigs.k8s.io/name",),
    "RayCluster": ("ray.io/cluster",),
    "SparkApplication": ("sparkoperator.k8s.io/app-name",),
}
_KUBEFLOW_LABEL = "training.kubeflow.org/job-name"
_BETWEEN = {
    "Deployment": ("ReplicaSet",),
    "JobSet": ("Job",),
    "TrainJob": ("JobSet", "Job"),
    "RayJob": ("RayCluster", "Job"),
    "RayService": ("RayCluster",),
    "MPIJob": ("Job",),
    "LeaderWorkerSet": ("StatefulSet",),
    "CronJob": ("Job",),
}
"""What stands between a job object and its pods."""
_ONE_WORKLOAD_PER_PART = frozenset({"Deployment", "ReplicaSet", "CronJob", "LeaderWorkerSet", "StatefulSet"})
_RESTARTED = frozenset({"StatefulSet", "ReplicaSet", "LeaderWorkerSet"})
"""Their pods are never done: one that has ended is made again."""
_UNTOUCHED = frozenset({"ContainerCreating", "PodInitializing", ""})
"""What a container waits with before anything has been tried for it."""
_REJECTED = re.compile(r"^(OutOf\w+|UnexpectedAdmissionError|\w*AdmissionError|NodeAffinity|NodePorts|NodeName|"
                       r"TopologyAffinityError|\w*Forbidden|AppArmor|PodOSSelectorNodeLabelDoesNotMatch|PodOSNotSupported|"
                       r"InvalidNodeInfo|UnsupportedPodLevelResources|PodFeatureUnsupported)$")  # fmt: skip


@dataclass(frozen=True, slots=True)
class CreationError:
    """A controller's failure to make a pod, in its own words; `at` is when it was said last, `field` where."""

    owner: o.KubeObject
    text: str
    at: datetime | None
    times: int
    field: str


@dataclass(frozen=True, slots=True)
class QuotaLine:
    """One row of a ResourceQuota that one more pod would break; amounts in the unit of `resource`."""

    key: str
    resource: str
    asked: int
    used: int
    hard: int


@dataclass(frozen=True, slots=True)
class QuotaRefusal:
    """A ResourceQuota that refuses pods: the rows in the way, or what the pods do not state, and who said so."""

    quota: str
    rows: tuple[QuotaLine, ...]
    unstated: tuple[str, ...]
    error: CreationError | None
    certainty: Certainty


ErrorKind = Literal["quota", "policy", "service-account", "kueue", "other"]
_ERRORS: tuple[tuple[ErrorKind, str], ...] = (
    ("quota", r"exceeded quota|failed quota"),
    ("kueue", r"failed calling webhook.*kueue"),
    ("service-account", r"service ?accounts? .*not found|looking up service account"),
    ("policy", (r"violates PodSecurity|admission webhook|failed calling webhook|ValidatingAdmissionPolicy|"
        r"denied (?:the )?request|security context constraint|(?:minimum|maximum) .* (?:usage|per)")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContainerView:
    """One container of one pod, with its status; `init` for an init container that is not a sidecar."""

    pod: o.Pod
    status: o.ContainerStatus
    init: bool


def is_ready(pod: o.Pod) -> bool:
    """Say whether a pod is proven running and ready: phase Running and its Ready condition, or all containers, say so."""
    if pod.status.phase != "Running":
        return False
    found = condition(pod.status.conditions, "Ready")
    if found is not None:
        return found.status == "True"
    statuses = pod.status.container_statuses
    return bool(statuses) and len(statuses) >= len(pod.spec.containers) and all(entry.ready for entry in statuses)


def error_kind(text: str) -> ErrorKind:
    """Tell what refused to create a pod, by the API server's words."""
    return next((kind for kind, pattern in _ERRORS if re.search(pattern, text)), "other")


def pods_of_spec(item: o.KubeObject) -> int | None:
    """Give how many pods a job object asks for at one time by its own spec; None for a kind that does not say."""
    if isinstance(item, o.Pod):
        return 1
    if not isinstance(item, o.Job):
        return None
    spec = item.spec
    match item.kind:
        case "Job":
            return _job_pods(spec)
        case "JobSet":
            return sum(
                number(dig(part, "replicas"), 1) * _job_pods(dig(part, "template.spec", {}))
                for part in each(spec, "replicatedJobs[]")
            )
        case "RayCluster" | "RayJob" | "RayService":
            inner = {
                "RayCluster": spec,
                "RayJob": dig(spec, "rayClusterSpec"),
                "RayService": dig(spec, "rayClusterConfig"),
            }
            groups = each(inner[item.kind], "workerGroupSpecs[]")
            workers = (number(dig(group, "replicas"), 1) * number(dig(group, "numOfHosts"), 1) for group in groups)
            if not isinstance(inner[item.kind], dict):
                return None
            # a RayJob submits itself by a pod of its own, unless it is told otherwise
            mode = dig(spec, "submissionMode", "K8sJobMode") if item.kind == "RayJob" else ""
            return 1 + sum(workers) + (mode == "K8sJobMode")
        case "LeaderWorkerSet":
            return number(dig(spec, "replicas"), 1) * number(dig(spec, "leaderWorkerTemplate.size"), 1)
        case "Deployment" | "ReplicaSet" | "StatefulSet":
            return number(dig(spec, "replicas"), 1)
    known = kinds.BY_NAME.get(item.kind)
    templates = known.job.templates if known is not None and known.job is not None else ()
    if len(templates) == 1 and templates[0].endswith("{}.template"):
        replicas = each({"spec": spec}, templates[0].removesuffix(".template"))
        return sum(number(dig(part, "replicas"), 1) for part in replicas) if replicas else None
    return None


def _job_pods(spec: object) -> int:
    parallel = number(dig(spec, "parallelism"), 1)
    completions = dig(spec, "completions")
    return min(parallel, completions) if isinstance(completions, int) else parallel


class Pods:
    """The answers about the job's pods."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    # --- which objects and pods ---

    @property
    def namespace(self) -> str:
        """The namespace of the asked job."""
        return self._facts.ref.namespace

    @fact
    def _by_owner(self) -> dict[str, list[o.KubeObject]]:
        index: dict[str, list[o.KubeObject]] = defaultdict(list)
        namespace = self.namespace
        everything: list[o.KubeObject] = [item for item in self._snapshot.foreign if item.namespace == namespace]
        for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]):
            everything += self._snapshot.seen(kind.kind, namespace)
        for item in everything:
            for owner in item.metadata.owner_references:
                index[owner.uid or f"{owner.kind}/{owner.name}"].append(item)
        return dict(index)

    @fact
    def _roots(self) -> tuple[o.KubeObject, ...]:
        identity = self._facts.identity
        roots: list[o.KubeObject] = []
        if identity.root is not None:
            roots.append(identity.root)
        roots += identity.group.pods if identity.group is not None else ()
        for workload in identity.workloads:
            for owner in workload.metadata.owner_references:
                found = self._snapshot.by_uid(owner.uid) if owner.uid else None
                found = found or self._snapshot.look(owner.kind, owner.name, workload.namespace)
                if found is not None and (identity.root is None or isinstance(identity.root, o.Workload)):
                    roots.append(found)
        return tuple(roots)

    @fact
    def tree(self) -> tuple[o.KubeObject, ...]:
        """The job object and everything below it that was read and makes or is a pod, parents first."""
        found: list[o.KubeObject] = []
        seen: set[tuple[str, str]] = set()
        queue = list(self._roots)
        while queue:
            item = queue.pop(0)
            if (item.kind, item.name) in seen or isinstance(item, o.Workload):
                continue
            seen.add((item.kind, item.name))
            found.append(item)
            below = list(self._by_owner.get(item.metadata.uid, ())) if item.metadata.uid else []
            below += self._by_owner.get(f"{item.kind}/{item.name}", ())
            if item.kind == "CronJob":
                below = [child for child in below if job_finished(child) is None]
            queue += sorted(below, key=lambda child: (child.kind, child.name))
        return tuple(found)

    @fact
    def all(self) -> tuple[o.Pod, ...]:
        """Every pod of the job that was read, of all its Workloads, also those that are over, sorted by name."""
        found = {pod.name: pod for pod in self.tree if isinstance(pod, o.Pod)}
        workloads = {workload.name for workload in self._facts.identity.workloads}
        labels = [
            (label, item.name)
            for item in self.tree
            if isinstance(item, o.Job)
            for label in (*_JOB_LABELS.get(item.kind, ()), _KUBEFLOW_LABEL)
            if label != _KUBEFLOW_LABEL or item.api_version.startswith("kubeflow.org/")
        ]
        for pod in self._snapshot.all_of(o.Pod, read="seen", namespace=self.namespace):
            meta = pod.metadata
            by_workload = meta.annotations.get(WORKLOAD) in workloads and not self._foreign_owner(pod)
            if by_workload or meta.labels.get(GROUP_LABEL) in workloads or self._by_label(pod, labels):
                found.setdefault(pod.name, pod)
        return tuple(found[name] for name in sorted(found))

    def _foreign_owner(self, pod: o.Pod) -> bool:
        """A pod whose owner was read and is not of this job carries a stale annotation."""
        own = {item.metadata.uid for item in self.tree}
        owners = [owner for owner in pod.metadata.owner_references if owner.controller]
        return any(owner.uid not in own and self._snapshot.by_uid(owner.uid) is not None for owner in owners)

    def _by_label(self, pod: o.Pod, labels: list[tuple[str, str]]) -> bool:
        owners = [owner for owner in pod.metadata.owner_references if owner.controller]
        if not owners or any(self._snapshot.by_uid(owner.uid) is not None for owner in owners):
            return False
        own_kinds = {item.kind for item in self.tree}
        return not any(owner.kind in own_kinds for owner in owners) and any(
            pod.metadata.labels.get(label) == name for label, name in labels
        )

    def require(self) -> None:
        """Raise Unknown unless the job's pods, and what stands between it and them, were read in full."""
        identity = self._facts.identity
        for item in self._roots:
            for kind in _BETWEEN.get(item.kind, ()):
                self._snapshot.require(kind, self.namespace, selector=owned(item.metadata.uid))
        self._consistent()
        root = identity.root
        uid = root.metadata.uid if root is not None else ""
        if uid and self._snapshot.covers("Pod", self.namespace, selector=owned(uid)):
            return
        self._snapshot.require("Pod", self.namespace)

    def _consistent(self) -> None:
        """Raise Unknown where a Deployment counts pods and nothing was found through which they could hang on it."""
        for item in self._roots:
            counted = number(item.status.get("replicas"), 0) if isinstance(item, o.Job) else 0
            if item.kind == "Deployment" and counted and not any(part.kind == "ReplicaSet" for part in self.tree):
                reason = f"pods: the Deployment counts {counted}, and its ReplicaSet was not found"
                raise Unknown(reason)

    def _sure(self, found: tuple[T, ...]) -> tuple[T, ...]:
        """Give what was found; nothing counts as nothing only where the pods were read in full, else raises Unknown."""
        if not found:
            self.require()
        return found

    @fact
    def current(self) -> tuple[o.Pod, ...]:
        """The pods that count: neither over nor being deleted. Those that were read, perhaps not all."""
        return tuple(pod for pod in self.all if not is_over(pod) and pod.metadata.deletion_timestamp is None)

    @fact
    def leaving(self) -> tuple[o.Pod, ...]:
        """The pods that are being deleted and are not over yet."""
        return tuple(pod for pod in self.all if not is_over(pod) and pod.metadata.deletion_timestamp is not None)

    @fact
    def failed(self) -> tuple[o.Pod, ...]:
        """The pods that failed, without those that the kubelet refused; newest last."""
        found = [pod for pod in self.all if pod.status.phase == "Failed" and not _REJECTED.match(pod.status.reason)]
        return tuple(sorted(found, key=self._created))

    @fact
    def rejected(self) -> tuple[o.Pod, ...]:
        """The pods that a kubelet refused after they were bound to its node; newest last."""
        found = [pod for pod in self.all if pod.status.phase == "Failed" and _REJECTED.match(pod.status.reason)]
        return tuple(sorted(found, key=self._created))

    def _created(self, item: o.KubeObject) -> tuple[datetime, str]:
        return item.metadata.creation_timestamp or self._facts.now, item.name

    # --- how many ---

    @fact
    def workloads(self) -> tuple[o.Workload, ...]:
        """The job's Workloads that are not finished and not being replaced by a newer slice."""
        mine = self._facts.identity.workloads
        unfinished = [w for w in mine if not is_true(w.status.conditions, "Finished")]
        replaced = {w.metadata.annotations.get(REPLACEMENT_FOR, "").rpartition("/")[2] for w in unfinished}
        return tuple(w for w in unfinished if w.name not in replaced)

    @fact
    def ever_admitted(self) -> bool:
        """Whether any of it was ever admitted: Kueue writes the condition Admitted, whatever its status, only then."""
        mine = self._facts.identity.workloads
        return any(condition(w.status.conditions, "Admitted") is not None for w in mine) or any(
            pod.spec.node_name for pod in self.all
        )

    @fact
    def wanted(self) -> int:
        """How many pods the job wants in all at one time: the larger of what Kueue admitted and what the job asks for.

        Raises Unknown when neither says it.
        """
        identity = self._facts.identity
        counts: list[int] = []
        partial = False
        for workload in self.workloads or identity.workloads[-1:]:
            assigned = {
                entry.name: entry.count
                for entry in (workload.status.admission.pod_set_assignments if workload.status.admission else ())
            }
            total = 0
            for pod_set in workload.spec.pod_sets:
                count = assigned.get(pod_set.name)
                partial = partial or (count is not None and pod_set.min_count is not None and count < pod_set.count)
                total += pod_set.count if count is None else count
            counts.append(max(total, sum(count or 0 for count in assigned.values())))
        root = identity.root
        admitted = sum(counts) if root is not None and root.kind in _ONE_WORKLOAD_PER_PART else max(counts, default=0)
        tops = [item for item in self._roots if not isinstance(item, o.Workload)]
        asked = [count for item in tops[:1] if not partial and (count := pods_of_spec(item)) is not None]
        group = identity.group
        if group is not None or (tops and GROUP_LABEL in tops[0].metadata.labels):
            pods = group.pods if group is not None else tuple(pod for pod in tops if isinstance(pod, o.Pod))
            asked = [len(group.pods)] if group is not None else []
            asked += [int(text) for pod in pods if (text := pod.metadata.annotations.get(GROUP_TOTAL, "")).isdecimal()]
        if not counts and not asked:
            reason = "how many pods it wants: neither a Workload nor the job says so"
            raise Unknown(reason)
        return max([admitted, *asked])

    @fact
    def short_sets(self) -> tuple[str, ...]:
        """The pod sets of which fewer pods run with all their containers than Kueue admitted.

        Known only while no pod has done its work and every pod carries its pod set's label; empty otherwise.
        """
        labels = [pod.metadata.labels.get(POD_SET) for pod in self.current]
        if self.done or len(self.workloads) != 1 or not all(labels):
            return ()
        admission = self.workloads[0].status.admission
        up = [pod.metadata.labels[POD_SET] for pod in self.current if is_ready(pod) or pod in self.unready]
        entries = admission.pod_set_assignments if admission is not None else ()
        return tuple(entry.name for entry in entries if entry.count is not None and up.count(entry.name) < entry.count)

    @fact
    def done(self) -> int:
        """How many of the wanted pods have done their work and will not be made again."""
        jobs = [item for item in self.tree if isinstance(item, o.Job) and item.kind == "Job"]
        slots = 0
        for job in jobs:
            completions = dig(job.spec, "completions")
            if isinstance(completions, int):
                left = completions - number(dig(job.status, "succeeded"), 0)
                slots += max(0, _job_pods(job.spec) - max(0, left))
        for pod in self.all:
            owners = {owner.kind for owner in pod.metadata.owner_references if owner.controller}
            slots += pod.status.phase == "Succeeded" and not owners & {"Job", *_RESTARTED}
        reclaimable = sum(entry.count for w in self.workloads for entry in w.status.reclaimable_pods)
        return max(slots, reclaimable)

    @fact
    def needed(self) -> int:
        """How many pods should run now: wanted without those that have done their work."""
        return max(0, self.wanted - self.done)

    @fact
    def counts(self) -> PodCounts | None:
        """Wanted, created, scheduled and running (ready); None while nothing of it was ever admitted, or it runs elsewhere.

        Raises Unknown when the job's pods were not read in full.
        """
        phase = self._facts.progress.phase
        if phase == "unresolved" or (phase != "unmanaged" and not self.ever_admitted):
            return None
        if self._facts.progress.remote is not None:
            return None  # its pods are on another cluster, which nobody has read
        self.require()
        if phase == "finished":
            bound = sum(bool(pod.spec.node_name) for pod in self.all)
            return PodCounts(self.wanted, len(self.all), bound, sum(is_ready(pod) for pod in self.current))
        scheduled = sum(bool(pod.spec.node_name) for pod in self.current)
        return PodCounts(self.needed, len(self.current), scheduled, self.ready)

    @fact
    def ready(self) -> int:
        """How many pods run and are ready."""
        return sum(is_ready(pod) for pod in self.current)

    @fact
    def missing(self) -> int:
        """How many pods should be there and are not. Raises Unknown when pods were not read in full."""
        self.require()
        return max(0, self.needed - len(self.current))

    @property
    def progress(self) -> str:
        """The end of a sentence, "3 of 4 pods run.", with a space before it; "" when none runs or it is not known."""
        try:
            if self.ready == 0:
                return ""
            return f" {self.ready} of {max(self.needed, self.ready)} pods {'runs' if self.ready == 1 else 'run'}."
        except Unknown:
            return ""

    def close(self, text: str) -> str:
        """End a sentence: a full stop where there is none, then how many pods run."""
        return f"{text}{'' if text.endswith(('.', '!', '?', '…')) else '.'}{self.progress}"

    # --- how far each is ---

    @fact
    def unscheduled(self) -> tuple[o.Pod, ...]:
        """The pods that are on no node and that no gate holds: the scheduler's to place.

        Raises Unknown when there are none among those that were read, and not all were.
        """
        return self._sure(tuple(p for p in self.current if not p.spec.node_name and not p.spec.scheduling_gates))

    @fact
    def gated(self) -> tuple[o.Pod, ...]:
        """The pods on no node that a scheduling gate holds. Raises Unknown as `unscheduled` does."""
        return self._sure(tuple(p for p in self.current if not p.spec.node_name and p.spec.scheduling_gates))

    @fact
    def starting(self) -> tuple[o.Pod, ...]:
        """The pods on a node that are not ready. Raises Unknown as `unscheduled` does."""
        return self._sure(tuple(pod for pod in self.current if pod.spec.node_name and not is_ready(pod)))

    @fact
    def containers(self) -> tuple[ContainerView, ...]:
        """The containers of the pods that are starting, init containers first, in the pods' order."""
        views: list[ContainerView] = []
        for pod in self.starting:
            sidecars = {entry.name for entry in pod.spec.init_containers if entry.restart_policy == "Always"}
            views += [
                ContainerView(pod, status, status.name not in sidecars) for status in pod.status.init_container_statuses
            ]
            views += [ContainerView(pod, status, init=False) for status in pod.status.container_statuses]
        return tuple(views)

    @fact
    def creating(self) -> tuple[o.Pod, ...]:
        """The pods on a node of which no container has been made yet and none says why.

        Raises Unknown as `unscheduled` does.
        """

        def untouched(pod: o.Pod) -> bool:
            statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
            return pod.status.phase in {"Pending", ""} and not any(
                entry.state.running
                or entry.state.terminated
                or entry.last_state.terminated
                or (entry.state.waiting is not None and entry.state.waiting.reason not in _UNTOUCHED)
                for entry in statuses
            )

        return tuple(pod for pod in self.starting if untouched(pod))

    @fact
    def unready(self) -> tuple[o.Pod, ...]:
        """The pods that run with every container, none of which was ever started again, and are not ready."""

        def up(pod: o.Pod) -> bool:
            statuses = pod.status.container_statuses
            return (
                pod.status.phase == "Running"
                and len(statuses) >= max(1, len(pod.spec.containers))
                and all(entry.state.running is not None and entry.restart_count == 0 for entry in statuses)
            )

        return tuple(pod for pod in self.starting if up(pod))

    def pod_set_of(self, pod: o.Pod) -> tuple[o.Workload, o.PodSet | None, o.PodSetAssignment | None] | None:
        """Give a pod's Workload with its pod set and assignment, by annotation and label; None when it has none."""
        mine = self._facts.identity.workloads
        name = pod.metadata.annotations.get(WORKLOAD) or pod.metadata.labels.get(GROUP_LABEL, "")
        workload = next((w for w in mine if w.name == name), None)
        if workload is None:
            owned_by_pod = [w for w in mine if any(r.uid == pod.metadata.uid for r in w.metadata.owner_references)]
            workload = owned_by_pod[0] if owned_by_pod else (mine[-1] if len(mine) == 1 else None)
        if workload is None:
            return None
        label = pod.metadata.labels.get(POD_SET, "")
        sets, assigned = workload.spec.pod_sets, workload.status.admission
        entries = assigned.pod_set_assignments if assigned is not None else ()
        pod_set = next((entry for entry in sets if entry.name == label), sets[0] if len(sets) == 1 else None)
        wanted = pod_set.name if pod_set is not None else label
        assignment = next(
            (entry for entry in entries if entry.name == wanted), entries[0] if len(entries) == 1 else None
        )
        return workload, pod_set, assignment

    def naming(self, pods: Sequence[o.Pod], *, inside: bool = False) -> str:
        """Name pods to begin a sentence with: "Pod team-a/train-0", or "3 pods (team-a/train-0 and 2 more)".

        `inside` is for the middle of a sentence: "pod team-a/train-0".
        """
        if not pods:
            return "no pod" if inside else "No pod"
        first = names.named("Pod", pods[0].name, pods[0].namespace)
        if len(pods) == 1:
            return f"{'pod' if inside else 'Pod'} {first}"
        return f"{len(pods)} pods ({first} and {len(pods) - 1} more)"

    def subjects(self, pods: Iterable[o.Pod], most: int = 5) -> tuple[str, ...]:
        """Give at most `most` of the pods as subjects of a finding."""
        return tuple(names.subject("Pod", pod.name, pod.namespace) for pod in list(pods)[:most])

    def said(self, pod: o.Pod) -> tuple[Evidence, ...]:
        """Give what the scheduler wrote into the pod, nothing when it wrote nothing."""
        found = condition(pod.status.conditions, "PodScheduled")
        if found is None or not (found.message or found.reason):
            return ()
        subject = names.subject("Pod", pod.name, pod.namespace)
        return (
            Evidence(subject, "status.conditions[PodScheduled].message", names.quoted(found.message or found.reason)),
        )

    def describe(self, pod: o.Pod) -> str:
        """Give the command that shows a pod with its events."""
        return f"kubectl describe pod -n {pod.namespace} {pod.name}"

    # --- what others said ---

    @fact
    def _events(self) -> dict[str, list[o.Event]]:
        index: dict[str, list[o.Event]] = defaultdict(list)
        for event in self._snapshot.all_of(o.Event, read="seen"):
            target = event.involved_object
            index[f"{target.kind}/{target.namespace or event.namespace}/{target.name}"].append(event)
        return dict(index)

    def events_about(self, item: o.KubeObject) -> tuple[o.Event, ...]:
        """Give the events about exactly this object that were read, newest last."""
        uid = item.metadata.uid
        found = [
            event
            for event in self._events.get(f"{item.kind or type(item).__name__}/{item.namespace}/{item.name}", ())
            if not uid or not event.involved_object.uid or event.involved_object.uid == uid
        ]
        epoch = self._facts.now.replace(year=1971)
        return tuple(sorted(found, key=lambda event: (event.last_seen or epoch, event.name)))

    def last_event(self, pod: o.Pod, *reasons: str) -> o.Event | None:
        """Give the newest event about a pod with one of these reasons, None when none was read."""
        return next((event for event in reversed(self.events_about(pod)) if event.reason in reasons), None)

    def sure_event(self, item: o.KubeObject, *reasons: str) -> o.Event | None:
        """`last_event`, but None only where the events about the object were read in full; else raises Unknown."""
        found = next((event for event in reversed(self.events_about(item)) if event.reason in reasons), None)
        if found is None:
            self._snapshot.require("Event", item.namespace, selector=about(item.metadata.uid))
        return found

    @fact
    def since(self) -> datetime | None:
        """When the job was last set going: its newest Workload's admission, else its own start or creation."""
        times = [
            found.last_transition_time
            for w in self.workloads
            if (found := condition(w.status.conditions, "Admitted")) is not None and found.status == "True"
        ]
        known = [time for time in times if time is not None]
        if known:
            return max(known)
        root = self._facts.identity.root
        return root.metadata.creation_timestamp if root is not None else None

    @fact
    def creation_errors(self) -> tuple[CreationError, ...]:
        """What controllers said when they could not make pods since the job was set going, newest first.

        Empty unless pods are missing. Raises Unknown when that is not known.
        """
        if self.missing == 0:
            return ()
        found: list[CreationError] = []
        for item in (*self.tree, *self._unread_owners):
            if isinstance(item, o.Job):
                found += self._conditions_of(item)
            if isinstance(item, o.Pod):
                continue
            for event in self.events_about(item):
                at, since = event.last_seen, self.since
                late = at is None or since is None or at >= since
                if event.type != "Normal" and "fail" in event.reason.lower() and "reat" in event.reason and late:
                    found.append(CreationError(item, event.message, at, event.times, "events"))
        if not found:
            self._snapshot.require("Event", self.namespace)
        epoch = self._facts.now.replace(year=1971)
        return tuple(sorted(found, key=lambda error: (error.at or epoch, error.text), reverse=True))

    @fact
    def _unread_owners(self) -> tuple[o.Job, ...]:
        """The job objects that own the Workloads and were not read, with nothing but their names."""
        known = {(item.kind, item.name) for item in self.tree}
        return tuple(
            o.Job(
                api_version=owner.api_version,
                kind=owner.kind,
                metadata=o.Meta(name=owner.name, namespace=self.namespace, uid=owner.uid),
            )
            for workload in self._facts.identity.workloads
            for owner in workload.metadata.owner_references
            if owner.controller and (owner.kind, owner.name) not in known and owner.kind != "Pod"
        )

    @fact
    def job(self) -> o.Job | None:
        """The job object whose controller makes the pods; None for plain Pods and pod groups.

        Raises Unknown when the Workload's owner was not read.
        """
        found = next((item for item in self.tree if isinstance(item, o.Job)), None)
        if found is None:
            for owner in self._unread_owners:
                raise Unknown(self._snapshot.why_not(owner.kind, self.namespace, owner.name))
        return found

    def errors_of(self, kind: ErrorKind) -> tuple[CreationError, ...]:
        """Give the creation errors of one kind, newest first. Raises Unknown when it is not known whether pods are missing."""
        return tuple(error for error in self.creation_errors if error_kind(error.text) == kind)

    @fact
    def refused(self) -> bool:
        """Whether a known kind of refusal explains that pods are missing."""
        known = any(error_kind(error.text) != "other" for error in self.creation_errors)
        return (known and not self._outdated) or self.quota_refusal is not None

    @fact
    def _outdated(self) -> bool:
        """Whether all that was said is of a ResourceQuota that no longer refuses a pod."""
        kinds_said = {error_kind(error.text) for error in self.creation_errors}
        return kinds_said <= {"quota", "other"} and self.quota_refusal is None

    def error_evidence(self, error: CreationError) -> Evidence:
        """Give a creation error as evidence."""
        owner = error.owner
        return Evidence(
            names.subject(owner.kind, owner.name, owner.namespace), error.field, names.quoted(error.text), "cluster"
        )

    @fact
    def quota_refusal(self) -> QuotaRefusal | None:
        """The ResourceQuota that refuses the missing pods now, None when none does.

        Raises Unknown when it is not known whether pods are missing.
        """
        if self.missing == 0:
            return None
        for error in self.errors_of("quota"):
            found = re.search(r"(exceeded|failed) quota: ([^\s,:]+)", error.text)
            name = found[2] if found is not None else ""
            quota = self._snapshot.look_of(o.ResourceQuota, name, self.namespace)
            unstated = tuple(re.findall(r"((?:requests|limits)\.[\w./-]+|cpu|memory) for:", error.text))
            if found is not None and found[1] == "failed":
                if quota is None and self._snapshot.covers("ResourceQuota", self.namespace, name):
                    continue
                still = tuple(
                    key for key in unstated if quota is None or key in quota.spec.hard or key in quota.status.hard
                )
                if still or not unstated:
                    return QuotaRefusal(name, (), still, error, "reported" if quota is None else "certain")
                continue
            if quota is not None:
                rows = self._broken(quota, error)
                if rows:
                    return QuotaRefusal(name, rows, (), error, "certain")
            elif not self._snapshot.covers("ResourceQuota", self.namespace, name):
                return QuotaRefusal(name, self._said_rows(error), (), error, "reported")
        return None

    def _broken(self, quota: o.ResourceQuota, error: CreationError) -> tuple[QuotaLine, ...]:
        said = {row.key: row for row in self._said_rows(error)}
        rows = []
        for key, row in said.items():
            texts = quota.status.used.get(key), quota.status.hard.get(key) or quota.spec.hard.get(key)
            try:
                used, hard = (amount(row.resource, text) if text is not None else None for text in texts)
            except ValueError:
                continue
            if used is not None and hard is not None and used + row.asked > hard:
                rows.append(QuotaLine(key, row.resource, row.asked, used, hard))
        return tuple(rows)

    @staticmethod
    def _said_rows(error: CreationError) -> tuple[QuotaLine, ...]:
        lists = re.search(r"requested: (.*?), used: (.*?), limited: (.*)$", error.text)
        if lists is None:
            return ()
        asked, used, hard = (dict(re.findall(r"([^\s,=]+)=([^\s,]+)", part)) for part in lists.groups())
        rows = []
        for key, text in asked.items():
            resource = key.removeprefix("requests.").removeprefix("limits.")
            try:
                values = [amount(resource, part) for part in (text, used.get(key, "0"), hard.get(key, "0"))]
            except ValueError:
                continue
            rows.append(QuotaLine(key, resource, *values))
        return tuple(rows)

    @property
    def has_suspend(self) -> bool:
        """Whether the job object has a field by which it is suspended."""
        return self.job is not None and suspended(self.job) is not None

    def _conditions_of(self, item: o.Job) -> list[CreationError]:
        entries = item.status.get("conditions")
        return [
            CreationError(item, str(entry.get("message", "")), None, 1, "status.conditions[ReplicaFailure].message")
            for entry in (entries if isinstance(entries, list) else ())
            if isinstance(entry, dict) and entry.get("type") == "ReplicaFailure" and entry.get("status") == "True"
        ]

    @fact
    def made_here(self) -> bool:
        """Whether this cluster's own controllers should be making the pods now.

        Not while the job is suspended, handed to another controller, run on a worker cluster, or of a kind whose pods
        somebody else makes (a plain Pod, a pod group).
        """
        root = self.job
        if root is None or suspended(root) or job_finished(root) is not None:
            return False
        known = kinds.of_object(root.api_version, root.kind)
        path = known.job.managed_by if known is not None and known.job is not None else "spec.managedBy"
        manager = dig({"spec": root.spec}, path) if path else None
        if isinstance(manager, str) and "multikueue" in manager:
            return False
        if isinstance(manager, str) and root.kind == "Job" and manager != "kubernetes.io/job-controller":
            return False
        return not any(
            "multikueue" in check.spec.controller_name
            for w in self.workloads
            for state in w.status.admission_checks
            if (check := self._snapshot.look_of(o.AdmissionCheck, state.name)) is not None
        )

    def templates(self) -> tuple[o.PodSpec, ...]:
        """The pod specs that the job's Workloads hold, or none when there is no Workload."""
        return tuple(pod_set.template.spec for w in self.workloads for pod_set in w.spec.pod_sets)
