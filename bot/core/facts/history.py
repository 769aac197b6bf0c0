"""What happened to the Workload: evictions, preemptions, Kueue's own words, and the events about an object.

Conditions are the first source; events repeat them and are gone after an hour, so a missing event proves nothing.
`lastTransitionTime` moves only when a condition flips: it says nothing about the age of the text.
"""

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from bot.core import kinds, texts
from bot.core import objects as o
from bot.core.diagnosis import Evidence, KueueSaid
from bot.core.facts.contradictions import Contradiction, contradictions
from bot.core.facts.lazy import fact
from bot.core.marks import JOB_UID_LABEL
from bot.core.names import subject
from bot.core.objects import condition
from bot.core.records import dataclass
from bot.core.workloads import job_of

if TYPE_CHECKING:
    from bot.core.facts import Facts

SCHEDULER = "kueue-admission"
"""The reporting component of Kueue's scheduler: its newest event is the only evidence of a recent look."""
_CUT = " ..."  # Kueue cuts an event's text at 1024 characters and appends this
_TELLING = (
    "Failed", "InspectFailed", "ErrImageNeverPull", "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox",
    "FailedScheduling", "NotTriggerScaleUp", "Unhealthy", "BackOff", "FailedCreate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evicted:
    """The last eviction. `current`: it has not held quota since; `count`: how often in all, at least 1.

    `reason` is Kueue's ("PodsReadyTimeout"), `cause` what it adds ("WaitForStart"), `text` its words.
    """

    reason: str
    cause: str
    at: datetime | None
    count: int
    text: str
    current: bool


@dataclass(frozen=True, slots=True)
class Preempted:
    """The last preemption. `by` is the Workload that took its place, None where it could not be found.

    `job` is its owner as (kind, namespace, name).
    """

    rule: str
    at: datetime | None
    text: str
    said: texts.Preemption | None
    by: o.Workload | None
    job: tuple[str, str, str] | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why pods of an earlier attempt did not come up, from an event or a container's state."""

    kind: str
    name: str
    reason: str
    text: str
    at: datetime | None
    times: int


class History:
    """Facts about the past, and Kueue's words about the present."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    # --- Kueue's words ---

    @fact
    def refusal(self) -> o.Condition | None:
        """The condition QuotaReserved=False, None when there is none."""
        found = condition(self._facts.identity.want().status.conditions, "QuotaReserved")
        return found if found is not None and found.status == "False" else None

    @fact
    def text(self) -> str:
        """The message of QuotaReserved=False, "" when there is none. Raises Unknown without a Workload."""
        return self.refusal.message if self.refusal is not None else ""

    @fact
    def reason(self) -> str:
        """The reason of QuotaReserved=False, "" when there is none; either vocabulary (see `texts.REASONS`)."""
        return self.refusal.reason if self.refusal is not None else ""

    @fact
    def said(self) -> texts.QuotaText | None:
        """The message of QuotaReserved=False, read; None when there is none or nobody knows the text."""
        return texts.quota(self.text)

    @fact
    def is_verdict(self) -> bool:
        """Whether the text is the scheduler's verdict about this Workload: not an eviction's, not a queue's, not a wait.

        A text that nobody knows counts as a verdict unless it repeats the eviction or its reason says otherwise.
        """
        if not self.text:
            return False
        said = self.said
        if said is not None:
            return isinstance(said, texts.VERDICTS)
        evicted = condition(self._facts.identity.want().status.conditions, "Evicted")
        if evicted is not None and evicted.message == self.text:
            return False
        return texts.REASONS.get(self.reason, "any") in {"any", "scheduler"}

    @fact
    def outdated(self) -> tuple[Contradiction, ...]:
        """What the text says although the objects disprove it now; see `contradictions`. Raises Unknown without a Workload."""
        return contradictions(self._facts)

    def gone_for(self, reason: str) -> tuple[str, list[Evidence]]:
        """Say whether this job was, or is about to be, evicted for a stopped queue, with the proof.

        `reason` is the eviction's ("ClusterQueueStopped"); the sentence begins with a blank, "" when neither holds.
        """
        evicted = self.evicted
        if evicted is not None and evicted.current and evicted.reason == reason:
            workload = self._facts.identity.want()
            about = subject("Workload", workload.name, workload.namespace)
            proof = Evidence(about, "status.conditions[Evicted].reason", evicted.reason, "kueue")
            return " This job was evicted for it.", [proof]
        return "" if self._facts.progress.phase == "waiting" else " This job is about to be evicted for it.", []

    def repeats(self, text: str) -> int:
        """Give how often the events about the Workload said a text; 0 when no such event was read."""
        events = self.events_about(self._facts.identity.want())
        return sum(event.times for event in events if event.message == text)

    @fact
    def kueue_said(self) -> KueueSaid | None:
        """Kueue's own last words: of the refusal while it waits, of the first open check or Admitted after that; of an eviction
        while it still holds its quota, of the pods that wait for the scheduler where a newer Kueue counts them.

        None without a Workload or without a word. `since` is when the condition flipped, `last_seen` the newest event
        with the same text.
        """
        workload = self._facts.identity.workload
        if workload is None:
            return None
        text, reason, since = self._words(workload)
        if not text:
            return None
        return KueueSaid(text, reason, since, self.last_repeated(workload, text))

    def _words(self, workload: o.Workload) -> tuple[str, str, datetime | None]:
        conditions, phase = workload.status.conditions, self._facts.progress.phase
        if phase == "finished":
            order = ["Finished", "Admitted"]
        elif phase in {"admitted", "reserved"} and o.is_true(conditions, "Evicted"):
            order = ["Evicted", "Admitted"]
        elif phase == "admitted":
            scheduled = condition(conditions, "PodsScheduled")
            order = ["PodsScheduled", "Admitted"] if scheduled and scheduled.status == "False" else ["Admitted"]
        elif phase == "reserved":
            for state in sorted(workload.status.admission_checks, key=lambda check: check.name):
                if state.state != "Ready" and state.message:
                    return state.message, state.state, state.last_transition_time
            order = ["Admitted", "QuotaReserved"]
        else:
            order = ["QuotaReserved", "Admitted"]
        for kind in order:
            found = condition(conditions, kind)
            if found is not None and found.message:
                return found.message, found.reason, found.last_transition_time
        return "", "", None

    def last_repeated(self, item: o.KubeObject, text: str) -> datetime | None:
        """Give when an event about an object repeated a text last, None when no such event was read."""
        times = [
            event.last_seen
            for event in self.events_about(item)
            if event.last_seen is not None
            and (
                event.message == text or (event.message.endswith(_CUT) and text.startswith(event.message[: -len(_CUT)]))
            )
        ]
        return max(times, default=None)

    @fact
    def last_look(self) -> datetime | None:
        """When Kueue's scheduler was last seen to look at the Workload (its newest event), None when no event was read."""
        times = [
            event.last_seen
            for event in self.events_about(self._facts.identity.want())
            if event.last_seen is not None and SCHEDULER in event.reporter
        ]
        return max(times, default=None)

    # --- events ---

    @cached_property
    def _events(self) -> dict[str, tuple[o.Event, ...]]:
        """Events by UID of what they are about, and by "kind/namespace/name"."""
        index: dict[str, list[o.Event]] = {}
        for event in self._snapshot.all_of(o.Event, read="seen"):
            about = event.involved_object
            if about.uid:
                index.setdefault(about.uid, []).append(event)
            else:
                index.setdefault(f"{about.kind}/{about.namespace}/{about.name}", []).append(event)
        return {key: tuple(sorted(events, key=_when)) for key, events in index.items()}

    def events_about(self, item: o.KubeObject) -> tuple[o.Event, ...]:
        """Give the events about an object that were read, oldest first. An event without a UID counts by kind and name."""
        kind = item.kind or type(item).__name__
        found = (
            *self._events.get(item.metadata.uid or "\0", ()),
            *self._events.get(f"{kind}/{item.namespace}/{item.name}", ()),
        )
        return tuple(sorted(found, key=_when))

    # --- evictions ---

    @fact
    def evicted(self) -> Evicted | None:
        """The last eviction that the conditions still know, None when there is none. Raises Unknown without a Workload."""
        workload = self._facts.identity.want()
        found = condition(workload.status.conditions, "Evicted")
        if found is None:
            return None
        stats = workload.status.scheduling_stats
        counted = {(e.reason, e.underlying_cause): e.count for e in (stats.evictions if stats is not None else ())}
        current = found.status == "True"
        if not current and not found.message.startswith("Previously: "):
            return None
        reason = found.reason if current else self._former(found.message, counted)
        count = max(sum(counted.values()), self._requeues(workload), 1)
        causes = sorted(
            ((n, cause) for (name, cause), n in counted.items() if cause and name == reason.partition("DueTo")[0]),
            reverse=True,
        )
        cause = texts.deactivation_cause(reason) or (causes[0][1] if causes else "")
        return Evicted(
            reason, cause, found.last_transition_time, count, found.message.removeprefix("Previously: "), current
        )

    @staticmethod
    def _former(message: str, counted: dict[tuple[str, str], int]) -> str:
        said = texts.eviction(message)
        if said is not None:
            return said.cause
        return max(sorted(counted), key=lambda key: counted[key], default=("", ""))[0]

    @staticmethod
    def _requeues(workload: o.Workload) -> int:
        state = workload.status.requeue_state
        return state.count or 0 if state is not None else 0

    @fact
    def deactivated_by(self) -> str:
        """Kueue's own cause when it deactivated the Workload: "RequeuingLimitExceeded", "AdmissionCheck" …, else "".

        Only while spec.active is false. Sources in order: the condition DeactivationTarget, the reason of Evicted, the
        reason of Requeued, a check that was Rejected before Kueue reset it. An Evicted reason that is older than the
        deactivation names no cause, so it counts for nothing.
        """
        workload = self._facts.identity.want()
        if workload.spec.active is not False:
            return ""
        conditions = workload.status.conditions
        target = condition(conditions, "DeactivationTarget")
        if target is not None and target.status == "True" and target.reason:
            return target.reason
        for kind, status in (("Evicted", "True"), ("Requeued", "False")):
            found = condition(conditions, kind)
            if found is not None and found.status == status:
                cause = texts.deactivation_cause(found.reason)
                if cause or found.reason in {"Deactivated", "InactiveWorkload"}:
                    return cause
        read = (texts.check(state.message) for state in workload.status.admission_checks)
        reset = any(said is not None and said.what == "reset" and said.previous == "Rejected" for said in read)
        return "AdmissionCheck" if reset else ""

    @fact
    def rejections(self) -> tuple[tuple[str, str, str], ...]:
        """The checks that rejected the Workload: (check, its words, where they stand), sorted; () when none did.

        From the state Rejected, else, after Kueue reset the states, from the eviction's text and from events.
        """
        workload = self._facts.identity.want()
        states = {state.name: state for state in workload.status.admission_checks}
        found = {
            name: (state.message, f"status.admissionChecks[{name}].message")
            for name, state in states.items()
            if state.state == "Rejected"
        }
        if not found and self.deactivated_by != "AdmissionCheck":
            return ()
        said: list[tuple[str, str, str]] = []
        for kind in ("DeactivationTarget", "Evicted", "Requeued"):
            entry = condition(workload.status.conditions, kind)
            if entry is not None:
                said += [(n, t, f"status.conditions[{kind}].message") for n, t in texts.rejected(entry.message)]
        for event in reversed(self.events_about(workload)):
            if event.reason == "AdmissionCheckRejected":
                said += [(n, t, f"events[{event.reason}].message") for n, t in texts.rejected(event.message)]
        for name, words, where in said:
            if not found.get(name, ("", ""))[0]:
                found[name] = (words, where)
        for name, state in states.items():
            read = texts.check(state.message)
            if name not in found and read is not None and read.what == "reset" and read.previous == "Rejected":
                found[name] = ("", f"status.admissionChecks[{name}].message")
        return tuple((name, words, where) for name, (words, where) in sorted(found.items()))

    # --- preemptions ---

    @fact
    def preempted(self) -> Preempted | None:
        """The last preemption while it has not got quota again, None when there was none. Raises Unknown without a Workload."""
        conditions = self._facts.identity.want().status.conditions
        found, evicted = condition(conditions, "Preempted"), condition(conditions, "Evicted")
        if evicted is None or evicted.status != "True" or evicted.reason != "Preempted":
            return None
        if found is None or found.status != "True":
            found = evicted
        said = texts.preemption(found.message)
        by = self._preemptor(said)
        job: tuple[str, str, str] | None = None
        if by is not None:
            job = job_of(by)
        elif said is not None and said.job_uid and (item := self._snapshot.by_uid(said.job_uid)) is not None:
            job = (item.kind or type(item).__name__, item.namespace, item.name)
        rule = "" if found.reason == "Preempted" else found.reason
        return Preempted(rule, evicted.last_transition_time, found.message, said, by, job)

    def _preemptor(self, said: texts.Preemption | None) -> o.Workload | None:
        if said is None:
            return None
        item = self._snapshot.by_uid(said.uid) if said.uid else None
        if isinstance(item, o.Workload):
            return item
        if said.job_uid:
            for workload in self._snapshot.all_of(o.Workload, read="seen"):
                if workload.metadata.labels.get(JOB_UID_LABEL) == said.job_uid:
                    return workload
        return None

    # --- what went wrong before ---

    @fact
    def trouble(self) -> Trouble | None:
        """Why the pods of the last attempt did not come up: the most telling of what containers and events say.

        Pods of an evicted attempt are deleted; the events about them stay for an hour. Events of pods that cannot be told
        to be this job's are left out.
        """
        root = self._facts.identity.root
        if root is None:
            return None
        found = [*self._container_trouble(root), *self._event_trouble(root)]
        return max(
            found,
            key=lambda item: (
                -_TELLING.index(item.reason) if item.reason in _TELLING else 1,
                item.at is not None,
                item.at or self._facts.now,
                item.name,
            ),
            default=None,
        )

    def _container_trouble(self, root: o.KubeObject) -> list[Trouble]:
        pods = [root] if isinstance(root, o.Pod) else self._facts.kin.children(root)
        found = []
        for pod in pods:
            if not isinstance(pod, o.Pod):
                continue
            for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
                waiting = status.state.waiting
                if waiting is not None and waiting.reason not in {"", "ContainerCreating", "PodInitializing"}:
                    text = waiting.message or waiting.reason
                    image = f"{waiting.reason} of image {status.image}: {text}" if status.image not in text else text
                    found.append(Trouble("Pod", pod.name, waiting.reason, image, None, 1))
        return found

    def _event_trouble(self, root: o.KubeObject) -> list[Trouble]:
        others = {
            item.name
            for kind in kinds.JOB_KINDS
            for item in self._snapshot.seen(kind.kind, root.namespace)
            if item.name.startswith(f"{root.name}-") and not self._below(item, root)
        }
        found = []
        for event in self._snapshot.all_of(o.Event, read="seen", namespace=root.namespace):
            about = event.involved_object
            if event.reason not in _TELLING or about.kind != "Pod" or not self._is_pod_of(about, root, others):
                continue
            found.append(Trouble("Pod", about.name, event.reason, event.message, event.last_seen, event.times))
        return found

    def _below(self, item: o.KubeObject, root: o.KubeObject) -> bool:
        return any(owner.metadata.uid == root.metadata.uid for owner in self._facts.kin.owners(item))

    def _is_pod_of(self, about: o.ObjectReference, root: o.KubeObject, others: set[str]) -> bool:
        if isinstance(root, o.Pod):
            return about.name == root.name
        pod = self._snapshot.look("Pod", about.name, about.namespace)
        if pod is not None:
            return self._below(pod, root)
        if not about.name.startswith(f"{root.name}-"):
            return False
        return not any(about.name.startswith(f"{name}-") or about.name == name for name in others)


def _when(event: o.Event) -> tuple[bool, str, str]:
    seen = event.last_seen
    return seen is not None, seen.isoformat() if seen is not None else "", event.name
