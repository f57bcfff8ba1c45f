from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest

from index.pages.show import is_web_link, show_release, show_time
from market.client.wire import PackDocument, ReleaseDocument, pack_path, parse_document, release_path
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md, a_source
from tests.index.builders import AnIndex, a_described_source

VECTORS: list[str] = json.loads((Path(__file__).parents[1] / "web" / "xss.json").read_text())


def test_pack_page_shows_what_one_wants_to_know(index: AnIndex) -> None:
    source = a_source({"SKILL.md": a_skill_md("greeting", body="# Greet\n\nSay **hello**.\n"), "more/text.md": b"x" * 2048}, name="greeting")
    digests = index.publish(source, name="greeting").json
    page = index.get("/packs/greeting").text
    for text in ("market install greeting<", "acme", "1.0.0", "2 January 2026", "more/text.md", "2.0 KB", digests["tree_digest"], digests["archive_digest"]):
        assert text in page, text
    assert "<h2>Greet</h2>" in page
    assert "<strong>hello</strong>" in page
    assert "name: greeting" not in page


def test_command_pack_shows_its_class_as_a_chip(index: AnIndex) -> None:
    index.publish(a_described_source("Deletes.", **{"class": "dangerous"}))
    assert '<span class="chip dangerous">dangerous</span>' in index.get("/packs/echo-args").text


def test_page_of_a_version_installs_that_version_and_names_the_newer_one(index: AnIndex) -> None:
    index.publish()
    index.publish(a_described_source("New."), version="1.1.0")
    old = index.get("/packs/echo-args/1.0.0").text
    assert "market install echo-args@1.0.0<" in old
    assert re.search(r'class="notice">.*<a href="../../packs/echo-args">1\.1\.0</a>', old)
    newest = index.get("/packs/echo-args").text
    assert "New." in newest
    assert 'class="notice"' not in newest
    assert 'href="../packs/echo-args/1.0.0"' in newest


def test_readme_stands_first(index: AnIndex) -> None:
    source = a_source({"README.md": b"# About\n", "SKILL.md": a_skill_md("greeting"), "x.txt": b""}, name="greeting")
    index.publish(source, name="greeting")
    page = index.get("/packs/greeting").text
    assert page.index("README.md</h2>") < page.index("<summary>SKILL.md")


def test_browse_page_works_without_scripts(index: AnIndex) -> None:
    index.publish()
    page = index.get("/?q=echo").text
    assert '<form class="search" role="search" action="./" method="get">' in page
    assert 'value="echo"' in page
    assert 'href="./packs/echo-args"' in page


def test_htmx_gets_the_list_only(index: AnIndex) -> None:
    index.publish()
    part = index.get("/?q=echo", headers={"HX-Request": "true"})
    assert "<html" not in part.text
    assert 'href="./packs/echo-args"' in part.text
    assert "HX-Request" in part.headers["vary"]


def test_pages_of_the_list(index: AnIndex) -> None:
    for number in range(35):
        index.clock.move(seconds=1)
        index.publish(name=f"pack-{number}")
    first = index.get("/").text
    assert first.count("<h2>") == 30
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following is not None
    second = index.get(urljoin("/", following[1].replace("&amp;", "&"))).text
    assert second.count("<h2>") == 5
    assert 'rel="next"' not in second
    assert "First page" in second


def test_empty_index_says_how_to_begin(index: AnIndex) -> None:
    assert "market publish ./my-pack" in index.get("/").text
    assert "Nothing matches “zzz”" in index.get("/?q=zzz").text


@pytest.mark.parametrize("path", ["/packs/nope", "/packs/%20", "/packs/echo-args/9.9", "/packs/echo-args/<script>"])
def test_missing_page_is_a_page(index: AnIndex, path: str) -> None:
    index.publish()
    answer = index.get(path, headers={"Accept": "text/html"})
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<script>" not in answer.text


def test_other_spelling_of_a_name_is_sent_on(index: AnIndex) -> None:
    index.publish()
    answer = index.get("/packs/Echo_Args")
    assert (answer.status, answer.headers["location"]) == (308, "./echo-args")


class Dangers(HTMLParser):
    """Reads a page as a browser would, and keeps what only an attack could have put there."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("svg", "iframe", "object", "embed", "style", "base", "math"):
            self.found.append(tag)
        for name, value in attrs:
            is_bad = name.startswith("on") or name in ("style", "srcdoc")
            is_bad |= name == "src" and not (value or "").startswith(("./static/", "../static/", "../../static/"))
            is_bad |= name == "href" and not (value or "").startswith(("./", "../", "#", "https://", "http://"))
            self.found += [f"{tag} {name}={value}"] * is_bad


@pytest.mark.parametrize("url", ["/", "/?q=x", "/packs/hostile", "/packs/hostile/1.0.0", "/nope"])
def test_hostile_pack_stays_text_on_every_page(index: AnIndex, url: str) -> None:
    attack = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    body = "\n\n".join(vector for vector in VECTORS if "\0" not in vector)
    manifest = json.dumps({"name": "hostile", "version": "1.0.0", "summary": attack, "homepage": "https://ok.example/" + attack.replace(" ", ""), "keywords": [attack], "license": "MIT"})
    source = a_source({"pack.yaml": manifest.encode(), "skill.json": a_skill_json(description=f"x {attack}"), "run.sh": RUN_SCRIPT, "guide/SKILL.md": a_skill_md("guide", body=body)})
    answer = index.publish(source, name="hostile")
    assert answer.status == 201, answer.text
    page = index.get(url, headers={"Accept": "text/html"})
    assert Dangers(page.text).found == []
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_searched_text_is_escaped(index: AnIndex) -> None:
    page = index.get("/?q=%22%3E%3Cscript%3E").text
    assert "<script>" not in page
    assert "&#34;&gt;&lt;script&gt;" in page


@pytest.mark.parametrize(("url", "is_link"), [("https://a.b/c", True), ("http://a", True), ("javascript:alert(1)", False), ("//a.b", False), ("data:x", False), ("", False), ("https://", False), ("http://[", False)])
def test_which_links_of_a_manifest_become_links(url: str, is_link: bool) -> None:
    assert is_web_link(url) is is_link


def test_link_of_another_kind_is_left_out(index: AnIndex) -> None:
    index.publish()
    pack = parse_document(PackDocument, index.get(pack_path("echo-args")).json)
    release = parse_document(ReleaseDocument, index.get(release_path("echo-args", "1.0.0")).json)
    release = replace(release, homepage="javascript:alert(1)", repository="https://example.org/x")
    assert show_release(pack, release, (), is_pinned=False).links == (("Repository", "https://example.org/x"),)


def test_time_for_people() -> None:
    assert show_time("2026-11-30T18:18:03.648Z") == "30 November 2026"
    assert show_time("odd") == "odd"
