"""Through the real Bolt app against the local Slack: what people see, whatever Slack and the cluster do."""

import asyncio
import io
import json
import re
import time
from functools import partial
from typing import Any

import aiohttp
import pytest
import structlog

from bot.demo.slack import BOT, LocalSlack, sign
from bot.kube.client import Cluster
from bot.service import Service, Site
from bot.settings import Access, Channel
from bot.slack.transport import PATH
from tests.clusters import recorded
from tests.workspace import Recorded, World, by_bot, hanging_server, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"


def in_thread(arguments: dict[str, Any]) -> bool:
    """Which calls of chat.postMessage carry the card."""
    return bool(arguments.get("thread_ts"))


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_the_verdict_is_a_root_message_and_the_card_stands_in_its_thread(mode: str) -> None:
    async with workspace(recorded(QUOTA), slack_mode=mode) as world:
        delivery = await world.ask("team-a/train")
        assert delivery.response is None
        root, card = await world.root(), await world.card()
        assert card["thread_ts"] == root["ts"]
        assert SENTENCE in shown(root)
        assert SENTENCE in shown(card)
        assert SENTENCE in root["text"], "a phone's notification shows the text alone"
        assert f"<@{world.ann.id}>" in shown(root)
        for call in world.slack.called("chat.postMessage"):
            assert (call["parse"], call["unfurl_links"], call["unfurl_media"]) == ("none", False, False)


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_a_hundred_questions_are_acknowledged_at_once_before_any_read_while_the_cluster_hangs(mode: str) -> None:
    async with (
        hanging_server() as (url, reads),
        Service({"": Site(Cluster(url=url))}, deadline=0.5) as service,
        workspace(service, slack_mode=mode, read_seconds=0.5, drain_seconds=30) as world,
    ):
        first = await world.ask("team-a/job-0")
        await world.slack.until(lambda: reads or None)
        assert first.acked_at is not None
        assert reads[0] > first.acked_at
        deliveries = await asyncio.gather(*(world.ask(f"team-a/job-{n}") for n in range(1, 101)))
        assert max(d.seconds or 9 for d in deliveries) < 1.5, "on a machine without other work it is under 0.5"
        root = await world.root()
        assert "Cannot tell" in shown(root)


async def test_no_work_begins_before_the_acknowledgement_is_out() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        sent = asyncio.Event()
        command = {
            "trigger_id": "1", "channel_id": world.ml.id, "user_id": world.ann.id, "team_id": world.ann.team,
            "text": "team-a/train", "response_url": world.slack.response_url(world.ml, world.ann),
        }  # fmt: skip
        assert world.bot.desk.take_command(command, sent) == {}
        for _ in range(20):
            await asyncio.sleep(0)
        assert service.asked == []
        sent.set()
        await world.card()
        assert len(service.asked) == 1


async def test_a_repeated_delivery_is_answered_once() -> None:
    async with workspace(recorded(QUOTA)) as world:
        delivery = await world.ask("team-a/train")
        await world.card()
        again = await world.slack.redeliver(delivery)
        assert again.acked_at is not None
        await world.ask("team-a/other")
        await world.slack.until(lambda: len(by_bot(world.ml.roots())) >= 2 or None)
        assert len(by_bot(world.ml.roots())) == 2


async def test_where_the_bot_is_not_the_answer_is_private_and_says_how_to_invite_it() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train", world.elsewhere)
        private = await world.whisper(world.elsewhere)
        assert private["ephemeral"] == world.ann.id
        assert SENTENCE in shown(private)
        assert "/invite @whypending" in shown(private)
        assert by_bot(world.elsewhere.messages) == []


async def test_a_private_channel_without_the_bot_gets_a_private_answer_too() -> None:
    async with workspace(recorded(QUOTA)) as world:
        hidden = world.slack.channel("hidden", world.ann, bot=False, private=True)
        await world.ask("team-a/train", hidden)
        assert "/invite @whypending" in shown(await world.whisper(hidden))


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long"])
@pytest.mark.parametrize(("refusals", "buttons", "blocks"), [(1, False, True), (2, False, False)])
async def test_refused_blocks_degrade_to_sections_and_then_to_text(
    error: str, refusals: int, *, buttons: bool, blocks: bool
) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error=error, times=refusals, when=in_thread)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        card = await world.card()
        assert SENTENCE in shown(card)
        assert bool(card.get("blocks")) is blocks
        assert any(b["type"] == "actions" for b in card.get("blocks") or []) is buttons


async def test_a_root_whose_blocks_are_refused_arrives_as_text() -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", error="invalid_blocks", when=lambda arguments: not in_thread(arguments))
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        root = await world.root()
        assert not root.get("blocks")
        assert SENTENCE in root["text"]
        assert (await world.card())["thread_ts"] == root["ts"]


@pytest.mark.parametrize(
    "text", ["", "tell me everything about my jobs please", "a/b/c/d/e", "<!channel> *x*", "team-a/"]
)
async def test_what_names_no_job_is_refused_with_an_example_that_works(text: str) -> None:
    async with workspace(recorded(QUOTA)) as world:
        delivery = await world.ask(text)
        assert delivery.response is not None
        assert delivery.response["response_type"] == "ephemeral"
        said = shown(delivery.response)
        assert "<!channel" not in said
        example = re.search(r"for example: (\S+)", delivery.response["text"])
        assert example, said
        assert (await world.ask(example[1])).response is None, "the example is no refusal"
        await world.card()


async def test_help_shows_every_way_to_ask_and_nothing_is_read() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        for text in ("help", " HELP "):
            delivery = await world.ask(text)
            assert delivery.response is not None
            assert "/whypending team-a/train" in shown(delivery.response)
        assert service.asked == []


async def test_a_rate_limit_is_waited_for() -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", retry_after=1)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        began = time.monotonic()
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())
        assert time.monotonic() - began >= 1


async def test_a_rate_limit_of_minutes_is_not_waited_for() -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", retry_after=600, times=99)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        private = await world.whisper()
        assert SENTENCE in shown(private)
        assert "ratelimited" in shown(private)


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_server_errors_are_retried(status: int) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", status=status, times=2)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())


async def test_a_slack_that_does_not_answer_delays_nobody_else() -> None:
    slack = LocalSlack()
    async with workspace(recorded(QUOTA), slack=slack, slack_timeout_seconds=1.5) as world:
        other = slack.channel("other", world.ann)
        slack.fail("chat.postMessage", hang=60, times=99, when=lambda arguments: arguments["channel"] == world.ml.id)
        await world.ask("team-a/train")
        await world.ask("team-a/train", other)
        assert SENTENCE in shown(await world.card(other))
        assert not world.ml.messages
        private = await world.whisper()
        assert SENTENCE in shown(private)
        assert "timeout" in shown(private)


@pytest.mark.parametrize("body", ["", "<html>proxy</html>", "[]", '"x"', "null"])
async def test_an_answer_of_slack_that_is_none_is_answered_privately(body: str) -> None:
    slack = LocalSlack()
    slack.fail("chat.postMessage", body=body, times=99)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.whisper())


async def test_before_slack_has_said_whose_bot_it_is_nobody_is_called_a_stranger() -> None:
    async with workspace(recorded(QUOTA)) as world:
        world.bot.desk.home.team = ""
        delivery = await world.ask("team-a/train")
        assert "starting" in shown(delivery.response or {})


async def test_too_many_questions_are_turned_away_with_a_word_and_kept_nowhere() -> None:
    service = Recorded(recorded(QUOTA))
    service.gate.clear()
    async with workspace(service, questions_at_once=2, questions_waiting=3) as world:
        deliveries = [await world.ask(f"team-a/job-{n}") for n in range(50)]
        turned_away = [d for d in deliveries if d.response]
        assert len(turned_away) == 45
        assert "Ask again" in shown(turned_away[0].response or {})
        assert len(world.bot.work) == 5
        service.gate.set()
        await world.slack.until(lambda: len(by_bot(world.ml.roots())) == 5 or None)


async def test_when_nothing_gets_through_the_log_says_so() -> None:
    slack = LocalSlack()
    for method in ("chat.postMessage", "chat.postEphemeral", "response_url"):
        slack.fail(method, error="fatal_error", status=403 if method == "response_url" else 200, times=99)
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack=slack) as world:
            await world.ask("team-a/train")
            await slack.until(lambda: slack.called("chat.postEphemeral") or None)
    assert [entry for entry in logs if entry["event"] == "answer lost"]
    assert [entry["place"] for entry in logs if entry["event"] == "question"] == ["lost"]


async def test_questions_under_way_are_answered_before_the_end() -> None:
    service = Recorded(recorded(QUOTA))
    service.gate.clear()
    slack = LocalSlack()
    async with workspace(service, slack=slack) as world:
        await world.ask("team-a/train")
        asyncio.get_running_loop().call_later(0.3, service.gate.set)
    assert SENTENCE in shown(by_bot(world.ml.roots())[0])
    assert by_bot(world.ml.thread(by_bot(world.ml.roots())[0]["ts"]))


async def test_whoever_cannot_be_answered_before_the_end_is_told() -> None:
    service = Recorded(recorded(QUOTA))
    service.gate.clear()
    async with workspace(service, drain_seconds=0.2) as world:
        await world.ask("team-a/train")
    private = [m for m in world.ml.messages if "ephemeral" in m]
    assert len(private) == 1
    assert "restarted" in shown(private[0])
    assert "team-a/train" in shown(private[0])


# Asking again


async def test_refresh_edits_the_card_in_place_and_says_that_nothing_changed() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train")
        card = await world.card()
        await world.slack.click(card, world.ml, world.ann, "refresh")
        changed = await edited(world, card["ts"])
        assert "nothing changed" in shown(changed)
        assert SENTENCE in shown(changed)
        assert len(world.ml.messages) == 2


async def test_refresh_says_what_changed_and_the_root_follows() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        await world.ask("team-a/train")
        card = await world.card()
        service.cluster = recorded("v0.19.2/running")
        await world.slack.click(card, world.ml, world.ann, "refresh")
        changed = await edited(world, card["ts"])
        assert "*changed* from Waiting its turn to Running" in shown(changed)
        root = await edited(world, card["thread_ts"])
        assert "Running" in root["text"]
        assert f"Asked by <@{world.ann.id}>" in shown(root)


async def test_pressing_refresh_twice_leaves_one_remark() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train")
        card = await world.card()
        for times in (1, 2):
            await world.slack.click(card, world.ml, world.ann, "refresh")
            await world.slack.until(partial(updated, world, 2 * times))
        assert shown(await edited(world, card["ts"])).count("Refreshed by") == 1


async def test_a_private_answer_is_refreshed_in_place_too() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train", world.elsewhere)
        private = await world.whisper(world.elsewhere)
        await world.slack.click(private, world.elsewhere, world.ann, "refresh")
        await world.slack.until(lambda: "Refreshed by" in shown(private) or None)
        assert len(world.elsewhere.messages) == 1


async def test_a_card_that_was_deleted_meanwhile_is_answered_privately() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.ask("team-a/train")
        card = await world.card()
        world.ml.messages.remove(card)
        await world.slack.click(card, world.ml, world.ann, "refresh")
        assert SENTENCE in shown(await world.whisper())


async def test_details_open_a_modal_at_once_and_fill_it_with_the_evidence() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        await world.ask("team-a/train")
        card = await world.card()
        service.gate.clear()
        await world.slack.click(card, world.ml, world.ann, "details")
        opened = await world.slack.until(lambda: next(iter(world.slack.views.values()), None))
        assert "Reading the cluster" in shown(opened)
        service.gate.set()
        await world.slack.until(lambda: world.slack.called("views.update") or None)
        filled = shown(world.slack.views[opened["id"]])
        assert "quota-in-use" in filled
        assert "status.flavorsReservation" in filled or "admission" in filled


async def test_details_that_cannot_open_a_modal_are_private() -> None:
    slack = LocalSlack()
    slack.fail("views.open", error="expired_trigger_id")
    async with workspace(recorded(QUOTA), slack=slack) as world:
        await world.ask("team-a/train")
        await slack.click(await world.card(), world.ml, world.ann, "details")
        assert "quota-in-use" in shown(await world.whisper())


async def test_link_buttons_are_acknowledged() -> None:
    async with workspace(recorded(QUOTA)) as world:
        button = {
            "type": "button",
            "text": {"type": "plain_text", "text": "Headlamp"},
            "action_id": "open-1",
            "url": "https://h.example.com",
        }
        message = world.slack.put(
            world.ml, {"user": BOT, "text": "x", "blocks": [{"type": "actions", "elements": [button]}]}
        )
        delivery = await world.slack.click(message, world.ml, world.ann, "open-1")
        assert delivery.acked_at is not None
        assert delivery.attempts == 0


# Who may ask what


async def test_somebody_from_another_workspace_is_a_stranger() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service) as world:
        eve = world.slack.person("eve", team="T0OTHER")
        delivery = await world.ask("team-a/train", who=eve)
        assert delivery.response is not None
        assert "not a member" in shown(delivery.response)
        assert service.asked == []


async def test_a_channel_asks_about_its_namespaces_alone_and_has_a_default() -> None:
    service = Recorded(recorded(QUOTA))
    held = {"C0ML": Channel(default_namespace="team-a")}
    rules = (
        Access(name="default", namespaces=()),
        Access(name="ml", channels=("C0ML",), namespaces=("team-a", "lab-*")),
    )
    async with workspace(service, channels=held, access=rules) as world:
        refused = await world.ask("team-b/train")
        assert refused.response is not None
        assert "team-b" in shown(refused.response)
        assert "team-a/train" in shown(refused.response)
        assert service.asked == []
        await world.ask("train")
        await world.card()
        assert service.asked[0].namespace == "team-a"


async def test_the_cluster_is_the_one_named_or_the_channels_own() -> None:
    service = Recorded(recorded(QUOTA))
    clusters = [{"name": "prod"}, {"name": "lab"}]
    async with workspace(service, clusters=clusters, channels={"C0ML": Channel(cluster="lab")}) as world:
        for text, channel in (
            ("team-a/train", world.ml),
            ("prod:team-a/train", world.ml),
            ("team-a/train", world.elsewhere),
        ):
            await world.ask(text, channel)
        await world.slack.until(lambda: len(service.asked) == 3 or None)
        assert [ref.cluster for ref in service.asked] == ["lab", "prod", "prod"]


async def test_names_of_other_namespaces_appear_in_nothing_that_leaves_the_bot() -> None:
    cluster = recorded(QUOTA)
    holder = next(item for item in cluster.items if item["kind"] == "Workload" and "holder" in item["metadata"]["name"])
    assert holder["metadata"]["namespace"] == "team-a"
    moved = json.loads(json.dumps(cluster.items).replace("holder", "secret-project"))
    for item in moved:
        if "secret-project" in item["metadata"]["name"] if "metadata" in item else False:
            item["metadata"]["namespace"] = "rivals"
    with structlog.testing.capture_logs() as logs:
        async with workspace(type(cluster)(tuple(moved))) as world:
            await world.ask("team-a/train")
            await world.slack.click(await world.card(), world.ml, world.ann, "refresh")
            await world.slack.until(lambda: world.slack.called("chat.update") or None)
            sent = json.dumps([call.arguments for call in world.slack.calls])
    assert SENTENCE in sent
    for text in (sent, json.dumps(logs, default=str)):
        assert "secret-project" not in text
        assert "rivals" not in text


async def test_the_audit_line_says_who_asked_what_where_and_what_kind_of_answer_it_was() -> None:
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA)) as world:
            await world.ask("team-a/train")
            await world.card()
    line = next(entry for entry in logs if entry["event"] == "question")
    assert (line["user"], line["team"], line["channel"]) == (world.ann.id, world.ann.team, world.ml.id)
    assert (line["asked"], line["rule"], line["outlook"], line["place"], line["form"]) == (
        "team-a/train", "quota-in-use", "wait", "thread", "card",
    )  # fmt: skip


# Transport


async def test_a_request_with_a_wrong_signature_is_not_listened_to() -> None:
    service = Recorded(recorded(QUOTA))
    async with workspace(service, slack_mode="http") as world, aiohttp.ClientSession() as session:
        body = "command=%2Fwhypending&text=team-a%2Ftrain&channel_id=C0ML&user_id=U0ANN&team_id=T0LOCAL&trigger_id=9"
        url = f"http://127.0.0.1:{world.bot.slack_port}{PATH}"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for headers in (sign(body, secret="wrong"), sign(body, at=time.time() - 3600), {}):
            async with session.post(url, data=body, headers={**form, **headers}) as answer:
                assert answer.status == 401
        async with session.post(url, data=body, headers={**form, **sign(body)}) as answer:
            assert answer.status == 200
        await world.slack.until(lambda: service.asked or None)
        assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff\xfe", {}, 400),
        (b"{}", {"Content-Type": "application/json; charset=nonsense"}, 400),
        (b"[" * 200_000, {"Content-Type": "application/json"}, 400),
        (b"{}", {"X-Slack-Request-Timestamp": "soon"}, 400),
        (b"text=" + b"x" * 2_000_000, {}, 413),
        (b"payload=%7B", {}, 400),
    ],
)
async def test_what_does_not_come_from_slack_leaves_no_trace(body: bytes, headers: dict[str, str], status: int) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "X-Slack-Signature": "v0=0"}
    with structlog.testing.capture_logs() as logs:
        async with workspace(recorded(QUOTA), slack_mode="http") as world, aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{world.bot.slack_port}{PATH}"
            async with session.post(url, data=io.BytesIO(body), headers={**form, **headers}) as answer:
                assert answer.status == status
                assert "Traceback" not in await answer.text()
    assert [entry for entry in logs if entry["log_level"] in {"error", "critical"}] == []


async def test_a_connection_that_slack_renews_goes_on() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.slack.disconnect()
        await world.slack.connected()
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())


async def test_a_connection_that_breaks_is_made_again() -> None:
    async with workspace(recorded(QUOTA)) as world:
        await world.slack.drop()
        await world.slack.connected()
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_what_nobody_listens_to_is_acknowledged_once(mode: str) -> None:
    async with workspace(recorded(QUOTA), slack_mode=mode) as world:
        delivery = await world.slack.event({"type": "emoji_changed", "event_ts": "1.0"})
        assert delivery.acked_at is not None
        assert delivery.attempts == 0
        assert (delivery.status or 200) == 200


async def test_a_slack_that_is_down_at_the_start_is_asked_again() -> None:
    slack = LocalSlack()
    slack.fail("auth.test", status=503, times=4)
    async with workspace(recorded(QUOTA), slack=slack) as world:
        assert len(slack.called("auth.test")) == 5
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())


@pytest.mark.parametrize(
    "name",
    ["running", "two-flavors-both-full", "cohort-exhausted", "topology-no-fit", "job-not-found", "some-pods-running"],
)
async def test_every_form_of_an_answer_is_one_that_slack_takes(name: str) -> None:
    slack = LocalSlack()
    async with workspace(recorded(f"v0.19.2/{name}"), slack=slack) as world:
        for refusals in (0, 1, 2):
            if refusals:
                slack.fail("chat.postMessage", error="invalid_blocks", times=refusals, when=in_thread)
            await world.ask("team-a/trian" if name == "job-not-found" else "team-a/train")
            await slack.until(partial(replied, world, refusals + 1))
        assert [c.answer for c in slack.calls if not c.answer.get("ok", True) and "asked_for" not in c.answer] == []


def updated(world: World, times: int) -> bool | None:
    return len(world.slack.called("chat.update")) >= times or None


def replied(world: World, times: int) -> bool | None:
    return len(replies(world)) == times or None


def replies(world: World) -> list[dict[str, Any]]:
    """The cards in all threads of the channel."""
    return [m for root in by_bot(world.ml.roots()) for m in by_bot(world.ml.thread(root["ts"]))]


async def edited(world: World, ts: str) -> dict[str, Any]:
    """Wait until a message was edited."""
    return await world.slack.until(
        lambda: next((m for m in world.ml.messages if m["ts"] == ts and "edited" in m), None)
    )
