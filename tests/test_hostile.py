"""Texts and names made to ping, to format, to turn round or to burst a message: every recording, every form."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.render import card, details, json_v1, limits, links, site, terminal, words
from tests import answers
from tests.clusters import Cluster, recorded

NASTY = (
    "<!channel> <!here> <!everyone> <@U012AB3CD> <!subteam^S012AB3CD> <#C012AB3CD> @channel @here *bold* _it_ ~no~ `code` ``` "
    "&lt;!channel&gt; &amp; <https://evil.example.com|click> | "
    "\u202eabc\u202c\u200f\u2066 \ue000Job\ue001x\ue001y\ue002 \x1b[31m\x00 "
)
LONG = NASTY * (10_000 // len(NASTY) + 1)
WIDE = "\u3042" * 10_000
"""One word that has no place to break."""

SITES = links.Templates("https://headlamp.example.com", "prod", frozenset({"cohorts"}), "https://kueueviz.example.com")

_PING = re.compile(r"<(?:!(?!date\^)|@|#)|@(?:channel|here|everyone)\b", re.IGNORECASE)


def test_no_text_of_the_cluster_becomes_a_picture() -> None:
    for text in (":white_check_mark: done", "all well:+1:", "a:fire:b", ":100:"):
        assert not re.search(r":[\w+-]+:", words.escape(text))
    assert words.escape("registry.example.com:5000 at 10:30:45") == "registry.example.com:5000 at 10:30:45"


def said_by_the_cluster(value: Any, text: str) -> Any:
    """Put a text wherever an object says something in words: messages, and reasons that nobody knows."""
    if isinstance(value, dict):
        return {
            key: text if key in {"message", "note"} and isinstance(each, str) else said_by_the_cluster(each, text)
            for key, each in value.items()
        }
    return [said_by_the_cluster(each, text) for each in value] if isinstance(value, list) else value


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Replace whole texts, so that references stay what they are."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


def forms(answer: Diagnosis) -> Iterator[tuple[list[dict[str, Any]], str]]:
    linked = links.add_links(answer, SITES)
    makes: list[Callable[[Diagnosis], card.Message]] = [card.root, card.card, card.sections, card.text_only]
    for make in makes:
        message = make(linked)
        yield message.blocks, message.text
        added = site.added(message, site.SiteText("https://wiki.example.com/x", NASTY[:200], NASTY))
        yield added.blocks, added.text
    yield details.blocks(linked), "details"


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def holds(cluster: Cluster, ask: str, kind: str) -> None:
    """Nothing pings, nothing is too long, nothing invisible gets through, at the widest and at the narrowest level."""
    answer, snapshot = cluster.ask(ask, kind), cluster.snapshot()
    assert answer.faults == ()
    for level in ("all", "namespace"):
        shown = disclose(answer, Audience(level, ask.partition("/")[0]), snapshot)
        for blocks, text in forms(shown):
            limit = limits.MODAL_BLOCKS if text == "details" else limits.BLOCKS
            wrong = [
                each for each in limits.check(blocks, text) if not (text == "details" and each.startswith("message"))
            ]
            assert wrong == []
            assert len(blocks) <= limit
            for each in [text, *strings(blocks)]:
                assert not _PING.search(each), each
                assert not re.search("[\x00-\x08\x1b\u202a-\u202e\u2066-\u2069\ue000-\ue003]", each)
        said = terminal.render(shown, 80)
        assert not re.search("[\x00-\x08\x1b\u202a-\u202e\u2066-\u2069\ue000-\ue003]", said)
        json.loads(json_v1.dump(shown))


def saying(name: str, text: str) -> Cluster:
    cluster = recorded(name)
    return type(cluster)(tuple(said_by_the_cluster(item, text) for item in cluster.items))


@pytest.mark.parametrize("name", answers.questions())
def test_what_the_cluster_says_does_not_ping(name: str) -> None:
    holds(saying(name, NASTY), *answers.questions()[name])


@pytest.mark.parametrize("text", [LONG, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("name", sorted(answers.questions())[::5])
def test_what_the_cluster_says_does_not_burst(name: str, text: str) -> None:
    holds(saying(name, text), *answers.questions()[name])


def test_what_is_tested_here_is_what_people_see() -> None:
    answer = saying("v0.19.2/quota-in-use", NASTY).ask("team-a/train")
    shown = json.dumps([blocks for blocks, _ in forms(disclose(answer, Audience("all", "team-a")))])
    assert "evil.example.com" in shown


_NAMED = {
    "LocalQueue",
    "ClusterQueue",
    "ResourceFlavor",
    "Cohort",
    "AdmissionCheck",
    "Node",
    "Topology",
    "Workload",
    "Pod",
}


@pytest.mark.parametrize("name", answers.questions())
def test_names_neither_ping_nor_burst(name: str) -> None:
    ask, kind = answers.questions()[name]
    cluster = recorded(name)
    own = set(ask.split("/")) | {"default", "main", "kueue-system", "kube-system", "cpu", "memory"}
    named = [i["metadata"]["name"] for i in cluster.items if i["kind"] in _NAMED] + [
        (i.get("spec") or {}).get("cohortName") or (i.get("spec") or {}).get("cohort") or ""
        for i in cluster.items
        if i["kind"] == "ClusterQueue"
    ]
    names = {each: f"{each} {NASTY}" for each in named if each and each not in own}
    holds(type(cluster)(tuple(renamed(item, names) for item in cluster.items)), ask, kind)
