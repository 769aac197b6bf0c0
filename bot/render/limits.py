"""Every limit of Slack once, and what keeps a message within them.

Slack rejects a whole message for one field too long, so everything is clamped before it is sent and what was dropped is
counted ("4 more"). `check` is the same table read the other way round: it lists what Slack would reject.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.render.words import shorten

Block = dict[str, Any]

BLOCKS = 50
MESSAGE_CHARACTERS = 12_000
"""Over all blocks; Slack answers msg_blocks_too_long at about 13,200."""
TEXT_ADVICE = 4_000
HEADER = 150
SECTION = 3_000
FIELDS = 10
FIELD = 2_000
CONTEXT = 10
CONTEXT_TEXT = 3_000
ACTIONS = 25
BUTTON = 75
BUTTON_VALUE = 2_000
URL = 3_000
BLOCK_ID = 255
MARKDOWN = 12_000
TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_CHARACTERS = 10_000
IMAGE_ALT = 2_000
OPTIONS = 100
OPTION = 75
OPTION_VALUE = 150
MODAL_BLOCKS = 100
PRIVATE_METADATA = 3_000

CARD_BLOCKS = 12
"""Our own bounds: a card is read in five seconds; half of what is known to fail."""
CARD_CHARACTERS = 6_000

KNOWN_BLOCKS = frozenset(
    {"header", "section", "context", "actions", "divider", "image", "markdown", "table", "input", "rich_text"}
)


def fit(parts: Sequence[str], limit: int, joiner: str = "\n", more: str = "{} more") -> str:
    """Join as many parts as fit into `limit` characters and say how many were dropped. A first part too long is cut."""
    if len(whole := joiner.join(parts)) <= limit:
        return whole
    taken: list[str] = []
    for at, part in enumerate(parts):
        rest = len(parts) - at - 1
        tail = len(joiner) + len(more.format(rest)) if rest else 0
        if len(joiner.join([*taken, part])) + tail > limit:
            if not taken:
                taken = [shorten(part, max(1, limit - tail))]
                at += 1  # noqa: PLW2901 - this part counts as taken
            dropped = len(parts) - at
            return joiner.join([*taken, more.format(dropped)]) if dropped else joiner.join(taken)
        taken.append(part)
    return joiner.join(taken)


def first(items: Sequence[Any], limit: int) -> tuple[list[Any], int]:
    """Give the first `limit` items and how many were dropped."""
    return list(items[:limit]), max(0, len(items) - limit)


def characters(blocks: Sequence[Block]) -> int:
    """Count the characters that people see in blocks."""
    return sum(len(text) for block in blocks for text in texts(block))


def texts(value: object) -> list[str]:
    """Give every visible text in a block: of text objects, fields, elements, table cells and alternative texts."""
    if isinstance(value, Mapping):
        shown = [value[key] for key in ("text", "alt_text", "title") if isinstance(value.get(key), str)]
        return shown + [text for entry in value.values() if not isinstance(entry, str) for text in texts(entry)]
    if isinstance(value, (list, tuple)):
        return [text for entry in value for text in texts(entry)]
    return []


def trim(blocks: Sequence[Block], count: int = CARD_BLOCKS, size: int = CARD_CHARACTERS) -> list[Block]:
    """Drop blocks before the last two until the rest is within `count` blocks and `size` characters."""
    kept = list(blocks)
    while len(kept) > 3 and (len(kept) > count or characters(kept) > size):
        del kept[-3]
    return kept


def check(blocks: Sequence[Block], text: str) -> list[str]:
    """List what Slack would reject about a message, or what would make it useless; empty when it is fine."""
    wrong = _Wrong()
    wrong.size("message", len(blocks), BLOCKS, "blocks")
    wrong.size("message", characters(blocks), MESSAGE_CHARACTERS, "characters over all blocks")
    wrong.size("text", len(text), TEXT_ADVICE, "characters")
    if not text.strip():
        wrong.add("text", "is empty: nothing for a notification and for screen readers")
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    actions = [
        e.get("action_id") for b in blocks for e in _elements(b) if isinstance(e, Mapping) and e.get("action_id")
    ]
    for name, given in (("block_id", ids), ("action_id", actions)):
        if len(given) != len(set(given)):
            wrong.add("message", f"has the same {name} twice")
        for value in given:
            wrong.size(name, len(str(value)), BLOCK_ID, "characters")
    if sum(block.get("type") == "table" for block in blocks) > 1:
        wrong.add("message", "has more than one table")
    wrong.size(
        "message",
        sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown"),
        MARKDOWN,
        "characters of markdown",
    )
    for at, block in enumerate(blocks):
        _check_block(block, f"block {at} ({block.get('type')})", wrong)
    return wrong.found


class _Wrong:
    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, where: str, what: str) -> None:
        self.found.append(f"{where} {what}")

    def size(self, where: str, value: int, limit: int, unit: str, least: int = 0) -> None:
        if not least <= value <= limit:
            self.add(where, f"has {value} {unit}; Slack takes {least} to {limit}")


def _elements(block: Block) -> list[Any]:
    elements = block.get("elements", [])
    accessory = block.get("accessory")
    return [*(elements if isinstance(elements, list) else []), *([accessory] if accessory else [])]


def _check_block(block: Block, where: str, wrong: _Wrong) -> None:
    kind = block.get("type")
    if kind not in KNOWN_BLOCKS:
        wrong.add(where, "is of a type that is not known to work in every client")
        return
    checks: dict[str, Callable[[Block, str, _Wrong], None]] = {
        "header": _check_header, "section": _check_section, "context": _check_context,
        "actions": _check_actions, "image": _check_image, "table": _check_table,
    }  # fmt: skip
    if kind in checks:
        checks[str(kind)](block, where, wrong)
    for element in _elements(block):
        if isinstance(element, Mapping) and element.get("type") == "button":
            _check_button(element, where, wrong)


def _check_text(
    value: object, where: str, limit: int, wrong: _Wrong, kinds: Sequence[str] = ("mrkdwn", "plain_text")
) -> None:
    if not isinstance(value, Mapping) or value.get("type") not in kinds or not isinstance(value.get("text"), str):
        wrong.add(where, f"has no text of type {' or '.join(kinds)}")
        return
    wrong.size(where, len(value["text"]), limit, "characters", 1)
    if not value["text"].strip():
        wrong.add(where, "has a text of blanks alone")
    if value["type"] == "mrkdwn" and re.search(r"<!(?!date\^|subteam\^)", value["text"]):
        wrong.add(where, "mentions everybody")


def _check_header(block: Block, where: str, wrong: _Wrong) -> None:
    _check_text(block.get("text"), where, HEADER, wrong, ("plain_text",))


def _check_section(block: Block, where: str, wrong: _Wrong) -> None:
    if "text" in block:
        _check_text(block["text"], where, SECTION, wrong)
    fields = block.get("fields", [])
    if "text" not in block and not fields:
        wrong.add(where, "has neither text nor fields")
    wrong.size(where, len(fields), FIELDS, "fields")
    for field in fields:
        _check_text(field, f"{where} field", FIELD, wrong)


def _check_context(block: Block, where: str, wrong: _Wrong) -> None:
    elements = block.get("elements", [])
    wrong.size(where, len(elements), CONTEXT, "elements", 1)
    for element in elements:
        if element.get("type") != "image":
            _check_text(element, where, CONTEXT_TEXT, wrong)


def _check_actions(block: Block, where: str, wrong: _Wrong) -> None:
    wrong.size(where, len(block.get("elements", [])), ACTIONS, "elements", 1)


def _check_image(block: Block, where: str, wrong: _Wrong) -> None:
    wrong.size(where, len(block.get("image_url", "")), URL, "characters of URL")
    wrong.size(where, len(block.get("alt_text", "")), IMAGE_ALT, "characters of alternative text", 1)


def _check_table(block: Block, where: str, wrong: _Wrong) -> None:
    rows = block.get("rows", [])
    wrong.size(where, len(rows), TABLE_ROWS, "rows", 1)
    for row in rows:
        wrong.size(where, len(row), TABLE_COLUMNS, "columns", 1)
        if any(not "".join(texts(cell)).strip() for cell in row):
            wrong.add(where, "has an empty cell")
    wrong.size(
        where, sum(len(text) for row in rows for cell in row for text in texts(cell)), TABLE_CHARACTERS, "characters"
    )


def _check_button(button: Mapping[str, Any], where: str, wrong: _Wrong) -> None:
    _check_text(button.get("text"), f"{where} button", BUTTON, wrong, ("plain_text",))
    wrong.size(f"{where} button", len(button.get("value", "x")), BUTTON_VALUE, "characters of value", 1)
    url = button.get("url")
    if url is not None:
        wrong.size(f"{where} button", len(url), URL, "characters of URL", 1)
        if not url.startswith(("http://", "https://")):
            wrong.add(f"{where} button", "has a URL that is neither http nor https")
    if not button.get("action_id"):
        wrong.add(f"{where} button", "has no action_id")
