"""What the bot asks back: which of several jobs is meant, and the form in which a job is named.

`choice` is a message with a button for each job or a list to choose from; `form` is a modal. Both say in words what can
be done besides pressing something.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core import kinds
from bot.core.reference import BadReferenceError, JobRef, parse
from bot.render import limits, words
from bot.render.card import Message
from bot.render.limits import Block
from bot.render.words import escape

PICK, FORM, ASK = "pick", "form", "ask"
"""Action ids of a choice ("pick", or with a number) and of the button that opens the form; the form's callback id."""

CLUSTER, NAMESPACE, NAME, KIND, FOUND, WHERE = "cluster", "namespace", "name", "kind", "found", "where"
"""The blocks of the form; each has one element, whose action id is the same."""

_BUTTONS, _OPTIONS, _RADIOS = 5, 50, 10
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
KINDS = (*(kind.kind for kind in kinds.JOB_KINDS), "Pod", "Workload")
"""The kinds that the form offers."""


def question(ref: JobRef) -> str:
    """Write a reference as the question that reads back as it: "prod:team-a/job/train"."""
    return f"{ref.cluster}:{ref.asked}" if ref.cluster else ref.asked


def label(ref: JobRef, most: int = limits.BUTTON) -> str:
    """Give a reference as people read it, within the length of a button."""
    return words.middle(words.plain(question(ref)), most)


def choice(refs: Sequence[JobRef], example: str) -> Message:
    """Ask which of several jobs is meant; `example` is how to ask without pressing anything."""
    shown = [ref for ref in refs if len(question(ref)) <= limits.OPTION_VALUE][:_OPTIONS]
    names = words.listed([label(ref, 200) for ref in refs], 8)
    said = f"Which job is meant? Found here: {names}."
    how = f"Choose one, or write {example}."
    left = len(refs) - len(shown)
    more = f" {words.plural(left, 'more')} cannot be shown." if left else ""
    if len(shown) <= _BUTTONS:
        elements: list[Block] = [
            {
                "type": "button", "action_id": f"{PICK}-{at}", "value": question(ref),
                "text": {"type": "plain_text", "text": label(ref), "emoji": False},
                "accessibility_label": words.shorten(f"Why is {label(ref, 50)} pending?", limits.BUTTON),
            }
            for at, ref in enumerate(shown)
        ]  # fmt: skip
    else:
        elements = [
            {
                "type": "static_select", "action_id": PICK,
                "placeholder": {"type": "plain_text", "text": "Choose a job", "emoji": False},
                "options": [_option(label(ref), question(ref)) for ref in shown],
            }
        ]  # fmt: skip
    blocks: list[Block] = [
        _section(f"*Which job is meant?* {words.plural(len(refs), 'job')} found here."),
        *([{"type": "actions", "elements": elements}] if elements else []),
        _context(f"{escape(how)}{more}"),
    ]
    return Message(escape(f"{said} {how}{more}"), blocks)


def button() -> Block:
    """Give the button that opens the form, in its block."""
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button", "action_id": FORM, "value": FORM,
                "text": {"type": "plain_text", "text": "Fill in a form", "emoji": False},
                "accessibility_label": "Fill in a form to ask about a job",
            }
        ],
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Whence:
    """Where a form was opened, and so where its answer goes; `channel` is "" when its reader chooses that in the form.

    `active` tells whether the thread has replies already; `found` are the jobs that the form offers.
    """

    channel: str = ""
    thread_ts: str = ""
    active: bool = True
    response_url: str = ""
    found: tuple[str, ...] = ()

    def packed(self) -> str:
        """Give it as a modal keeps it; jobs that do not fit are left out."""
        kept = list(self.found)
        while (
            len(text := json.dumps([self.channel, self.thread_ts, self.active, self.response_url, kept]))
            > limits.PRIVATE_METADATA
        ):
            kept.pop()
        return text

    @classmethod
    def unpacked(cls, text: str) -> "Whence":
        """Read it from a modal; what cannot be read is nowhere."""
        try:
            channel, thread_ts, active, response_url, found = json.loads(text)
            return cls(str(channel), str(thread_ts), bool(active), str(response_url), tuple(map(str, found)))
        except (ValueError, TypeError):
            return cls()


def form(
    whence: Whence, clusters: Sequence[str] = (), *, cluster: str = "", namespace: str = "", name: str = ""
) -> dict[str, Any]:
    """Give the modal that asks for a job: a choice of what was found, or fields for cluster, namespace, kind and name."""
    whence = Whence.unpacked(whence.packed())
    found = [text for text in whence.found if text][: limits.OPTIONS]
    blocks: list[Block] = []
    if found:
        options = [_option(words.middle(words.plain(text), limits.OPTION), str(at)) for at, text in enumerate(found)]
        few = len(options) <= _RADIOS
        choose: Block = {"type": "radio_buttons" if few else "static_select", "action_id": FOUND, "options": options}
        blocks.append(_input(FOUND, "Found in the message", choose, optional=True))
        blocks.append(_context("Or name another job:"))
    elif whence.channel:
        blocks.append(_section("No job was found in that message. Name one:" if whence.thread_ts else "Name the job:"))
    if not whence.channel:
        where: Block = {
            "type": "conversations_select", "action_id": WHERE, "default_to_current_conversation": True,
            "response_url_enabled": True,
        }  # fmt: skip
        blocks.append(_input(WHERE, "Where the answer goes", where))
    names = [each for each in clusters if each]
    if len(names) > 1:
        options = [_option(words.middle(each, limits.OPTION), each) for each in names[: limits.OPTIONS]]
        start = {"initial_option": one} if (one := next((o for o in options if o["value"] == cluster), None)) else {}
        blocks.append(
            _input(CLUSTER, "Cluster", {"type": "static_select", "action_id": CLUSTER, "options": options, **start})
        )
    optional = bool(found)
    blocks += [
        _input(NAMESPACE, "Namespace", _line(NAMESPACE, "team-a", namespace), optional=optional),
        _input(NAME, "Name of the job", _line(NAME, "train", name), optional=optional,
               hint="A pod's or a Workload's name works, too; so does a pasted kubectl line or link."),
        _input(KIND, "Kind", {"type": "static_select", "action_id": KIND, "options": [_option(each, each) for each in KINDS],
                              "placeholder": {"type": "plain_text", "text": "Any kind", "emoji": False}}, optional=True),
    ]  # fmt: skip
    return {
        "type": "modal",
        "callback_id": ASK,
        "title": {"type": "plain_text", "text": "Why is it pending?"},
        "submit": {"type": "plain_text", "text": "Ask"},
        "close": {"type": "plain_text", "text": "Cancel"},
        "private_metadata": whence.packed(),
        "blocks": blocks,
    }


class FormError(ValueError):
    """What was filled in names no job; `errors` are sentences by block."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        """Keep the sentences."""
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


def filled_in(values: Mapping[str, Any], found: Sequence[str], clusters: Sequence[str], default_cluster: str) -> JobRef:
    """Read a submitted form.

    Args:
        values: Slack's state, by block and action.
        found: the jobs that the form offered.
        clusters: the names of the clusters that may be asked about.
        default_cluster: the one that is meant when none was chosen.

    Raises:
        FormError: it names no job.
    """
    namespace, name = _value(values, NAMESPACE), _value(values, NAME)
    kind, cluster = _value(values, KIND), _value(values, CLUSTER) or default_cluster
    chosen = _value(values, FOUND)
    if not name and chosen.isdecimal() and int(chosen) < len(found):
        return parse(found[int(chosen)], default_cluster=default_cluster, clusters=clusters)
    whole = bool(set(name) & set("/ :"))
    missing = {} if namespace or whole else {NAMESPACE: "Write the namespace of the job, for example team-a."}
    if not name:
        where = "Choose one above, or write" if found else "Write"
        raise FormError({NAME: f"{where} the job's name, for example train."} | ({} if found else missing))
    if missing:
        raise FormError(missing)
    if namespace and not _NAMESPACE.fullmatch(namespace.lower()):
        told = f"“{words.shorten(namespace, 60)}” is not a namespace in Kubernetes"
        raise FormError({NAMESPACE: f"{told}: those have small letters, digits and “-” only."})
    try:
        if whole:
            return parse(name, default_namespace=namespace, default_cluster=cluster, clusters=clusters)
        text = f"{namespace}/{kind}/{name}" if kind else f"{namespace}/{name}"
        return parse(text, default_cluster=cluster, clusters=clusters)
    except BadReferenceError as error:
        raise FormError({NAME: str(error)}) from error


def _value(values: Mapping[str, Any], block: str) -> str:
    state = (values.get(block) or {}).get(block) or {}
    option = state.get("selected_option") or {}
    return str(state.get("value") or option.get("value") or state.get("selected_conversation") or "").strip()


def where(values: Mapping[str, Any]) -> str:
    """Give the conversation that was chosen in a submitted form, "" for none."""
    return _value(values, WHERE)


def _input(block: str, title: str, element: Block, *, optional: bool = False, hint: str = "") -> Block:
    made: Block = {
        "type": "input", "block_id": block, "optional": optional, "element": element,
        "label": {"type": "plain_text", "text": title, "emoji": False},
    }  # fmt: skip
    return made | ({"hint": {"type": "plain_text", "text": hint, "emoji": False}} if hint else {})


def _line(action: str, placeholder: str, value: str) -> Block:
    element: Block = {
        "type": "plain_text_input", "action_id": action, "max_length": 500,
        "placeholder": {"type": "plain_text", "text": placeholder, "emoji": False},
    }  # fmt: skip
    return element | ({"initial_value": value} if value else {})


def _option(text: str, value: str) -> Block:
    return {"text": {"type": "plain_text", "text": text, "emoji": False}, "value": value}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[: limits.SECTION], "verbatim": True}}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text[: limits.CONTEXT_TEXT]}]}
