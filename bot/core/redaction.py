"""What `whypending snapshot` writes: a bundle that gives the same answer and says as little else as possible.

The structs of `objects` hold only fields that are read: commands, arguments, environment, probes and managed fields
were never decoded. Job kinds keep their spec as the API has it, so pod specs inside are cut down to the same fields
and whatever else may carry code or credentials is left out. Annotations stay only where rules read them. With
`replace_names` every name becomes a made-up one, the same everywhere, inside texts and labels too.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from bot.core import decode, kinds
from bot.core import objects as o
from bot.core.reference import JobRef
from bot.core.snapshot import Scope, Snapshot

Plain = dict[str, Any]

CONFIGURATION = "kueue-manager-config"
_DROPPED = frozenset({
    "annotations", "args", "arguments", "binaryData", "command", "data", "deps", "dnsConfig", "driverEnv", "entrypoint",
    "env", "envFrom", "envVars", "files", "gitSync", "hadoopConf", "hostAliases", "imagePullSecrets", "jars",
    "lifecycle", "livenessProbe", "mainApplicationFile", "mainClass", "managedFields", "options", "pyFiles",
    "readinessProbe", "runtimeEnv", "runtimeEnvYAML", "script", "secretRef", "secrets", "serveConfigV2", "sparkConf",
    "startupProbe", "stringData", "userData", "userInfo",
})  # fmt: skip
"""Fields of job kinds that may carry code, credentials or much text; no rule reads them."""

_PREFIX = {
    "Namespace": "namespace", "Node": "node", "ClusterQueue": "cluster-queue", "LocalQueue": "queue",
    "ResourceFlavor": "flavor", "Cohort": "cohort", "Topology": "topology", "AdmissionCheck": "check",
    "WorkloadPriorityClass": "priority", "PriorityClass": "priority", "PersistentVolumeClaim": "claim",
    "PersistentVolume": "volume", "StorageClass": "storage", "MultiKueueCluster": "worker",
}  # fmt: skip
_WORDS = frozenset(
    """
    active admission admitted all and any are assign assigned available backoff batch been borrow borrowing but capacity
    check checks class cluster cohort condition container containers cordoned couldn count cpu cpus created default deleted
    domain domains due ephemeral-storage error evicted event exceeded exist exists failed fair finished fit fits flavor
    flavors for found from gated global gpu gpus group has have high hold image in inactive inadmissible init
    insufficient is it its job jobs kube kueue limit limits local localqueue low main match matched medium memory more name
    namespace needed needs new no node nodes none normal not of on one or other our out over pending pod pods policy
    preempted preemption priority provisioning pull pulled pulling queue queued quota reason request requested requests
    reserved resource resources running selector server set shared since some spec started state status still stopped
    storage such suspended system taint taints test that the there this time to topology total type unavailable
    unused use used volume volumes wait waiting was were when will with workload workloads worker workers
    kube-system kube-public kube-node-lease kueue-system default-scheduler
""".split()  # noqa: SIM905 - a list of words reads as words
)
"""Ordinary words of Kueue's and Kubernetes' texts: as names they tell nothing, and replacing them would break the texts."""
_GENERATED = re.compile(r"(?:-(?:[0-9]+|[a-z0-9]{4,10}))+", re.ASCII)
_WELL_KNOWN = r"[A-Za-z0-9.-]*(?:kubernetes|k8s)\.io/[A-Za-z0-9._-]+"


def redact(snapshot: Snapshot, ref: JobRef | None = None, *, replace_names: bool = False) -> bytes:
    """Give the bundle as YAML documents, the Recording first. `explain -f` gives the same answer for it.

    With `replace_names` all names are made up; the first line says how to ask for the same job (`ref`) then.
    """
    import yaml  # noqa: PLC0415 - costs 30 ms, and `explain` never needs it

    documents = documents_of(snapshot)
    question = ref
    if replace_names:
        names = Names.of(snapshot, ref)
        documents = [names.document(document) for document in documents]
        question = names.question(ref) if ref is not None else None
    head = f"# whypending explain {question.asked} -f FILE\n" if question is not None else ""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump_all(documents, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return (head + text).encode()


def documents_of(snapshot: Snapshot) -> list[Plain]:
    """Give the Recording document and every object as plain data, without what a bundle must not hold."""
    objects = [
        _object(item)
        for kind, items in sorted(snapshot.objects.items())
        for item in items
        if kind != "ConfigMap" or item.name == CONFIGURATION
    ]
    return [_recording(snapshot), *objects, *(_object(item) for item in snapshot.foreign)]


def _recording(snapshot: Snapshot) -> Plain:
    full = {scope.kind for scope in snapshot.covered if scope == Scope(scope.kind)}
    versions: dict[str, str] = {}
    for kind in sorted(full):
        known = kinds.BY_NAME.get(kind)
        if known is not None:
            versions[kind] = known.resource(_version(snapshot, known))
    partly = sorted(
        (scope for scope in snapshot.covered if scope.kind not in versions),
        key=lambda scope: (scope.kind, scope.namespace, scope.name, scope.selector),
    )
    document: Plain = {
        "apiVersion": "whypending/v1",
        "kind": "Recording",
        "metadata": {"name": "snapshot"},
        "observedAt": _time(snapshot.observed_at),
        "kueueVersion": snapshot.versions.kueue,
        "kubernetesVersion": snapshot.versions.kubernetes,
        "kueueNamespace": snapshot.kueue_namespace,
        "read": sorted(versions.values()),
        "scopes": [_filled(kind=s.kind, namespace=s.namespace, name=s.name, selector=s.selector) for s in partly],
        "served": sorted(snapshot.served) if snapshot.served is not None else None,
        "visibility": {path: _visible(answer) for path, answer in sorted(snapshot.visibility.items())},
        "gaps": [
            _filled(kind=gap.kind, namespace=gap.namespace, name=gap.name, reason=gap.reason) for gap in snapshot.gaps
        ],
        "older": {kind: _time(at) for kind, at in sorted(snapshot.older.items())},
        "odd": [
            {"kind": kind, "namespace": namespace, "name": name, "paths": list(paths)}
            for (kind, namespace, name), paths in sorted(snapshot.odd.items())
        ],
    }
    return {key: value for key, value in document.items() if value not in (None, [], {})}


def _version(snapshot: Snapshot, kind: kinds.Kind) -> str:
    seen = next((item.api_version.rpartition("/")[2] for item in snapshot.seen(kind.kind) if item.api_version), "")
    if not seen and kind.group == "kueue.x-k8s.io" and snapshot.versions.api in kind.versions:
        seen = snapshot.versions.api or ""
    return seen or kind.versions[0]


def _visible(answer: Any) -> Plain:  # noqa: ANN401 - rows or a status
    if isinstance(answer, int):
        return {"error": answer}
    return {
        "items": [
            {
                "metadata": {"namespace": row.namespace, "name": row.name},
                "localQueueName": row.local_queue,
                "priority": row.priority,
                "positionInClusterQueue": row.position_in_cluster_queue,
                "positionInLocalQueue": row.position_in_local_queue,
            }
            for row in answer
        ]
    }


def _filled(**texts: str) -> dict[str, str]:
    return {key: text for key, text in texts.items() if text}


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# --- objects ---


def _object(item: o.KubeObject) -> Plain:
    plain: Plain = _plain(item)
    if isinstance(item, o.Job | o.Loose | o.ConditionedLoose):
        for part in ("spec", "status"):
            if part in plain:
                plain[part] = _scrubbed(plain[part])
    if isinstance(item, o.ConfigMap):
        plain["data"] = {key: text for key, text in item.data.items() if key.endswith((".yaml", ".yml"))}
    return plain


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a struct
    """Turn a struct into plain data, without fields that have their default: those decode back to it."""
    if isinstance(value, msgspec.Struct):
        filled: Plain = {}
        for info in msgspec.structs.fields(type(value)):
            held = getattr(value, info.name)
            default = info.default if info.default is not msgspec.NODEFAULT else None
            if info.default_factory is not msgspec.NODEFAULT:
                default = info.default_factory()
            if held == default and type(held) is type(default):
                continue
            plain = _plain(held)
            if info.encode_name == "annotations":
                plain = _annotations(plain)
                if not plain:
                    continue
            filled[info.encode_name] = plain
        return filled
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return _time(value) if isinstance(value, datetime) else value


def _annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Keep what rules read: Kubernetes' and Kueue's own keys, and near-misses of the queue name's key."""
    return {
        key: text
        for key, text in annotations.items()
        if (
            key.rpartition("/")[0].endswith(("k8s.io", "kubernetes.io"))
            and not key.startswith("kubectl.kubernetes.io/")
        )
        or "queue" in key
    }


def _scrubbed(value: Any) -> Any:  # noqa: ANN401 - any part of a loosely read object
    """Cut pod specs down to the fields of `PodSpec`, and leave out what may carry code or credentials."""
    if isinstance(value, list):
        return [_scrubbed(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("containers"), list):
        return _plain(_converted(value, o.PodSpec))
    kept = {key: _scrubbed(entry) for key, entry in value.items() if key not in _DROPPED}
    if isinstance(value.get("annotations"), dict):
        texts = {key: text for key, text in value["annotations"].items() if isinstance(text, str)}
        if annotations := _annotations(texts):
            kept["annotations"] = annotations
    return kept


def _converted(value: Plain, wanted: type[o.PodSpec]) -> o.PodSpec:
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        built = decode.convert({"spec": value}, "Pod").object
        return built.spec if isinstance(built, o.Pod) else wanted()


# --- names ---


@dataclass(frozen=True)
class Names:
    """Made-up names for the names of a snapshot. Words that are part of resource names and label keys stay."""

    mapping: Mapping[str, str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, snapshot: Snapshot, ref: JobRef | None = None) -> "Names":
        """Collect the names of a snapshot and of a question, and make up new ones in the order of the old ones."""
        taken: dict[str, str] = {}
        asked = [("namespace", ref.namespace), ("job", ref.name)] if ref is not None else []
        resources = {part for word in _kept(snapshot) for part in re.split(r"[^a-z0-9]+", word)}
        for kind, name in sorted([*_names(snapshot), *asked], key=lambda entry: (len(entry[1]), entry)):
            if name not in taken and name not in resources and _is_telling(name) and not _is_derived(name, taken):
                taken[name] = kind
        mapping: dict[str, str] = {}
        for prefix in sorted(set(taken.values())):
            names = sorted(name for name, kind in taken.items() if kind == prefix)
            width = len(str(len(names)))
            mapping |= {name: f"{prefix}-{at:0{width}}" for at, name in enumerate(names, 1)}
        kept = "|".join(re.escape(word) for word in sorted(_kept(snapshot), key=lambda word: (-len(word), word)))
        words = "|".join(re.escape(name) for name in sorted(mapping, key=lambda name: (-len(name), name)))
        alternatives = "|".join(part for part in (f"(?P<kept>{_WELL_KNOWN}{'|' if kept else ''}{kept})", words) if part)
        return cls(mapping, re.compile(f"(?<![A-Za-z0-9])(?:{alternatives})(?![A-Za-z0-9])"))

    def text(self, text: str) -> str:
        """Replace every name in a text."""
        return self.pattern.sub(lambda found: found[0] if found["kept"] else self.mapping[found[0]], text)

    def question(self, ref: JobRef) -> JobRef:
        """Ask the same with the new names."""
        return replace(ref, namespace=self.text(ref.namespace), name=self.text(ref.name), cluster="", text="")

    def document(self, document: Plain) -> Plain:
        """Replace every name in a document; kinds, versions, UIDs and keys stay."""
        replaced = self._walk(document, self.text)
        assert isinstance(replaced, dict)
        if isinstance(replaced.get("visibility"), dict):
            replaced["visibility"] = {self.text(path): answer for path, answer in replaced["visibility"].items()}
        return replaced

    def _walk(self, value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
        if isinstance(value, str):
            return change(value)
        if isinstance(value, list):
            return [self._walk(entry, change) for entry in value]
        if isinstance(value, dict):
            return {
                key: entry
                if key in {"apiVersion", "kind", "uid", "read", "served", "providerID"}
                else self._walk(entry, change)
                for key, entry in value.items()
                if key != "providerID"
            }
        return value


def _is_telling(name: str) -> bool:
    return len(name) > 2 and name not in _WORDS and not name.isdigit()


def _is_derived(name: str, known: Mapping[str, str]) -> bool:
    """Whether a name is a known one with generated endings, like a pod's; it follows by itself."""
    parts = name.split("-")
    for end in range(len(parts) - 1, 0, -1):
        stem = "-".join(parts[:end])
        inner = stem.partition("-")[2] if parts[0] in _OWNED else ""
        if not {stem, inner}.isdisjoint(_WORDS | known.keys()) and _GENERATED.fullmatch(name[len(stem) :]):
            return True
    return False


_OWNED = frozenset(kind.kind.lower() for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]))
"""How Kueue's names of Workloads begin: job-train-1a2b3."""


def _names(snapshot: Snapshot) -> Iterable[tuple[str, str]]:
    """Every name that the snapshot tells, with the stem of its new one; parts of the platform keep theirs (device plugins)."""
    for kind, items in snapshot.objects.items():
        for item in items:
            if item.namespace == snapshot.kueue_namespace or kind in {
                "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ConfigMap",
                "DaemonSet",
            }:  # fmt: skip
                continue
            if item.namespace:
                yield "namespace", item.namespace
            if kind != "Event":
                yield _PREFIX.get(kind, "object" if kind not in _JOBS else "job"), item.name
            yield from _inner(item)
    for item in snapshot.foreign:
        yield "job", item.name
    for scope in snapshot.covered:
        if scope.namespace and scope.namespace != snapshot.kueue_namespace:
            yield "namespace", scope.namespace
            yield "object", scope.name
    for gap in snapshot.gaps:
        if gap.namespace and gap.namespace != snapshot.kueue_namespace:
            yield "namespace", gap.namespace
            yield "object", gap.name


_JOBS = frozenset(kind.kind for kind in kinds.JOB_KINDS)


def _inner(item: o.KubeObject) -> Iterable[tuple[str, str]]:
    """Names of objects that were not read themselves: the queue that is missing, the flavor, the image, the owner."""
    for owner in item.metadata.owner_references:
        if owner.kind in _JOBS:
            yield "job", owner.name
    for key, value in item.metadata.labels.items():
        if key.startswith("kueue.x-k8s.io/") and key.endswith(("queue-name", "group-name", "priority-class")):
            yield "queue" if key.endswith("queue-name") else "object", value
    specs: list[o.PodSpec] = []
    if isinstance(item, o.Workload):
        yield "queue", item.spec.queue_name
        yield "priority", item.spec.priority_class_name
        specs = [pod_set.template.spec for pod_set in item.spec.pod_sets]
    elif isinstance(item, o.LocalQueue):
        yield "cluster-queue", item.spec.cluster_queue
    elif isinstance(item, o.ClusterQueue):
        yield "cohort", item.cohort
        for group in item.spec.resource_groups:
            yield from (("flavor", quotas.name) for quotas in group.flavors)
        yield from (("check", rule.name) for rule in item.check_rules)
    elif isinstance(item, o.Cohort):
        yield "cohort", item.parent
    elif isinstance(item, o.ResourceFlavor):
        yield "topology", item.spec.topology_name or ""
    elif isinstance(item, o.Pod):
        specs = [item.spec]
    elif isinstance(item, o.Job):
        specs = list(_pod_specs(item.spec))
    for spec in specs:
        yield from _of_spec(spec)


def _of_spec(spec: o.PodSpec) -> Iterable[tuple[str, str]]:
    yield "priority", spec.priority_class_name
    yield "account", spec.service_account_name
    yield "node", spec.node_name
    for container in (*spec.containers, *spec.init_containers):
        repository = container.image.partition("@")[0]
        head, _, tag = repository.rpartition(":")
        yield "image", head if head and "/" not in tag else repository
    for volume in spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield "claim", volume.persistent_volume_claim.claim_name
        if volume.secret is not None:
            yield "secret", volume.secret.secret_name
        if volume.config_map is not None:
            yield "config", volume.config_map.name


def _pod_specs(value: Any) -> Iterable[o.PodSpec]:  # noqa: ANN401
    if isinstance(value, list):
        for entry in value:
            yield from _pod_specs(entry)
    elif isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield _converted(value, o.PodSpec)
        else:
            for entry in value.values():
                yield from _pod_specs(entry)


def _kept(snapshot: Snapshot) -> set[str]:
    """Resource names and label keys: what they contain is never part of a name."""
    kept: set[str] = set()
    for queue in snapshot.all_of(o.ClusterQueue, read="seen"):
        for group in queue.spec.resource_groups:
            kept |= set(group.covered_resources)
    for node in snapshot.all_of(o.Node, read="seen"):
        kept |= {*node.status.allocatable, *node.status.capacity, *node.metadata.labels}
        kept |= {taint.key for taint in node.spec.taints}
    for flavor in snapshot.all_of(o.ResourceFlavor, read="seen"):
        kept |= {*flavor.spec.node_labels, *(taint.key for taint in flavor.spec.node_taints)}
    return {word for word in kept if "/" in word or "." in word}
