"""Decides what a reader sees of an answer, before anything is rendered.

Levels: "namespace" names only what is in the asked namespace; "queue" also who stands or holds quota in the same
ClusterQueue; "cohort" also who does in the rest of the cohort, and its queues; "all" names everything. What belongs to
the cluster and not to a tenant (the path from the LocalQueue to the root cohort, flavors, nodes, topologies, Kueue's own
namespace with what runs in it) is named at every level.

Names that rules marked (see `names`) are replaced by a description, rows about others are folded into counts, and names
that stand in text from the cluster (Kueue's own words, a field's value) are struck out, word by word.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import Any

from bot.core import diagnosis as d
from bot.core import kinds, names
from bot.core import objects as o
from bot.core.records import dataclass
from bot.core.snapshot import Gap, Snapshot

STRUCK = "(withheld)"
"""What stands in a text where a name of somebody else stood."""

_COMMON = """
a all an and are as at be by can cluster cohort cpu default do events for from gpu has have in is it its job jobs
kube-system kueue kueue-system limit main memory more name namespace namespaces needs no node nodes not of on one or pod
pods queue queues quota read requests resource running set start state that the them there this to total used wait waits
when which with workload workloads
"""
COMMON_WORDS = frozenset(_COMMON.split())
"""Words that stay although somebody's object is called so: alone in a sentence they tell nobody's name."""

_TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?:/[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)*")
_HIDDEN = "\ue003"
_CUT = re.compile("[./-]*…")
_PATH = re.compile(r"(?<=path: )(?:/[\w.-]+)+")
_TENANTS_OWN = frozenset({"ClusterQueue", "Cohort"})


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads: the level, the namespace that was asked about, and others about which this reader may ask, too."""

    level: d.Level = "namespace"
    namespace: str = ""
    may_ask: frozenset[str] = frozenset()


def disclose(answer: d.Diagnosis, audience: Audience, snapshot: Snapshot | None = None) -> d.Diagnosis:
    """Give the answer as this audience may see it, with every marked name resolved.

    With the snapshot from which the answer was made, the names of all that was read are struck out of quoted text;
    without it, those that the answer itself mentions.
    """
    return _Veil(answer, audience, snapshot).answer()


@dataclass
class _Foreign:
    """What may not be named: words to strike out, and which namespaces they gave away."""

    words: set[str] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)


class _Veil:
    def __init__(self, answer: d.Diagnosis, audience: Audience, snapshot: Snapshot | None) -> None:
        self._answer = answer
        self._audience = audience
        self._open = audience.level == "all"
        kueue = snapshot.kueue_namespace if snapshot is not None else "kueue-system"
        self._own = {audience.namespace, *audience.may_ask, kueue} - {""}
        self._path = {(link.kind, link.name) for link in answer.chain} | _own_path(snapshot, self._own)
        self._seen_there = self._neighbours()
        self._withheld: set[str] = set()
        self._foreign = _Foreign()
        self._known: set[str] = set()
        self._visible: set[str] = set()
        self._names: set[str] = set()
        if not self._open:
            self._collect(snapshot)

    # --- who may be named ---

    def _neighbours(self) -> set[tuple[str, str]]:
        """(namespace, name) of the jobs and Workloads that this level names beside the asked namespace's."""
        level, found = self._audience.level, set[tuple[str, str]]()
        if level in {"queue", "cohort"}:
            for holder in self._answer.holders:
                if level == "cohort" or ("ClusterQueue", holder.cluster_queue) in self._path:
                    found |= {(holder.namespace, holder.workload), (holder.namespace, _bare(holder.job))}
            for job in self._answer.ahead.jobs if self._answer.ahead else ():
                found.add((job.namespace, _bare(job.job)))
        return found

    def _may_see(self, kind: str, namespace: str, name: str) -> bool:
        if self._open:
            return True
        if kind == "Namespace":
            return name in self._own or any(name == place for place, _ in self._seen_there)
        if namespace:
            return namespace in self._own or (namespace, name) in self._seen_there
        return kind not in _TENANTS_OWN or (kind, name) in self._path or self._audience.level == "cohort"

    # --- what must not stand in any text ---

    def _collect(self, snapshot: Snapshot | None) -> None:
        foreign = self._foreign
        if snapshot is not None:
            for kind, items in snapshot.objects.items():
                if kind == "Event":
                    continue
                known = kinds.BY_NAME.get(kind)
                if known is not None and not known.namespaced and kind not in {*_TENANTS_OWN, "Namespace"}:
                    # everybody may see what belongs to the cluster
                    self._known.update(item.metadata.name for item in items)
                    continue
                for namespace, members in snapshot.places(kind).items():
                    self._judge_all(kind, namespace, [item.metadata.name for item in members])
                for named in _names_in(kind, items):
                    self._judge(*named)
        for holder in self._answer.holders:
            self._judge("Workload", holder.namespace, holder.workload)
            self._judge("Job", holder.namespace, _bare(holder.job))
            self._judge("ClusterQueue", "", holder.cluster_queue)
        for job in self._answer.ahead.jobs if self._answer.ahead else ():
            self._judge("Job", job.namespace, _bare(job.job))
        for gap in self._answer.gaps:
            self._judge(gap.kind, gap.namespace, gap.name)
        for text in _texts(self._answer):
            names.show(text, self._note)
        self._visible = self._visible_words(snapshot)
        foreign.words -= self._visible
        foreign.namespaces -= self._visible
        self._names = foreign.words | foreign.namespaces

    def _note(self, kind: str, namespace: str, name: str) -> str:
        self._judge(kind.rstrip("/"), namespace, name)
        return ""

    def _judge_all(self, kind: str, namespace: str, found: list[str]) -> None:
        """Judge what lies in one namespace: wide clusters have thousands of objects."""
        if namespace and not self._open and namespace not in self._own and kind != "Namespace":
            names_seen = {name for place, name in self._seen_there if place == namespace}
            if names_seen.isdisjoint(found):
                self._foreign.words.update(found)
                self._foreign.namespaces.add(namespace)
                return
        for name in found:
            self._judge(kind, namespace, name)

    def _judge(self, kind: str, namespace: str, name: str) -> None:
        if self._may_see(kind, namespace, name):
            self._known.add(name)
            return
        self._foreign.words.add(name)
        if namespace or kind == "Namespace":
            self._foreign.namespaces.add(namespace or name)

    def _visible_words(self, snapshot: Snapshot | None) -> set[str]:
        """Words that the reader knows anyway: own names, the path, flavors, resources."""
        answer = self._answer
        found = {
            *self._own,
            *self._known,
            *(name for _, name in self._path),
            answer.cluster,
            *answer.asked.split("/"),
            "",
        }
        found |= {text for row in answer.quota for text in (row.flavor, *row.resource.split("/"), *row.pod_sets)}
        found |= {text for pair in self._seen_there for text in pair}
        if answer.job is not None:
            found.add(answer.job.name)
        if snapshot is not None:
            mine = [w for w in snapshot.all_of(o.Workload, read="seen") if w.namespace in self._own]
            found |= {workload.spec.queue_name for workload in mine}
        return found

    # --- texts ---

    def text(self, text: str) -> str:
        """Resolve the marked names of a text and strike out foreign ones."""
        return self._resolve(text, in_command=False)

    def _resolve(self, text: str, *, in_command: bool) -> str:
        if self._open:
            return names.show(text, self._show_in_command(text) if in_command else self._show)
        hidden = names.show(self._strike_plain(self._strike_path(text)), self._show_or_hide)
        return _smooth(hidden) if _HIDDEN in hidden else hidden

    def _show(self, kind: str, namespace: str, name: str) -> str:
        near = namespace == self._audience.namespace and not kind.endswith("/")
        return names.plain(kind, "" if near else namespace, name)

    def _show_in_command(self, command: str) -> Any:  # noqa: ANN401
        """In a command, an object of another namespace is `name -n namespace`, unless the command has a namespace."""
        placed = re.search(r"\s(-n|--namespace)[\s=]", command) is not None

        def show(kind: str, namespace: str, name: str) -> str:
            path = f"{kind}{name}" if kind.endswith("/") else name
            return path if placed or not namespace else f"{path} -n {namespace}"

        return show

    def _show_or_hide(self, kind: str, namespace: str, name: str) -> str:
        if self._may_see(kind.rstrip("/"), namespace, name):
            return self._show(kind, namespace, name)
        if namespace or kind.rstrip("/") == "Namespace":
            self._withheld.add(namespace or name)
        return f"{_HIDDEN}{kind}{_HIDDEN}"

    def _strike_path(self, text: str) -> str:
        """Strike out of a path that Kueue writes ("preemptor path: /all/other-cq") what is not the reader's own."""
        if "path: /" not in text or self._audience.level == "cohort":
            return text
        return _PATH.sub(lambda found: "/".join(self._own_or_struck(each) for each in found[0].split("/")), text)

    def _own_or_struck(self, name: str) -> str:
        return name if name in self._visible else STRUCK

    def _strike_plain(self, text: str) -> str:
        """Strike out foreign names outside the marks; the marks themselves are resolved afterwards."""
        if not self._foreign.words and not self._foreign.namespaces:
            return text
        parts = re.split("(\ue000[^\ue002]*\ue002)", text)
        return "".join(part if part.startswith("\ue000") else _TOKEN.sub(self._strike, part) for part in parts)

    def _strike(self, found: re.Match[str]) -> str:
        said = found[0].split("/")
        parts = [part.lower() if part.isupper() else part for part in said]  # in capitals it is the same name
        if _CUT.match(found.string, found.end()):  # the rest of the last name was cut off
            begins = (word for word in self._names - COMMON_WORDS if word.startswith(parts[-1]))
            parts[-1] = next(begins, parts[-1])
        result: list[str] = []
        for at, part in enumerate(parts):
            place = part if part in self._foreign.namespaces else _service_namespace(part)
            after = parts[at - 1] if at else ""
            if place in self._foreign.namespaces and (place not in COMMON_WORDS or self._is_word(parts, at + 1)):
                self._withheld.add(place)
                result.append(STRUCK)
            elif after in self._foreign.namespaces or self._is_foreign(part):
                result.append(STRUCK)
            else:
                result.append(said[at])
        text = "/".join(result)
        return text.replace(f"{STRUCK}/{STRUCK}", STRUCK)

    def _is_foreign(self, part: str) -> bool:
        """Tell whether a name is foreign, or has a foreign namespace and name side by side: "team-b.train", "train.team-b"."""
        if part in self._foreign.words and part not in COMMON_WORDS:
            return True
        if "." not in part:
            return False
        spaces = self._foreign.namespaces
        return any({one, two} <= self._names and {one, two} & spaces for one, two in pairwise(part.split(".")))

    def _is_word(self, parts: list[str], at: int) -> bool:
        return at < len(parts) and parts[at] in self._foreign.words

    def _command(self, command: str | None) -> str | None:
        """Give a command; none rather than one with holes."""
        if command is None:
            return None
        shown = self._resolve(command, in_command=True)
        return None if not self._open and (STRUCK in shown or " another " in shown) else shown

    def value(self, value: Any) -> Any:  # noqa: ANN401 - a rule's data may hold anything that JSON can say
        """Resolve every text in nested data, keys included; drop list entries that are nothing but a struck name."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            shown = [self.value(entry) for entry in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
            return [entry for entry in shown if entry != STRUCK]
        return value

    # --- the sections ---

    def answer(self) -> d.Diagnosis:
        answer, text = self._answer, self.text
        shown = replace(
            answer,
            headline=self._finding(answer.headline),
            also=tuple(self._finding(finding) for finding in answer.also),
            context=tuple(self._finding(finding) for finding in answer.context),
            not_checked=tuple(replace(entry, reason=text(entry.reason)) for entry in answer.not_checked),
            chain=tuple(self._link(link) for link in answer.chain),
            quota=tuple(
                replace(row, why=row.why and text(row.why), limit=row.limit and text(row.limit)) for row in answer.quota
            ),
            holders=self._holders(),
            ahead=self._ahead(),
            kueue_said=answer.kueue_said
            and replace(answer.kueue_said, text=text(answer.kueue_said.text), reason=text(answer.kueue_said.reason)),
            gaps=tuple(self._gap(gap) for gap in answer.gaps),
            faults=tuple(text(fault) for fault in answer.faults),
        )
        return replace(shown, withheld=d.Withheld(self._audience.level, len(self._withheld)))

    def _finding(self, finding: d.Finding) -> d.Finding:
        text = self.text
        return replace(
            finding,
            sentence=text(finding.sentence),
            subjects=tuple(dict.fromkeys(text(entry) for entry in finding.subjects)),
            evidence=tuple(
                replace(proof, subject=text(proof.subject), field=text(proof.field), value=text(proof.value))
                for proof in finding.evidence
            ),
            next=tuple(
                replace(step, do=text(step.do), command=self._command(step.command)) for step in finding.next
            ),
            data=self.value(finding.data),
        )  # fmt: skip

    def _link(self, link: d.Link) -> d.Link:
        if not self._may_see(link.kind, link.namespace, link.name):
            if link.namespace:
                self._withheld.add(link.namespace)
            return replace(link, namespace="", name=STRUCK, state=self.text(link.state), links={})
        return replace(link, name=self.text(link.name), state=self.text(link.state))

    def _gap(self, gap: Gap) -> Gap:
        if self._may_see(gap.kind, gap.namespace, gap.name):
            return replace(gap, reason=self.text(gap.reason))
        return Gap(gap.kind, self.text(gap.reason), STRUCK if gap.namespace else "", "")

    def _queue(self, cluster_queue: str) -> str:
        return cluster_queue if self._may_see("ClusterQueue", "", cluster_queue) else "another ClusterQueue"

    def _holders(self) -> tuple[d.Holder, ...]:
        """Others' rows become one row per ClusterQueue, flavor and resource, where the first of them stood."""
        rows: list[d.Holder | tuple[str, str, str]] = []
        folded: dict[tuple[str, str, str], list[d.Holder]] = {}
        for holder in self._answer.holders:
            queue = self._queue(holder.cluster_queue)
            if self._may_see("Workload", holder.namespace, holder.workload):
                rows.append(replace(holder, job=self.text(holder.job), cluster_queue=queue))
                continue
            self._withheld.add(holder.namespace)
            key = (queue, holder.flavor, holder.resource)
            if key not in folded:
                rows.append(key)
            folded.setdefault(key, []).append(holder)
        return tuple(row if isinstance(row, d.Holder) else _folded(row[0], folded[row]) for row in rows)

    def _ahead(self) -> d.Ahead | None:
        ahead = self._answer.ahead
        if ahead is None:
            return None
        jobs: list[d.AheadJob] = []
        others: list[d.AheadJob] = []
        for job in ahead.jobs:
            if self._may_see("Job", job.namespace, _bare(job.job)):
                jobs.append(replace(job, job=self.text(job.job), why=self.text(job.why)))
            else:
                others.append(job)
                self._withheld.add(job.namespace)
        if others:
            count = _elsewhere(len(others), "workload", len({job.namespace for job in others}))
            reasons = {self.text(job.why) for job in others}
            jobs.append(d.AheadJob("", count, reasons.pop() if len(reasons) == 1 else ""))
        return replace(ahead, jobs=tuple(jobs))


def _names_in(kind: str, items: Sequence[o.KubeObject]) -> set[tuple[str, str, str]]:
    """Give (kind, namespace, name) of what objects of a kind name, which may not have been read itself."""
    found = {
        (owner.kind, item.namespace, owner.name)
        for item in items
        for owner in item.metadata.owner_references
        if owner.kind != "Node"  # the only one without a namespace that owns what has one
    }
    match kind:
        case "ClusterQueue":
            found |= {("Cohort", "", item.cohort) for item in items if isinstance(item, o.ClusterQueue)}
        case "Cohort":
            found |= {("Cohort", "", item.parent) for item in items if isinstance(item, o.Cohort)}
        case "LocalQueue":
            found |= {("ClusterQueue", "", i.spec.cluster_queue) for i in items if isinstance(i, o.LocalQueue)}
        case "Workload":
            workloads = [item for item in items if isinstance(item, o.Workload)]
            found |= {("LocalQueue", item.namespace, item.spec.queue_name) for item in workloads}
            admissions = (item.status.admission for item in workloads)
            found |= {("ClusterQueue", "", each.cluster_queue) for each in admissions if each is not None}
    return found


def _own_path(snapshot: Snapshot | None, namespaces: set[str]) -> set[tuple[str, str]]:
    """Give (kind, name) of the ClusterQueues behind the LocalQueues of namespaces, and of the cohorts above them."""
    if snapshot is None:
        return set()
    queues = {
        queue.spec.cluster_queue
        for namespace in namespaces
        for queue in snapshot.all_of(o.LocalQueue, read="seen", namespace=namespace)
    }
    found = {("ClusterQueue", name) for name in queues}
    cohorts = [queue.cohort for name in queues if (queue := snapshot.look_of(o.ClusterQueue, name)) is not None]
    while cohorts:
        name = cohorts.pop()
        if not name or ("Cohort", name) in found:
            continue
        found.add(("Cohort", name))
        cohort = snapshot.look_of(o.Cohort, name)
        cohorts.append(cohort.parent if cohort is not None else "")
    return found


def _folded(queue: str, members: list[d.Holder]) -> d.Holder:
    """Give one row for several holders of one flavor and resource whose names are withheld."""
    count = len({(member.namespace, member.workload) for member in members})
    job = _elsewhere(count, "workload", len({member.namespace for member in members}))
    amount = sum(member.amount for member in members)
    return replace(
        members[0], namespace="", workload="", since=None, cluster_queue=queue, job=job, amount=amount
    )  # fmt: skip


def _bare(job: str) -> str:
    """Give the name in "Kind/name", marked or not."""
    return names.show(job, lambda _kind, _namespace, name: name).rpartition("/")[2]


def _service_namespace(part: str) -> str:
    """Give the namespace in the host name of a service or of a pod, "webhook.team-b.svc", "train-0.train.team-b.svc"."""
    labels = part.split(".")
    at = next((labels.index(word) for word in ("svc", "pod") if word in labels[2:]), 0)
    return labels[at - 1] if at else part


def _elsewhere(count: int, noun: str, namespaces: int) -> str:
    """Say how many: "1 workload in another namespace", "3 workloads in other namespaces"."""
    where = "another namespace" if namespaces == 1 else "other namespaces"
    return f"{count} {noun}{'' if count == 1 else 's'} in {where}"


def _describe(kind: str) -> str:
    """Give what stands for one hidden object in a sentence."""
    if kind == "Namespace":
        return "another namespace"
    if kind in _TENANTS_OWN:
        return f"another {kind}"
    return f"{'an' if kind[:1] in 'AEIOU' else 'a'} {kind or 'job'} in another namespace"


def _describe_many(kind: str, count: int) -> str:
    if kind == "Namespace":
        return f"{count} other namespaces"
    return f"{count} other {kind}s" if kind in _TENANTS_OWN else f"{count} {kind or 'job'}s in other namespaces"


def _smooth(text: str) -> str:
    """Turn the places of hidden names into readable words; the kind before a name and a list of names become one phrase."""
    mark = f"{_HIDDEN}([^{_HIDDEN}]*){_HIDDEN}"

    def several(found: re.Match[str]) -> str:
        return _describe_many(found[1].rstrip("/"), found[0].count(_HIDDEN) // 2)

    def one(found: re.Match[str]) -> str:
        if found[1].endswith("/"):
            kind = found[1].rstrip("/")
            return f"another {kind}" if kind in {*_TENANTS_OWN, "Namespace"} else f"{kind} in another namespace"
        return _describe(found[1])

    text = re.sub(rf"{mark}(?:(?:, and |, | and ){_HIDDEN}\1{_HIDDEN})+", several, text)
    text = re.sub(
        rf"\b(?:(?:the|a|an|another) )?([A-Za-z]+) (?={_HIDDEN}([^{_HIDDEN}]*){_HIDDEN})", _without_kind, text
    )
    return re.sub(mark, one, text)


def _without_kind(found: re.Match[str]) -> str:
    """Drop "the Workload " before a hidden Workload: the description names the kind again."""
    kind = found[2].rstrip("/").lower()
    return "" if found[1].lower() == kind else found[0]


def _texts(value: object) -> list[str]:
    """Give every text inside nested records, for the names that are marked in them."""
    if isinstance(value, str):
        return [value] if "\ue000" in value else []
    if isinstance(value, Mapping):
        return [text for pair in value.items() for part in pair for text in _texts(part)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [text for part in value for text in _texts(part)]
    fields = getattr(value, "__dataclass_fields__", {})
    return [text for name in fields for text in _texts(getattr(value, name))]
