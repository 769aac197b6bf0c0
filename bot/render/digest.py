"""A digest as text for a terminal, as Markdown, as JSON, and as Slack messages: a root, replies for its thread, a tail.

The view must have been disclosed. Every text stands by itself: nothing is said by a picture, by colour or by place alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.core import quantity
from bot.core.digest import Category
from bot.core.digest_view import Item, Line, View
from bot.render import limits, terminal, words
from bot.render.card import Message
from bot.render.limits import Block

TITLES: Mapping[Category, str] = {
    "never": "Cannot run as written",
    "misconfigured": "Misconfigured",
    "stuck": "Stuck",
    "unknown": "Cannot tell",
    "waiting": "Waiting its turn",
}
"""The groups, as people read them."""

_DOES: Mapping[Category, str] = {
    "never": "cannot run as written",
    "misconfigured": "misconfigured",
    "stuck": "stuck",
    "unknown": "without an explanation",
    "waiting": "waiting",
}

REPLIES = 5
"""Replies in the thread at most: one for each group."""
REPLY_CHARACTERS = 5_000
ROWS = 6
"""ClusterQueues that are listed for one cause in a message."""
EXAMPLES_IN_ROW = 2
SENTENCE, STEP = 1_000, 300
"""Characters of what was found and of what to do, in a message; both may quote the cluster."""
BESIDE = 4
"""Kinds that were not read without making a digest incomplete, as a root message names them."""
MENTIONS = 20
"""User groups that are mentioned for one cause."""


def workloads(count: int) -> str:
    """Count Workloads."""
    return words.plural(count, "workload")


def sizes(amounts: Mapping[str, int]) -> str:
    """Give what a line's Workloads ask for together: "96 nvidia.com/gpu", CPUs where nothing else is counted; "" for nothing."""
    devices = sorted(name for name in amounts if "/" in name and amounts[name])
    chosen = devices or [name for name in ("cpu",) if amounts.get(name)]
    parts = [_amount(name, amounts[name]) for name in chosen]
    return words.listed(parts, 2)


def _amount(resource: str, value: int) -> str:
    number = quantity.human(resource, value)
    return (
        f"{number} {resource}"
        if resource != "cpu"
        else f"{number} CPU{'' if number == '1' or number.endswith('m') else 's'}"
    )


def summed(lines: Iterable[Line]) -> dict[str, int]:
    """Add up what lines ask for."""
    total: dict[str, int] = {}
    for line in lines:
        for resource, value in line.amounts.items():
            total[resource] = total.get(resource, 0) + value
    return total


def _oldest(moments: Iterable[datetime | None], now: datetime) -> str:
    known = [moment for moment in moments if moment is not None]
    return f"oldest {words.duration((now - min(known)).total_seconds())}" if known else ""


def facts(lines: Sequence[Line], view: View) -> str:
    """Give "12 workloads, 96 nvidia.com/gpu, oldest 3 d, 2 new"."""
    changed = sum(line.changed for line in lines)
    new = sum(line.new for line in lines)
    parts = [
        workloads(sum(line.count for line in lines)), sizes(summed(lines)),
        _oldest((line.oldest for line in lines), view.observed_at), f"{new} new" if new else "",
        f"{changed} of another cause than before" if changed else "",
    ]  # fmt: skip
    return ", ".join(part for part in parts if part)


def headline(view: View) -> str:
    """Give the whole digest in one or two sentences, as a notification or a screen reader has it."""
    where = f" on {view.cluster}" if view.cluster else ""
    counts = [(category, sum(line.count for line in view.of(category))) for category in view.categories]
    said = ", ".join(f"{count} {_DOES[category]}" for category, count in counts)
    young = f" {workloads(view.young)} younger than {words.duration(view.minimum_age)} left out." if view.young else ""
    after = "".join([_since(view), young, *(f" {note}" for note in view.notes)])
    if view.missing:
        what = said or "nothing found in what could be read"
        return f"Incomplete{where}: {what}. Not read: {words.listed(list(view.missing), 2)}.{after}"
    if not counts:
        return f"Nothing is pending{where}: {workloads(view.seen)} looked at.{after}"
    calm = "" if view.stuck else "Nothing is stuck"
    text = f"{calm}{where}: {said}." if calm else f"{said[:1].upper()}{said[1:]}{where}."
    return f"{text}{after}"


def _since(view: View) -> str:
    """Say what changed since the last one: " Since 2026-11-29 09:00 UTC: 3 new, 1 of another cause, 2 cleared."."""
    if view.last is None:
        return ""
    new = sum(line.new for line in view.lines)
    changed = sum(line.changed for line in view.lines)
    gone = sum(view.gone_by.values())
    parts = [
        f"{new} new" if new else "",
        f"{changed} of another cause" if changed else "",
        f"{gone} cleared" if gone else "",
    ]
    told = ", ".join(part for part in parts if part) or "nothing changed"
    return f" Since {view.last:%Y-%m-%d %H:%M} UTC: {told}."


def _named(item: Item, now: datetime) -> str:
    age = words.duration((now - item.since).total_seconds()) if item.since is not None else ""
    change = {"new": "new", "changed": f"was {item.was}"}.get(item.change, "")
    inside = ", ".join(part for part in (age, change) if part)
    return f"{item.name} ({inside})" if inside else item.name


def _rest(line: Line) -> str:
    """Count those that are not named."""
    more = line.count - line.hidden - len(line.items)
    parts = [f"{more} more"] if more > 0 and line.items else []
    if line.hidden:
        place = "another namespace" if line.hidden_namespaces == 1 else f"{line.hidden_namespaces} other namespaces"
        parts.append(f"{line.hidden} in {place}")
    return " and ".join(parts)


def _queue(line: Line) -> str:
    if not line.queue:
        return "without a ClusterQueue"
    return line.queue if line.queue.startswith("another ") else f"in ClusterQueue {line.queue}"


def _move(line: Line) -> str:
    return "" if line.move == "nobody" else f"{words.step_move(line.move)}: "


# --- text and Markdown ---


def text(view: View, width: int | None = None, *, colour: bool = False, whole: bool = False) -> str:
    """Give the digest as text with a final newline, for a terminal of so many columns; `whole` leaves nothing out."""
    page = terminal.Page(width, colour=colour)
    page.text(view.name or "Digest", style=terminal.BOLD) if view.name else None
    page.text(headline(view), style=terminal.BOLD)
    for missing in view.missing:
        page.text(f"Not read: {missing}", "  - ")
    for category in view.categories:
        lines = view.of(category)
        page.heading(f"{TITLES[category]}: {facts(lines, view)}")
        for cause in by_cause(lines):
            cause_text(page, cause, view, whole=whole)
    _gone(page, view, whole=whole)
    if view.beside:
        page.heading("Not checked, so some causes may be told less exactly")
        for missing in view.beside:
            page.text(missing, "  - ")
    page.lines.append("")
    more = "" if whole or not needs_tail(view) else "; --all names every workload"
    page.text(f"As of {words.clock(view.observed_at)}, {workloads(view.seen)} looked at{more}", style=terminal.DIM)
    return "\n".join(page.lines) + "\n"


def by_cause(lines: Iterable[Line]) -> list[list[Line]]:
    """Put the lines of one cause together, in the order in which the first of each stands."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.rule, []).append(line)
    return list(found.values())


def cause_text(page: terminal.Page, lines: list[Line], view: View, *, whole: bool = False) -> None:
    """Add one cause to a page: what it is, what was found about the oldest, what to do, and its queues."""
    first = lines[0]
    where = f" {_queue(first)}" if len(lines) == 1 else ""
    page.text(f"{first.title} [{first.rule}]{where}: {facts(lines, view)}", "  - ", "    ")
    told = next((line for line in lines if line.sentence), None)
    if told is not None:
        page.text(f"{told.about}: {told.sentence}", "    ")
        if told.step is not None and told.move != "nobody":
            page.text(f"{_move(told)}{told.step.do}", "    ")
            if told.step.command:
                page.verbatim(told.step.command, "    ")
    told_lines = lines if whole or len(lines) <= ROWS + 1 else lines[:ROWS]
    for full in told_lines:
        line = full if whole or len(lines) == 1 else replace(full, items=full.items[:EXAMPLES_IN_ROW])
        listed = ", ".join(_named(item, view.observed_at) for item in line.items)
        named = " and ".join(part for part in (listed, _rest(line)) if part)
        if len(lines) > 1:
            page.text(f"{line.queue or 'no ClusterQueue'}: {facts([line], view)}: {named}", "    ", "      ")
        elif line.count > 1 or told is None or any(item.name != told.about for item in line.items):
            page.text(named, "    ")
    if left := lines[len(told_lines) :]:
        page.text(f"{words.plural(len(left), 'more ClusterQueue')}: {facts(left, view)}", "    ")


def _gone(page: terminal.Page, view: View, *, whole: bool) -> None:
    if not view.gone_by:
        return
    page.heading(f"Cleared: {_cleared(view)}")
    listed = [f"{name} (was {rule})" for name, rule in (view.gone if whole else view.gone[:10])]
    more = sum(view.gone_by.values()) - len(listed)
    page.text(", ".join(listed) + (f" and {more} more" if more and listed else ""), "  ")


def _cleared(view: View) -> str:
    return ", ".join(f"{count} {_DOES[category]}" for category, count in sorted(view.gone_by.items()))


def markdown(view: View) -> str:
    """Give the digest as Markdown, for an issue or a page."""
    lines = [f"# {view.name or 'What is pending'}", "", headline(view), ""]
    lines += [f"- **Not read:** {_mark(missing)}" for missing in view.missing]
    for category in view.categories:
        lines += ["", f"## {TITLES[category]}", "", f"{facts(view.of(category), view)}", ""]
        lines += [
            "| Cause | ClusterQueue | Workloads | Asked for | Oldest | For example |",
            "|---|---|--:|---|---|---|",
        ]
        for line in view.of(category):
            listed = ", ".join(_named(item, view.observed_at) for item in line.items[:2])
            rest = line.count - line.hidden - len(line.items[:2])
            more = " and ".join(
                p
                for p in (f"{rest} more" if rest and listed else "", f"{line.hidden} not named" if line.hidden else "")
                if p
            )
            cells = (
                f"{line.title} (`{line.rule}`)", line.queue or "none", str(line.count), sizes(line.amounts),
                _oldest([line.oldest], view.observed_at).removeprefix("oldest "), ", ".join(p for p in (listed, more) if p),
            )  # fmt: skip
            lines.append(f"| {' | '.join(_mark(cell) for cell in cells)} |")
    if view.gone_by:
        lines += ["", "## Cleared", "", _cleared(view)]
    lines += ["", f"As of {words.clock(view.observed_at)}; {workloads(view.seen)} looked at."]
    return "\n".join(lines) + "\n"


def _mark(cell: str) -> str:
    return words.plain(cell).replace("|", "\\|").replace("\n", " ")


# --- JSON ---


def to_json(view: View) -> str:
    """Give the digest as JSON; fields are added within v1, never renamed or dropped."""
    return json.dumps(document(view), indent=2) + "\n"


def document(view: View) -> dict[str, Any]:
    """Give the digest as plain data."""
    return {
        "version": "v1", "name": view.name, "cluster": view.cluster, "observedAt": _stamp(view.observed_at),
        "complete": not view.missing, "missing": list(view.missing), "alsoNotRead": list(view.beside), "notes": list(view.notes),
        "workloads": view.seen, "pending": view.stuck + view.waiting, "stuck": view.stuck, "young": view.young,
        "since": _stamp(view.last), "changed": view.changed, "level": view.level,
        "groups": [_group(line) for line in view.lines],
        "cleared": {str(category): count for category, count in sorted(view.gone_by.items())},
        "clearedJobs": [{"job": name, "rule": rule} for name, rule in view.gone],
    }  # fmt: skip


def _group(line: Line) -> dict[str, Any]:
    return {
        "category": line.category, "rule": line.rule, "clusterQueue": line.queue, "count": line.count,
        "requested": {name: quantity.canonical(name, value) for name, value in sorted(line.amounts.items())},
        "complete": line.complete, "oldest": _stamp(line.oldest), "new": line.new, "changed": line.changed, "move": line.move,
        "sentence": line.sentence, "about": line.about,
        "next": {"do": line.step.do, "command": line.step.command} if line.step is not None else None,
        "notNamed": line.hidden,
        "jobs": [
            {"job": item.name, "since": _stamp(item.since), "change": item.change or None, "was": item.was or None}
            for item in line.items
        ],
    }  # fmt: skip


def _stamp(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment is not None else None


# --- Slack ---


@dataclass(frozen=True, slots=True)
class Owners:
    """Whom to mention per ClusterQueue: Slack user group ids. Empty in quiet hours."""

    groups: Mapping[str, str] = field(default_factory=dict)

    def mention(self, line: Line) -> str:
        """Give the mention for a line that is new or has changed, "" otherwise."""
        group = self.groups.get(line.queue, "")
        return f" <!subteam^{group}>" if group and (line.new or line.changed) and line.category != "waiting" else ""


def root(view: View) -> Message:
    """Give the message that stands in the channel: one line for each group."""
    blocks: list[Block] = [_header(view.name or "What is pending")]
    if view.missing:
        told = limits.fit([f"• {words.escape(text)}" for text in view.missing], 1_500)
        blocks.append(_section(f"*Incomplete: not everything could be read.*\n{told}"))
    rows = [f"*{TITLES[category]}*: {words.escape(facts(view.of(category), view))}" for category in view.categories]
    if not rows and not view.missing:
        rows = [words.escape(headline(view))]
    if view.gone_by:
        rows.append(f"*Cleared*: {words.escape(_cleared(view))}")
    if rows:
        blocks.append(_section("\n".join(rows)))
    notes = [f"As of {words.clock(view.observed_at)}", f"{workloads(view.seen)} looked at"]
    if view.cluster:
        notes.insert(0, view.cluster)
    if view.last is not None:
        notes.append(f"compared with {view.last:%Y-%m-%d %H:%M} UTC")
    if view.young:
        notes.append(f"{workloads(view.young)} younger than {words.duration(view.minimum_age)} left out")
    blocks.append(_context(" · ".join(notes)))
    if view.beside:
        more = f"; {len(view.beside) - BESIDE} more" if len(view.beside) > BESIDE else ""
        told = words.shorten("; ".join(view.beside[:BESIDE]), 600)
        blocks.append(_context(words.escape(f"Not checked, so some causes may be told less exactly: {told}{more}")))
    if view.notes:
        blocks.append(_context(words.escape(" ".join(view.notes))))
    return Message(words.shorten(words.escape(headline(view)), limits.TEXT_ADVICE), blocks)


def replies(view: View, owners: Owners | None = None) -> list[Message]:
    """Give the replies for the thread: for each group its causes and queues, what was found and what to do."""
    return [_reply(view, category, owners or Owners()) for category in view.categories][:REPLIES]


def _reply(view: View, category: Category, owners: Owners) -> Message:
    lines = view.of(category)
    heading = f"*{TITLES[category]}*: {words.escape(facts(lines, view))}"
    causes = by_cause(lines)
    blocks: list[Block] = [_section(heading)]
    size, shown = len(heading), 0
    for cause in causes[: limits.CARD_BLOCKS - 3]:
        body = _body(cause, view, owners)
        if size + len(body) > REPLY_CHARACTERS and shown:
            break
        blocks.append(_section(body))
        size, shown = size + len(body), shown + 1
    if shown < len(causes):
        left = [line for cause in causes[shown:] for line in cause]
        more = f"{words.plural(len(causes) - shown, 'more cause')}: {facts(left, view)}"
        blocks.append(_context(words.escape(more) + _mentions(left, owners)))
    text = f"{TITLES[category]}: {facts(lines, view)}. " + " ".join(
        f"{cause[0].title}: {workloads(sum(line.count for line in cause))}." for cause in causes
    )
    return Message(words.shorten(words.escape(text), limits.TEXT_ADVICE), blocks)


def _mentions(lines: Iterable[Line], owners: Owners) -> str:
    found = [mention for mention in dict.fromkeys(owners.mention(line) for line in lines) if mention]
    return "".join(found[:MENTIONS])


def _body(lines: list[Line], view: View, owners: Owners) -> str:
    """Give one cause: what it is, what was found about the oldest, what to do, and its queues, oldest first."""
    # whoever is mentioned stands in the first line, which is never left out
    parts = [f"*{words.escape(lines[0].title)}*: {words.escape(facts(lines, view))}{_mentions(lines, owners)}"]
    told = next((line for line in lines if line.sentence), None)
    if told is not None:
        parts.append(f"> {words.escape(words.shorten(f'{told.about}: {told.sentence}', SENTENCE))}")
        if told.step is not None and told.move != "nobody":
            parts.append(words.escape(words.shorten(f"{_move(told)}{told.step.do}", STEP)))
    rows = [_row(line, view, alone=len(lines) == 1) for line in lines[:ROWS]]
    left = lines[ROWS:]
    if left:
        rows.append(f"{words.plural(len(left), 'more ClusterQueue')}: {words.escape(facts(left, view))}")
    return limits.fit([*parts, *rows], limits.SECTION - 200, more="{} more lines")


def _row(line: Line, view: View, *, alone: bool) -> str:
    hidden = line.queue.startswith("another ")
    queue = words.code(line.queue) if line.queue and not hidden else words.escape(line.queue or "no ClusterQueue")
    numbers = "" if alone else f" {words.escape(facts([line], view))}"
    listed = [
        words.escape(_named(item, view.observed_at)) for item in line.items[: EXAMPLES_IN_ROW if not alone else None]
    ]
    rest = _rest(replace(line, items=line.items[: len(listed)]))
    named = " and ".join(part for part in (", ".join(listed), rest) if part)
    return f"• {queue}{numbers}: {named}" if named else f"• {queue}{numbers}"


def needs_tail(view: View) -> bool:
    """Say whether the messages leave anything out that the file then holds."""
    for category in view.categories:
        causes = by_cause(view.of(category))
        if len(causes) > limits.CARD_BLOCKS - 3:
            return True
        for lines in causes:
            most = EXAMPLES_IN_ROW if len(lines) > 1 else len(lines[0].items)
            if len(lines) > ROWS or any(line.count - line.hidden > most for line in lines):
                return True
    return False


def _header(title: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": words.shorten(words.plain(title), limits.HEADER)}}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words.shorten(text, limits.SECTION)}}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": words.shorten(text, limits.CONTEXT_TEXT)}]}


def sections(message: Message) -> Message:
    """Give a plainer form of a message: its sections alone."""
    return Message(message.text, [block for block in message.blocks if block["type"] == "section"])


def forms(message: Message) -> list[Message]:
    """Give a message's forms, richest first."""
    return [message, sections(message), Message(message.text)]


def none_any_more(category: str) -> Message:
    """Say that a group in which there was something has nothing in it any more."""
    title = next(title for known, title in TITLES.items() if known == category)
    return Message(f"{title}: none any more", [_section(f"*{title}*: none any more")])


def not_all(errors: Sequence[str], again: str = "whypending digest") -> Message:
    """Say that a part of the digest did not arrive, and the command that shows all of it."""
    why = (
        "the bot lacks the scope files:write"
        if set(errors) == {"missing_scope"}
        else f"Slack said {words.listed(list(errors))}"
    )
    text = f"Not all of this arrived here ({words.escape(why)}). All of it: {words.code(again)}"
    return Message(text, [_context(text)])
