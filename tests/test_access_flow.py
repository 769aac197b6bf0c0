"""Who sees what, through the real desk: rules, places and people, strangers, Kubernetes' own word, several clusters."""

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot.core.access import Grant
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import COMMON_WORDS, Audience
from bot.core.reference import JobRef
from bot.demo.apiserver import Fault, RecordedApi
from bot.demo.catalogue import SCENARIOS
from bot.demo.slack import Channel as LocalChannel
from bot.demo.slack import LocalSlack
from bot.demo.stage import stage
from bot.kube.client import Client, Cluster, ReadError
from bot.kube.review import Reviewer
from bot.render.links import Templates
from bot.service import Service, Site
from bot.settings import Access, Channel
from tests.clusters import RECORDINGS, recorded
from tests.workspace import Recorded, World, by_bot, hanging_server, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"
NOBODY = Access(name="default", namespaces=())


class Noting(Recorded):
    """Answers from a recording and keeps for whom."""

    def __init__(self) -> None:
        super().__init__(recorded(QUOTA))
        self.audiences: list[Audience] = []

    async def explain_to(self, ref: JobRef, audience: Audience) -> Diagnosis:
        self.audiences.append(audience)
        return await super().explain_to(ref, audience)


async def refused(world: World, text: str, **more: Any) -> str:
    """What somebody is told at once, who may not ask."""
    delivery = await world.ask(text, **more)
    assert delivery.response is not None
    assert delivery.response["response_type"] == "ephemeral"
    return shown(delivery.response)


# Places and people


async def test_out_of_the_box_every_member_asks_about_every_namespace_at_the_narrowest_level() -> None:
    service = Noting()
    async with workspace(service) as world:
        await world.ask("team-a/train")
        await world.card()
    assert service.audiences == [Audience("namespace", "team-a", frozenset())]


async def test_a_channel_sees_what_its_rule_grants_and_another_does_not() -> None:
    service = Noting()
    async with workspace(service, access=(Access(name="ops", channels=("C0ML",), level="all"),)) as world:
        other = world.slack.channel("other", world.ann)
        await world.ask("team-a/train")
        await world.card()
        await world.ask("team-a/train", other)
        await world.card(other)
    assert [audience.level for audience in service.audiences] == ["all", "namespace"]


async def test_what_only_the_person_may_see_is_answered_in_private_and_says_so() -> None:
    service = Noting()
    rules = (NOBODY, Access(name="ann alone", users=("U0ANN",), namespaces=("team-a",), level="queue"))
    with structlog.testing.capture_logs() as logs:
        async with workspace(service, access=rules) as world:
            await world.ask("team-a/train")
            private = await world.whisper()
            assert private["ephemeral"] == world.ann.id
            assert SENTENCE in shown(private)
            assert "Only you see this" in shown(private)
            assert "ann alone" in shown(private)
            assert by_bot(world.ml.messages) == []
    assert [(a.level, a.may_ask) for a in service.audiences] == [("queue", frozenset({"team-a"}))]
    line = next(entry for entry in logs if entry["event"] == "question")
    assert (line["access_rule"], line["disclosure"], line["place"]) == ("ann alone", "queue", "private")


async def test_refresh_of_a_private_answer_stays_private_and_at_the_persons_level() -> None:
    service = Noting()
    async with workspace(service, access=(NOBODY, Access(name="ann", users=("U0ANN",), level="all"))) as world:
        await world.ask("team-a/train")
        private = await world.whisper()
        await world.slack.click(private, world.ml, world.ann, "refresh")
        await world.slack.until(lambda: "Refreshed by" in shown(private) or None)
        assert by_bot(world.ml.messages) == []
    assert [a.level for a in service.audiences] == ["all", "all"]


async def test_a_wide_view_shows_the_channel_nothing_and_the_details_to_whoever_presses() -> None:
    service = Noting()
    rules = (Access(name="default", level="namespace"), Access(name="boss", users=("U0ANN",), level="all"))
    with structlog.testing.capture_logs() as logs:
        await _ask_and_press(service, rules)
    lines = [entry for entry in logs if entry["event"] == "question"]
    assert [(line["entry"], line["access_rule"], line["disclosure"]) for line in lines] == [
        ("command", "default", "namespace"), ("refresh", "default", "namespace"), ("details", "boss", "all"),
        ("details", "default", "namespace"),
    ]  # fmt: skip


async def _ask_and_press(service: Noting, rules: tuple[Access, ...]) -> None:
    async with workspace(service, access=rules) as world:
        ben = world.slack.person("ben")
        world.ml.members.add(ben.id)
        await world.ask("team-a/train")
        card = await world.card()
        await world.slack.click(card, world.ml, world.ann, "refresh")
        await world.slack.until(lambda: len(world.slack.called("chat.update")) >= 2 or None)
        for times, who in enumerate((world.ann, ben), 1):
            await world.slack.click(card, world.ml, who, "details")
            await world.slack.until(partial(pressed, world, times))
    assert [a.level for a in service.audiences] == ["namespace", "namespace", "all", "namespace"]


def pressed(world: World, times: int) -> bool | None:
    return len(world.slack.called("views.update")) == times or None


async def test_in_a_direct_message_the_persons_own_view_holds() -> None:
    service = Noting()
    async with workspace(service, access=(Access(name="boss", users=("U0ANN",), level="all"),)) as world:
        direct = world.slack.channel("ann", world.ann, im=True)
        await world.ask("team-a/train", direct)
        await world.card(direct)
    assert [a.level for a in service.audiences] == ["all"]


async def test_a_channel_may_be_set_to_private_answers() -> None:
    async with workspace(recorded(QUOTA), channels={"C0ML": Channel(private=True)}) as world:
        await world.ask("team-a/train")
        assert "private" in shown(await world.whisper())
        assert by_bot(world.ml.messages) == []


async def test_a_card_that_its_place_may_not_see_any_more_is_not_refreshed_there() -> None:
    service = Noting()
    rules = [Access(name="ml", channels=("C0ML",)), NOBODY, Access(name="ann", users=("U0ANN",))]
    async with workspace(service, access=tuple(rules)) as world:
        await world.ask("team-a/train")
        card = await world.card()
        policy = world.bot.settings.policy
        object.__setattr__(policy, "rules", tuple(rule for rule in policy.rules if rule.name != "ml"))
        await world.slack.click(card, world.ml, world.ann, "refresh")
        assert "may not see" in shown(await world.whisper())
        assert world.slack.called("chat.update") == []


# Refusals


async def test_a_refusal_says_which_rule_and_whom_to_ask_and_what_works() -> None:
    service = Noting()
    rules = (NOBODY, Access(name="ml team", channels=("C0ML",), namespaces=("team-a", "lab-*"), contact="#gpu-help"))
    with structlog.testing.capture_logs() as logs:
        async with workspace(service, access=rules) as world:
            told = await refused(world, "team-b/train")
            for part in ("team-b", "ml team", "lab-*", "#gpu-help", "/whypending team-a/train"):
                assert part in told.replace("\u200b", "")
            elsewhere = await refused(world, "team-a/train", channel=world.elsewhere)
            assert "ml team" in elsewhere
            assert "other people or other places" in elsewhere
            assert "covers namespace team-b" in await refused(world, "team-b/train", channel=world.elsewhere)
    assert service.asked == []
    lines = [entry for entry in logs if entry["event"] == "question"]
    assert [(line["result"], line["access_rule"]) for line in lines] == [
        ("refused", "ml team"), ("refused", "ml team"), ("refused", ""),
    ]  # fmt: skip


async def test_a_button_pressed_where_it_may_not_be_asked_is_refused_privately() -> None:
    service = Noting()
    async with workspace(service) as world:
        await world.ask("team-a/train")
        card = await world.card()
        policy = world.bot.settings.policy
        object.__setattr__(policy, "rules", ())
        await world.slack.click(card, world.ml, world.ann, "refresh")
        assert "No access rule" in shown(await world.whisper())
    assert len(service.asked) == 1


async def test_a_stranger_is_told_no_name_whatever_is_typed_or_pressed() -> None:
    service = Noting()
    clusters = [{"name": "prod-eu"}, {"name": "lab"}]
    held = {"C0ML": Channel(default_namespace="secret-space", cluster="lab")}
    rules = (Access(name="default", contact="#gpu-help"), Access(name="ops", channels=("C0ML",), level="all"))
    with structlog.testing.capture_logs() as logs:
        async with workspace(service, clusters=clusters, channels=held, access=rules) as world:
            eve = world.slack.person("eve", team="T0OTHER")
            world.ml.members.add(eve.id)
            await world.ask("team-a/train")
            card = await world.card()
            told = [
                await refused(world, text, who=eve)
                for text in ("team-a/train", "", "help", "nowhere:team-a/train", "a b c d", "train")
            ]
            for action in ("refresh", "details"):
                await world.slack.click(card, world.ml, eve, action)
            await world.slack.until(lambda: len(whispers(world, eve.id)) == len(told) + 2 or None)
            told += [shown(message) for message in whispers(world, eve.id)]
            assert not world.slack.views
    assert len(service.asked) == 1
    for text in told:
        assert "not a member" in text
        for name in ("team-a", "secret-space", "prod-eu", "lab", "ops", "gpu-help", "nowhere"):
            assert name not in text
    lines = [entry for entry in logs if entry["event"] == "question" and entry["user"] == eve.id]
    assert {line["result"] for line in lines} == {"stranger"}
    assert not any("asked" in line for line in lines)


def whispers(world: World, user: str) -> list[dict[str, Any]]:
    return [m for m in world.ml.messages if m.get("ephemeral") == user]


def test_an_audit_line_keeps_every_field_when_it_is_written() -> None:
    write = "from bot import telemetry as t; t.set_up('info', 'json'); t.audit('question', disclosure='queue', access_rule='ops')"
    ran = subprocess.run([sys.executable, "-c", write], capture_output=True, check=True, text=True)
    line = json.loads(ran.stderr)
    assert (line["event"], line["level"], line["disclosure"], line["access_rule"]) == (
        "question",
        "info",
        "queue",
        "ops",
    )


# User groups


async def test_members_of_a_user_group_have_its_view_and_slack_is_asked_once() -> None:
    service = Noting()
    slack = LocalSlack()
    ann, ben = slack.person("ann"), slack.person("ben")
    group = slack.usergroup("gpu-admins", ann)
    rules = (NOBODY, Access(name="admins", groups=(group,), level="all", contact="#gpu-help"))
    async with workspace(service, slack=slack, access=rules) as world:
        for _ in range(2):
            await world.ask("team-a/train", who=ann)
        await slack.until(lambda: len(whispers(world, ann.id)) == 2 or None)
        await world.ask("team-a/train", who=ben)
        no = await slack.until(lambda: next(iter(whispers(world, ben.id)), None))
        assert "admins" in shown(no)
        assert "#gpu-help" in shown(no)
    assert [a.level for a in service.audiences] == ["all", "all"]
    assert len(slack.called("usergroups.users.list")) == 1


async def test_without_the_scope_a_rule_with_groups_is_said_to_be_unusable() -> None:
    service = Noting()
    slack = LocalSlack()
    slack.fail("usergroups.users.list", error="missing_scope", times=99)
    rules = (NOBODY, Access(name="admins", groups=("S0ADMINS",), level="all"))
    with structlog.testing.capture_logs() as logs:
        async with workspace(service, slack=slack, access=rules) as world:
            await world.ask("team-a/train")
            no = shown(await world.whisper())
    assert "could not be told" in no
    assert service.asked == []
    (warning,) = [entry["reason"] for entry in logs if entry["event"] == "access rule not usable"]
    assert "rule admins" in warning
    assert "S0ADMINS" in warning
    assert "usergroups:read" in warning


# Kubernetes' own word


def api_server() -> RecordedApi:
    return RecordedApi.load(RECORDINGS / f"{QUOTA}.json")


@contextlib.asynccontextmanager
async def reviewing(api: RecordedApi, slack: LocalSlack | None = None, **more: Any) -> AsyncIterator[World]:
    async with (
        api.serve() as url,
        Service({"": Site(Cluster(url=url), access_review=True)}) as service,
        workspace(service, slack=slack, clusters=[{"access_review": True}], **more) as world,
    ):
        yield world


OWN = ("get", "workloads", "team-a")
EVERYWHERE = {
    ("list", "workloads", "*"),
    ("list", "clusterqueues", "*"),
    ("list", "cohorts", "*"),
    ("list", "pods", "*"),
}


@pytest.mark.parametrize(
    ("granted", "level"),
    [
        (set(), None),
        ({("get", "workloads", "team-b")}, None),
        ({OWN}, "namespace"),
        ({OWN, ("list", "clusterqueues", "*")}, "namespace"),
        ({OWN, ("list", "workloads", "*")}, "namespace"),
        ({OWN, ("list", "workloads", "*"), ("list", "clusterqueues", "*")}, "queue"),
        ({OWN, *EVERYWHERE} - {("list", "pods", "*")}, "cohort"),
        ({OWN, *EVERYWHERE} - {("list", "cohorts", "*")}, "queue"),
        ({OWN, *EVERYWHERE}, "all"),
        ({("get", "workloads", "*")}, "namespace"),
        (EVERYWHERE, None),
    ],
)
async def test_the_level_is_what_kubernetes_lets_a_person_list(
    granted: set[tuple[str, str, str]], level: str | None
) -> None:
    api = api_server()
    api.people["ann@example.com"] = granted
    async with api.serve() as url, Client(Cluster(url=url)) as client:
        reviewer = Reviewer(client)
        assert await reviewer.level("ann@example.com", "team-a") == level
        before = len(api.log)
        assert await reviewer.level("ann@example.com", "team-a") == level
        assert len(api.log) == before, "remembered for a minute"
        assert await reviewer.level("ben@example.com", "team-a") is None


async def test_a_review_that_is_refused_leaves_none_that_asks_on() -> None:
    api = api_server()
    api.faults = [Fault("subjectaccessreviews$", status=403, times=1), Fault("subjectaccessreviews$", delay=0.05)]
    async with api.serve() as url, Client(Cluster(url=url)) as client:
        with pytest.raises(ReadError, match="forbidden"):
            await Reviewer(client).level("ann@example.com", "team-a")
        assert len(api.log) == 5


async def test_a_persons_own_permissions_decide_and_the_channel_sees_no_more_than_its_rule() -> None:
    api = api_server()
    api.people["ann@example.com"] = {OWN, *EVERYWHERE}
    with structlog.testing.capture_logs() as logs:
        async with reviewing(api) as world:
            await world.ask("team-a/train")
            card = await world.card()
            await world.slack.click(card, world.ml, world.ann, "details")
            await world.slack.until(lambda: world.slack.called("views.update") or None)
    levels = [entry["disclosure"] for entry in logs if entry["event"] == "question"]
    assert levels == ["namespace", "all"]


async def test_who_may_read_nothing_in_kubernetes_is_refused_even_where_the_channel_sees_everything() -> None:
    api = api_server()
    async with reviewing(api, access=(Access(name="default", level="all", contact="#gpu-help"),)) as world:
        await world.ask("team-a/train")
        told = shown(await world.whisper())
        assert "Kubernetes does not let you read Workloads in namespace team-a" in told
        assert "#gpu-help" in told
        assert by_bot(world.ml.messages) == []
    assert not any("/kueue.x-k8s.io/" in request.path for request in api.log), "the cluster was not read"


async def test_a_narrow_person_narrows_what_is_shown() -> None:
    api = api_server()
    api.people["oidc:ann@example.com"] = {OWN}
    with structlog.testing.capture_logs() as logs:
        async with (
            api.serve() as url,
            Service({"": Site(Cluster(url=url), access_review=True)}) as service,
            workspace(
                service, clusters=[{"access_review": True, "access_review_user": "oidc:{email}"}],
                access=(Access(name="default", level="all"),),
            ) as world,
        ):  # fmt: skip
            await world.ask("team-a/train")
            await world.card()
    assert [entry["disclosure"] for entry in logs if entry["event"] == "question"] == ["namespace"]


@pytest.mark.parametrize("broken", ["forbidden", "no e-mail", "scope"])
async def test_a_review_that_fails_refuses_with_a_sentence(broken: str) -> None:
    api, slack = api_server(), LocalSlack()
    api.people["ann@example.com"] = {OWN, *EVERYWHERE}
    if broken == "forbidden":
        api.forbidden.add("subjectaccessreviews")
    elif broken == "scope":
        slack.fail("users.info", error="missing_scope", times=9)
    async with reviewing(api, slack) as world:
        if broken == "no e-mail":
            slack.people[world.ann.id].email = ""
        await world.ask("team-a/train")
        told = shown(await world.whisper())
        assert "Whether you may see namespace team-a could not be found out" in told
        expected = {
            "forbidden": "forbidden for this identity",
            "no e-mail": "users:read.email",
            "scope": "lacks the scope",
        }
        assert expected[broken] in told
        assert by_bot(world.ml.messages) == []


@pytest.mark.parametrize("allowed", [True, False])
async def test_the_doctor_says_whether_reviews_work(*, allowed: bool) -> None:
    api = api_server()
    if not allowed:
        api.forbidden.add("subjectaccessreviews")
    async with api.serve() as url, Service({"": Site(Cluster(url=url), access_review=True)}) as service:
        (check,) = [check for check in await service.examine() if check.name == "access review"]
    assert check.ok is allowed
    assert ("component access-review" in check.remedy) is not allowed


# Several clusters

TWO = [{"name": "prod-eu"}, {"name": "lab"}]


async def test_help_and_refusals_name_the_clusters_that_may_be_asked_and_no_other() -> None:
    service = Noting()
    rules = (Access(name="default", clusters=("lab",)), Access(name="ops", channels=("C0ELSEWHERE",)))
    async with workspace(service, clusters=TWO, access=rules) as world:
        assert "there is “lab”." in await refused(world, "nowhere:team-a/train")
        told = await refused(world, "prod-eu:team-a/train")
        assert "on cluster prod-eu" in told
        assert "rule default for every namespace on lab" in told
        assert "prod-eu" not in await refused(world, "help")
        assert "prod-eu" in await refused(world, "help", channel=world.elsewhere)
        await world.ask("team-a/train")
        await world.card()
    assert [ref.cluster for ref in service.asked] == ["lab"]


async def test_answers_say_which_cluster_and_link_to_its_own_pages() -> None:
    async with api_server().serve() as first, api_server().serve() as second:
        sites = {
            "prod-eu": Site(Cluster(url=first), Templates(headlamp="https://eu.example.com", headlamp_cluster="main")),
            "lab": Site(Cluster(url=second), Templates(kueueviz="https://lab.example.com")),
        }
        async with (
            Service(sites) as service,
            workspace(service, clusters=TWO, channels={"C0ML": Channel(cluster="lab")}) as world,
        ):
            await world.ask("team-a/train")
            here = await world.card()
            await world.ask("prod-eu:team-a/train", world.elsewhere)
            there = await world.whisper(world.elsewhere)
    for message, name, page, other in (
        (here, "lab", "https://lab.example.com/", "https://eu.example.com"),
        (there, "prod-eu", "https://eu.example.com/c/main/", "https://lab.example.com"),
    ):
        assert f"on {name}" in message["text"]
        assert page in json.dumps(message)
        assert other not in json.dumps(message)
        values = [
            e["value"] for b in message["blocks"] if b["type"] == "actions" for e in b["elements"] if "value" in e
        ]
        assert set(values) == {f"{name}:team-a/job/train"}


async def test_a_cluster_that_does_not_answer_holds_up_no_other() -> None:
    async with api_server().serve() as url, hanging_server() as (dead, _):
        sites = {"prod-eu": Site(Cluster(url=url)), "lab": Site(Cluster(url=dead))}
        async with (
            Service(sites, deadline=20) as service,
            workspace(
                service, clusters=TWO, read_seconds=20, questions_at_once=2, questions_waiting=2, drain_seconds=0
            ) as world,
        ):
            deliveries = [await world.ask(f"lab:team-a/job-{n}") for n in range(6)]
            assert [bool(d.response) for d in deliveries] == [False] * 4 + [True] * 2
            began = time.monotonic()
            await world.ask("prod-eu:team-a/train")
            assert SENTENCE in shown(await world.card())
            assert time.monotonic() - began < 6


async def test_the_demo_has_several_clusters_at_once_and_a_channel_for_those_who_run_the_queues() -> None:
    async with stage(0, SCENARIOS[:2]) as demo:
        first, second = (scenario.cluster for scenario in SCENARIOS[:2])
        training, operators = demo.slack.channels["C0MLTRAINING"], demo.slack.channels["C0GPUOPERATORS"]
        for channel, text, name in (
            (training, "team-a/train", first), (training, f"{second}:team-a/train", second), (operators, "team-a/train", first),
        ):  # fmt: skip
            await demo.slack.command(text, channel, demo.me)
            await demo.slack.until(partial(said_in, channel, f"on {name}"), seconds=30)
        policy = demo.bot.settings.policy
        assert policy.place(operators.id, first, "team-a") == Grant("all", "gpu-operators")
        assert policy.place(training.id, first, "team-a") == Grant("namespace", "default")


def said_in(channel: LocalChannel, text: str) -> bool | None:
    """Whether a card with this text stands in a thread."""
    return (
        any(text in m["text"] and m.get("thread_ts") not in {None, m["ts"]} for m in by_bot(channel.messages)) or None
    )


async def test_a_group_that_is_not_known_yet_lets_nobody_hear_of_a_cluster() -> None:
    service = Noting()
    slack = LocalSlack()
    ann, ben = slack.person("ann"), slack.person("ben")
    group = slack.usergroup("admins", ann)
    rules = (Access(name="default", clusters=("lab",)), Access(name="admins", groups=(group,), level="all"))
    async with workspace(service, slack=slack, clusters=TWO, access=rules) as world:
        assert "prod-eu" not in await refused(world, "nowhere:team-a/train", who=ben)
        await world.ask("prod-eu:team-a/train", who=ann)
        assert SENTENCE in shown(await slack.until(lambda: next(iter(whispers(world, ann.id)), None)))
        await world.ask("prod-eu:team-a/train", who=ben)
        told = await slack.until(lambda: next(iter(whispers(world, ben.id)[1:]), None))
        assert "No access rule lets you ask about namespace team-a on cluster prod-eu" in shown(told)
    assert [ref.cluster for ref in service.asked] == ["prod-eu"]


async def test_somebody_in_doubt_hears_no_name_before_slack_says_who_it_is() -> None:
    service = Noting()
    slack = LocalSlack()
    held = {"C0ML": Channel(default_namespace="secret-space", cluster="lab")}
    async with workspace(service, slack=slack, clusters=TWO, channels=held) as world:
        world.bot.desk.home.enterprise = "E1"
        eve = slack.person("eve", team="T0OTHER")
        for text in ("", "help", "train", "nowhere:x/y"):
            told = await refused(world, text, who=eve)
            for name in ("secret-space", "prod-eu", "lab"):
                assert name not in told
        await world.ask("team-a/train", who=eve)
        told = shown(await slack.until(lambda: next(iter(whispers(world, eve.id)[4:]), None)))
        assert "not a member" in told
        assert "team-a" not in told
        assert slack.called("users.info") == [{"user": eve.id}]
    assert service.asked == []


# Nothing of others leaves the bot

FOREIGN = [f"v0.19.2/{name}" for name in ("cohort-exhausted", "priority-behind", "preempted", "quota-in-use")]
RIVAL = "rival-space"


def space(item: dict[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("namespace") or "")


def invaded(name: str) -> list[dict[str, Any]]:
    """A recording in which every job beside the asked one lives in a namespace of somebody else, under another name."""
    items = json.loads(json.dumps(list(recorded(name).items)))
    jobs = [item["metadata"]["name"] for item in items if item["kind"] == "Job" and space(item) == "team-a"]
    others = sorted(set(jobs) - {"train"})
    for item in items:
        own = (item.get("metadata") or {}).get("name", "")
        owners = [owner["name"] for owner in (item.get("metadata") or {}).get("ownerReferences") or []]
        about = (item.get("involvedObject") or {}).get("name", "")
        if any(other in (own, *owners) or own.startswith(f"job-{other}-") or other in about for other in others):
            item["metadata"]["namespace"] = RIVAL
            if about:
                item["involvedObject"]["namespace"] = RIVAL
    text = json.dumps(items)
    for at, other in enumerate(others):
        for before in (f'"{other}"', f"job-{other}-", f"{other}-"):
            text = text.replace(before, before.replace(other, f"rival-{at}"))
    found: list[dict[str, Any]] = json.loads(text)
    return found


def theirs(items: list[dict[str, Any]]) -> set[str]:
    """The names of others' objects and namespaces, but those that the reader's own things have, too."""
    foreign = [item for item in items if space(item) not in {"", "team-a", "kueue-system"}]
    shared = {item["metadata"].get("name") for item in items if item.get("metadata") and item not in foreign}
    names = {item["metadata"]["name"] for item in foreign} - shared
    return (names | {space(item) for item in foreign if item["kind"] in {"Job", "Workload"}}) - COMMON_WORDS


async def leaving(items: list[dict[str, Any]], store: Path, **more: Any) -> dict[str, str]:
    """Ask, press every button, and give everything that left the bot: to Slack, into the store, into the log."""
    with structlog.testing.capture_logs() as logs:
        async with (
            RecordedApi(items).serve() as url,
            Service({"": Site(Cluster(url=url), Templates(headlamp="https://h.example.com"))}, deadline=20) as service,
            workspace(service, store_url=f"sqlite:///{store}", read_seconds=20, **more) as world,
        ):
            await world.ask("team-a/train")
            card = await world.card()
            for action in ("details", "watch", "refresh"):
                await world.slack.click(card, world.ml, world.ann, action)
            await world.slack.until(lambda: world.slack.called("views.update") or None)
            await world.slack.until(lambda: "edited" in card or None)
            await world.slack.until(lambda: not len(world.bot.work) or None)
            sent = json.dumps([call.arguments for call in world.slack.calls] + list(world.slack.views.values()))
    with contextlib.closing(sqlite3.connect(store)) as rows:
        tables = [table for (table,) in rows.execute("select name from sqlite_master where type = 'table'")]
        stored = json.dumps([row for table in tables for row in rows.execute(f"select * from {table}")], default=str)
    assert "team-a" in stored
    return {"sent": sent, "stored": stored, "logged": json.dumps(logs, default=str)}


def said(text: str, names: set[str]) -> list[str]:
    return [name for name in sorted(names) if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)]


@pytest.mark.parametrize("name", FOREIGN)
async def test_nothing_that_leaves_the_bot_names_what_is_of_others(name: str, tmp_path: Path) -> None:
    items = invaded(name)
    names = theirs(items)
    assert names & {RIVAL, "team-b"}
    for text in (await leaving(items, tmp_path / "store.sqlite3")).values():
        assert said(text, names) == []


async def test_what_a_channel_may_see_is_named_there_and_not_in_the_log(tmp_path: Path) -> None:
    items = invaded("v0.19.2/quota-in-use")
    left = await leaving(
        items, tmp_path / "store.sqlite3", access=(Access(name="ops", channels=("C0ML",), level="all"),)
    )
    assert RIVAL in said(left["sent"], theirs(items)), "the test above would see a name"
    assert said(left["logged"], theirs(items)) == []
