"""Mentions, direct messages, the message shortcut, the form and the choices, through the real Bolt app and the local Slack."""

import asyncio
import json
from typing import Any

import pytest
import structlog

from bot.demo.slack import BOT, Channel, LocalSlack, mention_event
from bot.settings import Access
from bot.slack import reading
from bot.slack.talk import ASK_WHY, WHY
from tests.clusters import recorded
from tests.workspace import Recorded, World, by_bot, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"
ALERT = {
    "user": "U0ALERTS", "bot_id": "B0ALERTS", "text": "KueueWorkloadPendingTooLong",
    "attachments": [
        {
            "color": "danger", "fallback": "[FIRING:1] a job waits", "title": "a job waits",
            "text": "*Details:*\n • *namespace:* `team-a`\n • *job_name:* `train`\n • *severity:* `warning`",
        }
    ],
}  # fmt: skip


def mention(text: str) -> str:
    """What the client sends for "@whypending …"."""
    return f"<@{BOT}> {text}".strip()


async def reply(world: World, ts: str, channel: Channel | None = None, *, count: int = 1) -> dict[str, Any]:
    """Wait for the bot's latest reply in a thread once there are so many."""
    where = channel or world.ml
    found = await world.slack.until(lambda: r if len(r := by_bot(where.thread(ts))) >= count else None)
    return found[-1]


async def idle(world: World) -> None:
    """Let everything under way come to its end."""
    await asyncio.sleep(0.3)
    await world.slack.until(lambda: not len(world.bot.work) or None)


# Mentions


@pytest.mark.parametrize("mode", ["socket", "http"])
@pytest.mark.parametrize(
    "text",
    [
        "team-a/train",
        "hey, why is team-a/train pending?",
        "`kubectl -n team-a get job train`",
        "team-a/job/train please",
    ],
)
async def test_a_mention_in_a_thread_is_answered_there(mode: str, text: str) -> None:
    async with workspace(recorded(QUOTA), slack_mode=mode) as world:
        root = await world.slack.say("training is late", world.ml, world.ann)
        await world.slack.say(mention(text), world.ml, world.ann, thread_ts=root["ts"])
        card = await reply(world, root["ts"])
        assert SENTENCE in shown(card)
        assert SENTENCE in card["text"]
        assert not by_bot(world.ml.roots()), "nothing new stands in the channel"


async def test_a_mention_that_begins_no_thread_is_answered_in_its_own() -> None:
    async with workspace(recorded(QUOTA)) as world:
        said = await world.slack.say(mention("team-a/train"), world.ml, world.ann)
        assert SENTENCE in shown(await reply(world, said["ts"]))


async def test_a_mention_without_a_job_reads_the_thread() -> None:
    async with workspace(recorded(QUOTA)) as world:
        root = world.slack.put(world.ml, dict(ALERT))
        await world.slack.say("anybody?", world.ml, world.ann, thread_ts=root["ts"])
        await world.slack.say(mention("why?"), world.ml, world.ann, thread_ts=root["ts"])
        assert SENTENCE in shown(await reply(world, root["ts"]))


async def test_our_own_answers_in_a_thread_are_about_one_job() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train")
        card = await world.card()
        await world.slack.say(mention("and now?"), world.ml, world.ann, thread_ts=card["thread_ts"])
        again = await reply(world, card["thread_ts"], count=2)
        assert SENTENCE in shown(again)


async def test_of_several_jobs_one_is_chosen_once() -> None:
    async with workspace(recorded(QUOTA)) as world:
        root = await world.slack.say("team-a/train and team-a/holder both wait", world.ml, world.ann)
        await world.slack.say(mention(""), world.ml, world.ann, thread_ts=root["ts"])
        choice = await reply(world, root["ts"])
        assert "Which job is meant?" in choice["text"]
        assert "team-a/train" in choice["text"]
        assert "team-a/holder" in choice["text"]
        actions = next(block for block in choice["blocks"] if block["type"] == "actions")
        labels = [element["accessibility_label"] for element in actions["elements"]]
        assert len(set(labels)) == 2
        await world.slack.click(choice, world.ml, world.ann, "pick-0")
        assert SENTENCE in shown(await reply(world, root["ts"], count=2))
        await world.slack.click(choice, world.ml, world.ann, "pick-0")
        assert "chosen here before" in shown(await world.whisper())
        await idle(world)
        assert len(by_bot(world.ml.thread(root["ts"]))) == 2


async def test_of_many_jobs_one_is_chosen_from_a_list() -> None:
    async with workspace(recorded(QUOTA)) as world:
        names = " ".join(f"team-a/job-{n}" for n in range(8))
        root = await world.slack.say(f"{names} team-a/train", world.ml, world.ann)
        await world.slack.say(mention(""), world.ml, world.ann, thread_ts=root["ts"])
        choice = await reply(world, root["ts"])
        option = {"value": "team-a/train", "text": {"type": "plain_text", "text": "team-a/train"}}
        await world.slack.click(choice, world.ml, world.ann, "pick", chosen={"selected_option": option})
        assert SENTENCE in shown(await reply(world, root["ts"], count=2))


@pytest.mark.parametrize("in_thread", [False, True])
async def test_a_mention_that_finds_no_job_shows_an_example_that_works(*, in_thread: bool) -> None:
    async with workspace(recorded(QUOTA)) as world:
        root = await world.slack.say("good morning", world.ml, world.ann)
        said = await world.slack.say(
            mention("what is going on?"), world.ml, world.ann, thread_ts=root["ts"] if in_thread else None
        )
        where = root["ts"] if in_thread else said["ts"]
        told = await reply(world, where)
        example = told["text"].rpartition("for example: @whypending ")[2]
        await world.slack.say(mention(example), world.ml, world.ann, thread_ts=where)
        assert SENTENCE in shown(await reply(world, where, count=2))


async def test_without_the_scope_the_person_is_told_which_one_lacks_and_the_log_says_it_once() -> None:
    slack = LocalSlack()
    slack.fail("conversations.replies", error="missing_scope", times=9)
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack) as world:
            for count in (1, 2):
                root = await world.slack.say("good morning", world.ml, world.ann)
                await world.slack.say(mention("why?"), world.ml, world.ann, thread_ts=root["ts"])
                told = await reply(world, root["ts"])
                assert "channels:history" in told["text"], count
                assert "@whypending team-a/train" in told["text"]
    assert len([entry for entry in logs if entry.get("scope") == "channels:history"]) == 1


async def test_help_is_help() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        said = await world.slack.say(mention("help"), world.ml, world.ann)
        assert "Why is my job pending?" in shown(await reply(world, said["ts"]))
        assert service.asked == []


async def test_edits_bots_and_its_own_messages_are_not_answered() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        said = {"type": "app_mention", "channel": world.ml.id, "text": mention("team-a/train"), "team": world.ann.team}
        several: tuple[dict[str, Any], ...] = (
            {"user": world.ann.id, "edited": {"user": world.ann.id, "ts": "9.0"}},
            {"user": world.ann.id, "bot_id": "B0OTHER"},
            {"user": BOT, "bot_id": "B0BOT"},
            {"user": world.ann.id, "subtype": "bot_message"},
            {"user": world.ann.id, "type": "message", "channel_type": "channel"},
            {
                "type": "message",
                "channel_type": "im",
                "subtype": "message_changed",
                "message": {"text": "team-a/train"},
            },
        )
        for number, more in enumerate(several):
            ts = f"{number}.5"
            delivery = await world.slack.event({**said, "ts": ts, "event_ts": ts, **more})
            assert delivery.acked_at is not None
        await idle(world)
        assert service.asked == []
        assert not by_bot(world.ml.messages)


async def test_a_repeated_event_is_answered_once() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        said = await world.slack.say(mention("team-a/train"), world.ml, world.ann)
        await reply(world, said["ts"])
        delivery = next(d for d in world.slack.deliveries if d.kind == "events_api")
        await world.slack.redeliver(delivery)
        again = {**delivery.payload["event"]}
        await world.slack.event(again, world.ann)  # another event about the same message
        await idle(world)
        assert len(service.asked) == 1
        assert len(by_bot(world.ml.thread(said["ts"]))) == 1


async def test_a_direct_message_is_a_question() -> None:
    async with workspace(recorded(QUOTA)) as world:
        direct = world.slack.channel("ann", world.ann, im=True)
        said = await world.slack.say("team-a/train", direct, world.ann)
        assert SENTENCE in shown(await reply(world, said["ts"], direct))
        other = await world.slack.say("good morning", direct, world.ann)
        assert "for example: @whypending team-a/train" in shown(await reply(world, other["ts"], direct))


async def test_a_stranger_is_refused_and_no_thread_is_read_for_one() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        eve = world.slack.person("eve", team="T0OTHER")
        world.ml.members.add(eve.id)
        for text in ("team-a/train", "", "help"):
            said = await world.slack.say(mention(text), world.ml, eve)
            told = await reply(world, said["ts"])
            assert "team-a" not in shown(told)
        assert service.asked == []
        assert not world.slack.called("conversations.replies")


async def test_what_may_not_be_asked_here_is_refused_to_the_asker_alone() -> None:
    service = Recorded(recorded(QUOTA))
    rules = (Access(name="default", namespaces=("lab-*",)),)
    async with workspace(service, access=rules) as world:
        await world.slack.say(mention("team-a/train"), world.ml, world.ann)
        told = await world.whisper()
        assert "team-a" in shown(told)
        assert not told.get("thread_ts"), "a thread without replies shows no private messages"
        assert service.asked == []


async def test_where_the_thread_is_closed_the_answer_is_private() -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error="restricted_action_thread_locked", times=9)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        root = await world.slack.say("late again", world.ml, world.ann)
        await world.slack.say(mention("team-a/train"), world.ml, world.ann, thread_ts=root["ts"])
        private = await world.whisper()
        assert SENTENCE in shown(private)
        assert "restricted_action_thread_locked" in shown(private)


# The message shortcut


async def test_the_shortcut_answers_in_the_thread_of_an_alert_and_says_who_asked() -> None:
    async with workspace(recorded(QUOTA)) as world:
        alert = world.slack.put(world.ml, dict(ALERT))
        await world.slack.shortcut(WHY, world.ann, alert, world.ml)
        card = await reply(world, alert["ts"])
        assert SENTENCE in shown(card)
        assert f"Asked by <@{world.ann.id}>" in shown(card)


async def test_the_shortcut_on_our_own_verdict_is_about_its_job() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train")
        await world.card()
        await idle(world)
        root = await world.root()
        await world.slack.shortcut(WHY, world.ann, root, world.ml)
        assert SENTENCE in shown(await reply(world, root["ts"], count=2))


async def test_in_our_own_thread_no_scope_is_needed() -> None:
    slack = LocalSlack()
    slack.fail("conversations.replies", error="missing_scope", times=9)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        card = await world.card()
        await idle(world)
        await slack.say(mention("and now?"), world.ml, world.ann, thread_ts=card["thread_ts"])
        assert SENTENCE in shown(await reply(world, card["thread_ts"], count=2))


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_a_hundred_mentions_are_acknowledged_at_once_while_the_cluster_hangs(mode: str) -> None:
    service = Recorded(recorded(QUOTA))
    service.gate.clear()
    async with workspace(service, slack_mode=mode) as world:
        said = [
            world.slack.put(world.ml, {"user": world.ann.id, "text": mention(f"team-a/job-{n}")}) for n in range(100)
        ]
        events = [mention_event("app_mention", message, world.ml, world.ann) for message in said]
        deliveries = await asyncio.gather(*(world.slack.event(event, world.ann) for event in events))
        assert max(delivery.seconds or 9 for delivery in deliveries) < 1.5, (
            "on a machine without other work it is under 0.5"
        )
        assert not [delivery for delivery in deliveries if delivery.attempts]
        service.gate.set()


def mrkdwn(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


FIELDS = [{"title": "namespace", "value": "team-a"}, {"title": "job_name", "value": "train"}]
RICH = [{"type": "text", "text": "see "}, {"type": "text", "text": "team-a/train", "style": {"code": True}}]


@pytest.mark.parametrize(
    "message",
    [
        {"text": "FIRING KueuePending namespace=team-a job_name=train"},
        {"text": "<https://hl.example.com/c/main/kueue/workloads/team-a/job-train-6cac3|job-train-6cac3>"},
        {"text": "```kubectl -n team-a describe job train```"},
        {"blocks": [{"type": "section", "fields": [mrkdwn("*namespace:* team-a"), mrkdwn("*job_name:* train")]}]},
        {"attachments": [{"fields": FIELDS}]},
        {"blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": RICH}]}]},
    ],
    ids=["labels", "link", "kubectl", "fields", "attachment fields", "rich text"],
)
async def test_whatever_form_a_message_has_its_job_is_found(message: dict[str, Any]) -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        stored = world.slack.put(world.ml, {"user": world.ann.id, "text": "x", **message})
        await world.slack.shortcut(WHY, world.ann, stored, world.ml)
        await reply(world, stored["ts"])
        assert (service.asked[0].namespace, service.asked[0].name.partition("-6cac3")[0]) in {
            ("team-a", "train"),
            ("team-a", "job-train"),
        }


async def opened(world: World) -> dict[str, Any]:
    """Wait for a modal."""
    return await world.slack.until(lambda: next(iter(world.slack.views.values()), None))


def values(**given: Any) -> dict[str, Any]:
    """What Slack sends of a filled-in form."""
    return {block: {block: state if isinstance(state, dict) else {"value": state}} for block, state in given.items()}


async def test_of_several_jobs_in_a_message_the_form_offers_each() -> None:
    async with workspace(recorded(QUOTA)) as world:
        said = await world.slack.say("team-a/train or team-a/holder?", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        view = await opened(world)
        options = view["blocks"][0]["element"]["options"]
        assert [option["text"]["text"] for option in options] == ["team-a/train", "team-a/holder"]
        await world.slack.submit(view, world.ann, values(found={"selected_option": options[0]}))
        assert SENTENCE in shown(await reply(world, said["ts"]))
        assert world.slack.views == {}, "it closed"


async def test_where_nothing_is_found_the_form_asks_and_says_what_is_wrong_beside_the_field() -> None:
    async with workspace(recorded(QUOTA), clusters=[{"name": "prod"}, {"name": "lab"}]) as world:
        said = await world.slack.say("it hangs", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        view = await opened(world)
        assert [b["block_id"] for b in view["blocks"] if b["type"] == "input"] == [
            "cluster",
            "namespace",
            "name",
            "kind",
        ]
        for given, block, words in (
            (values(namespace="team-a", name=None), "name", "name"),
            (values(namespace=None, name="train"), "namespace", "team-a"),
            (values(namespace="Team A!", name="train"), "namespace", "not a namespace"),
            (values(namespace="team-a", name="tr_ain"), "name", "not a name"),
            (values(namespace="team-a", name="a/b/c/d/e"), "name", "too many parts"),
        ):
            delivery = await world.slack.submit(view, world.ann, given)
            assert delivery.response is not None
            assert delivery.response["response_action"] == "errors"
            assert list(delivery.response["errors"]) == [block], given
            assert words in delivery.response["errors"][block]
        kind = {"selected_option": {"value": "Job"}}
        lab = {"selected_option": {"value": "lab"}}
        await world.slack.submit(view, world.ann, values(cluster=lab, namespace="team-a", name="train", kind=kind))
        card = await reply(world, said["ts"])
        assert SENTENCE in shown(card)
        asked = world.bot.desk.service.asked  # type: ignore[attr-defined]
        assert (asked[0].cluster, asked[0].kind) == ("lab", "Job")


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_the_form_refuses_inline_what_may_not_be_asked(mode: str) -> None:
    service = Recorded(recorded(QUOTA))
    rules = (Access(name="default", namespaces=("lab-*",)),)
    async with workspace(service, access=rules, slack_mode=mode) as world:
        said = await world.slack.say("it hangs", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        delivery = await world.slack.submit(await opened(world), world.ann, values(namespace="team-a", name="train"))
        assert "team-a" in (delivery.response or {})["errors"]["namespace"]
        assert service.asked == []


async def test_a_form_whose_button_is_pressed_twice_asks_once_and_a_refused_one_may_be_corrected() -> None:
    service = Recorded(recorded(QUOTA))
    rules = (Access(name="default", namespaces=("team-a",)),)
    async with workspace(service, access=rules) as world:
        said = await world.slack.say("it hangs", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        view = await opened(world)
        await world.slack.submit(view, world.ann, values(namespace="team-b", name="train"))
        right = values(namespace="team-a", name="train")
        await asyncio.gather(*(world.slack.submit(view, world.ann, right) for _ in range(3)))
        await world.slack.until(lambda: by_bot(world.ml.thread(said["ts"])) or None)
        await world.slack.until(lambda: not len(world.bot.work) or None)
        assert len(service.asked) == 1
        assert len(by_bot(world.ml.thread(said["ts"]))) == 1


async def test_a_mention_knows_the_clusters_that_only_a_user_group_may_ask_about() -> None:
    service = Recorded(recorded(QUOTA))
    slack = LocalSlack()
    group = slack.usergroup("admins", slack.person("ann"))
    rules = (
        Access(name="default", namespaces=()),
        Access(name="admins", groups=(group,), clusters=("lab",), level="all"),
    )
    async with workspace(service, slack=slack, clusters=({"name": "prod"}, {"name": "lab"}), access=rules) as world:
        for text in ("look at lab:team-a/train, please", "team-a/train"):
            await slack.say(f"<@{BOT}> {text}", world.ml, world.ann)
        await slack.until(lambda: len(service.asked) == 2 or None)
        assert {ref.cluster for ref in service.asked} == {"lab"}


async def test_the_global_shortcut_asks_where_the_answer_goes() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.slack.shortcut(ASK_WHY, world.ann)
        view = await opened(world)
        chosen = values(where={"selected_conversation": world.ml.id}, namespace="team-a", name="train")
        await world.slack.submit(view, world.ann, chosen)
        assert SENTENCE in shown(await world.card())


async def test_the_global_shortcut_answers_privately_where_the_bot_is_not() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.slack.shortcut(ASK_WHY, world.ann)
        chosen = values(where={"selected_conversation": world.elsewhere.id}, namespace="team-a", name="train")
        await world.slack.submit(await opened(world), world.ann, chosen)
        private = await world.whisper(world.elsewhere)
        assert SENTENCE in shown(private)
        assert "/invite @whypending" in shown(private)


@pytest.mark.parametrize("error", ["expired_trigger_id", "invalid_arguments", "internal_error"])
@pytest.mark.parametrize("text", ["it hangs", "team-a/train or team-a/holder"])
async def test_a_form_that_does_not_open_leaves_words_and_buttons(error: str, text: str) -> None:
    slack = LocalSlack()
    slack.fail("views.open", error=error, times=9)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        said = await world.slack.say(text, world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        private = await world.whisper()
        assert "/whypending team-a/train" in private["text"]
        if "team-a" in text:
            await world.slack.click(private, world.ml, world.ann, "pick-0")
            await world.slack.until(lambda: [m for m in by_bot(world.ml.messages) if SENTENCE in shown(m)] or None)


async def test_the_shortcut_where_the_bot_is_not_answers_privately() -> None:
    async with workspace(recorded(QUOTA)) as world:
        said = await world.slack.say("team-a/train waits", world.elsewhere, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.elsewhere)
        private = await world.whisper(world.elsewhere)
        assert SENTENCE in shown(private)
        assert "/invite @whypending" in shown(private)


async def test_a_stranger_uses_no_shortcut() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        eve = world.slack.person("eve", team="T0OTHER")
        said = await world.slack.say("team-a/train waits", world.ml, world.ann)
        await world.slack.shortcut(WHY, eve, said, world.ml)
        await world.whisper()
        assert world.slack.views == {}
        assert service.asked == []


async def test_an_unreadable_question_offers_the_form() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("")
        refusal = await world.whisper()
        await world.slack.click(refusal, world.ml, world.ann, "form")
        view = await opened(world)
        await world.slack.submit(view, world.ann, values(namespace="team-a", name="train"))
        assert SENTENCE in shown(await world.card())


# Private answers, and sharing them

OTHERS = "rivals"


def with_a_neighbour() -> Any:
    """The recorded cluster, whose holder is in another namespace."""
    cluster = recorded(QUOTA)
    moved = json.loads(json.dumps(cluster.items).replace("holder", "secret-project"))
    for item in moved:
        if "secret-project" in item.get("metadata", {}).get("name", ""):
            item["metadata"]["namespace"] = OTHERS
    return type(cluster)(tuple(moved))


@pytest.mark.parametrize("flag", ["--private", "\u2014private"])
async def test_a_private_answer_is_shared_once_and_the_button_goes(flag: str) -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask(f"team-a/train {flag}")
        private = await world.whisper()
        assert SENTENCE in shown(private)
        assert "as you wished" in shown(private)
        assert not by_bot(world.ml.messages)
        await world.slack.click(private, world.ml, world.ann, "share")
        assert SENTENCE in shown(await world.card())
        assert f"Asked by <@{world.ann.id}>" in shown(await world.root())
        await world.slack.until(lambda: "Shared in this channel by" in shown(private) or None)
        assert '"share"' not in json.dumps(private)
        assert len([m for m in world.ml.messages if "ephemeral" in m]) == 1, "replaced, not repeated"


async def test_pressing_share_twice_posts_once() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        await world.ask("team-a/train --private")
        private = await world.whisper()
        service.gate.clear()
        for _ in range(2):
            await world.slack.click(private, world.ml, world.ann, "share")
        await world.slack.until(lambda: [m for m in world.ml.messages if "shared before" in m["text"]] or None)
        service.gate.set()
        await world.card()
        await idle(world)
        assert len(by_bot(world.ml.roots())) == 1


async def test_what_is_shared_is_no_wider_than_the_channel_may_see() -> None:
    rules = (Access(name="wide", users=("U0ANN",), level="all"),)
    service = Recorded(with_a_neighbour())
    async with workspace(service, access=rules) as world:
        await world.ask("team-a/train --private")
        private = await world.whisper()
        assert OTHERS in shown(private), "she may see it"
        await world.slack.click(private, world.ml, world.ann, "share")
        card = await world.card()
        assert SENTENCE in shown(card)
        await idle(world)
        public = json.dumps([m for m in world.ml.messages if "ephemeral" not in m])
        assert OTHERS not in public
        assert "secret-project" not in public


async def test_a_channel_that_may_see_nothing_is_offered_nothing() -> None:
    rules = (Access(name="default", namespaces=()), Access(name="hers", users=("U0ANN",)))
    async with workspace(recorded(QUOTA), access=rules) as world:
        await world.ask("team-a/train")
        private = await world.whisper()
        assert SENTENCE in shown(private)
        assert '"share"' not in json.dumps(private)
        button = {
            "type": "button",
            "action_id": "share",
            "value": "team-a/train",
            "text": {"type": "plain_text", "text": "Share"},
        }
        message = {"user": BOT, "text": "x", "blocks": [{"type": "actions", "elements": [button]}]}
        old = world.slack.put(world.ml, {**message, "ephemeral": world.ann.id})
        await world.slack.click(old, world.ml, world.ann, "share")
        await world.slack.until(lambda: [m for m in world.ml.messages if m["text"].startswith("Not shared")] or None)
        assert not by_bot(world.ml.messages)


async def test_sharing_where_the_bot_is_not_says_how_to_invite_it_and_works_afterwards() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train", world.elsewhere)
        private = await world.whisper(world.elsewhere)
        await world.slack.click(private, world.elsewhere, world.ann, "share")
        told = await world.slack.until(
            lambda: next((m for m in world.elsewhere.messages if m["text"].startswith("Not shared")), None)
        )
        assert "/invite @whypending" in told["text"]
        world.elsewhere.members.add(BOT)
        await world.slack.click(private, world.elsewhere, world.ann, "share")
        assert SENTENCE in shown(await world.card(world.elsewhere))


async def test_a_channel_of_private_answers_has_them_refreshed_in_place_and_shared() -> None:
    async with workspace(recorded(QUOTA), channels={"C0ML": {"private": True}}) as world:
        await world.ask("team-a/train")
        private = await world.whisper()
        await world.slack.click(private, world.ml, world.ann, "refresh")
        await world.slack.until(lambda: "nothing changed" in shown(private) or "Refreshed by" in shown(private) or None)
        assert len(world.ml.messages) == 1
        await world.slack.click(private, world.ml, world.ann, "share")
        assert SENTENCE in shown(await world.card())


async def test_a_mention_can_ask_for_a_private_answer() -> None:
    async with workspace(recorded(QUOTA)) as world:
        root = await world.slack.say("late again", world.ml, world.ann)
        await world.slack.say(mention("team-a/train --private"), world.ml, world.ann, thread_ts=root["ts"])
        private = await world.whisper()
        assert private["thread_ts"] == root["ts"]
        await world.slack.click(private, world.ml, world.ann, "share")
        assert SENTENCE in shown(await reply(world, root["ts"]))


# What Slack may do about it


def conversation(world: World) -> Channel | None:
    """The conversation between Ann and the bot."""
    return next((c for c in world.slack.channels.values() if c.im and world.ann.id in c.members), None)


@pytest.mark.parametrize(
    "failure",
    [
        {"retry_after": 1},
        {"status": 503, "times": 2},
        {"error": "invalid_blocks", "times": 2},
        {"error": "msg_too_long"},
    ],
)
async def test_what_passes_is_waited_for_and_what_is_too_rich_is_made_plainer(failure: dict[str, Any]) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", **failure)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        said = await slack.say(mention("team-a/train"), world.ml, world.ann)
        card = await reply(world, said["ts"])
        assert SENTENCE in card["text"]


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long", "msg_too_long"])
async def test_a_refused_choice_is_asked_in_words(error: str) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error=error)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        said = await slack.say(mention("team-a/train or team-a/holder"), world.ml, world.ann)
        choice = await reply(world, said["ts"])
        assert not choice.get("blocks")
        assert "write @whypending team-a/train" in choice["text"]


@pytest.mark.parametrize("error", ["channel_not_found", "not_in_channel", "is_archived", "fatal_error"])
@pytest.mark.parametrize("text", ["team-a/train", "team-a/train or team-a/holder", "good morning"])
async def test_whoever_cannot_be_reached_in_the_channel_is_written_to(error: str, text: str) -> None:
    slack = LocalSlack()
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack) as world:
            slack.fail("chat.postMessage", error=error, times=9, when=lambda call: call["channel"] == world.ml.id)
            slack.fail("chat.postEphemeral", error=error, times=9)
            await slack.say(mention(text), world.ml, world.ann)
            direct = await slack.until(lambda: conversation(world))
            told = await slack.until(lambda: next(iter(by_bot(direct.messages)), None))
    assert "team-a/train" in told["text"]
    assert [entry for entry in logs if entry.get("error") == error], "the log says which"


@pytest.mark.parametrize(
    "failure",
    [{"error": "not_in_channel"}, {"error": "thread_not_found"}, {"error": "internal_error"}, {"status": 503}],
)
async def test_a_thread_that_cannot_be_read_is_said(failure: dict[str, Any]) -> None:
    slack = LocalSlack()
    slack.fail("conversations.replies", times=9, **failure)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        root = world.slack.put(world.ml, dict(ALERT))
        await slack.say(mention("why?"), world.ml, world.ann, thread_ts=root["ts"])
        told = await reply(world, root["ts"])
        assert "could not be read" in told["text"]
        assert "@whypending team-a/train" in told["text"]


async def test_a_form_that_was_closed_meanwhile_or_a_refused_submission_answers_in_words() -> None:
    service = Recorded(recorded(QUOTA))
    service.gate.clear()
    async with workspace(service, questions_at_once=1, questions_waiting=0) as world:
        said = await world.slack.say("it hangs", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        view = await opened(world)
        await world.ask("team-a/other")
        await world.slack.until(lambda: len(world.bot.work) or None)
        await world.slack.submit(view, world.ann, values(namespace="team-a", name="train"))
        assert "Too many questions" in shown(await world.whisper())
        service.gate.set()


async def test_a_choice_whose_message_is_gone_is_answered_all_the_same() -> None:
    async with workspace(recorded(QUOTA)) as world:
        said = await world.slack.say(mention("team-a/train or team-a/holder"), world.ml, world.ann)
        choice = await reply(world, said["ts"])
        world.ml.messages.remove(choice)
        await world.slack.click(choice, world.ml, world.ann, "pick-0")
        assert SENTENCE in shown(await reply(world, said["ts"]))


async def test_verbs_work_in_mentions() -> None:
    async with workspace(recorded(QUOTA)) as world:
        root = await world.slack.say("late again", world.ml, world.ann)
        await world.slack.say(mention("watch team-a/train"), world.ml, world.ann, thread_ts=root["ts"])
        assert SENTENCE in shown(await reply(world, root["ts"]))
        await world.slack.until(lambda: [m for m in world.ml.messages if "told in this thread" in m["text"]] or None)


async def test_every_message_says_it_in_its_text_alone() -> None:
    async with workspace(recorded(QUOTA)) as world:
        said = await world.slack.say(mention("team-a/train"), world.ml, world.ann)
        await reply(world, said["ts"])
        await world.ask("team-a/train")
        await world.ask("team-a/train --private")
        await world.whisper()
        root, card = await world.root(), await world.card()
        for message in (*by_bot(world.ml.thread(said["ts"])), root, card, await world.whisper()):
            assert message["text"].startswith("Waiting its turn"), "the verdict"
            assert SENTENCE in message["text"]
            assert "Next: " in message["text"], "the next step"
            elements = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
            spoken = [element["accessibility_label"] for element in elements]
            assert len(spoken) == len(set(spoken)) <= 5


# Reading


class Listing(Recorded):
    """A recorded cluster that tells its namespaces."""

    hang: float = 0.0

    async def namespaces(self, cluster: str) -> tuple[str, ...]:
        del cluster
        await asyncio.sleep(self.hang)
        return ("team-a",)


async def test_what_only_looks_like_a_job_is_no_choice() -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        root = await world.slack.say("see docs/readme and src/main: team-a/train waits", world.ml, world.ann)
        await world.slack.say(mention("why?"), world.ml, world.ann, thread_ts=root["ts"])
        assert SENTENCE in shown(await reply(world, root["ts"]))
        await world.slack.shortcut(WHY, world.ann, root, world.ml)
        assert SENTENCE in shown(await reply(world, root["ts"], count=2))


async def test_a_cluster_that_hangs_delays_no_form() -> None:
    service = Listing(recorded(QUOTA))
    service.hang = 60.0
    async with workspace(service) as world:
        said = await world.slack.say("docs/readme or team-a/train", world.ml, world.ann)
        await world.slack.shortcut(WHY, world.ann, said, world.ml)
        view = await opened(world)
        assert len(view["blocks"][0]["element"]["options"]) == 2


async def test_nobody_learns_from_a_choice_which_namespaces_there_are() -> None:
    rules = (Access(name="default", namespaces=("team-*",)),)
    async with workspace(Listing(recorded(QUOTA)), access=rules) as world:
        said = await world.slack.say("secret-1/a or secret-2/b", world.ml, world.ann)
        await world.slack.say(mention(""), world.ml, world.ann, thread_ts=said["ts"])
        choice = await reply(world, said["ts"])
        assert "secret-1/a" in choice["text"]
        assert "secret-2/b" in choice["text"]


def test_one_message_is_read_no_further_than_its_limit() -> None:
    many = {"attachments": [{"text": f"team-{n}/job {'x' * 5000}"} for n in range(100)]}
    assert sum(map(len, reading.texts(many))) <= reading.LONGEST
    assert len(reading.jobs([many])) < 10


# Buttons of old messages


@pytest.mark.parametrize("action", ["refresh", "details", "watch"])
@pytest.mark.parametrize("stale", ["the job is gone", "the message is gone", "another replica", "pressed twice"])
async def test_an_old_button_is_answered_politely(action: str, stale: str) -> None:
    slack, service = LocalSlack(), Recorded(recorded(QUOTA))
    with structlog.testing.capture_logs() as logs:
        async with workspace(service, slack=slack) as world:
            await world.ask("team-a/train")
            card = await world.card()
            channel = world.ml
            if stale == "the job is gone":
                service.cluster = recorded("v0.19.2/job-not-found")
            elif stale == "the message is gone":
                channel.messages.remove(card)
            if stale != "another replica":
                seen = len(slack.calls)
                for _ in range(2 if stale == "pressed twice" else 1):
                    await slack.click(card, channel, world.ann, action)
                await said(world, seen)
        if stale == "another replica":
            async with workspace(service, slack=slack) as world:
                slack.channels[channel.id] = channel
                seen = len(slack.calls)
                await slack.click(card, channel, world.ann, action)
                await said(world, seen)
    assert not [entry for entry in logs if entry["log_level"] == "error"]


async def said(world: World, seen: int) -> None:
    """Wait until the bot has said something after so many calls, and has nothing left to do."""
    ways = {"chat.update", "chat.postEphemeral", "chat.postMessage", "views.update", "response_url"}
    await world.slack.until(lambda: [c for c in world.slack.calls[seen:] if c.method in ways] or None)
    await idle(world)


@pytest.mark.parametrize("stale", ["the job is gone", "the message is gone", "another replica"])
async def test_an_old_private_answer_is_answered_politely(stale: str) -> None:
    slack, service = LocalSlack(), Recorded(recorded(QUOTA))
    async with workspace(service, slack=slack) as world:
        await world.ask("team-a/train --private")
        private, channel = await world.whisper(), world.ml
        await idle(world)
        if stale == "the job is gone":
            service.cluster = recorded("v0.19.2/job-not-found")
        elif stale == "the message is gone":
            channel.messages.remove(private)
        if stale != "another replica":
            await slack.click(private, channel, world.ann, "share")
            assert "team-a/train" in (await world.card())["text"]
    if stale == "another replica":
        async with workspace(service, slack=slack) as world:
            slack.channels[channel.id] = channel
            await slack.click(private, channel, world.ann, "share")
            assert SENTENCE in shown(await world.card(channel))
