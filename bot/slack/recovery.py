"""After a crash: answers that a process died over are either found in Slack, or their askers are told.

An answer is noted before anything of it is posted, its messages carry its id in their metadata, and its lease is renewed
while its process lives. Whoever finds a lease run out takes the answer, once for all replicas. If its card stands in the
thread (looked up by metadata where the scope allows), it is noted as answered. Else the thread says that the answer was
interrupted, with a button that asks again; where there is no thread yet, whoever asked is told alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot import telemetry
from bot.core.reference import JobRef
from bot.render import changes
from bot.render.card import Message
from bot.slack.desk import SIGNATURE, Desk
from bot.slack.post import Place, Poster, Undeliverable
from bot.store import Answer

PAGES = 10
"""Pages of a channel or thread that are looked through for what stands there."""

_log = telemetry.log("recovery")


@dataclass(frozen=True, slots=True)
class Found:
    """What stands in Slack of an answer; `sure` is False where it could not be looked up."""

    root: str = ""
    card: str = ""
    sure: bool = True


class Recovery:
    """Takes over from processes that died.

    Args:
        desk: posts.
        wait: waits for some seconds.
    """

    def __init__(self, desk: Desk, *, wait: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        """Start with what is in the store."""
        self._desk, self._memory, self._wait = desk, desk.memory, wait

    async def run(self) -> None:
        """Take over what is abandoned, for ever."""
        while True:
            try:
                await self.round()
            except Exception:  # noqa: BLE001 - the next round starts afresh
                telemetry.FAULTS.labels(where="recovery").inc()
                _log.exception("round failed")
            await self._wait(max(self._memory.lease / 2, 0.2))

    async def round(self) -> None:
        """Take every answer whose process died, and settle it."""
        for answer in await self._memory.abandoned():
            await self._settle(answer)

    async def _settle(self, answer: Answer) -> None:
        found = await self._look(answer)
        if found.card:
            _log.info("answer stands", answer=answer.id)
            await self._memory.note(answer.id, state="answered", thread=found.root, message=found.card)
            return
        thread = answer.thread or found.root
        if thread != answer.thread:
            await self._memory.note(answer.id, thread=thread)
        said = changes.interrupted(_asked(answer), [answer.user], perhaps=not found.sure)
        where = await self._tell(answer, thread, said)
        telemetry.audit(
            "interrupted", enterprise=answer.enterprise, team=answer.team, user=answer.user, channel=answer.channel,
            asked=_asked(answer), cluster=answer.cluster, place=where,
        )  # fmt: skip

    async def _tell(self, answer: Answer, thread: str, said: Message) -> str:
        """Tell in the thread, else privately where it was asked, else in a direct message; give where."""
        poster, forms = self._desk.poster, [said, Message(said.text)]
        if thread:
            try:
                await poster.post(answer.channel, forms, thread_ts=thread)
            except Undeliverable as refused:
                _log.warning("thread not told", channel=answer.channel, error=refused.error)
            else:
                return "thread"
        try:
            await poster.whisper(Place(answer.channel, answer.user), forms)
        except Undeliverable as refused:
            _log.info("not told privately", channel=answer.channel, error=refused.error)
        else:
            return "private"
        try:
            await poster.post(answer.user, forms)
        except Undeliverable as refused:
            _log.error("nobody heard of an interrupted answer", channel=answer.channel, error=refused.error)
            return "lost"
        return "direct"

    async def _look(self, answer: Answer) -> Found:
        """Look for the messages of an answer."""
        poster, sure, root = self._desk.poster, True, answer.thread
        if not root:
            near = {"oldest": f"{answer.at - 60:.6f}", "limit": 200}
            messages = await read_messages(poster, "conversations.history", channel=answer.channel, **near)
            sure = messages is not None and shows_metadata(messages, self._desk.home.user)
            root = _part(messages or (), answer.id, "root")
        if not root:
            return Found(sure=sure)
        messages = await read_messages(
            poster, "conversations.replies", channel=answer.channel, ts=root, oldest=f"{answer.at - 60:.6f}", limit=1000
        )
        sure = sure and messages is not None and shows_metadata(messages, self._desk.home.user)
        return Found(root, _part(messages or (), answer.id, "card"), sure)


async def read_messages(poster: Poster, method: str, **arguments: Any) -> tuple[Mapping[str, Any], ...] | None:  # noqa: ANN401 - JSON
    """Read the messages of a channel or thread with their metadata, page by page.

    None where that is refused, or there are more than `PAGES` pages of them.
    """
    found: list[Mapping[str, Any]] = []
    cursor: dict[str, str] = {}
    for _ in range(PAGES):
        try:
            answer = await poster.call(method, include_all_metadata=True, **arguments, **cursor)
        except Undeliverable as refused:
            _log.info("not looked up", method=method, error=refused.error)
            return None
        found += answer.get("messages") or ()
        if not answer.get("has_more"):
            return tuple(found)
        following = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
        if not following:
            return None
        cursor = {"cursor": following}
    return None


def shows_metadata(messages: Sequence[Mapping[str, Any]], user: str) -> bool:
    """Say whether these messages would show our metadata: one of ours does, or none is ours.

    Slack leaves metadata out where an app may not read it, without a word.
    """
    ours = [message for message in messages if message.get("user") == user]
    return not ours or any((message.get("metadata") or {}).get("event_type") for message in ours)


def _part(messages: tuple[Mapping[str, Any], ...], key: str, part: str) -> str:
    """Give the timestamp of the message that is this part of this answer, "" when it is not among them."""
    wanted = {"id": key, "part": part}
    for message in messages:
        metadata = message.get("metadata") or {}
        if metadata.get("event_type") == SIGNATURE and (metadata.get("event_payload") or {}) == wanted:
            return str(message.get("ts") or "")
    return ""


def _ref(answer: Answer) -> JobRef:
    return JobRef(answer.namespace, answer.name, answer.kind, answer.cluster)


def _asked(answer: Answer) -> str:
    """Give the question as it can be asked again, "" where it died before it was known."""
    if not answer.name:
        return ""
    return f"{answer.cluster}:{_ref(answer).asked}" if answer.cluster else _ref(answer).asked
