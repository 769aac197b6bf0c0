"""What a Slack message says, for finding jobs in it: its text, its attachments (alerts come as those) and its blocks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bot.core.reference import JobRef, find_all
from bot.render.card import REFRESH

LONGEST = 20_000
"""Characters of one message that are looked at; Slack itself cuts a text at 40,000."""


def texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Give what a message says, part by part: what stands in one part belongs together; in all no more than LONGEST."""
    left = LONGEST
    for text in _parts(message):
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


def _parts(message: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(message.get("text"), str):
        yield message["text"]
    for attachment in _maps(message.get("attachments")):
        yield _attachment(attachment)
    if blocks := _maps(message.get("blocks")):
        yield "\n".join(_lines(blocks))


def asked_by_buttons(message: Mapping[str, Any]) -> Iterator[str]:
    """Give the questions that the buttons of one of our own cards hold."""
    for block in _maps(message.get("blocks")):
        for element in _maps(block.get("elements")):
            if element.get("action_id") == REFRESH and isinstance(element.get("value"), str):
                yield element["value"]


def jobs(
    messages: Iterable[Mapping[str, Any]],
    *,
    own: frozenset[str] = frozenset(),
    default_namespace: str = "",
    default_cluster: str = "",
    clusters: Sequence[str] = (),
) -> tuple[JobRef, ...]:
    """Give the jobs that messages name, in order, each once. Never raises.

    Args:
        messages: as Slack gives them.
        own: our own user and bot ids: our answers name many jobs, and are about the one that their buttons hold.
        default_namespace: the place's.
        default_cluster: the cluster that is meant when none is named.
        clusters: the names of the clusters that may be asked about.
    """
    found: list[JobRef] = []
    for message in messages:
        ours = bool(own & {str(message.get("user")), str(message.get("bot_id"))})
        for text in asked_by_buttons(message) if ours else texts(message):
            found += find_all(
                text, default_namespace=default_namespace, default_cluster=default_cluster, clusters=clusters
            )
    return merged(found)


def merged(refs: Iterable[JobRef]) -> tuple[JobRef, ...]:
    """Give each job once, in order; one whose kind is known once does not come again without it."""
    found: dict[tuple[str, str, str, str], JobRef] = {}
    for ref in refs:
        found.setdefault((ref.cluster, ref.namespace, ref.kind, ref.name), ref)
    with_kind = {(ref.cluster, ref.namespace, ref.name) for ref in found.values() if ref.kind}
    return tuple(ref for ref in found.values() if ref.kind or (ref.cluster, ref.namespace, ref.name) not in with_kind)


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _attachment(attachment: Mapping[str, Any]) -> str:
    keys = ("pretext", "title", "title_link", "from_url", "text", "footer")
    lines = [str(attachment[key]) for key in keys if attachment.get(key)]
    lines += [f"{field.get('title', '')}: {field.get('value', '')}" for field in _maps(attachment.get("fields"))]
    lines += _lines(_maps(attachment.get("blocks")))
    for shared in _maps(attachment.get("message_blocks")):
        message = shared.get("message")
        lines += _lines(_maps(message.get("blocks"))) if isinstance(message, Mapping) else []
    return "\n".join(lines or [str(attachment.get("fallback") or "")])


_INLINE = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote"})


def _lines(blocks: Iterable[Mapping[str, Any]]) -> list[str]:
    """Give the texts of blocks, each on a line of its own; what stands inside one line of rich text stays together."""
    lines: list[str] = []
    for block in blocks:
        if block.get("type") in _INLINE:
            lines.append("".join(_inline(element) for element in _maps(block.get("elements"))))
            continue
        lines += [block[key] for key in ("text", "alt_text", "image_url") if isinstance(block.get(key), str)]
        if isinstance(block.get("value"), str) and isinstance(block.get("title"), str):
            lines.append(f"{block['title']}: {block['value']}")
        inner = [each for key in ("text", "accessory", "element", "title") for each in _maps([block.get(key)])]
        for key in ("fields", "elements", "blocks"):
            inner += _maps(block.get(key))
        for row in block.get("rows") or ():
            inner += _maps(row)
        url = block.get("url")
        if isinstance(url, str) and not inner:
            lines.append(url)
        lines += _lines(inner)
    return lines


def _inline(element: Mapping[str, Any]) -> str:
    """Give one piece of rich text; people, channels and emoji say nothing."""
    if element.get("type") == "link":
        return f" {element.get('url') or ''} "
    return str(element.get("text") or " ")
