"""What a site adds to answers by its configuration: a runbook, whom to turn to, one more sentence.

It stands beside what the rules say and is told apart from it; it never replaces a word of an answer.
"""

import re
from collections.abc import Mapping

from bot.core.records import dataclass
from bot.render import limits, words
from bot.render.card import BUTTONS, OPEN, Message, button
from bot.render.limits import Block

EVERY_RULE = "*"
"""The key of what is added to the answers of every rule."""

RUNBOOK = f"{OPEN}-runbook"
"""The action id of the button."""

_CHANNEL = re.compile(r"[CG][A-Z0-9]{6,}")


@dataclass(frozen=True, slots=True)
class SiteText:
    """What is added to the answers of one rule; each part may be "". `runbook` is an http or https address."""

    runbook: str = ""
    owner: str = ""
    sentence: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.runbook or self.owner or self.sentence)


class SiteTexts:
    """What is added, by rule."""

    def __init__(self, by_rule: Mapping[str, SiteText] | None = None) -> None:
        """Take the texts by the rule's slug; those of `*` hold where a rule has none of its own."""
        self._by_rule = dict(by_rule or {})

    def of(self, rule: str) -> SiteText:
        """Give what is added to the answers of a rule: each part from the rule's own entry, else from that of `*`."""
        every, own = self._by_rule.get(EVERY_RULE, SiteText()), self._by_rule.get(rule, SiteText())
        return SiteText(own.runbook or every.runbook, own.owner or every.owner, own.sentence or every.sentence)


def lines(text: SiteText) -> list[str]:
    """Give it as lines for a terminal."""
    told = [
        text.sentence,
        f"Turn to {text.owner}." if text.owner else "",
        f"Runbook: {text.runbook}" if text.runbook else "",
    ]
    return [line for line in told if line]


def mrkdwn(text: SiteText) -> str:
    """Give it as one paragraph of Slack's mrkdwn."""
    parts = [words.escape(text.sentence)] if text.sentence else []
    if text.owner:
        parts.append(f"Turn to {reachable(text.owner)}.")
    if text.runbook:
        parts.append(words.link(text.runbook, "Runbook"))
    return " ".join(parts)


def reachable(contact: str) -> str:
    """Give a channel by its id as a link to it; anything else is escaped. People and groups are named, never pinged."""
    if _CHANNEL.fullmatch(contact):
        return f"<#{contact}>"
    return words.escape(contact)


def block(text: SiteText) -> Block:
    """Give it as a block of a message or a modal."""
    return {
        "type": "section",
        "text": {"type": "mrkdwn", "text": f"*At this site*\n{mrkdwn(text)}"[: limits.SECTION], "verbatim": True},
    }


def added(form: Message, text: SiteText) -> Message:
    """Add it to any form of a card: a paragraph before the remarks at its foot, and a button to the runbook if there is room."""
    if not text:
        return form
    if not form.blocks:
        room = limits.TEXT_ADVICE - len(mrkdwn(text)) - 2
        return Message(f"{words.shorten(form.text, room)}\n\n{mrkdwn(text)}")
    blocks = list(form.blocks)
    at = next((i for i, each in enumerate(blocks) if each["type"] in {"context", "actions"}), len(blocks))
    while len(blocks) >= limits.CARD_BLOCKS and at > 3:
        at -= 1
        del blocks[at]
    blocks.insert(at, block(text))
    if text.runbook and blocks[-1]["type"] == "actions" and len(blocks[-1]["elements"]) < BUTTONS:
        *most, details = blocks[-1]["elements"]
        runbook = button("Runbook", RUNBOOK, "Open the runbook of this site", url=text.runbook)
        blocks[-1] = {**blocks[-1], "elements": [*most, runbook, details]}
    return Message(form.text, blocks)
