"""A real PostgreSQL on loopback for tests: a cluster of its own, in a folder of its own, gone afterwards."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def binaries() -> Path | None:
    """Give the folder with `initdb` and `postgres`, None when there is no server (Debian: package postgresql)."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "postgres").exists()), None)


class Server:
    """One running server; `stop` and `start` play an outage."""

    def __init__(self, folder: Path, tools: Path) -> None:
        """Make a fresh database cluster in the folder."""
        self.folder, self.tools = folder, tools
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self.database, self._databases = "postgres", 0
        # PostgreSQL refuses to run as root
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user is not None:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        subprocess.run(
            [str(tools / "initdb"), "-D", str(folder / "data"), "-U", "bot", "--auth=trust", "--no-sync", "-E", "UTF8"],
            check=True, capture_output=True, **self._identity(),
        )  # fmt: skip

    def _identity(self) -> dict[str, Any]:
        return {} if self.user is None else {"user": self.user.pw_uid, "group": self.user.pw_gid}

    @property
    def url(self) -> str:
        """The URL for `Store.open`."""
        return f"postgresql://bot@127.0.0.1:{self.port}/{self.database}"

    def renew(self) -> None:
        """Go on with an empty database."""
        self._databases += 1
        name = f"bot_{self._databases}"
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "bot"]
        subprocess.run([str(self.tools / "createdb"), *where, name], check=True, capture_output=True)
        self.database = name

    def start(self) -> None:
        """Start and wait until it takes connections."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.tools / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port),
                 "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"],
                stdout=log, stderr=log, **self._identity(),
            )  # fmt: skip
        ready = [str(self.tools / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "bot"]
        for _ in range(200):
            if subprocess.run(ready, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self) -> None:
        """Stop at once, cutting every connection."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
            self.process = None


@contextmanager
def server() -> Iterator[Server]:
    """Give a running server."""
    tools = binaries()
    if tools is None:
        raise RuntimeError("PostgreSQL's server is missing (Debian: package postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="whypending-postgres-"))
    running = Server(folder, tools)
    running.start()
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)
