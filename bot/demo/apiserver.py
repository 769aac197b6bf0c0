"""A local API server that serves recorded clusters with the semantics of a real one, for `whypending demo` and the tests.

Lists have pages, resource versions, expiring continue tokens and selectors; built-in kinds' items come without `kind`;
errors are Status documents; what was not recorded in full is forbidden, never empty. Its clock stands at the moment of
the recording. `faults` plays slow, broken and refusing servers.
"""

import asyncio
import base64
import binascii
import bisect
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from bot.core import kinds

Item = dict[str, Any]

_VISIBILITY = "visibility.kueue.x-k8s.io"
_WORKLOADS = ("kueue.x-k8s.io", "workloads")
_FIELDS: dict[tuple[str, str], frozenset[str]] = {
    ("", "pods"): frozenset({"spec.nodeName", "status.phase", "spec.schedulerName", "spec.serviceAccountName"}),
    ("", "events"): frozenset(
        {f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion")}
        | {"reason", "type", "reportingComponent", "source"}
    ),
    ("", "namespaces"): frozenset({"status.phase"}),
    ("batch", "jobs"): frozenset({"status.successful"}),
    ("", "nodes"): frozenset({"spec.unschedulable"}),
}
_REQUIREMENT = re.compile(r"\s*(!?)\s*([^\s!=,()]+)\s*(?:(==|=|!=)\s*([^,]*)|\s+(in|notin)\s+\(([^)]*)\))?\s*(?:,|$)")


@dataclass
class Fault:
    """What goes wrong with requests whose path matches: checked in order, the first that still has `times` left is played.

    `delay` seconds before the answer; `hang` for ever; `reset` closes the connection without an answer; `cut` breaks off
    half-way through the body; `status` answers this instead, with Retry-After if `retry_after` is given.
    """

    path: str
    delay: float = 0.0
    hang: bool = False
    reset: bool = False
    cut: bool = False
    status: int = 0
    retry_after: int | None = None
    times: int | None = None
    query: str = ""

    def hits(self, path: str, query: str) -> bool:
        """Say whether it is played now, and count it."""
        if self.times == 0 or not re.search(self.path, path) or not re.search(self.query, query):
            return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass(frozen=True)
class Request:
    """One request as the server saw it; seconds since it started."""

    method: str
    path: str
    query: str
    began: float
    ended: float


@dataclass
class _Stored:
    item: Item
    body: bytes
    key: tuple[str, str]


@dataclass
class _Resource:
    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    objects: dict[tuple[str, str], _Stored] = field(default_factory=dict)
    recorded: bool = True
    order: list[_Stored] | None = None
    selected: dict[tuple[str, str, str], list[_Stored]] = field(default_factory=dict)
    """What selectors chose, until something changes: a real server looks through its objects much faster."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def changed(self) -> None:
        """Forget what followed from the objects."""
        self.order = None
        self.selected.clear()

    def within(self, namespace: str) -> list[_Stored]:
        """Give the objects of a namespace, or ("") of all, in the order of their keys."""
        if self.order is None:
            self.order = [self.objects[key] for key in sorted(self.objects)]
        low = bisect.bisect_left(self.order, (namespace, ""), key=_key) if namespace else 0
        high = bisect.bisect_left(self.order, (f"{namespace}\0", ""), key=_key) if namespace else len(self.order)
        return self.order[low:high]


def _key(stored: _Stored) -> tuple[str, str]:
    return stored.key


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.document = {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": reason, "details": dict(details or {}), "code": status,
        }  # fmt: skip


class RecordedApi:
    """The objects of one or several recordings behind the paths of the Kubernetes API.

    `aggregated` False plays a server older than 1.27; `token` refuses everybody else with 401; `forbidden` are resources
    ("nodes", "kueue.x-k8s.io/cohorts") that nobody may read; `latency` seconds go before every answer.
    """

    def __init__(
        self,
        *recordings: Iterable[Item],
        aggregated: bool = True,
        token: str = "",
        forbidden: Iterable[str] = (),
        latency: float = 0.0,
    ) -> None:
        """Take the items of recordings, the Recording document among them; later objects replace earlier ones."""
        self.aggregated = aggregated
        self.token = token
        self.forbidden = set(forbidden)
        self.latency = latency
        self.faults: list[Fault] = []
        self.log: list[Request] = []
        self.review: Callable[[Item], bool] = self._may
        """Decides SelfSubjectAccessReviews by their spec.resourceAttributes."""
        self.people: dict[str, set[tuple[str, str, str]]] = {}
        """What SubjectAccessReviews allow, by user: (verb, resource, namespace or "*" for all of them)."""
        self.visibility: dict[str, Item] = {}
        self.moment: datetime | None = None
        self.kubernetes = "v1.36.0"
        self.kueue = ""
        self.oldest = 0
        """Continue tokens of older resource versions have expired."""
        self._version = 1
        self._resources: dict[tuple[str, str, str], _Resource] = {}
        for items in recordings:
            self._take(items)
        for kind in kinds.KINDS:
            known = any((r.group, r.plural) == (kind.group, kind.plural) for r in self._resources.values())
            if not known and _is_builtin(kind.group):
                version = kind.versions[0]
                self._resources[kind.group, version, kind.plural] = _Resource(
                    kind.group, version, kind.plural, kind.kind, kind.namespaced, recorded=False
                )

    @classmethod
    def load(cls, *paths: Path, **settings: Any) -> "RecordedApi":  # noqa: ANN401 - handed on
        """Read recordings from files: each a `List` in JSON, the Recording document first."""
        return cls(*(json.loads(path.read_bytes())["items"] for path in paths), **settings)

    def _take(self, items: Iterable[Item]) -> None:
        for item in items:
            if item.get("kind") == "Recording":
                self.visibility |= item.get("visibility") or {}
                self.kubernetes = item.get("kubernetesVersion") or self.kubernetes
                self.kueue = item.get("kueueVersion") or self.kueue
                if item.get("observedAt"):
                    self.moment = datetime.fromisoformat(item["observedAt"])
                for path in item.get("read") or ():
                    *group_version, plural = path.split("/")
                    group, version = group_version if len(group_version) == 2 else ("", group_version[0])
                    known = kinds.of_resource(path)
                    self._resource(
                        group, version, plural, known.kind if known else "", known is None or known.namespaced
                    )
            else:
                self.put(item)

    def _resource(self, group: str, version: str, plural: str, kind: str, namespaced: bool) -> _Resource:  # noqa: FBT001
        found = self._resources.get((group, version, plural))
        if found is None:
            found = self._resources[group, version, plural] = _Resource(group, version, plural, kind, namespaced)
        return found

    def put(self, item: Item) -> None:
        """Add or replace one object."""
        group, _, version = item["apiVersion"].rpartition("/")
        known = kinds.of_object(item["apiVersion"], item["kind"])
        plural = known.plural if known is not None else f"{item['kind'].lower()}s"
        namespaced = known.namespaced if known is not None else bool(item["metadata"].get("namespace"))
        resource = self._resource(group, version, plural, item["kind"], namespaced)
        resource.kind = resource.kind or item["kind"]
        self._version += 1
        meta = {"resourceVersion": str(self._version), **item["metadata"]}
        stored = {**item, "metadata": meta}
        # the items of a built-in kind's list carry neither kind nor apiVersion
        listed = stored
        if _is_builtin(group):
            listed = {name: value for name, value in stored.items() if name not in {"kind", "apiVersion"}}
        key = (meta.get("namespace", ""), meta["name"])
        resource.objects[key] = _Stored(stored, msgspec.json.encode(listed), key)
        resource.changed()

    def remove(self, kind: str, name: str, namespace: str = "") -> None:
        """Take one object away. Raises KeyError when it is not there."""
        resource = next(r for r in self._resources.values() if r.kind == kind and (namespace, name) in r.objects)
        del resource.objects[namespace, name]
        resource.changed()
        self._version += 1

    def switch_off(self, group: str, version: str) -> None:
        """Stop serving a version of a group, as an upgrade does."""
        for key in [key for key in self._resources if key[:2] == (group, version)]:
            del self._resources[key]

    def compact(self) -> None:
        """Let every continue token that was given out so far expire."""
        self._version += 1
        self.oldest = self._version

    def has_selectable_fields(self) -> bool:
        """Whether Workloads can be selected by status.admission.clusterQueue: from 0.18 on, in v1beta2."""
        if self.kueue.startswith("main"):
            return True
        found = re.match(r"v(\d+)\.(\d+)", self.kueue)
        return found is not None and (int(found[1]), int(found[2])) >= (0, 18)

    # --- serving ---

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[str]:
        """Serve on loopback and give the URL; port 0 takes a free one."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port)
            await site.start()
            yield f"http://{host}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        began = loop.time()
        fault = next((fault for fault in self.faults if fault.hits(request.path, request.query_string)), None)
        try:
            await asyncio.sleep(self.latency + (fault.delay if fault else 0.0))
            if fault is not None and fault.hang:
                await asyncio.Event().wait()
            if fault is not None and fault.reset:
                assert request.transport is not None
                request.transport.close()
                return web.Response()
            status, body, headers = await self._answer(request, fault)
            if fault is not None and fault.cut:
                response = web.StreamResponse(status=status, headers={**headers, "Content-Length": str(len(body))})
                await response.prepare(request)
                await response.write(body[: len(body) // 2])
                assert request.transport is not None
                request.transport.close()
                return response
            return web.Response(status=status, body=body, headers=headers)
        finally:
            self.log.append(Request(request.method, request.path, request.query_string, began, loop.time()))

    async def _answer(self, request: web.Request, fault: Fault | None) -> tuple[int, bytes, dict[str, str]]:
        headers = {"Content-Type": "application/json"}
        if self.moment is not None:
            headers["Date"] = format_datetime(self.moment.astimezone(UTC), usegmt=True)
        try:
            self._let_in(request, fault)
            if request.method == "POST":
                return 201, msgspec.json.encode(self._reviewed(request.path, await request.json())), headers
            return 200, self._get(request.path, request.query, request.headers.get("Accept", "")), headers
        except _RefusedError as refused:
            if fault is not None and fault.retry_after is not None:
                headers["Retry-After"] = str(fault.retry_after)
            return refused.status, msgspec.json.encode(refused.document), headers

    def _let_in(self, request: web.Request, fault: Fault | None) -> None:
        if fault is not None and fault.status:
            raise _RefusedError(fault.status, "Fault", "played on demand")
        if self.token and request.headers.get("Authorization", "") != f"Bearer {self.token}":
            raise _RefusedError(401, "Unauthorized", "Unauthorized")
        if request.method not in {"GET", "POST"}:
            raise _RefusedError(405, "MethodNotAllowed", "the server does not allow this method")

    def _get(self, path: str, query: Mapping[str, str], accept: str) -> bytes:
        if path == "/version":
            return msgspec.json.encode({"major": "1", "minor": "36", "gitVersion": self.kubernetes})
        if path in {"/readyz", "/healthz", "/livez"}:
            return b"ok"
        if path in self.visibility:
            return self._visible(path, query)
        discovery = self._discovery(path, accept)
        if discovery is not None:
            return msgspec.json.encode(discovery)
        resource, namespace, name = self._find(path)
        self._allow(resource)
        if name:
            stored = resource.objects.get((namespace, name))
            if stored is None:
                raise _RefusedError(
                    404, "NotFound", f'{resource.plural} "{name}" not found', {"name": name, "kind": resource.plural}
                )
            return msgspec.json.encode(stored.item)
        return self._list(resource, namespace, query)

    def _find(self, path: str) -> tuple[_Resource, str, str]:
        """Take a path apart. Raises _RefusedError (404) when the server has no such resource."""
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            group, version, rest = "", parts[1], parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group, version, rest = parts[1], parts[2], parts[3:]
        else:
            raise _RefusedError(404, "NotFound", "the server could not find the requested resource")
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        resource = self._resources.get((group, version, rest[0]))
        if resource is None or len(rest) > 2 or (namespace and not resource.namespaced):
            raise _RefusedError(404, "NotFound", "the server could not find the requested resource")
        return resource, namespace, rest[1] if len(rest) > 1 else ""

    def _allow(self, resource: _Resource) -> None:
        full = f"{resource.group}/{resource.plural}" if resource.group else resource.plural
        if not resource.recorded or not self.forbidden.isdisjoint({full, resource.plural}):
            message = f'{resource.plural} is forbidden: User "whypending" cannot list resource "{resource.plural}"'
            raise _RefusedError(403, "Forbidden", message, {"kind": resource.plural})

    def _list(self, resource: _Resource, namespace: str, query: Mapping[str, str]) -> bytes:
        wanted = (namespace, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        tests = [*parse_labels(wanted[1]), *self._fields(resource, wanted[2])]
        chosen = resource.selected.get(wanted)
        if chosen is None:
            chosen = [stored for stored in resource.within(namespace) if all(test(stored.item) for test in tests)]
            resource.selected[wanted] = chosen
        version = self._version
        if query.get("continue"):
            version, start = self._token(query["continue"])
            chosen = chosen[bisect.bisect_right(chosen, start, key=_key) :]
        limit = int(query.get("limit") or 0)
        page = chosen[:limit] if limit else chosen
        meta: dict[str, Any] = {"resourceVersion": str(version)}
        if len(page) < len(chosen):
            meta["continue"] = base64.urlsafe_b64encode(json.dumps([version, *page[-1].key]).encode()).decode()
            if wanted[1:] == ("", ""):
                meta["remainingItemCount"] = len(chosen) - len(page)
        head = msgspec.json.encode(
            {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": meta, "items": []}
        )
        return head[:-2] + b",".join(stored.body for stored in page) + b"]}"

    def _token(self, token: str) -> tuple[int, tuple[str, str]]:
        try:
            version, namespace, name = json.loads(base64.urlsafe_b64decode(token))
        except (binascii.Error, ValueError) as error:
            raise _RefusedError(400, "BadRequest", "continue key is not valid") from error
        if version < self.oldest:
            raise _RefusedError(410, "Expired", "The provided continue parameter is too old")
        return version, (namespace, name)

    def _fields(self, resource: _Resource, selector: str) -> list[Callable[[Item], bool]]:
        offered = _FIELDS.get((resource.group, resource.plural), frozenset()) | {"metadata.name", "metadata.namespace"}
        if (
            (resource.group, resource.plural) == _WORKLOADS
            and self.has_selectable_fields()
            and resource.version == "v1beta2"
        ):
            offered |= {"status.admission.clusterQueue"}
        tests: list[Callable[[Item], bool]] = []
        for term in filter(None, selector.split(",")):
            name, different, value = term.partition("!=")
            if not different:
                name, _, value = term.partition("=")
                value = value.removeprefix("=")
            if name not in offered:
                raise _RefusedError(400, "BadRequest", f"field label not supported: {name}")
            tests.append(_field_test(name, value, equal=not different))
        return tests

    def _visible(self, path: str, query: Mapping[str, str]) -> bytes:
        recorded = self.visibility[path]
        error = recorded.get("error")
        if isinstance(error, int):
            raise _RefusedError(error, "ServiceUnavailable", "the server is currently unable to handle the request")
        items = recorded.get("items")
        if isinstance(items, list):
            offset, limit = int(query.get("offset") or 0), int(query.get("limit") or 1000)
            items = items[offset : offset + limit]
        return msgspec.json.encode({**recorded, "items": items})

    # --- discovery and reviews ---

    def _groups(self) -> dict[str, dict[str, list[_Resource]]]:
        groups: dict[str, dict[str, list[_Resource]]] = {}
        for resource in self._resources.values():
            groups.setdefault(resource.group, {}).setdefault(resource.version, []).append(resource)
        answering = {path.split("/")[3] for path, answer in self.visibility.items() if "error" not in answer}
        for version in sorted(answering or {path.split("/")[3] for path in self.visibility}, reverse=True):
            groups.setdefault(_VISIBILITY, {})[version] = []
        return groups

    def _discovery(self, path: str, accept: str) -> Item | None:
        groups = self._groups()
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            named = {name: versions for name, versions in groups.items() if name}
            if self.aggregated and "apidiscovery.k8s.io" in accept:
                return _aggregated(named)
            return {
                "kind": "APIGroupList", "apiVersion": "v1",
                "groups": [
                    {
                        "name": name,
                        "versions": [{"groupVersion": f"{name}/{version}", "version": version} for version in versions],
                    }
                    for name, versions in named.items()
                ],
            }  # fmt: skip
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) == 2:
            group, version = "", parts[1]
        elif parts[0] == "apis" and len(parts) == 3:
            group, version = parts[1], parts[2]
        else:
            return None
        resources = groups.get(group, {}).get(version)
        if resources is None:
            raise _RefusedError(404, "NotFound", "the server could not find the requested resource")
        return {
            "kind": "APIResourceList", "groupVersion": f"{group}/{version}" if group else version,
            "resources": [
                {"name": r.plural, "kind": r.kind, "namespaced": r.namespaced, "verbs": ["get", "list"]} for r in resources
            ],
        }  # fmt: skip

    def _reviewed(self, path: str, document: Item) -> Item:
        if not path.startswith("/apis/authorization.k8s.io/v1/") or not path.endswith("accessreviews"):
            raise _RefusedError(403, "Forbidden", "nothing can be written here")
        spec = document.get("spec") or {}
        attributes = spec.get("resourceAttributes") or {}
        if not path.endswith("/subjectaccessreviews"):
            return {**document, "status": {"allowed": self.review(attributes)}}
        if "subjectaccessreviews" in self.forbidden:
            raise _RefusedError(403, "Forbidden", 'User "whypending" cannot create resource "subjectaccessreviews"')
        granted = self.people.get(str(spec.get("user", "")), set())
        verb, resource, namespace = (str(attributes.get(name, "")) for name in ("verb", "resource", "namespace"))
        allowed = (verb, resource, "*") in granted or bool(namespace and (verb, resource, namespace) in granted)
        return {**document, "status": {"allowed": allowed}}

    def _may(self, attributes: Item) -> bool:
        """Whether the recording has an answer for a resource."""
        group, plural = attributes.get("group", ""), attributes.get("resource", "")
        if group == _VISIBILITY:
            return bool(self.visibility)
        found = [r for r in self._resources.values() if (r.group, r.plural) == (group, plural)]
        full = f"{group}/{plural}" if group else plural
        return any(resource.recorded for resource in found) and self.forbidden.isdisjoint({full, plural})


_BUILTIN = frozenset({"", "apps", "batch"}) | {
    f"{name}.k8s.io"
    for name in ("admissionregistration", "apiextensions", "coordination", "discovery", "node", "resource", "scheduling",
                 "storage")
}  # fmt: skip


def _is_builtin(group: str) -> bool:
    """Whether the API server itself serves a group, rather than by a CustomResourceDefinition."""
    return group in _BUILTIN


def _aggregated(groups: Mapping[str, Mapping[str, list[_Resource]]]) -> Item:
    return {
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [
            {
                "metadata": {"name": name, "creationTimestamp": None},
                "versions": [
                    {
                        "version": version, "freshness": "Current",
                        "resources": [
                            {
                                "resource": r.plural, "scope": "Namespaced" if r.namespaced else "Cluster",
                                "responseKind": {"group": r.group, "version": r.version, "kind": r.kind},
                                "singularResource": r.kind.lower(), "verbs": ["get", "list"],
                            }
                            for r in resources
                        ],
                    }
                    for version, resources in versions.items()
                ],
            }
            for name, versions in groups.items()
        ],
    }  # fmt: skip


def _field_test(name: str, value: str, *, equal: bool) -> Callable[[Item], bool]:
    path = name.split(".")

    def holds(item: Item) -> bool:
        found: Any = item
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        return (str(found if found is not None else "") == value) is equal

    return holds


def parse_labels(selector: str) -> list[Callable[[Item], bool]]:
    """Parse a label selector (`a=b,c!=d,e in (f,g),h notin (i),j,!k`) into tests of an object.

    Raises a refusal (400) when it cannot be parsed.
    """
    tests: list[Callable[[Item], bool]] = []
    at = 0
    while at < len(selector):
        found = _REQUIREMENT.match(selector, at)
        if found is None or found.end() == at:
            raise _RefusedError(400, "BadRequest", f"unable to parse requirement: {selector!r}")
        at = found.end()
        absent, key, operator, value, word, listed = found.groups()
        values = {entry.strip() for entry in (listed if word else value or "").split(",")}
        tests.append(_label_test(key, word or operator or ("!" if absent else "exists"), values))
    return tests


def _label_test(key: str, operator: str, values: set[str]) -> Callable[[Item], bool]:
    def holds(item: Item) -> bool:
        labels = item["metadata"].get("labels") or {}
        if operator in {"exists", "!"}:
            return (key in labels) is (operator == "exists")
        if operator in {"!=", "notin"}:
            return labels.get(key) not in values
        return key in labels and labels[key] in values

    return holds


@contextlib.asynccontextmanager
async def serve(recording: RecordedApi | Path, port: int = 0) -> AsyncIterator[str]:
    """Serve a recording (a file, or one made ready) on loopback and give its URL."""
    api = recording if isinstance(recording, RecordedApi) else RecordedApi.load(recording)
    async with api.serve(port) as url:
        yield url
