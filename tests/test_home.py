"""The Home tab: what stands on it, for whom, and what its buttons do."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bot.demo.slack import LocalSlack, Person
from bot.render import home, limits
from bot.settings import Access
from tests.clusters import recorded
from tests.workspace import Recorded, World, shown, workspace

QUOTA = "v0.19.2/quota-in-use"
SENTENCE = "6 of 8 are in use"


class Listing(Recorded):
    """A recorded cluster that tells its namespaces."""

    spaces: tuple[str, ...] | None = ("lab-1", "team-a", "team-b")

    async def namespaces(self, cluster: str) -> tuple[str, ...] | None:
        del cluster
        return self.spaces


async def opened(world: World, who: Person | None = None) -> dict[str, Any]:
    """Open the Home tab and wait for what is published."""
    who = who or world.ann
    before = len(world.slack.called("views.publish"))
    await world.slack.open_home(who)
    await world.slack.until(lambda: len(world.slack.called("views.publish")) > before or None)
    return await world.slack.until(lambda: world.slack.homes.get(who.id))


async def test_it_shows_how_to_ask_and_what_may_be_asked_about() -> None:
    rules = (Access(name="default", namespaces=("team-*",)),)
    async with workspace(Listing(recorded(QUOTA)), access=rules) as world:
        said = shown(await opened(world))
        for part in ("/whypending team-a/train", "@whypending", "2 namespaces", "`team-a`", "`team-b`"):
            assert part in said
        assert "lab-1" not in said, "nobody hears of what they may not ask about"
        assert "Nothing yet" in said


async def test_where_rules_name_nothing_nothing_is_named() -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        said = shown(await opened(world))
        assert "Every namespace, by its name." in said
        assert "lab-1" not in said


TEAMS = (Access(name="default", namespaces=("team-*",)),)


async def test_namespaces_that_cannot_be_read_are_not_called_none() -> None:
    service = Listing(recorded(QUOTA))
    service.spaces = None
    async with workspace(service, access=TEAMS) as world:
        assert "The namespaces could not be read" in shown(await opened(world))


async def test_a_cluster_that_hangs_holds_no_tab_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.slack.home.SPACES_SECONDS", 0.2)

    class Hanging(Listing):
        async def namespaces(self, cluster: str) -> tuple[str, ...] | None:
            await asyncio.sleep(60)
            return await super().namespaces(cluster)

    async with workspace(Hanging(recorded(QUOTA)), access=TEAMS) as world:
        assert "The namespaces could not be read" in shown(await opened(world))


async def test_what_was_asked_lately_is_asked_again_in_a_modal() -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        await world.ask("team-a/train")
        await world.card()
        await world.slack.until(lambda: not len(world.bot.work) or None)
        view = await opened(world)
        assert "`team-a/train`: Waiting its turn (quota in use)" in shown(view)
        await world.slack.view_click(view, world.ann, "home-again-0")
        await world.slack.until(lambda: [v for v in world.slack.views.values() if SENTENCE in shown(v)] or None)
        modal = next(iter(world.slack.views.values()))
        assert not [block for block in modal["blocks"] if block["type"] == "actions"]


@pytest.mark.parametrize(("method", "error"), [("views.open", "expired_trigger_id"), ("views.update", "not_found")])
async def test_a_modal_that_is_not_there_leaves_the_answer_in_the_conversation_with_the_bot(
    method: str, error: str
) -> None:
    slack = LocalSlack()
    slack.fail(method, error=error, times=9)
    async with workspace(Listing(recorded(QUOTA)), slack=slack) as world:
        await world.ask("team-a/train")
        await world.card()
        await world.slack.until(lambda: not len(world.bot.work) or None)
        await world.slack.view_click(await opened(world), world.ann, "home-again-0")
        direct = await world.slack.until(lambda: next((c for c in world.slack.channels.values() if c.im), None))
        await world.slack.until(lambda: [m for m in direct.messages if SENTENCE in shown(m)] or None)


async def test_a_watch_is_stopped_and_a_stale_button_says_so() -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        await world.ask("watch team-a/train")
        await world.slack.until(lambda: [m for m in world.ml.messages if "told in this thread" in m["text"]] or None)
        view = await opened(world)
        assert f"`team-a/job/train` in <#{world.ml.id}>" in shown(view)
        await world.slack.view_click(view, world.ann, "home-stop-0")
        await world.slack.until(lambda: "home-stop-0" not in json.dumps(world.slack.homes[world.ann.id]) or None)
        await world.slack.view_click(view, world.ann, "home-stop-0")
        await world.slack.until(lambda: "had ended already" in shown(world.slack.homes[world.ann.id]) or None)


async def test_nobody_stops_somebody_elses_watch() -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        await world.ask("watch team-a/train")
        await world.slack.until(lambda: [m for m in world.ml.messages if "told in this thread" in m["text"]] or None)
        view = await opened(world)
        ben = world.slack.person("ben", "Ben")
        await world.slack.view_click(view, ben, "home-stop-0")
        await world.slack.until(lambda: "had ended already" in shown(world.slack.homes.get(ben.id) or {}) or None)
        assert "home-stop-0" in json.dumps(await opened(world))


@pytest.mark.parametrize("team", ["T0OTHER", "T0LOCAL"])
async def test_strangers_see_nothing(team: str) -> None:
    async with workspace(Listing(recorded(QUOTA))) as world:
        eve = world.slack.person("eve", team="T0OTHER")
        await opened(world)
        event = {"type": "app_home_opened", "user": eve.id, "tab": "home", "channel": "D0EVE", "event_ts": "1.0"}
        if team == "T0OTHER":
            event["user_team"] = team
        await world.slack.event(event, eve if team == "T0OTHER" else world.ann)
        await asyncio.sleep(0.3)
        await world.slack.until(lambda: not len(world.bot.work) or None)
        assert eve.id not in world.slack.homes


async def test_without_a_store_it_says_that_watches_are_not_known(tmp_path: Path) -> None:
    async with workspace(Listing(recorded(QUOTA)), store_url=f"sqlite:///{tmp_path}/no/such/folder/x") as world:
        said = shown(await opened(world))
        assert "Not known: the store does not answer" in said
        assert "Nothing yet" not in said


async def test_blocks_that_a_modal_does_not_take_are_shown_plainer() -> None:
    slack = LocalSlack()
    slack.fail("views.update", error="invalid_arguments")
    async with workspace(Listing(recorded(QUOTA)), slack=slack) as world:
        await world.ask("team-a/train")
        await world.card()
        await world.slack.until(lambda: not len(world.bot.work) or None)
        await world.slack.view_click(await opened(world), world.ann, "home-again-0")
        await world.slack.until(lambda: [v for v in world.slack.views.values() if SENTENCE in shown(v)] or None)


@pytest.mark.parametrize("failure", [{"error": "internal_error"}, {"status": 503}, {"retry_after": 600}])
async def test_a_slack_that_does_not_take_it_costs_nothing_else(failure: dict[str, Any]) -> None:
    slack = LocalSlack()
    slack.fail("views.publish", times=99, **failure)
    async with workspace(Listing(recorded(QUOTA)), slack=slack) as world:
        await world.slack.open_home(world.ann)
        await world.slack.until(lambda: slack.called("views.publish") or None)
        await world.ask("team-a/train")
        assert SENTENCE in shown(await world.card())


def test_the_fullest_tab_is_one_that_slack_takes() -> None:
    long = "n" * 250
    tab = home.Tab(
        "/whypending", "whypending",
        [home.Watched(str(n), f"team-a/{long}", "<#C0ML>", 1.0) for n in range(60)],
        [home.Recent(f"team-a/{long}", "quota-in-use", "wait", 1.0) for _ in range(40)],
        [home.Spaces(f"cluster-{n}", tuple(f"{'s' * 60}-{m}" for m in range(500))) for n in range(60)],
    )  # fmt: skip
    view = home.view(tab)
    assert len(view["blocks"]) <= limits.MODAL_BLOCKS
    for block in view["blocks"]:
        assert len((block.get("text") or {}).get("text", "x")) <= limits.SECTION
        assert len((block.get("accessory") or {}).get("accessibility_label", "")) <= limits.BUTTON
    spoken = [block["accessory"]["action_id"] for block in view["blocks"] if "accessory" in block]
    assert len(spoken) == len(set(spoken))
