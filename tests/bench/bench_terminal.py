"""The whole process of `whypending explain -f`, CPU, beside the import of pydantic."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.bench.row import Row
from tests.clusters import RECORDINGS

TIMES = 12
ASIDE = ("kubernetes", "slack_bolt", "aiohttp", "sqlalchemy")


def _process(bytecode: str, *arguments: str) -> float:
    """CPU seconds, user and system, of one run."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    recording = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    command = ["explain", "-f", recording, "team-a/train"]
    explain = ["-c", f"from bot.cli import main; main({command!r})"]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as bytecode:
        for _ in range(TIMES + 1):  # the first time compiles, as an installation does
            ours.append(_process(bytecode, *explain))
            theirs.append(_process(bytecode, "-c", "import pydantic"))
    yield Row("`explain -f`, whole process, CPU, against `import pydantic`", min(ours) / min(theirs), 3)
    code = (
        "import sys; from bot.cli import main; sys.stdout = open('/dev/null', 'w');"
        f" main({command!r}); sys.exit(sum(name in sys.modules for name in {ASIDE!r}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=False).returncode
    yield Row(f"`explain -f`: of {', '.join(ASIDE)} are imported", loaded, 0, "")
