"""The endpoints for the platform: /healthz, /readyz, /metrics."""

import contextlib
import socket
from collections.abc import AsyncIterator, Callable

from aiohttp import web

from bot import telemetry


def application(missing: Callable[[], list[str]], lacking: Callable[[], list[str]] = list) -> web.Application:
    """Give the web application.

    Args:
        missing: says what keeps the bot from answering, nothing when it can.
        lacking: says what it does without while it answers; it is ready all the same.
    """

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        keeps = missing()
        lines = [*(keeps or ["ok"]), *lacking()]
        return web.Response(text="\n".join(lines) + "\n", status=503 if keeps else 200)

    async def metrics(_: web.Request) -> web.Response:
        body, content_type = telemetry.metrics()
        return web.Response(body=body, headers={"Content-Type": content_type})

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    return app


@contextlib.asynccontextmanager
async def listen(app: web.Application, host: str, port: int, held: socket.socket | None = None) -> AsyncIterator[int]:
    """Serve an application; give the port that it listens on. A socket that is `held` already is used instead of a new one."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port) if held is None else web.SockSite(runner, held)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
