"""Files to Snapshot: what `kubectl get … -o yaml|json` prints, with or without a Recording document.

Only a Recording's `read` proves that a kind was read in full. The Recording's own fields: `observedAt` (RFC 3339),
`kueueVersion`, `kubernetesVersion`, `read` (list of group/version/plural), `visibility` (path to answer or
{"error": status}), and when `whypending snapshot` wrote it `gaps` (list of {kind, namespace, name, reason}), `scopes`
(list of {kind, namespace, name, selector}: what was read in full of kinds that were not), `served` (the kinds that the
server has) and `odd` (list of {kind, namespace, name, paths}: fields whose value was of an unexpected type).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bot.core import decode, kinds
from bot.core import objects as o
from bot.core.snapshot import Gap, PendingItem, Scope, Snapshot, Versions, newest_time


class UnreadableFileError(ValueError):
    """A file is neither JSON nor YAML, or holds something that is not a Kubernetes object. The text says which and where."""


class _Item(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | None = None


class _Odd(msgspec.Struct):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    paths: tuple[str, ...] = ()


class _Recording(msgspec.Struct, rename="camel"):
    observed_at: o.Time = None
    kueue_version: str | None = None
    kubernetes_version: str | None = None
    read: list[str] = []
    visibility: dict[str, dict[str, Any]] = {}
    gaps: list[dict[str, str]] = []
    kueue_namespace: str = "kueue-system"
    scopes: list[dict[str, str]] = []
    served: list[str] | None = None
    odd: list[_Odd] = []
    older: dict[str, o.Time] = {}


@dataclass
class _Collector:
    objects: defaultdict[str, list[o.KubeObject]] = field(default_factory=lambda: defaultdict(list))
    foreign: list[o.Job] = field(default_factory=list)
    odd: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    recording: _Recording | None = None

    def add(self, raw: bytes | msgspec.Raw, where: str, around: str = "") -> None:
        try:
            item = msgspec.json.decode(raw, type=_Item)
        except msgspec.DecodeError as error:
            # an object whose kind is not text, or no object at all: it is named as a gap and nothing is concluded from it
            self.gaps.append(Gap(around or "object", f"an item of {where} cannot be read: {error}"))
            return
        if item.kind == "List" or (item.items is not None and item.kind.endswith("List")):
            for inner in item.items or ():
                self.add(inner, where, item.kind.removesuffix("List"))
        elif item.kind == "Recording":
            try:
                self.recording = msgspec.json.decode(raw, type=_Recording)
            except msgspec.ValidationError as error:
                self.gaps.append(Gap("Recording", f"cannot be read: {error}"))
        else:
            self._object(raw, item.api_version, item.kind or around, where)

    def _object(self, raw: bytes | msgspec.Raw, api_version: str, name: str, where: str) -> None:
        kind = kinds.of_object(api_version, name) if api_version else kinds.BY_NAME.get(name)
        try:
            decoded = decode.decode(raw, kind.kind if kind else name)
        except ValueError as error:
            self.gaps.append(Gap(name or "object", f"an item of {where} cannot be read: {error}"))
            return
        found = decoded.object
        if kind is not None:
            self.objects[kind.kind].append(found)
        elif isinstance(found, o.Job) and found.kind:
            self.foreign.append(found)
        if decoded.odd:
            self.odd[kind.kind if kind else name, found.namespace, found.name] = decoded.odd


def load(files: Iterable[tuple[str, bytes]]) -> Snapshot:
    """Build a snapshot from (name, content) pairs; YAML (any number of documents) or JSON, `List` kinds included.

    Raises UnreadableFileError when a content is neither.
    """
    collector = _Collector()
    for name, content in files:
        for document in _documents(name, content):
            collector.add(document, name)
    return _snapshot(collector)


def _documents(name: str, content: bytes) -> list[bytes]:
    text = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        try:
            msgspec.json.decode(text, type=msgspec.Raw)
        except msgspec.DecodeError as error:
            msg = f"{name}: not JSON: {error}"
            raise UnreadableFileError(msg) from error
        return [text]
    import yaml  # noqa: PLC0415 - costs 30 ms, needed for YAML alone

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        documents = list(yaml.load_all(content, Loader=loader))
        return [msgspec.json.encode(_texts(document)) for document in documents if document is not None]
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        msg = f"{name}: neither JSON nor YAML: {str(error).splitlines()[0]}"
        raise UnreadableFileError(msg) from error


def _texts(value: Any) -> Any:  # noqa: ANN401 - any YAML value
    """YAML reads unquoted times as datetimes and allows keys that are not text; JSON does not."""
    if isinstance(value, dict):
        return {str(key): _texts(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_texts(entry) for entry in value]
    return value


def _snapshot(collector: _Collector) -> Snapshot:
    recording = collector.recording
    objects = {kind: tuple(items) for kind, items in collector.objects.items()}
    everything = [item for items in objects.values() for item in items]
    apis = {item.api_version for kind in ("Workload", "ClusterQueue", "LocalQueue") for item in objects.get(kind, ())}
    # an item that could not be decoded takes away the proof that its kind was read in full
    broken = {gap.kind for gap in collector.gaps}
    covered: set[Scope] = set()
    read = recording.read if recording is not None else []
    for resource in read:
        kind = kinds.of_resource(resource)
        if kind is not None and kind.kind not in broken and "object" not in broken:
            covered.add(Scope(kind.kind))
        if resource.startswith("kueue.x-k8s.io/") and resource.endswith("/workloads"):
            apis.add(resource.removesuffix("/workloads"))
    gaps = list(collector.gaps)
    odd = dict(collector.odd)
    if recording is not None:
        covered |= {
            Scope(part.get("kind", ""), part.get("namespace", ""), part.get("name", ""), part.get("selector", ""))
            for part in recording.scopes
            if part.get("kind") not in broken and "object" not in broken
        }
        odd |= {(entry.kind, entry.namespace, entry.name): entry.paths for entry in recording.odd}
        gaps += [
            Gap(gap.get("kind", ""), gap.get("reason", ""), gap.get("namespace", ""), gap.get("name", ""))
            for gap in recording.gaps
        ]
    observed = recording.observed_at if recording is not None else None
    return Snapshot(
        observed_at=observed or newest_time(everything),
        objects=objects,
        covered=frozenset(covered),
        gaps=tuple(gaps),
        odd=odd,
        served=frozenset(recording.served) if recording is not None and recording.served is not None else None,
        foreign=tuple(collector.foreign),
        visibility={
            path: pending(answer) for path, answer in (recording.visibility.items() if recording is not None else ())
        },
        versions=Versions(
            kueue=recording.kueue_version if recording is not None else None,
            kubernetes=recording.kubernetes_version if recording is not None else None,
            api=max((api.rpartition("/")[2] for api in apis if api), default=None),
        ),
        older={kind: at for kind, at in recording.older.items() if at is not None} if recording is not None else {},
        kueue_namespace=recording.kueue_namespace if recording is not None else "kueue-system",
    )


def pending(answer: dict[str, Any]) -> tuple[PendingItem, ...] | int:
    """Read one visibility answer (PendingWorkloadsSummary, `items` may be null) or {"error": status}."""
    error = answer.get("error")
    if isinstance(error, int):
        return error
    rows = []
    items = answer.get("items")
    for item in items if isinstance(items, list) else ():
        meta = item.get("metadata") if isinstance(item, dict) else None
        if not isinstance(meta, dict):
            continue
        numbers = [item.get(key, 0) for key in ("priority", "positionInClusterQueue", "positionInLocalQueue")]
        priority, in_cluster, in_local = (number if isinstance(number, int) else 0 for number in numbers)
        rows.append(
            PendingItem(
                str(meta.get("namespace", "")), str(meta.get("name", "")), str(item.get("localQueueName", "")),
                priority, in_cluster, in_local,
            )
        )  # fmt: skip
    return tuple(rows)
