"""A pack's Markdown as HTML that is safe inside our pages: CommonMark, then an allow-list.

Written by strangers, so two independent walls: raw HTML is shown as text by the renderer, and whatever HTML comes out passes
nh3's allow-list. The page's Content-Security-Policy is the third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import nh3
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

MAX_MARKDOWN_CHARACTERS = 128 << 10
MAX_NESTING = 20
DEEPEST_HEADING = 6

_TAGS = frozenset(
    "a blockquote br code del em h2 h3 h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split()  # noqa: SIM905
)
_SCHEMES = frozenset({"http", "https", "mailto"})
_CUT = "\n\n*The text is longer than this page shows.*\n"


def render_markdown(text: str) -> str:
    """Return CommonMark text (with tables and strike-through) as sanitised HTML.

    Headings are one level deeper, since the page has its own h1. Images are named, never loaded. Links keep http, https and mailto
    only; relative ones lose their target, because the pages don't serve the files of a pack.
    """
    shown = text if len(text) <= MAX_MARKDOWN_CHARACTERS else text[:MAX_MARKDOWN_CHARACTERS] + _CUT
    return nh3.clean(
        _renderer().render(shown),
        tags=set(_TAGS),
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        allowed_classes={"span": {"image"}},
        url_schemes=set(_SCHEMES),
        url_relative="deny",
        link_rel="noopener nofollow",
    )


def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    renderer.core.ruler.push("deeper_headings", lambda state: _deepen(state.tokens))
    renderer.add_render_rule("image", _name_image)
    return renderer


def _deepen(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST_HEADING, int(token.tag[1:]) + 1)}"


def _name_image(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
    name = self.renderInlineAsText(tokens[index].children or [], options, env)
    return f'<span class="image">[{nh3.clean_text(name or "image")}]</span>'
