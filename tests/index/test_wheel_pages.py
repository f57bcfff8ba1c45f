"""The page of a release that has wheels: its files, how pip and uv install it, and its texts out of the wheel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from tests.factories import a_source
from tests.index.uploads import upload
from tests.index.wheels import a_wheel, an_sdist, wheel_name

if TYPE_CHECKING:
    from tests.index.builders import AnIndex

PAGE = "/packs/text-tools/1.0.0"
FILES = {"text_tools-1.0.0-py3-none-any.whl", "text_tools-1.0.0.tar.gz", "text-tools-1.0.0.zip"}


def test_archive_wheel_and_sdist_are_on_one_page(index: AnIndex) -> None:
    upload(index, a_wheel(), wheel_name())
    upload(index, an_sdist(), "text_tools-1.0.0.tar.gz")
    index.publish(a_source(), name="text-tools")
    page = index.get(PAGE).text
    links = dict(re.findall(r'<a href="([^"]+)" download="([^"]+)"', page))
    assert set(links.values()) == FILES
    assert all(index.get(urljoin(PAGE, address)).status == 200 for address in links)
    assert "market install text-tools@1.0.0" in page
    assert "pip install --index-url http://127.0.0.1/simple/ text-tools==1.0.0" in page
    assert "uv pip install --index http://127.0.0.1/simple/ text-tools==1.0.0" in page
    assert "Python &gt;=3.9" in page


def test_texts_of_a_wheel_are_shown(index: AnIndex) -> None:
    upload(index, a_wheel(extra={"text_tools/more.md": b"x"}), wheel_name())
    page = index.get("/packs/text-tools").text
    assert "Write in capitals." in page
    assert "text_tools/skills/loud-texts" in page
    assert "pip install --index-url http://127.0.0.1/simple/ text-tools<" in page


def test_pack_of_archives_says_nothing_of_pip(index: AnIndex) -> None:
    index.publish()
    assert "pip install" not in index.get("/packs/echo-args").text


@pytest.mark.parametrize("bad", ["javascript:alert(1)", "<b>x</b>"])
def test_odd_values_are_escaped(index: AnIndex, bad: str) -> None:
    upload(index, a_wheel(metadata=f"Metadata-Version: 2.1\nName: text-tools\nVersion: 1.0.0\nSummary: {bad}\nProject-URL: Homepage, {bad}\n"), wheel_name())
    page = index.get(PAGE).text
    assert "<b>x</b>" not in page and 'href="javascript' not in page
