"""The desk: takes questions, answers them, and sees to it that whoever asked hears something.

`take…` methods are synchronous and do no I/O, so that Slack is acknowledged at once; the work happens in `Work`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from bot import telemetry
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience
from bot.core.reference import BadReferenceError, JobRef, parse
from bot.render import card as cards
from bot.render import details
from bot.render.card import Message
from bot.settings import Settings
from bot.slack import wording
from bot.slack.deliveries import Deliveries, taken
from bot.slack.memory import Memory
from bot.slack.post import Place, Poster, Undeliverable
from bot.slack.work import Job, Work
from bot.store import Answer

ACKNOWLEDGE_SECONDS = 3.0
"""How long work waits for its acknowledgement to be on its way."""

EXPLAIN_GRACE = 5.0
"""Seconds beyond the read deadline after which an answer counts as not coming."""

_log = telemetry.log("desk")


class Explains(Protocol):
    """What answers a question about a job."""

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        """Read the cluster and give the answer as this audience may see it; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Asker:
    """A person is an enterprise, a workspace and a user; somebody with another workspace is somebody else."""

    enterprise: str
    team: str
    user: str


@dataclass(slots=True)
class Home:
    """Who the bot is in its workspace; filled in once Slack has said so."""

    enterprise: str = ""
    team: str = ""
    user: str = ""
    bot_id: str = ""
    name: str = "whypending"

    def is_member(self, asker: Asker) -> bool:
        """Tell whether somebody belongs to the bot's own workspace or organisation."""
        if not self.team:
            return False
        return asker.team == self.team or bool(self.enterprise and asker.enterprise == self.enterprise)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with who asked, where, and how it came in."""

    ref: JobRef
    asker: Asker
    place: Place
    entry: str
    asked_at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where an answer ended up: "thread", "private", "modal" or "lost", the root's and the card's timestamps, the card's form."""

    place: str
    form: str = ""
    root_ts: str = ""
    card_ts: str = ""


Verb = Callable[[str, Asker, Place, asyncio.Event | None], Message | None]
"""Takes the rest of a slash command that began with a verb; gives what goes back with the acknowledgement, if anything."""


class Desk:
    """Answers questions from Slack.

    Args:
        settings: what holds where.
        service: answers questions.
        poster: puts answers into Slack.
        work: runs what outlives an acknowledgement.
        memory: what is remembered beyond this process; nothing when left out.
    """

    def __init__(
        self, settings: Settings, service: Explains, poster: Poster, work: Work, memory: Memory | None = None
    ) -> None:
        """Open the desk."""
        self.settings, self.service, self.poster, self.work = settings, service, poster, work
        self.memory = memory or Memory()
        self.verbs: dict[str, Verb] = {}
        """What a slash command may begin with besides a job: "watch team-a/train"."""
        self.deliveries = Deliveries()
        self.home = Home()

    # Taking questions

    def take_command(self, command: Mapping[str, Any], sent: asyncio.Event | None) -> dict[str, Any]:
        """Take a slash command; give what goes back with its acknowledgement, nothing when an answer will follow.

        Args:
            command: Slack's payload.
            sent: set once the acknowledgement is on its way; no work begins before.
        """
        if not self.deliveries.first("command", str(command.get("trigger_id", ""))):
            return {}
        asker = asker_of(command)
        place = Place(str(command["channel_id"]), asker.user, response_url=str(command.get("response_url", "")))
        text = str(command.get("text", ""))
        if wording.is_help(text):
            telemetry.QUESTIONS.labels(entry="command", result="help").inc()
            return _privately(wording.help_text(self.settings, self.home.name, place.channel))
        verb, _, rest = text.strip().partition(" ")
        if verb.lower() in self.verbs:
            said = self.verbs[verb.lower()](rest.strip(), asker, place, sent)
            return _privately(said) if said else {}
        question = self.read(text, asker, place, "command")
        if isinstance(question, Message):
            return _privately(question)
        refusal = self.begin("answer", lambda: self.answer(question), question, sent)
        return _privately(refusal) if refusal else {}

    def read(self, text: str, asker: Asker, place: Place, entry: str) -> Question | Message:
        """Read a text as a question; give a refusal with a working example when it is none, or may not be asked."""
        held = self.settings.channel(place.channel)
        names = [cluster.name for cluster in self.settings.clusters]
        try:
            ref = parse(
                text,
                default_namespace=held.default_namespace,
                default_cluster=held.cluster or names[0],
                clusters=[name for name in names if name],
            )
        except BadReferenceError as refused:
            telemetry.QUESTIONS.labels(entry=entry, result="unreadable").inc()
            return wording.refusal(str(refused), self.settings.slack_command)
        return self.admit(ref, asker, place, entry)

    def admit(self, ref: JobRef, asker: Asker, place: Place, entry: str) -> Question | Message:
        """Make a question of a reference, or give the refusal when this person may not ask it here."""
        question = Question(ref, asker, place, entry)
        if not self.home.team:
            self._record(question, "starting")
            return wording.starting(ref.asked)
        if not self.home.is_member(asker):
            self._record(question, "stranger")
            return wording.stranger()
        allowed = self.settings.channel(place.channel).namespaces
        if not any(fnmatchcase(ref.namespace, pattern) for pattern in allowed):
            self._record(question, "namespace-not-allowed")
            return wording.not_here(ref.namespace, allowed, self.settings.slack_command)
        return question

    def begin(
        self,
        name: str,
        do: Callable[[], Awaitable[object]],
        question: Question,
        sent: asyncio.Event | None = None,
    ) -> Message | None:
        """Hand work over; give a refusal when there is too much already, None when it was taken.

        Args:
            name: what is done, for the log.
            do: does it.
            question: whose question; whoever asked hears of it when the process ends before it is done.
            sent: set once the acknowledgement is on its way; the work begins after that.
        """
        deliveries = taken()

        async def work() -> None:
            if sent is not None:
                try:
                    async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                        await sent.wait()
                except TimeoutError:
                    _log.warning("acknowledgement late", entry=question.entry)
            if not await self.memory.first(deliveries):
                telemetry.REPEATED.labels(entry=question.entry).inc()
                return
            await do()

        async def abandon() -> None:
            await self.poster.whisper(question.place, [wording.restarting(question.ref.asked)])

        if self.work.take(Job(name, work, abandon)):
            return None
        self._record(question, "ending" if self.work.closed else "too-many")
        return wording.restarting(question.ref.asked) if self.work.closed else wording.too_many(question.ref.asked)

    # Answering

    def audience(self, ref: JobRef, place: Place) -> Audience:
        """Give what a channel may see of an answer."""
        held = self.settings.channel(place.channel)
        named = frozenset(name for name in held.namespaces if not set(name) & set("*?["))
        return Audience(level=held.level, namespace=ref.namespace, may_ask=named)

    async def explain(self, question: Question) -> Diagnosis | None:
        """Give the answer as whoever asked may see it, None when none came in time."""
        try:
            with telemetry.DIAGNOSIS_SECONDS.time():
                async with asyncio.timeout(self.settings.read_seconds + EXPLAIN_GRACE):
                    return await self.service.explain_to(question.ref, self.audience(question.ref, question.place))
        except TimeoutError:
            _log.error("no answer in time", asked=question.ref.asked, cluster=question.ref.cluster)
        except Exception:  # noqa: BLE001 - explain promises not to raise; whoever asked hears something all the same
            telemetry.FAULTS.labels(where="explain").inc()
            _log.exception("explain failed", asked=question.ref.asked)
        return None

    async def answer(self, question: Question) -> Outcome | None:
        """Answer a question: a root message and its thread, or the thread it was asked in, or privately.

        Gives where the answer ended up, None when there was none.
        """
        asker, place = question.asker, question.place
        key = await self.memory.begin(
            question.ref,
            Answer("", asker.team, asker.user, place.channel, "", "", "", 0.0, asker.enterprise, place.thread_ts),
        )
        diagnosis = await self.explain(question)
        if diagnosis is None:
            await self.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            await self.memory.note(key, state="unanswered")
            return None
        root = wording.asked_by(cards.root(diagnosis), question.asker.user)
        forms = card_forms(diagnosis, "" if question.place.thread_ts else question.asker.user)
        outcome = await self._place(question, [root, Message(root.text)], forms, key)
        self._record(question, "answered", diagnosis, outcome)
        await self.memory.answered(key, diagnosis, outcome.root_ts, outcome.card_ts)
        return outcome

    async def tell(self, question: Question, forms: list[Message], result: str) -> None:
        """Tell whoever asked something plain, privately."""
        try:
            await self.poster.whisper(question.place, forms)
            outcome = Outcome("private", "text")
        except Undeliverable as lost:
            _log.error("nobody heard", asked=question.ref.asked, error=lost.error)
            outcome = Outcome("lost")
        self._record(question, result, outcome=outcome)

    async def _place(self, question: Question, root: list[Message], forms: list[Message], key: str) -> Outcome:
        place = question.place
        root_ts = place.thread_ts
        try:
            async with asyncio.timeout(self.settings.answer_seconds):
                if not root_ts:
                    root_ts = (await self.poster.post(place.channel, root, metadata=sign(key, "root"))).ts
                    await self.memory.note(key, thread=root_ts)
                posted = await self.poster.post(place.channel, forms, thread_ts=root_ts, metadata=sign(key, "card"))
                return Outcome("thread", posted.form, root_ts, posted.ts)
        except TimeoutError:
            error = Undeliverable("timeout")
        except Undeliverable as refused:
            error = refused
        _log.warning("answering privately", channel=place.channel, error=error.error)
        why = wording.invite(self.home.name) if error.unwelcome else wording.slack_refused(error.error)
        try:
            posted = await self.poster.whisper(place, [wording.with_remark(form, why) for form in forms])
            return Outcome("private", posted.form, root_ts)
        except Undeliverable as lost:
            _log.error("answer lost", asked=question.ref.asked, channel=place.channel, error=lost.error)
            return Outcome("lost", root_ts=root_ts)

    # Asking again

    async def refresh(self, question: Question, card_ts: str, before: str, *, asked_by: str) -> None:
        """Answer again in place of a card, and say what changed.

        Args:
            question: the question that the card answered; its place is the card's.
            card_ts: the card, "" for a private one.
            before: the card's text, which holds the verdict and the first sentence as they were.
            asked_by: who asked first, when the thread's first message is a verdict of ours that must follow; else "".
        """
        diagnosis = await self.explain(question)
        if diagnosis is None:
            await self.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            return
        place = question.place
        forms = card_forms(diagnosis, asked_by)
        what = wording.change(before, forms[0].text, question.asker.user, diagnosis)
        forms = [wording.with_remark(form, what) for form in forms]
        try:
            async with asyncio.timeout(self.settings.answer_seconds):
                if card_ts:
                    posted = await self.poster.edit(place.channel, card_ts, forms)
                    if asked_by:
                        root = wording.asked_by(cards.root(diagnosis), asked_by)
                        await self.poster.edit(place.channel, place.thread_ts, [root, Message(root.text)])
                else:  # a private answer: only its response URL can replace it
                    posted = await self.poster.respond(place.response_url, forms, replace=True)
            outcome = Outcome("thread" if card_ts else "private", posted.form, place.thread_ts, card_ts)
        except (TimeoutError, Undeliverable) as refused:
            _log.warning("refresh refused", error=getattr(refused, "error", "timeout"))
            outcome = await self._whispered(question, forms)
        self._record(question, "refreshed", diagnosis, outcome)

    async def details(self, question: Question, trigger_id: str) -> None:
        """Show everything behind an answer in a modal: it opens at once and fills when the cluster was read."""
        try:
            opened = await self.poster.call("views.open", trigger_id=trigger_id, view=wording.modal([wording.READING]))
            view_id = str((opened.get("view") or {}).get("id") or "")
        except Undeliverable as refused:
            _log.warning("modal refused", error=refused.error)
            view_id = ""
        diagnosis = await self.explain(question)
        if diagnosis is None:
            await self.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            return
        shown = details.blocks(diagnosis)
        outcome = Outcome("modal", "card")
        try:
            if view_id:
                await self.poster.call("views.update", view_id=view_id, view=wording.modal(shown))
        except Undeliverable as refused:  # closed meanwhile
            _log.info("modal gone", error=refused.error)
            view_id = ""
        if not view_id:
            forms = card_forms(diagnosis)
            outcome = await self._whispered(question, [Message(forms[0].text, shown), *forms[1:]])
        self._record(question, "details", diagnosis, outcome)

    async def _whispered(self, question: Question, forms: list[Message]) -> Outcome:
        try:
            return Outcome("private", (await self.poster.whisper(question.place, forms)).form)
        except Undeliverable as lost:
            _log.error("answer lost", asked=question.ref.asked, error=lost.error)
            return Outcome("lost")

    # Telling what happened

    def _record(
        self, question: Question, result: str, diagnosis: Diagnosis | None = None, outcome: Outcome | None = None
    ) -> None:
        """Count it, and write the audit line: who asked what, where, and what kind of answer it was."""
        telemetry.QUESTIONS.labels(entry=question.entry, result=result).inc()
        fields: dict[str, object] = {
            "enterprise": question.asker.enterprise, "team": question.asker.team, "user": question.asker.user,
            "channel": question.place.channel, "entry": question.entry, "asked": question.ref.asked,
            "cluster": question.ref.cluster, "result": result,
        }  # fmt: skip
        if diagnosis is not None:
            headline = diagnosis.headline.rule
            telemetry.HEADLINES.labels(
                rule=headline, outlook=diagnosis.outlook, complete=str(diagnosis.complete).lower()
            ).inc()
            for fault in diagnosis.faults:
                telemetry.FAULTS.labels(where=fault.partition(":")[0]).inc()
                _log.error("rule broke", fault=fault)
            fields |= {
                "rule": headline, "outlook": diagnosis.outlook, "complete": diagnosis.complete,
                "level": diagnosis.withheld.level, "withheld_namespaces": diagnosis.withheld.namespaces,
            }  # fmt: skip
        if outcome is not None:
            telemetry.ANSWERS.labels(place=outcome.place, form=outcome.form or "none").inc()
            telemetry.DELIVERY_SECONDS.observe(time.monotonic() - question.asked_at)
            fields |= {"place": outcome.place, "form": outcome.form}
        telemetry.audit("question", **fields)


def asker_of(payload: Mapping[str, Any]) -> Asker:
    """Tell who is behind a slash command, an interaction or an event's outer payload with its event."""
    event = payload.get("event")
    if isinstance(event, Mapping):
        team = event.get("user_team") or event.get("source_team") or event.get("team") or payload.get("team_id")
        enterprise = payload.get("enterprise_id") if team == payload.get("team_id") else ""
        return Asker(str(enterprise or ""), str(team or ""), str(event.get("user") or ""))
    user = payload.get("user")
    if isinstance(user, Mapping):
        team_of = payload.get("team") or {}
        enterprise_of = payload.get("enterprise") or {}
        team = user.get("team_id") or team_of.get("id")
        enterprise = enterprise_of.get("id") if team == team_of.get("id") else ""
        return Asker(str(enterprise or ""), str(team or ""), str(user.get("id") or ""))
    return Asker(
        str(payload.get("enterprise_id") or ""), str(payload.get("team_id") or ""), str(payload.get("user_id") or "")
    )


SIGNATURE = "whypending_answer"
"""The event type in the metadata of the messages that answer a question."""


def sign(key: str, part: str) -> dict[str, Any]:
    """Give the metadata by which a message is found again after a crash: the answer's id, and which part of it this is."""
    return {"event_type": SIGNATURE, "event_payload": {"id": key, "part": part}}


def card_forms(diagnosis: Diagnosis, asked_by: str = "") -> list[Message]:
    """Give the card, richest form first; its buttons remember who asked where the root message is a verdict of ours."""
    return [wording.remembering(cards.card(diagnosis), asked_by), cards.sections(diagnosis), cards.text_only(diagnosis)]


def _privately(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"response_type": "ephemeral", "text": message.text}
    return body | ({"blocks": message.blocks} if message.blocks else {})
