"""Files, and parts of files, that are generated from code: the README's tables and the permissions in `manifests`.

`python -m bot.generate` says with status 1 what is stale; `python -m bot.generate --write` refreshes it. A part of a file
stands between `<!-- name -->` and `<!-- /name -->`.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from bot import cli, settings
from bot.kube.permissions import PERMISSIONS, Permission
from bot.render import rules_text
from bot.store import kept

_HEAD = "# Generated from bot/kube/permissions.py by `python -m bot.generate --write`.\n"


def readme(text: str) -> str:
    """Give the README with its generated parts fresh. Raises ValueError when a marker is missing."""
    for name, make in _PARTS.items():
        text = refreshed(text, name, make())
    return text


def refreshed(text: str, name: str, generated: str) -> str:
    """Give a text in which what stands between the markers of this name is replaced.

    Raises ValueError when the markers are missing.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, opened, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        msg = f"the markers {start.strip()} and {end} are missing"
        raise ValueError(msg)
    return f"{before}{start}{generated}\n{end}{after}"


def commands_table() -> str:
    """Give the commands as a Markdown table."""
    rows = [f"| `whypending {name}` | {about} |" for name, about in cli.commands().items()]
    return "\n".join(["| Command | |", "|---|---|", *rows])


def exit_status_table() -> str:
    """Give the exit status of `explain` as a Markdown table."""
    rows = [f"| {status} | {text} |" for status, text in cli.EXIT_STATUS.items()]
    return "\n".join(["| Exit status | Means |", "|--:|---|", *rows])


def permissions_table() -> str:
    """Give what is read, as a Markdown table: resource, verbs, why."""
    lines = ["| Resource | Verbs | What for | |", "|---|---|---|---|"]
    for entry in PERMISSIONS:
        place = "in Kueue's namespace" if entry.place == "kueue" else ""
        names = f"only {', '.join(f'`{name}`' for name in entry.names)}" if entry.names else ""
        notes = "; ".join(note for note in (place, names, "optional" if entry.optional else "") if note)
        group = f".{entry.group}" if entry.group else ""
        lines.append(f"| `{entry.resource}{group}` | {', '.join(entry.verbs)} | {entry.why} | {notes} |")
    return "\n".join(lines)


_PARTS: Mapping[str, Callable[[], str]] = {
    "commands": commands_table,
    "exit-status": exit_status_table,
    "rules": rules_text.markdown,
    "settings": settings.table,
    "permissions": permissions_table,
    "kept": kept.table,
}


def cluster_role() -> str:
    """Give the ClusterRole as YAML."""
    return _role("ClusterRole", {"name": "whypending"}, (entry for entry in PERMISSIONS if entry.place == "cluster"))


def kueue_role() -> str:
    """Give the Role in Kueue's own namespace as YAML."""
    place = {"name": "whypending", "namespace": "kueue-system"}
    return _role("Role", place, (entry for entry in PERMISSIONS if entry.place == "kueue"))


def _role(kind: str, metadata: dict[str, str], entries: Iterable[Permission]) -> str:
    grouped: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for entry in entries:
        grouped.setdefault((entry.group, entry.verbs, entry.names), []).append(entry.resource)
    rules: list[dict[str, Any]] = []
    for (group, verbs, names), resources in sorted(grouped.items()):
        rule: dict[str, Any] = {"apiGroups": [group], "resources": sorted(set(resources)), "verbs": list(verbs)}
        rules.append(rule | ({"resourceNames": list(names)} if names else {}))
    labels = {"app.kubernetes.io/name": "whypending"}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {**metadata, "labels": labels},
        "rules": rules,
    }
    return _HEAD + yaml.safe_dump(role, sort_keys=False, width=120)


def files(root: Path) -> dict[Path, str]:
    """Give every file that is generated, or has generated parts, with what it should hold."""
    return {
        root / "README.md": readme((root / "README.md").read_text()),
        root / "manifests/base/clusterrole.yaml": cluster_role(),
        root / "manifests/base/role-kueue.yaml": kueue_role(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh the files (`--write`), or say which are stale with status 1."""
    parser = argparse.ArgumentParser(
        prog="python -m bot.generate", description="Generated files: check, or refresh them."
    )
    parser.add_argument("--write", action="store_true", help="write instead of checking")
    write = parser.parse_args(arguments).write
    stale = 0
    for path, content in files(Path(__file__).parent.parent).items():
        if path.is_file() and path.read_text() == content:
            continue
        if write:
            path.write_text(content)
        else:
            stale += 1
            sys.stderr.write(f"{path.name} is stale: run `python -m bot.generate --write`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
