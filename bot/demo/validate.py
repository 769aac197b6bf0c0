"""Looks at blocks as Slack does before it takes them, and says what Slack would not like.

The numbers are Slack's documented limits. What slack_sdk's own models check beyond them is asked too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

MESSAGE_BLOCKS, VIEW_BLOCKS = 50, 100
MESSAGE_CHARACTERS = 13_200
TEXT_CHARACTERS = 40_000
TABLE_CHARACTERS, TABLE_ROWS, TABLE_COLUMNS = 10_000, 100, 20

KNOWN = {
    "section", "divider", "image", "actions", "context", "context_actions", "input", "file", "header", "markdown",
    "video", "rich_text", "table", "data_table", "data_visualization", "task_card", "plan", "alert", "card", "carousel",
    "container",
}  # fmt: skip
NOT_IN_MESSAGES = {"alert"}

_LONGEST = {"header": 150, "section": 3000, "context": 3000}
_BUTTON = {"text": 75, "value": 2000, "url": 3000, "accessibility_label": 75, "action_id": 255}


def message(text: str, blocks: object) -> tuple[str, list[str]] | None:
    """Give Slack's error word and its details for a message, or None when Slack would take it."""
    if len(text) > TEXT_CHARACTERS:
        return "msg_too_long", [f"text has {len(text)} characters"]
    if blocks is None:
        return None if text else ("no_text", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return "invalid_blocks_format", ["blocks must be a list of objects"]
    faults = list(_blocks(blocks, MESSAGE_BLOCKS))
    faults += [
        f"a block of type {b['type']} is not allowed in messages" for b in blocks if b.get("type") in NOT_IN_MESSAGES
    ]
    if sum(b.get("type") == "table" for b in blocks) > 1:
        return "invalid_attachments", ["only_one_table_allowed"]
    if faults:
        return "invalid_blocks", faults
    if (size := sum(len(text) for text in _texts(blocks))) > MESSAGE_CHARACTERS:
        return "msg_blocks_too_long", [f"{size} characters over all blocks"]
    if not blocks and not text:
        return "no_text", []
    return None


def view(body: object) -> tuple[str, list[str]] | None:
    """Give Slack's error word and its details for a modal or a Home tab, or None when Slack would take it."""
    if not isinstance(body, dict) or body.get("type") not in {"modal", "home"}:
        return "invalid_arguments", ["view must be an object of type modal or home"]
    faults = list(_blocks(body.get("blocks", []), VIEW_BLOCKS))
    if body["type"] == "modal":
        if not body.get("title"):
            faults.append("title is missing")
        for part in ("title", "submit", "close"):
            faults += _plain(body.get(part), 24, part)
    if len(str(body.get("private_metadata", ""))) > 3000:
        faults.append("private_metadata has more than 3000 characters")
    faults += [
        f"{key} has more than 255 characters"
        for key in ("callback_id", "external_id")
        if len(str(body.get(key, ""))) > 255
    ]
    return ("invalid_arguments", faults) if faults else None


def _blocks(blocks: Sequence[Any], most: int) -> Iterator[str]:
    if len(blocks) > most:
        yield f"more than {most} blocks"
    for place, block in enumerate(blocks):
        for fault in _block(block):
            yield f"{fault} [json-pointer:/blocks/{place}]"
    ids = Counter(block["block_id"] for block in blocks if isinstance(block, dict) and block.get("block_id"))
    yield from (f"block_id {name!r} is used {count} times" for name, count in ids.items() if count > 1)
    for block in blocks:
        actions = Counter(
            e["action_id"] for e in block.get("elements", []) if isinstance(e, dict) and e.get("action_id")
        )
        yield from (
            f"action_id {name!r} is used {count} times in a block" for name, count in actions.items() if count > 1
        )


def _block(block: Mapping[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in KNOWN:
        yield f"unsupported type: {kind}"
        return
    if len(str(block.get("block_id", ""))) > 255:
        yield "block_id has more than 255 characters"
    match kind:
        case "header":
            yield from _plain(block.get("text"), 150, "header")
        case "section":
            if not block.get("text") and not block.get("fields"):
                yield "a section needs text or fields"
            if block.get("text"):
                yield from _text(block["text"], 3000, "section text")
            if len(block.get("fields", [])) > 10:
                yield "more than 10 fields"
            for each in block.get("fields", []):
                yield from _text(each, 2000, "field")
            if accessory := block.get("accessory"):
                yield from _element(accessory)
        case "context":
            yield from _count(block, 1, 10)
            for each in block.get("elements", []):
                if each.get("type") != "image":
                    yield from _text(each, 3000, "context text")
        case "actions":
            yield from _count(block, 1, 25)
            for each in block.get("elements", []):
                yield from _element(each)
        case "table":
            yield from _table(block)
        case "data_table":
            yield from _data_table(block)
        case "image":
            if not block.get("alt_text"):
                yield "an image needs alt_text"
            if len(str(block.get("image_url", ""))) > 3000:
                yield "image_url has more than 3000 characters"
        case "markdown":
            if not 1 <= len(str(block.get("text", ""))) <= 12_000:
                yield "markdown text must have 1 to 12000 characters"
        case "input":
            yield from _plain(block.get("label"), 2000, "label")
            if not isinstance(block.get("element"), dict):
                yield "an input needs an element"
            else:
                yield from _element(block["element"])
        case "rich_text" | "divider":
            if kind == "rich_text" and not isinstance(block.get("elements"), list):
                yield "rich_text needs elements"
    yield from _sdk(block)


def _sdk(block: Mapping[str, Any]) -> Iterator[str]:
    """Ask slack_sdk's model of the block, where it has one."""
    if block["type"] in {"rich_text", "table", "data_table", "data_visualization", "divider"}:
        return  # these models are read from JSON without checks, or do not exist
    try:
        parsed = Block.parse(dict(block))
        if parsed is not None:
            parsed.validate_json()
    except SlackObjectFormationError as error:
        yield str(error)
    except (TypeError, KeyError, AttributeError) as error:
        yield f"malformed {block['type']}: {error}"


def _count(block: Mapping[str, Any], fewest: int, most: int) -> Iterator[str]:
    if not fewest <= len(block.get("elements", [])) <= most:
        yield f"{block['type']} must have {fewest} to {most} elements"


def _text(text: object, most: int, what: str) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in {"mrkdwn", "plain_text"}:
        yield f"{what}: must be a mrkdwn or plain_text object"
    elif not 1 <= len(text.get("text", "")) <= most:
        yield f"{what}: must have 1 to {most} characters, has {len(text.get('text', ''))}"


def _plain(text: object, most: int, what: str) -> Iterator[str]:
    if text is None:
        return
    if not isinstance(text, dict) or text.get("type") != "plain_text":
        yield f"{what}: must be plain_text"
    else:
        yield from _text(text, most, what)


def _element(element: Mapping[str, Any]) -> Iterator[str]:
    kind = element.get("type")
    if kind == "button":
        yield from _plain(element.get("text") or {}, 75, "button")
        for key, most in _BUTTON.items():
            if key != "text" and len(str(element.get(key, ""))) > most:
                yield f"button {key} has more than {most} characters"
        if "url" in element and not str(element["url"]).startswith(("http://", "https://")):
            yield "button url must be http or https"
        if element.get("style") not in {None, "primary", "danger"}:
            yield f"unknown button style {element['style']}"
    if confirm := element.get("confirm"):
        yield from _plain(confirm.get("title"), 100, "confirm title")
    options = element.get("options", [])
    if kind == "overflow" and not 1 <= len(options) <= 5:
        yield "overflow must have 1 to 5 options"
    if kind == "static_select" and not (1 <= len(options) <= 100 or element.get("option_groups")):
        yield "a select must have 1 to 100 options"
    for option in options:
        yield from _text(option.get("text"), 75, "option text")
        if len(str(option.get("value", ""))) > 150:
            yield "option value has more than 150 characters"


def _table(block: Mapping[str, Any]) -> Iterator[str]:
    rows = block.get("rows", [])
    if not 1 <= len(rows) <= TABLE_ROWS:
        yield f"a table must have 1 to {TABLE_ROWS} rows"
    if any(not 1 <= len(row) <= TABLE_COLUMNS for row in rows):
        yield f"a table row must have 1 to {TABLE_COLUMNS} cells"
    if len({len(row) for row in rows}) > 1:
        yield "table rows differ in length"
    cells = [cell for row in rows for cell in row]
    for cell in cells:
        if cell.get("type") not in {"raw_text", "raw_number", "rich_text"}:
            yield f"unknown cell type {cell.get('type')}"
        if cell.get("type") == "raw_text" and not str(cell.get("text", "")):
            yield "a cell is empty"
    if sum(len(text) for text in _texts(cells)) > TABLE_CHARACTERS:
        yield f"a table must not have more than {TABLE_CHARACTERS} characters"


def _data_table(block: Mapping[str, Any]) -> Iterator[str]:
    if not block.get("caption"):
        yield "data_table needs a caption"
    if not 2 <= len(block.get("rows", [])) <= 101:
        yield "data_table must have a header and 1 to 100 rows"


def _texts(part: object) -> Iterator[str]:
    """Every text that a reader sees, at any depth."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in {"text", "alt_text"} and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(part, list):
        for each in part:
            yield from _texts(each)
