"""The rules' documentation, all of it from their docstrings: `whypending rules`, and the table in the README."""

import difflib
import textwrap

from bot.core.rule import Rule
from bot.core.rules import RULES

_MOVES = {"asker": "submitter", "queue-admin": "queue admin", "platform": "platform", "nobody": "nobody"}


class UnknownRuleError(ValueError):
    """There is no rule of this name. The message names close ones."""


def place(rule: Rule) -> str:
    """Give where a rule stands: its stage, "context", or "last" for what is asked when nothing else fired."""
    return (
        "context" if rule.context else "last" if rule.fallback or (rule.last and rule.stage == "quota") else rule.stage
    )


def table() -> str:
    """Give all rules as aligned text, in the order in which the engine asks them."""
    rows = [("RULE", "STAGE", "MOVE", "TITLE")]
    rows += [(rule.slug, place(rule), _MOVES[rule.move], rule.title) for rule in RULES]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(size) for cell, size in zip(row, widths, strict=False)), row[3]]).rstrip()
        for row in rows
    )


def markdown() -> str:
    """Give all rules as a Markdown table, in the order in which the engine asks them."""
    lines = ["| Rule | Stage | Whose move | In words |", "|---|---|---|---|"]
    for rule in RULES:
        title = rule.title.replace("|", "\\|")
        lines.append(f"| `{rule.slug}` | {place(rule)} | {_MOVES[rule.move]} | {title} |")
    return "\n".join(lines)


def page(slug: str, width: int = 80) -> str:
    """Give the whole documentation of one rule as text.

    Raises UnknownRuleError when there is no such rule.
    """
    rule = next((rule for rule in RULES if rule.slug == slug.strip().lower().replace("_", "-")), None)
    if rule is None:
        close = difflib.get_close_matches(slug, [rule.slug for rule in RULES], n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else "`whypending rules` lists them all"
        msg = f"there is no rule {slug!r}; {hint}"
        raise UnknownRuleError(msg)
    body = _filled(rule.doc.partition("\n")[2].strip("\n"), width)
    foot = f"Stage: {place(rule)}. Whose move: {_MOVES[rule.move]}. Outlook: {rule.outlook}."
    if rule.needs:
        foot += f" Must be readable: {', '.join(rule.needs)}."
    return f"{rule.slug}: {rule.title}\n\n{body}\n\n{textwrap.fill(foot, width)}"


def _filled(text: str, width: int) -> str:
    """Fill each paragraph to the width; headings, list items and deeper lines start lines of their own."""
    lines: list[str] = []
    for line in text.splitlines():
        margin = len(line) - len(line.lstrip())
        last = lines[-1] if lines else ""
        same = margin == len(last) - len(last.lstrip())
        if (
            lines
            and line.strip()
            and last.strip()
            and same
            and not line.lstrip().startswith(("- ", "* ", "`"))
            and margin
        ):
            lines[-1] = f"{last} {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(_fill(line, width) for line in lines)


def _fill(line: str, width: int) -> str:
    margin = " " * (len(line) - len(line.lstrip()))
    after = margin + ("  " if line.lstrip().startswith(("- ", "* ")) else "")
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=margin,
        subsequent_indent=after,
        break_long_words=False,
        break_on_hyphens=False,
    )
