"""Recorded clusters for tests: load one, change a thing or two, ask a question.

`recorded("v0.19.2/quota-in-use").edit("ClusterQueue", "gpu-cq", {"spec": {"stopPolicy": "Hold"}}).ask("team-a/train")`
Every method gives a new Cluster; the recordings themselves are never changed.
"""

import copy
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from bot.core import bundle, engine
from bot.core.diagnosis import Diagnosis
from bot.core.facts import Facts
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot

HERE = Path(__file__).parent
RECORDINGS, CASES, QUOTA_TREES = HERE / "recordings", HERE / "cases", HERE / "quota_trees"


@lru_cache(maxsize=64)
def _items(path: Path) -> str:
    return path.read_text()


@lru_cache(maxsize=4)
def expectations(folder: Path) -> list[dict[str, Any]]:
    """What is true of each recording of a folder."""
    loaded: list[dict[str, Any]] = yaml.safe_load((folder / "expect.yaml").read_text())
    return loaded


def merge(into: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386): null removes a key, a list replaces a list."""
    if not isinstance(patch, dict):
        return patch
    result = dict(into) if isinstance(into, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


@dataclass(frozen=True)
class Cluster:
    """A recorded cluster as plain objects, the Recording document first."""

    items: tuple[dict[str, Any], ...]

    def edit(self, kind: str, name: str, patch: dict[str, Any], namespace: str | None = None) -> "Cluster":
        """Merge a patch into one object; the object must be there."""
        at = self._at(kind, name, namespace)
        return self._with([merge(item, patch) if item is at else item for item in self.items])

    def edit_every(self, kind: str, patch: dict[str, Any]) -> "Cluster":
        """Merge a patch into every object of a kind; there must be one."""
        assert any(item["kind"] == kind for item in self.items), f"no {kind} in this cluster"
        return self._with([merge(item, patch) if item["kind"] == kind else item for item in self.items])

    def condition(self, kind: str, name: str, **fields: str) -> "Cluster":
        """Set the condition with the type `fields["type"]` of one object, adding it when it is not there."""
        at = self._at(kind, name, None)
        old = [c for c in at.get("status", {}).get("conditions", []) if c["type"] != fields["type"]]
        return self.edit(kind, name, {"status": {"conditions": [*old, {"lastTransitionTime": self.now, **fields}]}})

    def drop(self, kind: str, name: str | None = None, namespace: str | None = None) -> "Cluster":
        """Remove one object, or all of a kind; the kind stays read in full."""
        kept = [
            item
            for item in self.items
            if item["kind"] != kind
            or (name is not None and item["metadata"]["name"] != name)
            or (namespace is not None and item["metadata"].get("namespace") != namespace)
        ]
        assert len(kept) < len(self.items), f"no {kind} {name or ''} in this cluster"
        return self._with(kept)

    def add(self, *objects: dict[str, Any]) -> "Cluster":
        """Add objects."""
        return self._with([*self.items, *objects])

    def unread(self, *plurals: str) -> "Cluster":
        """Take kinds out of `read`, with their objects: nobody looked there."""
        read = [resource for resource in self.items[0]["read"] if resource.rpartition("/")[2] not in plurals]
        gone = {_kind_of(resource) for resource in self.items[0]["read"] if resource not in read}
        kept = [item for item in self.items[1:] if item["kind"] not in gone]
        return self._with([{**self.items[0], "read": read}, *kept])

    def read(self, *resources: str) -> "Cluster":
        """Add "group/version/plural" to `read`: looked there, in full."""
        return self._with([{**self.items[0], "read": [*self.items[0]["read"], *resources]}, *self.items[1:]])

    def at(self, moment: str) -> "Cluster":
        """Move the moment of the recording."""
        return self._with([{**self.items[0], "observedAt": moment}, *self.items[1:]])

    @property
    def now(self) -> str:
        """The moment of the recording."""
        return str(self.items[0]["observedAt"])

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """Give a copy of one object."""
        return copy.deepcopy(self._at(kind, name, namespace))

    def named(self, kind: str, start: str) -> str:
        """Give the name of the one object of a kind whose name starts so (Workload names end in a hash)."""
        names = [
            i["metadata"]["name"] for i in self.items if i["kind"] == kind and i["metadata"]["name"].startswith(start)
        ]
        assert len(names) == 1, f"{len(names)} objects of kind {kind} start with {start!r}: {names}"
        return str(names[0])

    def content(self) -> bytes:
        """The file as `explain -f` reads it."""
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(self.items)}).encode()

    def snapshot(self) -> Snapshot:
        """The snapshot of this cluster."""
        return bundle.load([("cluster.json", self.content())])

    def ask(self, reference: str, kind: str = "") -> Diagnosis:
        """Ask "namespace/name" and give the answer."""
        return engine.diagnose(self.snapshot(), self._ref(reference, kind))

    def facts(self, reference: str, kind: str = "") -> Facts:
        """The facts about "namespace/name"."""
        return Facts(self.snapshot(), self._ref(reference, kind))

    @staticmethod
    def _ref(reference: str, kind: str) -> JobRef:
        namespace, _, name = reference.partition("/")
        return JobRef(namespace, name, kind)

    def _with(self, items: list[dict[str, Any]]) -> "Cluster":
        return Cluster(tuple(items))

    def _at(self, kind: str, name: str, namespace: str | None) -> dict[str, Any]:
        found = [
            item
            for item in self.items
            if item["kind"] == kind
            and item["metadata"]["name"] == name
            and namespace in {None, item["metadata"].get("namespace")}
        ]
        assert len(found) == 1, f"{len(found)} objects {kind} {name} in this cluster"
        return found[0]


def _kind_of(resource: str) -> str:
    from bot.core import kinds

    kind = kinds.of_resource(resource)
    return kind.kind if kind else resource


def recorded(name: str) -> Cluster:
    """Give a recording by "version/scenario", a case by "cases/P01" or a tree by "quota_trees/tree-1-00"."""
    folder = HERE if name.startswith(("cases/", "quota_trees/")) else RECORDINGS
    return Cluster(tuple(json.loads(_items(folder / f"{name}.json"))["items"]))


def fired(answer: Diagnosis) -> set[str]:
    """Every rule that fired: headline, also and context."""
    return {answer.headline.rule, *(f.rule for f in answer.also), *(f.rule for f in answer.context)}
