"""Facts about the controller of the job's kind: does it accept the job, and does it act on it."""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.core import kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.jobs import kind_of, subject_of, suspended
from bot.core.names import named, quoted
from bot.core.records import dataclass
from bot.core.snapshot import owned
from bot.core.untyped import dig
from bot.core.workloads import since

if TYPE_CHECKING:
    from bot.core.facts import Facts

_REFUSES = re.compile(r"(?i)invalid|validation|unsupported|malformed|rejected")
_NOT_OPERATORS = re.compile(
    r"(?i)kueue|scheduler|kubelet|autoscaler|karpenter|^(job|cronjob|replicaset|statefulset|deployment)-controller$"
)
_NAMES = {
    "JobSet": ("jobset-controller-manager",), "RayJob": ("kuberay-operator",), "RayCluster": ("kuberay-operator",),
    "RayService": ("kuberay-operator",), "MPIJob": ("mpi-operator", "training-operator"),
    "TrainJob": ("kubeflow-trainer-controller-manager", "trainer-controller-manager"),
    "AppWrapper": ("appwrapper-controller-manager",), "SparkApplication": ("spark-operator-controller", "spark-operator"),
    "LeaderWorkerSet": ("lws-controller-manager",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """The operator found the job invalid: in which field it says so, what it says, and the state's own word."""

    field: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Silence:
    """The operator has not reacted: for how many seconds, in words, the proof, and its Deployment when that is down."""

    seconds: float
    words: str
    evidence: tuple[tuple[str, str, str], ...]
    deployment: str = ""


class Operator:
    """What the controller of the job's kind does."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @property
    def _item(self) -> o.Job | None:
        item = self._facts.identity.root
        return item if isinstance(item, o.Job) else None

    @fact
    def name(self) -> str:
        """Who acts on the kind: "KubeRay", "the JobSet controller"."""
        known = kinds.of_object(self._item.api_version, self._item.kind) if self._item is not None else None
        return (known.job.operator if known is not None and known.job is not None else "") or "its controller"

    @fact
    def refusal(self) -> Refusal | None:
        """The operator's verdict that the job is invalid, None when there is none."""
        item = self._item
        if item is None:
            return None
        message = _text(item.status.get("message"))
        if item.kind == "RayJob" and item.status.get("jobDeploymentStatus") == "ValidationFailed":
            said = self._warning(item)
            return Refusal("status.jobDeploymentStatus", quoted(message or said), "ValidationFailed")
        state = _text(dig(item.status, "applicationState.state"))
        if item.kind == "SparkApplication" and state in {"SUBMISSION_FAILED", "INVALIDATING"}:
            text = _text(dig(item.status, "applicationState.errorMessage"))
            return Refusal("status.applicationState.errorMessage", quoted(text or self._warning(item)), str(state))
        entries = item.status.get("conditions")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("status") == "True" and _says_invalid(entry):
                return Refusal(
                    f"status.conditions[{entry.get('type')}]",
                    quoted(_text(entry.get("message"))),
                    str(entry.get("reason")),
                )
        said = self._warning(item)
        return Refusal("event", quoted(said), "warning") if said and not self._facts.progress.has_pods else None

    def _warning(self, item: o.Job) -> str:
        """The operator's newest word about the job, "" unless it is a warning that the job is invalid."""
        known = kinds.of_object(item.api_version, item.kind)
        if known is None or known.job is None or known.job.operator in {"", "kube-controller-manager"}:
            return ""
        events = [event for event in self._facts.kin.events(item) if not _NOT_OPERATORS.search(event.reporter)]
        last = events[-1] if events else None
        return last.message if last is not None and last.type == "Warning" and _REFUSES.search(last.reason) else ""

    @fact
    def silence(self) -> Silence | None:
        """The operator does not react although the job may run; None when it does, or has had no time yet.

        Raises Unknown when the job's pods were not read.
        """
        item, identity = self._item, self._facts.identity
        known = kinds.of_object(item.api_version, item.kind) if item is not None else None
        if item is None or known is None or known.job is None or kind_of(item) == "CronJob" or suspended(item) is True:
            return None
        if (
            self._facts.progress.remote is not None
            or self._facts.progress.foreign_manager is not None
            or self.refusal is not None
        ):
            return None
        if self._facts.kin.descendants(item) or item.spec.get("replicas") == 0 or item.spec.get("parallelism") == 0:
            return None
        workload = identity.workload
        start = since(workload, "Admitted") if workload is not None else item.metadata.creation_timestamp
        age = self._facts.age(start)
        if start is None or age is None or age < self._facts.thresholds.young or self._reacted(item, start):
            return None
        self._facts.progress.require_children(item)
        self._snapshot.require("Pod", item.namespace, selector=owned(item.metadata.uid))
        down = self._down(item)
        proof = [(subject_of(item), "status", "nothing since it may run")]
        if down is not None:
            proof.append((subject_of(down), "status.readyReplicas", "0"))
        minutes = f" since {age:.0f} s" if age < 120 else f" since {age // 60:.0f} minutes"
        return Silence(
            age, minutes, tuple(proof), named("Deployment", down.name, down.namespace) if down is not None else ""
        )

    def _reacted(self, item: o.Job, start: datetime) -> bool:
        """Whether the operator wrote a time into the status, counted pods, or reported anything since the job may run."""
        if any(
            item.status.get(field)
            for field in ("startTime", "active", "ready", "replicas", "state", "jobDeploymentStatus")
        ):
            return True
        if any(moment >= start for moment in _moments(item.status)) or isinstance(
            item.status.get("observedGeneration"), int
        ):
            return True
        events = self._facts.kin.events(item)
        return any(
            event.last_seen is not None and event.last_seen >= start and "kueue" not in event.reporter
            for event in events
        )

    def _down(self, item: o.Job) -> o.Job | None:
        """The operator's Deployment when it was seen, by its usual name, and has no ready replica."""
        usual = deployments_of(item.kind, item.api_version)
        for deployment in self._snapshot.seen("Deployment"):
            if isinstance(deployment, o.Job) and deployment.name.endswith(usual) and deployment.status:
                return None if deployment.status.get("readyReplicas") else deployment
        return None


def deployments_of(kind: str, api_version: str) -> tuple[str, ...]:
    """Give the usual names of the Deployment of a kind's operator, perhaps behind a prefix; () where there is none."""
    return _NAMES.get(kind, ("training-operator",) if "kubeflow.org" in api_version else ())


def _says_invalid(entry: dict[str, Any]) -> bool:
    """A condition that stands for a refusal: its type or reason says that the spec is invalid."""
    return bool(
        re.search(r"(?i)invalid|validationfailed|failedvalidation", f"{entry.get('type')} {entry.get('reason')}")
    )


def _moments(data: Any) -> list[datetime]:  # noqa: ANN401 - walks an untyped status
    """Every time that stands in a status."""
    if isinstance(data, dict):
        return [moment for value in data.values() for moment in _moments(value)]
    if isinstance(data, list):
        return [moment for value in data for moment in _moments(value)]
    if isinstance(data, str) and re.match(r"\d{4}-\d\d-\d\dT", data):
        try:
            found = datetime.fromisoformat(data)
        except ValueError:
            return []
        return [found] if found.tzinfo is not None else []
    return []


def _text(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else ""
