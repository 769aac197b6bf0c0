"""The desk: takes questions, answers them, and sees to it that whoever asked hears something.

`take…` methods are synchronous and do no I/O, so that Slack is acknowledged at once; the work happens in `Work`.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypedDict

from bot import telemetry
from bot.core.access import STRANGER, Decision, Grant, Person
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience
from bot.core.reference import BadReferenceError, JobRef, parse
from bot.render import card as cards
from bot.render import details, site
from bot.render.card import Message
from bot.settings import Settings
from bot.slack import wording
from bot.slack.deliveries import Deliveries, Receipt, taken
from bot.slack.gate import Gate, Permits, place_of
from bot.slack.memory import Memory
from bot.slack.people import People
from bot.slack.persons import Asker, Home, asker_of
from bot.slack.post import Place, Poster, Undeliverable
from bot.slack.work import Job, Work
from bot.store import Answer, new_id

ACKNOWLEDGE_SECONDS = 3.0
"""How long work waits for its acknowledgement to be on its way."""

_SILENT = frozenset({"shortcut", "form", "choice", "share"})
"""Ways to ask of which nobody else sees anything: the answer says who asked."""

EXPLAIN_GRACE = 5.0
"""Seconds beyond the read deadline after which an answer counts as not coming."""

_log = telemetry.log("desk")


class Explains(Protocol):
    """What answers a question about a job."""

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        """Read the cluster and give the answer as this audience may see it; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """A question with who asked, where, and how it came in."""

    ref: JobRef
    asker: Asker
    place: Place
    entry: str
    asked_at: float = field(default_factory=time.monotonic)
    decision: Decision | None = None
    """Who may see what of the answer; None when Slack or the cluster has to be asked first."""
    private: bool = False
    """Whether whoever asked wants to read the answer alone."""
    key: str = field(default_factory=new_id)
    """The id of the answer in the memory."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where an answer ended up: "thread", "private", "modal" or "lost", the root's and the card's timestamps, the card's form."""

    place: str
    form: str = ""
    root_ts: str = ""
    card_ts: str = ""


class Defaults(TypedDict):
    """How references are read in a place."""

    default_namespace: str
    default_cluster: str
    clusters: list[str]


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
        self.people = People(poster, self.home)
        self.gate = Gate(settings, self.people, self.home, service if isinstance(service, Permits) else None)

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
            return _privately(self.help(asker, place, "command"))
        verb, _, rest = text.strip().partition(" ")
        if verb.lower() in self.verbs:
            said = self.verbs[verb.lower()](rest.strip(), asker, place, sent)
            return _privately(said) if said else {}
        question = self.read(text, asker, place, "command")
        if isinstance(question, Message):
            return _privately(question)
        refusal = self.begin("answer", lambda: self.answer(question), question, sent)
        return _privately(refusal) if refusal else {}

    def help(self, asker: Asker, place: Place, entry: str) -> Message:
        """Say what can be asked, to somebody who may ask."""
        if (turned := self.turned_away(asker)) is not None:
            return turned
        if not self.home.is_member(asker):  # Slack would have to be asked, and help names channels' and clusters' names
            return wording.stranger()
        telemetry.QUESTIONS.labels(entry=entry, result="help").inc()
        return wording.help_text(self.settings, self.home.name, place.channel, self.gate.person(asker))

    def read(self, text: str, asker: Asker, place: Place, entry: str) -> Question | Message:
        """Read a text as a question; give a refusal with a working example when it is none, or may not be asked."""
        if (turned := self.turned_away(asker)) is not None:
            self.audit(entry, asker, place, "stranger" if self.home.team or self.home.enterprise else "starting")
            return turned
        text, private = wording.wish(text)
        defaults = self.defaults(asker, place)
        every: Defaults = {**defaults, "clusters": [cluster.name for cluster in self.settings.clusters if cluster.name]}
        try:
            ref = parse(text, **defaults)
        except BadReferenceError as refused:
            try:  # what may not be asked about is understood, and refused as that; what is told names what may be asked
                ref = parse(text, **every)
            except BadReferenceError:
                telemetry.QUESTIONS.labels(entry=entry, result="unreadable").inc()
                self.audit(entry, asker, place, "unreadable")
                return wording.refusal(str(refused), self.settings.slack_command)
        question = self.admit(ref, asker, place, entry)
        return replace(question, private=private) if isinstance(question, Question) else question

    def defaults(self, asker: Asker, place: Place, person: Person | None = None) -> Defaults:
        """Give what is meant where a reference leaves something out, and the clusters that this person may ask about.

        `person` with user groups where those are known; without, clusters that only a group may ask about are not among them.
        """
        held = self.settings.channel(place.channel)
        names = [cluster.name for cluster in self.settings.clusters]
        person = person or self.gate.person(asker)
        askable = self.gate.policy.clusters(person, place_of(place.channel), names)
        return {
            "default_namespace": held.default_namespace if person.member else "",
            "default_cluster": held.cluster or next(iter(askable), names[0]),
            "clusters": [name for name in askable if name],
        }

    def admit(self, ref: JobRef, asker: Asker, place: Place, entry: str) -> Question | Message:
        """Make a question of a reference, or give the refusal when this person may not ask it here."""
        question = Question(ref, asker, place, entry)
        if (turned := self.turned_away(asker)) is not None:
            self.record(question, "stranger" if self.home.team or self.home.enterprise else "starting")
            return turned
        question = replace(question, decision=self.gate.now(asker, place.channel, ref))
        if question.decision is not None and question.decision.private is None:
            self.record(question, "refused")
            return self.refusal(question.decision, ref, place)
        return question

    def refusal(self, decision: Decision, ref: JobRef, place: Place) -> Message:
        """Say why a question is refused, and what works instead."""
        if decision.refusal == STRANGER:
            return wording.stranger()
        named = sorted(self.gate.policy.named(place_of(place.channel), ref.cluster))
        return wording.refused(decision.refusal, next(iter(named), ""), self.settings.slack_command)

    def turned_away(self, asker: Asker) -> Message | None:
        """Give what is said to whoever may ask nothing at all: nobody, before it is known whose bot this is, and strangers."""
        if not self.home.team and not self.home.enterprise:
            return wording.starting()
        if self.home.is_member(asker) or self.home.is_doubtful(asker):
            return None
        return wording.stranger()

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
        place, ref = question.place, question.ref
        noted = asked_in(place, question.asker, question.key)
        if self.hand_over(name, do, sent, place=place, asked=ref.asked, entry=question.entry, ref=ref, noted=noted):
            return None
        self.record(question, "ending" if self.work.closed else "too-many")
        return self.busy(question.ref.asked)

    def hand_over(
        self,
        name: str,
        do: Callable[[], Awaitable[object]],
        sent: asyncio.Event | None,
        *,
        place: Place,
        asked: str,
        entry: str,
        ref: JobRef | None = None,
        noted: Answer | None = None,
        walks: str | None = None,
    ) -> bool:
        """Hand work over that may be no question yet; False when there is too much already, see `busy`.

        Args:
            name: what is done, for the log.
            do: does it, unless another replica had the same delivery.
            sent: set once the acknowledgement is on its way; the work begins after that.
            place: where whoever asked is told when the process ends before it is done.
            asked: what it is about, in a few words.
            entry: how it came in.
            ref: the job that it is about, None when that is not known yet.
            noted: what is written down before the acknowledgement, so that whoever asked hears of it even when the process
                dies; None when nobody waits for an answer.
            walks: the cluster of which everything is read; None when it is not.
        """
        deliveries = taken()
        first: asyncio.Future[bool]

        async def work() -> None:
            if sent is not None:
                try:
                    async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                        await sent.wait()
                except TimeoutError:
                    _log.warning("acknowledgement late", entry=entry)
            if not await first:
                telemetry.REPEATED.labels(entry=entry).inc()
                return
            try:
                await do()
            except Exception:
                if noted is not None:
                    await self.reach(place, wording.broke(asked), entry)
                    await self.memory.settled(noted.id)
                raise
            if noted is not None:
                await self.memory.settled(noted.id)

        async def abandon() -> None:
            told = False
            try:
                await self.poster.whisper(place, [wording.restarting(asked)])
                told = True
            finally:
                if noted is not None:
                    await self.memory.left(noted.id, told=told)

        cluster = walks if walks is not None else ref.cluster if ref is not None else ""
        if not self.work.take(Job(name, work, abandon, cluster, walks is not None)):
            return False
        first = self.memory.take_in(deliveries, ref, noted)
        if isinstance(sent, Receipt):
            sent.after(first)
        return True

    def busy(self, asked: str) -> Message:
        """Say why no more work is taken."""
        return wording.restarting(asked) if self.work.closed else wording.too_many(asked)

    # Answering

    async def decided(self, question: Question) -> tuple[Question, Decision]:
        """Give the question with the decision about it, asking Slack and the cluster where the rules need it."""
        decision = question.decision or await self.gate.decide(question.asker, question.place.channel, question.ref)
        return replace(question, decision=decision), decision

    def is_private(self, decision: Decision, place: Place) -> bool:
        """Tell whether an answer is for whoever asked alone: the place may not see it, or is set to private answers."""
        return decision.shown is None or (
            bool(place_of(place.channel)) and self.settings.channel(place.channel).private
        )

    async def explain(self, question: Question, *, alone: bool = False) -> Diagnosis | None:
        """Give the answer as its place may see it, or as whoever asked may see it alone; None when none came in time.

        Raises:
            PermissionError: they may not see it; the message is the refusal.
        """
        question, decision = await self.decided(question)
        grant = decision.private if alone else decision.shown
        if grant is None:
            raise PermissionError(decision.refusal)
        try:
            with telemetry.DIAGNOSIS_SECONDS.time():
                async with asyncio.timeout(self.settings.read_seconds + EXPLAIN_GRACE):
                    audience = await self._audience(question, grant, alone=alone)
                    return await self.service.explain_to(question.ref, audience)
        except TimeoutError:
            _log.error("no answer in time", asked=question.ref.asked, cluster=question.ref.cluster)
        except Exception:  # noqa: BLE001 - explain promises not to raise; whoever asked hears something all the same
            telemetry.FAULTS.labels(where="explain").inc()
            _log.exception("explain failed", asked=question.ref.asked)
        return None

    async def audience(self, question: Question) -> Audience | None:
        """Give what everybody in the question's place may see of the answer; None when that is nothing.

        For what is posted there later, too: a watch decides anew each time.
        """
        question, decision = await self.decided(question)
        return None if decision.shown is None else await self._audience(question, decision.shown, alone=False)

    async def _audience(self, question: Question, grant: Grant, *, alone: bool) -> Audience:
        where = place_of(question.place.channel)
        person = (await self.gate.known(question.asker))[0] if alone or not where else None
        return self.gate.audience(question.ref, grant, where, person)

    async def answer(self, question: Question) -> Outcome | None:
        """Answer a question: a root message and its thread, or the thread it was asked in, or privately.

        Gives where the answer ended up, None when there was none.
        """
        key = await self.memory.begin(question.ref, asked_in(question.place, question.asker, question.key))
        return await self._answer(question, key)

    async def _answer(self, question: Question, key: str) -> Outcome | None:
        question, decision = await self.decided(question)
        if decision.private is None:
            await self.tell(question, [self.refusal(decision, question.ref, question.place)], "refused")
            await self.memory.note(key, state="unanswered")
            return None
        wanted = question.private and bool(place_of(question.place.channel))
        alone = wanted or self.is_private(decision, question.place)
        if question.place.thread_ts and not alone:  # only now may the thread hear of it when this is interrupted
            await self.memory.note(key, thread=question.place.thread_ts)
        diagnosis = await self.explain(question, alone=alone)
        if diagnosis is None:
            await self.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            await self.memory.note(key, state="unanswered")
            return None
        if alone:
            why = wording.alone(decision.private.rule, hidden=decision.shown is None, wanted=wanted)
            forms = self.forms_for_one(diagnosis, why, sharable=decision.shown is not None)
            outcome = await self._whispered(question, forms)
            self.record(question, "answered", diagnosis, outcome)
            await self.memory.answered(key, diagnosis, "", "")
            return outcome
        outcome = await self._place(question, diagnosis, key)
        self.record(question, "answered", diagnosis, outcome)
        await self.memory.answered(key, diagnosis, outcome.root_ts, outcome.card_ts)
        return outcome

    def forms(self, diagnosis: Diagnosis, asked_by: str = "") -> list[Message]:
        """Give the card with what this site adds, richest form first; its buttons remember who asked, if that is given."""
        text = self.settings.site_texts.of(diagnosis.headline.rule)
        return [site.added(form, text) for form in card_forms(diagnosis, asked_by)]

    def forms_for_one(self, diagnosis: Diagnosis, remark: str, *, sharable: bool) -> list[Message]:
        """Give the card as one person sees it, with why that is so; it can be shared where its place may see an answer."""
        forms = [cards.for_one(form, sharable=sharable) for form in self.forms(diagnosis)]
        return [wording.with_remark(form, remark) for form in forms]

    async def reach(self, place: Place, message: Message, entry: str) -> None:
        """Tell whoever acted something that belongs to no question, privately; the log says when nobody hears it."""
        try:
            await self.poster.whisper(place, [message, Message(message.text)])
        except Undeliverable as lost:
            _log.error("nobody heard", entry=entry, channel=place.channel, error=lost.error)

    async def tell(self, question: Question, forms: list[Message], result: str) -> None:
        """Tell whoever asked something plain, privately."""
        try:
            await self.poster.whisper(question.place, forms)
            outcome = Outcome("private", "text")
        except Undeliverable as lost:
            _log.error("nobody heard", asked=question.ref.asked, error=lost.error)
            outcome = Outcome("lost")
        self.record(question, result, outcome=outcome)

    async def show(self, question: Question, diagnosis: Diagnosis, key: str) -> Outcome:
        """Post an answer where its place sees it: in the thread, or as a root message with the card in its thread.

        Args:
            question: who asked, and where.
            diagnosis: the answer as the place may see it.
            key: the answer's id in the memory.

        Raises:
            Undeliverable: Slack did not take it.
        """
        place = question.place
        root_ts = place.thread_ts
        forms = self.forms(diagnosis, "" if root_ts else question.asker.user)
        if root_ts and question.entry in _SILENT:
            forms = [wording.with_remark(form, wording.asked(question.asker.user)) for form in forms]
        try:
            async with asyncio.timeout(self.settings.answer_seconds):
                if not root_ts:
                    root = wording.asked_by(cards.root(diagnosis), question.asker.user)
                    posted = await self.poster.post(
                        place.channel, [root, Message(root.text)], metadata=sign(key, "root")
                    )
                    root_ts = posted.ts
                    await self.memory.rooted(key, root_ts)
                posted = await self.poster.post(place.channel, forms, thread_ts=root_ts, metadata=sign(key, "card"))
                return Outcome("thread", posted.form, root_ts, posted.ts)
        except TimeoutError:
            raise Undeliverable("timeout") from None

    async def _place(self, question: Question, diagnosis: Diagnosis, key: str) -> Outcome:
        """Post an answer, or where Slack does not take it, tell whoever asked alone."""
        place = question.place
        try:
            return await self.show(question, diagnosis, key)
        except Undeliverable as refused:
            error = refused
        _log.warning("answering privately", channel=place.channel, error=error.error)
        forms = self.forms_for_one(diagnosis, self.why_private(error), sharable=error.unwelcome)
        try:
            posted = await self.poster.whisper(place, forms)
            return Outcome("private", posted.form, place.thread_ts)
        except Undeliverable as lost:
            _log.error("answer lost", asked=question.ref.asked, channel=place.channel, error=lost.error)
            return Outcome("lost", root_ts=place.thread_ts)

    def why_private(self, error: Undeliverable) -> str:
        """Say why an answer that Slack did not take is private."""
        return wording.invite(self.home.name) if error.unwelcome else wording.slack_refused(error.error)

    # Asking again

    async def refresh(self, question: Question, card_ts: str, before: str, *, asked_by: str) -> None:
        """Answer again in place of a card, and say what changed.

        Args:
            question: the question that the card answered; its place is the card's.
            card_ts: the card, "" for a private one.
            before: the card's text, which holds the verdict and the first sentence as they were.
            asked_by: who asked first, when the thread's first message is a verdict of ours that must follow; else "".
        """
        question, decision = await self.decided(question)
        if decision.private is None or (card_ts and decision.shown is None):
            why = (
                [self.refusal(decision, question.ref, question.place)]
                if decision.private is None
                else [wording.not_shown()]
            )
            await self.tell(question, why, "refused")
            return
        diagnosis = await self.explain(question, alone=not card_ts)
        if diagnosis is None:
            await self.tell(question, [wording.no_answer(question.ref.asked)], "no-answer")
            return
        place = question.place
        forms = self.forms(diagnosis, asked_by)
        what = wording.change(before, forms[0].text, question.asker.user, diagnosis)
        if card_ts:
            forms = [wording.with_remark(form, what) for form in forms]
        else:
            forms = self.forms_for_one(diagnosis, what, sharable=decision.shown is not None)
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
            error = getattr(refused, "error", "timeout")
            _log.warning("refresh refused", error=error)
            if (
                error == "message_not_found"
            ):  # deleted; a thread may have no replies now, and then shows nothing private
                question = replace(question, place=replace(place, active=False))
            outcome = await self._whispered(question, forms)
        self.record(question, "refreshed", diagnosis, outcome)

    async def details(self, question: Question, trigger_id: str) -> None:
        """Show everything behind an answer in a modal: it opens at once and fills when the cluster was read.

        Whoever pressed reads it alone, so it holds what that person may see, which may be more than the place may.
        """
        try:
            opened = await self.poster.call("views.open", trigger_id=trigger_id, view=wording.modal([wording.READING]))
            view_id = str((opened.get("view") or {}).get("id") or "")
        except Undeliverable as refused:
            _log.warning("modal refused", error=refused.error)
            view_id = ""
        question, decision = await self.decided(question)
        diagnosis = await self.explain(question, alone=True) if decision.private is not None else None
        if diagnosis is None:
            told, result = wording.no_answer(question.ref.asked), "no-answer"
            if decision.private is None:
                told, result = self.refusal(decision, question.ref, question.place), "refused"
            if view_id:
                with contextlib.suppress(Undeliverable):
                    await self.poster.call("views.update", view_id=view_id, view=wording.modal(told.blocks))
            await self.tell(question, [told], result)
            return
        shown = details.blocks(diagnosis)
        if text := self.settings.site_texts.of(diagnosis.headline.rule):
            shown.insert(min(2, len(shown)), site.block(text))
        outcome = Outcome("modal", "card")
        try:
            if view_id:
                await self.poster.call("views.update", view_id=view_id, view=wording.modal(shown))
        except Undeliverable as refused:  # closed meanwhile
            _log.info("modal gone", error=refused.error)
            view_id = ""
        if not view_id:
            forms = self.forms(diagnosis)
            outcome = await self._whispered(question, [Message(forms[0].text, shown), *forms[1:]])
        self.record(question, "details", diagnosis, outcome)

    async def _whispered(self, question: Question, forms: list[Message]) -> Outcome:
        try:
            return Outcome("private", (await self.poster.whisper(question.place, forms)).form)
        except Undeliverable as lost:
            _log.error("answer lost", asked=question.ref.asked, error=lost.error)
            return Outcome("lost")

    # Telling what happened

    def record(
        self, question: Question, result: str, diagnosis: Diagnosis | None = None, outcome: Outcome | None = None
    ) -> None:
        """Count it, and write the audit line: who asked what, where, and what kind of answer it was."""
        telemetry.QUESTIONS.labels(entry=question.entry, result=result).inc()
        fields: dict[str, object] = {"asked": question.ref.asked, "cluster": question.ref.cluster}
        if (decision := question.decision) is not None:
            grants = [grant for grant in (decision.shown, decision.private) if grant is not None]
            level = diagnosis.withheld.level if diagnosis is not None else ""
            grant = next((each for each in grants if each.level == level), next(iter(grants), None))
            fields["access_rule"] = grant.rule if grant else ", ".join(decision.by)
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
                "disclosure": diagnosis.withheld.level, "withheld_namespaces": diagnosis.withheld.namespaces,
            }  # fmt: skip
        if outcome is not None:
            telemetry.ANSWERS.labels(place=outcome.place, form=outcome.form or "none").inc()
            telemetry.DELIVERY_SECONDS.observe(time.monotonic() - question.asked_at)
            fields |= {"place": outcome.place, "form": outcome.form}
        self.audit(question.entry, question.asker, question.place, result, **fields)

    def audit(self, entry: str, asker: Asker, place: Place, result: str, /, **fields: object) -> None:
        """Write the audit line. What a stranger or an unreadable text asked for is not in it."""
        telemetry.audit(
            "question",
            enterprise=asker.enterprise, team=asker.team, user=asker.user, channel=place.channel, entry=entry,
            result=result, **fields,
        )  # fmt: skip


SIGNATURE = "whypending_answer"
"""The event type in the metadata of the messages that answer a question."""


def asked_in(place: Place, asker: Asker, key: str = "") -> Answer:
    """Give what is noted of an answer before anything is known of it but who asked, and where."""
    return Answer(key, asker.team, asker.user, place.channel, "", "", "", 0.0, asker.enterprise)


def sign(key: str, part: str) -> dict[str, Any]:
    """Give the metadata by which a message is found again after a crash: the answer's id, and which part of it this is."""
    return {"event_type": SIGNATURE, "event_payload": {"id": key, "part": part}}


def card_forms(diagnosis: Diagnosis, asked_by: str = "") -> list[Message]:
    """Give the card, richest form first; its buttons remember who asked where the root message is a verdict of ours."""
    return [wording.remembering(cards.card(diagnosis), asked_by), cards.sections(diagnosis), cards.text_only(diagnosis)]


def _privately(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"response_type": "ephemeral", "text": message.text}
    return body | ({"blocks": message.blocks} if message.blocks else {})
