"""Facts about Kueue itself: seen signs that it does not work, its configuration, its version, when it started.

Kueue's Deployment, Pods, Lease, endpoints and ConfigMap are often not readable, and a Kueue may run outside the
cluster: their absence never means anything here.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bot.core import decode, kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.jobs import is_over
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.records import dataclass
from bot.core.scheduling import selector_matches
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

CONFIG_MAP = "kueue-manager-config"
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_CALL_FAILED = re.compile(r"failed calling webhook \"?([^\s\"]+?)\"?[:\s]", re.IGNORECASE)

KNOWN_SINCE: dict[str, tuple[int, int]] = {
    "Deployment": (0, 9), "StatefulSet": (0, 9), "LeaderWorkerSet": (0, 11), "AppWrapper": (0, 11), "JAXJob": (0, 12),
    "TrainJob": (0, 14), "RayService": (0, 17), "SparkApplication": (0, 17),
}  # fmt: skip
"""The first Kueue release that integrates a kind; kinds that are not here are older than 0.7."""
KNOWN_UNTIL: dict[str, tuple[int, int]] = {"MXJob": (0, 11)}
"""The first Kueue release that no longer integrates a kind."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A seen sign that Kueue does not work. `says` completes "Kueue is not running: …"."""

    kind: str
    """deployment, pods, lease, endpoints, webhook or visibility."""
    says: str
    subject: str
    field: str
    value: str
    since: datetime | None = None


def is_kueue_image(image: str) -> bool:
    """Say whether an image is Kueue's controller: its repository's last part is "kueue", or "kueue-rhel9" and the like."""
    repository = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return (
        repository == "kueue" or re.fullmatch(r"kueue(-rhel\d+)?|kueue-controller(-manager)?", repository) is not None
    )


def version_of(text: str) -> tuple[int, int, int] | None:
    """Give (major, minor, patch) of a version text or an image tag, None when it has none."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


class Controller:
    """Kueue's own state, as far as it was seen."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    # --- is it there ---

    @fact
    def deployments(self) -> tuple[o.Job, ...]:
        """Kueue's Deployments that were read, in any namespace, by image or name."""
        found = []
        for item in self._snapshot.seen("Deployment"):
            if not isinstance(item, o.Job):
                continue
            named = item.name.endswith("kueue-controller-manager")
            if named or any(is_kueue_image(image) for image in _images(item)):
                found.append(item)
        return tuple(sorted(found, key=lambda item: (item.namespace, item.name)))

    @fact
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which Kueue was seen, else the configured one."""
        seen = {item.namespace for item in (*self.deployments, *self.pods)}
        return frozenset(seen or {self._snapshot.kueue_namespace})

    @fact
    def pods(self) -> tuple[o.Pod, ...]:
        """Kueue's own Pods that were read, by image or by what owns them; not the finished ones."""
        found = []
        for pod in self._snapshot.all_of(o.Pod, read="seen"):
            if is_over(pod):
                continue
            if any(is_kueue_image(container.image) for container in pod.spec.containers):
                found.append(pod)
        return tuple(sorted(found, key=lambda pod: (pod.namespace, pod.name)))

    @fact
    def started(self) -> datetime | None:
        """When the youngest of Kueue's processes started, None when none of its Pods was read."""
        starts = []
        for pod in self.pods:
            times = [pod.metadata.creation_timestamp]
            times += [
                status.state.running.started_at for status in pod.status.container_statuses if status.state.running
            ]
            starts += [time for time in times if time is not None]
        return max(starts, default=None)

    @fact
    def version(self) -> str | None:
        """Kueue's version as "v0.17.3": as the snapshot says, else from the image of its Deployment or Pods."""
        if self._snapshot.versions.kueue:
            return self._snapshot.versions.kueue
        images = [image for item in self.deployments for image in _images(item)]
        images += [container.image for pod in self.pods for container in pod.spec.containers]
        tags = [image.partition("@")[0].rpartition(":")[2] for image in images if is_kueue_image(image)]
        found = sorted(numbers for tag in tags if (numbers := version_of(tag)) is not None)
        return "v" + ".".join(str(number) for number in found[0]) if found else None

    @fact
    def release(self) -> tuple[int, int] | None:
        """The version's (major, minor), None when the version is not known."""
        numbers = version_of(self.version or "")
        return numbers[:2] if numbers else None

    @fact
    def webhooks(self) -> tuple[o.WebhookConfiguration, ...]:
        """The mutating webhook configurations that were read, of Kueue and of others."""
        found = [
            item
            for item in self._snapshot.seen("MutatingWebhookConfiguration")
            if isinstance(item, o.WebhookConfiguration)
        ]
        return tuple(sorted(found, key=lambda item: item.name))

    # --- signs that it does not work ---

    @fact
    def signs(self) -> tuple[Sign, ...]:
        """What was seen of Kueue that says that it does not work now; the visibility API's silence only beside another sign."""
        found = [*self._down_deployments(), *self._stale_leases(), *self._empty_endpoints()]
        if found:
            found += self._silent_visibility()
        return tuple(found)

    def _down_deployments(self) -> list[Sign]:
        states = [(item, _ready(item)) for item in self.deployments]
        if any(ready is None or ready > 0 for _, ready in states):
            return []
        found = []
        for item, _ in states:
            wanted = item.spec.get("replicas")
            available = next((c for c in _conditions(item) if c.get("type") == "Available"), {})
            say = (
                "is scaled to zero"
                if wanted == 0
                else f"has 0 of {wanted if isinstance(wanted, int) else 1} replicas ready"
            )
            found.append(
                Sign(
                    "deployment",
                    f"its Deployment {named('Deployment', item.name, item.namespace)} {say}",
                    subject("Deployment", item.name, item.namespace),
                    "status.readyReplicas",
                    "0",
                    _time(available.get("lastTransitionTime")),
                )
            )
        if found or states:
            found += self._unready_pods() if found else []
            return found
        return self._unready_pods() if self._pods_read else []

    @property
    def _pods_read(self) -> bool:
        return bool(self.pods) and all(self._snapshot.covers("Pod", namespace) for namespace in self.namespaces)

    def _unready_pods(self) -> list[Sign]:
        ready = [(pod, condition(pod.status.conditions, "Ready")) for pod in self.pods]
        if not ready or any(state is not None and state.status == "True" for _, state in ready):
            return []
        return [
            Sign(
                "pods",
                f"its Pod {named('Pod', pod.name, pod.namespace)} is not ready",
                subject("Pod", pod.name, pod.namespace),
                "status.conditions[Ready].status",
                state.status if state is not None else "not reported",
                state.last_transition_time if state is not None else None,
            )
            for pod, state in ready
        ]

    def _stale_leases(self) -> list[Sign]:
        found = []
        for lease in self._snapshot.all_of(o.Lease, read="seen"):
            if not (
                lease.name.endswith("kueue.x-k8s.io") or (lease.namespace in self.namespaces and "kueue" in lease.name)
            ):
                continue
            renewed, lasts = lease.spec.renew_time, lease.spec.lease_duration_seconds or 15
            if renewed is None or self._acted_since(renewed + timedelta(seconds=lasts)):
                continue
            age = (self._facts.now - renewed).total_seconds()
            holder = lease.spec.holder_identity or ""
            pod = holder.partition("_")[0]
            gone = (
                bool(pod)
                and self._snapshot.covers("Pod", lease.namespace, pod)
                and self._snapshot.look("Pod", pod, lease.namespace) is None
            )
            held = named("Pod", holder, lease.namespace) if holder else "nobody"
            if age > lasts + self._facts.thresholds.young:
                say = f"its leader lease is held by {held} and was renewed {_ago(age)} ago, it lasts {lasts} s"
            elif gone and age > lasts / 2:
                say = f"its leader lease is held by {held}, whose Pod is gone, and was renewed {_ago(age)} ago"
            else:
                continue
            found.append(
                Sign(
                    "lease",
                    say,
                    subject("Lease", lease.name, lease.namespace),
                    "spec.holderIdentity",
                    quoted(holder),
                    renewed,
                )
            )
        return found

    def _acted_since(self, moment: datetime) -> bool:
        """Say whether anything shows that Kueue worked after a moment: its events, or what it wrote into a Workload."""
        for event in self._snapshot.all_of(o.Event, read="seen"):
            if "kueue" in event.reporter and event.last_seen is not None and event.last_seen > moment:
                return True
        return any(
            entry.last_transition_time is not None and entry.last_transition_time > moment
            for workload in self._snapshot.all_of(o.Workload, read="seen")
            for entry in workload.status.conditions
        )

    def _empty_endpoints(self) -> list[Sign]:
        ready: dict[tuple[str, str], tuple[str, int]] = {}
        for item in self._snapshot.all_of(o.Endpoints, read="seen"):
            if _is_webhook_service(item.name):
                count = sum(
                    len(subset["addresses"]) for subset in item.subsets if isinstance(subset.get("addresses"), list)
                )
                ready[item.namespace, item.name] = ("Endpoints", count)
        for piece in self._snapshot.all_of(o.EndpointSlice, read="seen"):
            service = piece.metadata.labels.get("kubernetes.io/service-name", "")
            if _is_webhook_service(service):
                before = ready.get((piece.namespace, service), ("EndpointSlice", 0))
                ready[piece.namespace, service] = (
                    before[0],
                    before[1] + sum(1 for one in piece.endpoints if _serves(one)),
                )
        return [
            Sign(
                "endpoints",
                f"its webhook's Service {named('Service', name, namespace)} has no ready address",
                subject("Endpoints", name, namespace),
                "subsets[].addresses" if kind == "Endpoints" else "endpoints[].conditions.ready",
                "none",
            )
            for (namespace, name), (kind, count) in sorted(ready.items())
            if count == 0
        ]

    def _silent_visibility(self) -> list[Sign]:
        answers = {path: answer for path, answer in self._snapshot.visibility.items() if "visibility.kueue" in path}
        versions = {part for path in answers for part in path.split("/") if part.startswith("v1")}
        if len(versions) < 2 or not all(answer == 503 for answer in answers.values()):
            return []
        path = min(answers)
        return [Sign("visibility", "its visibility API answers 503", subject("APIService", path), "HTTP status", "503")]

    @fact
    def unanswered_webhooks(self) -> tuple[Sign, ...]:
        """Events which say that Kueue's webhook did not answer about the asked object, its owners or what they create.

        Not those after which the creation worked, nor old ones while Kueue's Deployment is ready.
        """
        identity, ref = self._facts.identity, self._facts.ref
        events = list(self._facts.kin.events(*identity.family))
        if not identity.family:
            events = [
                event
                for event in self._snapshot.all_of(o.Event, read="seen", namespace=ref.namespace)
                if event.involved_object.name == ref.name and ref.kind in {"", event.involved_object.kind}
            ]
        found = []
        for event in events:
            called = _CALL_FAILED.search(event.message)
            if called is None or "kueue" not in event.message or event.last_seen is None:
                continue
            if self._worked_after(event) or (
                self._healthy and (self._facts.age(event.last_seen) or 0) > self._facts.thresholds.long
            ):
                continue
            about = event.involved_object
            times = f" {event.times} times" if event.times > 1 else ""
            found.append(
                Sign(
                    "webhook",
                    f"its webhook {quoted(called[1])} did not answer{times} when something was to be created",
                    subject(about.kind, about.name, about.namespace or event.namespace),
                    f"event {event.reason}",
                    quoted(event.message),
                    event.last_seen,
                )
            )
        return tuple(sorted(found, key=lambda sign: (sign.since or self._facts.now, sign.value), reverse=True))

    def webhook_policies(self, sign: Sign) -> tuple[tuple[str, str, str], ...]:
        """(subject, field, value) of the failurePolicy of the webhook that a sign names, where its configuration was read."""
        return tuple(
            (
                subject(configuration.kind or "MutatingWebhookConfiguration", configuration.name),
                f"webhooks[{quoted(str(hook.get('name')))}].failurePolicy",
                quoted(str(hook.get("failurePolicy", "Fail"))),
            )
            for configuration in self.webhooks
            for hook in configuration.webhooks
            if hook.get("name") and f'"{hook["name"]}"' in sign.value
        )

    def _worked_after(self, failed: o.Event) -> bool:
        about = failed.involved_object
        moment = failed.last_seen
        if moment is None:
            return False
        made = [
            child.metadata.creation_timestamp
            for child in self._facts.identity.family
            if any(owner.uid == about.uid for owner in child.metadata.owner_references if owner.uid)
        ]
        later = [
            event.last_seen
            for event in self._snapshot.all_of(o.Event, read="seen")
            if event.involved_object.uid == about.uid and event.reason == "SuccessfulCreate"
        ]
        return any(time is not None and time > moment for time in (*made, *later))

    @property
    def _healthy(self) -> bool:
        return any((_ready(item) or 0) > 0 for item in self.deployments) and not self.signs

    # --- its configuration ---

    @fact
    def configuration(self) -> dict[str, Any]:
        """Kueue's Configuration as its ConfigMap holds it. Raises Unknown when it was not seen or cannot be read."""
        maps = [item for item in self._snapshot.all_of(o.ConfigMap, read="seen") if item.name.endswith(CONFIG_MAP)]
        maps = sorted(maps, key=lambda item: (item.namespace not in self.namespaces, item.namespace, item.name))
        if not maps:
            raise Unknown(self._snapshot.why_not("ConfigMap", self._snapshot.kueue_namespace, CONFIG_MAP))
        for text in maps[0].data.values():
            parsed = _yaml(text)
            if parsed is not None:
                return parsed
        reason = f"configmaps {CONFIG_MAP} in {maps[0].namespace}: holds no configuration that can be read"
        raise Unknown(reason)

    @fact
    def config_subject(self) -> str:
        """The ConfigMap as an evidence subject."""
        maps = [item for item in self._snapshot.all_of(o.ConfigMap, read="seen") if item.name.endswith(CONFIG_MAP)]
        found = min(
            maps, key=lambda item: (item.namespace not in self.namespaces, item.namespace, item.name), default=None
        )
        namespace = found.namespace if found is not None else self._snapshot.kueue_namespace
        return subject("ConfigMap", found.name if found is not None else CONFIG_MAP, namespace)

    @fact
    def manages_unlabelled(self) -> bool:
        """`manageJobsWithoutQueueName`. Raises Unknown when the configuration was not seen."""
        return self.configuration.get("manageJobsWithoutQueueName") is True

    @fact
    def frameworks(self) -> frozenset[str]:
        """`integrations.frameworks` and `externalFrameworks`. Raises Unknown when the configuration does not list them."""
        integrations = self.configuration.get("integrations")
        listed = integrations.get("frameworks") if isinstance(integrations, dict) else None
        if not isinstance(listed, list):
            reason = "Kueue's configuration lists no integrations.frameworks"
            raise Unknown(reason)
        external = integrations.get("externalFrameworks") if isinstance(integrations, dict) else None
        return frozenset(str(name) for name in [*listed, *(external if isinstance(external, list) else [])])

    @fact
    def gates(self) -> dict[str, bool]:
        """`featureGates` as configured. Raises Unknown when the configuration was not seen."""
        configured = self.configuration.get("featureGates")
        return {str(key): value is True for key, value in configured.items()} if isinstance(configured, dict) else {}

    def namespace_selector(self, kind: str) -> o.LabelSelector | None:
        """The selector of the namespaces whose jobs of a kind Kueue manages; None selects all.

        `managedJobsNamespaceSelector`, for pods `integrations.podOptions.namespaceSelector` where the former is not set. Raises
        Unknown when the configuration was not seen.
        """
        selector = self.configuration.get("managedJobsNamespaceSelector")
        integrations = self.configuration.get("integrations")
        options = integrations.get("podOptions") if isinstance(integrations, dict) else None
        if selector is None and isinstance(options, dict) and kind == "Pod":
            selector = options.get("namespaceSelector")
        if not isinstance(selector, dict):
            return None
        built = decode.convert({"spec": {"namespaceSelector": selector}}, "ClusterQueue").object
        return built.spec.namespace_selector if isinstance(built, o.ClusterQueue) else None

    def selects_namespace(self, name: str, kind: str) -> bool:
        """Say whether the configuration selects a namespace for jobs of a kind.

        Raises Unknown when the configuration or the namespace was not read.
        """
        selector = self.namespace_selector(kind)
        if selector is None:
            return True
        namespace = self._snapshot.one_of(o.Namespace, name)
        if namespace is None:
            reason = f"namespaces {name}: not there"
            raise Unknown(reason)
        labels = {"kubernetes.io/metadata.name": name} | namespace.metadata.labels
        return selector_matches(selector, labels)

    def takes_unlabelled(self, item: o.KubeObject) -> bool:
        """Say whether Kueue is known to manage a job without a queue name in its namespace; False when that is not known."""
        try:
            return self.manages_unlabelled and self.selects_namespace(item.namespace, item.kind)
        except Unknown:
            return False

    def framework_of(self, item: o.KubeObject) -> str:
        """The name of an object's integration in `integrations.frameworks`, "" when Kueue has none for its kind."""
        if isinstance(item, o.Pod):
            return "pod"
        known = kinds.of_object(item.api_version, item.kind)
        return known.job.framework if known is not None and known.job is not None else ""


def _images(item: o.Job) -> list[str]:
    template = item.spec.get("template")
    spec = template.get("spec") if isinstance(template, dict) else None
    containers = spec.get("containers") if isinstance(spec, dict) else None
    found = (
        [entry.get("image") for entry in containers if isinstance(entry, dict)] if isinstance(containers, list) else []
    )
    return [image for image in found if isinstance(image, str)]


def _conditions(item: o.Job) -> list[dict[str, Any]]:
    entries = item.status.get("conditions")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _ready(item: o.Job) -> int | None:
    """The ready replicas of a Deployment: the API leaves a zero out. None when its status was not read."""
    if not item.status and item.spec.get("replicas") != 0:
        return None
    ready = item.status.get("readyReplicas", 0)
    return ready if isinstance(ready, int) else None


def _is_webhook_service(name: str) -> bool:
    return "kueue" in name and "webhook" in name


def _serves(endpoint: dict[str, Any]) -> bool:
    state = endpoint.get("conditions")
    return bool(endpoint.get("addresses")) and (not isinstance(state, dict) or state.get("ready") is not False)


def _time(value: Any) -> datetime | None:  # noqa: ANN401
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _ago(seconds: float) -> str:
    """A duration in words: "90 s", "12 min", "3 h", "5 d"."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


@lru_cache(maxsize=16)
def _yaml(text: str) -> dict[str, Any] | None:
    """Parse one value of the ConfigMap, which many questions meet; None when it is not a mapping. Nobody changes it."""
    import yaml  # noqa: PLC0415 - costs 30 ms, needed only where the ConfigMap was read

    try:
        parsed = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
