"""Pasted links of a site's own pages about jobs show the verdict below the message, as far as the place may see it.

Only links of configured sites (Headlamp, KueueViz, and templates that name namespace and job), at most three of a message,
and silently nothing where the access rules refuse: whoever pasted a link did not ask. Needs the scopes `links:read` and
`links:write`, and the sites' domains in the app's manifest.
"""

import asyncio
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from bot import telemetry
from bot.core.diagnosis import Diagnosis
from bot.core.reference import BadReferenceError, JobRef, parse
from bot.render import asking, limits, links
from bot.render import card as cards
from bot.render.card import Message
from bot.render.words import code
from bot.service import site_of
from bot.settings import Cluster
from bot.slack.desk import Desk, Outcome, Question
from bot.slack.persons import Asker, asker_of
from bot.slack.post import Place, Undeliverable

MOST = 3
"""Links of one message that are looked at."""

_TOO_RICH = frozenset(
    {"invalid_blocks", "invalid_unfurls", "cannot_parse_attachment", "invalid_arguments", "invalid_attachments"}
)
_log = telemetry.log("unfurl")


class Unfurls:
    """Shows verdicts below pasted links.

    Args:
        desk: knows who may see what, and answers.
    """

    def __init__(self, desk: Desk) -> None:
        """Work for a desk."""
        self.desk = desk
        self._lacking = False

    def hear(self, body: Mapping[str, Any], sent: asyncio.Event | None) -> None:
        """Take the event that links were pasted."""
        event = body["event"]
        channel, ts = str(event.get("channel") or ""), str(event.get("message_ts") or "")
        if not self._is_ours(event) or not self.desk.deliveries.first("event", str(body.get("event_id", ""))):
            return
        asker = asker_of(body)
        urls = dict.fromkeys(
            str(link.get("url") or "") for link in event.get("links") or () if isinstance(link, Mapping)
        )
        found = [(url, ref) for url in urls if (ref := linked(url, self.desk.settings.clusters)) is not None]
        if not found or self.desk.turned_away(asker) is not None:
            return
        place = Place(channel, asker.user, str(event.get("thread_ts") or ""))
        self.desk.hand_over(
            "unfurl",
            lambda: self._show(found[:MOST], asker, place, ts),
            sent,
            place=place,
            asked="",
            entry="unfurl",
        )

    def _is_ours(self, event: Mapping[str, Any]) -> bool:
        """Tell whether links stand in a conversation that is known: not in a draft, nor between two other people."""
        channel = str(event.get("channel") or "")
        if event.get("source") == "composer" or channel in {"", "COMPOSER"} or event.get("bot_id"):
            return False
        if channel.startswith("D") and not event.get("is_bot_user_member"):
            return False
        return event.get("user") != self.desk.home.user

    async def _show(self, found: Sequence[tuple[str, JobRef]], asker: Asker, place: Place, ts: str) -> None:
        answered = await asyncio.gather(*(self._answer(ref, asker, place) for _, ref in found))
        shown = [
            (url, question, diagnosis)
            for (url, _), one in zip(found, answered, strict=True)
            if one is not None
            for question, diagnosis in [one]
        ]
        if not shown:
            return
        error = ""
        for form in (_rich, _plain):
            unfurls = {
                url: form(self.desk.settings.slack_command, question, diagnosis) for url, question, diagnosis in shown
            }
            try:
                await self.desk.poster.call("chat.unfurl", channel=place.channel, ts=ts, unfurls=unfurls)
            except Undeliverable as refused:
                error = refused.error
                self._say(refused)
                if error in _TOO_RICH:
                    continue
            else:
                error = ""
            break
        for _, question, diagnosis in shown:
            outcome = Outcome("lost" if error else "unfurl", "card")
            self.desk.record(question, "lost" if error else "answered", diagnosis, outcome)

    async def _answer(self, ref: JobRef, asker: Asker, place: Place) -> tuple[Question, Diagnosis] | None:
        """Give the answer as everybody in the place may see it; None where that is nothing."""
        question = self.desk.admit(ref, asker, place, "unfurl")
        if isinstance(question, Message):
            return None
        question, decision = await self.desk.decided(question)
        if decision.private is None or self.desk.is_private(decision, place):
            return None
        diagnosis = await self.desk.explain(question)
        if diagnosis is None or diagnosis.headline.rule in {"job-not-found", "namespace-not-found", "access-denied"}:
            return None  # an old link leads nowhere: nothing to say about it
        return question, diagnosis

    def _say(self, refused: Undeliverable) -> None:
        """Log what Slack says; a scope that lacks is said once."""
        if refused.error == "missing_scope":
            if not self._lacking:
                _log.warning("links show no verdicts: the app lacks a scope", scope=refused.needed or "links:write")
            self._lacking = True
            return
        _log.warning("link not shown", error=refused.error)


def linked(url: str, clusters: Sequence[Cluster]) -> JobRef | None:
    """Give the job that a link of a configured site is about; None for any other link.

    Args:
        url: the link, as Slack tells it.
        clusters: with their sites' addresses.
    """
    plain = html.unescape(url)
    for cluster in clusters:
        sites = []
        if cluster.links.headlamp is not None:
            sites.append((cluster.links.headlamp.base_url, cluster.links.headlamp.cluster_name))
        if cluster.links.kueueviz is not None:
            sites.append((cluster.links.kueueviz.base_url, ""))
        for base, name in sites:
            path = _below(plain, base)
            if path is None:
                continue
            if name and (path[:1] != ["c"] or unquote("/".join(path[1:2])).partition("+")[0] != name):
                continue
            try:
                return replace(parse(plain), cluster=cluster.name)
            except BadReferenceError:
                continue
    return _templated(plain, clusters)


def _templated(url: str, clusters: Iterable[Cluster]) -> JobRef | None:
    """Give the job that a link made from a template of a site is about."""
    for cluster in clusters:
        known = site_of(cluster).links.cluster_label
        for template in cluster.links.templates.values():
            found = links.read(url, template)
            if found is None or found.get("cluster", known) != known:
                continue
            kind = f"{found['kind']}/" if found.get("kind") else ""
            try:
                return replace(parse(f"{found['namespace']}/{kind}{found['name']}"), cluster=cluster.name)
            except BadReferenceError:
                continue
    return None


def _below(url: str, base: str) -> list[str] | None:
    """Give the parts of an address below another, None when it is not there."""
    try:
        there, site = urlsplit(url), urlsplit(base)
        same = (there.scheme, there.hostname, there.port) == (site.scheme, site.hostname, site.port)
    except ValueError:
        return None
    root = f"{site.path.rstrip('/')}/"
    if not same or there.username or not there.path.startswith(root):
        return None
    return there.path[len(root) :].split("/")


def _rich(command: str, question: Question, diagnosis: Diagnosis) -> dict[str, Any]:
    root = cards.root(diagnosis)
    when = f"<!date^{int(diagnosis.observed_at.timestamp())}^{{date_short_pretty}} {{time}}|{diagnosis.observed_at:%H:%M} UTC>"
    ask = f"As of {when} · The whole answer: {code(f'{command} {asking.question(question.ref)}')}"
    return {
        "fallback": root.text[: limits.TEXT_ADVICE],
        "blocks": [*root.blocks, {"type": "context", "elements": [{"type": "mrkdwn", "text": ask}]}],
    }


def _plain(_command: str, _question: Question, diagnosis: Diagnosis) -> dict[str, Any]:
    text = cards.root(diagnosis).text[: limits.TEXT_ADVICE]
    return {"fallback": text, "text": text, "mrkdwn_in": []}
