from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from market.web.markdown import MAX_MARKDOWN_CHARACTERS, render_markdown

VECTORS: list[str] = json.loads(Path(__file__).with_name("xss.json").read_text())
ALLOWED = {
    "a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ALLOWED_ATTRIBUTES = {("a", "href"), ("a", "title"), ("a", "rel"), ("ol", "start"), ("span", "class")}


class Audit(HTMLParser):
    """Reads HTML as a browser would, and keeps what isn't allowed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.links: list[dict[str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.bad.append(f"<{tag}>")
        self.bad.extend(f"{tag} {name}" for name, _ in attrs if (tag, name) not in ALLOWED_ATTRIBUTES)
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_comment(self, data: str) -> None:
        self.bad.append(f"<!--{data}-->")

    def handle_pi(self, data: str) -> None:
        self.bad.append(f"<?{data}>")


def check_harmless(html: str) -> None:
    audit = Audit(html)
    assert audit.bad == []
    for link in audit.links:
        assert (link.get("href") or "https://").startswith(("http://", "https://", "mailto:"))
        assert link["rel"] == "noopener nofollow"


def test_corpus_is_large_enough() -> None:
    assert len(VECTORS) >= 40
    assert len(set(VECTORS)) == len(VECTORS)


@pytest.mark.parametrize("vector", VECTORS)
def test_attack_comes_out_harmless(vector: str) -> None:
    check_harmless(render_markdown(vector))


@pytest.mark.parametrize("vector", VECTORS)
def test_attack_inside_other_text_comes_out_harmless(vector: str) -> None:
    check_harmless(render_markdown(f"# Title\n\n- item\n\n  {vector}\n\n> {vector}\n\n*{vector}*"))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*VECTORS, "<", ">", "[", "](", ")", "\n", "`", "\"", "'", "javascript:", "&#"]), max_size=8))
def test_mixtures_come_out_harmless(pieces: list[str]) -> None:
    check_harmless(render_markdown("".join(pieces)))


def test_text_is_rendered_as_commonmark_with_tables() -> None:
    html = render_markdown("# Top\n\nA *b* **c** `d` ~~e~~\n\n3. three\n\n| x |\n|---|\n| y |\n")
    assert "<h2>Top</h2>" in html
    assert "<em>b</em> <strong>c</strong> <code>d</code> <s>e</s>" in html
    assert '<ol start="3">' in html
    assert "<td>y</td>" in html


def test_raw_html_is_shown_as_text() -> None:
    assert "&lt;your-name&gt;" in render_markdown("Say <your-name>.")


def test_images_are_named_and_never_loaded() -> None:
    html = render_markdown("![A cat](https://evil.example/cat.png)")
    assert html == '<p><span class="image">[A cat]</span></p>\n'


def test_relative_links_lose_their_target_and_web_links_keep_it() -> None:
    assert "href" not in render_markdown("[more](references/more.md) [top](#top)")
    assert 'href="https://ok.example/"' in render_markdown("[ok](https://ok.example/)")


def test_deepest_heading_stays_a_heading() -> None:
    assert render_markdown("###### six") == "<h6>six</h6>\n"


def test_too_long_text_is_cut_and_says_so() -> None:
    html = render_markdown("word " * MAX_MARKDOWN_CHARACTERS)
    assert len(html) < MAX_MARKDOWN_CHARACTERS + 1000
    assert "longer than this page shows" in html
