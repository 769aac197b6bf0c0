"""What a watch says in its thread: one message for each change, escaped and disclosed like an answer."""

from bot.core.diagnosis import Diagnosis
from bot.core.transitions import OVER, Change, State
from bot.render import limits, words
from bot.render.card import Message, reference
from bot.render.limits import Block
from bot.render.words import code, escape

UNWATCH, ASK_AGAIN = "unwatch", "ask-again"
"""Action ids."""

_SENTENCE = 1_500
_EVICTIONS = ("was-preempted", "was-evicted")


def told(change: Change, answer: Diagnosis, state: State, users: list[str]) -> Message:
    """Say one change.

    Args:
        change: what happened.
        answer: the answer by now, disclosed.
        state: the job's state by now.
        users: whom to tell.
    """
    head, tail = _said(change, answer, state)
    over = change in OVER
    if over:
        tail = f"{tail} This watch has ended.".strip()
    return _message(head, _name(answer), tail, users, [] if over else [_stop(answer)])


def late(answer: Diagnosis, users: list[str], moment: str) -> Message:
    """Say that a job has not started by the moment that somebody named; `moment` is ready for Slack."""
    head = f"{words.verdict(answer)}: not started by {moment}"
    return _message(head, _name(answer), _sentence(answer), users, [_stop(answer)], ready=True)


def ended(asked: str, users: list[str], why: str) -> Message:
    """Say that a watch ends by itself, and why; `why` is a sentence of ours without names."""
    return _message("Not watched any more", code(words.middle(asked, 200)), why, users, [_again(asked, "Ask again")])


def interrupted(asked: str, users: list[str], *, perhaps: bool) -> Message:
    """Say that an answer was interrupted by a restart, with a button that asks again.

    Args:
        asked: the question as it can be asked again; "" where it is not known.
        users: who asked.
        perhaps: whether it may stand in Slack all the same: that could not be looked up.
    """
    why = "The bot was restarted while it worked on the answer."
    why += " If no card stands here, ask again." if perhaps else " Ask again to get it."
    if not asked:
        return _message("Interrupted", "your question", why, users, [])
    return _message("Interrupted", code(words.middle(asked, 200)), why, users, [_again(asked, "Ask again")])


def plain(text: str) -> Message:
    """Say something plain; the text is escaped here."""
    return ready(escape(text))


def ready(text: str) -> Message:
    """Say something whose text is ready for Slack."""
    return Message(
        text, [{"type": "section", "text": {"type": "mrkdwn", "text": text[: limits.SECTION], "verbatim": True}}]
    )


def waited(state: State) -> str:
    """Give how long a job waited until it was admitted: "2 h 10 min"; "" when that is not known."""
    return words.duration(state.admitted - state.queued) if 0 < state.queued <= state.admitted else ""


def _said(change: Change, answer: Diagnosis, state: State) -> tuple[str, str]:
    sentence, after = _full(answer.headline.sentence), waited(state)
    admitted = f"admitted after {after}" if after else "admitted"
    if after == "0 s":
        admitted = "admitted at once"
    step = answer.headline.next[0].do if answer.headline.next else ""
    next_step = f" Next: {_full(step)}" if step else ""
    verdict = words.verdict(answer)
    match change:
        case "reserved":
            return "Quota reserved", sentence
        case "admitted":
            return admitted.capitalize(), sentence + next_step
        case "running":
            return f"Running, {admitted}" if state.admitted else "Running", sentence
        case "readmitted":
            return "Evicted and admitted again", sentence
        case "stalled":
            return "Not all of it runs any more", sentence + next_step
        case "evicted":
            why = [_full(entry.sentence) for rule in _EVICTIONS for entry in answer.context if entry.rule == rule][:1]
            again = " again" if answer.outlook == "wait" else ""
            return f"Evicted. {verdict}{again}", " ".join([*why, sentence]) + next_step
        case "finished":
            return "Finished", f"{sentence} {admitted.capitalize()}." if state.admitted else sentence
        case "replaced":
            return "Deleted and created anew", f"The watch goes on with the new one. {verdict}: {sentence}"
        case "gone":
            return "Deleted", "There is no job of this name any more."
        case "never":
            return "Cannot run as written", sentence + next_step
        case "standing":
            return verdict, sentence + next_step
        case "reason":
            return f"{verdict}, for another reason", sentence + next_step


def _sentence(answer: Diagnosis) -> str:
    return _full(answer.headline.sentence)


def _full(text: str) -> str:
    """Escape a sentence and give it an end, since another follows."""
    safe = _fit(text.strip())
    return safe if safe.endswith((".", "!", "?", "…")) else f"{safe}."


def _fit(text: str) -> str:
    return escape(words.shorten(text, _SENTENCE))


def _name(answer: Diagnosis) -> str:
    job = answer.job
    where = answer.asked if job is None else f"{job.namespace}/{job.name}"
    return code(words.middle(f"{answer.cluster}:{where}" if answer.cluster and ":" not in where else where, 200))


def _message(
    head: str, name: str, tail: str, users: list[str], buttons: list[Block], *, ready: bool = False
) -> Message:
    """Put a message together; `head` is escaped unless it is ready for Slack, everything else must be."""
    shown = head if ready else escape(head)
    mentions = " ".join(f"<@{user}>" for user in users)
    text = f"*{shown}* {name}\n{tail}"
    line = limits.fit([text], limits.SECTION)
    blocks: list[Block] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": line, "verbatim": True}, "expand": True}
    ]
    if mentions:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": f"{mentions} asked to be told"}]})
    if buttons:
        blocks.append({"type": "actions", "elements": buttons})
    return Message(f"{shown}: {name.strip('`')}. {tail} {mentions}".strip(), blocks)


def _stop(answer: Diagnosis) -> Block:
    return _button("Stop watching", UNWATCH, reference(answer))


def _again(asked: str, label: str) -> Block:
    return _button(label, ASK_AGAIN, asked)


def stop_button(answer: Diagnosis) -> Block:
    """Give the button that ends a watch."""
    return _stop(answer)


def _button(label: str, action: str, value: str) -> Block:
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "action_id": action,
        "accessibility_label": words.shorten(f"{label}: {words.middle(words.plain(value), 50)}", limits.BUTTON),
        "value": value[: limits.BUTTON_VALUE],
    }
