"""Everything behind an answer, for a modal: each finding with its evidence, and what was not checked."""

from collections.abc import Iterable

from bot.core.diagnosis import Diagnosis, Evidence, Finding
from bot.render import limits, words
from bot.render.limits import Block
from bot.render.words import code, escape

TITLE = "Details"
_SOURCES = {"cluster": "read", "kueue": "Kueue's words", "computed": "computed"}
_EVIDENCE = 12


def blocks(answer: Diagnosis) -> list[Block]:
    """Give the blocks of a modal; the answer must have been disclosed."""
    parts = [*_findings(answer), *_not_checked(answer)]
    shown, dropped = limits.first(parts, limits.MODAL_BLOCKS - 3)
    if dropped:
        shown.append(_context(f"{dropped} more"))
    versions = [f"Kueue {answer.versions.kueue}"] if answer.versions.kueue else []
    foot = " · ".join([f"As of {words.clock(answer.observed_at)}", *words.older(answer), *map(escape, versions)])
    return [_section(f"*{escape(words.job_name(answer))}*"), *shown, _context(foot)]


def _findings(answer: Diagnosis) -> Iterable[Block]:
    for title, findings in (
        ("The cause", [answer.headline]),
        ("Also true", answer.also),
        ("Good to know", answer.context),
    ):
        for finding in findings:
            yield _section(_finding(title, finding))


def _finding(title: str, finding: Finding) -> str:
    head = f"*{title}*  {code(finding.rule)}  {finding.certainty}"
    lines = [head, escape(words.shorten(finding.sentence, 1_000))]
    lines += [f"• {_evidence(each)}" for each in finding.evidence[:_EVIDENCE]]
    if len(finding.evidence) > _EVIDENCE:
        lines.append(f"{len(finding.evidence) - _EVIDENCE} more")
    return limits.fit(lines, limits.SECTION)


def _evidence(each: Evidence) -> str:
    where = f"{code(words.middle(each.subject, 120))} {code(words.shorten(each.field, 160))}"
    return f"{where}: {escape(words.shorten(each.value, 300))} ({_SOURCES[each.source]})"


def _not_checked(answer: Diagnosis) -> Iterable[Block]:
    reasons: dict[str, list[str]] = {}
    for entry in answer.not_checked:
        reasons.setdefault(entry.reason, []).append(entry.rule)
    if reasons:
        lines = [
            f"• {escape(words.shorten(reason, 300))}: {', '.join(code(r) for r in rules)}"
            for reason, rules in reasons.items()
        ]
        yield _section(limits.fit(["*Not checked*", *lines], limits.SECTION))


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[: limits.SECTION], "verbatim": True}}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text[: limits.CONTEXT_TEXT]}]}
