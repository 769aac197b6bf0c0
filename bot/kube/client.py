"""One connection to one Kubernetes API server: authenticated raw GETs, typed decoding, pages, retries, shared reads.

Authentication, TLS and proxies are those of the official client (`kubernetes.aio`); of it only `ApiClient`,
`Configuration` and `config` are used, and they are imported on first use. Its generated models are never touched.
Every answer's status is checked here; what goes wrong is a `ReadError` whose reason is made for people.
"""

import asyncio
import contextlib
import gc
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, NoReturn, Self
from urllib.parse import quote

import aiohttp
import msgspec
import stamina
from async_lru import alru_cache

from bot import __version__
from bot.core import decode
from bot.core import objects as o
from bot.kube.turns import Turns

PAGE = 500
"""Items per page of a list."""
CONCURRENCY = 32
"""Requests in flight per cluster, over all questions."""
SHARED_SECONDS = 3.0
"""How long questions about the same objects share a read."""
KEPT_SECONDS = {"LocalQueue": 3600.0, "Node": 600.0}
"""How long a long list of a kind whose specs hardly change is kept, for what does not need it fresh."""
RENEWED_SECONDS = 60.0
"""A kept list that is used and older than this is read again beside the question."""
UNREACHABLE = "the API server cannot be reached"
FORBIDDEN = "forbidden for this identity"
NOT_ACCEPTED = "the API server does not accept this identity (401)"
_NAME = re.compile(r"[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?", re.ASCII)
_LONG = 200_000
"""Bytes from which decoding a body takes a turn of the event loop for itself."""
_RETRIES = 3
_RETRIED_STATUS = {429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach one cluster. Exactly one way is used: `url`, else the pod's own identity, else the kubeconfig.

    The pod's identity is used when `in_cluster` says so, and inside a pod when no kubeconfig is chosen.
    `kubeconfig` is a path (or several joined by ":"), "" for the usual places; `context` "" for the current one.
    `url` with an optional bearer `token` reaches a server directly (the demo, tests).
    """

    name: str = ""
    context: str = ""
    kubeconfig: str = ""
    in_cluster: bool = False
    url: str = ""
    token: str = field(default="", repr=False)
    kueue_namespace: str = "kueue-system"


class ReadError(Exception):
    """A read that failed. `reason` is for people, `status` the HTTP status or 0 when no answer came."""

    def __init__(
        self, reason: str, status: int = 0, *, retry_after: float | None = None, lasting: bool = False
    ) -> None:
        """Keep the reason, the status and, in seconds, how long the server asked to wait. `lasting`: asking again is useless."""
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Answer:
    """One successful answer: its body, and the server's clock when it says so."""

    body: bytes
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    accept: str = "application/json"
    document: dict[str, Any] | None = None


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class _RawList(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. `odd` are field paths that were left out, by (namespace, name); `broken` items that are no objects."""

    objects: tuple[o.KubeObject, ...]
    meta: ListMeta
    odd: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, perhaps cut short: `reason` is "" when it is complete. `at` is when its read began, by the server's clock."""

    objects: tuple[o.KubeObject, ...]
    reason: str = ""
    odd: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Kept:
    """A complete list of a wide cluster that is kept: what was read, `until` when it may be used, `stale` from when it is old.

    Both are times of the event loop's clock in seconds.
    """

    listing: Listing
    until: float
    stale: float


def is_name(text: str) -> bool:
    """Say whether a text can be the name of a Kubernetes object at all; others are never put into a path."""
    return _NAME.fullmatch(text) is not None and ".." not in text


def tune_gc() -> None:
    """Quieten the cyclic garbage collector of a server that holds many decoded objects. Call once, after start-up.

    Decoded objects are without cycles; re-scanning them costs 2 to 4 times the decoding itself. The youngest are looked
    at often enough that one look, during which nothing else runs, takes a few milliseconds.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 250, 1000)


_page_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def decode_page(body: bytes, kind: str, api_version: str) -> Page:
    """Decode one page of a list of one kind; `items: null` is an empty page, an odd object costs only itself.

    Raises ReadError when the body is not a list at all.
    """
    decoder = _page_decoders.get(kind)
    if decoder is None:
        item: Any = decode.struct_of(kind)
        fields = [("metadata", ListMeta | None, None), ("items", tuple[item, ...] | None, None)]
        page = msgspec.defstruct(f"{kind}Page", fields, gc=False)
        decoder = _page_decoders[kind] = msgspec.json.Decoder(page)
    try:
        typed = decoder.decode(body)
    except msgspec.ValidationError:
        return _lenient_page(body, kind, api_version)
    except msgspec.DecodeError as error:
        raise ReadError("the answer is not JSON") from error
    return Page(tuple(_named(item, kind, api_version) for item in typed.items or ()), typed.metadata or ListMeta())


def _lenient_page(body: bytes, kind: str, api_version: str) -> Page:
    try:
        raw = msgspec.json.decode(body, type=_RawList)
    except msgspec.DecodeError as error:
        raise ReadError("the answer is not a list of objects") from error
    objects: list[o.KubeObject] = []
    odd: dict[tuple[str, str], tuple[str, ...]] = {}
    broken: list[str] = []
    for entry in raw.items or ():
        try:
            decoded = decode.decode(entry, kind)
        except ValueError as error:
            broken.append(f"an item cannot be read: {error}")
            continue
        objects.append(_named(decoded.object, kind, api_version))
        if decoded.odd:
            odd[decoded.object.namespace, decoded.object.name] = decoded.odd
    return Page(tuple(objects), raw.metadata or ListMeta(), odd, tuple(broken))


def _named(item: o.KubeObject, kind: str, api_version: str) -> o.KubeObject:
    """Items of a built-in kind's list carry neither kind nor apiVersion."""
    if not item.kind or not item.api_version:
        msgspec.structs.force_setattr(item, "kind", item.kind or kind)
        msgspec.structs.force_setattr(item, "api_version", item.api_version or api_version)
    return item


class Client:
    """Reads from one cluster. Safe for concurrent questions of one event loop; close it with `close` or `async with`."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        shared_seconds: float = SHARED_SECONDS,
        timeout: float = 8.0,
        turns: Turns | None = None,
    ) -> None:
        """Take the connection's settings; nothing is opened before the first read.

        `timeout` in seconds bounds a single read that several questions may share. `turns` may be those of several
        clients, whose questions are worked out one after the other.
        """
        self.cluster = cluster
        self.turns = turns or Turns()
        self.timeout = timeout
        self.requests = 0
        """How many requests were sent, for the log and the tests."""
        self.unsupported: set[str] = set()
        """Field selectors that this server refused."""
        self._api: Any = None
        self._retired: list[Any] = []
        self._connecting: asyncio.Lock | None = None
        self._slots: asyncio.Semaphore | None = None
        self._reconnected_at = float("-inf")
        self._skew = timedelta(0)
        self._kept: dict[str, Kept] = {}
        self._renewing: dict[str, asyncio.Task[None]] = {}
        self.shared_list = alru_cache(maxsize=512, ttl=shared_seconds)(self.list)
        self.shared_get = alru_cache(maxsize=512, ttl=shared_seconds)(self.get)
        self.shared_body = alru_cache(maxsize=64, ttl=shared_seconds)(self.body)

    async def __aenter__(self) -> Self:
        """Give the client itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """End reads in flight and close the connections."""
        renewing, self._renewing = list(self._renewing.values()), {}
        for task in renewing:
            task.cancel()
        await asyncio.gather(*renewing, return_exceptions=True)
        for cache in (self.shared_list, self.shared_get, self.shared_body):
            cache.cache_clear()
            await cache.cache_close()
        open_ones, self._api, self._retired = [*self._retired, self._api], None, []
        for api in open_ones:
            if api is not None:
                await api.close()

    def now(self) -> datetime:
        """The server's present moment, as its answers' Date header tells; the local clock before the first answer."""
        return datetime.now(UTC) + self._skew

    # --- reads ---

    async def list(  # noqa: PLR0917 - what a list is, in the order of its URL
        self,
        path: str,
        kind: str,
        api_version: str,
        query: tuple[tuple[str, str], ...] = (),
        rows: int = 5000,
        first: int = PAGE,
    ) -> Listing:
        """Read a list in pages of 500, the first one of `first`, at most `rows` items.

        A list that is known to be longer than `rows` is cut after its first page: more of it would prove no more.
        Raises ReadError when nothing could be read; a failure later leaves what came before, with the reason.
        """
        objects: list[o.KubeObject] = []
        odd: dict[tuple[str, str], tuple[str, ...]] = {}
        reason, at = "", self.now()
        try:
            async for page in self.pages(path, kind, api_version, query, first=first):
                if page is None:
                    objects.clear()
                    odd.clear()
                    continue
                objects += page.objects
                odd |= page.odd
                reason = reason or next(iter(page.broken), "")
                more = page.meta.remaining_item_count
                if page.meta.continue_ and (len(objects) >= rows or len(objects) + (more or 0) > rows):
                    reason = f"row budget of {rows:,} reached"
                    break
        except ReadError as error:
            if not objects:
                raise
            reason = error.reason
        listing = Listing(tuple(objects), reason, odd, at)
        if not query and kind in KEPT_SECONDS and "/namespaces/" not in path:
            self._keep(path, kind, listing)
        return listing

    def _keep(self, path: str, kind: str, listing: Listing) -> None:
        """Keep a list that is complete and long; a short one is cheap to read, and an incomplete one tells too little."""
        if listing.reason or len(listing.objects) <= PAGE:
            self._kept.pop(path, None)
            return
        now = asyncio.get_running_loop().time()
        self._kept[path] = Kept(listing, now + KEPT_SECONDS[kind], now + RENEWED_SECONDS)

    def recall(self, path: str) -> Kept | None:
        """Give the list that is kept of this path, None when there is none that may still be used."""
        kept = self._kept.get(path)
        if kept is None or asyncio.get_running_loop().time() > kept.until:
            self._kept.pop(path, None)
            return None
        return kept

    def forget(self, path: str) -> None:
        """Keep a list no longer: something showed that it is not what the cluster has."""
        self._kept.pop(path, None)

    def renew(self, path: str, kind: str, api_version: str, rows: int, first: int) -> None:
        """Read a kept list again beside what is going on, when it is old.

        A failure that may pass leaves it as it is; after any other it is kept no longer.
        """
        kept = self._kept.get(path)
        old = kept is not None and asyncio.get_running_loop().time() > kept.stale
        if not old or path in self._renewing:
            return

        async def read() -> None:
            try:
                await self.list(path, kind, api_version, (), rows, first)
            except ReadError as error:
                if error.lasting or error.status in {403, 404}:
                    self.forget(path)
            finally:
                self._renewing.pop(path, None)

        self._renewing[path] = asyncio.create_task(read())

    async def pages(  # noqa: PLR0917 - as above
        self,
        path: str,
        kind: str,
        api_version: str,
        query: tuple[tuple[str, str], ...] = (),
        size: int = PAGE,
        first: int | None = None,
    ) -> AsyncIterator[Page | None]:
        """Walk a list page by page; None means: it expired half-way (410) and starts over, forget what came before.

        Pages are of `size` items, the first one of `first`. It starts over once. Raises ReadError, also for a second 410.
        """
        token, restarted = "", False
        while True:
            limit = size if token or first is None else first
            asked = (*query, ("limit", str(limit)), *((("continue", token),) if token else ()))
            try:
                answer = await self.body(path, asked)
            except ReadError as error:
                if error.status == 410 and token and not restarted:
                    token, restarted = "", True
                    yield None
                    continue
                raise
            decoded = partial(decode_page, answer.body, kind, api_version)
            # the bodies of many questions may come at once
            page = await self.turns.take(decoded) if len(answer.body) > _LONG else decoded()
            yield page
            token = page.meta.continue_
            if not token:
                return

    async def get(self, path: str, kind: str, api_version: str) -> decode.Decoded | None:
        """Read one object; None when the server says that it does not exist. Raises ReadError for anything else."""
        try:
            answer = await self.body(path)
        except ReadError as error:
            if error.status == 404:
                return None
            raise
        try:
            decoded = decode.decode(answer.body, kind)
        except ValueError as error:
            raise ReadError("the answer is not an object") from error
        _named(decoded.object, kind, api_version)
        return decoded

    async def body(
        self,
        path: str,
        query: tuple[tuple[str, str], ...] = (),
        accept: str = "application/json",
        *,
        retry: bool = True,
    ) -> Answer:
        """Read any path and give its body. Raises ReadError for every status but 2xx and for every failure on the way.

        429 (with Retry-After), 5xx and cut connections are tried again, at most three times, within the time there is.
        """
        return await self._patiently(_Request("GET", path, query, accept), retry=retry)

    async def _patiently(self, request: "_Request", *, retry: bool = True) -> Answer:
        refusals: list[ReadError] = []

        def again(error: Exception) -> bool | float:
            if isinstance(error, ReadError):
                refusals.append(error)
            if not isinstance(error, ReadError) or error.lasting or not retry:
                return False
            if error.retry_after is not None:
                return error.retry_after if error.retry_after < self.timeout / 2 else False
            return error.status in _RETRIED_STATUS or error.status == 0

        try:
            async with asyncio.timeout(self.timeout):
                async for attempt in stamina.retry_context(
                    on=again, attempts=_RETRIES, timeout=self.timeout, wait_initial=0.1, wait_max=1.0, wait_jitter=0.1
                ):
                    with attempt:
                        return await self._once(request)
        except TimeoutError as error:
            # what the server said before the time was up tells more than that it was up
            raise (
                refusals[-1] if refusals else ReadError(f"timed out after {self.timeout:g} s", lasting=True)
            ) from error
        raise AssertionError  # pragma: no cover - the loop above returns or raises

    async def post(self, path: str, document: dict[str, Any]) -> Answer:
        """Send one review (SelfSubjectAccessReview, SubjectAccessReview): the only writing verb, and it stores nothing.

        Raises ReadError like `body`, and tries again as it does.
        """
        return await self._patiently(_Request("POST", path, document=document))

    # --- the wire ---

    async def _once(self, request: "_Request") -> Answer:
        api = await self._connected()
        if self._slots is None:
            self._slots = asyncio.Semaphore(CONCURRENCY)
        async with self._slots:
            answer = await self._send(api, request)
            if answer is None:
                answer = await self._send(await self._reconnected(api), request)
        if answer is None:
            raise ReadError(NOT_ACCEPTED, 401, lasting=True)
        return answer

    async def _send(self, api: Any, request: "_Request") -> Answer | None:  # noqa: ANN401
        """Send once; None for a 401. Raises ReadError."""
        self.requests += 1
        try:
            sent = await api.param_serialize(
                request.method, request.path, query_params=list(request.query),
                header_params={"Accept": request.accept}, body=request.document, auth_settings=["BearerToken"],
            )  # fmt: skip
            response = await api.call_api(*sent, _request_timeout=aiohttp.ClientTimeout(total=self.timeout))
            body: bytes = await response.read()
        except TimeoutError as error:
            raise ReadError(f"timed out after {self.timeout:g} s", lasting=True) from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise ReadError(f"{UNREACHABLE}: its certificate is not trusted", lasting=True) from error
        except aiohttp.ClientSSLError as error:
            raise ReadError(f"{UNREACHABLE}: TLS does not work", lasting=True) from error
        except aiohttp.ClientConnectorError as error:
            raise ReadError(f"{UNREACHABLE}: {error.os_error.strerror or 'no connection'}") from error
        except aiohttp.InvalidURL as error:
            raise ReadError("no such path", lasting=True) from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise ReadError("the connection was cut") from error
        except OSError as error:
            raise ReadError(f"{UNREACHABLE}: {error.strerror or 'input/output error'}", lasting=True) from error
        at = self._clock(response.headers.get("Date"))
        if response.status == 401:
            return None
        if not 200 <= response.status < 300:
            _refuse(response.status, response.headers.get("Retry-After"))
        return Answer(body, at)

    def _clock(self, date: str | None) -> datetime | None:
        """Learn how far the server's clock is from ours; under two seconds is the header's own coarseness."""
        if date is None:
            return None
        try:
            at = parsedate_to_datetime(date)
        except ValueError:
            return None
        skew = at - datetime.now(UTC)
        self._skew = skew if abs(skew) > timedelta(seconds=2) else timedelta(0)
        return at

    async def _connected(self) -> Any:  # noqa: ANN401 - the official client is untyped here
        if self._connecting is None:
            self._connecting = asyncio.Lock()
        async with self._connecting:
            if self._api is None:
                self._api = await _connect(self.cluster)
        return self._api

    async def _reconnected(self, old: Any) -> Any:  # noqa: ANN401
        """After a 401, read the credentials again (a rotated token, an expired exec plug-in), at most every ten seconds."""
        assert self._connecting is not None
        async with self._connecting:
            now = asyncio.get_running_loop().time()
            if self._api is old and now - self._reconnected_at > 10:
                self._reconnected_at = now
                self._api = await _connect(self.cluster)
                # questions in flight still use the old connections
                self._retired.append(old)
                if len(self._retired) > 1:
                    await self._retired.pop(0).close()
            return self._api


def _refuse(status: int, retry_after: str | None) -> NoReturn:
    seconds: float | None = None
    if retry_after is not None:
        with contextlib.suppress(ValueError):
            seconds = max(0.0, float(retry_after))
    reasons = {
        400: "the API server refuses the request (400)",
        403: FORBIDDEN,
        404: "not found (404)",
        410: "the list expired while it was read (410)",
        429: "the API server is overloaded (429)",
    }
    reason = reasons.get(status, f"the API server answers {status}")
    raise ReadError(reason, status, retry_after=seconds if status in {429, 503} else None)


def _in_a_pod() -> bool:
    """Whether a pod's own identity is there and no kubeconfig was chosen instead."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and not os.environ.get("KUBECONFIG")


def _kubeconfig(cluster: Cluster) -> str:
    """Give the files to read, parted as in PATH. Raises ReadError where there is none: the official client goes on without."""
    paths = cluster.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    if not any(os.path.exists(os.path.expanduser(path)) for path in paths.split(os.pathsep) if path):  # noqa: PTH110, PTH111 - as the client does
        raise ReadError(f"there is no kubeconfig at {paths}; KUBECONFIG or a setting must name one", lasting=True)
    return paths


def preload() -> None:
    """Import the official client now, so that the first question does not stall the event loop with it."""
    from kubernetes.aio import client, config  # noqa: F401, PLC0415 - as in `_connect`


async def _connect(cluster: Cluster) -> Any:  # noqa: ANN401
    """Open the official client for a cluster. Raises ReadError when its settings cannot be used."""
    from kubernetes.aio import client as official  # noqa: PLC0415 - 0.6 s, and `explain -f` never needs it
    from kubernetes.aio import config  # noqa: PLC0415

    configuration = official.Configuration()
    configuration.connection_pool_maxsize = CONCURRENCY
    # with trust_env aiohttp opens ~/.netrc in a thread for every single request; only a proxy is worth that
    configuration.client_session_kwargs = {"trust_env": any(name.lower().endswith("_proxy") for name in os.environ)}
    try:
        if cluster.url:
            configuration.host = cluster.url.rstrip("/")
            if cluster.token:
                configuration.api_key["BearerToken"] = f"Bearer {cluster.token}"
        elif cluster.in_cluster or (not cluster.kubeconfig and not cluster.context and _in_a_pod()):
            config.load_incluster_config(client_configuration=configuration)
        else:
            await config.load_kube_config(
                config_file=_kubeconfig(cluster), context=cluster.context or None,
                client_configuration=configuration, persist_config=False,
            )  # fmt: skip
        api = official.ApiClient(configuration)
    except config.ConfigException as error:
        raise ReadError(f"no usable configuration: {error}", lasting=True) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ReadError(f"no usable configuration: {type(error).__name__}", lasting=True) from error
    api.user_agent = f"whypending/{__version__}"
    return api


def object_path(group: str, version: str, plural: str, namespace: str = "", name: str = "") -> str:
    """Give the path of a list or of one object.

    Raises ValueError for a namespace or name that no object can have.
    """
    for text in (namespace, name):
        if text and not is_name(text):
            msg = f"not a name: {text!r}"
            raise ValueError(msg)
    parts = ["apis", group, version] if group else ["api", version]
    if namespace:
        parts += ["namespaces", namespace]
    parts.append(plural)
    if name:
        parts.append(name)
    return "/" + "/".join(quote(part, safe=":") for part in parts)
