"""What is kept and for how long, as the README tells it; made from the tables themselves."""

from bot.store import schema
from bot.store.store import RETENTION

_WHAT = {
    "deliveries": "Slack's ids of what was delivered, so that a repeated delivery is answered once",
    "answers": "who asked about which job and where, the rule and outlook of the answer, where its card stands",
    "watches": "who watches which job in which thread, and the last state that was told",
    "digests": "which Workloads a digest named and since when, and counts by rule and queue",
}
_ENDS = {"watches": "until it ends: the job is over or gone, somebody stops it, or `watch_hours` are over"}


def table() -> str:
    """Give what is kept as a Markdown table. Raises KeyError for a table that nobody described."""
    names = [name for name in sorted(schema.metadata.tables) if name != schema.version.name]
    rows = [f"| {name} | {_WHAT[name]} | {_ENDS.get(name) or _span(RETENTION[name])} |" for name in names]
    return "\n".join(["| What | Holds | Kept for |", "|---|---|---|", *rows])


def _span(seconds: float) -> str:
    days, hours = seconds / 86400, seconds / 3600
    return f"{days:g} days" if days >= 1 else f"{hours:g} hours"
