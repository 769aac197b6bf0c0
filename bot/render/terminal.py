"""The answer as text for a terminal: headline, proof, path, next steps, what else is true, what was not checked.

Written without a terminal library: importing one costs more than everything else that `explain -f` does. A width of None
means that nobody looks at it line by line (a pipe, a file): nothing is wrapped or cut then. Commands are never wrapped,
so that they can be copied. Nothing is said by colour alone. The answer must have been disclosed.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.core.diagnosis import Diagnosis, Finding, Outlook
from bot.core.names import clean
from bot.render import words

BOLD, DIM, _RED, _YELLOW, _GREEN, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"
_COLOURS: dict[Outlook, str] = {
    "never-as-written": _RED,
    "fix": _RED,
    "unknown": _YELLOW,
    "running": _GREEN,
    "finished": _GREEN,
}
"""Only what is broken or good is coloured; waiting its turn is normal."""

_LEAST = 30
_COLUMNS = ("FLAVOR", "RESOURCE", "ASKED", "FREE NOW", "CEILING", "SHORT", "VERDICT")
_NUMBERS = frozenset({2, 3, 4, 5})


def render(answer: Diagnosis, width: int | None = None, *, colour: bool = False, site: Sequence[str] = ()) -> str:
    """Give the answer as text with a final newline, for a terminal of so many columns; `site` is what a site adds."""
    page = Page(None if width is None else max(_LEAST, width), colour=colour)
    _headline(page, answer)
    _quota(page, answer)
    _chain(page, answer)
    _steps(page, answer)
    if site:
        page.heading("At this site")
        for line in site:
            page.text(line, "  ")
    _others(page, answer)
    _because(page, answer)
    _findings(page, "Also true", answer.also)
    _findings(page, "Good to know", answer.context)
    _said(page, answer)
    _not_checked(page, answer)
    _as_of(page, answer)
    return "\n".join(page.lines) + "\n"


class Page:
    """Lines of text within a width."""

    def __init__(self, width: int | None = None, *, colour: bool = False) -> None:
        """Start with none; without a width nothing is wrapped."""
        self.width = width
        self.colour = colour
        self.lines: list[str] = []

    def styled(self, text: str, style: str) -> str:
        """Give a text in a style, where colour is wanted."""
        return f"{style}{text}{_RESET}" if self.colour and style and text else text

    def heading(self, text: str) -> None:
        """Add an empty line and a heading."""
        self.lines += ["", self.styled(text, BOLD)]

    def text(self, text: str, first: str = "", then: str | None = None, style: str = "") -> None:
        """Add a paragraph; `first` stands before its first line and `then` before the others."""
        then = " " * len(first) if then is None else then
        text = " ".join(clean(text).split())
        self.lines += [self.styled(line, style) for line in _wrap(text, self.width, first, then)]

    def verbatim(self, text: str, before: str) -> None:
        """Add a line that is never wrapped."""
        self.lines.append(before + " ".join(clean(text).split("\n")))

    def table(self, rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> bool:
        """Add aligned columns; say False and add nothing when they do not fit into the width."""
        cells = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
        widths = [max(_cells(row[at]) for row in cells) for at in range(len(cells[0]))]
        if self.width is not None and sum(widths) + 2 * len(widths) > self.width:
            return False
        for row in cells:
            padded = [
                " " * (size - _cells(cell)) + cell if at in right else cell + " " * (size - _cells(cell))
                for at, (cell, size) in enumerate(zip(row, widths, strict=True))
            ]
            self.lines.append("  " + "  ".join(padded).rstrip())
        return True


def _cells(text: str) -> int:
    """Count the terminal columns of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def _wrap(text: str, width: int | None, first: str, then: str) -> Iterator[str]:
    """Wrap at blanks, and inside a word that is wider than a line; a wide character takes two columns."""
    if width is None:
        yield first + text
        return
    line, empty = first, True
    for word in text.split(" "):
        rest = word
        while rest:
            gap = "" if empty else " "
            room = width - _cells(line)
            # a word of more signs than there are columns is broken without being measured: it may be a whole log
            if len(rest) <= width and len(gap) + _cells(rest) <= room:
                line, empty, rest = line + gap + rest, False, ""
            elif not empty:
                yield line
                line, empty = then, True
            else:
                size, room = 1, room - _cells(rest[0])
                while size < len(rest) and (room := room - _cells(rest[size])) >= 0:
                    size += 1
                yield line + rest[:size]
                line, rest = then, rest[size:]
    if not empty or not text:
        yield line.rstrip() if empty else line


# --- the parts, from top to bottom ---


def _headline(page: Page, answer: Diagnosis) -> None:
    verdict = words.verdict(answer)
    page.text(f"{verdict}: {words.job_name(answer)}", style=BOLD + _COLOURS.get(answer.outlook, ""))
    page.text(answer.headline.sentence)
    move, where = words.whose_move(answer), words.boundary(answer)
    if move or where:
        page.lines.append("")
    if move:
        page.text(move, "Whose move:  ")
    if where:
        page.text(where, "Where:       ")
    if answer.pods is not None:
        pods = answer.pods
        told = f"{pods.running} of {pods.wanted} running, {pods.scheduled} scheduled, {pods.created} created"
        page.text(told, "Pods:        ")
    if answer.headline.certainty == "reported":
        page.text("reported by the cluster, not recomputed", "Certainty:   ")
    elif answer.headline.certainty == "likely":
        page.text("likely: inferred from what could be read", "Certainty:   ")


def _quota(page: Page, answer: Diagnosis) -> None:
    if not answer.quota:
        return
    page.heading("Quota")
    rows = [
        (
            f"{row.flavor}{words.pod_sets(row, answer.quota)}".lstrip(),
            row.resource,
            words.amount(row.resource, row.requested),
            words.amount(row.resource, row.available),
            words.amount(row.resource, row.capacity),
            words.amount(row.resource, row.short) if row.short is not None else "",
            words.row_verdict(replace(row, short=None)),
        )
        for row in answer.quota
    ]
    if not page.table([_COLUMNS, *rows], _NUMBERS):
        for row, (flavor, resource, asked, free, ceiling, _, _) in zip(answer.quota, rows, strict=True):
            verdict = words.row_verdict(row)
            page.text(
                f"{flavor}, {resource}: {verdict} (asked {asked}, free now {free}, ceiling {ceiling})", "  ", "    "
            )
    limits = dict.fromkeys(row.limit for row in answer.quota if row.limit and row.verdict in {"wait", "never"})
    if limits:
        page.text(f"What binds: {', '.join(str(limit) for limit in limits)}", "  ", "    ")


def _chain(page: Page, answer: Diagnosis) -> None:
    if not answer.chain:
        return
    page.heading("Path to admission")
    stops = words.stopping_row(answer)
    rows = [
        (row.kind, row.name or "(none)", row.state + (" <- it stops here" if at == stops else ""))
        for at, row in enumerate(answer.chain)
    ]
    if not page.table(rows):
        for kind, name, state in rows:
            page.text(f"{kind} {name}{f': {state}' if state else ''}", "  ", "    ")


def _steps(page: Page, answer: Diagnosis) -> None:
    steps = answer.headline.next
    if not steps:
        return
    page.heading("What to do")
    for at, step in enumerate(steps, 1):
        number = f"  {at}. " if len(steps) > 1 else "  "
        who = "" if step.move == "nobody" else f"{words.step_move(step.move)}: "
        page.text(f"{who}{step.do}", number)
        if step.command:
            page.verbatim(step.command, " " * len(number))


def _others(page: Page, answer: Diagnosis) -> None:
    if answer.holders:
        page.heading("Who holds it")
    for holder in answer.holders:
        since = f", for {words.duration((answer.observed_at - holder.since).total_seconds())}" if holder.since else ""
        held = f"{words.amount(holder.resource, holder.amount)} {holder.resource} of {holder.flavor}"
        space = f" in {holder.namespace}" if holder.namespace else ""
        page.text(f"{holder.job}{space}: {held}{since}", "  ", "    ")
    ahead = answer.ahead
    if ahead is None or (ahead.position is None and not ahead.jobs):
        return
    page.heading("In line")
    if ahead.position is not None:
        total = f" of {words.plural(ahead.total, 'waiting workload')}" if ahead.total is not None else ""
        page.text(f"{ahead.position} before it{total}" if ahead.position else f"first{total}", "  ")
    for job in ahead.jobs:
        space = f" in {job.namespace}" if job.namespace else ""
        page.text(f"{job.job}{space}{f': {job.why}' if job.why else ''}", "  ", "    ")


_SAYS = {"cluster": "", "kueue": " (Kueue's words)", "computed": " (computed)"}


def _because(page: Page, answer: Diagnosis) -> None:
    page.heading("Because")
    for proof in answer.headline.evidence:
        page.text(f"{proof.subject} {proof.field}: {proof.value}{_SAYS[proof.source]}", "  ", "    ")
    candidates = answer.headline.data.get("candidates")
    for entry in candidates if isinstance(candidates, list) else ():
        if isinstance(entry, dict):
            page.text(f"{entry.get('kind', '')}: {entry.get('rule', '')}; ask {entry.get('ask', '')}", "  ", "    ")


def _findings(page: Page, title: str, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    page.heading(title)
    for finding in findings:
        page.text(f"{finding.sentence} [{finding.rule}]", "  - ")


def _said(page: Page, answer: Diagnosis) -> None:
    said = answer.kueue_said
    if said is None or not said.text.strip():
        return
    seen = [moment for moment in (said.since, said.last_seen) if moment is not None]
    age = f" {words.ago(max(seen), answer.observed_at)}" if seen else ""
    page.heading(f"Kueue said{age}")
    page.text(f'"{said.text}"', "  ")


def _not_checked(page: Page, answer: Diagnosis) -> None:
    if not answer.not_checked:
        return
    page.heading("Could not check")
    by_reason: dict[str, list[str]] = {}
    for entry in answer.not_checked:
        by_reason.setdefault(entry.reason, []).append(entry.rule)
    for reason, rules in by_reason.items():
        page.text(f"{words.listed(rules, 4)}: {reason}", "  - ")
    if not answer.complete:
        page.text("The answer could change: something that comes before it was not read.", "  ")


def _as_of(page: Page, answer: Diagnosis) -> None:
    parts = [f"As of {words.clock(answer.observed_at)}", *words.older(answer)]
    if answer.versions.kueue:
        parts.append(f"Kueue {answer.versions.kueue}")
    if answer.versions.kubernetes:
        parts.append(f"Kubernetes {answer.versions.kubernetes}")
    if answer.withheld.namespaces:
        parts.append(f"names from {words.plural(answer.withheld.namespaces, 'other namespace')} withheld")
    parts.append(f"read as {answer.read_as}")
    parts.append(f"rule {answer.headline.rule}")
    page.lines.append("")
    page.text(", ".join(parts), style=DIM)
