from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.web.references import asked_path, redirect_to, relative_reference, root_reference
from tests.web.asgi import ask

# Without empty segments: urljoin drops those in a base, browsers don't.
PATHS = st.lists(st.sampled_from(["a", "b", "a-b", "1!2.0", "c:d"]), max_size=4).flatmap(
    lambda segments: st.sampled_from(["/" + "/".join(segments), "/" + "".join(f"{segment}/" for segment in segments)])
)


@given(PATHS, PATHS)
def test_it_leads_there_from_everywhere_below_every_prefix(base: str, target: str) -> None:
    for prefix in ("http://index.example", "http://index.example/deep/market"):
        assert urljoin(prefix + base, relative_reference(base, target)) == prefix + target


@pytest.mark.parametrize(
    ("base", "target", "reference"),
    [("/", "/packs/a", "./packs/a"), ("/packs/A", "/packs/a", "./a"), ("/simple", "/simple/", "./simple/"), ("/a/b/", "/", "../../"), ("/x", "/x", "./x")],
)
def test_it_is_never_empty_nor_a_scheme(base: str, target: str, reference: str) -> None:
    assert relative_reference(base, target) == reference


def test_an_encoded_slash_is_no_folder_to_the_client() -> None:
    scope = {"path": "/simple/Tool/", "raw_path": b"/simple/Tool%2F"}
    assert (asked_path(scope), asked_path({"path": "/a", "raw_path": None})) == ("/simple/Tool%2F", "/a")
    assert urljoin("/simple/Tool%2F", relative_reference(asked_path(scope), "/simple/tool/")) == "/simple/tool/"
    assert root_reference(scope) == "../"


def test_redirect_is_asked_for_again() -> None:
    async def app(scope, receive, send):  # type: ignore[no-untyped-def]
        await redirect_to(scope, "/packs/echo", 308, b"private, no-cache")(scope, receive, send)

    answer = ask(app, "GET", "/packs/Echo")
    assert (answer.status, answer.headers["location"], answer.headers["cache-control"]) == (308, "./echo", "private, no-cache")
