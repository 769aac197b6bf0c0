"""Watches: one reply in the thread for each real change of a job, and its card kept up to date.

Which changes are real is decided by `core.transitions`. Here they are read and told:

- Narrowly and together: one list of Workloads for all watched jobs of a namespace; a full answer only where a Workload's
  conditions changed, a newer state has not held long enough, or the last full answer is old (the reason may be another
  without any change of the Workload).
- Once: a watch belongs to the replica that holds its lease. What is told is written down first (`told`, compare and set),
  then posted, then written down as posted. A process that dies in between leaves `told` ahead of `posted`; whoever takes
  over looks for the reply by its metadata (scope channels:history), posts it when it is proven missing, and where that
  cannot be looked up posts nothing but brings the card up to date: at most once, never twice.
- Within what may be seen: the level that held when the watch began, or a narrower one that holds now. A channel that may
  not see the namespace any more ends its watches.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from bot import telemetry
from bot.core import transitions, until
from bot.core.access import LEVELS, Grant
from bot.core.diagnosis import Level
from bot.core.disclosure import Audience
from bot.core.reference import JobRef
from bot.core.transitions import Change, Mark, State, Told
from bot.render import card as cards
from bot.render import changes
from bot.render.card import Message
from bot.render.words import code, duration, escape
from bot.service import Look
from bot.slack import wording
from bot.slack.desk import Desk, Explains, Question
from bot.slack.gate import place_of
from bot.slack.memory import Memory
from bot.slack.persons import Asker
from bot.slack.post import Undeliverable
from bot.slack.recovery import shows_metadata
from bot.store import Watch, new_id

SIGNATURE = "whypending_watch"
"""The event type in the metadata of what watches post."""
AT_ONCE = 4
"""How many watched jobs are looked at at once."""
MOST_UIDS = 50
"""Jobs for which one list of Workloads is narrowed."""
SOON = 4
"""Polls after which a job that is on its way, or could not be read, gets a full answer again."""

SPACING = 1.0
"""Seconds for each watched job between two full answers about one of them: many watches are looked at less often."""
REFUSALS = 5
"""How often in a row a place may not see a job before its watch ends, where Slack or the cluster have to be asked for it."""

LOST = frozenset(
    {
        "channel_not_found", "not_in_channel", "is_archived", "thread_not_found", "message_not_found", "cannot_reply_to_message",
        "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_locked", "no_permission",
        "account_inactive", "team_access_not_granted",
    }
)  # fmt: skip
"""Slack's words for a thread that cannot be written to any more."""
_UNCERTAIN = frozenset({"timeout", "unreadable_answer"})

_log = telemetry.log("watching")


class Watched(Explains, Protocol):
    """What a watch reads."""

    async def observe(self, ref: JobRef, audience: Audience) -> Look:
        """Give the answer with the job's state; never raises."""
        ...

    async def marks(self, cluster: str, namespace: str, uids: tuple[str, ...] = ()) -> tuple[Mark, ...] | None:
        """Give the marks of a namespace's Workloads, None when they could not be read in full; never raises."""
        ...


Key = tuple[str, str, str, str, str, str, str]
"""A thread and a job: organisation or team, channel, thread, cluster, namespace, kind, name. Its watches are told together."""


@dataclass
class _Kept:
    """What is known of a job between two rounds; all of it can be read again."""

    text: str = ""
    names: frozenset[str] = frozenset()
    labelled: bool = False
    next_look: float = 0.0


@dataclass
class _Unit:
    """The watches of one job in one thread, in one round."""

    key: Key
    watches: list[Watch]
    tellings: dict[Change, list[Watch]] = field(default_factory=dict)

    @property
    def ref(self) -> JobRef:
        return ref_of(self.watches[0])

    @property
    def users(self) -> list[str]:
        return sorted({watch.user for watch in self.watches})


class Watches:
    """Starts, looks after and ends watches.

    Args:
        desk: knows what may be asked where, and posts.
        service: reads the clusters.
        memory: keeps the watches.
        wait: waits for some seconds.
        chance: gives a number between 0 and 1, so that replicas and watches do not all read at the same moment.
    """

    def __init__(
        self,
        desk: Desk,
        service: Watched,
        memory: Memory,
        *,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Start with what is in the store."""
        self.desk, self.service, self.memory, self.settings = desk, service, memory, desk.settings
        self._wait, self._chance = wait, chance
        self._kept: dict[Key, _Kept] = {}
        self._unposted: dict[str, int] = {}
        """What this process knows not to have been posted, because Slack refused it: watch id to `told`."""
        self._recheck = self.settings.watch_recheck_seconds
        self._refusals: dict[str, int] = {}
        self._turn = asyncio.Lock()
        self._slots = asyncio.Semaphore(AT_ONCE)

    # Starting and ending

    async def begin(
        self, question: Question, thread: str, card: str, *, asked_by: str = "", deadline: until.Until | None = None
    ) -> Message:
        """Start a watch in a thread; give what to tell whoever asked for it.

        Args:
            question: whose watch, of which job.
            thread: the thread that is told.
            card: the card that is kept up to date, "" for none.
            asked_by: who asked first, when the thread's first message is a verdict of ours that must follow; else "".
            deadline: also tell when the job has not started by then.
        """
        asker, ref, now = question.asker, question.ref, self.memory.clock()
        if not thread:
            return changes.plain("A watch tells its news in a thread, and this answer has none: only you see it. "
                                 f"Ask where the bot is in the channel: /invite @{self.desk.home.name}")  # fmt: skip
        if not self.memory.works:
            return self._no_memory(ref)
        if await self._full(asker):
            return changes.plain(
                f"{ref.asked} is not watched: one person may watch {self.settings.watches_each} jobs, and there may be "
                f"{self.settings.watches_total} watches in all. Stop one of yours first; "
                f"{self.settings.slack_command} watches shows them."
            )
        question, decision = await self.desk.decided(question)
        if decision.private is None:
            return self.desk.refusal(decision, ref, question.place)
        if decision.shown is None or self.desk.is_private(decision, question.place):
            return changes.plain(
                f"{ref.asked} is not watched here: this channel may not see its answers. Ask in a direct message."
            )
        audience = await self._seen_in(question.place.channel, decision.shown, asker, ref)
        look = await self.service.observe(ref, audience)
        if look.state is None or look.state.phase in {"finished", "gone"}:
            why = (
                "it is over" if look.state is not None and look.state.phase == "finished" else "it cannot be found now"
            )
            return changes.plain(f"{ref.asked} is not watched: {why}. {look.answer.headline.sentence}")
        limit = now + self.settings.watch_hours * 3600
        by = await self._moment(deadline, asker, now) if deadline is not None else None
        if by is not None and not now < by <= limit:
            return changes.plain(
                f"{ref.asked} is not watched: that moment is not within the next {self.settings.watch_hours:g} hours."
            )
        job = look.answer.job
        if job is not None:  # the same job is watched once, however it was asked for
            ref = replace(ref, namespace=job.namespace, kind=job.kind, name=job.name)
        watch = Watch(
            new_id(), asker.team, asker.user, question.place.channel, thread, ref.namespace, ref.name, audience.level, now,
            limit, enterprise=asker.enterprise, message=card, cluster=ref.cluster, kind=ref.kind, uid=look.state.uid,
            deadline=by, state=transitions.encode_told(Told(look.state)), asked_by=asked_by,
        )  # fmt: skip
        added = await self.memory.ask("watch", lambda store: store.add_watch(watch), None)
        if added is None:
            return self._no_memory(ref)
        telemetry.audit(
            "watch", enterprise=asker.enterprise, team=asker.team, user=asker.user, channel=watch.channel, asked=ref.asked,
            cluster=ref.cluster, disclosure=audience.level, result="begun" if added else "had",
        )  # fmt: skip
        # The next round gives a full answer: until then nothing is compared with what this one saw.
        self._kept[_key(watch)] = _Kept(names=look.workloads)
        return _begun(look, new=added, deadline=by)

    async def stop(self, question: Question) -> Message:
        """End whoever asks' watches of a job, in whatever thread; give what to tell them."""
        if not self.memory.works:
            return self._no_memory(question.ref)
        mine = await self.of(question.asker)
        gone = [watch for watch in mine if _same_job(question.ref, watch)]
        for watch in gone:
            await self.memory.forget(watch)
        asked = question.ref.asked
        telemetry.audit(
            "unwatch", team=question.asker.team, user=question.asker.user, asked=asked, result=str(len(gone))
        )
        return changes.plain(f"{asked} is not watched any more." if gone else f"You do not watch {asked}.")

    async def of(self, asker: Asker) -> tuple[Watch, ...]:
        """Give somebody's watches, oldest first."""
        return await self.memory.watches_of(asker)

    async def listed(self, asker: Asker) -> Message:
        """Say what somebody watches."""
        if not self.memory.works:
            return changes.plain("The store does not answer: watches cannot be listed now.")
        mine = await self.of(asker)
        if not mine:
            return changes.plain(f"You watch nothing. Start with {self.settings.slack_command} watch team-a/train")
        lines = [f"• {code(_asked(ref_of(watch)))} in <#{watch.channel}>, until {date(watch.ends)}" for watch in mine]
        return changes.ready("You watch:\n" + "\n".join(lines))

    def _no_memory(self, ref: JobRef) -> Message:
        return changes.plain(
            f"{ref.asked} is not watched: the store does not answer, so a watch could not be kept. "
            "Questions are answered all the same. Tell whoever runs this bot."
        )

    async def _full(self, asker: Asker) -> bool:
        async def count(store: Any) -> bool:  # noqa: ANN401 - a Store
            return bool(await store.count_watches() >= self.settings.watches_total)

        if len(await self.of(asker)) >= self.settings.watches_each:
            return True
        return await self.memory.ask("count", count, otherwise=False)

    async def _moment(self, deadline: until.Until, asker: Asker, now: float) -> float:
        """Give the moment that somebody meant, in their time zone where Slack tells it, else in UTC."""
        offset = 0
        if deadline.clock is not None:
            try:
                told = await self.desk.poster.call("users.info", user=asker.user)
                offset = int((told.get("user") or {}).get("tz_offset") or 0)
            except (Undeliverable, ValueError, AttributeError):
                _log.info("time zone not known", user=asker.user)
        return deadline.moment(now, offset)

    # Looking after

    async def run(self) -> None:
        """Look after watches, for ever."""
        while True:
            try:
                await self.round()
            except Exception:  # noqa: BLE001 - the next round starts afresh
                telemetry.FAULTS.labels(where="watching").inc()
                _log.exception("round failed")
            await self._wait(self.settings.watch_poll_seconds * (0.8 + 0.4 * self._chance()))

    async def round(self) -> None:
        """Look at every watched job once, and tell what changed; one round after the other."""
        async with self._turn:
            await self._round()

    async def _round(self) -> None:
        lease = max(self.settings.lease_seconds, 3 * self.settings.watch_poll_seconds)
        before = set(self._kept)
        watches = await self.memory.claim(lease)
        telemetry.WATCHES.set(len(watches))
        units = [_Unit(key, members) for key, members in _grouped(watches, _key).items()]
        for key in before - {unit.key for unit in units}:
            self._kept.pop(key, None)
        if not watches:
            return
        self._recheck = max(self.settings.watch_recheck_seconds, len(units) * SPACING)
        places = _grouped(units, lambda unit: (unit.ref.cluster, unit.ref.namespace))
        await asyncio.gather(*(self._place(cluster, namespace, some) for (cluster, namespace), some in places.items()))

    async def _place(self, cluster: str, namespace: str, units: list[_Unit]) -> None:
        """Look at the watched jobs of one namespace."""
        async with self._slots:
            marks = await self._marks(cluster, namespace, units)
        await asyncio.gather(*(self._guarded(unit, marks) for unit in units))

    async def _marks(self, cluster: str, namespace: str, units: list[_Unit]) -> tuple[Mark, ...] | None:
        uids = {watch.uid for unit in units for watch in unit.watches}
        few = len(uids) <= MOST_UIDS and "" not in uids
        narrow = tuple(sorted(uids)) if few and all(self._kept.get(u.key, _Kept()).labelled for u in units) else ()
        telemetry.WATCH_READS.labels(kind="list").inc()
        return await self.service.marks(cluster, namespace, narrow)

    async def _guarded(self, unit: _Unit, marks: tuple[Mark, ...] | None) -> None:
        async with self._slots:
            try:
                await self._look_after(unit, marks)
            except Exception:  # noqa: BLE001 - one job's bug must not end the others' watches
                telemetry.FAULTS.labels(where="watching").inc()
                _log.exception("watch failed", asked=unit.ref.asked)

    async def _look_after(self, unit: _Unit, marks: tuple[Mark, ...] | None) -> None:
        now = self.memory.clock()
        for watch in [watch for watch in unit.watches if watch.ends <= now]:
            unit.watches.remove(watch)
            await self._end(watch, f"The watch has ended after {duration(watch.ends - watch.started)}.")
        late = [watch for watch in unit.watches if watch.deadline is not None and watch.deadline <= now]
        if not unit.watches or not (late or self._due(unit, marks, now)):
            return
        audience = await self._audience(unit)
        if audience is None:
            return
        telemetry.WATCH_READS.labels(kind="answer").inc()
        look = await self.service.observe(unit.ref, audience)
        now = self.memory.clock()
        self._keep(unit, look, marks, now)
        for watch in unit.watches:
            await self._decide(unit, watch, look, now)
        for change, moved in unit.tellings.items():
            await self._tell(change, moved, look)
        await self._late([watch for watch in unit.watches if watch.deadline is not None], look, now)

    def _due(self, unit: _Unit, marks: tuple[Mark, ...] | None, now: float) -> bool:
        """Say whether a full answer is needed."""
        kept = self._kept.get(unit.key)
        if any(watch.told > watch.posted or watch.seen for watch in unit.watches):
            return True
        uid = unit.watches[0].uid
        if kept is None:
            told = transitions.decode_told(unit.watches[0].state)
            mine = transitions.marks_of(marks or (), uid, frozenset())
            if marks is None or told is None or not transitions.agrees(told.state, mine):
                return True
            # Nothing seems to have changed while nobody looked: the full answers of many watches are spread.
            later = now + self._recheck * self._chance()
            self._kept[unit.key] = _Kept(
                _text(mine), frozenset(m.name for m in mine), all(m.labelled for m in mine), later
            )
            return False
        if now >= kept.next_look:
            return True
        return marks is not None and _text(transitions.marks_of(marks, uid, kept.names)) != kept.text

    def _keep(self, unit: _Unit, look: Look, marks: tuple[Mark, ...] | None, now: float) -> None:
        on_its_way = look.state is None or look.state.phase in {"reserved", "admitted"}
        wait = self._recheck
        if on_its_way:
            wait = min(wait, SOON * self.settings.watch_poll_seconds)
        uid = (look.state.uid if look.state is not None else "") or unit.watches[0].uid
        mine = transitions.marks_of(marks or (), uid, look.workloads)
        self._kept[unit.key] = _Kept(
            _text(mine), look.workloads, bool(mine) and all(m.labelled for m in mine), now + wait * (0.8 + 0.4 * self._chance())
        )  # fmt: skip

    async def _decide(self, unit: _Unit, watch: Watch, look: Look, now: float) -> None:
        """Take one watch a step further: what is told is written down before it is posted."""
        told = transitions.decode_told(watch.state)
        if told is None:
            if look.state is not None:
                await self.memory.move(watch, state=transitions.encode_told(Told(look.state)), seen="", seen_at=0.0)
            return
        if watch.told > watch.posted:
            await self._unfinished(unit, watch, told, look)
            return
        pending = transitions.decode_pending(watch.seen, watch.seen_at)
        step = transitions.step(told, pending, look.state, now, self.settings.watch_settle_seconds)
        state = transitions.encode_told(step.told)
        uid = step.told.state.uid or watch.uid
        if step.change is not None:
            moved = await self.memory.move(watch, state=state, seen="", seen_at=0.0, uid=uid, told=watch.told + 1)
            if moved is not None:
                unit.tellings.setdefault(step.change, []).append(moved)
            return
        seen = transitions.encode_pending(step.pending)
        if (state, seen, uid) != (watch.state, watch.seen, watch.uid):
            since = step.pending.since if step.pending is not None else 0.0
            await self.memory.move(watch, state=state, seen=seen, seen_at=since, uid=uid)

    async def _unfinished(self, unit: _Unit, watch: Watch, told: Told, look: Look) -> None:
        """Finish what was decided on but perhaps not posted: see the module's text."""
        stands = False if self._unposted.get(watch.id) == watch.told else await self._stands(watch)
        if stands is False:
            state = look.state or told.state
            moved = await self.memory.move(
                watch, state=transitions.encode_told(replace(told, state=state)), told=watch.told + 1
            )
            if moved is not None:
                unit.tellings.setdefault(transitions.standing(state), []).append(moved)
            return
        _log.warning("told before, or not known", watch=watch.id, stands=stands)
        await self._edit(watch, look)
        if told.state.phase in {"finished", "gone"}:
            await self.memory.forget(watch)
        else:
            await self.memory.move(watch, posted=watch.told)

    async def _stands(self, watch: Watch) -> bool | None:
        """Say whether the last reply of a watch stands in its thread, None where that cannot be looked up."""
        try:
            found = await self.desk.poster.call(
                "conversations.replies", channel=watch.channel, ts=watch.thread, limit=1000, include_all_metadata=True
            )
        except Undeliverable:
            return None
        mark = f"{watch.id}:{watch.told}"
        for message in found.get("messages") or ():
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == SIGNATURE and mark in (payload.get("told") or ()):
                return True
        whole = not found.get("has_more") and shows_metadata(found.get("messages") or (), self.desk.home.user)
        return False if whole else None

    # Telling

    async def _tell(self, change: Change, watches: list[Watch], look: Look) -> None:
        first = watches[0]
        state = look.state
        if state is None:
            told = transitions.decode_told(first.state)
            state = told.state if told is not None else State("waiting")
        message = changes.told(change, look.answer, state, sorted({watch.user for watch in watches}))
        if not await self._post(watches, message):
            return
        telemetry.TOLD.labels(change=change).inc()
        telemetry.audit(
            "told", team=first.team, channel=first.channel, asked=ref_of(first).asked, change=change,
            rule=look.answer.headline.rule, disclosure=look.answer.withheld.level, users=len(watches),
        )  # fmt: skip
        await self._edit(first, look)
        for watch in watches:
            if change in transitions.OVER:
                await self.memory.forget(watch)
            else:
                await self.memory.move(watch, posted=watch.told)

    async def _post(self, watches: list[Watch], message: Message) -> bool:
        """Post into the thread of these watches; a thread that is gone ends them."""
        first = watches[0]
        metadata = {
            "event_type": SIGNATURE,
            "event_payload": {"told": [f"{watch.id}:{watch.told}" for watch in watches]},
        }
        try:
            await self.desk.poster.post(
                first.channel, [message, Message(message.text)], thread_ts=first.thread, metadata=metadata
            )
        except Undeliverable as refused:
            for watch in watches:
                if refused.error in LOST:
                    await self.memory.forget(watch)
                    _log.warning(
                        "watch ended: its thread is gone", channel=watch.channel, watch=watch.id, error=refused.error
                    )
                elif (
                    refused.error.islower()
                    and refused.error not in _UNCERTAIN
                    and not refused.error.startswith("http_")
                ):
                    self._unposted[watch.id] = watch.told
            _log.warning("not told", asked=ref_of(first).asked, channel=first.channel, error=refused.error)
            return False
        for watch in watches:
            self._unposted.pop(watch.id, None)
        return True

    async def _edit(self, watch: Watch, look: Look) -> None:
        """Bring the card up to date, and the verdict above it where it is ours."""
        if not watch.message:
            return
        forms = self.desk.forms(look.answer, watch.asked_by)
        forms = [
            wording.with_remark(form, f"Watched; brought up to date {date(self.memory.clock())}.") for form in forms
        ]
        poster = self.desk.poster
        try:
            await poster.edit(watch.channel, watch.message, forms)
            if watch.asked_by:
                root = wording.asked_by(cards.root(look.answer), watch.asked_by)
                await poster.edit(watch.channel, watch.thread, [root, Message(root.text)])
        except Undeliverable as refused:
            _log.info("card not brought up to date", channel=watch.channel, error=refused.error)

    async def _late(self, watches: Sequence[Watch], look: Look, now: float) -> None:
        """Tell once that a job has not started by the moment that somebody named."""
        for watch in watches:
            if watch.deadline is None or watch.deadline > now or look.state is None:
                continue
            present = await self._present(watch)
            if present is None:
                continue
            if look.state.started:
                await self.memory.move(present, deadline=None)
                continue
            moved = await self.memory.move(present, deadline=None, told=present.told + 1)
            if moved is not None and await self._post(
                [moved], changes.late(look.answer, [watch.user], date(watch.deadline))
            ):
                await self.memory.move(moved, posted=moved.told)

    async def _present(self, watch: Watch) -> Watch | None:
        """Give a watch as it is in the store by now."""
        mine = await self.of(Asker(watch.enterprise, watch.team, watch.user))
        return next((one for one in mine if one.id == watch.id), None)

    async def _end(self, watch: Watch, why: str) -> None:
        """End a watch and say so: removed first, so that nobody says it twice."""
        if not await self.memory.forget(watch):
            return
        _log.info("watch ended", watch=watch.id, asked=ref_of(watch).asked, why=why)
        await self._post([watch], changes.ended(_asked(ref_of(watch)), [watch.user], why))

    async def _audience(self, unit: _Unit) -> Audience | None:
        """Give what may be shown: the narrowest of what held when the watches began and of what holds now; None: nothing.

        The watches that may not be told any more are taken out of the unit; they end.
        """
        audience: Audience | None = None
        levels: set[Level] = set()
        for watch in list(unit.watches):
            asker, ref = Asker(watch.enterprise, watch.team, watch.user), ref_of(watch)
            decision = await self.desk.gate.decide(asker, watch.channel, ref)
            if decision.private is None or decision.shown is None:
                unit.watches.remove(watch)
                await self._refused(watch, asker, ref)
                continue
            self._refusals.pop(watch.id, None)
            audience = await self._seen_in(watch.channel, decision.shown, asker, ref)
            levels |= {audience.level, cast("Level", watch.level)}
        narrowest = next((level for level in LEVELS if level in levels), LEVELS[0])
        return None if audience is None else replace(audience, level=narrowest)

    async def _seen_in(self, channel: str, grant: Grant, asker: Asker, ref: JobRef) -> Audience:
        where = place_of(channel)
        person = None if where else (await self.desk.gate.known(asker))[0]
        return self.desk.gate.audience(ref, grant, where, person)

    async def _refused(self, watch: Watch, asker: Asker, ref: JobRef) -> None:
        """End a watch whose place may not see the job any more; when others have to be asked, only if they stay with it."""
        times = self._refusals[watch.id] = self._refusals.get(watch.id, 0) + 1
        if self.desk.gate.now(asker, watch.channel, ref) is not None or times >= REFUSALS:
            self._refusals.pop(watch.id, None)
            await self._end(watch, "This channel may not see the job's answers any more.")


# Words and keys


def ref_of(watch: Watch) -> JobRef:
    """Give the job of a watch."""
    return JobRef(watch.namespace, watch.name, watch.kind, watch.cluster)


def date(moment: float) -> str:
    """Write a moment in the reader's own time zone, in UTC where Slack cannot."""
    shown = until.clock(moment)
    return f"<!date^{int(moment)}^{{date_short_pretty}} {{time}}|{shown}>"


def _asked(ref: JobRef) -> str:
    return f"{ref.cluster}:{ref.asked}" if ref.cluster else ref.asked


def _key(watch: Watch) -> Key:
    return (
        watch.enterprise or watch.team,
        watch.channel,
        watch.thread,
        watch.cluster,
        watch.namespace,
        watch.kind,
        watch.name,
    )


def _same_job(ref: JobRef, watch: Watch) -> bool:
    same = (ref.namespace, ref.name) == (watch.namespace, watch.name)
    return (
        same
        and (not ref.kind or not watch.kind or ref.kind == watch.kind)
        and (not ref.cluster or ref.cluster == watch.cluster)
    )


def _text(marks: tuple[Mark, ...]) -> str:
    return "\n".join(f"{mark.name} {mark.text}" for mark in marks)


def _grouped(items: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _begun(look: Look, *, new: bool, deadline: float | None) -> Message:
    """Say that a watch has begun, and at once when the job can never start as it is."""
    answer = look.answer
    lines = ["You will be told in this thread when it changes." if new else "You watch it already."]
    if deadline is not None and new:
        lines.append(f"And at {date(deadline)}, if it has not started by then.")
    if answer.outlook == "never-as-written":
        lines.append(f"*As it is written it can never start*: {escape(answer.headline.sentence[:1000])}")
    said = changes.ready(" ".join(lines))
    return Message(said.text, [*said.blocks, {"type": "actions", "elements": [changes.stop_button(answer)]}])
