"""Being talked to: mentions, direct messages, the message shortcut, and the form and the choices that ask back.

A mention answers in its thread. Without a job in its own words the thread's messages are read (scopes `channels:history`
and so on, which the fewest rights do not have), else the message alone: one job is answered, of several one is chosen.
"""

import asyncio
import contextlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cachetools import TTLCache

from bot import telemetry
from bot.core.reference import BadReferenceError, JobRef, parse
from bot.render import asking
from bot.render.asking import Whence
from bot.render.card import Message
from bot.slack import reading, wording
from bot.slack.desk import Defaults, Desk, Question, asked_in
from bot.slack.home import Lists
from bot.slack.persons import Asker, asker_of
from bot.slack.post import Place, Undeliverable
from bot.store import new_id

WHY, ASK_WHY = "why-pending", "ask-why-pending"
"""The callback ids of the message shortcut and of the global one."""

NAMESPACES_SECONDS = 1.0
"""How long the namespaces of a cluster may take: a form must open within three seconds."""

PAGES, PAGE = 3, 200
"""How much of a thread is read: pages, and messages on each."""

HISTORY = {"C": "channels:history", "G": "groups:history", "D": "im:history"}
"""The scope that reading a thread needs, by the first letter of the channel's id."""

_CHATTER = re.compile(
    r"(?:(?:hey|hi|hello|please|pls|why|what|whats|up|is|it|this|that|here|pending|stuck|now|again|can|could|you|check|look|at|"
    r"the|a|job|tell|me|us|about|happening|wrong|with|going|on|not|running|starting|still|waiting|any|idea|help|thanks)\W*)+",
    re.IGNORECASE,
)
"""Words that ask about what stands around them and name nothing."""

_log = telemetry.log("talk")


@dataclass(frozen=True, slots=True)
class Heard:
    """Somebody spoke to the bot: who, where the answer goes, by which way it came, and the message."""

    asker: Asker
    place: Place
    entry: Literal["mention", "message"]
    event: Mapping[str, Any]
    key: str = field(default_factory=new_id)
    """The id of its answer in the memory."""

    @property
    def thread_ts(self) -> str:
        """The thread in which it was said, "" when it began one."""
        return str(self.event.get("thread_ts") or "")


class Talk:
    """Hears, asks back, and hands questions to the desk.

    Args:
        desk: answers.
    """

    def __init__(self, desk: Desk) -> None:
        """Listen for a desk."""
        self.desk = desk
        self._lacking: set[str] = set()
        self._chosen: TTLCache[tuple[str, str, str], None] = TTLCache(maxsize=10_000, ttl=600)

    # Mentions and direct messages

    def hear(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> Message | None:
        """Take a mention or a direct message; gives what is said when no more work is taken."""
        event = body["event"]
        if not self._is_for_us(event):
            return None
        desk, channel, ts = self.desk, str(event["channel"]), str(event["ts"])
        if not desk.deliveries.first("event", str(body.get("event_id", ""))):
            return None
        if not desk.deliveries.first("message", f"{channel}:{ts}"):  # a mention in a direct message comes as two events
            return None
        asker = asker_of(body)
        thread_ts = str(event.get("thread_ts") or "")
        place = Place(channel, asker.user, thread_ts or ts, active=bool(thread_ts))
        heard = Heard(asker, place, "message" if event.get("type") == "message" else "mention", event)
        taken = desk.hand_over(
            heard.entry, lambda: self._answer(heard), sent, place=place, asked="your question", entry=heard.entry,
            noted=asked_in(place, asker, heard.key),
        )  # fmt: skip
        return None if taken else desk.busy("your question")

    def _is_for_us(self, event: Mapping[str, Any]) -> bool:
        """Tell whether a person just said it: no edit, no bot, nothing that merely happened in a conversation."""
        if event.get("type") == "message" and event.get("channel_type") != "im":
            return False
        if (
            event.get("subtype") not in {None, "file_share", "thread_broadcast"}
            or event.get("edited")
            or event.get("hidden")
        ):
            return False
        if event.get("bot_id") or event.get("bot_profile"):
            return False
        return bool(event.get("user")) and event.get("user") not in {self.desk.home.user, "USLACKBOT"}

    async def _answer(self, heard: Heard) -> None:
        desk, asker, place = self.desk, heard.asker, heard.place
        text, private = wording.wish(str(heard.event.get("text") or ""))
        said = self._words(text)
        if wording.is_help(said) or desk.turned_away(asker) is not None:
            if desk.turned_away(asker) is not None:
                desk.audit(
                    heard.entry, asker, place, "stranger" if desk.home.team or desk.home.enterprise else "starting"
                )
            await self._say(heard, desk.help(asker, place, heard.entry))
            return
        verb, _, rest = said.partition(" ")
        if verb.lower() in desk.verbs:
            told = desk.verbs[verb.lower()](rest.strip(), asker, place, None)
            if told is not None:
                await self._say(heard, told)
            return
        defaults = await self._defaults(asker, place)
        problem, refs = self._named(said, heard, defaults)
        lacking = ""
        if not refs and heard.thread_ts and not problem.certain:
            messages, lacking = await self._thread(place.channel, heard.thread_ts)
            refs = await self._jobs_of(messages, defaults)
            if problem.word:
                refs = [ref for ref in refs if ref.name == problem.word]
            elif not refs:
                refs = await self._remembered(place.channel, heard.thread_ts)
        if len(refs) > 1:
            refs = await self._likely(refs, asker, place)
        if len(refs) == 1:
            await self._ask(refs[0], heard, private=private)
        elif refs:
            telemetry.QUESTIONS.labels(entry=heard.entry, result="asked-back").inc()
            await self._say(heard, asking.choice(refs, f"@{desk.home.name} {asking.question(refs[0])}"))
        else:
            telemetry.QUESTIONS.labels(entry=heard.entry, result="unreadable").inc()
            desk.audit(heard.entry, asker, place, "unreadable")
            await self._say(
                heard, wording.no_job(desk.home.name, problem.sentence, lacking, in_thread=bool(heard.thread_ts))
            )

    def _words(self, text: str) -> str:
        """Give what was said without the mention of the bot and without courtesies around it."""
        bare = text.replace(f"<@{self.desk.home.user}>", " ")
        return " ".join(re.sub(r"<@[UW][A-Z0-9]+(\|[^>]*)?>", " ", bare).split()).strip(" ,:;!")

    async def _defaults(self, asker: Asker, place: Place) -> Defaults:
        """Give what `Desk.defaults` gives, with the clusters that somebody may ask about by a user group, if Slack tells soon."""
        person = None
        if self.desk.gate.policy.groups:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(NAMESPACES_SECONDS):
                    person, _ = await self.desk.gate.known(asker)
        return self.desk.defaults(asker, place, person)

    def _named(self, said: str, heard: Heard, defaults: Defaults) -> tuple["Problem", list[JobRef]]:
        """Read the job that the message itself names; with several, or with something else in it, all that it names."""
        if said and not _CHATTER.fullmatch(said):
            problem = NO_PROBLEM
            try:
                ref = parse(said, **defaults)
            except BadReferenceError as refused:
                problem = _problem(said, str(refused))
            else:
                if ref.kind or _is_written_as_one(said):
                    return problem, [ref]
        else:
            problem = NO_PROBLEM
        event = {**heard.event, "text": said}
        blocks = {key: value for key, value in event.items() if key != "blocks"}  # the text says the same
        return problem, list(reading.jobs([blocks], **defaults))

    def _jobs(self, messages: Sequence[Mapping[str, Any]], defaults: Defaults) -> list[JobRef]:
        home = self.desk.home
        own = frozenset({home.user, home.bot_id} - {""})
        return list(reading.jobs(messages, own=own, **defaults))

    async def _jobs_of(self, messages: Sequence[Mapping[str, Any]], defaults: Defaults) -> list[JobRef]:
        """Read the messages of a thread, with a pause after each: others are answered meanwhile."""
        found: list[JobRef] = []
        for message in messages:
            found += self._jobs([message], defaults)
            await asyncio.sleep(0)
        return list(reading.merged(found))

    async def _likely(self, refs: Sequence[JobRef], asker: Asker, place: Place) -> list[JobRef]:
        """Leave out of several what only looks like a job: of those that may be asked about, what names no namespace.

        Never gives none of them; what cannot be told in a moment stays.
        """
        allowed = [ref for ref in refs if (now := self.desk.gate.now(asker, place.channel, ref)) and now.private]
        service = self.desk.service
        if len(allowed) < 2 or not isinstance(service, Lists):
            return allowed or list(refs)
        spaces: dict[str, frozenset[str]] = {}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NAMESPACES_SECONDS):
                for cluster in dict.fromkeys(ref.cluster for ref in allowed):
                    if (known := await service.namespaces(cluster)) is not None:
                        spaces[cluster] = frozenset(known)
        there = [ref for ref in allowed if ref.cluster not in spaces or ref.namespace in spaces[ref.cluster]]
        return there or allowed

    async def _remembered(self, channel: str, ts: str) -> list[JobRef]:
        """Give the job of our latest answer that stands in a message or its thread; the store knows it without a scope."""
        answer = await self.desk.memory.answer_of(channel, ts)
        return [] if answer is None else [JobRef(answer.namespace, answer.name, answer.kind, answer.cluster)]

    async def _thread(self, channel: str, thread_ts: str) -> tuple[list[Mapping[str, Any]], str]:
        """Read a thread; gives its messages, and why they are not all there."""
        messages: list[Mapping[str, Any]] = []
        more: dict[str, str] = {}
        for _ in range(PAGES):
            try:
                told = await self.desk.poster.call(
                    "conversations.replies", channel=channel, ts=thread_ts, limit=PAGE, **more
                )
            except Undeliverable as refused:
                return messages, self._why_unread(channel, refused)
            messages += [each for each in told.get("messages") or () if isinstance(each, Mapping)]
            cursor = (told.get("response_metadata") or {}).get("next_cursor")
            if not told.get("has_more") or not cursor:
                break
            more = {"cursor": str(cursor)}
        return messages, ""

    def _why_unread(self, channel: str, refused: Undeliverable) -> str:
        if refused.error != "missing_scope":
            _log.warning("thread not read", channel=channel, error=refused.error)
            return f"this thread could not be read ({refused.error})"
        scope = refused.needed or HISTORY.get(channel[:1], "channels:history")
        if scope not in self._lacking:
            self._lacking.add(scope)
            _log.warning("threads cannot be read: the app lacks a scope", scope=scope)
        return f"this app may not read threads here (it lacks the scope {scope})"

    async def _ask(self, ref: JobRef, heard: Heard, *, private: bool) -> None:
        question = self.desk.admit(ref, heard.asker, heard.place, heard.entry)
        if isinstance(question, Message):
            await self._say(heard, question, alone=True)
            return
        await self.desk.answer(replace(question, private=private, key=heard.key))

    async def _say(self, heard: Heard, message: Message, *, alone: bool = False) -> None:
        """Say something that is no answer: in the thread where the question was asked, a refusal to the asker alone."""
        poster, place = self.desk.poster, heard.place
        if not alone:
            try:
                await poster.post(place.channel, [message, Message(message.text)], thread_ts=place.thread_ts)
            except Undeliverable as refused:
                _log.warning("saying it privately", channel=place.channel, error=refused.error)
            else:
                return
        await self.desk.reach(place, message, heard.entry)

    # Choosing one of several

    async def pick(self, body: Mapping[str, Any], place: Place, sent: asyncio.Event | None) -> None:
        """Answer about the job that was chosen, once."""
        desk, action = self.desk, body["actions"][0]
        if not desk.deliveries.first("action", str(body.get("trigger_id", ""))):
            return
        value = str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
        container = body.get("container") or {}
        key = (place.channel, str(container.get("message_ts") or ""), value)
        if key in self._chosen:
            await desk.reach(place, wording.chosen_before(value), "choice")
            return
        question = desk.read(value, asker_of(body), place, "choice")
        refused = question if isinstance(question, Message) else self.begin(question, sent)
        if refused is not None:
            await desk.reach(place, refused, "choice")
            return
        self._chosen[key] = None

    def begin(self, question: Question, sent: asyncio.Event | None) -> Message | None:
        """Hand a question over; gives what is said when no more work is taken."""
        return self.desk.begin("answer", lambda: self.desk.answer(question), question, sent)

    # The message shortcut and the form

    async def use(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> None:
        """Take a shortcut: answer in the thread of the message when it names one job, else open the form."""
        desk = self.desk
        trigger_id = str(body.get("trigger_id", ""))
        if not desk.deliveries.first("shortcut", trigger_id):
            return
        asker, message = asker_of(body), body.get("message") or {}
        channel = str((body.get("channel") or {}).get("id") or "")
        thread_ts = str(message.get("thread_ts") or message.get("ts") or body.get("message_ts") or "")
        place = Place(
            channel, asker.user, thread_ts if channel else "", str(body.get("response_url") or ""),
            active=bool(message.get("thread_ts") or message.get("reply_count")),
        )  # fmt: skip
        if (turned := desk.turned_away(asker)) is not None:
            desk.audit("shortcut", asker, place, "stranger")
            await desk.reach(place, turned, "shortcut")
            return
        defaults = await self._defaults(asker, place)
        refs = self._jobs([message], defaults) if message else []
        if not refs and message.get("user") == desk.home.user:
            refs = await self._remembered(channel, str(message.get("ts") or ""))
        if len(refs) > 1:
            refs = await self._likely(refs, asker, place)
        if len(refs) == 1:
            question = desk.admit(refs[0], asker, place, "shortcut")
            refused = question if isinstance(question, Message) else self.begin(question, sent)
            if refused is not None:
                await desk.reach(place, refused, "shortcut")
            return
        await self.open_form(asker, place, trigger_id, refs)

    async def open_form(self, asker: Asker, place: Place, trigger_id: str, refs: Sequence[JobRef] = ()) -> None:
        """Open the form; where it cannot be opened, ask with buttons or say how to ask."""
        desk = self.desk
        defaults = await self._defaults(asker, place)
        whence = Whence(
            place.channel, place.thread_ts, place.active, place.response_url, tuple(asking.question(r) for r in refs)
        )
        view = asking.form(
            whence, defaults["clusters"], cluster=defaults["default_cluster"], namespace=defaults["default_namespace"]
        )
        telemetry.QUESTIONS.labels(entry="form", result="opened").inc()
        try:
            await desk.poster.call("views.open", trigger_id=trigger_id, view=view)
        except Undeliverable as refused:
            _log.warning("form refused", error=refused.error)
            example = f"{desk.settings.slack_command} {asking.question(refs[0]) if refs else 'team-a/train'}"
            plain = (
                asking.choice(refs, example) if refs else wording.no_form(desk.settings.slack_command, refused.error)
            )
            await desk.reach(place, plain, "form")

    def submitted(self, body: Mapping[str, Any]) -> Question | Message | dict[str, str] | None:
        """Read a submitted form: a question, a refusal, sentences by block to show in the form, or None when it is repeated."""
        desk, view, asker = self.desk, body["view"], asker_of(body)
        values = (view.get("state") or {}).get("values") or {}
        whence = Whence.unpacked(str(view.get("private_metadata") or ""))
        place = Place(whence.channel, asker.user, whence.thread_ts, whence.response_url, active=whence.active)
        if not place.channel:
            urls = [each for each in body.get("response_urls") or () if isinstance(each, Mapping)]
            url = next((str(each.get("response_url") or "") for each in urls), "")
            place = replace(place, channel=asking.where(values), response_url=url)
        if (turned := desk.turned_away(asker)) is not None:
            return turned
        defaults = desk.defaults(asker, place)
        every = [cluster.name for cluster in desk.settings.clusters if cluster.name]
        try:
            ref = asking.filled_in(values, whence.found, defaults["clusters"], defaults["default_cluster"])
        except (asking.FormError, BadReferenceError) as wrong:
            try:  # a cluster that only a user group may ask about; what is told names what may be asked
                ref = asking.filled_in(values, whence.found, every, defaults["default_cluster"])
            except (asking.FormError, BadReferenceError):
                return wrong.errors if isinstance(wrong, asking.FormError) else {asking.NAME: str(wrong)}
        question = desk.admit(ref, asker, place, "form")
        if isinstance(question, Message):
            return {asking.NAMESPACE: html.unescape(question.text)}
        # A form is submitted once, however often its button is pressed before it closes.
        if not desk.deliveries.first("view", str(view.get("id") or body.get("trigger_id") or view.get("hash") or "")):
            return None
        return question


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the words of a message name no job: `sentence` says it, `word` is a bare name that lacks a namespace.

    `certain` when they were meant to name one: then nobody looks elsewhere.
    """

    sentence: str = ""
    word: str = ""
    certain: bool = False


NO_PROBLEM = Problem()


def _is_written_as_one(said: str) -> bool:
    """Tell whether a text is written as a reference: two words of a sentence are no namespace and name."""
    words = said.split()
    return len(words) == 1 or any("/" in word or word.startswith("-") for word in words)


def _problem(said: str, sentence: str) -> Problem:
    if " " in said:
        return NO_PROBLEM
    if "/" in said or ":" in said:
        return Problem(sentence, certain=True)
    return Problem(sentence, word=said.strip("`'\"*_?.!").lower())
