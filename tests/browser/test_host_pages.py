"""The host's pages in a real browser: what a person sees, runs and can't do; nothing from elsewhere, no error (mission C6)."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests
from playwright.sync_api import Page, expect, sync_playwright

from tests.host.hosts import HostUnderTest, start_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
ARTEFACTS = Path(__file__).parents[2] / ".artefacts"

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium")]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostUnderTest]:
    with start_host(tmp_path_factory.mktemp("pages")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), headless=True, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def page(host: HostUnderTest, browser: Browser) -> Iterator[Page]:
    """A page that is signed in as admin, and that must stay without errors and without requests to elsewhere."""
    with watched_page(host, browser.new_context(viewport={"width": 1100, "height": 900})) as made:
        sign_in(host, made, "admin")
        yield made


@contextmanager
def watched_page(host: HostUnderTest, context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if not request.url.startswith((host.url, "data:")) else None)
    yield page
    context.close()
    assert faults == []


def sign_in(host: HostUnderTest, page: Page, role: str) -> None:
    page.goto(f"{host.url}/skills")
    page.get_by_label("Token").fill(host.roles[role])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Skills", exact=True)).to_be_visible()


def shot(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"host-{name}.png"), full_page=True)


def test_c6_every_capability_with_its_chips_in_groups(page: Page) -> None:
    for key in ("look", "change", "destroy", "greeting", "both_sides"):
        expect(page.get_by_role("link", name=key, exact=True)).to_be_visible()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="change", exact=True))
    expect(row.get_by_text("mutating", exact=True)).to_be_visible()
    expect(row.get_by_text("manager", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="disk")).to_be_visible()
    expect(page.get_by_text("Looks at <a> directory & says what is there.")).to_be_visible()
    expect(page.get_by_role("heading", name="Not loaded")).to_be_visible()
    shot(page, "skills")


def test_search_narrows_while_typing_and_chips_filter(page: Page) -> None:
    page.get_by_label("Search the skills").fill("greet")
    expect(page.get_by_role("link", name="greeting", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="look", exact=True)).to_have_count(0)
    page.get_by_label("Search the skills").fill("")
    page.get_by_role("link", name="mutating 1").click()
    expect(page.get_by_role("link", name="change", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="look", exact=True)).to_have_count(0)
    page.get_by_label("Search the skills").fill("nothing like that")
    expect(page.get_by_text("No skill fits.")).to_be_visible()


def test_c6_a_form_is_rendered_from_the_schema_and_runs_by_keyboard(page: Page) -> None:
    page.get_by_role("link", name="look", exact=True).click()
    path = page.get_by_label("path")
    expect(path).to_have_attribute("required", "")
    expect(page.get_by_label("depth")).to_have_attribute("max", "9")
    expect(page.get_by_label("mode")).to_have_value('"fast"')
    path.focus()
    page.keyboard.type("/var/log")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    result = page.locator("#outcome pre.result")
    expect(result).to_contain_text('"depth": 3')
    expect(result).to_contain_text('"path": "/var/log"')
    expect(page.get_by_role("status")).to_contain_text("Done in")
    shot(page, "run")


def test_a_result_can_t_smuggle_markup_in(page: Page) -> None:
    page.get_by_role("link", name="look", exact=True).click()
    page.get_by_label("path").fill("<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#outcome pre.result")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#outcome img").count() == 0


def test_a_failing_skill_shows_its_error_and_log_lines(page: Page) -> None:
    page.get_by_role("link", name="fails", exact=True).click()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("code 3")
    expect(page.locator("#outcome details")).to_contain_text("the disk is on fire")
    shot(page, "failed")


def test_arguments_as_json_that_can_t_be_read_say_so(page: Page) -> None:
    page.get_by_role("link", name="change", exact=True).click()
    page.get_by_label("Arguments as JSON").fill("{nonsense")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_contain_text("can't be read as JSON")


def test_b2_a_dangerous_skill_can_t_be_run_and_says_why(page: Page) -> None:
    page.get_by_role("link", name="destroy", exact=True).click()
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    expect(page.get_by_text("You can't run this")).to_be_visible()
    shot(page, "dangerous")


def test_a_guide_shows_its_text_and_no_form(page: Page) -> None:
    page.get_by_role("link", name="greeting", exact=True).click()
    expect(page.locator(".prose")).to_contain_text("Greet")
    expect(page.get_by_role("button", name="Run")).to_have_count(0)
    shot(page, "guide")


def test_d2_the_audit_page_shows_attempts_and_filters_by_tool(host: HostUnderTest, page: Page) -> None:
    host.execute("look", {"path": "/from-the-api"})
    host.execute("never_was", {})
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("cell", name="never_was", exact=True)).to_be_visible()
    page.get_by_role("link", name="look").first.click()
    expect(page.get_by_text("/from-the-api").first).to_be_visible()
    expect(page.get_by_role("cell", name="never_was", exact=True)).to_have_count(0)
    shot(page, "audit")


def test_a_viewer_sees_what_isn_t_allowed(host: HostUnderTest, browser: Browser) -> None:
    with watched_page(host, browser.new_context()) as page:
        sign_in(host, page, "viewer")
        expect(page.get_by_role("link", name="Audit")).to_have_count(0)
        page.get_by_role("link", name="change", exact=True).click()
        expect(page.get_by_role("button", name="Run")).to_be_disabled()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        shot(page, "login")


def test_the_printed_link_signs_in_once(host: HostUnderTest, browser: Browser) -> None:
    context = browser.new_context()
    with watched_page(host, context) as page:
        page.goto(host.login_url)
        expect(page.get_by_role("heading", name="Skills", exact=True)).to_be_visible()
        assert "token" not in page.url
        (cookie,) = context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    again = requests.get(host.login_url, timeout=10)
    assert again.status_code == 401 and "used already" in again.text


def test_another_site_s_page_can_t_use_the_cookie(host: HostUnderTest, browser: Browser) -> None:
    context = browser.new_context()
    with watched_page(host, context) as page:
        sign_in(host, page, "admin")
        (cookie,) = context.cookies()
    cookies = {cookie["name"]: cookie["value"]}
    for headers in ({}, {"Origin": "http://127.0.0.1:9"}, {"Sec-Fetch-Site": "cross-site"}):
        for path in ("/v1/skills/look/execute", "/skills/look/run", "/v1/rescan", "/logout"):
            answer = requests.post(host.url + path, json={"params": {"path": "/"}}, cookies=cookies, headers=headers, timeout=10)
            assert answer.status_code == 403, (path, headers, answer.text)


def test_a_narrow_screen_and_the_dark(host: HostUnderTest, browser: Browser) -> None:
    with watched_page(host, browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")) as page:
        sign_in(host, page, "admin")
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide
        shot(page, "narrow")
        page.get_by_role("link", name="look", exact=True).click()
        expect(page.get_by_role("button", name="Run")).to_be_visible()
        assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        shot(page, "narrow-skill")


def test_the_pages_work_without_scripts(host: HostUnderTest, browser: Browser) -> None:
    with watched_page(host, browser.new_context(java_script_enabled=False)) as page:
        sign_in(host, page, "admin")
        page.get_by_label("Search the skills").fill("look")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("link", name="look", exact=True).click()
        page.get_by_label("path").fill("/plain")
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#outcome pre.result")).to_contain_text('"path": "/plain"')
        expect(page.get_by_label("path")).to_have_value("/plain")


def test_keyboard_alone_reaches_everything(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name"))
    assert {"Skills", "Audit", "Sign out", "q", "Search", "look", "change"} <= reached
