"""Facts about whether Kueue takes up a job: where its queue name stands, and what makes Kueue ignore it."""

import re
from typing import TYPE_CHECKING, Any

from bot.core import decode, kinds
from bot.core import objects as o
from bot.core.closeness import score
from bot.core.facts.controller import KNOWN_SINCE, KNOWN_UNTIL
from bot.core.facts.lazy import fact
from bot.core.jobs import kind_of, subject_of, suspended, titled
from bot.core.marks import GROUP_TOTAL, PREFIX, QUEUE_LABEL, queue_name
from bot.core.names import named, quoted, subject
from bot.core.objects import is_true
from bot.core.records import dataclass
from bot.core.scheduling import selector_lacks, selector_matches, selector_text
from bot.core.snapshot import Unknown
from bot.core.untyped import dig, each

if TYPE_CHECKING:
    from bot.core.facts import Facts

_OWN_KEYS = {"kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/cluster-queue-name"}
"""Kueue writes these itself, into pod templates and pods."""
_NAMES = {"queue", "queuename", "localqueue", "localqueuename", "kueuequeue", "kueuequeuename"}
_GATES = {"SparkApplication": "SparkApplicationIntegration"}


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A queue name that Kueue does not read: `place` in words, `field` its path, `wanted` the path where it belongs."""

    place: str
    field: str
    key: str
    value: str
    wanted: str
    labels_itself: bool
    """Whether one `kubectl label` on the object puts it right."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Why a namespace is not Kueue's: in words, and the proof."""

    says: str
    subject: str
    field: str
    value: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """Why Kueue does not watch a kind: in words, the proof, and what the platform's owner does about it."""

    says: str
    evidence: tuple[tuple[str, str, str], ...]
    todo: str
    certain: bool = True


PRIORITY_LABEL = PREFIX + "priority-class"


@dataclass(frozen=True, slots=True)
class Priority:
    """The priority class that a job names: `of` and `words` for a sentence, `subject` and `field` the proof."""

    kind: str
    name: str
    of: str
    words: str
    subject: str
    field: str
    object_path: str

    def command(self, near: tuple[str, ...]) -> str | None:
        """The command that names another class, where one label does it."""
        if not self.object_path or not near:
            return None
        return f"kubectl label --overwrite {self.object_path} {PRIORITY_LABEL}={near[0]}"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why no Workload can be made of a job: in words, and the proof."""

    says: str
    subject: str
    field: str
    value: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """How often Kueue discarded the job's Workload, within how many minutes, by which events, and what differs now."""

    times: int
    minutes: int
    events: tuple[o.Event, ...]
    differences: tuple[str, ...]


_DISCARDED = ("Deleted not matching Workload", "No matching Workload")
_LOOPS = 3
_LONGEST_NAME = (
    247  # Kueue cuts a Workload's name there and appends five hexadecimal digits (pkg/controller/jobframework)
)
_FEWEST_POD_SETS = 8  # every version allows so many
_RECENT = 1800.0  # seconds; Kubernetes keeps events for an hour
_WHERE_IT_FAILED = re.compile(r"^Error creating(?: \w+)?: ")
_DENIED = re.compile(
    r"denied the request|is invalid: |Too many: |podSets|cannot create workload|already exists and is not|prebuilt|"
    r"failed to create workload",
    re.IGNORECASE,
)


class Membership:
    """Whether and why Kueue takes up the asked job."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @property
    def _item(self) -> o.KubeObject | None:
        return self._facts.identity.root

    @fact
    def queues(self) -> tuple[str, ...]:
        """The LocalQueues of the namespace that were read, perhaps not all."""
        return tuple(sorted(item.name for item in self._snapshot.seen("LocalQueue", self._facts.ref.namespace)))

    # --- is it suspended ---

    @fact
    def suspend_path(self) -> str:
        """The field that suspends the job, "" when its kind has none."""
        item = self._item
        if not isinstance(item, o.Job):
            return ""
        known = kinds.of_object(item.api_version, item.kind)
        if known is not None and known.job is not None:
            return known.job.suspend
        return "spec.suspend" if isinstance(item.spec.get("suspend"), bool) else ""

    @fact
    def suspended(self) -> bool:
        """Whether the job object says that it is suspended, or a pod carries one of Kueue's gates."""
        return self._item is not None and suspended(self._item) is True

    # --- where the queue name stands ---

    @fact
    def misplaced(self) -> tuple[Misplaced, ...]:
        """The queue names that stand where Kueue does not look; nothing when the right label is there."""
        item = self._item
        if item is None:
            return ()
        if kind_of(item) == "CronJob" and isinstance(item, o.Job):
            return tuple(self._of_cron_job(item))
        if queue_name(item) is not None:
            return ()
        wanted = f"metadata.labels of the {kind_of(item)}"
        found = self._wrong(item.metadata.labels, "its label", "metadata.labels", wanted, itself=True)
        found += self._wrong(
            item.metadata.annotations, "its annotation", "metadata.annotations", wanted, itself=True, exact=True
        )
        if isinstance(item, o.Job) and self.suspend_path:
            for path, labels, annotations in self._templates(item):
                found += self._wrong(
                    labels, "its template's label", f"{path}.metadata.labels", wanted, itself=True, exact=True
                )
                found += self._wrong(
                    annotations,
                    "its template's annotation",
                    f"{path}.metadata.annotations",
                    wanted,
                    itself=True,
                    exact=True,
                )
        for owner in self._facts.kin.owners(item):
            label = owner.metadata.labels.get(QUEUE_LABEL)
            if kind_of(owner) == "CronJob" and label is not None:
                found.append(
                    Misplaced(
                        f"the label of its CronJob {quoted(owner.name)}",
                        "metadata.ownerReferences[CronJob].metadata.labels",
                        QUEUE_LABEL,
                        label,
                        "spec.jobTemplate.metadata.labels of the CronJob",
                        labels_itself=False,
                    )
                )
        return tuple(found)

    def _of_cron_job(self, item: o.Job) -> list[Misplaced]:
        template = dig({"spec": item.spec}, "spec.jobTemplate.metadata", {})
        labels, annotations = _texts(template, "labels"), _texts(template, "annotations")
        if QUEUE_LABEL in labels:
            return []
        wanted = "spec.jobTemplate.metadata.labels of the CronJob"
        place = "spec.jobTemplate.metadata"
        found = self._wrong(labels, "its job template's label", f"{place}.labels", wanted)
        found += self._wrong(annotations, "its job template's annotation", f"{place}.annotations", wanted, exact=True)
        found += self._wrong(item.metadata.labels, "the CronJob's own label", "metadata.labels", wanted, exact=True)
        for path, pod_labels, _ in self._templates(item):
            found += self._wrong(pod_labels, "its pod template's label", f"{path}.metadata.labels", wanted, exact=True)
        return found

    def _templates(self, item: o.Job) -> list[tuple[str, dict[str, str], dict[str, str]]]:
        """(path, labels, annotations) of the job's pod templates, and of the job templates of a JobSet."""
        known = kinds.of_object(item.api_version, item.kind)
        paths = known.job.templates if known is not None and known.job is not None else ("spec.template",)
        paths = tuple(
            dict.fromkeys((*paths, *(path.removesuffix(".spec.template") for path in paths if "[]." in path)))
        )
        return [
            (
                path,
                _texts(dig(template, "metadata", {}), "labels"),
                _texts(dig(template, "metadata", {}), "annotations"),
            )
            for path in paths
            for template in each({"spec": item.spec}, path)
        ]

    def _wrong(
        self, entries: dict[str, str], place: str, field: str, wanted: str, *, itself: bool = False, exact: bool = False
    ) -> list[Misplaced]:
        """The entries whose key is close to the queue label; with `exact` also those that have its very key."""
        return [
            Misplaced(place, field, key, value, wanted, itself)
            for key, value in sorted(entries.items())
            if (key == QUEUE_LABEL and exact) or (key != QUEUE_LABEL and self._close(key, value, own=not exact))
        ]

    def _close(self, key: str, value: str, *, own: bool) -> bool:
        """Say whether a key was probably meant to be the queue label: its prefix is like Kueue's and its name like a queue's."""
        if key in _OWN_KEYS and not (own and key == "kueue.x-k8s.io/local-queue-name"):
            return False
        prefix, _, name = key.lower().rpartition("/")
        bare = re.sub(r"[^a-z0-9]", "", name)
        if not prefix:
            return bare in _NAMES - {"queue", "localqueue"} or (bare in _NAMES and value in self.queues)
        like_kueue = "kueue" in prefix or score(prefix, "kueue.x-k8s.io") >= 0.8
        return like_kueue and (bare in _NAMES or score(bare, "queuename") >= 0.8)

    # --- is the namespace Kueue's ---

    @fact
    def outside(self) -> Outside | None:
        """Why the namespace is not Kueue's, None when it is. Raises Unknown when neither configuration nor webhooks were read."""
        item, namespace = self._item, self._facts.ref.namespace
        kind = kind_of(item) if item is not None else "Pod"
        if not self._asks or not self._snapshot.is_served("Workload"):
            return None
        by_webhook = self._outside_webhook(kind, namespace)
        if by_webhook is not None:
            return by_webhook
        controller = self._facts.controller
        if namespace == "kube-system" and kind in {"Pod", "Deployment", "StatefulSet", "ReplicaSet"}:
            about = subject("Namespace", namespace)
            return Outside("Kueue never touches this namespace", about, "metadata.name", namespace, certain=False)
        if controller.selects_namespace(namespace, kind):
            return None
        labelled = item is not None and queue_name(item) is not None and kind != "Pod"
        certain = not labelled or self._labelled_are_ignored()
        labels = self._snapshot.look_of(o.Namespace, namespace)
        shown = ", ".join(f"{key}={value}" for key, value in sorted(labels.metadata.labels.items())) if labels else ""
        selector = controller.namespace_selector(kind)
        lacking = selector_lacks(selector, labels.metadata.labels) if labels is not None else []
        asks = quoted(", ".join(lacking) or selector_text(selector), 300)
        return Outside(
            f"managedJobsNamespaceSelector asks for {asks}",
            controller.config_subject,
            "managedJobsNamespaceSelector",
            quoted(f"does not match the namespace's labels: {shown or 'none'}"),
            certain,
        )

    def _labelled_are_ignored(self) -> bool:
        """Whether this Kueue applies the selector to jobs with a queue name too: a gate says so, on since 0.15."""
        gate = self._facts.controller.gates.get("ManagedJobsNamespaceSelectorAlwaysRespected")
        release = self._facts.controller.release
        return gate if gate is not None else release is not None and release >= (0, 15)

    def _outside_webhook(self, kind: str, namespace: str) -> Outside | None:
        """Whether Kueue's mutating webhook for the kind was seen and its namespaceSelector leaves the namespace out."""
        plural = kinds.BY_NAME[kind].plural if kind in kinds.BY_NAME else ""
        place = self._snapshot.look_of(o.Namespace, namespace)
        for configuration in self._facts.controller.webhooks:
            if "kueue" not in configuration.name or place is None or not plural:
                continue
            hooks = [hook for hook in configuration.webhooks if plural in _resources(hook)]
            selectors = [_selector(hook) for hook in hooks]
            labels = {"kubernetes.io/metadata.name": namespace} | place.metadata.labels
            if selectors and not any(
                selector_matches(selector, labels) for selector in selectors if selector is not None
            ):
                if any(selector is None for selector in selectors):
                    continue
                return Outside(
                    f"the namespaceSelector of Kueue's webhook for {plural} leaves it out",
                    subject(configuration.kind or "MutatingWebhookConfiguration", configuration.name),
                    f"webhooks[{quoted(str(hooks[0].get('name', '')))}].namespaceSelector",
                    "does not match the namespace's labels",
                )
        return None

    # --- is its kind switched on ---

    @fact
    def switched_off(self) -> SwitchedOff | None:
        """Why Kueue does not watch the job's kind, None when it does. Raises Unknown when that cannot be told."""
        item, controller = self._item, self._facts.controller
        if not self._asks or not self._snapshot.is_served("Workload"):
            return None
        kind = kind_of(item) if item is not None else "Pod"
        known = kinds.BY_NAME.get(kind)
        if known is None or (known.job is None and kind != "Pod") or kind in {"CronJob", "ReplicaSet"}:
            return None
        for found in (self._unknown_to_release(kind), self._defined_later(known)):
            if found is not None:
                return found
        framework = controller.framework_of(item) if item is not None else "pod"
        about = controller.config_subject
        gate = _GATES.get(kind, "")
        if gate and controller.gates.get(gate) is not True:
            says = f"its feature gate {gate} is not on"
            return SwitchedOff(says, ((about, f"featureGates.{gate}", "not true"),), f"Enable the feature gate {gate}.")
        if framework in controller.frameworks or any(name.split(".")[0] == kind for name in controller.frameworks):
            return None
        return SwitchedOff(
            f"its configuration does not list {framework} in integrations.frameworks",
            ((about, "integrations.frameworks", quoted(", ".join(sorted(controller.frameworks)))),),
            f"Add {framework} to integrations.frameworks in Kueue's configuration and restart Kueue.",
        )

    def _unknown_to_release(self, kind: str) -> SwitchedOff | None:
        release, version = self._facts.controller.release, self._facts.controller.version
        since, until = KNOWN_SINCE.get(kind), KNOWN_UNTIL.get(kind)
        if release is None or version is None:
            return None
        about = subject("Deployment", "kueue-controller-manager", min(self._facts.controller.namespaces))
        if since is not None and release < since:
            says = f"Kueue {quoted(version)} does not know the kind, {since[0]}.{since[1]} was the first that does"
            return SwitchedOff(
                says,
                ((about, "version", quoted(version)),),
                f"Upgrade Kueue to {since[0]}.{since[1]} or later.",
                certain=False,
            )
        if until is not None and release >= until:
            says = f"Kueue {quoted(version)} no longer knows the kind"
            return SwitchedOff(
                says, ((about, "version", quoted(version)),), "Use a kind that this Kueue integrates.", certain=False
            )
        return None

    def _defined_later(self, kind: kinds.Kind) -> SwitchedOff | None:
        """Whether the kind's definition is younger than Kueue's processes."""
        definition = self._snapshot.look_of(o.CustomResourceDefinition, kind.crd)
        started, item = self._facts.controller.started, self._item
        if definition is None or started is None or item is None:
            return None
        made = definition.metadata.creation_timestamp
        ready = [pod for pod in self._facts.controller.pods if is_true(pod.status.conditions, "Ready")]
        if made is None or made <= started or not ready:
            return None
        then, born = f"{started:%Y-%m-%d %H:%M}", f"{made:%Y-%m-%d %H:%M}"
        return SwitchedOff(
            f"the definition of {kind.kind} was created on {born}, after Kueue had started on {then}",
            (
                (subject("CustomResourceDefinition", kind.crd), "metadata.creationTimestamp", made.isoformat()),
                (subject_of(ready[-1]), "metadata.creationTimestamp", started.isoformat()),
            ),
            f"Restart Kueue's controller manager, so that it begins to watch {kind.kind}.",
            certain=False,
        )

    # --- can a Workload be made of it ---

    @fact
    def priority(self) -> Priority | None:
        """The priority class that decides for the Workload: by label, else of the first pod template that names one."""
        group = self._facts.identity.group
        items: list[o.KubeObject] = (
            [self._item] if self._item is not None else list(group.pods if group is not None else ())
        )
        for item in items:
            label = item.metadata.labels.get(PRIORITY_LABEL)
            if label:
                path = f"-n {item.namespace} {kind_of(item).lower()}/{item.name}"
                field = f"metadata.labels[{PRIORITY_LABEL}]"
                words = f"the label {PRIORITY_LABEL}"
                return Priority("WorkloadPriorityClass", label, titled(item), words, subject_of(item), field, path)
            for field, name in self._pod_classes(item):
                return Priority("PriorityClass", name, titled(item), field, subject_of(item), field, "")
        return None

    def _pod_classes(self, item: o.KubeObject) -> list[tuple[str, str]]:
        if isinstance(item, o.Pod):
            return [("spec.priorityClassName", item.spec.priority_class_name)] if item.spec.priority_class_name else []
        if not isinstance(item, o.Job):
            return []
        known = kinds.of_object(item.api_version, item.kind)
        found = []
        for path in known.job.templates if known is not None and known.job is not None else ():
            for template in each({"spec": item.spec}, path):
                name = dig(template, "spec.priorityClassName")
                if isinstance(name, str) and name:
                    found.append((f"{path}.spec.priorityClassName", name))
        return found

    @fact
    def group_totals(self) -> frozenset[int]:
        """The different numbers that the pods of the group give as its total count; 0 stands for none that is a number."""
        group = self._facts.identity.group
        texts = [pod.metadata.annotations.get(GROUP_TOTAL, "") for pod in group.pods] if group is not None else []
        return frozenset(int(text) if text.isascii() and text.isdecimal() else 0 for text in texts)

    @fact
    def group_roles(self) -> tuple[int, int] | None:
        """(how many kinds of pods the group has, how many its Workload may have) when it has too many; else None.

        Pods are of one kind when Kueue's own hash of them says so, else when they request the same and go to the same nodes.
        """
        group, release = self._facts.identity.group, self._facts.controller.release
        if group is None:
            return None
        kinds_of_pods = {pod.metadata.annotations.get(PREFIX + "role-hash") or repr(_shape(pod)) for pod in group.pods}
        most = self._pod_sets_allowed()
        if most is None:
            most = 18 if release is None or release >= (0, 19) else 10 if release >= (0, 18) else 8
        return (len(kinds_of_pods), most) if len(kinds_of_pods) > most else None

    @fact
    def refused(self) -> Refused | None:
        """Why no Workload can be made of the job, None when nothing says so."""
        item = self._item
        if not isinstance(item, o.Job | o.Pod):
            return None
        return self._bad_requests(item) or self._said_no(item) or self._taken(item) or self._too_many_pod_sets(item)

    def _taken(self, item: o.KubeObject) -> Refused | None:
        """Whether the name that Kueue gives the job's Workload belongs to the Workload of somebody else."""
        if not self._asks or not item.metadata.uid or isinstance(item, o.Pod) or self._facts.identity.workloads:
            return None
        import hashlib  # noqa: PLC0415 - it loads OpenSSL, and few answers come here

        group = item.api_version.rpartition("/")[0]
        parts = "\n".join((kind_of(item), group, item.name, item.metadata.uid))
        name = f"{kind_of(item).lower()}-{item.name}"[:_LONGEST_NAME]
        name += "-" + hashlib.sha1(parts.encode(), usedforsecurity=False).hexdigest()[:5]
        other = self._snapshot.look_of(o.Workload, name, item.namespace)
        if other is None:
            return None
        owners = [
            f"{owner.kind} {named(owner.kind, owner.name, item.namespace)}" for owner in other.metadata.owner_references
        ]
        whose = f"belongs to {owners[0]}" if owners else "has no owner"
        says = f"the name that it would get, {named('Workload', name, item.namespace)}, is taken by a Workload that {whose}."
        owned = quoted(", ".join(owner.name for owner in other.metadata.owner_references)) or "none"
        return Refused(says, subject_of(other), "metadata.ownerReferences", owned, certain=True)

    def _too_many_pod_sets(self, item: o.KubeObject) -> Refused | None:
        known = kinds.of_object(item.api_version, item.kind)
        if not isinstance(item, o.Job) or known is None or known.job is None or not self._asks:
            return None
        count = sum(len(each({"spec": item.spec}, path)) for path in known.job.templates)
        release = self._facts.controller.release
        most = self._pod_sets_allowed()
        if most is None:
            most = 18 if release is None or release >= (0, 19) else 10 if release >= (0, 18) else 8
            if release is None and _FEWEST_POD_SETS < count <= most:
                raise Unknown(self._snapshot.why_not("CustomResourceDefinition", "", kinds.BY_NAME["Workload"].crd))
        if count <= most:
            return None
        version = self._facts.controller.version
        who = f"Kueue {quoted(version)}" if version else "Kueue"
        says = f"it has {count} pod sets, and {who} allows at most {most}."
        return Refused(says, subject_of(item), known.job.templates[-1], str(count), certain=True)

    def _pod_sets_allowed(self) -> int | None:
        """How many pod sets a Workload may have by the definition of the kind; None when that was not read."""
        definition = self._snapshot.look_of(o.CustomResourceDefinition, kinds.BY_NAME["Workload"].crd)
        versions = definition.spec.get("versions") if definition is not None else None
        found = [
            dig(version, "schema.openAPIV3Schema.properties.spec.properties.podSets.maxItems", None)
            for version in (versions if isinstance(versions, list) else ())
            if isinstance(version, dict) and version.get("served") is True
        ]
        return max((most for most in found if isinstance(most, int) and not isinstance(most, bool)), default=None)

    def _bad_requests(self, item: o.KubeObject) -> Refused | None:
        known = kinds.of_object(item.api_version, item.kind)
        if not isinstance(item, o.Job) or known is None or known.job is None or not self._asks:
            return None
        for path in known.job.templates:
            for template in each({"spec": item.spec}, path):
                for container in each(template, "spec.containers[]"):
                    requests = dig(container, "resources.requests", {})
                    for resource, amount in requests.items() if isinstance(requests, dict) else ():
                        if resource == "pods":
                            return Refused(
                                "it requests the resource pods, which Kueue counts by itself.",
                                subject_of(item), f"{path}.spec.containers[].resources.requests[pods]", quoted(str(amount)),
                                certain=True,
                            )  # fmt: skip
                        if str(amount).strip().startswith("-"):
                            return Refused(
                                f"it requests a negative amount of {quoted(str(resource))}: {quoted(str(amount))}.",
                                subject_of(item), f"{path}.spec.containers[].resources.requests[{quoted(str(resource))}]",
                                quoted(str(amount)), certain=True,
                            )  # fmt: skip
        return None

    @property
    def _asks(self) -> bool:
        return self._facts.progress.managed

    def _said_no(self, item: o.KubeObject) -> Refused | None:
        """A warning of Kueue, or of a webhook or policy about Kueue, that the Workload or the job was refused; recent only."""
        events = [
            event for event in self._facts.kin.events(item) if event.type == "Warning" and event.last_seen is not None
        ]
        for event in reversed(events):
            by_kueue = "kueue" in event.reporter or "kueue" in event.message
            webhook_down = "failed calling webhook" in event.message
            old = (self._facts.age(event.last_seen) or 0) > _RECENT
            if by_kueue and not webhook_down and not old and _DENIED.search(event.message):
                return Refused(
                    quoted(_WHERE_IT_FAILED.sub("", event.message)),
                    subject_of(item),
                    f"event {event.reason}",
                    quoted(event.message),
                    certain=False,
                )
        return None

    @fact
    def loop(self) -> Loop | None:
        """Kueue discards the job's Workload again and again, by its recent events; None when it does not."""
        item = self._item
        if item is None:
            return None
        found = [
            event
            for event in self._facts.kin.events(item)
            if event.message.startswith(_DISCARDED)
            and event.last_seen is not None
            and (self._facts.age(event.last_seen) or 0) < _RECENT
        ]
        by_reason: dict[str, int] = {}
        for event in found:
            by_reason[event.reason] = by_reason.get(event.reason, 0) + event.times
        times = max(by_reason.values(), default=0)
        if times < _LOOPS:
            return None
        moments = [moment for event in found for moment in (event.first_timestamp, event.event_time, event.last_seen)]
        starts = [moment for moment in moments if moment is not None]
        minutes = max(round((max(starts) - min(starts)).total_seconds() / 60), 1)
        return Loop(times, minutes, tuple(found[-4:]), self._differences(item))

    def _differences(self, item: o.KubeObject) -> tuple[str, ...]:
        """What the job's pod template has other than its Workload's pod set, by field; nothing when that cannot be compared."""
        known = kinds.of_object(item.api_version, item.kind)
        workloads = self._facts.identity.workloads
        if not isinstance(item, o.Job) or known is None or known.job is None or not workloads:
            return ()
        templates = [template for path in known.job.templates for template in each({"spec": item.spec}, path)]
        pod_sets = workloads[-1].spec.pod_sets
        found: list[str] = []
        for template, pod_set in zip(templates, pod_sets, strict=False):
            if len(templates) != len(pod_sets) or not isinstance(template, dict):
                break
            ours = decode.convert({"spec": template.get("spec") or {}}, "Pod").object
            if isinstance(ours, o.Pod):
                found += _differing(ours.spec, pod_set.template.spec)
        return tuple(dict.fromkeys(found))

    @fact
    def not_excluded(self) -> tuple[tuple[str, str], ...]:
        """What could make Kueue ignore the job and could not be read, in words: (what it would be, why it is not known)."""
        looks = {
            "outside": "an unmanaged namespace",
            "switched_off": "a kind that is switched off",
            "_class_is_there": "a missing priority class",
        }
        reasons: dict[str, list[str]] = {}
        for look, what in looks.items():
            try:
                getattr(self, look)
            except Unknown as unknown:
                reasons.setdefault(unknown.reason, []).append(what)
        return tuple((" and ".join(what), reason) for reason, what in reasons.items())

    @property
    def _class_is_there(self) -> bool:
        wanted = self.priority
        return wanted is None or self._snapshot.find(wanted.kind, wanted.name) is not None


def _shape(pod: o.Pod) -> tuple[object, ...]:
    """What makes the pods of a group different roles: what they request, and which nodes they may go to."""
    spec = pod.spec
    requests = [sorted(container.resources.requests.items()) for container in (*spec.init_containers, *spec.containers)]
    return (
        requests,
        sorted(spec.node_selector.items()),
        spec.affinity,
        spec.tolerations,
        spec.runtime_class_name,
        spec.priority,
    )


def _differing(job: o.PodSpec, workload: o.PodSpec) -> list[str]:
    """The fields in which two pod specs differ, of those that Kueue compares; flavors add node selectors of their own."""
    found = []
    ours = {container.name: container for container in (*job.init_containers, *job.containers)}
    theirs = {container.name: container for container in (*workload.init_containers, *workload.containers)}
    if set(ours) != set(theirs):
        found.append(f"containers ({', '.join(quoted(name, 60) for name in sorted(set(ours) ^ set(theirs)))})")
    found += [
        f"resources.requests of container {quoted(name, 60)}"
        for name in sorted(set(ours) & set(theirs))
        if ours[name].resources.requests != theirs[name].resources.requests
    ]
    if not set(workload.node_selector.items()) <= set(job.node_selector.items()):
        found.append("nodeSelector")
    if job.priority_class_name != workload.priority_class_name:
        found.append("priorityClassName")
    if not set(map(str, workload.tolerations)) <= set(map(str, job.tolerations)):
        found.append("tolerations")
    return found


def _texts(data: Any, key: str) -> dict[str, str]:  # noqa: ANN401
    entries = data.get(key) if isinstance(data, dict) else None
    return {str(k): str(v) for k, v in entries.items()} if isinstance(entries, dict) else {}


def _resources(hook: dict[str, Any]) -> set[str]:
    rules = hook.get("rules")
    found: set[str] = set()
    for entry in rules if isinstance(rules, list) else ():
        named = entry.get("resources") if isinstance(entry, dict) else None
        found |= {str(name) for name in named} if isinstance(named, list) else set()
    return found


def _selector(hook: dict[str, Any]) -> o.LabelSelector | None:
    """A webhook's namespaceSelector; None when it cannot be read. An absent one selects every namespace."""
    selector = hook.get("namespaceSelector")
    if selector is None:
        return o.LabelSelector()
    if not isinstance(selector, dict):
        return None
    built = decode.convert({"spec": {"namespaceSelector": selector}}, "ClusterQueue").object
    return built.spec.namespace_selector if isinstance(built, o.ClusterQueue) else None
