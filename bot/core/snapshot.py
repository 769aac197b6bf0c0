"""The frozen bundle for one question: objects, what was read in full, what could not be read and why, and the moment.

Tri-state: an object is there, is proven absent (its place was read in full), or is unknown. `find`, `every` and
`require` raise `Unknown` in the third case; the engine turns that into *not checked*. Nobody else handles it.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

from bot.core import kinds
from bot.core import objects as o
from bot.core.records import dataclass

T = TypeVar("T", bound=o.KubeObject)
R = TypeVar("R")


class Unknown(Exception):  # noqa: N818 - a state of knowledge, not an error
    """A fact could not be established. `reason` says what was missing, in words: "nodes: forbidden for this identity"."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Scope:
    """A place that was read in full: a kind everywhere, in a namespace, one name, or by a selector (functions below)."""

    kind: str
    namespace: str = ""
    name: str = ""
    selector: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A read that failed or was not done. `reason` is for people: "forbidden for this identity", "timed out after 8 s"."""

    kind: str
    reason: str
    namespace: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """What and why: "nodes: forbidden for this identity"."""
        known = kinds.BY_NAME.get(self.kind)
        what = known.plural if known else self.kind
        place = f" in {self.namespace}" if self.namespace else ""
        return f"{what}{' ' + self.name if self.name else ''}{place}: {self.reason}"


def holders(cluster_queue: str) -> str:
    """The selector "every Workload that holds quota in this ClusterQueue" (field status.admission.clusterQueue)."""
    return f"holders={cluster_queue}"


def waiting(cluster_queue: str) -> str:
    """The selector "every Workload that waits in a LocalQueue of this ClusterQueue"."""
    return f"waiting={cluster_queue}"


def owned(uid: str) -> str:
    """The selector "every object of this kind that belongs to the object with this UID"."""
    return f"owned={uid}"


def about(uid: str) -> str:
    """The selector "every event about the object with this UID"."""
    return f"about={uid}"


ACTIVE = "active"
"""The selector "every pod that is bound to a node and not finished", cluster-wide."""


@dataclass(frozen=True, slots=True)
class PendingItem:
    """One row of the visibility API: positions count from 0."""

    namespace: str
    name: str
    local_queue: str
    priority: int
    position_in_cluster_queue: int
    position_in_local_queue: int


@dataclass(frozen=True, slots=True)
class Versions:
    """What could be told; None for what could not."""

    kueue: str | None = None
    kubernetes: str | None = None
    api: str | None = None


_LONG = frozenset({"LocalQueue", "Node"})
"""Kinds of which a wide cluster has thousands, and which hardly ever own anything."""


@dataclass(frozen=True)
class Snapshot:
    """Everything one question may look at. Immutable; the same snapshot always gives the same answer."""

    observed_at: datetime
    objects: Mapping[str, tuple[o.KubeObject, ...]] = field(default_factory=dict)
    """Objects by kind, in the order in which they were read."""
    covered: frozenset[Scope] = frozenset()
    """What was read in full."""
    gaps: tuple[Gap, ...] = ()
    odd: Mapping[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    """Field paths that were left out because their value was of an unexpected type, by (kind, namespace, name)."""
    served: frozenset[str] | None = None
    """The kinds that the server serves; None when nobody asked it (files)."""
    foreign: tuple[o.Job, ...] = ()
    """Objects of kinds that are not in `kinds`: owners of an external framework's Workloads."""
    visibility: Mapping[str, tuple[PendingItem, ...] | int] = field(default_factory=dict)
    """Answers of Kueue's visibility API by path; an int is the HTTP status that came instead."""
    versions: Versions = Versions()
    older: Mapping[str, datetime] = field(default_factory=dict)
    """Kinds of which a part was not read for this question but some time before it, and when."""
    cluster: str = ""
    kueue_namespace: str = "kueue-system"

    @property
    def size(self) -> int:
        """How many objects there are."""
        return sum(map(len, self.objects.values()))

    @cached_property
    def _by_uid(self) -> dict[str, o.KubeObject]:
        items = [self.foreign, *(items for kind, items in self.objects.items() if kind not in _LONG)]
        return {uid: item for item in itertools.chain(*items) if (uid := item.metadata.uid)}

    @cached_property
    def _long_by_uid(self) -> dict[str, o.KubeObject]:
        items = (items for kind, items in self.objects.items() if kind in _LONG)
        return {uid: item for item in itertools.chain(*items) if (uid := item.metadata.uid)}

    @cached_property
    def _read(self) -> frozenset[tuple[str, str, str, str]]:
        return frozenset((scope.kind, scope.namespace, scope.name, scope.selector) for scope in self.covered)

    @cached_property
    def _once(self) -> dict[tuple[str, ...], Any]:
        return {}

    def once(self, key: tuple[str, ...], compute: Callable[[], R]) -> R:
        """Work something out from this snapshot alone, once for all questions about it. The key names it and its arguments.

        What `compute` raises is raised, and not kept.
        """
        if key not in self._once:
            self._once[key] = compute()
        value: R = self._once[key]
        return value

    def follow(self, earlier: "Snapshot") -> None:
        """Take over from an earlier snapshot how to find the objects of those kinds that are the same tuple."""
        for key, value in earlier._once.items():  # noqa: SLF001 - of the same class
            if key[0] in {"by name", "by namespace", "typed"} and self.objects.get(key[1]) is earlier.objects.get(
                key[1]
            ):
                self._once[key] = value

    def is_served(self, kind: str) -> bool:
        """Say whether the server may have this kind: False only when discovery proved that it has not."""
        return self.served is None or kind in self.served

    def covers(self, kind: str, namespace: str = "", name: str = "", selector: str = "") -> bool:
        """Say whether this place was read in full, by itself or within a larger place."""
        if not self.is_served(kind):
            return True
        read = self._read
        return (
            (kind, "", "", "") in read
            or (bool(namespace) and (kind, namespace, "", "") in read)
            or (bool(name) and (kind, namespace, name, "") in read)
            or (bool(selector) and not {(kind, "", "", selector), (kind, namespace, "", selector)}.isdisjoint(read))
        )

    def why_not(self, kind: str, namespace: str = "", name: str = "") -> str:
        """Give the reason why a place is not known: the gap that fits best, else "not read"."""
        fits = [
            gap for gap in self.gaps if gap.kind == kind and gap.namespace in {"", namespace} and gap.name in {"", name}
        ]
        if fits:
            return fits[-1].text
        return Gap(kind, "not read", namespace, name).text

    def require(self, kind: str, namespace: str = "", name: str = "", selector: str = "") -> None:
        """Raise Unknown unless this place was read in full."""
        if not self.covers(kind, namespace, name, selector):
            raise Unknown(self.why_not(kind, namespace, name))

    def seen(self, kind: str, namespace: str | None = None) -> tuple[o.KubeObject, ...]:
        """Give the objects of a kind that were read, perhaps not all. Never raises."""
        if namespace is None:
            return self.objects.get(kind, ())
        return self.places(kind).get(namespace, ())

    def places(self, kind: str) -> Mapping[str, tuple[o.KubeObject, ...]]:
        """Give the objects of a kind that were read, perhaps not all, by namespace. Never raises."""
        return self.once(("by namespace", kind), lambda: _by_namespace(kind, self.objects.get(kind, ())))

    def look(self, kind: str, name: str, namespace: str = "") -> o.KubeObject | None:
        """Give an object if it was read; None says nothing about absence. Never raises."""
        # by kind and namespace: most questions look up few of those that were read
        index = self._once.get(("by name", kind, namespace))
        if index is None:
            index = {item.metadata.name: item for item in self.places(kind).get(namespace, ())}
            self._once["by name", kind, namespace] = index
        found: o.KubeObject | None = index.get(name)
        return found

    def find(self, kind: str, name: str, namespace: str = "") -> o.KubeObject | None:
        """Give an object, or None when it is proven absent. Raises Unknown when its place was not read."""
        found = self.look(kind, name, namespace)
        if found is None:
            self.require(kind, namespace, name)
        return found

    def every(self, kind: str, namespace: str = "") -> tuple[o.KubeObject, ...]:
        """Give all objects of a kind, in a namespace or ("") everywhere. Raises Unknown unless read in full."""
        self.require(kind, namespace)
        return self.seen(kind, namespace or None)

    def by_uid(self, uid: str) -> o.KubeObject | None:
        """Give the object with this UID if it was read. Never raises."""
        found = self._by_uid.get(uid)
        return found if found is not None else self._long_by_uid.get(uid)

    # Typed views of the kinds that rules ask for most; the same semantics as above.

    @overload
    def all_of(self, kind: type[T], *, read: Literal["seen"], namespace: str | None = None) -> tuple[T, ...]: ...
    @overload
    def all_of(
        self, kind: type[T], *, read: Literal["full"] = "full", namespace: str | None = None
    ) -> tuple[T, ...]: ...
    def all_of(
        self, kind: type[T], *, read: Literal["full", "seen"] = "full", namespace: str | None = None
    ) -> tuple[T, ...]:
        """Give all objects whose kind has a struct of its own: `all_of(Node)`, `all_of(Pod, read="seen")`.

        Raises Unknown when `read` is "full" and the place was not read in full.
        """
        name = kind.__name__
        if read == "full":
            self.require(name, namespace or "")
            namespace = namespace or None
        place = () if namespace is None else (namespace,)
        return self.once(
            ("typed", name, *place), lambda: tuple(i for i in self.seen(name, namespace) if isinstance(i, kind))
        )

    def one_of(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """`find` for a kind that has a struct of its own. Raises Unknown when its place was not read."""
        found = self.find(kind.__name__, name, namespace)
        return found if isinstance(found, kind) else None

    def look_of(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """`look` for a kind that has a struct of its own. Never raises."""
        found = self.look(kind.__name__, name, namespace)
        return found if isinstance(found, kind) else None


def _by_namespace(kind: str, items: tuple[o.KubeObject, ...]) -> dict[str, tuple[o.KubeObject, ...]]:
    known = kinds.BY_NAME.get(kind)
    if known is not None and not known.namespaced:
        return {"": items} if items else {}
    found: dict[str, list[o.KubeObject]] = {}
    for item in items:
        found.setdefault(item.metadata.namespace, []).append(item)
    return {namespace: tuple(members) for namespace, members in found.items()}


def newest_time(objects: Iterable[o.KubeObject]) -> datetime:
    """Give the newest past moment that objects mention: a lower bound of when they were read. The epoch when none does."""
    newest = datetime.fromtimestamp(0, UTC)
    for item in objects:
        times = [item.metadata.creation_timestamp, item.metadata.deletion_timestamp]
        if isinstance(item, o.Event):
            times.append(item.last_seen)
        conditions = getattr(getattr(item, "status", None), "conditions", ())
        times.extend(entry.last_transition_time for entry in conditions if isinstance(entry, o.Condition))
        newest = max([newest, *(time for time in times if time is not None)])
    return newest
