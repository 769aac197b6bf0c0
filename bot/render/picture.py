"""Pictures of queues and of what is pending over time, drawn with pillow and its own font (extra `pictures`).

On a light card with its own border, so that it reads in light and dark themes, and in letters that a phone shows large
enough. Whatever a picture says stands in words beside it, too: every picture comes with its description.
"""

import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.core.digest_view import title
from bot.core.queue_view import QueueReport, Row, Use, main_rows
from bot.render import words

WIDTH = 1000
_EDGE, _LINE = 36, 40
_PAPER, _INK, _SOFT, _TRACK, _BORDER = "#ffffff", "#1d1c1d", "#5c5c61", "#e4e6eb", "#c9ccd3"
_USED, _BORROWED, _ASKED = "#1264a3", "#7a4fb5", "#b35900"
_SERIES = ("#1264a3", "#b35900", "#7a4fb5", "#2b7a3f", "#a01f4d")
_MARKS = ("circle", "square", "triangle", "diamond", "cross")
MEMBERS = 6
"""ClusterQueues of one cohort that are drawn; the others are counted."""
QUEUES = 8
SERIES = 5
POINTS = 30


class MissingPillowError(RuntimeError):
    """Pictures need the extra `pictures`; the text says how to get it."""


class _Card:
    """A card that grows downwards."""

    def __init__(self, height: int) -> None:
        try:
            from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise MissingPillowError(
                "pictures need the extra `pictures`: pip install 'whypending[pictures]'"
            ) from error
        self.image = Image.new("RGB", (WIDTH, height), _PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self._load = ImageFont.load_default
        self._fonts: dict[int, Any] = {}
        self.y = _EDGE

    def font(self, size: int) -> Any:  # noqa: ANN401 - one of two classes of pillow
        if size not in self._fonts:
            self._fonts[size] = self._load(size)
        return self._fonts[size]

    def wide(self, text: str, size: int) -> float:
        return float(self.draw.textlength(text, font=self.font(size)))

    def text(self, x: float, text: str, size: int = 26, colour: str = _INK, *, most: float = WIDTH - 2 * _EDGE) -> None:
        """Write one line, cut with "…" where it is wider than `most`."""
        shown = text
        while shown and self.wide(shown, size) > most:
            shown = shown[:-2].rstrip("…") + "…"
        self.draw.text((x, self.y), shown, fill=colour, font=self.font(size))

    def heading(self, text: str) -> None:
        self.text(_EDGE, text, 32)
        self.y += 50

    def done(self) -> bytes:
        """Cut it below what was drawn and give it as PNG."""
        height = int(self.y) + _EDGE // 2
        cut = self.image.crop((0, 0, WIDTH, height))
        from PIL import ImageDraw  # noqa: PLC0415 - as above

        ImageDraw.Draw(cut).rectangle((0, 0, WIDTH - 1, height - 1), outline=_BORDER, width=3)
        written = io.BytesIO()
        cut.save(written, "PNG", optimize=True)
        return written.getvalue()


def of_queue(queue: QueueReport) -> bytes:
    """Draw a ClusterQueue's quota with the cohorts above it, as PNG. Raises MissingPillowError."""
    rows = main_rows(queue.rows)
    card = _Card(4000)
    card.heading(f"ClusterQueue {queue.name}")
    if not rows:
        card.text(_EDGE, "Its quota was not read.", colour=_SOFT)
        card.y += _LINE
    for row in rows:
        _bar(card, f"{row.resource} in flavor {row.flavor}", row)
    _legend(card, asked=any(row.asked for row in rows), borrowed=any(row.borrowed for row in rows))
    if rows and queue.levels:
        _tree(card, queue, (rows[0].flavor, rows[0].resource))
    return card.done()


def _bar(card: _Card, label: str, row: Row, *, x: float = _EDGE, asked: bool = True) -> None:
    """Draw one bar: quota as the track, what is used on it, what is borrowed beyond it, what is asked for behind it.

    The row must be known.
    """
    wide = WIDTH - _EDGE - x
    wanted = row.asked if asked else 0
    nominal, used, borrowed = row.nominal or 0, row.used or 0, row.borrowed or 0
    whole = max(nominal + borrowed, used) + wanted or 1
    parts = [f"{words.amount(row.resource, used)} in use of a quota of {words.amount(row.resource, nominal)}"]
    if borrowed:
        parts.append(f"{words.amount(row.resource, borrowed)} borrowed")
    if wanted:
        parts.append(f"{words.amount(row.resource, wanted)} asked for")
    card.text(x, label, 26, most=wide)
    card.y += 34
    card.text(x, ", ".join(parts), 24, _SOFT, most=wide)
    card.y += 36
    scale = wide / whole
    top, bottom = card.y, card.y + 32
    own = min(used, nominal)
    card.draw.rectangle((x, top, x + nominal * scale, bottom), fill=_TRACK, outline=_SOFT, width=2)
    if own:
        card.draw.rectangle((x, top, x + max(4.0, own * scale), bottom), fill=_USED)
    if borrowed:
        start = x + nominal * scale
        _hatched(card, start, start + borrowed * scale, (top, bottom))
    if wanted:
        start = x + max(nominal, used) * scale
        card.draw.rectangle((start + 2, top, start + max(6.0, wanted * scale), bottom), outline=_ASKED, width=4)
    card.y += 56


def _hatched(card: _Card, left: float, right: float, within: tuple[float, float]) -> None:
    """Fill with stripes, so that it is told from plain without colour."""
    top, bottom = within
    card.draw.rectangle((left, top, right, bottom), outline=_BORROWED, width=3)
    at = left
    while at < right:
        end = min(right, at + (bottom - top))
        card.draw.line((at, bottom, end, bottom - (end - at)), fill=_BORROWED, width=3)
        at += 12


def _legend(card: _Card, *, asked: bool, borrowed: bool) -> None:
    at: float = _EDGE
    entries = [("in use", _USED, "full"), ("free", _TRACK, "full")]
    entries += [("borrowed", _BORROWED, "hatched")] if borrowed else []
    entries += [("asked for", _ASKED, "outlined")] if asked else []
    for name, colour, form in entries:
        box = (at, card.y + 3, at + 26, card.y + 25)
        if form == "hatched":
            _hatched(card, at, at + 26, (card.y + 3, card.y + 25))
        elif form == "outlined":
            card.draw.rectangle(box, outline=colour, width=4)
        else:
            card.draw.rectangle(box, fill=colour, outline=_SOFT, width=1)
        card.text(at + 36, name, 24, _SOFT)
        at += 36 + card.wide(name, 24) + 40
    card.y += 48


def _tree(card: _Card, queue: QueueReport, key: tuple[str, str]) -> None:
    """Draw the cohorts above the queue, nearest first, each with its other ClusterQueues."""
    drawn: set[str] = set()
    for depth, level in enumerate(queue.levels):
        members = [(name, use[key]) for name, use in level.members if key in use and name not in drawn]
        drawn |= {name for name, _ in level.members}
        card.y += 10
        x = _EDGE + depth * 40
        above = f", below {queue.levels[depth + 1].cohort}" if depth + 1 < len(queue.levels) else ""
        card.text(x, f"Cohort {level.cohort}{above}: {key[1]} of the others", 28)
        card.y += 46
        if not members:
            card.text(x + 40, "no other ClusterQueue has any", 24, _SOFT)
            card.y += _LINE
        for name, (nominal, used) in sorted(members, key=lambda member: (-member[1][1], member[0]))[:MEMBERS]:
            card.draw.line((x + 12, card.y + 16, x + 34, card.y + 16), fill=_BORDER, width=3)
            _bar(card, name, Row(*key, nominal, used, None, None, 0), x=x + 44, asked=False)
        if len(members) > MEMBERS:
            card.text(x + 44, f"{len(members) - MEMBERS} more ClusterQueues", 24, _SOFT)
            card.y += _LINE


# --- digests ---


def of_digest(uses: Sequence[Use], history: Sequence[tuple[datetime, Mapping[str, int]]]) -> bytes:
    """Draw the queues of a digest, and how many were pending by cause over the last ones. Raises MissingPillowError."""
    card = _Card(6000)
    if uses:
        card.heading("Quota of the queues")
        for name, row in uses[:QUEUES]:
            _bar(card, f"{name}: {row.resource} in flavor {row.flavor}", row)
        if len(uses) > QUEUES:
            card.text(_EDGE, f"{len(uses) - QUEUES} more ClusterQueues", 24, _SOFT)
            card.y += _LINE
        _legend(card, asked=any(row.asked for _, row in uses), borrowed=any(row.borrowed for _, row in uses))
    if len(history) > 1:
        card.heading("Pending by cause, over the last digests")
        _lines(card, history[-POINTS:])
    elif not uses:
        card.text(_EDGE, "Nothing to draw.", colour=_SOFT)
        card.y += _LINE
    return card.done()


def series(history: Sequence[tuple[datetime, Mapping[str, int]]]) -> list[tuple[str, list[int]]]:
    """Give the causes with their counts over time, the most frequent first; those beyond five are one line."""
    total: dict[str, int] = {}
    for _, counts in history:
        for rule, count in counts.items():
            total[rule] = max(total.get(rule, 0), count)
    ordered = sorted(total, key=lambda rule: (-total[rule], rule))
    own = ordered if len(ordered) <= SERIES else ordered[: SERIES - 1]
    found = [(rule, [counts.get(rule, 0) for _, counts in history]) for rule in own]
    if rest := ordered[len(own) :]:
        found.append(
            (f"{len(rest)} other causes", [sum(counts.get(rule, 0) for rule in rest) for _, counts in history])
        )
    return found


def _lines(card: _Card, history: Sequence[tuple[datetime, Mapping[str, int]]]) -> None:
    shown = series(history)
    most = max((max(values) for _, values in shown), default=0) or 1
    left, right, top, height = _EDGE + 70, WIDTH - _EDGE - 20, card.y + 10, 300
    step = (right - left) / (len(history) - 1)
    for part in (0, 0.5, 1):
        y = top + height * (1 - part)
        card.draw.line((left, y, right, y), fill=_TRACK, width=2)
        label = f"{round(most * part):,}"
        card.draw.text((left - 14 - card.wide(label, 24), y - 14), label, fill=_SOFT, font=card.font(24))
    for at, (_, values) in enumerate(shown):
        points = [(left + n * step, top + height * (1 - value / most)) for n, value in enumerate(values)]
        card.draw.line(points, fill=_SERIES[at], width=5, joint="curve")
        for point in points:
            _mark(card, point, _MARKS[at], _SERIES[at])
    card.y = int(top + height + 16)
    first, last = history[0][0], history[-1][0]
    card.text(left, f"{first:%d %b %H:%M}", 24, _SOFT)
    end = f"{last:%d %b %H:%M} UTC"
    card.text(right - card.wide(end, 24), end, 24, _SOFT)
    card.y += 48
    for at, (rule, values) in enumerate(shown):
        _mark(card, (_EDGE + 14, card.y + 16), _MARKS[at], _SERIES[at])
        card.text(
            _EDGE + 40, f"{title(rule)}: {values[-1]:,} now, {max(values):,} at most", 24, most=WIDTH - 2 * _EDGE - 40
        )
        card.y += _LINE


def _mark(card: _Card, at: tuple[float, float], form: str, colour: str) -> None:
    x, y = at
    size = 8
    if form == "circle":
        card.draw.ellipse((x - size, y - size, x + size, y + size), fill=colour)
    elif form == "square":
        card.draw.rectangle((x - size, y - size, x + size, y + size), fill=colour)
    elif form == "triangle":
        card.draw.polygon([(x, y - size - 2), (x - size - 1, y + size), (x + size + 1, y + size)], fill=colour)
    elif form == "diamond":
        card.draw.polygon([(x, y - size - 3), (x + size + 3, y), (x, y + size + 3), (x - size - 3, y)], fill=colour)
    else:
        card.draw.line((x - size, y - size, x + size, y + size), fill=colour, width=5)
        card.draw.line((x - size, y + size, x + size, y - size), fill=colour, width=5)


def described(uses: Sequence[Use], history: Sequence[tuple[datetime, Mapping[str, int]]]) -> str:
    """Say in words what the picture of a digest shows."""
    parts = []
    for name, row in uses[:QUEUES]:
        asked = f", {words.amount(row.resource, row.asked)} asked for" if row.asked else ""
        borrowed = f", {words.amount(row.resource, row.borrowed)} borrowed" if row.borrowed else ""
        used, nominal = words.amount(row.resource, row.used), words.amount(row.resource, row.nominal)
        parts.append(f"{name}: {used} of {nominal} {row.resource} in use{borrowed}{asked}")
    if len(uses) > QUEUES:
        parts.append(f"{len(uses) - QUEUES} more ClusterQueues")
    if len(history) > 1:
        parts += [f"{title(rule)}: {values[0]:,} pending first, {values[-1]:,} now" for rule, values in series(history)]
    return words.shorten(". ".join(parts) or "Nothing to draw", 1_900)
