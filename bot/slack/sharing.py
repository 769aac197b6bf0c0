"""Sharing: makes of a private answer one for its place, read anew and no wider than the place may see."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cachetools import TTLCache

from bot import telemetry
from bot.slack import wording
from bot.slack.desk import Desk, Question, asked_in
from bot.slack.post import Undeliverable

SECONDS = 3600.0
"""How long a press is remembered; afterwards the button is gone from the message that was replaced."""

_log = telemetry.log("sharing")


class Sharing:
    """Shares each private answer once."""

    def __init__(self) -> None:
        """Start with nothing shared."""
        self._shared: TTLCache[tuple[str, str], None] = TTLCache(maxsize=10_000, ttl=SECONDS)

    async def share(self, desk: Desk, question: Question, body: Mapping[str, Any]) -> None:
        """Share the answer to a question.

        Args:
            desk: answers.
            question: the one in the button's value; its place is where the private answer stands.
            body: Slack's payload.
        """
        container = body.get("container") or {}
        pressed = (question.place.channel, str(container.get("message_ts") or ""))
        question, decision = await desk.decided(question)
        if decision.private is None:
            await desk.tell(question, [desk.refusal(decision, question.ref, question.place)], "refused")
            return
        if decision.shown is None:
            why = wording.place_sees_nothing(question.ref.namespace)
            await desk.tell(question, [wording.not_shared(why)], "not-shared")
            return
        if pressed in self._shared:
            await desk.tell(question, [wording.shared_before()], "shared-before")
            return
        self._shared[pressed] = None
        asker, place = question.asker, question.place
        answer = replace(asked_in(place, asker, question.key), thread=place.thread_ts)
        key = await desk.memory.begin(question.ref, answer)
        diagnosis = await desk.explain(question)
        if diagnosis is None:
            self._shared.pop(pressed, None)
            await desk.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            await desk.memory.note(key, state="unanswered")
            return
        try:
            outcome = await desk.show(question, diagnosis, key)
        except Undeliverable as refused:
            self._shared.pop(pressed, None)
            _log.warning("not shared", channel=place.channel, error=refused.error)
            why = desk.why_private(refused)
            await desk.tell(question, [wording.not_shared(why)], "not-shared")
            await desk.memory.note(key, state="unanswered")
            return
        desk.record(question, "shared", diagnosis, outcome)
        await desk.memory.answered(key, diagnosis, outcome.root_ts, outcome.card_ts)
        own = await desk.explain(question, alone=True)
        if own is not None and place.response_url:
            forms = desk.forms_for_one(own, wording.shared_by(asker.user), sharable=False)
            with contextlib.suppress(Undeliverable):  # too old to be replaced: its button says that it was shared
                await desk.poster.respond(place.response_url, forms, replace=True)
