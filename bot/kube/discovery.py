"""What a server serves: which of the kinds that are read exist, and in which version each is asked for.

Aggregated discovery (Kubernetes 1.27 and later) tells all of it in one answer. An older server is asked for its groups
and for Kueue's own group versions; that a kind of another group is missing then shows as 404 when it is read.
"""

import asyncio
from dataclasses import dataclass, field

import msgspec

from bot.core.kinds import KINDS, Kind
from bot.kube.client import Client, ReadError

AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
LIFETIME = 300.0
"""Seconds for which an answer is kept."""
KUEUE, VISIBILITY = "kueue.x-k8s.io", "visibility.kueue.x-k8s.io"


class _Name(msgspec.Struct):
    name: str = ""


class _Kind(msgspec.Struct):
    kind: str = ""


class _Resource(msgspec.Struct, rename="camel"):
    resource: str = ""
    name: str = ""
    kind: str = ""
    response_kind: _Kind | None = None


class _Version(msgspec.Struct, rename="camel"):
    version: str = ""
    resources: list[_Resource] | None = None


class _Group(msgspec.Struct):
    name: str = ""
    metadata: _Name | None = None
    versions: list[_Version] | None = None


class _ServerVersion(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _Groups(msgspec.Struct):
    kind: str = ""
    items: list[_Group] | None = None
    groups: list[_Group] | None = None


class _Resources(msgspec.Struct):
    resources: list[_Resource] | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """What a server serves. `kinds` None: nobody could tell, then the newest version of everything is tried."""

    versions: dict[str, str] = field(default_factory=dict)
    """The version to ask for, by kind."""
    kinds: frozenset[str] | None = None
    foreign: dict[tuple[str, str], str] = field(default_factory=dict)
    """The plural of every served kind, by (apiVersion, kind)."""
    visibility: str = ""
    """The newest version of Kueue's visibility API, "" when it is not served."""
    reason: str = ""
    """Why nothing could be told."""

    def version(self, kind: Kind) -> str | None:
        """Give the version in which a kind is asked for, None when the server has not got it."""
        if self.kinds is None:
            return kind.versions[0]
        return self.versions.get(kind.kind)

    def has(self, kind: str) -> bool:
        """Say whether the server may have a kind."""
        return self.kinds is None or kind in self.kinds


NOTHING_KNOWN = Served()


class Discovery:
    """One server's answers, kept for five minutes; `forget` when a version turns out to be switched off."""

    def __init__(self, client: Client, lifetime: float = LIFETIME) -> None:
        """Take the client to ask with, and in seconds how long an answer is kept."""
        self._client = client
        self._lifetime = lifetime
        self._kept: Served | None = None
        self._until = 0.0
        self._asking: asyncio.Lock | None = None
        self._kubernetes: str | None = None
        self._kubernetes_until = 0.0

    @property
    def version_known(self) -> bool:
        """Whether `kubernetes` would answer without asking."""
        return asyncio.get_running_loop().time() < self._kubernetes_until

    async def kubernetes(self) -> str | None:
        """Give the version of Kubernetes, "v1.36.2"; None when the server does not tell. Never raises."""
        if not self.version_known:
            try:
                answer = await self._client.body("/version")
                self._kubernetes = msgspec.json.decode(answer.body, type=_ServerVersion).git_version or None
            except (ReadError, msgspec.DecodeError):
                return None
            self._kubernetes_until = asyncio.get_running_loop().time() + self._lifetime
        return self._kubernetes

    @property
    def known(self) -> Served | None:
        """The kept answer if it is still fresh; asks nobody."""
        fresh = self._kept is not None and asyncio.get_running_loop().time() < self._until
        return self._kept if fresh else None

    def forget(self, stale: Served) -> None:
        """Drop an answer that was found to be wrong, unless a newer one is kept already."""
        if self._kept is stale:
            self._kept = None

    async def get(self) -> Served:
        """Give what the server serves. Never raises: a failure is a `Served` with its reason, and is not kept."""
        if self._asking is None:
            self._asking = asyncio.Lock()
        async with self._asking:
            known = self.known
            if known is not None:
                return known
            try:
                served = await self._ask()
            except ReadError as error:
                return Served(reason=error.reason)
            self._kept, self._until = served, asyncio.get_running_loop().time() + self._lifetime
            return served

    async def _ask(self) -> Served:
        answer = await self._client.body("/apis", accept=AGGREGATED)
        groups = _decoded(answer.body)
        if groups.items is not None and groups.kind != "APIGroupList":
            return _aggregated(groups.items)
        return await self._plain(groups.groups or [])

    async def _plain(self, groups: list[_Group]) -> Served:
        served = {group.name: [v.version for v in group.versions or ()] for group in groups}
        wanted = [f"/apis/{KUEUE}/{version}" for version in served.get(KUEUE, ())]
        answers = await asyncio.gather(*(self._resources(path) for path in wanted))
        of_kueue = dict(zip(served.get(KUEUE, ()), answers, strict=True))
        versions: dict[str, str] = {}
        for kind in KINDS:
            for version in kind.versions:
                if not kind.group or (
                    version in served.get(kind.group, ())
                    and (kind.group != KUEUE or any(r.name == kind.plural for r in of_kueue[version]))
                ):
                    versions[kind.kind] = version
                    break
        return Served(versions, frozenset(versions), visibility=_newest(served.get(VISIBILITY, ())))

    async def _resources(self, path: str) -> list[_Resource]:
        answer = await self._client.body(path)
        try:
            return msgspec.json.decode(answer.body, type=_Resources).resources or []
        except msgspec.DecodeError as error:
            raise ReadError("discovery cannot be read") from error


def _decoded(body: bytes) -> _Groups:
    try:
        return msgspec.json.decode(body, type=_Groups)
    except msgspec.DecodeError as error:
        raise ReadError("discovery cannot be read") from error


def _aggregated(groups: list[_Group]) -> Served:
    by_group: dict[str, dict[str, list[_Resource]]] = {}
    foreign: dict[tuple[str, str], str] = {}
    for group in groups:
        name = group.metadata.name if group.metadata else ""
        for offered in group.versions or ():
            resources = offered.resources or []
            by_group.setdefault(name, {})[offered.version] = resources
            for resource in resources:
                if resource.response_kind is not None:
                    foreign[f"{name}/{offered.version}", resource.response_kind.kind] = resource.resource
    versions: dict[str, str] = {}
    for kind in KINDS:
        there = by_group.get(kind.group, {})
        for version in kind.versions:
            # the core group is listed under /api, which need not be asked: it is always there
            if not kind.group or any(r.resource == kind.plural for r in there.get(version, ())):
                versions[kind.kind] = version
                break
    return Served(versions, frozenset(versions), foreign, _newest(by_group.get(VISIBILITY, ())))


def _newest(versions: object) -> str:
    known = set(versions) if isinstance(versions, list | dict | tuple) else set()
    return next((version for version in ("v1beta2", "v1beta1", "v1alpha1") if version in known), "")
