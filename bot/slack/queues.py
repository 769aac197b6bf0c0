"""`/whypending queue CLUSTERQUEUE` and `/whypending digest`: many jobs at once, as the place may see them.

What a place may see of a queue follows from the namespaces that lead into it: those that may be asked about there are
named, and where one of them may be asked about at level `queue` or wider, all that share the queue are.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot import telemetry
from bot.core import objects as o
from bot.core import queue_view
from bot.core.access import LEVELS, Grant
from bot.core.diagnosis import Level
from bot.core.digest import Selection
from bot.core.digest_view import EVERYTHING, View
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.kube.client import ReadError, is_name
from bot.render import digest as rendered
from bot.render import picture as pictures
from bot.render import queue as rendered_queue
from bot.render.card import Message
from bot.render.words import code, escape
from bot.service import Service, UnknownClusterError
from bot.slack.desk import Desk, asked_in
from bot.slack.digest import PAUSE_SECONDS, Picture, everything, upload
from bot.slack.gate import place_of
from bot.slack.persons import Asker
from bot.slack.post import Place, Undeliverable
from bot.store import new_id
from bot.survey import Surveyed, apart, seen, survey

SECONDS = 120.0
"""So long after it was asked for, a walk of a whole cluster is given up; waiting for its turn counts."""
MOST_NAMESPACES = 500
"""Namespaces about which it is decided whether they may be named."""
WHISPERS = 4
"""Messages of a private answer; a response URL takes five."""

_log = telemetry.log("queues")


@dataclass(frozen=True, slots=True)
class Sight:
    """What may be shown: the namespaces that count, those that are named, the level, and whether to whoever asked alone.

    `refusal` when nothing.
    """

    namespaces: frozenset[str]
    named: frozenset[str]
    level: Level
    private: bool
    least: Level = "namespace"
    """The level that holds for every one of the namespaces."""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture, and in words what it shows."""

    content: bytes
    words: str


class Queues:
    """Answers about many jobs at once.

    Args:
        desk: whose settings, rules and poster are used.
        service: looks at clusters.
        pause: seconds between two messages to a channel.
        seconds: after which an answer is given up.
    """

    def __init__(self, desk: Desk, service: Service, *, pause: float = PAUSE_SECONDS, seconds: float = SECONDS) -> None:
        """Take the means."""
        self.desk, self.service, self.pause, self.seconds = desk, service, pause, seconds

    def register(self) -> None:
        """Answer the verbs `queue` and `digest` of the slash command and of mentions."""
        self.desk.verbs |= {"queue": self.take_queue, "digest": self.take_digest}

    # Taking

    def take_queue(self, rest: str, asker: Asker, place: Place, sent: asyncio.Event | None) -> Message | None:
        """Take "queue gpu-cq" or "queue prod:gpu-cq"; give a refusal, None when an answer will follow."""
        cluster, name = self._cluster(rest.removeprefix("clusterqueue/"), asker, place)
        if not is_name(name):
            shown = f"{self.desk.settings.slack_command} queue gpu-cq"
            return _said(
                f"{escape(rest[:80]) or 'That'} is not a ClusterQueue's name; a right one looks like {code(shown)}"
            )
        return self._take("queue", name, lambda: self._queue(name, cluster, asker, place), cluster, asker, place, sent)

    def take_digest(self, rest: str, asker: Asker, place: Place, sent: asyncio.Event | None) -> Message | None:
        """Take "digest" or "digest prod": everything pending that may be asked about here."""
        cluster, name = self._cluster(rest if ":" in rest or not rest else f"{rest}:", asker, place)
        if name:
            shown = f"{self.desk.settings.slack_command} digest"
            return _said(f"A digest takes no name here; a right one looks like {code(shown)}")
        return self._take(
            "digest", "everything", lambda: self._digest(cluster, asker, place), cluster, asker, place, sent
        )

    def _cluster(self, text: str, asker: Asker, place: Place) -> tuple[str, str]:
        defaults = self.desk.defaults(asker, place)
        before, colon, after = text.strip().partition(":")
        if colon and before in defaults["clusters"]:
            return before, after.strip()
        return defaults["default_cluster"], text.strip()

    def _take(  # noqa: PLR0917 - what a verb is given, and what it does with it
        self, verb: str, what: str, do: Callable[[], object], cluster: str, asker: Asker, place: Place,
        sent: asyncio.Event | None,
    ) -> Message | None:  # fmt: skip
        if (turned := self.desk.turned_away(asker)) is not None:
            return turned

        loop = asyncio.get_running_loop()
        until = loop.time() + self.seconds  # whoever asked before gives up before: the turn comes by then

        async def work() -> None:
            result, crowded = "answered", until - loop.time() < self.seconds / 2
            try:
                async with asyncio.timeout_at(until):
                    told = await do()  # type: ignore[misc]
                    result = str(told or result)
            except (TimeoutError, UnknownClusterError, Undeliverable) as failed:
                result = "no-answer"
                _log.warning("no answer", verb=verb, error=str(failed) or type(failed).__name__)
                why = "many asked at once, ask again in a minute" if crowded else "it took too long"
                await self._whisper(place, [_said(f"No answer about {escape(what)}: {escape(str(failed)) or why}.")])
            telemetry.QUESTIONS.labels(entry=verb, result=result).inc()
            self.desk.audit(verb, asker, place, result, asked=what)

        taken = self.desk.hand_over(
            verb, work, sent, place=place, asked=f"{verb} {what}", entry=verb,
            noted=asked_in(place, asker, new_id()), walks=cluster,
        )  # fmt: skip
        return None if taken else self.desk.busy(f"{verb} {what}")

    # Answering

    async def _queue(self, name: str, cluster: str, asker: Asker, place: Place) -> str:
        wanted = queue_view.selection(name)
        found = await survey(self.service, wanted, cluster)
        queue = await apart(lambda: queue_view.of_queue(found.snapshot, name, found.report, self.service.thresholds))
        concerned = _concerned(found, name)
        sight = await self._sight(concerned or _all(found.snapshot), cluster, asker, place)
        if sight.refusal or not queue.rows:
            # the same words for a queue of others and for one that does not exist
            near = [] if sight.refusal else _own(queue.suggestions, found.snapshot, sight.named)
            meant = f" Did you mean {' or '.join(map(code, near))}?" if near else ""
            unread = " Not everything could be read." if found.report.missing else ""
            text = f"No ClusterQueue {code(name)} is used by a namespace that may be asked about here.{meant}{unread}"
            await self._whisper(place, [_said(text)])
            return "refused" if sight.refusal else "not-found"
        named = replace(wanted, named=tuple(sorted(sight.named)))
        shown = await seen(found, named, sight.level, self.service.thresholds)
        wide = sight.level != "namespace"
        sees = {held.namespace: wide or held.namespace in sight.named for held in queue.holders}
        if sight.level not in {"cohort", "all"}:
            queue = replace(queue, levels=())
        messages = [rendered_queue.root(queue, shown), *rendered_queue.replies(queue, shown, sees)]
        files = [] if sight.private else await self._files(found, named, sight.level, shown, lambda: _of_queue(queue))
        await self._put(place, messages, private=sight.private, files=files, again=f"whypending queue {name}")
        return "answered"

    async def _digest(self, cluster: str, asker: Asker, place: Place) -> str:
        try:
            listing = await self.service.reader(cluster).client.shared_list("/api/v1/namespaces", "Namespace", "v1")
        except ReadError as error:
            await self._whisper(place, [_said(f"No digest: namespaces: {escape(error.reason)}.")])
            return "no-answer"
        sight = await self._sight((item.name for item in listing.objects), cluster, asker, place)
        if sight.refusal:
            await self._whisper(place, [_said(escape(sight.refusal))])
            return "refused"
        all_of_them = len(sight.namespaces) == len(listing.objects)
        wanted = Selection(namespaces=("*",) if all_of_them else tuple(sorted(sight.namespaces)))
        found = await survey(self.service, wanted, cluster)
        named = Selection(named=tuple(sorted(sight.named)))
        level: Level = "all" if sight.least == "all" else "namespace"
        shown = await seen(found, named, level, self.service.thresholds)

        def picture() -> Drawn | None:
            visible = {line.queue for line in shown.lines}
            drawn = [use for use in queue_view.uses(found.snapshot, found.report) if use[0] in visible]
            return Drawn(pictures.of_digest(drawn, ()), pictures.described(drawn, ())) if drawn else None

        files = [] if sight.private else await self._files(found, named, level, shown, picture)
        messages = [rendered.root(shown), *rendered.replies(shown)]
        await self._put(place, messages, private=sight.private, files=files, again="whypending digest")
        return "answered"

    async def _files(
        self, found: Surveyed, named: Selection, level: Level, shown: View, draw: Callable[[], Drawn | None]
    ) -> list[Picture]:
        """Give the picture, where pictures can be drawn, and what the messages leave out."""
        files = []
        try:
            drawn = await apart(draw)
        except pictures.MissingPillowError as missing:
            _log.debug("no picture", error=str(missing))
        else:
            if drawn is not None:
                files.append(Picture("queues.png", drawn.content, "Quota", drawn.words))
        if rendered.needs_tail(shown):
            whole = await seen(found, named, level, self.service.thresholds, examples=EVERYTHING)
            files.append(everything(await apart(lambda: rendered.text(whole, whole=True))))
        return files

    async def _sight(self, namespaces: Iterable[str], cluster: str, asker: Asker, place: Place) -> Sight:
        where = place_of(place.channel)
        shown: dict[str, Grant] = {}
        alone: dict[str, Grant] = {}
        refusal = "No access rule lets you ask about any namespace that this is about."
        for namespace in sorted(set(namespaces))[:MOST_NAMESPACES]:
            decision = await self.desk.gate.decide(asker, place.channel, JobRef(namespace, "any", cluster=cluster))
            if decision.shown is not None:
                shown[namespace] = decision.shown
            if decision.private is not None:
                alone[namespace] = decision.private
            elif decision.refusal:
                refusal = decision.refusal
        private = self.desk.settings.channel(place.channel).private or not shown
        granted = alone if private else shown
        if not granted:
            return Sight(frozenset(), frozenset(), "namespace", private=True, refusal=refusal)
        levels = sorted((grant.level for grant in granted.values()), key=LEVELS.index)
        person = (await self.desk.gate.known(asker))[0] if private or not where else None
        named = self.desk.gate.policy.listed(granted, where, cluster, person)
        return Sight(frozenset(granted), frozenset(named), levels[-1], private, levels[0])

    # Posting

    async def _put(
        self, place: Place, messages: Sequence[Message], *, private: bool, files: Sequence[Picture], again: str
    ) -> None:
        """Post messages, the first one as the root, and files into their thread; `again` is the command that shows all of it."""
        if private:
            await self._whisper(place, messages)
            return
        poster = self.desk.poster
        try:
            ts = place.thread_ts
            for at, message in enumerate(messages):
                if at:
                    await asyncio.sleep(self.pause)
                posted = await poster.post(place.channel, rendered.forms(message), thread_ts=ts)
                ts = ts or posted.ts
        except Undeliverable as refused:
            if not refused.unwelcome:
                raise
            why = self.desk.why_private(refused)
            await self._whisper(place, [*messages[:-1], Message(messages[-1].text, messages[-1].blocks), _said(why)])
            return
        for file in files:
            await asyncio.sleep(self.pause)
            error = await upload(poster, place.channel, ts, file)
            if error and not file.described:  # a picture says nothing that the text does not
                with contextlib.suppress(Undeliverable):
                    await poster.post(place.channel, rendered.forms(rendered.not_all([error], again)), thread_ts=ts)

    async def _whisper(self, place: Place, messages: Sequence[Message]) -> None:
        for message in messages[:WHISPERS]:
            try:
                await self.desk.poster.whisper(place, rendered.forms(message))
            except Undeliverable as lost:
                _log.error("nobody heard", error=lost.error)
                return


def _of_queue(queue: queue_view.QueueReport) -> Drawn:
    return Drawn(pictures.of_queue(queue), rendered_queue.described(queue, queue_view.main_rows(queue.rows)))


def _concerned(found: Surveyed, name: str) -> set[str]:
    """Give the namespaces that lead into a ClusterQueue, or hold quota in it."""
    local = found.snapshot.all_of(o.LocalQueue, read="seen")
    feeding = {queue.namespace for queue in local if queue.spec.cluster_queue == name}
    return feeding | {entry.namespace for entry in found.report.entries}


def _all(snapshot: Snapshot) -> set[str]:
    return {queue.namespace for queue in snapshot.all_of(o.LocalQueue, read="seen")}


def _own(names: Iterable[str], snapshot: Snapshot, namespaces: frozenset[str]) -> tuple[str, ...]:
    """Keep the ClusterQueues into which one of these namespaces leads."""
    local = snapshot.all_of(o.LocalQueue, read="seen")
    known = {queue.spec.cluster_queue for queue in local if queue.namespace in namespaces}
    return tuple(name for name in names if name in known)


def _said(text: str) -> Message:
    return Message(text, [{"type": "section", "text": {"type": "mrkdwn", "text": text[:2900], "verbatim": True}}])
