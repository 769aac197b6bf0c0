"""The command line: `whypending explain | serve | demo | rules | schema | snapshot | doctor`.

Each command imports what it needs itself: `explain -f` starts without the Kubernetes client, Slack and aiohttp.
"""

import argparse
import sys
from pathlib import Path

from bot.core.diagnosis import Diagnosis
from bot.core.reference import JobRef

NOTHING_HOLDS_IT, PENDING, WRONG_USE, NO_ANSWER, NO_SUCH_JOB = 0, 1, 2, 3, 4


def main(argv: list[str] | None = None) -> int:
    """Run the command; give its exit status."""
    parser = argparse.ArgumentParser(prog="whypending")
    commands = parser.add_subparsers(dest="command", required=True)
    explain = commands.add_parser("explain")
    explain.add_argument("reference")
    explain.add_argument("-f", "--file", action="append", default=[])
    explain.add_argument("-o", "--output", choices=("text", "json"), default="text")
    explain.add_argument("-n", "--namespace", default="")
    arguments = parser.parse_args(argv)
    return _explain(arguments)


def _explain(arguments: argparse.Namespace) -> int:
    from bot.core import bundle, engine
    from bot.core.disclosure import Audience, disclose

    ref = _reference(arguments.reference)
    snapshot = bundle.load((n, sys.stdin.buffer.read() if n == "-" else Path(n).read_bytes()) for n in arguments.file)
    answer = disclose(engine.diagnose(snapshot, ref), Audience("all", ref.namespace))
    if arguments.output == "json":
        from bot.render import json_v1

        print(json_v1.dump(answer))
    else:
        print(answer.headline.sentence)
    return _status(answer)


def _reference(text: str) -> JobRef:
    from bot.core import kinds

    parts = text.split("/")
    kind = parts[1] if len(parts) == 3 else ""
    kind = next((known.kind for known in kinds.BY_NAME.values() if kind in {known.kind.lower(), known.plural}), kind)
    return JobRef(parts[0], parts[-1], kind, text=text)


def _status(answer: Diagnosis) -> int:
    if answer.headline.rule in {"job-not-found", "namespace-not-found"}:
        return NO_SUCH_JOB
    if answer.outlook == "unknown":
        return NO_ANSWER
    return NOTHING_HOLDS_IT if answer.outlook in {"running", "finished"} else PENDING
