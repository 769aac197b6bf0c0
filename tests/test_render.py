"""Card, terminal text, words, limits and links: complete, safe, within bounds, and readable without colour or blocks."""

import json
import re
import string
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from bot.core.diagnosis import Diagnosis, JobId, Link, Step
from bot.core.disclosure import Audience, disclose
from bot.render import card, limits, links, terminal, words
from tests import answers

SITES = links.Templates(
    "https://headlamp.example.com/ops/",
    "prod",
    frozenset({"cohorts"}),
    "https://kueueviz.example.com",
    {"Grafana": "https://grafana.example.com/d/kueue?var-ns={namespace}&var-job={name}"},
)
HEADLAMP = "https://headlamp.example.com/ops/c/prod/kueue"
NASTY = "<!channel> <@U012AB3CD> @here *bold* _it_ ~no~ `code` & <https://evil.example.com|click> \u202eabc\u202c ```"


def shown(name: str, level: Any = "namespace") -> Diagnosis:
    answer, snapshot = answers.answered(name)
    return links.add_links(disclose(answer, Audience(level, answers.namespace(name)), snapshot), SITES)


def seen(answer: Diagnosis | None = None, level: Any = "all") -> Diagnosis:
    return links.add_links(disclose(answer or answers.full(), Audience(level, "team-a")), SITES)


def messages(answer: Diagnosis) -> dict[str, card.Message]:
    return {make.__name__: make(answer) for make in (card.root, card.card, card.sections, card.text_only)}


def visible(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(text for block in blocks for text in limits.texts(block))


# --- the card ---


@pytest.mark.parametrize("name", answers.questions())
def test_every_form_of_every_answer_is_one_that_slack_takes(name: str) -> None:
    answer = shown(name)
    for form, message in messages(answer).items():
        assert limits.check(message.blocks, message.text) == [], form
        assert len(message.blocks) <= limits.CARD_BLOCKS
        assert limits.characters(message.blocks) <= limits.CARD_CHARACTERS
        for block in message.blocks:
            parsed = Block.parse(block)
            assert parsed is not None, block
            parsed.validate_json()
        assert not re.search(r"<[@!#](?!date\^)", message.text + visible(message.blocks))


@pytest.mark.parametrize("name", answers.questions())
def test_the_text_alone_has_the_whole_first_sentence_and_the_next_step(name: str) -> None:
    answer = shown(name)
    for form, message in messages(answer).items():
        assert words.escape(answer.headline.sentence) in message.text, form
        if answer.headline.next:
            assert words.escape(answer.headline.next[0].do) in message.text, form


def test_the_card_from_top_to_bottom() -> None:
    message = card.card(seen())
    kinds = [block["type"] for block in message.blocks]
    assert kinds[0] == "header"
    assert kinds[-1] == "actions"
    assert message.blocks[0]["text"] == {
        "type": "plain_text",
        "text": "Waiting its turn: Job team-a/train",
        "emoji": False,
    }
    assert message.blocks[1]["text"]["text"].startswith("Needs 2 more nvidia.com/gpu in flavor a100")
    fields = [field["text"] for field in message.blocks[2]["fields"]]
    assert fields[:4] == [
        "*Asked*\n4 nvidia.com/gpu",
        "*Free now*\n2",
        "*Most it could ever get*\n8",
        "*In use in flavor a100*\n████████░░ 6 of 8",
    ]
    assert fields[4:] == ["*Whose move*\nnobody, it goes on by itself", "*Where to look*\nNot admitted: look at Kueue"]
    text = visible(message.blocks)
    for part in (
        "*What to do*\n1. Wait: it starts when 2 nvidia.com/gpu are released.",
        "2. Submitter: Or ask for 2 nvidia.com/gpu: that fits now.\n`kubectl -n team-a patch job train --type merge -p '{}'`",
        f"*The path to admission*\nWorkload <{HEADLAMP}/workloads/team-a/job-train-6cac3|job-train-6cac3>",
        f"→ ResourceFlavor <{HEADLAMP}/resourceflavors/a100|a100>: *2 nvidia.com/gpu short* (it stops here)",
        "*Who holds it*\n• Job/secret-b in `team-b`: 4 nvidia.com/gpu of `a100`, since 3 h",
        "*In line*: 2 before it of 5 waiting workloads",
        "*Also true*\n• Stands behind",
        "*Good to know*\n• Was preempted",
        'Kueue said 14 min ago: "couldn\'t assign flavors: team-b/secret-b holds them"',
        "Could not check 2 rules: nodes: forbidden for this identity; workloads in team-d: timed out after 8 s.",
        "*The answer could change*",
        "As of <!date^1796050331^{date_short_pretty} {time_secs}|2026-11-30 14:52:11 UTC>",
    ):
        assert part in text


def test_buttons_ask_again_and_lead_on() -> None:
    elements = card.card(seen()).blocks[-1]["elements"]
    assert [element["text"]["text"] for element in elements] == [
        "Refresh",
        "Watch",
        "Headlamp",
        "Grafana",
        "Details",
    ]
    assert elements[0]["action_id"] == "refresh"
    assert elements[0]["value"] == "team-a/job/train"
    assert elements[2]["url"] == "https://headlamp.example.com/ops/c/prod/kueue/workloads/team-a/job-train-6cac3"
    assert elements[3]["url"] == "https://grafana.example.com/d/kueue?var-ns=team-a&var-job=train"
    assert elements[4]["value"] == "team-a/job/train"
    assert len({element["action_id"] for element in elements}) == 5
    assert len({element["accessibility_label"] for element in elements}) == 5, "a screen reader tells them apart"
    for element in elements:
        assert element["text"]["text"].lower() in element["accessibility_label"].lower(), "what is seen can be said"
    assert "|KueueViz>" in visible(card.card(seen()).blocks), "what finds no room as a button is a link"


def test_a_card_for_one_person_is_not_watched_but_shared() -> None:
    shared = card.for_one(card.card(seen()), sharable=True).blocks[-1]["elements"]
    assert [element["text"]["text"] for element in shared] == ["Refresh", "Share", "Headlamp", "Grafana", "Details"]
    assert shared[1]["value"] == shared[0]["value"]
    kept = card.for_one(card.card(seen()), sharable=False).blocks[-1]["elements"]
    assert [element["text"]["text"] for element in kept] == ["Refresh", "Headlamp", "Grafana", "Details"]
    assert card.for_one(card.text_only(seen()), sharable=True) == card.text_only(seen())


def test_the_button_names_the_cluster_that_was_asked() -> None:
    assert card.reference(answers.full(cluster="prod-eu")) == "prod-eu:team-a/job/train"
    assert card.reference(answers.full(cluster="prod-eu", job=None, asked="team-a/train")) == "prod-eu:team-a/train"
    assert (
        card.reference(answers.full(cluster="prod-eu", job=None, asked="prod-eu:team-a/train"))
        == "prod-eu:team-a/train"
    )


def test_root_says_verdict_job_and_cause_in_two_lines() -> None:
    message = card.root(seen())
    assert message.blocks[0]["text"]["text"].startswith(
        "*Waiting its turn*  `team-a/train`\nNeeds 2 more nvidia.com/gpu"
    )
    assert "Whose move: nobody, it goes on by itself" in visible(message.blocks)
    assert message.text.startswith("Waiting its turn: Job team-a/train. Needs 2 more")


def test_degraded_forms_lose_no_part_that_decides() -> None:
    answer = seen()
    for text in (visible(card.sections(answer).blocks), card.text_only(answer).text):
        for part in (
            "Waiting its turn",
            "Needs 2 more",
            "*What to do*",
            "The path to admission",
            "Kueue said",
            "As of",
        ):
            assert part in text
    assert {block["type"] for block in card.sections(answer).blocks} == {"section"}
    assert card.text_only(answer).blocks == []


@pytest.mark.parametrize(
    ("rule", "outlook", "verdict"),
    [
        ("quota-in-use", "wait", "Waiting its turn"),
        ("exceeds-queue-capacity", "never-as-written", "Cannot run as written"),
        ("local-queue-missing", "fix", "Needs a fix"),
        ("preemption-pending", "in-progress", "In progress"),
        ("running", "running", "Running"),
        ("finished", "finished", "Finished"),
        ("no-explanation-visible", "unknown", "Cannot tell"),
        ("job-not-found", "fix", "Not found"),
        ("name-is-ambiguous", "fix", "Which one is meant?"),
    ],
)
def test_verdicts(rule: str, outlook: Any, verdict: str) -> None:
    answer = answers.full()
    answer = replace(answer, outlook=outlook, headline=replace(answer.headline, rule=rule, outlook=outlook))
    assert words.verdict(answer) == verdict
    assert terminal.render(seen(answer)).startswith(f"{verdict}: Job team-a/train\n")


@pytest.mark.parametrize(
    ("admitted", "stage", "where"),
    [
        (False, "quota", "Not admitted: look at Kueue"),
        (True, "pods", "Admitted by Kueue: look at the scheduler"),
        (True, "start", "Admitted and scheduled: look at its pods"),
        (None, "workload", ""),
    ],
)
def test_the_boundary_is_told(admitted: Any, stage: Any, where: str) -> None:
    answer = answers.full(admitted=admitted, stage=stage)
    assert words.boundary(answer) == where
    assert ("Where:" in terminal.render(seen(answer))) == bool(where)


def test_the_row_that_the_headline_names_is_where_it_stops() -> None:
    rows = (
        Link("Workload", "w", "not admitted", ok=False, namespace="team-a"),
        Link("ResourceFlavor", "spot", "4 short", ok=False),
        Link("ResourceFlavor", "a100", "2 short", ok=False),
    )
    assert words.stopping_row(seen(answers.full(chain=rows))) == 2
    assert words.stopping_row(seen(answers.full(chain=rows[:2]))) == 1
    assert words.stopping_row(seen(answers.full(chain=rows[:1]))) is None


def test_candidates_of_an_ambiguous_name_say_how_to_ask() -> None:
    answer = answers.full()
    candidates = [
        {"kind": "JobSet", "name": "train", "rule": "quota-in-use", "outlook": "wait", "ask": "team-a/jobset/train"}
    ]
    answer = replace(
        answer, headline=replace(answer.headline, rule="name-is-ambiguous", data={"candidates": candidates})
    )
    assert "• JobSet: quota in use; ask `team-a/jobset/train`" in visible(card.card(seen(answer)).blocks)
    assert "JobSet: quota-in-use; ask team-a/jobset/train" in terminal.render(seen(answer))


def test_text_from_the_cluster_cannot_mention_link_or_format() -> None:
    answer = answers.full()
    said = replace(answer.kueue_said, text=NASTY)  # type: ignore[type-var]
    headline = replace(
        answer.headline, sentence=f"Says {NASTY}.", next=(Step("asker", f"Do {NASTY}", f"echo {NASTY}"),)
    )
    job = JobId("batch/v1", "Job", "team-a", NASTY)
    chain = (Link("Workload", NASTY, NASTY, ok=False, namespace="team-a"),)
    answer = seen(replace(answer, kueue_said=said, headline=headline, job=job, chain=chain, asked=NASTY, read_as=NASTY))
    for message in messages(answer).values():
        text = message.text + visible(message.blocks)
        assert not re.search(r"<[@!#](?!date\^)", text)
        assert "<https:" not in message.text + visible([block for block in message.blocks if block["type"] != "header"])
        assert "@here" not in text
        assert "\u202e" not in text
        assert "```" not in visible([block for block in message.blocks if block["type"] != "header"])
        assert limits.check(message.blocks, message.text) == []
        assert "evil.example.com" not in "".join(
            element.get("url", "") for b in message.blocks for element in b.get("elements", [])
        )


def test_names_that_kubernetes_would_refuse_get_no_links() -> None:
    for name in ("x|y", "<a>", "../etc", "a/b", "", "Ünï", "a" * 300):
        row = Link("Workload", name, "", ok=None, namespace="team-a")
        answer = links.add_links(
            answers.full(chain=(row,), job=JobId("batch/v1", "Job", "team-a", name or "x y")), SITES
        )
        assert answer.chain[0].links == {}


def test_a_huge_answer_stays_within_bounds_and_counts_what_it_dropped() -> None:
    answer = answers.full()
    long = "a-very-long-name-" * 20
    steps = tuple(Step("asker", f"Step {n} {long}", f"kubectl {long * 5}") for n in range(30))
    answer = replace(
        answer,
        headline=replace(answer.headline, sentence="Needs " + "more & " * 900, next=steps),
        also=answer.also * 40,
        holders=answer.holders * 50,
        quota=answer.quota * 25,
        chain=tuple(replace(link, name=long, state=long) for link in answer.chain * 5),
        not_checked=tuple(replace(answer.not_checked[0], reason=f"{n} {long}") for n in range(100)),
        job=JobId("batch/v1", "Job", long, long),
    )
    for message in messages(seen(answer)).values():
        assert limits.check(message.blocks, message.text) == []
        assert limits.characters(message.blocks) <= limits.CARD_CHARACTERS
        assert len(message.blocks) <= limits.CARD_BLOCKS
    text = visible(card.card(seen(answer)).blocks)
    assert re.search(r"\d+ more", text)
    assert card.card(seen(answer)).blocks[-1]["type"] == "actions"
    assert "As of" in visible(card.card(seen(answer)).blocks[-2:])


def test_an_answer_with_nothing_in_its_sections_is_still_a_card() -> None:
    answer = answers.full(
        job=None,
        admitted=None,
        also=(),
        context=(),
        not_checked=(),
        chain=(),
        quota=(),
        holders=(),
        ahead=None,
        pods=None,
        kueue_said=None,
    )
    answer = seen(replace(answer, headline=replace(answer.headline, next=(), rule="job-not-found")))
    message = card.card(answer)
    assert limits.check(message.blocks, message.text) == []
    assert [element["text"]["text"] for element in message.blocks[-1]["elements"]] == ["Refresh", "Details"]
    assert "Not found: team-a/train" in terminal.render(answer)


def test_withheld_names_are_counted() -> None:
    assert "names from 3 other namespaces withheld" in visible(card.card(seen(level="namespace")).blocks)
    assert "names from 3 other namespaces withheld" in terminal.render(seen(level="namespace"))
    assert "withheld" not in terminal.render(seen())


# --- the terminal ---


def test_terminal_text_from_top_to_bottom() -> None:
    text = terminal.render(seen())
    order = [
        "Waiting its turn: Job team-a/train",
        "Needs 2 more",
        "Whose move:  nobody",
        "Where:       Not admitted: look at Kueue",
        "Quota",
        "Path to admission",
        "What to do",
        "Who holds it",
        "In line",
        "Because",
        "Also true",
        "Good to know",
        "Kueue said 14 min ago",
        "Could not check",
        "As of 2026-11-30 14:52:11 UTC",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "  a100    nvidia.com/gpu      4          2          8      2  waits" in text
    assert "  spot    nvidia.com/gpu      4  not known  not known         excluded: taint spot=true:NoSchedule" in text
    assert "ResourceFlavor  a100             2 nvidia.com/gpu short <- it stops here" in text
    assert "kubectl -n team-a patch job train --type merge -p '{}'" in text
    assert "\x1b" not in text
    assert text.endswith("\n")


@pytest.mark.parametrize("name", answers.questions())
def test_terminal_text_of_every_answer_fits_its_width(name: str) -> None:
    answer = shown(name, "all")
    commands = {step.command.strip() for step in answer.headline.next if step.command}
    for width in (40, 80):
        for line in terminal.render(answer, width).splitlines():
            assert len(line) <= width or line.strip() in commands


@pytest.mark.parametrize("width", [1, 20, 30, 40, 79, 120, 300])
def test_nothing_but_commands_is_wider_than_the_terminal(width: int) -> None:
    long = answers.full(job=JobId("batch/v1", "Job", "team-a", "n" * 200), read_as="anything named " + "n" * 200)
    for answer in (seen(), seen(long)):
        commands = {step.command for step in answer.headline.next}
        for line in terminal.render(answer, width).splitlines():
            assert len(line) <= max(30, width) or line.strip() in commands


def test_wide_characters_count_twice() -> None:
    answer = answers.full()
    answer = seen(replace(answer, headline=replace(answer.headline, sentence="資源が足りません " * 20)))
    for line in terminal.render(answer, 40).splitlines():
        assert sum(2 if ord(sign) > 0x2E80 else 1 for sign in line) <= 40 or line.strip().startswith("kubectl")


def test_colour_adds_nothing_but_colour() -> None:
    answer = seen()
    coloured = terminal.render(answer, 80, colour=True)
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == terminal.render(answer, 80)


def test_waiting_is_not_coloured_and_broken_is() -> None:
    answer = answers.full()
    assert "\x1b[31m" not in terminal.render(seen(answer), colour=True)
    assert "\x1b[31m" in terminal.render(seen(replace(answer, outlook="fix")), colour=True)


def test_control_characters_from_the_cluster_do_not_reach_the_terminal() -> None:
    answer = answers.full()
    said = replace(answer.kueue_said, text="a\x1b[2Jb\x07c\r\nd")  # type: ignore[type-var]
    text = terminal.render(seen(replace(answer, kueue_said=said)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)


# --- words ---


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (42.9, "42 s"),
        (60, "1 min"),
        (330, "5 min"),
        (3600, "1 h"),
        (11520, "3 h 12 min"),
        (86400, "1 d"),
        (187200, "2 d 4 h"),
        (86399, "23 h 59 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_ago() -> None:
    assert words.ago(answers.NOW - timedelta(hours=3, minutes=12), answers.NOW) == "3 h 12 min ago"
    assert words.ago(answers.NOW, answers.NOW) == "just now"
    assert words.ago(answers.NOW + timedelta(seconds=5), answers.NOW) == "just now"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 8, "░░░░░░░░░░"),
        (1, 1000, "█░░░░░░░░░"),
        (999, 1000, "█████████░"),
        (8, 8, "██████████"),
        (9, 8, "██████████"),
        (3, 0, "░░░░░░░░░░"),
    ],
)
def test_bars_never_draw_something_as_nothing(part: int, whole: int, text: str) -> None:
    assert words.bar(part, whole) == text


def test_plurals_and_lists() -> None:
    assert words.plural(1, "workload") == "1 workload"
    assert words.plural(0, "workload") == "0 workloads"
    assert words.plural(2, "entry", "entries") == "2 entries"
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b"]) == "a and b"
    assert words.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_escaping() -> None:
    assert words.escape("a & <b>") == "a &amp; &lt;b&gt;"
    assert words.escape("<!channel>") == "&lt;!channel&gt;"
    assert "@channel" not in words.escape("@channel @Here @everyone")
    assert "`" not in words.escape("`x`")
    assert words.escape("job_name-1 5*3 a~b") == "job_name-1 5*3 a~b"
    assert "*" + words.ZERO_WIDTH_SPACE in words.escape("*bold*")
    assert words.code("a`b") == "`a'b`"
    assert words.code("  ") == ""
    assert words.link("https://example.com/a?b=1&c=2", "x|y>z") == "<https://example.com/a?b=1&amp;c=2|x¦y&gt;z>"


@given(st.text(max_size=200))
def test_nothing_escaped_can_mention_or_link(text: str) -> None:
    safe = words.escape(text)
    assert not re.search(r"[<>`]", safe)
    assert not re.search(r"@(channel|here|everyone)\b", safe, re.IGNORECASE)
    assert not re.search("[\ue000-\ue002\u202a-\u202e\u2066-\u2069]", safe)


@given(st.text(string.ascii_letters + " -", max_size=300), st.integers(1, 100))
def test_cut_texts_are_never_longer(text: str, limit: int) -> None:
    assert len(words.shorten(text, limit)) <= limit
    assert len(words.middle(text, limit)) <= limit
    assert words.shorten(text, 300) == text


# --- limits ---


@given(st.lists(st.text(max_size=60), max_size=40), st.integers(20, 200))
def test_fitting_counts_what_it_dropped(parts: list[str], limit: int) -> None:
    text = limits.fit(parts, limit)
    assert len(text) <= limit
    whole = "\n".join(parts)
    if len(whole) <= limit:
        assert text == whole
    elif text.split("\n")[-1].endswith(" more") and text != whole:
        assert int(text.split("\n")[-1].split()[0]) >= 1


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}, "151 characters"),
        ({"type": "header", "text": {"type": "mrkdwn", "text": "x"}}, "plain_text"),
        ({"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}, "3001 characters"),
        ({"type": "section", "text": {"type": "mrkdwn", "text": ""}}, "0 characters"),
        ({"type": "section", "text": {"type": "mrkdwn", "text": "<!channel> hi"}}, "mentions everybody"),
        ({"type": "section"}, "neither text nor fields"),
        ({"type": "section", "fields": [{"type": "mrkdwn", "text": "x"}] * 11}, "11 fields"),
        ({"type": "section", "fields": [{"type": "mrkdwn", "text": "x" * 2001}]}, "2001 characters"),
        ({"type": "context", "elements": []}, "0 elements"),
        (
            {
                "type": "actions",
                "elements": [{"type": "button", "text": {"type": "plain_text", "text": "x" * 76}, "action_id": "a"}],
            },
            "76",
        ),
        (
            {
                "type": "actions",
                "elements": [{"type": "button", "text": {"type": "plain_text", "text": "x"}, "value": "v"}],
            },
            "action_id",
        ),
        (
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": "x"},
                        "action_id": "a",
                        "url": "javascript:x",
                    }
                ],
            },
            "neither http nor https",
        ),
        ({"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}, "101 rows"),
        ({"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 21]}, "21 columns"),
        ({"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}, "empty cell"),
        ({"type": "hologram"}, "not known"),
    ],
)
def test_what_slack_would_reject_is_listed(block: dict[str, Any], complaint: str) -> None:
    assert any(complaint in entry for entry in limits.check([block], "text")), limits.check([block], "text")


def test_a_message_too_big_as_a_whole_is_listed() -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}}
    assert any("blocks" in entry for entry in limits.check([section] * 51, "text"))
    assert any("characters over all" in entry for entry in limits.check([section] * 5, "text"))
    assert any("text is empty" in entry for entry in limits.check([section], " "))
    assert limits.check([section], "text") == []


# --- links ---


@pytest.mark.parametrize(
    ("templates", "kind", "namespace", "name", "url"),
    [
        (
            links.Templates("https://hl.example.com", "prod"),
            "Workload",
            "team-a",
            "job-train-7b-1f2e3",
            "https://hl.example.com/c/prod/kueue/workloads/team-a/job-train-7b-1f2e3",
        ),
        (
            links.Templates("https://ops.example.com/headlamp", "prod"),
            "ClusterQueue",
            "",
            "cluster-queue",
            "https://ops.example.com/headlamp/c/prod/kueue/clusterqueues/cluster-queue",
        ),
        (
            links.Templates("https://hl.example.com", "arn:aws:eks:eu-west-1:1234:cluster/prod"),
            "LocalQueue",
            "team-a",
            "user-queue",
            "https://hl.example.com/c/arn%3Aaws%3Aeks%3Aeu-west-1%3A1234%3Acluster%2Fprod/kueue/localqueues/team-a/user-queue",
        ),
        (
            links.Templates("https://hl.example.com", "prod"),
            "RayJob",
            "team-a",
            "ray-1",
            "https://hl.example.com/c/prod/customresources/rayjobs.ray.io/team-a/ray-1",
        ),
        (
            links.Templates("https://hl.example.com", "prod"),
            "Job",
            "team-a",
            "train",
            "https://hl.example.com/c/prod/jobs/team-a/train",
        ),
        (links.Templates("https://hl.example.com", "prod"), "Cohort", "", "research", None),
        (
            links.Templates("https://hl.example.com", "prod", frozenset({"cohorts"})),
            "Cohort",
            "",
            "research",
            "https://hl.example.com/c/prod/kueue/cohorts/research",
        ),
    ],
)
def test_headlamp(templates: links.Templates, kind: str, namespace: str, name: str, url: str | None) -> None:
    assert links.headlamp(kind, namespace, name, templates) == url


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "url"),
    [
        ("Workload", "team-a", "job-train", "https://viz.example.com/workload/team-a/job-train"),
        ("LocalQueue", "team-a", "q", "https://viz.example.com/local-queue/team-a/q"),
        ("ClusterQueue", "", "cq", "https://viz.example.com/cluster-queue/cq"),
        ("ResourceFlavor", "", "a100", "https://viz.example.com/resource-flavor/a100"),
        ("Cohort", "", "research", "https://viz.example.com/cohort/research"),
        ("Job", "team-a", "train", None),
    ],
)
def test_kueueviz(kind: str, namespace: str, name: str, url: str | None) -> None:
    assert links.kueueviz(kind, namespace, name, links.Templates(kueueviz="https://viz.example.com/")) == url


def test_no_kueueviz_link_to_a_workload_without_its_local_queue() -> None:
    chain = (
        Link("Workload", "w", "", ok=False, namespace="team-a"),
        Link("LocalQueue", "q", "does not exist", ok=False, namespace="team-a"),
    )
    assert "KueueViz" not in links.add_links(answers.full(chain=chain), SITES).chain[0].links
    assert "KueueViz" in seen().chain[0].links


@pytest.mark.parametrize(
    "bad",
    [
        {"headlamp": "javascript:alert(1)"},
        {"headlamp": "hl.example.com"},
        {"headlamp": "https://hl.example.com/<x>"},
        {"kueueviz": "ftp://example.com"},
        {"headlamp": "https://hl.example.com", "headlamp_cluster": "a+b"},
        {"own": {"Grafana": "https://g.example.com/{secret}"}},
        {"own": {"Grafana": "file:///etc/{name}"}},
    ],
)
def test_sites_that_would_give_broken_links_are_refused_with_a_right_example(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"https://|'main'"):
        links.Templates(**bad)


def test_own_templates_are_filled_in_percent_encoded() -> None:
    sites = links.Templates(
        own={"Logs": "https://logs.example.com/?q={kind}%20{namespace}/{name}&c={cluster}"}, headlamp_cluster="a/b"
    )
    job = JobId("batch/v1", "Job", "team-a", "train.1")
    assert links.job_links(job, sites) == {"Logs": "https://logs.example.com/?q=Job%20team-a/train.1&c=a%2Fb"}


def test_blocks_are_json() -> None:
    for message in messages(seen()).values():
        assert json.loads(json.dumps(message.blocks)) == message.blocks
