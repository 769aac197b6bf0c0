"""What is known of a job that is not there or may not be read."""

import re
from typing import TYPE_CHECKING

from bot.core import kinds
from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.facts.lazy import fact
from bot.core.jobs import EPOCH, kind_of, same_kind, suspended
from bot.core.names import named
from bot.core.records import dataclass
from bot.core.snapshot import Gap, Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

_CORE = ("Job", "Pod", "Workload", "Deployment", "StatefulSet", "CronJob")
"""The kinds without which it is never said that there is no such job."""

REFUSED = re.compile(r"forbidden|denied|unauthori[sz]ed|\b40[13]\b", re.IGNORECASE)
"""What the reason of a gap says when a read was refused."""


@dataclass(frozen=True, slots=True)
class Absence:
    """What is known of a job that does not exist. `unread` names the kinds that were not read."""

    events: tuple[o.Event, ...]
    leftovers: tuple[o.Workload, ...]
    suggestions: tuple[str, ...]
    """Names in the asked namespace as they are; in others marked."""
    queues: tuple[str, ...]
    unread: tuple[str, ...]
    owner: str = ""
    """The kind of an object of that name that Kueue does not integrate, known by what it owns; those are suggested."""


class Missing:
    """What can be said where nothing of the asked name was found."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot
        self._ref = facts.ref

    @fact
    def absence(self) -> Absence | None:
        """What is known of a job that does not exist; None when something of that name was found.

        Proven by the core kinds and, where the server was asked what it serves, by every kind that it serves. Without that
        the other kinds that were not read are named. Raises Unknown when a kind that is needed for the proof was not read.
        """
        snapshot, ref = self._snapshot, self._ref
        if self._facts.named.meant or (
            snapshot.covers("Namespace", "", ref.namespace) and not self._namespace_is_there()
        ):
            return None
        known = kinds.BY_NAME.get(ref.kind)
        owned_here = self._owned_by_foreign
        if owned_here and known is None:
            names_here = tuple(item.name for _, item in owned_here)
            events = self._events_of_the_missing()
            return Absence(events, (), names_here, self._queue_names(), (), owned_here[0][0])
        if ref.kind and known is None and ref.kind != "PodGroup":
            raise Unknown(snapshot.why_not(ref.kind, ref.namespace, ref.name))
        wanted = [known] if known else [*kinds.JOB_KINDS, kinds.BY_NAME["Pod"], kinds.BY_NAME["Workload"]]
        wanted = [kind for kind in wanted if ref.kind != "PodGroup" or kind.kind in {"Pod", "Workload"}]
        unread = []
        for kind in wanted:
            if snapshot.covers(kind.kind, ref.namespace, ref.name) or self._not_installed(kind):
                continue
            if kind.kind in _CORE or known or snapshot.served is not None:
                raise Unknown(snapshot.why_not(kind.kind, ref.namespace, ref.name))
            unread.append(kind.plural)
        reasons = (f"{', '.join(unread)} in {ref.namespace}: not read",) if unread else ()
        return Absence(
            self._events_of_the_missing(),
            self._facts.named.leftovers,
            self._suggestions(),
            self._queue_names(),
            reasons,
        )

    @property
    def _owned_by_foreign(self) -> list[tuple[str, o.KubeObject]]:
        """What an object of the asked name owns that is of no kind known here, with that kind; what is held comes first."""
        ref = self._ref
        found = [
            (owner.kind, item)
            for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"])
            for item in self._snapshot.seen(kind.kind, ref.namespace)
            for owner in item.metadata.owner_references
            if owner.name == ref.name
            and kinds.of_object(owner.api_version, owner.kind) is None
            and same_kind(ref.kind, owner.kind, owner.api_version)
        ]
        return sorted(found, key=lambda entry: (not suspended(entry[1]), kind_of(entry[1]), entry[1].name))

    def _namespace_is_there(self) -> bool:
        return self._snapshot.look("Namespace", self._ref.namespace) is not None or any(
            item.namespace == self._ref.namespace for items in self._snapshot.objects.values() for item in items
        )

    def _not_installed(self, kind: kinds.Kind) -> bool:
        """Say whether the CustomResourceDefinitions were read in full and have none of this kind."""
        return (
            bool(kind.group.count("."))
            and self._snapshot.covers("CustomResourceDefinition")
            and self._snapshot.look("CustomResourceDefinition", kind.crd) is None
        )

    def _events_of_the_missing(self) -> tuple[o.Event, ...]:
        """Events about an object of the asked name, warnings first, newest first."""
        ref = self._ref
        found = [
            event
            for event in self._snapshot.all_of(o.Event, read="seen")
            if event.involved_object.name == ref.name
            and (event.involved_object.namespace or event.namespace) == ref.namespace
            and same_kind(ref.kind, event.involved_object.kind, event.involved_object.api_version)
        ]
        found.sort(key=lambda event: (event.last_seen or EPOCH, event.name), reverse=True)
        return tuple(sorted(found, key=lambda event: event.type != "Warning"))

    def _suggestions(self) -> tuple[str, ...]:
        """Close names in the namespace, the name as another kind, and the namespaces that have exactly this name."""
        ref, snapshot = self._ref, self._snapshot
        jobs = [item for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]) for item in snapshot.seen(kind.kind)]
        tops = [
            item for item in [*jobs, *snapshot.foreign] if not any(r.controller for r in item.metadata.owner_references)
        ]
        here = {item.name for item in tops if item.namespace == ref.namespace} | set(self._facts.named.groups)
        other_kinds = sorted(
            {kind_of(item) for item in jobs if (item.namespace, item.name) == (ref.namespace, ref.name)}
            if ref.kind
            else set()
        )
        elsewhere = sorted(
            {
                (item.namespace, kind_of(item))
                for item in tops
                if item.name == ref.name
                and item.namespace != ref.namespace
                and same_kind(ref.kind, kind_of(item), item.api_version)
            }
        )
        return (
            *(f"{ref.namespace}/{kind.lower()}/{ref.name}" for kind in other_kinds),
            *closest(ref.name, here),
            *(named(kind, ref.name, namespace) for namespace, kind in elsewhere[:3]),
        )

    def _queue_names(self) -> tuple[str, ...]:
        queues = self._snapshot.seen("LocalQueue", self._ref.namespace)
        return tuple(sorted(item.name for item in queues))

    @fact
    def refused(self) -> tuple[Gap, ...]:
        """The refusals (403, 401) because of which nothing can be said: of the job's kinds, or of Workloads."""
        needed = ["Workload"] if self._facts.named.meant else [*_CORE, *(kind.kind for kind in kinds.JOB_KINDS)]
        if self._ref.kind in kinds.BY_NAME and not self._facts.named.meant:
            needed = [self._ref.kind]
        try:
            if not self._facts.named.meant:
                if self.absence is not None:
                    return ()
            else:
                _ = self._facts.progress.phase
                return ()
        except Unknown:
            gaps = [
                gap
                for gap in self._snapshot.gaps
                if gap.kind in needed and gap.namespace in {"", self._ref.namespace} and REFUSED.search(gap.reason)
            ]
            return tuple(sorted(set(gaps), key=lambda gap: (needed.index(gap.kind), gap.namespace, gap.name)))
        return ()
