"""The Home tab: published anew whenever its owner opens it or presses something on it. Strangers get none."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from bot import telemetry
from bot.core.access import Person
from bot.core.reference import JobRef
from bot.render import asking, home
from bot.render import card as cards
from bot.render.card import Message
from bot.render.home import Recent, Spaces, Tab, Watched
from bot.render.limits import Block
from bot.slack import wording
from bot.slack.desk import Desk, Question
from bot.slack.persons import Asker, asker_of
from bot.slack.post import Place, Undeliverable
from bot.store import Watch

RECENT = 10
SPACES_SECONDS = 3.0
"""How long the namespaces of a cluster may take."""

_log = telemetry.log("home")


@runtime_checkable
class Lists(Protocol):
    """What knows the namespaces of a cluster."""

    async def namespaces(self, cluster: str) -> tuple[str, ...] | None:
        """Give their names, None when they could not be read; never raises."""
        ...


class Home:
    """Draws the Home tab and does what is pressed on it.

    Args:
        desk: knows who may ask what, and answers.
    """

    def __init__(self, desk: Desk) -> None:
        """Work for a desk."""
        self.desk = desk

    def open(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> None:
        """Take the event that somebody opened the app."""
        event = body["event"]
        if event.get("tab") != "home" or not self.desk.deliveries.first("event", str(body.get("event_id", ""))):
            return
        asker = asker_of(body)
        self._begin(asker, lambda: self.publish(asker), sent)

    def _begin(self, asker: Asker, do: Any, sent: asyncio.Event | None) -> bool:  # noqa: ANN401 - see Desk.hand_over
        return self.desk.hand_over("home", do, sent, place=Place("", asker.user), asked="your Home tab", entry="home")

    async def publish(self, asker: Asker, *, note: str = "") -> None:
        """Draw somebody's Home tab; nothing for strangers. `note` is said at its top."""
        person, _ = await self.desk.gate.known(asker)
        if not person.member or await self.desk.people.is_stranger(asker.user):
            _log.info("no home for strangers", user=asker.user, team=asker.team)
            return
        view = home.view(await self._tab(asker, person))
        if note:
            view["blocks"].insert(0, {"type": "section", "text": {"type": "mrkdwn", "text": note, "verbatim": True}})
        try:
            await self.desk.poster.call("views.publish", user_id=asker.user, view=view)
        except Undeliverable as refused:
            _log.warning("home not published", user=asker.user, error=refused.error)

    async def _tab(self, asker: Asker, person: Person) -> Tab:
        desk, memory = self.desk, self.desk.memory
        names = [cluster.name for cluster in desk.settings.clusters]
        askable = desk.gate.policy.clusters(person, "", names)
        spaces = await asyncio.gather(*(self._spaces(person, name) for name in askable))
        watched = await self._watches(asker)
        recent = await memory.recent(asker, RECENT * 3)
        told: dict[str, Recent] = {}
        for answer in recent:
            ref = JobRef(answer.namespace, answer.name, answer.kind, answer.cluster)
            told.setdefault(asking.question(ref), Recent(asking.question(ref), answer.rule, answer.outlook, answer.at))
        return Tab(
            desk.settings.slack_command, desk.home.name,
            [
                Watched(w.id, asking.question(JobRef(w.namespace, w.name, w.kind, w.cluster)), f"<#{w.channel}>", w.ends)
                for w in watched
            ],
            list(told.values())[:RECENT], spaces, "" if memory.works else "the store does not answer", [n for n in askable if n],
        )  # fmt: skip

    async def _watches(self, asker: Asker) -> tuple[Watch, ...]:
        return await self.desk.memory.watches_of(asker)

    async def _spaces(self, person: Person, cluster: str) -> Spaces:
        service = self.desk.service
        if self.desk.gate.is_reviewed(cluster):
            return Spaces(cluster, unknown="Whatever Kubernetes lets you read; that is asked for each question")
        policy = self.desk.gate.policy
        granting = policy.granting(person, "")
        if not any(p.strip("*") or rule.level == "all" for rule in granting for p in rule.namespaces):
            return Spaces(cluster, unknown="Every namespace, by its name")  # nothing is named, so nothing need be read
        known = None
        with contextlib.suppress(
            TimeoutError
        ):  # a tab that shows something at once is worth more than a whole one late
            async with asyncio.timeout(SPACES_SECONDS):
                known = await service.namespaces(cluster) if isinstance(service, Lists) else None
        if known is None:
            return Spaces(cluster, unknown="The namespaces could not be read")
        listed = policy.listed(known, "", cluster, person)
        if not listed and policy.namespaces(person, known, "", cluster):
            return Spaces(cluster, unknown="Every namespace, by its name")
        return Spaces(cluster, listed)

    def stop(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> None:
        """End the watch whose button was pressed, if it is the presser's own."""
        if not self.desk.deliveries.first("action", str(body.get("trigger_id", ""))):
            return
        asker, watch_id = asker_of(body), str(body["actions"][0].get("value", ""))
        memory = self.desk.memory

        async def end() -> None:
            mine = await self._watches(asker)
            watch = next((each for each in mine if each.id == watch_id), None)
            ended = watch is not None and await memory.forget(watch)
            telemetry.audit("unwatch", team=asker.team, user=asker.user, result="1" if ended else "0")
            await self.publish(asker, note="" if ended else "That watch had ended already.")

        self._begin(asker, end, sent)

    async def again(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> None:
        """Answer a question again, in a modal that its reader alone sees."""
        desk, asker = self.desk, asker_of(body)
        trigger_id = str(body.get("trigger_id", ""))
        if not desk.deliveries.first("action", trigger_id):
            return
        place = Place("", asker.user)
        question = desk.read(str(body["actions"][0].get("value", "")), asker, place, "home")
        view_id = await self._open(trigger_id, wording.READING if isinstance(question, Question) else None, question)
        if isinstance(question, Message):
            if not view_id:
                await desk.reach(place, question, "home")
            return
        refused = desk.begin("home", lambda: self._answer(question, view_id), question, sent)
        if refused is not None:
            await self._show(asker, view_id, refused)

    async def _open(self, trigger_id: str, block: Any, said: Question | Message) -> str:  # noqa: ANN401 - a block
        blocks = [block] if isinstance(said, Question) else _blocks(said)
        try:
            opened = await self.desk.poster.call(
                "views.open", trigger_id=trigger_id, view=wording.modal(blocks, "Answer")
            )
        except Undeliverable as refused:
            _log.warning("modal refused", error=refused.error)
            return ""
        return str((opened.get("view") or {}).get("id") or "")

    async def _answer(self, question: Question, view_id: str) -> None:
        desk = self.desk
        question, decision = await desk.decided(question)
        if decision.private is None:
            await self._show(question.asker, view_id, desk.refusal(decision, question.ref, question.place))
            desk.record(question, "refused")
            return
        diagnosis = await desk.explain(question, alone=True)
        if diagnosis is None:
            await self._show(question.asker, view_id, wording.no_answer(question.ref.asked))
            desk.record(question, "no-answer")
            return
        card = desk.forms(diagnosis)[0]
        shown = [block for block in card.blocks if block["type"] != "actions"]
        await self._show(question.asker, view_id, Message(card.text, shown), [cards.sections(diagnosis)])
        desk.record(question, "answered", diagnosis)

    async def _show(self, asker: Asker, view_id: str, message: Message, plainer: list[Message] | None = None) -> None:
        """Show a message in the modal; where there is none any more, write it into the conversation with the bot."""
        for form in [message, *(plainer or ())] if view_id else []:
            try:
                await self.desk.poster.call(
                    "views.update", view_id=view_id, view=wording.modal(_blocks(form), "Answer")
                )
            except Undeliverable as refused:
                _log.info("modal not filled", error=refused.error)
                if refused.error == "not_found":
                    break
            else:
                return
        await self.desk.reach(Place("", asker.user), message, "home")


def _blocks(message: Message) -> list[Block]:
    return message.blocks or [
        {"type": "section", "text": {"type": "mrkdwn", "text": message.text[:3000], "verbatim": True}}
    ]
