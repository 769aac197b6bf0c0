"""Asking the product about a playing cluster and about its recording: through the command line, and compared with `then`."""

import contextlib
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot import cli
from bot.core.quantity import parse
from tests.controlplane.plane import ControlPlane
from tests.controlplane.scenario import Body


@contextlib.contextmanager
def identity(kubeconfig: Path) -> Iterator[None]:
    """Let the command line find this kubeconfig."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(kubeconfig))
        yield


def command(*arguments: str) -> tuple[int, str]:
    """Run the command line in this process; give its exit status and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = cli.main(arguments)
    return status, printed.getvalue()


def live(plane: ControlPlane, ask: str, kubeconfig: Path | None = None, *, later: float = 0) -> Body:
    """Ask the running cluster; give the JSON document. As if it were `later` seconds later: a second counts as long then."""
    with identity(kubeconfig or plane.kubeconfig()):
        config = ["--config", str(impatient(plane.dir))] if later else []
        status, text = command("explain", ask, "-o", "json", "--deadline", "30", *config)
    assert text, f"explain {ask} gave status {status} and no document"
    document: Body = json.loads(text)
    return document


def impatient(folder: Path) -> Path:
    """Write a configuration for which everything is old after a second; give its path."""
    path = folder / "impatient.yaml"
    path.write_text("{young_seconds: 0.5, long_seconds: 1}")
    return path


def from_file(path: Path, ask: str) -> Body:
    """Ask a recording; give the JSON document."""
    _, text = command("explain", ask, "-o", "json", "-f", str(path))
    document: Body = json.loads(text)
    return document


def rules(document: Body) -> set[str]:
    """Every rule that fired."""
    return {document["headline"]["rule"]} | {f["rule"] for part in ("also", "context") for f in document[part]}


def wrong(document: Body, then: Body, *, numbers: bool = True) -> list[str]:
    """Say what of the answer is not as `then` has it; empty when all is right."""
    found = []
    headline = document["headline"]
    if headline["rule"] not in then["headline"]:
        found.append(f"the headline is {headline['rule']} and not one of {then['headline']}: {headline['sentence']}")
    if document["stage"] not in then.get("stage", [document["stage"]]):
        found.append(f"the stage is {document['stage']} and not {then['stage']}")
    missing = {*then.get("also", []), *then.get("context", [])} - rules(document)
    found += [f"{rule} is missing" for rule in sorted(missing)]
    found += [f"{rule} is there" for rule in then.get("avoid", []) if rule in rules(document)]
    text = json.dumps(document, ensure_ascii=False).lower()
    found += [f"{part!r} is not mentioned" for part in then.get("mentions", []) if part.lower() not in text]
    found += [f"{part!r} is mentioned" for part in then.get("without", []) if part.lower() in text]
    if not document["complete"]:
        found.append(f"it is not complete: {document['notChecked']}")
    for wanted in then.get("quota", []) if numbers else []:
        rows = [row for row in document["quota"] if row["resource"] == wanted["resource"]]
        if not any(all(_equal(row[key], value) for key, value in wanted.items() if key != "resource") for row in rows):
            found.append(f"{wanted} is not among {rows}")
    pods = document["pods"] or {}
    found += [
        f"pods: {key} is {pods.get(key)} and not {value}"
        for key, value in then.get("pods", {}).items()
        if pods.get(key) != value
    ]
    return found


def _equal(got: Any, wanted: str) -> bool:
    return isinstance(got, str) and parse(got) == Decimal(parse(wanted))
