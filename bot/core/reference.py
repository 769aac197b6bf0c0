"""What somebody asked for: a reference to a job, how it is written, and how the text was read.

`parse` reads one reference, `find_all` picks references out of free text (an alert, a thread). Both are pure and never
raise anything but `BadReferenceError`, whose text says what was wrong and shows a working example.
"""

import html
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

from bot.core import kinds
from bot.core.records import dataclass

EXAMPLE = "team-a/train"
_LONGEST_NAME, _LONGEST_NAMESPACE, _LONGEST_TEXT, _MOST_FOUND = 253, 63, 4_000, 50


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job by namespace and name; `kind` is "" when it was not given. `text` is what was typed."""

    namespace: str
    name: str
    kind: str = ""
    cluster: str = ""
    text: str = ""

    @property
    def read_as(self) -> str:
        """How the question was read: "Job train in namespace team-a"."""
        where = f" on cluster {self.cluster}" if self.cluster else ""
        return f"{self.kind or 'anything named'} {self.name} in namespace {self.namespace}{where}"

    @property
    def asked(self) -> str:
        """The short form "namespace/name" or "namespace/kind/name"."""
        middle = f"{self.kind.lower()}/" if self.kind else ""
        return f"{self.namespace}/{middle}{self.name}"


class BadReferenceError(ValueError):
    """A text that names no job. The message is a whole answer: what was wrong with the value, and a working example."""

    def __init__(self, problem: str, example: str = EXAMPLE) -> None:
        """Put the problem and an example that works together."""
        super().__init__(f"{problem} Write NAMESPACE/NAME, for example: {example}")


def parse(text: str, *, default_namespace: str = "", default_cluster: str = "", clusters: Sequence[str] = ()) -> JobRef:
    """Read one reference; `clusters` are the configured names, the defaults are the channel's or the command line's.

    Raises BadReferenceError when the text names no job or more than one.
    """
    typed = _plain(text)
    if not typed:
        problem = "No job was named."
        raise BadReferenceError(problem, f"{default_namespace}/train" if default_namespace else EXAMPLE)
    reader = _Reader(default_namespace, default_cluster, tuple(clusters))
    return replace(reader.read(typed), text=_shown(typed))


def find_all(
    text: str, *, default_namespace: str = "", default_cluster: str = "", clusters: Sequence[str] = ()
) -> tuple[JobRef, ...]:
    """Find the references in free text, in order, each once: links, kubectl lines, labels of an alert, NAMESPACE/NAME.

    A bare name is never taken for a job, whatever the default namespace. Never raises.
    """
    reader = _Reader(default_namespace, default_cluster, tuple(clusters))
    found: dict[tuple[str, str, str, str], JobRef] = {}
    for line in _unlink(text[: _LONGEST_TEXT * 10]).splitlines():
        for piece, ref in _pieces(line, reader):
            key = (ref.cluster, ref.namespace, ref.kind, ref.name)
            found.setdefault(key, replace(ref, text=_shown(piece)))
    for ref in _labels(_unlink(text[: _LONGEST_TEXT * 10]), reader):
        found.setdefault((ref.cluster, ref.namespace, ref.kind, ref.name), ref)
    named = {(ref.cluster, ref.namespace, ref.name) for ref in found.values() if ref.kind}
    return tuple(ref for ref in found.values() if ref.kind or (ref.cluster, ref.namespace, ref.name) not in named)[
        :_MOST_FOUND
    ]


# --- what chat programs do to a text ---

_LINKED = re.compile(r"<([^<>|\s]+)(?:\|([^<>]*))?>")
_QUOTES = "`\"'“”\u2018\u2019«»*_~()[]{}"
_ENDS = ".,;:!?"
_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ue000-\ue002]"
)


def _unlink(text: str) -> str:
    """Undo what Slack does to links: `<https://…|shown>` becomes the address when it is one of ours, else what was shown."""

    def restore(found: re.Match[str]) -> str:
        address, shown = found[1], found[2] or ""
        if address.startswith(("@", "#", "!")):
            return " "
        if shown and not _is_link(shown) and len(_segments(address)) <= len(shown.split("/")):
            return shown
        return address

    return _LINKED.sub(restore, html.unescape(_INVISIBLE.sub("", text).replace("\u00a0", " ")))


def _plain(text: str) -> str:
    typed = " ".join(_unlink(text[: _LONGEST_TEXT * 10]).split())
    return _strip(typed)


def _strip(typed: str) -> str:
    before = None
    while before != typed:
        before = typed
        typed = typed.strip().strip(_QUOTES).rstrip(_ENDS)
    return typed


def _shown(typed: str) -> str:
    return typed if len(typed) <= _LONGEST_NAME else typed[:_LONGEST_NAME] + "…"


# --- links of web consoles ---

_NOT_JOBS = {
    "local-queue": "LocalQueue", "localqueues": "LocalQueue", "cluster-queue": "ClusterQueue",
    "clusterqueues": "ClusterQueue", "resource-flavor": "ResourceFlavor", "resourceflavors": "ResourceFlavor",
    "cohort": "Cohort", "cohorts": "Cohort", "topologies": "Topology", "nodes": "Node", "namespaces": "Namespace",
    "admissionchecks": "AdmissionCheck", "priorityclasses": "PriorityClass",
}  # fmt: skip


def _is_link(token: str) -> bool:
    host = token.partition("/")[0]
    return "://" in token or (("/c/" in token or "/#/" in token) and ("." in host or ":" in host))


def _segments(address: str) -> list[str]:
    """The parts of an address's path, decoded; the fragment counts as path where a console routes by it."""
    path = address.partition("://")[2] or address
    path = path.replace("/#/", "/").partition("#")[0].partition("?")[0]
    return [unquote(part) for part in path.split("/")[1:] if part]


def _place(parts: list[str]) -> tuple[str, str, str] | None:
    """Give (kind, namespace, name) of a console's path: …/KIND/NAMESPACE/NAME, or …/ns/NAMESPACE/KIND/NAME."""
    if len(parts) >= 5 and parts[-5:-3] == ["k8s", "ns"]:
        kind = parts[-2].rpartition("~")[2] if "~" in parts[-2] else parts[-2]
        return _kind(kind) or kind, parts[-3], parts[-1]
    if len(parts) >= 4 and parts[-4] == "customresources":
        return _kind(parts[-3]) or parts[-3], parts[-2], parts[-1]
    if len(parts) >= 3 and _kind(parts[-3]):
        return _kind(parts[-3]), parts[-2], parts[-1]
    return None


# --- kubectl ---

_PROGRAMS = {"kubectl", "k", "oc", "kubecolor", "kueuectl", "kubectl.exe"}
_WITH_VALUE = {
    "-o", "--output", "-l", "--selector", "--kubeconfig", "--cluster", "--user", "--as", "--as-group", "-s", "--server",
    "-f", "--filename", "-c", "--container", "--field-selector", "--sort-by", "--tail", "--since", "-p", "--patch",
    "--type", "--timeout", "--for", "--replicas", "-v", "--token", "--request-timeout", "--cache-dir", "-L",
    "--subresource", "--template", "--grace-period", "--since-time", "--limit-bytes", "--pod-running-timeout",
}  # fmt: skip
_POD_VERBS = {"logs", "log", "exec", "attach", "port-forward", "cp"}
_VERBS = _POD_VERBS | {
    "get", "describe", "delete", "edit", "explain", "wait", "events", "top", "annotate", "label", "patch", "scale", "rollout",
    "restart", "status", "history", "kueue", "stop", "resume", "list", "debug", "autoscale", "taint", "replace",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Reader:
    namespace: str
    cluster: str
    clusters: tuple[str, ...]

    def read(self, typed: str) -> JobRef:
        """Read one cleaned text. Raises BadReferenceError."""
        if len(typed) > _LONGEST_TEXT:
            raise BadReferenceError(_too_long(typed, "text"))
        cluster, rest = self.split_cluster(typed)
        tokens = _tokens(rest)
        links = [token for token in tokens if _is_link(token)]
        if links:
            return self._link(links[0], cluster)
        return self._words(tokens, cluster)

    def split_cluster(self, typed: str) -> tuple[str, str]:
        """Take a configured cluster's name off the front."""
        for name in sorted(self.clusters, key=len, reverse=True):
            if name and typed.startswith(f"{name}:"):
                return name, typed[len(name) + 1 :].strip()
        return self.cluster, typed

    def _link(self, address: str, cluster: str) -> JobRef:
        parts = _segments(address)
        if "c" in parts[:-1]:
            named = parts[parts.index("c") + 1]
            cluster = next((name for name in (named, named.partition("+")[0]) if name in self.clusters), cluster)
        if "scheduling" in parts and parts[-4:-2] == ["scheduling", "workloads"]:
            problem = "That link leads to Kubernetes' own Workload, which Kueue does not use."
            raise BadReferenceError(problem)
        place = _place(parts)
        if place is not None:
            kind, namespace, name = place
            other = _NOT_JOBS.get(kind.lower()) or _NOT_JOBS.get(f"{kind.lower()}s")
            if other is None:
                return self.ref(namespace, name, kind, cluster)
        page = next((_NOT_JOBS[part] for part in parts if part in _NOT_JOBS), "")
        what = f"That link leads to a {page}, not to a job." if page else "That link does not lead to a job."
        raise BadReferenceError(what)

    def _words(self, tokens: list[str], cluster: str) -> JobRef:
        while tokens and tokens[0] in {"$", "#", "%", ">", "sudo", "why", "/whypending", "whypending", "explain"}:
            tokens = tokens[1:]
        kubectl = bool(tokens) and tokens[0].lower() in _PROGRAMS
        words, flags = _flags(tokens[1:] if kubectl else tokens)
        namespace = flags.get("namespace", "")
        context = flags.get("context", "")
        if context and self.clusters:
            if context not in self.clusters:
                problem = f"There is no cluster {_quote(context)} here; there is {_list(self.clusters)}."
                raise BadReferenceError(problem)
            cluster = context
        if kubectl:
            return self._kubectl(words, namespace, cluster, flags)
        return self._positions(words, namespace, cluster)

    def _kubectl(self, words: list[str], namespace: str, cluster: str, flags: dict[str, str]) -> JobRef:
        verb = words[0].lower() if words else ""
        while words and words[0].lower() in _VERBS:
            words = words[1:]
        if flags.get("for"):
            words = [flags["for"]]
        namespace = namespace or self.namespace
        if not words:
            problem = "That line names no job."
            raise BadReferenceError(problem, "kubectl -n team-a get job train")
        if not namespace and not any(word.count("/") == 2 for word in words):
            problem = "That line does not say in which namespace."
            raise BadReferenceError(problem, "kubectl -n team-a get job train")
        if verb in _POD_VERBS and "/" not in words[0] and not _kind(words[0]):
            return self.ref(namespace, words[0], "Pod", cluster)
        if len(words) >= 2 and "/" not in words[0]:
            if len(words) > 2:
                problem = "That line names more than one thing."
                raise BadReferenceError(problem, "kubectl -n team-a get job train")
            several = "," in words[0]
            return self.ref(namespace, words[1], "" if several else words[0], cluster)
        if "/" in words[0]:
            kind, _, name = words[0].partition("/")
            return self.ref(namespace, name, kind, cluster)
        problem = f"That line names no {_kind(words[0]) or 'job'}, only {_quote(words[0])}."
        raise BadReferenceError(problem, "kubectl -n team-a get job train")

    def _positions(self, words: list[str], namespace: str, cluster: str) -> JobRef:
        if not words:
            problem = "No job was named."
            raise BadReferenceError(problem)
        if len(words) == 1:
            return self.path(words[0], namespace, cluster)
        if len(words) == 2 and not any("/" in word for word in words):
            first, second = words
            if _kind(first) and (namespace or self.namespace):
                return self.ref(namespace or self.namespace, second, first, cluster)
            if not namespace and not _kind(first):
                return self.ref(first, second, "", cluster)
            problem = f"{_quote(' '.join(words))} does not say in which namespace."
            raise BadReferenceError(problem, f"team-a/{first.lower()}/{second.lower()}")
        if len(words) == 3 and _kind(words[1]) and not any("/" in word for word in words):
            return self.ref(words[0], words[2], words[1], cluster)
        inside = [word for word in (_strip(word) for word in words) if _looks_like_path(word)]
        if len(inside) == 1 and not namespace:
            return self.path(inside[0], "", cluster)
        problem = (
            f"{_quote(' '.join(words))} is not the name of a job." if not inside else "That names more than one job."
        )
        raise BadReferenceError(problem)

    def path(self, word: str, namespace: str, cluster: str) -> JobRef:
        parts = [part for part in word.strip("/").split("/") if part]
        given = namespace or self.namespace
        if len(parts) == 4 and parts[0] in self.clusters:
            cluster, parts = parts[0], parts[1:]
        match parts:
            case [name]:
                if not given:
                    self._check(name, "name")
                    problem = f"{_quote(name)} does not say in which namespace."
                    raise BadReferenceError(problem, f"team-a/{_shown(name.lower())}")
                return self.ref(given, name, "", cluster)
            case [first, name]:
                if given and _kind(first):
                    return self.ref(given, name, first, cluster)
                if namespace and namespace != first:
                    problem = f"{_quote(first)} is neither the namespace {_quote(namespace)} nor a kind of job."
                    raise BadReferenceError(problem)
                return self.ref(first, name, "", cluster)
            case [first, second, name]:
                if not _kind(second) and _kind(first):
                    first, second = second, first
                if namespace and namespace != first:
                    problem = f"Two namespaces are named: {_quote(first)} and {_quote(namespace)}."
                    raise BadReferenceError(problem)
                return self.ref(first, name, second, cluster)
        problem = f"{_quote(word)} has too many parts." if parts else "No job was named."
        raise BadReferenceError(problem)

    def ref(self, namespace: str, name: str, kind: str, cluster: str) -> JobRef:
        """Check the parts and put them together. Names are lower case in Kubernetes, whatever a telephone makes of them."""
        if ":" in namespace:
            prefix = namespace.partition(":")[0]
            known = f"; there is {_list(self.clusters)}" if self.clusters else ""
            problem = f"There is no cluster {_quote(prefix)} here{known}."
            raise BadReferenceError(problem)
        self._check(namespace, "namespace")
        self._check(name, "name")
        return JobRef(namespace.lower(), name.lower(), _kind(kind) or _check_kind(kind), cluster)

    @staticmethod
    def _check(value: str, what: str) -> None:
        longest = _LONGEST_NAMESPACE if what == "namespace" else _LONGEST_NAME
        if len(value) > longest:
            raise BadReferenceError(_too_long(value, what))
        allowed = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?" if what == "namespace" else r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
        if not re.fullmatch(allowed, value.lower()) or not value.isascii():
            dots = "" if what == "namespace" else ", “.”"
            problem = (
                f"{_quote(value)} is not a {what} in Kubernetes: those have small letters, digits{dots} and “-” only."
            )
            raise BadReferenceError(problem)


def _tokens(typed: str) -> list[str]:
    try:
        tokens = shlex.split(typed)
    except ValueError:
        tokens = typed.split()
    kept: list[str] = []
    for token in tokens:
        if token in {"|", "||", "&&", ";", ">", ">>", "2>&1"}:
            break
        if token.strip():
            kept.append(token)
    return kept


_END_OF_FLAGS = "--"


def _flags(tokens: list[str]) -> tuple[list[str], dict[str, str]]:
    """Take the flags out; those that matter are "namespace", "context" and "for"."""
    words: list[str] = []
    flags: dict[str, str] = {}
    rest = iter(tokens)
    for token in rest:
        if token == _END_OF_FLAGS:
            break
        if len(token) == 1 or not token.startswith("-"):
            words.append(_strip(token))
            continue
        name, equals, value = token.partition("=")
        if not equals and len(token) > 2 and token.startswith("-n"):
            name, value, equals = "-n", token[2:], "="
        meaning = {"-n": "namespace", "--namespace": "namespace", "--context": "context", "--for": "for"}.get(name)
        if not equals and (meaning or name in _WITH_VALUE):
            value = next(rest, "")
        if meaning:
            flags[meaning] = _strip(value)
    return [word for word in words if word], flags


def _kind(text: str) -> str:
    """The kind that a spelling names, also "jobs.batch" and "jobs.v1.batch"; "" when it is none that is read here."""
    known = kinds.of_spelling(text)
    if known is None and "." in text:
        plural, *version, group = text.split(".", 2) if text.count(".") > 1 else text.split(".")
        known = kinds.of_spelling(plural)
        kind = kinds.BY_NAME.get(known or "")
        if kind is None or kind.group not in {group, ".".join([*version, group])}:
            known = None
    return known or ""


def _check_kind(kind: str) -> str:
    if kind and (len(kind) > _LONGEST_NAME or not re.fullmatch(r"[A-Za-z][A-Za-z0-9.-]*", kind)):
        problem = f"{_quote(kind)} is not a kind of job."
        raise BadReferenceError(problem, "team-a/job/train")
    return kind


def _looks_like_path(word: str) -> bool:
    """Say whether a word of a sentence is NAMESPACE/NAME or NAMESPACE/KIND/NAME, and not "and/or" or "apps/v1"."""
    parts = word.split("/")
    if len(parts) not in {2, 3} or word.lower() in _NO_PATHS:
        return False
    label = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
    if not re.fullmatch(label, parts[0]) or not re.fullmatch(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", parts[-1]):
        return False
    if len(parts) == 3 and not (_kind(parts[1]) or _kind(parts[0])):
        return False
    if all(part.isdigit() for part in parts) or re.fullmatch(r"v\d+((alpha|beta)\d+)?", parts[-1]):
        return False
    return len(parts[0]) <= _LONGEST_NAMESPACE and len(parts[-1]) <= _LONGEST_NAME


_NO_PATHS = {
    "and/or",
    "n/a",
    "w/o",
    "i/o",
    "tcp/ip",
    "read/write",
    "yes/no",
    "on/off",
    "he/she",
    "s/he",
    "km/h",
    "true/false",
}


def _pieces(line: str, reader: _Reader) -> Iterator[tuple[str, JobRef]]:
    """The references of one line: a kubectl line as a whole, else word by word."""
    command = re.search(r"(?:^|[\s`$])((?:kubectl|kueuectl|oc)\s[^`\n]+)", line)
    if command:
        found = _tried(reader.read, _strip(command[1]))
        if found is not None:
            yield command[1], found
        line = line.replace(command[1], " ")
    for raw in line.split():
        word = _strip(raw)
        cluster, bare = reader.split_cluster(word)
        found = None
        if _is_link(word):
            found = _tried(reader.read, word)
        elif _looks_like_path(bare):
            found = _tried(reader.path, bare, "", cluster)
        if found is not None:
            yield word, found


def _tried(read: Callable[..., JobRef], *parts: str) -> JobRef | None:
    """Read a piece of free text; None when it is no reference after all."""
    try:
        return read(*parts)
    except BadReferenceError:
        return None


_LABEL = re.compile(
    r"(?<![\w.-])([A-Za-z][\w.-]*)[\"'*_`]{0,2}\s*[=:][*_]?\s*[\"'*_`“]{0,3}([A-Za-z0-9][A-Za-z0-9.-]*)(?![\w/])"
)
_NAMESPACE_LABELS = ("exported_namespace", "namespace", "kubernetes_namespace", "workload_namespace")
_NAME_LABELS = (
    ("exported_job", ""), ("job_name", "Job"), ("jobset_name", "JobSet"), ("jobset", "JobSet"), ("rayjob", "RayJob"),
    ("raycluster", "RayCluster"), ("workload", ""), ("workload_name", ""), ("statefulset", "StatefulSet"),
    ("deployment", "Deployment"), ("exported_pod", "Pod"), ("pod", "Pod"), ("pod_name", "Pod"), ("cronjob", "CronJob"),
)  # fmt: skip


def _labels(text: str, reader: _Reader) -> Iterator[JobRef]:
    """The job that the labels of an alert name: the labels between one namespace and the next belong together."""
    groups: list[dict[str, str]] = [{}]
    for found in _LABEL.finditer(text):
        key, value = found[1].lower().strip("_"), found[2].rstrip(".-")
        if key in groups[-1] and groups[-1][key] != value:
            groups.append({})
        groups[-1].setdefault(key, value)
    for labels in groups:
        namespace = next((labels[key] for key in _NAMESPACE_LABELS if key in labels), "")
        named = next(((labels[key], kind) for key, kind in _NAME_LABELS if key in labels), None)
        if namespace and named is not None:
            cluster = labels.get("cluster", "")
            cluster = cluster if cluster in reader.clusters else reader.cluster
            found_ref = _tried(reader.ref, namespace, named[0], named[1], cluster)
            if found_ref is not None:
                yield replace(found_ref, text=found_ref.asked)


# --- words of refusals ---


def _quote(value: str) -> str:
    return f"“{value[:60]}…”" if len(value) > 60 else f"“{value}”"


def _too_long(value: str, what: str) -> str:
    longest = _LONGEST_NAMESPACE if what == "namespace" else _LONGEST_NAME
    return f"The {what} {_quote(value)} is {len(value)} characters long; Kubernetes allows {longest}."


def _list(names: Sequence[str]) -> str:
    return ", ".join(_quote(name) for name in sorted(names)[:10])
