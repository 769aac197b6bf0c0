"""What an object says of itself: its kind, whether it is held, whether it is over."""

from datetime import UTC, datetime
from typing import Any

from bot.core import kinds
from bot.core import objects as o
from bot.core.marks import PREFIX
from bot.core.names import named, subject
from bot.core.untyped import dig

EPOCH = datetime.fromtimestamp(0, UTC)
"""Stands for a time that is not known, where things are put in order."""
SERVING = {"StatefulSet", "LeaderWorkerSet"}
"""They make a pod group of their pods, which is theirs alone."""
POD_LEVEL = {"Deployment", "ReplicaSet"}
"""Each of their pods has a Workload of its own."""


def kind_of(item: o.KubeObject) -> str:
    """Give an object's kind, also where a list left it out."""
    return item.kind or type(item).__name__


def same_kind(asked: str, kind: str, api_version: str) -> bool:
    """Say whether a kind is the one that was asked for: "" asks for any, "notebooks.example.com" for a plural in a group."""
    if not asked:
        return True
    wanted, _, group = asked.lower().partition(".")
    spellings = {kind.lower(), f"{kind.lower()}s", f"{kind.lower()}es"}
    return wanted in spellings and group in {"", api_version.rpartition("/")[0].lower()}


def created(item: o.KubeObject) -> datetime:
    """Give when an object was created; the epoch when it does not say."""
    return item.metadata.creation_timestamp or EPOCH


def titled(item: o.KubeObject) -> str:
    """Give an object for a sentence: "Job train", the name marked."""
    return f"{kind_of(item)} {named(kind_of(item), item.name, item.namespace)}"


def subject_of(item: o.KubeObject) -> str:
    """Give an object as evidence subject: "Job/team-a/train", the name marked."""
    return subject(kind_of(item), item.name, item.namespace)


def suspended(item: o.KubeObject) -> bool | None:
    """Say whether a job object is suspended (or a pod gated by Kueue); None when its kind has no such field."""
    if isinstance(item, o.Pod):
        return any(gate.name.startswith(PREFIX) for gate in item.spec.scheduling_gates)
    if not isinstance(item, o.Job):
        return None
    known = kinds.of_object(item.api_version, item.kind)
    path = known.job.suspend if known and known.job else "spec.suspend"
    if not path:
        return None
    value = dig({"spec": item.spec}, path)
    return value if isinstance(value, bool) else (False if known else None)


_ENDS = {"Complete": True, "Completed": True, "Succeeded": True, "Failed": False}
_STATES: dict[str, tuple[str, dict[str, bool]]] = {
    "AppWrapper": ("phase", {"Succeeded": True, "Failed": False}),
    "SparkApplication": ("applicationState.state", {"COMPLETED": True, "FAILED": False}),
}


def is_over(pod: o.Pod) -> bool:
    """Say whether a pod has succeeded or failed and will not run again."""
    return pod.status.phase in {"Succeeded", "Failed"}


def job_finished(item: o.KubeObject) -> tuple[bool, str] | None:
    """Give (succeeded, message) when the job object itself says that it is over, else None."""
    if isinstance(item, o.Pod):
        if is_over(item):
            return item.status.phase == "Succeeded", item.status.message or item.status.reason
        return None
    if not isinstance(item, o.Job):
        return None
    entries = item.status.get("conditions")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("status") == "True" and _text(entry.get("type")) in _ENDS:
            return _ENDS[entry["type"]], _text(entry.get("message"))
    if item.kind == "RayJob":
        return _ray_job_finished(item)
    path, meanings = _STATES.get(item.kind, ("", {}))
    state = dig(item.status, path)
    return (
        (meanings[state], _text(item.status.get("message"))) if isinstance(state, str) and state in meanings else None
    )


def _ray_job_finished(item: o.Job) -> tuple[bool, str] | None:
    """A RayJob is over when its deployment is, or when its script ended well: a failed script may be tried again."""
    deployment, script = _text(item.status.get("jobDeploymentStatus")), _text(item.status.get("jobStatus"))
    text = _text(item.status.get("message"))
    if deployment in {"Complete", "Failed"}:
        return deployment == "Complete" and script not in {"FAILED", "STOPPED"}, text
    return (script == "SUCCEEDED", text) if script in {"SUCCEEDED", "STOPPED"} else None


def _text(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else ""
