"""Web pages about the objects of an answer: Headlamp with the Kueue plugin, KueueViz, and templates of one's own.

A link is made only where its site is configured and only from names that Kubernetes would accept; every part is
percent-encoded. Paths: Headlamp's Kueue plugin `src/utils/kueueRoutes.ts`, Headlamp `lib/router/getDefaultRoutes.tsx`,
KueueViz `src/App.jsx`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from bot.core import kinds
from bot.core.diagnosis import Diagnosis, JobId, Link

HEADLAMP, KUEUEVIZ = "Headlamp", "KueueViz"

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([a-z_]*)\}")
_MARK = re.compile(r"([/?#&=])")
"""What parts an address; no placeholder stands for one of these."""
_PLACEHOLDERS = frozenset({"cluster", "namespace", "kind", "name"})
_HEADLAMP_KUEUE = {
    "Workload": "workloads",
    "LocalQueue": "localqueues",
    "ClusterQueue": "clusterqueues",
    "ResourceFlavor": "resourceflavors",
    "Cohort": "cohorts",
    "Topology": "topologies",
}
_HEADLAMP_LATER = {"Cohort": "cohorts", "Topology": "topologies"}
_HEADLAMP_CORE = {
    "Job": "jobs",
    "CronJob": "cronjobs",
    "JobSet": "jobsets",
    "LeaderWorkerSet": "leaderworkersets",
    "Pod": "pods",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "Node": "nodes",
    "Namespace": "namespaces",
    "PriorityClass": "priorityclasses",
    "ResourceQuota": "resourcequotas",
}
_KUEUEVIZ = {
    "Workload": "workload",
    "LocalQueue": "local-queue",
    "ClusterQueue": "cluster-queue",
    "ResourceFlavor": "resource-flavor",
    "Cohort": "cohort",
}


@dataclass(frozen=True, slots=True)
class Templates:
    """The sites of one cluster; "" where there is none.

    `headlamp` and `kueueviz` are base URLs, `headlamp_cluster` the name by which Headlamp knows the cluster, `cluster` the
    configured one,
    `headlamp_features` the later pages that this Headlamp has ("cohorts", "topologies"). `own` are templates by the
    label of their button, with {cluster}, {namespace}, {kind} and {name} of the job, each percent-encoded.
    """

    headlamp: str = ""
    headlamp_cluster: str = "main"
    headlamp_features: frozenset[str] = frozenset()
    kueueviz: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""

    def __post_init__(self) -> None:
        """Refuse what would give broken links. Raises ValueError that names the value and shows a right one."""
        for what, url in (("headlamp", self.headlamp), ("kueueviz", self.kueueviz), *self.own.items()):
            if url:
                _require_web(what, url)
        if self.headlamp and (not self.headlamp_cluster or "+" in self.headlamp_cluster):
            msg = (
                f"headlamp_cluster {self.headlamp_cluster!r} must be one cluster's name without '+', for example 'main'"
            )
            raise ValueError(msg)
        for label, url in self.own.items():
            unknown = {name for name in _PLACEHOLDER.findall(url)} - _PLACEHOLDERS  # noqa: C416 - a set of a list
            if unknown or "{" in _PLACEHOLDER.sub("", url):
                msg = (
                    f"link {label!r}: {url!r} may hold {{cluster}}, {{namespace}}, {{kind}} and {{name}} alone,"
                    " for example 'https://grafana.example.com/d/jobs?var-namespace={namespace}&var-job={name}'"
                )
                raise ValueError(msg)

    @property
    def cluster_label(self) -> str:
        """What stands for {cluster}: the name that Headlamp has for it where there is one, else the configured one."""
        return self.headlamp_cluster if self.headlamp or not self.cluster else self.cluster


def _require_web(what: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"[\s<>|\"\\]", url):
        msg = f"{what}: {url!r} is not an http or https URL, which looks like 'https://headlamp.example.com'"
        raise ValueError(msg)


def add_links(answer: Diagnosis, templates: Templates) -> Diagnosis:
    """Give the answer with links on its chain; `own` templates go to the Workload, else to the first row."""
    rows = [replace(row, links=_links(row.kind, row.namespace, row.name, templates)) for row in answer.chain]
    if rows and answer.job is not None:
        at = next((at for at, row in enumerate(rows) if row.kind == "Workload"), 0)
        rows[at] = replace(rows[at], links={**rows[at].links, **job_links(answer.job, templates, own_only=True)})
    return replace(answer, chain=tuple(_without_broken_page(rows)))


def job_links(job: JobId, templates: Templates, *, own_only: bool = False) -> dict[str, str]:
    """Give the pages about the job itself by site; empty when its name is not one that Kubernetes would accept."""
    if not (_NAME.fullmatch(job.name) and _NAME.fullmatch(job.namespace) and job.kind.isalnum()):
        return {}
    found = {} if own_only else _links(job.kind, job.namespace, job.name, templates)
    values = {
        "cluster": templates.cluster_label,
        "namespace": job.namespace,
        "kind": job.kind,
        "name": job.name,
    }
    for label, template in templates.own.items():
        found[label] = _PLACEHOLDER.sub(lambda part: quote(values[part[1]], safe=""), template)
    return found


def read(url: str, template: str) -> dict[str, str] | None:
    """Read a link as one that was made from a template; None when it was not, or tells no namespace and name.

    What a page adds to its own address is no matter: further parameters, another order, a fragment. Never raises.
    """
    try:
        seen, made = urlsplit(url), urlsplit(template)
        same = (seen.scheme, seen.hostname, seen.port) == (made.scheme, made.hostname, made.port) and not seen.username
    except ValueError:
        return None
    found: dict[str, str] = {}
    parts = [(made.path.rstrip("/"), seen.path.rstrip("/"))]
    parts += [(made.fragment, seen.fragment)] if "{" in made.fragment else []
    given = dict(parse_qsl(seen.query, keep_blank_values=True))
    parts += [
        (value, quote(given.get(key, ""), safe="")) for key, value in parse_qsl(made.query, keep_blank_values=True)
    ]
    if not same or not all(_matches(pattern, text, found) for pattern, text in parts):
        return None
    return found if {"namespace", "name"} <= found.keys() else None


def _matches(template: str, text: str, found: dict[str, str]) -> bool:
    """Match a part of an address, and take what stands for the placeholders; the same one twice stands for the same.

    In a time that grows with the length alone: whoever pastes a link writes its text.
    """
    parts: list[list[str]] = [[""]]  # between two marks: text, placeholder, text, …
    marks: list[str] = []
    for at, piece in enumerate(_PLACEHOLDER.split(template)):
        if at % 2:
            parts[-1] += [piece, ""]
            continue
        first, *rest = _MARK.split(unquote(piece))
        parts[-1][-1] += first
        marks += rest[::2]
        parts += [[text] for text in rest[1::2]]
    seen = _MARK.split(unquote(text))
    if seen[1::2] != marks:
        return False
    for part, shown in zip(parts, seen[::2], strict=True):
        values = _filled(part[::2], shown)
        if values is None or not all(
            found.setdefault(name, value) == value for name, value in zip(part[1::2], values, strict=True)
        ):
            return False
    return True


def _filled(fixed: list[str], text: str) -> list[str] | None:
    """Give what stands between fixed texts, each as short as can be and never nothing; None where the text is another."""
    first, *middle = fixed
    if not middle:
        return [] if text == first else None
    last = middle.pop()
    at, end = len(first), len(text) - len(last)
    if at >= end or not text.startswith(first) or not text.endswith(last):
        return None
    values = []
    for piece in middle:
        to = text.find(piece, at + 1, end)
        if to < 0:
            return None
        values.append(text[at:to])
        at = to + len(piece)
    return [*values, text[at:end]] if at < end else None


def _links(kind: str, namespace: str, name: str, templates: Templates) -> dict[str, str]:
    if not _NAME.fullmatch(name) or (namespace and not _NAME.fullmatch(namespace)):
        return {}
    pages = {
        HEADLAMP: headlamp(kind, namespace, name, templates) if templates.headlamp else None,
        KUEUEVIZ: kueueviz(kind, namespace, name, templates) if templates.kueueviz else None,
    }
    return {site: url for site, url in pages.items() if url}


def headlamp(kind: str, namespace: str, name: str, templates: Templates) -> str | None:
    """Give Headlamp's page about an object, None where it has none. Kueue's Workload is never the core kind Workload."""
    path = f"{quote(namespace, safe='')}/{quote(name, safe='')}" if namespace else quote(name, safe="")
    base = f"{templates.headlamp.rstrip('/')}/c/{quote(templates.headlamp_cluster, safe='')}"
    later = _HEADLAMP_LATER.get(kind)
    if kind in _HEADLAMP_KUEUE and (later is None or later in templates.headlamp_features):
        return f"{base}/kueue/{_HEADLAMP_KUEUE[kind]}/{path}"
    if kind in _HEADLAMP_CORE:
        return f"{base}/{_HEADLAMP_CORE[kind]}/{path}"
    known = kinds.BY_NAME.get(kind)
    if known is None or not known.group or not namespace:
        return None  # how Headlamp addresses cluster-wide custom resources is not established
    return f"{base}/customresources/{known.crd}/{path}"


def kueueviz(kind: str, namespace: str, name: str, templates: Templates) -> str | None:
    """Give KueueViz' page about an object, None where it has none. KueueViz knows one cluster and no base path."""
    page = _KUEUEVIZ.get(kind)
    if page is None:
        return None
    path = f"{quote(namespace, safe='')}/{quote(name, safe='')}" if namespace else quote(name, safe="")
    return f"{templates.kueueviz.rstrip('/')}/{page}/{path}"


def _without_broken_page(rows: list[Link]) -> list[Link]:
    """KueueViz' page about a Workload fails when its LocalQueue is missing: leave that link out."""
    queues = [row for row in rows if row.kind == "LocalQueue"]
    if queues and not any(
        row.ok is False and re.search(r"missing|not found|does not exist", row.state) for row in queues
    ):
        return rows
    return [
        replace(row, links={site: url for site, url in row.links.items() if site != KUEUEVIZ})
        if row.kind == "Workload"
        else row
        for row in rows
    ]
