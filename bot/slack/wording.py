"""What the bot says besides answers: help, refusals, remarks. Slack's mrkdwn, everything from outside escaped."""

import re
from typing import Any

from bot.core.access import STRANGER, AccessRule, Person
from bot.core.diagnosis import Diagnosis
from bot.render import asking, details, limits
from bot.render.card import Message
from bot.render.words import code, escape, verdict
from bot.settings import Settings

_PRIVATE = re.compile(r"(?<!\S)[-\u2013\u2014]{1,2}private(?!\S)", re.IGNORECASE)
HELP_WORDS = frozenset({"help", "?", "-h", "--help", "hilfe", "usage"})


READING: limits.Block = {"type": "section", "text": {"type": "plain_text", "text": "Reading the cluster…"}}
"""What a modal shows until there is an answer."""

_RULE = (
    "The verdict comes into the channel, the card into its thread. Not admitted: look at Kueue. "
    "Admitted but its pods are pending: look at the scheduler."
)


def is_help(text: str) -> bool:
    """Tell whether a text asks for help."""
    return text.strip().lower() in HELP_WORDS


def help_text(settings: Settings, name: str, channel: str, person: Person) -> Message:
    """Say what can be asked, with what holds in this channel and for this person."""
    command, policy, place = settings.slack_command, settings.policy, "" if channel.startswith("D") else channel
    held = settings.channel(channel)
    names = [n for n in policy.clusters(person, place, [cluster.name for cluster in settings.clusters]) if n]
    ways = [
        f"{code(f'{command} team-a/train')} a job by namespace and name; any kind that Kueue manages",
        f"{code(f'{command} team-a/job/train')} or {code(f'{command} -n team-a job/train')} with its kind, as kubectl has it",
        f"{code(f'{command} kubectl get job train -n team-a')} a pasted line or a Headlamp or KueueViz link",
    ]
    if len(names) > 1:
        ways.append(
            f"{code(f'{command} {names[0]}:team-a/train')} on one of the clusters {', '.join(code(n) for n in names)}"
        )
        default = held.cluster or names[0]
        ways.append(f"Without a cluster's name, {code(default)} is asked here")
    if held.default_namespace:
        ways.append(
            f"{code(f'{command} train')} in namespace {code(held.default_namespace)}, the default of this channel"
        )
    ways.append(f"{code(f'@{name} team-a/train')} in a thread; without a job, the thread is read for one")
    ways.append("the message shortcut *Why pending?* in the menu of an alert")
    lines = [
        "*Why is my job pending?* One cause, the numbers that prove it, and whose move it is.",
        "\n".join(f"• {way}" for way in ways),
        _RULE,
    ]
    granted = [_grant(rule) for rule in policy.granting(person, place) if rule.namespaces]
    blocks = [_section(line) for line in lines]
    nothing = f"No access rule lets you ask here.{escape(policy.ask())}"
    blocks.append(_context("\n".join(granted[:_GRANTS]) if granted else nothing))
    if held.private:
        blocks.append(_context("Answers in this channel go to whoever asked alone; Share shows one to everybody."))
    else:
        blocks.append(_context(f"{code(f'{command} team-a/train --private')} answers you alone"))
    blocks.append(_context(f"To have answers in a channel: {code(f'/invite @{name}')}"))
    return Message(f"Ask why a job is pending, for example: {command} team-a/train", blocks)


_GRANTS = 8
_WHERE = {
    "namespace": "answers name what is in the asked namespace; of others they give counts",
    "queue": "answers also name who shares the ClusterQueue; of others they give counts",
    "cohort": "answers also name who shares the cohort; of others they give counts",
    "all": "answers name everything that they are about",
}


def _grant(rule: AccessRule) -> str:
    """Say what one access rule grants here."""
    spaces = (
        "Every namespace" if rule.namespaces == ("*",) else f"Namespaces {', '.join(code(n) for n in rule.namespaces)}"
    )
    clusters = "" if rule.clusters == ("*",) else f" on {', '.join(code(n) for n in rule.clusters)}"
    whose = "" if rule.channels or not (rule.users or rule.groups) else " (to you alone)"
    return f"{spaces}{clusters}: {_WHERE[rule.level]}{whose}. Access rule {code(rule.name)}."


def refusal(problem: str, command: str) -> Message:
    """Refuse a text that names no job; `problem` ends in a working example."""
    text = escape(problem)
    return Message(
        text, [_section(text), asking.button(), _context(f"{code(f'{command} help')} shows every way to ask.")]
    )


def no_job(name: str, problem: str, unread: str, *, in_thread: bool) -> Message:
    """Say that no job was named, and how to name one in a mention.

    Args:
        name: the bot's.
        problem: what was wrong with the words, as `BadReferenceError` says it, or "".
        unread: why the thread's messages were not read, or "".
        in_thread: whether there was a thread to read.
    """
    example = f"@{name} team-a/train"
    where = "I found no job in this message"
    if in_thread:
        where = f"I found no job in your message, and {unread}" if unread else "I found no job in this thread"
    said = f"{problem.partition(' Write NAMESPACE/NAME')[0]} " if problem else f"{where}. "
    if problem and unread:
        said += f"I could not look further: {unread}. "
    text = f"{said}Mention me with one, for example: {example}"
    more = "With its kind: namespace/kind/name. A pasted kubectl line, a link or an alert's labels work, too."
    return Message(escape(text), [_section(escape(text)), _context(more)])


def chosen_before(asked: str) -> Message:
    """Say that a choice was made already."""
    return _plain(f"{asked} was chosen here before; its answer is in this thread. Its Refresh button asks again.")


def no_form(command: str, error: str) -> Message:
    """Say that the form did not open, and what works instead."""
    return _plain(f"No job was found, and Slack did not open the form ({error}). What works: {command} team-a/train")


def stranger() -> Message:
    """Refuse somebody from another workspace: no name, not even whom to ask."""
    return _plain(STRANGER)


def refused(why: str, example: str, command: str) -> Message:
    """Refuse what the access rules do not grant; `example` is a namespace that may be asked about here, or ""."""
    text = f"{why} What works here, for example: {command} {example}/train" if example else why
    return _plain(text)


def wish(text: str) -> tuple[str, bool]:
    """Take the wish for a private answer out of a text; keyboards make one dash of two."""
    bare = _PRIVATE.sub(" ", text)
    return (bare, True) if bare != text else (text, False)


def alone(rule: str, *, hidden: bool, wanted: bool = False) -> str:
    """Say why an answer is private."""
    if hidden:
        return f"Only you see this: access rule {code(rule)} lets you ask, and this channel may not see the answer."
    if wanted:
        return "Only you see this, as you wished. Share shows it in this channel."
    return "Only you see this: answers in this channel are private."


def shared_by(user: str) -> str:
    """Say on a private answer that it was shared."""
    return f"Only you see this. Shared in this channel by <@{user}>, as far as the channel may see it."


def shared_before() -> Message:
    """Say that an answer was shared already."""
    return _plain("This answer was shared before; nothing was posted again.")


def not_shared(why: str) -> Message:
    """Say why an answer is not shared; `why` is ready for Slack."""
    return Message(f"Not shared. {why}", [_section(f"Not shared. {why}")])


def place_sees_nothing(namespace: str) -> str:
    """Say that a place may see nothing about a namespace."""
    return f"This channel may not see answers about namespace {code(namespace)}."


def not_shown() -> Message:
    """Say that a card of a place that may not see it any more is not refreshed."""
    return _plain("This channel may not see that answer, so the card is not refreshed. Ask in a direct message.")


def too_many(asked: str) -> Message:
    """Say that there are too many questions."""
    text = f"Too many questions at once; {asked} was not looked at. Ask again in a minute."
    return _plain(text)


def starting() -> Message:
    """Say that the bot does not know yet whose workspace it is in."""
    return _plain("The bot is starting; nothing was looked at. Ask again in a moment.")


def restarting(asked: str) -> Message:
    """Say that the bot ends before it could answer."""
    text = f"The bot is being restarted; {asked} was not answered. Ask again in a minute."
    return _plain(text)


def no_answer(asked: str) -> Message:
    """Say that there is no answer."""
    text = (
        f"No answer about {asked}: the cluster could not be read in time. "
        "Ask again; if it stays so, tell whoever runs this bot."
    )
    return _plain(text)


def broke(asked: str) -> Message:
    """Say that the bot failed at an answer."""
    text = (
        f"No answer about {asked}: the bot failed at it, and its log says how. "
        "Ask again; if it stays so, tell whoever runs this bot."
    )
    return _plain(text)


def modal(blocks: list[limits.Block], title: str = details.TITLE) -> dict[str, Any]:
    """Give a modal that shows something; by its title the details of an answer."""
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": title},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": blocks,
    }


def invite(name: str) -> str:
    """Say why an answer is private, and what changes that."""
    return f"Only you see this: the bot is not in this channel. To have answers here: {code(f'/invite @{name}')}"


def slack_refused(error: str) -> str:
    """Say why an answer is private when Slack did not take it."""
    return f"Only you see this: Slack did not take the answer for the channel ({escape(error)})."


def asked_by(root: Message, user: str) -> Message:
    """Add who asked to a root message."""
    return Message(root.text, [*root.blocks, _context(f"Asked by <@{user}> · the details are in the thread")])


def asked(user: str) -> str:
    """Say on a card who asked, where nothing else shows it."""
    return f"Asked by <@{user}>"


_ASKED_BY = "asked-by:"


def remembering(form: Message, user: str) -> Message:
    """Let the buttons of a message remember who asked, for whoever presses one: Slack gives the block's id back."""
    if not user:
        return form
    blocks = [{**b, "block_id": f"{_ASKED_BY}{user}"} if b["type"] == "actions" else b for b in form.blocks]
    return Message(form.text, blocks)


def remembered(block_id: str) -> str:
    """Give the user whom a button's block remembers, "" for none."""
    return block_id.removeprefix(_ASKED_BY) if block_id.startswith(_ASKED_BY) else ""


def with_remark(form: Message, remark: str) -> Message:
    """Add a remark to any form of a message, below what it says and above its buttons."""
    if not form.blocks:
        return Message(f"{form.text[: limits.TEXT_ADVICE - len(remark) - 2]}\n\n{remark}")
    at = len(form.blocks) - (form.blocks[-1].get("type") == "actions")
    return Message(form.text, [*form.blocks[:at], _context(remark), *form.blocks[at:]])


def change(before: str, after: str, user: str, diagnosis: Diagnosis) -> str:
    """Say what a refresh changed, from the texts of the card before and after; `before` comes from Slack, escaped."""
    stamp = int(diagnosis.observed_at.timestamp())
    when = f"<!date^{stamp}^{{time_secs}}|{diagnosis.observed_at:%H:%M:%S} UTC>"
    who = f"Refreshed by <@{user}> {when}"
    if before == after:
        return f"{who}: nothing changed."
    was = before.partition(":")[0].strip()
    if was == verdict(diagnosis) or not was:
        return f"{who}: *changed*; the numbers are new, the verdict is still {verdict(diagnosis)}."
    return f"{who}: *changed* from {was[:80]} to {verdict(diagnosis)}."


def _plain(text: str) -> Message:
    safe = escape(text)
    return Message(safe, [_section(safe)])


def _section(text: str) -> limits.Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[: limits.SECTION], "verbatim": True}}


def _context(text: str) -> limits.Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text[: limits.CONTEXT_TEXT]}]}
