"""The demo's page: its server, and the page itself in a real browser."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright, expect

from bot.demo import catalogue
from bot.demo.stage import Stage, stage
from tests.workspace import by_bot, shown

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT = 15_000


@pytest_asyncio.fixture
async def demo() -> AsyncIterator[Stage]:
    """The demo, on a free port."""
    async with stage(0) as running:
        yield running


@pytest_asyncio.fixture
async def page(demo: Stage, tmp_path: Path) -> AsyncIterator[Page]:
    """The demo's page in Chromium; its console must stay silent."""
    if not CHROMIUM:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    said: list[str] = []
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            str(tmp_path),
            executable_path=CHROMIUM,
            args=FLAGS,
            viewport={"width": 1440, "height": 900},
            color_scheme="light",
        )
        opened = context.pages[0]
        opened.set_default_timeout(WAIT)
        opened.on("console", lambda message: said.append(message.text))
        opened.on("pageerror", lambda error: said.append(str(error)))
        await opened.goto(demo.url)
        await opened.wait_for_selector("html[data-ready]")
        yield opened
        await context.close()
    assert said == []


# The server


@pytest.mark.parametrize("scenario", catalogue.SCENARIOS, ids=lambda scenario: scenario.cluster)
def test_every_recording_is_there_and_is_asked_about_by_somebody(scenario: catalogue.Scenario) -> None:
    recording = json.loads(scenario.path.read_text())
    assert recording["items"][0]["kind"] == "Recording"
    assert f"`{scenario.ask}`" in scenario.says


async def test_every_recorded_cluster_has_an_answer(demo: Stage) -> None:
    channel = next(iter(demo.slack.channels.values()))
    for scenario in demo.page.scenarios:
        await demo.slack.command(f"{scenario.cluster}:{scenario.ask}", channel, demo.me)
    roots = await demo.slack.until(
        lambda: found if len(found := by_bot(channel.roots())) == len(demo.page.scenarios) else None, seconds=30
    )
    assert not [shown(root) for root in roots if "Cannot tell" in shown(root)]


async def test_only_this_machines_own_page_may_ask(demo: Stage) -> None:
    async with aiohttp.ClientSession() as session:
        for headers in ({"Host": "evil.example.com"}, {"Origin": "http://evil.example.com"}):
            async with session.get(f"{demo.url}/state", headers=headers) as answer:
                assert answer.status == 403
        async with session.post(f"{demo.url}/choose", data="nonsense") as answer:
            assert answer.status == 400
        async with session.get(demo.url) as answer:
            assert answer.status == 200
            assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_the_page_loads_nothing_from_elsewhere() -> None:
    for path in (Path(catalogue.__file__).parent / "static").iterdir():
        if path.suffix in {".html", ".css", ".js"}:
            text = path.read_text().replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text, path.name
            assert 'src="https://' not in text, path.name
            assert "@import" not in text, path.name


async def test_a_taken_port_is_a_sentence(demo: Stage) -> None:
    port = demo.url.rpartition(":")[2]
    process = await asyncio.create_subprocess_exec(
        "whypending", "demo", "--port", port, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}".encode() in stderr
    assert b"Traceback" not in stderr


# The page in a browser


async def ask(page: Page, text: str) -> None:
    """Type into the message box and send."""
    await page.fill("#composer", text)
    await page.press("#composer", "Enter")


@pytest.mark.browser
async def test_a_typed_command_is_answered_with_a_verdict_and_a_card_in_its_thread(page: Page) -> None:
    await ask(page, "/whypending team-a/train")
    verdict = page.locator("#messages article", has_text="6 of 8 are in use")
    await expect(verdict).to_be_visible(timeout=WAIT)
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread.get_by_role("heading", name="Waiting its turn: Job team-a/train")).to_be_visible(timeout=WAIT)
    await expect(thread.get_by_text("Most it could ever get")).to_be_visible()
    await page.get_by_role("button", name="Close the thread").click()
    await expect(thread).to_be_hidden()
    await verdict.get_by_role("button", name="1 reply").click()
    await expect(thread).to_be_visible()


@pytest.mark.browser
async def test_a_digest_and_a_queue_are_told_in_threads_with_their_pictures(page: Page) -> None:
    await page.get_by_role("button", name="gpu-operators").click()
    thread = page.get_by_role("complementary", name="Thread")
    for asked, root, detail in (
        ("digest", "1 workload, 4 nvidia.com/gpu", "Needs 2 more nvidia.com/gpu in flavor a100"),
        ("queue gpu-cq", "1 workload waits for its quota", "Job team-a/holder: 6 nvidia.com/gpu of a100"),
    ):
        await ask(page, f"/whypending {asked}")
        await expect(page.locator("#messages article", has_text=root).last).to_be_visible(timeout=WAIT)
        await expect(thread.get_by_text(detail)).to_be_visible(timeout=WAIT)
        picture = thread.get_by_role("img", name="6 of 8")
        await expect(picture).to_be_visible(timeout=WAIT)
        assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1000


@pytest.mark.browser
async def test_the_command_is_completed_with_the_keyboard(page: Page) -> None:
    await page.focus("#composer")
    await page.keyboard.type("/wh")
    await expect(page.get_by_role("option", name="/whypending")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.locator("#composer")).to_have_value("/whypending ")
    await page.keyboard.type("team-a/train")
    await page.keyboard.press("Enter")
    await expect(page.locator("#messages")).to_contain_text("Waiting its turn", timeout=WAIT)


@pytest.mark.browser
async def test_the_buttons_of_the_card_work(page: Page) -> None:
    await ask(page, "/whypending team-a/train")
    thread = page.locator("#thread-messages")
    await thread.get_by_role("button", name="Refresh").click()
    await expect(thread).to_contain_text("nothing changed", timeout=WAIT)
    await thread.get_by_role("button", name="Details").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("quota-in-use", timeout=WAIT)
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(thread).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(thread).to_be_hidden()


@pytest.mark.browser
async def test_another_recorded_cluster_is_chosen_and_asked_about_with_one_press(page: Page) -> None:
    await page.select_option("#scenario", "perth")
    await expect(page.locator("#messages")).to_contain_text("GPUs are free")
    await page.locator(".ask").click()
    await expect(page.locator("#thread-messages")).to_contain_text("Cannot run as written", timeout=WAIT)
    await ask(page, "/whypending oslo:team-a/train")
    await expect(page.locator("#messages")).to_contain_text("6 of 8 are in use", timeout=WAIT)


@pytest.mark.browser
async def test_where_the_bot_is_not_it_answers_privately_and_can_be_invited(page: Page) -> None:
    await page.get_by_role("button", name="random").click()
    await ask(page, "/whypending team-a/train")
    private = page.locator("#messages article", has_text="Only visible to you")
    await expect(private).to_contain_text("/invite @whypending", timeout=WAIT)
    await ask(page, "/invite @whypending")
    await expect(page.locator("#messages")).to_contain_text("was added to #random")
    await ask(page, "/whypending team-a/train")
    await expect(page.locator("#messages").get_by_role("button", name="1 reply")).to_be_visible(timeout=WAIT)


@pytest.mark.browser
async def test_a_refusal_shows_what_works_and_threads_take_no_commands(page: Page) -> None:
    await ask(page, "/whypending what is going on here")
    await expect(page.locator("#messages")).to_contain_text("for example:", timeout=WAIT)
    await ask(page, "/whypending help")
    await expect(page.locator("#messages")).to_contain_text("Why is my job pending?", timeout=WAIT)
    await ask(page, "/whypending team-a/train")
    await page.wait_for_selector("#thread-messages .block-header")
    await page.fill("#thread-composer", "/whypending team-a/train")
    await page.press("#thread-composer", "Enter")
    await expect(page.locator("#thread-messages")).to_contain_text("not supported in threads", timeout=WAIT)


@pytest.mark.browser
async def test_a_mention_in_a_thread_is_answered_there(page: Page) -> None:
    said = page.locator("#messages article", has_text="has not started")
    await said.hover()
    await said.get_by_role("button", name="Reply in thread").click()
    await page.fill("#thread-composer", "@whypending")
    await page.press("#thread-composer", "Enter")
    thread = page.locator("#thread-messages")
    await expect(thread.get_by_role("heading", name="Waiting its turn: Job team-a/train")).to_be_visible(timeout=WAIT)
    await page.fill("#thread-composer", "@whypending oslo:team-a/nothing")
    await page.press("#thread-composer", "Enter")
    await expect(thread).to_contain_text("Not found", timeout=WAIT)


@pytest.mark.browser
async def test_the_shortcut_on_an_alert_answers_in_its_thread(page: Page) -> None:
    await page.get_by_role("button", name="gpu-operators").click()
    alert = page.locator("#messages article", has_text="pending for too long")
    await alert.hover()
    await alert.get_by_role("button", name="Why pending?").click()
    await alert.get_by_role("button", name="1 reply").click(timeout=WAIT)
    await expect(page.locator("#thread-messages")).to_contain_text("6 of 8 are in use", timeout=WAIT)


@pytest.mark.browser
async def test_the_form_shows_what_is_wrong_beside_the_field_and_then_answers(page: Page) -> None:
    await ask(page, "good morning, it hangs")
    said = page.locator("#messages article", has_text="good morning")
    await said.hover()
    await said.get_by_role("button", name="Why pending?").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("No job was found", timeout=WAIT)
    await dialog.get_by_label("Namespace").fill("Team A!")
    await dialog.get_by_label("Name of the job").fill("train")
    await dialog.get_by_role("button", name="Ask").click()
    await expect(dialog.get_by_role("alert").filter(has_text="not a namespace")).to_be_visible(timeout=WAIT)
    await dialog.get_by_label("Namespace").fill("team-a")
    await dialog.get_by_role("button", name="Ask").click()
    await expect(dialog).to_be_hidden(timeout=WAIT)
    await said.get_by_role("button", name="1 reply").click(timeout=WAIT)
    await expect(page.locator("#thread-messages")).to_contain_text("6 of 8 are in use", timeout=WAIT)


@pytest.mark.browser
async def test_a_private_answer_is_shared(page: Page) -> None:
    await ask(page, "/whypending team-a/train --private")
    private = page.locator("#messages article.ephemeral")
    await expect(private).to_contain_text("as you wished", timeout=WAIT)
    await private.get_by_role("button", name="Share the answer about").click()
    await expect(private).to_contain_text("Shared in this channel by", timeout=WAIT)
    await expect(private.get_by_role("button", name="Share the answer about")).to_be_hidden()
    await expect(page.locator("#messages article:not(.ephemeral)", has_text="6 of 8 are in use")).to_be_visible()


@pytest.mark.browser
async def test_a_pasted_link_shows_the_verdict_below_the_message(demo: Stage, page: Page) -> None:
    await ask(page, "/whypending team-a/train")
    link = page.locator("#thread-messages").get_by_role("link", name="Open Headlamp about team-a/train")
    address = await link.get_attribute("href", timeout=WAIT)
    assert address is not None
    assert address.startswith(f"{demo.url}/headlamp/c/oslo/")
    await ask(page, f"look: {address}")
    said = page.locator("#messages article", has_text="look:")
    await expect(said.locator(".attachment")).to_contain_text("6 of 8 are in use", timeout=WAIT)


@pytest.mark.browser
async def test_the_home_tab_shows_watches_and_asks_again(page: Page) -> None:
    await ask(page, "/whypending watch team-a/train")
    await expect(page.locator("#thread-messages")).to_contain_text("told in this thread", timeout=WAIT)
    assert "told in this thread" not in await page.locator("#messages").inner_text(), "it is said in the thread alone"
    await page.get_by_role("button", name="whypending", exact=True).click()
    await page.get_by_role("tab", name="Home").click()
    home = page.locator(".home")
    await expect(home.get_by_role("button", name="Stop watching oslo:team-a")).to_be_visible(timeout=WAIT)
    await expect(home).to_contain_text("Every namespace, by its name on")
    await home.get_by_role("button", name="Ask again about oslo:team-a").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("6 of 8 are in use", timeout=WAIT)
    await page.keyboard.press("Escape")
    await home.get_by_role("button", name="Stop watching oslo:team-a").click()
    await expect(home).to_contain_text("starts it", timeout=WAIT)


@pytest.mark.browser
async def test_the_theme_is_kept_and_narrow_windows_have_a_menu(page: Page) -> None:
    await page.get_by_role("button", name="Switch between light and dark").click()
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    await page.reload()
    await page.wait_for_selector("html[data-ready]")
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    await page.set_viewport_size({"width": 420, "height": 800})
    await expect(page.get_by_role("button", name="gpu-operators")).to_be_hidden()
    await page.get_by_role("button", name="Channels").click()
    await page.get_by_role("button", name="gpu-operators").click()
    await expect(page.get_by_role("heading", name="gpu-operators")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
        "nothing to scroll sideways"
    )


@pytest.mark.browser
async def test_nothing_from_a_message_becomes_markup(demo: Stage, page: Page) -> None:
    channel = next(iter(demo.slack.channels.values()))
    evil = "<b>bold</b> <img src=x onerror=alert(1)> &lt;script&gt; <javascript:alert(1)|x> <https://e.example.com|ok>"
    demo.slack.put(channel, {"user": demo.me.id, "text": evil})
    article = page.locator("#messages article", has_text="<script>")
    await expect(article).to_be_visible()
    assert await article.locator("img, script, b").count() == 0
    links: list[Any] = await article.locator("a").evaluate_all("all => all.map(a => a.href)")
    assert links == ["https://e.example.com/"]


@pytest.mark.browser
async def test_everything_has_a_name_for_screen_readers(page: Page) -> None:
    await ask(page, "/whypending team-a/train")
    await page.wait_for_selector("#thread-messages .block-header")
    nameless: list[str] = await page.evaluate(
        """[...document.querySelectorAll("button, a, input, select, textarea")]
             .filter((node) => node.offsetParent)
             .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length))
             .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    for log in ("#messages", "#thread-messages"):
        assert await page.get_attribute(log, "aria-live") == "polite"
