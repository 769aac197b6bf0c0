"""Stands between the bot and a real API server and plays what goes wrong on the way.

The faults are those of `bot.demo.apiserver`: late, never, reset, cut half-way through the body, or another status. Beside
them, the certificate can be changed for one that nobody trusts, and the real server behind can be restarted.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import yaml
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.demo.apiserver import Fault, Request
from bot.kube.client import Cluster
from tests.controlplane.plane import Authority, ControlPlane

_PASSED_ON = ("Content-Type", "Retry-After", "Date", "Audit-Id")


@dataclass
class Proxy:
    """A server of its own address and certificate in front of a plane's API server."""

    plane: ControlPlane
    faults: list[Fault] = field(default_factory=list)
    log: list[Request] = field(default_factory=list)
    port: int = 0
    _runner: web.AppRunner | None = None
    _site: web.TCPSite | None = None
    _session: aiohttp.ClientSession | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self, name: str = "proxy", token: str = "token-admin") -> str:
        """Write a kubeconfig that leads through it; give its path."""
        path = self.plane.dir / f"{name}-{self.port}.kubeconfig"
        content = yaml.safe_load(self.plane.kubeconfig().read_text())
        content["clusters"][0]["cluster"]["server"] = self.url
        content["users"][0]["user"] = {"token": token}
        path.write_text(yaml.safe_dump(content))
        return str(path)

    def cluster(self) -> Cluster:
        """Give the way through it for the bot."""
        return Cluster(kubeconfig=self.kubeconfig())

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """Listen until the end of the block."""
        app = web.Application(client_max_size=10**8)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        trusted = ssl.create_default_context(cafile=str(self.plane.dir / "ca.crt"))
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusted, limit=64), auto_decompress=False
        ) as self._session:
            try:
                await self.listen()
                yield
            finally:
                await self._runner.cleanup()

    async def listen(self, *, trusted: bool = True) -> None:
        """Listen, again on the same port, with a certificate of the plane's authority or with one of an unknown one."""
        assert self._runner is not None
        if self._site is not None:
            await self._site.stop()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        name = _certificate(self.plane, "proxy" if trusted else "stranger", trusted=trusted)
        context.load_cert_chain(self.plane.dir / f"{name}.crt", self.plane.dir / f"{name}.key")
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=context)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        began = loop.time()
        fault = next((fault for fault in self.faults if fault.hits(request.path, request.query_string)), None)
        try:
            if fault is not None:
                await asyncio.sleep(fault.delay)
                if fault.hang:
                    await asyncio.Event().wait()
                if fault.reset:
                    return _broken(request)
                if fault.status:
                    return _refusal(fault)
            return await self._forward(request, cut=fault is not None and fault.cut)
        finally:
            self.log.append(Request(request.method, request.path, request.query_string, began, loop.time()))

    async def _forward(self, request: web.Request, *, cut: bool) -> web.StreamResponse:
        assert self._session is not None
        headers = {name: value for name, value in request.headers.items() if name.lower() not in {"host", "connection"}}
        try:
            async with self._session.request(
                request.method, self.plane.url + request.raw_path, headers=headers, data=await request.read()
            ) as answer:
                body = await answer.read()
                passed = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
                if "Content-Encoding" in answer.headers:
                    passed["Content-Encoding"] = answer.headers["Content-Encoding"]
                status = answer.status
        except aiohttp.ClientError:
            return _broken(request)
        if not cut:
            return web.Response(status=status, body=body, headers=passed)
        response = web.StreamResponse(status=status, headers={**passed, "Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        return _broken(request, response)


def _broken(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """End the connection without a word."""
    assert request.transport is not None
    request.transport.abort()
    return response or web.Response()


def _refusal(fault: Fault) -> web.Response:
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
    document = {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Fault",
        "message": "played on demand", "code": fault.status,
    }  # fmt: skip
    return web.json_response(document, status=fault.status, headers=headers)


def _certificate(plane: ControlPlane, name: str, *, trusted: bool) -> str:
    """Write NAME.crt and NAME.key once, signed by the plane's authority or by one of its own; give the name."""
    if not (plane.dir / f"{name}.crt").exists():
        authority = Authority(plane.dir)
        if trusted:
            key = serialization.load_pem_private_key((plane.dir / "ca.key").read_bytes(), None)
            assert isinstance(key, rsa.RSAPrivateKey)
            issuer = x509.load_pem_x509_certificate((plane.dir / "ca.crt").read_bytes()), key
        else:
            issuer = authority.certificate(f"authority-of-{name}")
        authority.certificate(name, issuer)
    return name
