"""A ClusterQueue from its own side as text, as JSON and as Slack messages. The view must have been disclosed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.core import quantity
from bot.core.digest_view import View
from bot.core.queue_view import Change, Held, QueueReport, Row
from bot.render import digest, limits, terminal, words
from bot.render.card import Message
from bot.render.limits import Block

HOLDERS = 5
_COLUMNS = ("FLAVOR", "RESOURCE", "QUOTA", "IN USE", "BORROWED", "FREE NOW", "CEILING", "ASKED")
_NUMBERS = frozenset(range(2, 8))


def headline(queue: QueueReport, view: View) -> str:
    """Give the whole of it in two sentences: who waits, and the one change that would admit most."""
    if not queue.rows and queue.unknown:
        near = f" Did you mean {' or '.join(queue.suggestions)}?" if queue.suggestions else ""
        return f"ClusterQueue {queue.name}: {queue.unknown}.{near}"
    state = "" if queue.active is not False else f" is not active ({queue.state.rstrip('.')});"
    waiting = digest.workloads(queue.waiting)
    verb = "waits" if queue.waiting == 1 else "wait"
    others = view.stuck + view.waiting - queue.waiting
    stuck = f", {others} more {'is' if others == 1 else 'are'} pending for other reasons" if others > 0 else ""
    incomplete = " Not everything was read." if view.missing else ""
    if not queue.waiting:
        return f"ClusterQueue {queue.name}:{state} nobody waits for its quota{stuck}.{incomplete}"
    return f"ClusterQueue {queue.name}:{state} {waiting} {verb} for its quota{stuck}. {best(queue)}{incomplete}"


def best(queue: QueueReport) -> str:
    """Say which one change would admit most."""
    if queue.unknown:
        return f"Which change would admit most could not be worked out ({queue.unknown})."
    if not queue.changes:
        more = f" {_fit(queue)} now without any." if queue.fits_now else ""
        return f"No single change of quota or limits would admit any of them.{more}"
    first = queue.changes[0]
    now = f", of which {_fit(queue, bare=True)} now anyway" if queue.fits_now else ""
    return f"{first.do}: that admits {first.admits} of {_looked(queue)}{now}."


def _fit(queue: QueueReport, *, bare: bool = False) -> str:
    verb = "fits" if queue.fits_now == 1 else "fit"
    return f"{queue.fits_now} {verb}" if bare else f"{digest.workloads(queue.fits_now)} {verb}"


def _looked(queue: QueueReport) -> str:
    return f"the first {queue.looked_at} of them" if queue.looked_at < queue.waiting else str(queue.looked_at)


def _amount(resource: str, value: int | None) -> str:
    return words.amount(resource, value)


def _cells(row: Row) -> tuple[str, ...]:
    amounts = (row.nominal, row.used, row.borrowed, row.available, row.capacity, row.asked)
    return (row.flavor, row.resource, *(_amount(row.resource, value) for value in amounts))


def asked_rows(queue: QueueReport) -> tuple[Row, ...]:
    """Give the rows that matter: of resources that are in use or asked for; all of them when none is."""
    return tuple(row for row in queue.rows if row.used != 0 or row.asked) or queue.rows


def _held(held: Held) -> str:
    parts = [
        f"{quantity.human(key[1], value)} {key[1]} of {key[0]}" for key, value in sorted(held.amounts.items()) if value
    ]
    devices = [part for part in parts if "/" in part.split(" of ")[0]]
    return words.listed(devices or parts, 2)


def holders(queue: QueueReport, sees: Mapping[str, bool]) -> list[str]:
    """Give who holds the quota, largest first; of namespaces that may not be seen a count."""
    shown = [held for held in queue.holders if sees.get(held.namespace, False)]
    kind_name = [f"{h.job.replace('/', ' ' + h.namespace + '/', 1)}: {_held(h)}" for h in shown[:HOLDERS]]
    more = len(shown) - HOLDERS
    if more > 0:
        kind_name.append(f"{more} more")
    hidden = [held for held in queue.holders if not sees.get(held.namespace, False)]
    if hidden:
        places = len({held.namespace for held in hidden})
        where = "another namespace" if places == 1 else f"{places} other namespaces"
        kind_name.append(f"{digest.workloads(len(hidden))} in {where}")
    if queue.held_by_others:
        kind_name.append("there are more, which were not read")
    return kind_name


# --- text ---


def text(
    queue: QueueReport, view: View, sees: Mapping[str, bool], width: int | None = None, *, colour: bool = False
) -> str:
    """Give the view as text with a final newline."""
    page = terminal.Page(width, colour=colour)
    page.text(headline(queue, view), style=terminal.BOLD)
    for missing in view.missing:
        page.text(f"Not read: {missing}", "  - ")
    if queue.rows:
        path = f", in cohort {' below '.join(queue.path)}" if queue.path else ", in no cohort"
        page.text(f"{queue.strategy}{path}: {queue.state}")
        page.heading("Quota")
        rows = [_cells(row) for row in asked_rows(queue)]
        if not page.table([_COLUMNS, *rows], _NUMBERS):
            for cells in rows:
                page.text(
                    f"{cells[0]}, {cells[1]}: "
                    + ", ".join(f"{name.lower()} {cell}" for name, cell in zip(_COLUMNS[2:], cells[2:], strict=True)),
                    "  ",
                    "    ",
                )
    held = holders(queue, sees)
    if held:
        page.heading("Who holds it")
        for line in held:
            page.text(line, "  ", "    ")
    if queue.changes:
        page.heading("What would admit more")
        for change in queue.changes[:4]:
            page.text(_change(change, queue), "  - ", "    ")
    for category in view.categories:
        lines = view.of(category)
        page.heading(f"{digest.TITLES[category]}: {digest.facts(lines, view)}")
        for cause in digest.by_cause(lines):
            digest.cause_text(page, cause, view)
    page.lines.append("")
    page.text(f"As of {words.clock(view.observed_at)}", style=terminal.DIM)
    return "\n".join(page.lines) + "\n"


def _change(change: Change, queue: QueueReport) -> str:
    return f"{change.do}: admits {change.admits} of {_looked(queue)}"


# --- JSON ---


def to_json(queue: QueueReport, view: View, sees: Mapping[str, bool]) -> str:
    """Give the view as JSON; fields are added within v1, never renamed or dropped."""
    return json.dumps(document(queue, view, sees), indent=2) + "\n"


def document(queue: QueueReport, view: View, sees: Mapping[str, bool]) -> dict[str, Any]:
    """Give the view as plain data."""
    canonical = quantity.canonical
    return {
        "version": "v1", "clusterQueue": queue.name, "exists": queue.exists, "active": queue.active, "state": queue.state,
        "queueingStrategy": queue.strategy, "cohorts": list(queue.path), "suggestions": list(queue.suggestions),
        "quota": [
            {
                "flavor": row.flavor, "resource": row.resource,
                **{
                    name: None if value is None else canonical(row.resource, value)
                    for name, value in (
                        ("nominal", row.nominal), ("used", row.used), ("borrowed", row.borrowed),
                        ("available", row.available), ("capacity", row.capacity), ("asked", row.asked),
                    )
                },
            }
            for row in queue.rows
        ],
        "holders": [
            {"namespace": h.namespace, "job": h.job,
             "holds": {f"{key[0]}/{key[1]}": canonical(key[1], value) for key, value in sorted(h.amounts.items())}}
            for h in queue.holders if sees.get(h.namespace, False)
        ],
        "holdersNotNamed": sum(not sees.get(h.namespace, False) for h in queue.holders),
        "holdersComplete": not queue.held_by_others,
        "waiting": queue.waiting, "fitsNow": queue.fits_now, "lookedAt": queue.looked_at,
        "changes": [
            {"kind": change.kind, "do": change.do, "admits": change.admits, "more": change.more} for change in queue.changes
        ],
        "unknown": queue.unknown or None,
        "pending": digest.document(view),
    }  # fmt: skip


# --- Slack ---


def root(queue: QueueReport, view: View) -> Message:
    """Give the message that stands in the channel."""
    blocks = [_section(f"*ClusterQueue* {words.code(queue.name)}\n{words.escape(headline(queue, view))}")]
    if view.missing:
        blocks.append(_section("*Incomplete.* " + words.escape(f"Not read: {words.listed(list(view.missing), 2)}")))
    return Message(words.shorten(words.escape(headline(queue, view)), limits.TEXT_ADVICE), blocks)


def replies(queue: QueueReport, view: View, sees: Mapping[str, bool]) -> list[Message]:
    """Give the replies for the thread: the quota with who holds it and what would help, then who waits on what."""
    if not queue.rows:
        return []
    bars = [_bar(row) for row in asked_rows(queue)]
    path = f"cohort {' below '.join(queue.path)}" if queue.path else "no cohort"
    parts = [f"*Quota* of {words.code(queue.name)} · {words.escape(f'{queue.strategy} · {path}')}", *bars]
    blocks = [_section(limits.fit(parts, limits.SECTION - 200))]
    if held := holders(queue, sees):
        blocks.append(
            _section(
                limits.fit(["*Who holds it*", *(f"• {words.escape(line)}" for line in held)], limits.SECTION - 200)
            )
        )
    if queue.changes:
        told = [f"• {words.escape(_change(change, queue))}" for change in queue.changes[:4]]
        blocks.append(_section(limits.fit(["*What would admit more*", *told], limits.SECTION - 200)))
    first = f"{queue.name}: " + "; ".join(_said(row) for row in asked_rows(queue)[:6])
    return [Message(words.shorten(words.escape(first), limits.TEXT_ADVICE), blocks), *digest.replies(view)]


def _bar(row: Row) -> str:
    if row.nominal is None or row.used is None:
        return words.escape(_said(row))
    return f"`{words.bar(row.used, max(row.nominal, row.used))}` {words.escape(_said(row))}"


def _said(row: Row) -> str:
    borrowed = f", {_amount(row.resource, row.borrowed)} of them borrowed" if row.borrowed else ""
    free = f"{_amount(row.resource, row.available)} free now" if row.available is not None else "free now: not known"
    quota = _amount(row.resource, row.nominal)
    used = (
        f"{_amount(row.resource, row.used)} of {quota} in use"
        if row.used is not None
        else f"{quota}, in use: not known"
    )
    asked = f", {_amount(row.resource, row.asked)} asked for" if row.asked else ""
    return f"{row.resource} of {row.flavor}: {used}{borrowed}, {free}{asked}"


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words.shorten(text, limits.SECTION)}}


def described(queue: QueueReport, rows: Sequence[Row]) -> str:
    """Say in words what the picture of the queue shows."""
    return f"Quota of ClusterQueue {queue.name}: " + "; ".join(_said(row) for row in rows)
