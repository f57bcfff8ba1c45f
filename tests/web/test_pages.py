from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jinja2
import pytest

from market.errors import NotFound, Unauthenticated
from market.web.pages import HERE, Pages, load_static, send_static, show_size, static_url
from market.web.problems import ProblemEdge
from tests.web.asgi import ask

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Scope

BROWSER: Scope = {"path": "/packs/x", "headers": [(b"accept", b"text/html,*/*;q=0.8")]}


def a_page(folder: Path, text: str) -> Pages:
    (folder / "page.html").write_text(text)
    return Pages(folder)


def test_values_are_escaped(tmp_path: Path) -> None:
    page = a_page(tmp_path, "{% extends 'base.html' %}{% block content %}<p>{{ x }}</p>{% endblock %}").render("page.html", x="<script>")
    assert b"<p>&lt;script&gt;</p>" in page.body


def test_code_in_a_message_is_marked_and_the_rest_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("{{ text | code }}")
    shown = Pages(tmp_path).render("x.html", text="see `market list <b>` & `one` <i> `")
    assert shown.body == b"see <code>market list &lt;b&gt;</code> &amp; <code>one</code> &lt;i&gt; `"


def test_forgotten_value_is_an_error_and_not_an_empty_text(tmp_path: Path) -> None:
    with pytest.raises(jinja2.UndefinedError):
        a_page(tmp_path, "{{ missing }}").render("page.html")


def test_page_forbids_everything_from_elsewhere(tmp_path: Path) -> None:
    page = a_page(tmp_path, "{% extends 'base.html' %}").render("page.html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    # The policy would break a page that has inline code or style.
    assert not re.search(rb"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://", bytes(page.body))


def test_error_is_a_page_for_browsers_only() -> None:
    pages = Pages()
    page = pages.error_page(BROWSER, NotFound("there is no pack <x>", hint="look"))
    assert page is not None
    assert page.status_code == 404
    assert b"There is no pack &lt;x&gt;." in page.body
    assert pages.error_page({**BROWSER, "path": "/v1/packs"}, NotFound("x")) is None
    assert pages.error_page({**BROWSER, "headers": []}, NotFound("x")) is None


def test_error_page_keeps_the_headers_that_its_status_needs() -> None:
    page = Pages().error_page(BROWSER, Unauthenticated("sign in"))
    assert page is not None
    assert page.headers["www-authenticate"].startswith("Bearer")
    assert page.headers["cache-control"] == "no-store"


def test_static_files_are_served_for_good_under_their_version() -> None:
    answer = ask(send_static, "GET", f"/{static_url('market.css')}")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]
    assert ask(send_static, "GET", "/static/market.css").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/static/nope.css", "/static/../pages.py", "/static/"])
def test_nothing_but_the_static_folder_is_served(path: str) -> None:
    assert ask(ProblemEdge(send_static), "GET", path).status == 404


def test_vendored_script_has_its_licence_beside_it() -> None:
    assert b"Zero-Clause BSD" in load_static()["htmx.LICENSE.txt"].body
    assert load_static()["htmx.min.js"].media_type.startswith(b"text/javascript")


def test_stylesheet_loads_nothing_from_elsewhere() -> None:
    text = (HERE / "static" / "market.css").read_text()
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (150 << 10, "150 KB"), (5 << 20, "5.0 MB"), (3 << 40, "3072 GB")])
def test_sizes_for_people(size: int, text: str) -> None:
    assert show_size(size) == text
