"""What a site adds to answers: on the card, in the details, on the terminal; never too much for Slack, never a ping."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot import cli
from bot.core.disclosure import Audience, disclose
from bot.render import card, limits, site
from bot.render.site import SiteText, SiteTexts
from tests import answers
from tests.clusters import RECORDINGS, recorded
from tests.workspace import shown, workspace

QUOTA = "v0.19.2/quota-in-use"
RUNBOOK = "https://wiki.example.com/gpu-quota"
TEXTS = {
    "*": {"owner": "#gpu-help", "sentence": "Office hours are on Tuesdays."},
    "quota-in-use": {"runbook": RUNBOOK, "sentence": "Quota is raised on Mondays."},
}


def buttons(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {e["action_id"]: e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]}


def test_each_part_is_the_rules_own_or_else_everybodys() -> None:
    texts = SiteTexts(
        {"*": SiteText("https://a.example.com", "#help", "All."), "quota-in-use": SiteText(sentence="Own.")}
    )
    assert texts.of("quota-in-use") == SiteText("https://a.example.com", "#help", "Own.")
    assert texts.of("running") == SiteText("https://a.example.com", "#help", "All.")
    assert not SiteTexts().of("running")
    assert site.lines(texts.of("running")) == ["All.", "Turn to #help.", "Runbook: https://a.example.com"]


async def test_card_and_details_show_them_and_the_runbook_is_a_button() -> None:
    async with workspace(recorded(QUOTA), texts=TEXTS) as world:
        await world.ask("team-a/train")
        card_ = await world.card()
        for part in ("Quota is raised on Mondays.", "Turn to #gpu-help.", RUNBOOK):
            assert part in shown(card_)
        assert "Tuesdays" not in shown(card_)
        runbook = buttons(card_)["open-runbook"]
        assert (runbook["url"], runbook["text"]["text"]) == (RUNBOOK, "Runbook")
        assert (await world.slack.click(card_, world.ml, world.ann, "open-runbook")).acked_at is not None
        await world.slack.click(card_, world.ml, world.ann, "details")
        await world.slack.until(lambda: world.slack.called("views.update") or None)
        assert "Quota is raised on Mondays." in json.dumps(world.slack.views)
        await world.slack.click(card_, world.ml, world.ann, "refresh")
        await world.slack.until(lambda: "edited" in card_ or None)
        assert "Quota is raised on Mondays." in shown(card_)


@pytest.mark.parametrize("refusals", [1, 2])
async def test_degraded_forms_show_them_too(refusals: int) -> None:
    async with workspace(recorded(QUOTA), texts=TEXTS) as world:
        world.slack.fail(
            "chat.postMessage", error="invalid_blocks", times=refusals, when=lambda call: bool(call.get("thread_ts"))
        )
        await world.ask("team-a/train")
        assert "Quota is raised on Mondays." in shown(await world.card())


def test_the_terminal_shows_them_where_a_configuration_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"texts": TEXTS}))
    ask = ["explain", "team-a/train", "-f", str(RECORDINGS / f"{QUOTA}.json")]
    assert cli.main([*ask, "--config", str(config)]) == cli.PENDING
    said = capsys.readouterr().out
    assert f"At this site\n  Quota is raised on Mondays.\n  Turn to #gpu-help.\n  Runbook: {RUNBOOK}\n" in said
    monkeypatch.setenv("WHYPENDING_CONFIG", str(config))
    cli.main(ask)
    assert capsys.readouterr().out == said
    monkeypatch.delenv("WHYPENDING_CONFIG")
    cli.main(ask)
    assert "At this site" not in capsys.readouterr().out
    config.write_text("texts: {quota-in-us: {owner: x}}")
    assert cli.main([*ask, "--config", str(config)]) == cli.WRONG_USE
    assert "did you mean quota-in-use" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(answers.questions()))
def test_every_answer_with_the_longest_text_is_within_slacks_limits(name: str) -> None:
    answer, snapshot = answers.answered(name)
    shown_ = disclose(answer, Audience("namespace", answers.namespace(name)), snapshot)
    text = SiteText(RUNBOOK, "x" * 200, "<!channel> & *bold* `code` " * 19)
    for form in (card.card(shown_), card.sections(shown_), card.text_only(shown_)):
        added = site.added(form, text)
        assert limits.check(added.blocks, added.text) == []
        assert len(added.blocks) <= max(limits.CARD_BLOCKS, len(form.blocks))
        assert "<!channel" not in json.dumps([added.text, added.blocks])
        kinds = [block["type"] for block in added.blocks]
        assert kinds[-2:] == [block["type"] for block in form.blocks][-2:] or not kinds or "actions" not in kinds


def test_an_owner_is_named_and_never_pinged() -> None:
    assert site.reachable("C0123456789") == "<#C0123456789>"
    for owner in ("<!channel>", "<@U0123456789>", "U0123456789", "@here", "<!subteam^S0123456789>"):
        assert "<" not in site.reachable(owner)
        assert "@here" not in site.reachable(owner)
