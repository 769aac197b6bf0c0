"""Pasted links: whose they are, who sees what of them, and what Slack may do about it."""

import asyncio
import itertools
import json
import re
from typing import Any
from urllib.parse import quote, unquote

import pytest
import structlog

from bot.core.diagnosis import JobId
from bot.demo.slack import BOT, LocalSlack
from bot.render import links
from bot.render.links import job_links
from bot.service import site_of
from bot.settings import Access, Cluster
from bot.slack.unfurl import linked
from tests.clusters import recorded
from tests.test_talk import OTHERS, with_a_neighbour
from tests.workspace import Recorded, World, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"
HEADLAMP, KUEUEVIZ = "https://hl.example.com/ops", "https://viz.example.com"
LINKS = {"headlamp": {"base_url": HEADLAMP, "cluster_name": "main"}, "kueueviz": {"base_url": KUEUEVIZ}}
LINK = f"{HEADLAMP}/c/main/jobs/team-a/train"


def slack_with_domains() -> LocalSlack:
    slack = LocalSlack()
    slack.unfurl_domains = {"hl.example.com", "viz.example.com", "elsewhere.example.com"}
    return slack


CLUSTERS = ({"name": "", "links": LINKS},)


async def quiet(world: World) -> None:
    """Let everything under way come to its end."""
    await asyncio.sleep(0.3)
    await world.slack.until(lambda: not len(world.bot.work) or None)


async def unfurled(world: World, message: dict[str, Any]) -> dict[str, Any]:
    return await world.slack.until(lambda: next(iter(message.get("attachments") or []), None))


@pytest.mark.parametrize("mode", ["socket", "http"])
@pytest.mark.parametrize(
    "url",
    [LINK, f"{HEADLAMP}/c/main/kueue/workloads/team-a/WORKLOAD", f"{KUEUEVIZ}/workload/team-a/WORKLOAD"],
    ids=["job", "workload", "kueueviz"],
)
async def test_a_pasted_link_shows_the_verdict(url: str, mode: str) -> None:
    cluster = recorded(QUOTA)
    name = next(
        item["metadata"]["name"]
        for item in cluster.items
        if item["kind"] == "Workload" and item["metadata"]["name"].startswith("job-train")
    )
    url = url.replace("WORKLOAD", name)
    async with workspace(cluster, slack=slack_with_domains(), clusters=CLUSTERS, slack_mode=mode) as world:
        said = await world.slack.say(f"look: <{url}>", world.ml, world.ann)
        seen = await unfurled(world, said)
        assert SENTENCE in shown(seen)
        assert SENTENCE in seen["fallback"], "for a screen reader"
        assert seen["from_url"] == url
        assert not [m for m in world.ml.messages if m.get("bot_id")], "nothing is posted besides"


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example.com/ops/c/main/jobs/team-a/train",
        "https://hl.example.com/c/main/jobs/team-a/train",
        f"{HEADLAMP}/c/other/jobs/team-a/train",
        f"{HEADLAMP}/c/main/kueue/clusterqueues/gpu-cq",
        f"{HEADLAMP}/c/main/scheduling/workloads/team-a/train",
        f"{KUEUEVIZ}/workloads",
        "https://hl.example.com@viz.example.com/workload/team-a/train",
        "http://hl.example.com/ops/c/main/jobs/team-a/train",
    ],
)
def test_other_links_are_nobodys_business(url: str) -> None:
    assert linked(url, [Cluster.model_validate({"links": LINKS})]) is None


def test_the_cluster_is_the_one_whose_site_it_is() -> None:
    clusters = [
        Cluster.model_validate({"name": "lab", "links": {"headlamp": {"base_url": HEADLAMP, "cluster_name": "prod"}}}),
        Cluster.model_validate({"name": "prod", "links": {"headlamp": {"base_url": HEADLAMP, "cluster_name": "main"}}}),
    ]
    for named, cluster in (("prod", "lab"), ("main", "prod")):
        ref = linked(f"{HEADLAMP}/c/{named}/jobs/team-a/train?tab=1#x", clusters)
        assert ref is not None
        assert (ref.cluster, ref.namespace, ref.name, ref.kind) == (cluster, "team-a", "train", "Job")
    strange = Cluster.model_validate(
        {"links": {"headlamp": {"base_url": "https://hl.example.com", "cluster_name": "arn:aws:eks:x/prod"}}}
    )
    ref = linked("https://hl.example.com/c/arn%3Aaws%3Aeks%3Ax%2Fprod/jobs/team-a/train", [strange])
    assert ref is not None


async def nothing_is_shown(world: World, text: str = LINK, **more: Any) -> None:
    said = await world.slack.say(text, more.pop("channel", world.ml), more.pop("who", world.ann))
    await quiet(world)
    assert not said.get("attachments")
    assert not world.slack.called("chat.unfurl")
    assert not [m for m in world.ml.messages if "ephemeral" in m or m.get("bot_id")], "nobody asked"


async def test_where_the_rules_refuse_nothing_is_shown_and_nothing_is_read() -> None:
    service = Recorded(recorded(QUOTA))
    rules = (Access(name="default", namespaces=("lab-*",)),)
    async with workspace(service, slack=slack_with_domains(), clusters=CLUSTERS, access=rules) as world:
        await nothing_is_shown(world)
        assert service.asked == []


async def test_what_only_the_person_may_see_is_not_shown_to_the_channel() -> None:
    service = Recorded(recorded(QUOTA))
    rules = (Access(name="default", namespaces=()), Access(name="hers", users=("U0ANN",), level="all"))
    async with workspace(service, slack=slack_with_domains(), clusters=CLUSTERS, access=rules) as world:
        await nothing_is_shown(world)
        assert service.asked == []


async def test_a_channel_of_private_answers_shows_none() -> None:
    channels = {"C0ML": {"private": True}}
    async with workspace(recorded(QUOTA), slack=slack_with_domains(), clusters=CLUSTERS, channels=channels) as world:
        await nothing_is_shown(world)


async def test_strangers_links_and_conversations_of_others_show_nothing() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service, slack=slack_with_domains(), clusters=CLUSTERS) as world:
        await nothing_is_shown(world, who=world.slack.person("eve", team="T0OTHER"))
        ben = world.slack.person("ben")
        await nothing_is_shown(world, channel=world.slack.channel("annben", world.ann, ben, im=True, bot=False))
        event = {"type": "link_shared", "user": world.ann.id, "channel": "COMPOSER", "message_ts": "x", "source": "composer",
                 "links": [{"url": LINK, "domain": "hl.example.com"}], "event_ts": "1.0"}  # fmt: skip
        await world.slack.event(event, world.ann)
        await quiet(world)
        assert service.asked == []


async def test_a_link_names_no_more_than_the_channel_may_see() -> None:
    rules = (Access(name="wide", users=("U0ANN",), level="all"),)
    async with workspace(
        Recorded(with_a_neighbour()), slack=slack_with_domains(), clusters=CLUSTERS, access=rules
    ) as world:
        seen = await unfurled(world, await world.slack.say(LINK, world.ml, world.ann))
        assert SENTENCE in shown(seen)
        assert OTHERS not in json.dumps(seen)


async def test_a_link_to_a_job_that_is_gone_shows_nothing() -> None:
    async with workspace(recorded(QUOTA), slack=slack_with_domains(), clusters=CLUSTERS) as world:
        await nothing_is_shown(world, f"{HEADLAMP}/c/main/jobs/team-a/long-gone")


async def test_of_many_links_three_are_read() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service, slack=slack_with_domains(), clusters=CLUSTERS) as world:
        links = " ".join(f"{HEADLAMP}/c/main/jobs/team-a/job-{n}" for n in range(9))
        await world.slack.say(f"{LINK} {LINK} {links}", world.ml, world.ann)
        await world.slack.until(lambda: world.slack.called("chat.unfurl") or None)
        assert len(service.asked) == 3


async def test_refused_blocks_become_a_text() -> None:
    slack = slack_with_domains()
    slack.fail("chat.unfurl", error="invalid_blocks")
    async with workspace(recorded(QUOTA), slack=slack, clusters=CLUSTERS) as world:
        seen = await unfurled(world, await world.slack.say(LINK, world.ml, world.ann))
        assert SENTENCE in seen["text"]
        assert "blocks" not in seen


FAILURES = [{"error": "missing_scope"}, {"error": "cannot_unfurl_url"}, {"status": 500}, {"retry_after": 600}]


@pytest.mark.parametrize("failure", FAILURES)
async def test_what_slack_refuses_is_logged_and_disturbs_nobody(failure: dict[str, Any]) -> None:
    slack = slack_with_domains()
    slack.fail("chat.unfurl", times=99, **failure)
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack, clusters=CLUSTERS) as world:
            for _ in range(2):
                await world.slack.say(LINK, world.ml, world.ann)
                await world.slack.until(lambda: slack.called("chat.unfurl") or None)
                await quiet(world)
            assert [m for m in world.ml.messages if m["user"] == BOT] == []
    told = [entry for entry in logs if entry["event"].startswith(("link not shown", "links show no verdicts"))]
    assert len(told) == (1 if failure.get("error") == "missing_scope" else 2)


# Templates of the site's own


GRAFANA = "https://grafana.example.com/d/jobs?var-cluster={cluster}&var-namespace={namespace}&var-job={name}"
CONSOLE = "https://console.example.com/{cluster}/ns/{namespace}/{kind}/{name}"
OWN = (
    {"name": "prod", "links": {"templates": {"Grafana": GRAFANA, "Console": CONSOLE}}},
    {"name": "lab", "links": {"templates": {"Console": CONSOLE, "Docs": "https://docs.example.com/{namespace}"}}},
)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://grafana.example.com/d/jobs?var-job=train&var-namespace=team-a&var-cluster=prod&from=now-6h#top",
         ("prod", "team-a", "", "train")),
        ("https://grafana.example.com/d/jobs/?var-job=train&amp;var-namespace=team-a&amp;var-cluster=prod",
         ("prod", "team-a", "", "train")),
        ("https://console.example.com/lab/ns/team-a/RayJob/train/", ("lab", "team-a", "RayJob", "train")),
        ("https://console.example.com/other/ns/team-a/Job/train", None),
        ("https://console.example.com/lab/ns/team-a/Job/train/logs", None),
        ("https://console.example.com/lab/ns/team-a%2Fx/Job/train", None),
        ("https://console.example.com/lab/ns/Team_A/Job/train", None),
        ("https://console.example.com@evil.example.com/lab/ns/team-a/Job/train", None),
        ("https://grafana.example.com/d/jobs?var-namespace=team-a&var-cluster=prod", None),
        ("https://grafana.example.com/d/other?var-job=train&var-namespace=team-a&var-cluster=prod", None),
        ("https://docs.example.com/team-a", None),
    ],
)  # fmt: skip
def test_a_link_of_a_template_is_about_its_job(url: str, found: tuple[str, str, str, str] | None) -> None:
    ref = linked(url, [Cluster.model_validate(each) for each in OWN])
    assert (ref and (ref.cluster, ref.namespace, ref.kind, ref.name)) == found


@pytest.mark.parametrize(
    "template", ["{namespace}-{name}", "{namespace}{name}", "a{namespace}-/{name}", "{namespace}/{name}--{kind}-a",
                 "{namespace}-{namespace}/{name}", "{namespace}%2F{name}a"],
)  # fmt: skip
def test_an_address_is_read_as_the_shortest_names_that_make_it(template: str) -> None:
    """Against every address of a few characters, by a regular expression that says the same."""
    field = itertools.count()
    pattern = re.sub(r"\\{([a-z]+)\\}", lambda m: f"(?P<{m[1]}{next(field)}>[^/]+?)", re.escape(unquote(template)))
    for text in map("".join, itertools.product("a-/", repeat=7)):
        found = re.fullmatch(pattern, text)
        named = {(key[:-1], value) for key, value in found.groupdict().items()} if found else set()
        expected = dict(named) if named and len(dict(named)) == len(named) else None
        assert links.read(f"https://x/?at={quote(text)}", f"https://x/?at={template}") == expected, text


def test_a_long_link_is_read_as_quickly_as_a_short_one() -> None:
    template = "https://console.example.com/{cluster}-{namespace}-{kind}-{name}/logs"
    assert links.read(f"https://console.example.com/{'-a' * 5000}/log", template) is None
    found = links.read(f"https://console.example.com/{'-a' * 5000}/logs", template)
    assert found is not None
    assert found["kind"] == "a"


def test_what_a_template_makes_is_read_again() -> None:
    cluster = Cluster.model_validate(OWN[0])
    made = job_links(JobId("batch/v1", "Job", "team-a", "train"), site_of(cluster).links)
    for url in (made["Grafana"], made["Console"]):
        assert "prod" in url
        ref = linked(url, [cluster])
        assert ref is not None
        assert (ref.cluster, ref.namespace, ref.name) == ("prod", "team-a", "train")


async def test_a_pasted_link_of_a_template_shows_the_verdict_and_how_to_ask_here() -> None:
    slack = LocalSlack()
    slack.unfurl_domains = {"console.example.com"}
    clusters = ({"name": "", "links": {"templates": {"Console": "https://console.example.com/{namespace}/{name}"}}},)
    async with workspace(recorded(QUOTA), slack=slack, clusters=clusters, slack_command="/why") as world:
        seen = await unfurled(world, await slack.say("https://console.example.com/team-a/train", world.ml, world.ann))
        assert SENTENCE in shown(seen)
        assert "/why team-a/train" in shown(seen)
