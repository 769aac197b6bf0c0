"""The answer as a Slack message: a root message with the verdict, the card for its thread, and degraded forms.

Every form says the same in fewer blocks: `card`, then `sections` (plain sections alone), then `text_only`. `text` is
what a notification and a screen reader get: it holds the whole first sentence and the next step. The answer must have
been disclosed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bot.core.diagnosis import Diagnosis, Finding, Holder, Link, Step
from bot.render import limits, words
from bot.render.limits import Block
from bot.render.links import HEADLAMP, KUEUEVIZ
from bot.render.words import code, escape

REFRESH, WATCH, SHARE, DETAILS, OPEN = "refresh", "watch", "share", "details", "open"
"""Action ids; those of link buttons start with OPEN and a dash: Slack sends an action for them, too."""

BUTTONS = 5
"""As many stand on a card; what finds no room is a link in its text."""

_STEPS, _HOLDERS, _AHEAD, _ALSO, _ROWS, _UNCHECKED = 4, 4, 3, 3, 6, 3


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted: `text` for notifications and screen readers, `blocks` for the rest. Both are ready to be sent."""

    text: str
    blocks: list[Block] = field(default_factory=list)


def root(answer: Diagnosis) -> Message:
    """Give the channel's message, the verdict in a line; the card stands in its thread."""
    path = _path(answer)
    where = code(words.middle(f"{answer.cluster}:{path}" if answer.cluster and ":" not in path else path, 120))
    line = f"*{escape(words.verdict(answer))}*  {where}\n{_fit(answer.headline.sentence, 2_000)}"
    move = words.whose_move(answer)
    tail = [f"Whose move: {move}", *_certainty(answer)] if move else _certainty(answer)
    blocks = [_section(line), *([_context([" · ".join(escape(part) for part in tail)])] if tail else [])]
    return Message(_text(answer), blocks)


def card(answer: Diagnosis) -> Message:
    """Give the whole answer within 12 blocks and 6,000 characters."""
    head, body, foot = _header(answer), _body(answer), _foot(answer)
    blocks = [head, *(_block(part) for part in body), *foot, _buttons(answer)]
    blocks = limits.trim(blocks)
    return Message(_text(answer), blocks)


def sections(answer: Diagnosis) -> Message:
    """Give the card as plain sections without buttons, for a Slack that refuses the card."""
    parts = [
        f"*{escape(_title(answer))}*",
        *(part.text or "\n".join(part.fields) for part in _body(answer)),
        *_remarks(answer),
    ]
    kept = limits.trim([_section(part) for part in parts if part], limits.CARD_BLOCKS, limits.CARD_CHARACTERS)
    return Message(_text(answer), kept)


def text_only(answer: Diagnosis) -> Message:
    """Give the answer as one text without blocks, for a Slack that refuses blocks."""
    lines = [f"*{escape(_title(answer))}*", _fit(answer.headline.sentence, 2_000)]
    lines += [part.text for part in _body(answer)[1:] if part.text]
    return Message(
        limits.fit(
            [line for line in [*lines, *_remarks(answer)] if line],
            limits.TEXT_ADVICE,
            "\n\n",
            "({} more parts left out)",
        )
    )


def reference(answer: Diagnosis) -> str:
    """Give the question again, so that a button can ask it in any channel: "prod:team-a/job/train"."""
    job = answer.job
    asked = answer.asked if job is None else f"{job.namespace}/{job.kind.lower()}/{job.name}"
    placed = f"{answer.cluster}:{asked}" if answer.cluster and not asked.startswith(f"{answer.cluster}:") else asked
    return placed[: limits.BUTTON_VALUE]


# --- what every form says ---


@dataclass(frozen=True, slots=True)
class _Part:
    """One paragraph, or a grid of fields."""

    text: str = ""
    fields: tuple[str, ...] = ()


def _path(answer: Diagnosis) -> str:
    job = answer.job
    return answer.asked if job is None else f"{job.namespace}/{job.name}"


def _title(answer: Diagnosis) -> str:
    name = words.job_name(answer)
    verdict = words.verdict(answer)
    return words.plain(f"{verdict}: {words.middle(name, limits.HEADER - len(verdict) - 2)}")


def _text(answer: Diagnosis) -> str:
    """The whole first sentence and the next step, for a phone's lock screen and for a screen reader."""
    step = answer.headline.next[0] if answer.headline.next else None
    told = f"{_title(answer)}. {answer.headline.sentence}"
    if step is not None:
        told += f" Next: {step.do}"
    return _fit(told, limits.TEXT_ADVICE)


def _certainty(answer: Diagnosis) -> list[str]:
    return {
        "certain": [],
        "reported": ["Reported by the cluster, not recomputed"],
        "likely": ["Likely: inferred from what could be read"],
    }[answer.headline.certainty]


def _body(answer: Diagnosis) -> list[_Part]:
    parts = [
        _Part(_fit(answer.headline.sentence, limits.SECTION)),
        _Part(fields=tuple(_facts(answer))),
        _Part(_steps(answer)),
        _Part(_flavors(answer)),
        _Part(_chain(answer)),
        _Part(_others(answer)),
        _Part(_also(answer)),
    ]
    return [part for part in parts if part.text or part.fields]


def _facts(answer: Diagnosis) -> Iterable[str]:
    """The numbers that decide, and whose move it is; at most six fields."""
    row = words.deciding_row(answer)
    if row is not None:
        resource = row.resource
        yield _field("Asked", f"{words.amount(resource, row.requested)} {resource}")
        yield _field("Free now", words.amount(resource, row.available))
        yield _field("Most it could ever get", words.amount(resource, row.capacity))
        if row.nominal and row.used is not None:
            share = f"{words.amount(resource, row.used)} of {words.amount(resource, row.nominal)}"
            yield _field(f"In use in flavor {row.flavor}", f"{words.bar(row.used, row.nominal)} {share}")
    elif answer.pods is not None:
        pods = answer.pods
        yield _field(
            "Pods", f"{pods.running} of {pods.wanted} running, {pods.scheduled} scheduled, {pods.created} created"
        )
    if move := words.whose_move(answer):
        yield _field("Whose move", move)
    if where := words.boundary(answer):
        yield _field("Where to look", where)


def _steps(answer: Diagnosis) -> str:
    steps = answer.headline.next
    if not steps:
        return ""
    lines = [_step(at, step, len(steps)) for at, step in enumerate(steps[:_STEPS], 1)]
    if len(steps) > _STEPS:
        lines.append(f"{len(steps) - _STEPS} more")
    return limits.fit(["*What to do*", *lines], limits.SECTION)


def _step(at: int, step: Step, count: int) -> str:
    who = "" if step.move == "nobody" else f"{words.step_move(step.move)}: "
    line = f"{f'{at}. ' if count > 1 else ''}{who}{_fit(step.do, 500)}"
    return f"{line}\n{code(words.shorten(step.command, 600))}" if step.command else line


def _flavors(answer: Diagnosis) -> str:
    """Every flavor that it could use, when there is more than the one above."""
    if len(answer.quota) < 2 or answer.admitted:
        return ""
    lines = ["*Every flavor that it could use*"]
    for row in answer.quota[:_ROWS]:
        numbers = f"asked {words.amount(row.resource, row.requested)}"
        if row.verdict != "excluded":
            numbers += f", free {words.amount(row.resource, row.available)}, at most {words.amount(row.resource, row.capacity)}"
        what = _fit(f"{row.resource}{words.pod_sets(row, answer.quota)}", 120)
        lines.append(f"• {code(words.middle(row.flavor, 60))} {what}: {numbers}: {_fit(words.row_verdict(row), 200)}")
    if len(answer.quota) > _ROWS:
        lines.append(f"{len(answer.quota) - _ROWS} more")
    return limits.fit(lines, limits.SECTION)


def _chain(answer: Diagnosis) -> str:
    if not answer.chain:
        return ""
    stops = words.stopping_row(answer)
    lines = [_chain_line(row, first=at == 0, stops=at == stops) for at, row in enumerate(answer.chain)]
    return limits.fit(["*The path to admission*", *lines], limits.SECTION)


def _chain_line(row: Link, *, first: bool, stops: bool) -> str:
    url = next(iter(row.links.values()), "")
    shown = words.middle(row.name, 80)
    name = (words.link(url, shown) if url else code(shown)) if row.name else "(none)"
    state = _fit(row.state, 200)
    if stops:
        state = f"*{state}* (it stops here)" if state else "*it stops here*"
    return f"{'' if first else '→ '}{escape(row.kind)} {name}{f': {state}' if state else ''}"


def _others(answer: Diagnosis) -> str:
    """Who holds what it needs, and who stands before it."""
    lines: list[str] = []
    if answer.holders:
        lines.append("*Who holds it*")
        lines += [f"• {_holder(holder, answer)}" for holder in answer.holders[:_HOLDERS]]
        if len(answer.holders) > _HOLDERS:
            lines.append(f"{len(answer.holders) - _HOLDERS} more")
    ahead = answer.ahead
    if ahead is not None and ahead.position is not None:
        total = f" of {words.plural(ahead.total, 'waiting workload')}" if ahead.total is not None else ""
        lines.append(f"*In line*: {ahead.position} before it{total}" if ahead.position else f"*In line*: first{total}")
    if ahead is not None:
        for job in ahead.jobs[:_AHEAD]:
            space = f" in {code(words.middle(job.namespace, 60))}" if job.namespace else ""
            lines.append(f"• {_fit(job.job, 120)}{space}{f': {_fit(job.why, 200)}' if job.why else ''}")
        if len(ahead.jobs) > _AHEAD:
            lines.append(f"{len(ahead.jobs) - _AHEAD} more")
    return limits.fit(lines, limits.SECTION) if lines else ""


def _holder(holder: Holder, answer: Diagnosis) -> str:
    space = f" in {code(words.middle(holder.namespace, 60))}" if holder.namespace else ""
    since = f", since {words.duration((answer.observed_at - holder.since).total_seconds())}" if holder.since else ""
    held = f"{words.amount(holder.resource, holder.amount)} {holder.resource}"
    job, flavor = _fit(words.middle(holder.job, 120), 140), code(words.middle(holder.flavor, 60))
    return f"{job}{space}: {_fit(held, 120)} of {flavor}{since}"


def _also(answer: Diagnosis) -> str:
    lines = [f"• {_candidate(entry)}" for entry in _candidates(answer.headline)]
    for title, findings in (("Also true", answer.also), ("Good to know", answer.context)):
        if findings:
            lines.append(f"*{title}*")
            lines += [f"• {_fit(finding.sentence, 400)}" for finding in findings[:_ALSO]]
            if len(findings) > _ALSO:
                lines.append(f"{len(findings) - _ALSO} more")
    return limits.fit(lines, limits.SECTION) if lines else ""


def _candidates(headline: Finding) -> list[dict[str, Any]]:
    """The jobs that share the asked name (rule name-is-ambiguous), else nothing."""
    found = headline.data.get("candidates")
    return [entry for entry in found if isinstance(entry, dict)][:8] if isinstance(found, list) else []


def _candidate(entry: dict[str, Any]) -> str:
    rule, ask = str(entry.get("rule", "")), str(entry.get("ask", ""))
    return f"{_fit(str(entry.get('kind', '')), 60)}: {_fit(rule.replace('-', ' '), 80)}; ask {code(words.middle(ask, 200))}"


def _remarks(answer: Diagnosis) -> list[str]:
    """Kueue's own words with their age, what was not checked, how old the data is and what was withheld."""
    return [part for part in (_said(answer), _unchecked(answer), _as_of(answer, _date)) if part]


def _said(answer: Diagnosis) -> str:
    said = answer.kueue_said
    if said is None or not said.text.strip():
        return ""
    seen = [moment for moment in (said.since, said.last_seen) if moment is not None]
    age = f" {words.ago(max(seen), answer.observed_at)}" if seen else ""
    return f'Kueue said{age}: "{_fit(said.text, 700)}"'


def _unchecked(answer: Diagnosis) -> str:
    reasons = list(dict.fromkeys(entry.reason for entry in answer.not_checked))
    if not reasons:
        return ""
    count = words.plural(len(answer.not_checked), "rule")
    shown = "; ".join(_fit(reason, 200) for reason in reasons[:_UNCHECKED])
    more = f"; {len(reasons) - _UNCHECKED} more" if len(reasons) > _UNCHECKED else ""
    warning = "" if answer.complete else " *The answer could change*: something that comes first was not read."
    return f"Could not check {count}: {shown}{more}.{warning}"


def _date(answer: Diagnosis) -> str:
    """The moment in the reader's own time zone."""
    return f"<!date^{int(answer.observed_at.timestamp())}^{{date_short_pretty}} {{time_secs}}|{words.clock(answer.observed_at)}>"


def _as_of(answer: Diagnosis, date: Callable[[Diagnosis], str]) -> str:
    parts = [f"As of {date(answer)}", *words.older(answer), *(escape(part) for part in _certainty(answer))]
    if answer.versions.kueue:
        parts.append(f"Kueue {_fit(answer.versions.kueue, 40)}")
    if answer.withheld.namespaces:
        parts.append(f"names from {words.plural(answer.withheld.namespaces, 'other namespace')} withheld")
    if answer.read_as:
        parts.append(f"read as {_fit(answer.read_as, 200)}")
    parts += [words.link(url, words.shorten(label, 40)) for label, url in _pages(answer)[_room(answer) :]]
    return " · ".join(parts)


# --- blocks ---


def _fit(text: str, limit: int) -> str:
    """Escape a text and cut it so that what is escaped is within the limit."""
    size = limit
    while len(safe := escape(words.shorten(text, size))) > limit and size > 1:
        size = max(1, size - (len(safe) - limit))
    return safe


def _field(title: str, text: str) -> str:
    return f"*{_fit(title, 100)}*\n{_fit(text, 500)}"


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text[: limits.SECTION]), "expand": True}


def _context(parts: list[str]) -> Block:
    return {"type": "context", "elements": [_mrkdwn(part[: limits.CONTEXT_TEXT]) for part in parts[: limits.CONTEXT]]}


def _block(part: _Part) -> Block:
    if part.fields:
        return {"type": "section", "fields": [_mrkdwn(text) for text in part.fields[: limits.FIELDS]]}
    return _section(part.text)


def _header(answer: Diagnosis) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": _title(answer)[: limits.HEADER], "emoji": False}}


def _foot(answer: Diagnosis) -> list[Block]:
    return [_context([remark]) for remark in _remarks(answer)]


def _pages(answer: Diagnosis) -> list[tuple[str, str]]:
    """Give the web pages about the job, the first site's first, then those that this site has added, then the rest."""
    found = next((row.links for row in answer.chain if row.kind == "Workload" and row.links), None)
    found = found or next((row.links for row in answer.chain if row.links), {})
    pages = [(label, url) for label, url in found.items() if len(url) <= limits.URL]
    first = pages[:1]
    return first + sorted(pages[1:], key=lambda page: page[0] in {HEADLAMP, KUEUEVIZ})


def _watchable(answer: Diagnosis) -> bool:
    return answer.job is not None and answer.outlook != "finished"


def _room(answer: Diagnosis) -> int:
    """How many of the web pages have a button."""
    return BUTTONS - 2 - _watchable(answer)


def _buttons(answer: Diagnosis) -> Block:
    """Ask again, watch, the web pages, and the evidence. Values hold the question and nothing else."""
    value, name = reference(answer), words.middle(_path(answer), 40)
    elements = [button("Refresh", REFRESH, f"Refresh the answer about {name}", value=value)]
    if _watchable(answer):
        elements.append(button("Watch", WATCH, f"Watch {name}, tell me when it changes", value=value))
    for at, (label, url) in enumerate(_pages(answer)[: _room(answer)]):
        elements.append(button(label, f"{OPEN}-{at}", f"Open {words.shorten(label, 20)} about {name}", url=url))
    elements.append(button("Details", DETAILS, f"Details and evidence about {name}", value=value))
    return {"type": "actions", "elements": elements}


def for_one(form: Message, *, sharable: bool) -> Message:
    """Make of a card one that only one person sees: nothing to watch, but to be shared where its place may see it."""
    if not form.blocks or form.blocks[-1]["type"] != "actions":
        return form
    last = form.blocks[-1]
    elements = [each for each in last["elements"] if each.get("action_id") not in {WATCH, SHARE}]
    if sharable and (value := elements[0].get("value")):
        share = button("Share", SHARE, f"Share the answer about {words.middle(value, 40)} in this channel", value=value)
        elements = [elements[0], share, *elements[1:]]
    return Message(form.text, [*form.blocks[:-1], {**last, "elements": elements}])


def button(label: str, action: str, spoken: str, *, value: str = "", url: str = "") -> Block:
    """Give a button; `spoken` is what a screen reader says for it, which tells it from every other."""
    made: Block = {
        "type": "button",
        "text": {"type": "plain_text", "text": words.shorten(words.plain(label), limits.BUTTON), "emoji": False},
        "action_id": action,
        "accessibility_label": words.shorten(words.plain(spoken), limits.BUTTON),
    }
    return made | ({"url": url} if url else {"value": value})
