"""Phrases that every rendering shares: durations, plurals, bars, the verdict's few words, and escaping for Slack."""

import html
import re
from collections.abc import Sequence
from datetime import datetime

from bot.core import quantity
from bot.core.diagnosis import Diagnosis, Move, Outlook, QuotaRow
from bot.core.names import clean

VERDICTS: dict[Outlook, str] = {
    "never-as-written": "Cannot run as written",
    "fix": "Needs a fix",
    "wait": "Waiting its turn",
    "in-progress": "In progress",
    "running": "Running",
    "finished": "Finished",
    "unknown": "Cannot tell",
}
"""The answer in three words, by outlook."""

_MOVES: dict[Move, str] = {
    "asker": "whoever submitted it",
    "queue-admin": "whoever owns the queue and its quota",
    "platform": "whoever runs the cluster",
    "nobody": "nobody, it goes on by itself",
}

_STEP_MOVES: dict[Move, str] = {
    "asker": "Submitter",
    "queue-admin": "Queue admin",
    "platform": "Platform",
    "nobody": "Nobody",
}

ZERO_WIDTH_SPACE = "\u200b"


def verdict(answer: Diagnosis) -> str:
    """Give the answer in a few words: "Waiting its turn"."""
    if answer.headline.rule in {"job-not-found", "namespace-not-found"}:
        return "Not found"
    if answer.headline.rule == "name-is-ambiguous":
        return "Which one is meant?"
    if answer.outlook == "wait" and answer.admitted:  # Kueue's turn has come: on-call must not take it for a queue
        return "Waiting for a node"
    return VERDICTS[answer.outlook]


def whose_move(answer: Diagnosis) -> str:
    """Give whose move it is: "whoever owns the queue and its quota"; "" when there is nothing to be done any more."""
    return "" if answer.outlook in {"running", "finished"} and answer.move == "nobody" else _MOVES[answer.move]


def step_move(move: Move) -> str:
    """Give whose move a step is in one or two words: "Submitter", "Queue admin", "Platform", "Nobody"."""
    return _STEP_MOVES[move]


def boundary(answer: Diagnosis) -> str:
    """Say where to look: at Kueue before admission, at the scheduler after it, at the pods once they are scheduled.

    "" when there is no Workload or nothing is to be looked at.
    """
    if answer.admitted is None or answer.outlook in {"running", "finished"}:
        return ""
    if not answer.admitted:
        return "Not admitted: look at Kueue"
    if answer.stage == "start":
        return "Admitted and scheduled: look at its pods"
    return "Admitted by Kueue: look at the scheduler"


def job_name(answer: Diagnosis) -> str:
    """Name the job as people say it: "Job team-a/train", or what was asked when no job was found."""
    job = answer.job
    name = answer.asked if job is None else f"{job.kind} {job.namespace}/{job.name}"
    return f"{name} on {answer.cluster}" if answer.cluster else name


def duration(seconds: float) -> str:
    """Give a span in its two largest units: "42 s", "5 min", "3 h 12 min", "2 d 4 h". Negative spans are 0."""
    total = max(0, int(seconds))
    for size, name, below, below_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min")):
        if total >= size:
            rest = total % size // below
            return f"{total // size} {name}" + (f" {rest} {below_name}" if rest else "")
    return f"{total // 60} min" if total >= 60 else f"{total} s"


def ago(moment: datetime, now: datetime) -> str:
    """Give how long ago a moment was: "3 h 12 min ago", "just now"."""
    seconds = (now - moment).total_seconds()
    return "just now" if seconds < 1 else f"{duration(seconds)} ago"


def clock(moment: datetime) -> str:
    """Give a moment in full, with its date and zone: "2026-11-30 14:52:11 UTC"."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def older(answer: Diagnosis) -> list[str]:
    """Give what was read before the answer's moment, with the time: ["nodes as of 14:48 UTC"]."""
    what = {"LocalQueue": "LocalQueues of other namespaces", "Node": "nodes"}
    return [f"{what.get(kind, kind)} as of {at:%H:%M} UTC" for kind, at in answer.older]


def plural(count: int, noun: str, many: str = "") -> str:
    """Give a count with its noun: "1 workload", "3 workloads"; `many` for an irregular plural."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def listed(parts: list[str], limit: int = 3) -> str:
    """Join parts as a sentence does and count those beyond the limit: "a, b and 2 more"."""
    shown = parts[:limit]
    if len(parts) > limit:
        return f"{', '.join(shown)} and {len(parts) - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def bar(part: int, whole: int, width: int = 10) -> str:
    """Give a text bar of `part` in `whole`: "██████░░░░"; something is never drawn as nothing, nor not quite all as all."""
    if whole <= 0:
        return "░" * width
    filled = min(width, max(0, round(part * width / whole)))
    if part > 0:
        filled = max(1, filled)
    if part < whole:
        filled = min(width - 1, filled)
    return "█" * filled + "░" * (width - filled)


def shorten(text: str, limit: int) -> str:
    """Cut a text at the end, at a word where there is one nearby, with "…" within the limit."""
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 2 // 3 else cut).rstrip() + "…"


def middle(name: str, limit: int) -> str:
    """Cut a long name in the middle, where names of one family differ least: "very-long-na…-7f9c"."""
    if len(name) <= limit or limit < 5:
        return shorten(name, limit)
    tail = (limit - 1) // 3
    return f"{name[: limit - 1 - tail]}…{name[-tail:]}"


def stopping_row(answer: Diagnosis) -> int | None:
    """Give which row of the chain holds the job back: one that the headline names, else the first that is not fine."""
    rows = [at for at, row in enumerate(answer.chain) if row.ok is False and row.kind != "Workload"]
    subjects = {(subject.partition("/")[0], subject.rpartition("/")[2]) for subject in answer.headline.subjects}
    named = [at for at in rows if (answer.chain[at].kind, answer.chain[at].name) in subjects]
    return next(iter([*named, *rows]), None)


# --- numbers of an answer ---

VERDICT_WORDS = {"fits": "fits", "wait": "waits", "never": "never fits", "excluded": "excluded", None: "not known"}
"""A quota row's verdict, as people read it."""


def amount(resource: str, value: int | None) -> str:
    """Give an amount in Kueue's unit for people: "4", "1500m", "9.31Gi", "no limit", or "not known"."""
    if value is None:
        return "not known"
    return "no limit" if value >= quantity.MAX else quantity.human(resource, value)


def row_verdict(row: QuotaRow) -> str:
    """Give a quota row's verdict with its number or cause: "waits, 2 short", "excluded: taint spot=true:NoSchedule"."""
    word = VERDICT_WORDS[row.verdict]
    if row.verdict == "excluded":
        return f"{word}: {row.why}" if row.why else word
    return f"{word}, {amount(row.resource, row.short)} short" if row.short else word


def pod_sets(row: QuotaRow, rows: Sequence[QuotaRow]) -> str:
    """Give the pod sets of a row where not all rows are about the same ones: " for worker"; else ""."""
    return "" if all(other.pod_sets == row.pod_sets for other in rows) else f" for {', '.join(row.pod_sets)}"


def deciding_row(answer: Diagnosis) -> QuotaRow | None:
    """Give the quota row that the headline is about, None when quota is not the question.

    A row of a flavor that the headline names comes first, then the verdict that decides, then the smallest shortage.
    """
    if answer.stage != "quota" or answer.admitted:
        return None
    named = {subject.partition("/")[2] for subject in answer.headline.subjects if subject.startswith("ResourceFlavor/")}
    wanted = "never" if answer.outlook == "never-as-written" else "wait"
    order = {wanted: 0, "never": 1, "wait": 1, "excluded": 2, "fits": 3}

    def rank(at: int) -> tuple[bool, bool, int, float, int]:
        row = answer.quota[at]
        told = row.resource in answer.headline.sentence
        share = (row.short or 0) / row.requested if row.requested else 0.0
        return row.flavor not in named, not told, order.get(row.verdict or "", 4), share, at

    best = min(range(len(answer.quota)), key=rank, default=None)
    return None if best is None else answer.quota[best]


# --- Slack's mrkdwn ---

_MASS = re.compile(r"@(?=(?:channel|here|everyone)\b)", re.IGNORECASE)
_EMOJI = re.compile(r":(?=(?:[\d_+-]*[a-z][\w+-]*|[+-]1|100):)")
_SPECIAL = re.compile(r"(?<![\w*_~`])[*_~](?=\S)|(?<=\S)[*_~](?![\w*_~`])")


def escape(text: str) -> str:
    """Make any text safe in Slack's mrkdwn: nothing in it links, mentions or formats.

    `&`, `<` and `>` become entities, so that `<!channel>`, `<@U…>` and links are plain text. A zero-width space breaks
    "@channel", ":fire:" and the characters that would start or end bold, italic or struck text; backticks become
    apostrophes.
    """
    text = clean(text).replace("`", "'")
    text = _MASS.sub(f"@{ZERO_WIDTH_SPACE}", text)
    text = _EMOJI.sub(f":{ZERO_WIDTH_SPACE}", text)
    text = _SPECIAL.sub(lambda found: ZERO_WIDTH_SPACE + found[0] + ZERO_WIDTH_SPACE, text)
    return html.escape(text, quote=False)


def code(text: str) -> str:
    """Give a name or a command as code in Slack's mrkdwn; nothing inside is interpreted but entities."""
    safe = html.escape(clean(text).replace("`", "'").replace("\n", " "), quote=False)
    return f"`{_MASS.sub(f'@{ZERO_WIDTH_SPACE}', safe)}`" if safe.strip() else ""


def plain(text: str) -> str:
    """Make any text safe where Slack takes plain text (headers, buttons): no mass mentions, no control characters."""
    return re.sub(r"<(?=[!@#])", f"<{ZERO_WIDTH_SPACE}", _MASS.sub(f"@{ZERO_WIDTH_SPACE}", clean(text)))


def link(url: str, label: str) -> str:
    """Give a link in Slack's mrkdwn; the URL comes from `links` and is percent-encoded already."""
    safe = escape(label).replace("|", "¦")
    return f"<{html.escape(url, quote=False).replace('|', '%7C')}|{safe}>"
