"""The app's Home tab: how to ask, what somebody watches, what they may ask about, and what they asked lately."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.render import asking, limits, words
from bot.render.card import button
from bot.render.limits import Block
from bot.render.words import code, escape

STOP, AGAIN = "home-stop", "home-again"
"""Action ids, with a number after them."""

_WATCHES, _RECENT, _NAMESPACES = 25, 10, 30


@dataclass(frozen=True, slots=True)
class Watched:
    """A watch as its owner sees it: its id, the job, the place (ready for Slack), and when it ends, in Unix seconds."""

    id: str
    asked: str
    where: str
    ends: float


@dataclass(frozen=True, slots=True)
class Recent:
    """An answer of some time ago: the question that asks again, its rule and outlook, and when, in Unix seconds."""

    asked: str
    rule: str
    outlook: str
    at: float


@dataclass(frozen=True, slots=True)
class Spaces:
    """The namespaces of one cluster that somebody may ask about; `unknown` says why they are not told, or ""."""

    cluster: str
    names: tuple[str, ...] = ()
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """Everything that stands on somebody's Home tab; `lacking` says why watches and answers are not told, or ""."""

    command: str
    name: str
    watched: Sequence[Watched] = ()
    recent: Sequence[Recent] = ()
    spaces: Sequence[Spaces] = ()
    lacking: str = ""
    clusters: Sequence[str] = field(default_factory=tuple)


def view(tab: Tab) -> dict[str, Any]:
    """Give the view, within Slack's limits."""
    blocks = [*_how(tab), *_watches(tab), *_recent(tab), *_spaces(tab)]
    shown, dropped = limits.first(blocks, limits.MODAL_BLOCKS - 1)
    if dropped:
        shown.append(_context(f"{dropped} more parts left out"))
    return {"type": "home", "blocks": shown}


def _how(tab: Tab) -> Iterable[Block]:
    command = tab.command
    ways = [
        f"{code(f'{command} team-a/train')} in any channel",
        f"{code(f'@{tab.name} team-a/train')} in a thread, or {code(f'@{tab.name}')} alone: the thread is read for a job",
        "the message shortcut *Why pending?* in the menu of an alert",
        f"{code(f'{command} watch team-a/train')} tells you when it changes; {code(f'{command} help')} shows the rest",
    ]
    if len(tab.clusters) > 1:
        ways.append(f"{code(f'{command} {tab.clusters[0]}:team-a/train')} on one of several clusters")
    yield _header("Why is my job pending?")
    yield _section(
        "One cause, the numbers that prove it, and whose move it is.\n" + "\n".join(f"• {way}" for way in ways)
    )
    yield asking.button()


def _watches(tab: Tab) -> Iterable[Block]:
    yield _header("You watch")
    if tab.lacking:
        yield _section(f"Not known: {escape(tab.lacking)}.")
        return
    if not tab.watched:
        yield _section(
            f"Nothing. The button Watch on a card, or {code(f'{tab.command} watch team-a/train')}, starts it."
        )
    for at, watch in enumerate(tab.watched[:_WATCHES]):
        stop = button("Stop", f"{STOP}-{at}", f"Stop watching {words.middle(watch.asked, 50)}", value=watch.id)
        yield _section(f"{code(words.middle(watch.asked, 200))} in {watch.where}, until {_date(watch.ends)}", stop)
    if len(tab.watched) > _WATCHES:
        yield _context(f"{len(tab.watched) - _WATCHES} more; {code(f'{tab.command} watches')} lists all")


def _recent(tab: Tab) -> Iterable[Block]:
    if tab.lacking:
        return
    yield _header("You asked lately")
    if not tab.recent:
        yield _section("Nothing yet.")
    for at, answer in enumerate(tab.recent[:_RECENT]):
        again = button(
            "Ask again", f"{AGAIN}-{at}", f"Ask again about {words.middle(answer.asked, 50)}", value=answer.asked
        )
        verdict = next((text for outlook, text in words.VERDICTS.items() if outlook == answer.outlook), "Answered")
        said = f"{verdict} ({escape(answer.rule.replace('-', ' '))})" if answer.rule else verdict
        yield _section(f"{code(words.middle(answer.asked, 200))}: {said}, {_date(answer.at)}", again)


def _spaces(tab: Tab) -> Iterable[Block]:
    yield _header("You may ask about")
    same: dict[str, list[str]] = {}
    for space in tab.spaces:
        on = f" on {code(space.cluster)}" if space.cluster else ""
        if space.unknown or not space.names:
            same.setdefault(space.unknown or "No namespace", []).append(space.cluster)
        else:
            shown, dropped = limits.first(space.names, _NAMESPACES)
            more = f" and {dropped} more" if dropped else ""
            count = words.plural(len(space.names), "namespace")
            yield _section(f"{count}{on}: {', '.join(code(name) for name in shown)}{more}")
    for said, clusters in same.items():
        named = [code(name) for name in clusters if name]
        yield _section(f"{escape(said)}{f' on {words.listed(named, _NAMESPACES)}' if named else ''}.")
    if not tab.spaces:
        yield _section("Nothing: no access rule is for you.")


def _date(moment: float) -> str:
    """Write a moment in the reader's own time zone; where Slack cannot, say nothing wrong."""
    return f"<!date^{int(moment)}^{{date_short_pretty}} {{time}}|at another time>"


def _header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _section(text: str, accessory: Block | None = None) -> Block:
    made: Block = {"type": "section", "text": {"type": "mrkdwn", "text": text[: limits.SECTION], "verbatim": True}}
    return made | ({"accessory": accessory} if accessory else {})


def _context(text: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text[: limits.CONTEXT_TEXT]}]}
