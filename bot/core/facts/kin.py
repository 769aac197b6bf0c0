"""What owns what, and which events are about it, as far as it was read.

An object of the same name with another UID is another object.
"""

from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.facts.lazy import fact
from bot.core.jobs import EPOCH, kind_of

if TYPE_CHECKING:
    from bot.core.facts import Facts

DEPTH = 10  # Kueue stops climbing owners at this depth


class Kin:
    """The owners of an object, what it owns, and the events about it."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    @fact
    def _by_owner(self) -> dict[str, list[o.KubeObject]]:
        """The objects of the asked namespace that were read, by the UID of each owner."""
        return self._snapshot.once(("objects by owner", self._ref.namespace), self._index_objects)

    def _index_objects(self) -> dict[str, list[o.KubeObject]]:
        index: dict[str, list[o.KubeObject]] = {}
        for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]):
            for child in self._snapshot.seen(kind.kind, self._ref.namespace):
                for reference in child.metadata.owner_references:
                    if reference.uid:
                        index.setdefault(reference.uid, []).append(child)
        return index

    def owners(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The chain of controlling owners that were read, nearest first, at most ten."""
        chain: list[o.KubeObject] = []
        current = item
        while len(chain) < DEPTH:
            reference = self.owner_reference(current)
            owner = self.resolve(reference, current.namespace) if reference is not None else None
            if owner is None or owner is item or any(owner is known for known in chain):
                break
            chain.append(owner)
            current = owner
        return tuple(chain)

    def owner_reference(self, item: o.KubeObject) -> o.OwnerReference | None:
        """The reference to the owner that controls an object; for a Workload of several owners the one that is no pod."""
        references = item.metadata.owner_references
        controlling = next((ref for ref in references if ref.controller), None)
        if controlling is None and isinstance(item, o.Workload):
            above = [ref for ref in references if ref.kind != "Pod"]
            controlling = (above or references or (None,))[0]
        return controlling

    def resolve(self, reference: o.OwnerReference, namespace: str) -> o.KubeObject | None:
        """The owner that a reference names, if it was read: an object of the same name with another UID is not it."""
        owner = self._snapshot.by_uid(reference.uid) if reference.uid else None
        if owner is None:
            same_name = self._snapshot.look(reference.kind, reference.name, namespace)
            if same_name is not None and not (same_name.metadata.uid and reference.uid):
                owner = same_name
        return owner

    def children(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """The objects that were read and that this one owns."""
        uid = item.metadata.uid
        if not uid or item.namespace != self._ref.namespace:
            return ()
        return tuple(self._by_owner.get(uid, ()))

    def descendants(self, item: o.KubeObject) -> tuple[o.KubeObject, ...]:
        """What an object owns, directly or not, nearest first."""
        found: list[o.KubeObject] = []
        known = {id(item)}
        level = [item]
        for _ in range(DEPTH):
            level = [child for parent in level for child in self.children(parent) if id(child) not in known]
            if not level:
                break
            found += level
            known |= {id(child) for child in level}
        return tuple(found)

    def events(self, *items: o.KubeObject) -> tuple[o.Event, ...]:
        """The events that were read about objects, oldest first; not those about an earlier object of the same name."""
        uids = {item.metadata.uid for item in items} - {""}
        named = {(kind_of(item), item.namespace, item.name): item.metadata.uid for item in items}
        found = []
        for event in self._snapshot.all_of(o.Event, read="seen"):
            about = event.involved_object
            uid = named.get((about.kind, about.namespace or event.namespace, about.name))
            if about.uid in uids or (uid is not None and not (about.uid and uid)):
                found.append(event)
        return tuple(
            sorted(found, key=lambda event: (event.last_seen is not None, event.last_seen or EPOCH, event.name))
        )
