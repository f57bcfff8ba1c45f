"""The index's pages as a person sees them, in Chromium; screenshots go to `.artefacts/`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md, a_source
from tests.index.builders import archive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.pack.source import Source

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
ARTEFACTS = Path(__file__).parents[2] / ".artefacts"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
PROGRAM = "from index.cli import index_group; index_group(lambda url, token: None)()"

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")]

GUIDE_BODY = """# Review a pull request

Read the change first, then the discussion. Never start with style.

## Steps

1. Run `git diff --stat` and note what is **large**.
2. Look for a missing test; see the [testing guide](https://example.org/testing).
3. Write the review:

```sh
gh pr review --comment --body-file review.md
```

| Finding | Weight |
|---|---|
| a data loss | stops the merge |
| a missing test | asks for one |

> A review is a conversation.

![A diagram](https://example.org/diagram.png)
"""
ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def packs() -> Iterator[tuple[str, str, Source]]:
    def command(name: str, description: str, skill_class: str, manifest: str = "") -> Source:
        files = {"skill.json": a_skill_json(name=name, description=description, **{"class": skill_class}), "run.sh": RUN_SCRIPT}
        return a_source(files | ({"pack.yaml": manifest.encode()} if manifest else {}))

    cleaner = "name: disk-cleaner\nversion: {}\nsummary: Free up disk by clearing stale build caches and journals.\nlicense: Apache-2.0\n"
    cleaner += "homepage: https://example.org/disk-cleaner\nkeywords: [disk, cache]\ncategories: [operations]\nneeds: {{os: [linux], bins: [find, du]}}\n"
    for version in ("1.0.0", "1.1.0"):
        yield "disk-cleaner", version, command("disk_cleaner", f"Free up disk by clearing caches, as {version} does.", "mutating", cleaner.format(version))
    yield "drop-tables", "0.9.0", command("drop_tables", "Delete tables of a database for good.", "dangerous")
    guide = {"SKILL.md": a_skill_md("review-pull-request", "Review a pull request. Use when asked for a code review.", body=GUIDE_BODY)}
    yield "review-pull-request", "2.0.0", a_source({**guide, "references/style.md": b"# Style\n" * 200, "LICENSE": b"MIT\n" * 30})
    yield "disk-space-report", "1.0.0", command("check_disk", "检查磁盘空间", "safe")
    hostile = {"SKILL.md": a_skill_md("hostile", "x", body=f"{ATTACK}\n\n[x](javascript:alert(1))\n\n![y](https://evil.example/y.png)\n")}
    yield "hostile", "1.0.0", a_source({**hostile, "pack.yaml": f"name: hostile\nversion: 1.0.0\nsummary: {json.dumps(ATTACK)}\n".encode()})


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--json"]
    process = subprocess.Popen(command, env={"MARKET_HOME": str(home), "PATH": "/usr/bin", "LOGNAME": "acme"}, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        headers = {"Authorization": f"Bearer {(home / 'index' / 'owner.token').read_text().strip()}"}
        for name, version, source in packs():
            answer = requests.put(f"{ready['url']}/v1/packs/{name}/{version}", data=archive(source), headers=headers, timeout=30)
            assert answer.status_code == 201, answer.text
        yield ready["url"]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=ARGUMENTS)
        yield launched
        launched.close()


class Watched:
    """A page whose console errors and foreign requests make the test fail."""

    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        self.context = browser.new_context(base_url=url, **options)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: None if request.url.startswith((url, "data:")) else self.complaints.append(request.url))

    def shoot(self, name: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"index-{name}.png"), full_page=True)


@pytest.fixture
def watched(browser: Browser, url: str) -> Iterator[Watched]:
    made = Watched(browser, url, viewport={"width": 1100, "height": 800})
    yield made
    made.context.close()
    assert made.complaints == []


def names(page: Page) -> list[str]:
    return page.locator("#results h2").all_inner_texts()


def test_start_page_lists_the_packs(watched: Watched) -> None:
    page = watched.page
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Skills for your agents")
    assert names(page)[0] == "hostile"
    assert len(names(page)) == 5
    expect(page.get_by_text("5 packs, last published first")).to_be_visible()
    watched.shoot("browse")


def test_typing_searches_and_the_address_follows(watched: Watched) -> None:
    page = watched.page
    page.goto("/")
    page.get_by_role("searchbox").press_sequentially("disk", delay=30)
    expect(page.locator("#results")).to_contain_text("for “disk”, best match first")
    assert "disk-cleaner" in names(page)
    assert "drop-tables" not in names(page)
    expect(page).to_have_url(re.compile(r"\?q=disk$"))
    watched.shoot("search")
    page.get_by_role("link", name="disk-cleaner").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("disk-cleaner")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("disk")
    assert "drop-tables" not in names(page)


def test_search_works_without_scripts(browser: Browser, url: str) -> None:
    watched = Watched(browser, url, java_script_enabled=False)
    page = watched.page
    page.goto("/")
    page.get_by_role("searchbox").fill("磁盘")
    page.get_by_role("button", name="Search").click()
    assert len(names(page)) == 1
    page.get_by_role("link", name=names(page)[0]).click()
    expect(page.get_by_text("检查磁盘空间").first).to_be_visible()
    # Without scripts nothing could be copied, so nothing offers it.
    expect(page.get_by_role("button", name="Copy")).to_be_hidden()
    watched.context.close()
    assert watched.complaints == []


def test_nothing_found_says_what_to_try(watched: Watched) -> None:
    watched.page.goto("/?q=zzzz")
    expect(watched.page.get_by_text("Nothing matches “zzzz”")).to_be_visible()
    watched.shoot("nothing")


def test_pack_page_shows_command_class_versions_and_digests(watched: Watched) -> None:
    page = watched.page
    page.goto("/packs/disk-cleaner")
    expect(page.locator(".command code")).to_have_text("market install disk-cleaner")
    expect(page.locator(".chip.mutating")).to_have_text("mutating")
    side = page.get_by_role("complementary")
    for text in ("acme", "1.0.0", "1.1.0", "Apache-2.0", "sha256:", "linux", "find, du", "live"):
        expect(side).to_contain_text(text)
    expect(page.get_by_role("cell", name="run.sh")).to_be_visible()
    expect(page.get_by_role("link", name="Homepage")).to_have_attribute("href", "https://example.org/disk-cleaner")
    watched.shoot("pack")
    side.get_by_role("link", name="1.0.0").click()
    expect(page.locator(".command code")).to_have_text("market install disk-cleaner@1.0.0")
    expect(page.locator(".notice")).to_contain_text("1.1.0")
    watched.shoot("old-version")


def test_command_can_be_copied(browser: Browser, url: str) -> None:
    watched = Watched(browser, url, permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    page.goto("/packs/disk-cleaner")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "market install disk-cleaner"
    watched.context.close()
    assert watched.complaints == []


def test_guide_is_rendered(watched: Watched) -> None:
    page = watched.page
    page.goto("/packs/review-pull-request")
    text = page.locator(".prose")
    expect(text.get_by_role("heading", name="Review a pull request")).to_be_visible()
    expect(text.get_by_role("listitem").first).to_contain_text("git diff --stat")
    expect(text.get_by_role("cell", name="stops the merge")).to_be_visible()
    expect(text.get_by_role("link", name="testing guide")).to_have_attribute("rel", "noopener nofollow")
    expect(text.locator("img")).to_have_count(0)
    expect(text).not_to_contain_text("metadata:")
    watched.shoot("guide")


def test_hostile_pack_runs_nothing_and_loads_nothing(watched: Watched) -> None:
    page = watched.page
    for path in ("/", "/packs/hostile", "/packs/hostile/1.0.0"):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert "owned" not in page.title()
        assert page.get_by_text("onerror").count() >= 1
    assert page.locator("a[href^='javascript']").count() == 0


def test_dangerous_is_seen(watched: Watched) -> None:
    watched.page.goto("/packs/drop-tables")
    expect(watched.page.locator(".chip.dangerous")).to_have_text("dangerous")


def test_missing_page_leads_back(browser: Browser, url: str) -> None:
    context = browser.new_context(base_url=url)
    page = context.new_page()
    answer = page.goto("/packs/nope")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_text("There is no pack 'nope'.")).to_be_visible()
    page.get_by_role("link", name="Back to the start page").click()
    expect(page.get_by_role("searchbox")).to_be_visible()
    context.close()


def test_everything_is_reached_by_keyboard(watched: Watched) -> None:
    page = watched.page
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText || document.activeElement.name || document.activeElement.tagName"))
    assert [item for item in reached if item in ("q", "Search", "hostile")] == ["q", "Search", "hostile"]


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_the_window_in_both_schemes(browser: Browser, url: str, width: int, scheme: Any) -> None:
    watched = Watched(browser, url, viewport={"width": width, "height": 740}, color_scheme=scheme)
    for path, name in [("/", "browse"), ("/packs/review-pull-request", "guide"), ("/packs/disk-cleaner/1.0.0", "old"), ("/packs/nope/1", "missing")]:
        watched.page.goto(path)
        overflow = watched.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{path} is {overflow} px too wide at {width}"
        watched.shoot(f"{name}-{scheme}-{width}")
    watched.context.close()
    assert [text for text in watched.complaints if "404" not in text] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser: Browser, url: str, scheme: Any) -> None:
    watched = Watched(browser, url, color_scheme=scheme)
    for path in ("/", "/packs/disk-cleaner/1.0.0", "/packs/drop-tables"):
        watched.page.goto(path)
        weak = watched.page.evaluate(CONTRAST)
        assert weak == [], path
    watched.context.close()


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => { for (let e = element; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > 250) return c; } return [255, 255, 255]; };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push(`${element.tagName}.${element.className} ${element.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return weak;
}"""
