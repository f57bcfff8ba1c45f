from __future__ import annotations

import hashlib
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest

from index.faces.python.accept import choose_type
from index.settings import Anonymous
from tests.factories import a_source
from tests.index.builders import AnIndex, an_index
from tests.index.uploads import basic, upload
from tests.index.wheels import a_wheel, an_sdist, wheel_name

if TYPE_CHECKING:
    from pathlib import Path

JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
HTML = {"Accept": "application/vnd.pypi.simple.v1+html"}
PIP = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"
PAGE = "/simple/text-tools/"
NAME = wheel_name()
SDIST = "text_tools-1.0.0.tar.gz"


@pytest.fixture(autouse=True)
def _published(index: AnIndex) -> None:
    assert upload(index, a_wheel(), NAME).status == 200


def page(index: AnIndex, path: str = PAGE) -> Any:
    return index.get(path, headers=JSON).json


class Links(HTMLParser):
    """The links and meta elements of a page, as a client reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.metas: dict[str | None, str | None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a":
            self.links.append(values)
        elif tag == "meta" and "name" in values:
            self.metas[values["name"]] = values["content"]


def test_page_tells_everything_of_a_file(index: AnIndex) -> None:
    upload(index, an_sdist(), SDIST)
    body = page(index)
    assert (body["meta"], body["name"], body["versions"]) == ({"api-version": "1.4"}, "text-tools", ["1.0.0"])
    assert body["project-status"] == {"status": "active"}
    wheel, digest = a_wheel(), hashlib.sha256(a_wheel()).hexdigest()
    metadata = index.get(urljoin(PAGE, body["files"][0]["url"]) + ".metadata").body
    expected = {"sha256": hashlib.sha256(metadata).hexdigest()}
    assert body["files"][0] == {
        "filename": NAME, "url": f"../../files/{digest}/{NAME}", "hashes": {"sha256": digest}, "size": len(wheel),
        "upload-time": "2026-01-02T03:04:05.000Z", "yanked": False, "core-metadata": expected, "dist-info-metadata": expected,
        "requires-python": ">=3.9",
    }  # fmt: skip
    assert (body["files"][1]["filename"], body["files"][1]["size"]) == (SDIST, len(an_sdist()))


def test_html_page_says_the_same_as_far_as_it_can(index: AnIndex) -> None:
    upload(index, a_wheel(version="1.1.0", requires_python=">=3.9,<4"), wheel_name(version="1.1.0"))
    index.ask("POST", "/v1/packs/text-tools/1.0.0/yank", token=index.token, body=b'{"reason": "breaks \\"x\\" <b>"}')
    read, body = Links(index.get(PAGE, headers=HTML).text), page(index)
    assert read.metas == {"pypi:repository-version": "1.4", "pypi:project-status": "active"}
    for link, file in zip(read.links, body["files"], strict=True):
        assert link["href"] == f"{file['url']}#sha256={file['hashes']['sha256']}"
        assert link["data-requires-python"] == file["requires-python"]
        assert link["data-core-metadata"] == link["data-dist-info-metadata"] == f"sha256={file['core-metadata']['sha256']}"
        assert link.get("data-yanked", False) == file["yanked"]
    assert [file["yanked"] for file in body["files"]] == ['breaks "x" <b>', False]


def test_sidecar_is_the_wheels_metadata_byte_for_byte(index: AnIndex) -> None:
    metadata = "Metadata-Version: 2.4\nName: text-tools\nVersion: 2.0.0\nRequires-Python: >=3.11\n\nÜmlauts,\r\n  and odd \t ends \n\n"
    upload(index, a_wheel(version="2.0.0", metadata=metadata), wheel_name(version="2.0.0"))
    url = urljoin(PAGE, page(index)["files"][1]["url"]) + ".metadata"
    answer = index.get(url)
    assert answer.body == metadata.encode()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert index.get(url, headers={"If-None-Match": answer.headers["etag"]}).status == 304


@pytest.mark.parametrize("headers", [JSON, HTML])
@pytest.mark.parametrize("path", [PAGE, "/simple/"])
def test_page_is_asked_again_by_its_etag(index: AnIndex, path: str, headers: dict[str, str]) -> None:
    answer = index.get(path, headers=headers)
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"] == headers["Accept"]
    again = index.get(path, headers={**headers, "If-None-Match": answer.headers["etag"]})
    assert (again.status, again.body, again.headers["vary"]) == (304, b"", "Accept, Authorization")
    head = index.ask("HEAD", path, headers=headers)
    assert (head.status, head.body, head.headers) == (200, b"", answer.headers)
    upload(index, a_wheel(version="1.1.0"), wheel_name(version="1.1.0"))
    fresh = index.get(path, headers={**headers, "If-None-Match": answer.headers["etag"]})
    assert fresh.status == (200 if path == PAGE else 304)


def test_forms_have_their_own_etags(index: AnIndex) -> None:
    assert index.get(PAGE, headers=JSON).headers["etag"] != index.get(PAGE, headers=HTML).headers["etag"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (PIP, "application/vnd.pypi.simple.v1+json"),
        ("application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01", "application/vnd.pypi.simple.v1+json"),
        ("text/html", "text/html; charset=utf-8"),
        ("application/vnd.pypi.simple.v1+html", "application/vnd.pypi.simple.v1+html"),
        ("application/vnd.pypi.simple.latest+json", "application/vnd.pypi.simple.v1+json"),
        ("APPLICATION/VND.PYPI.SIMPLE.V1+JSON;Q=0.5, text/html;q=0.1", "application/vnd.pypi.simple.v1+json"),
        ("application/vnd.pypi.simple.v1+json;q=0, text/html", "text/html; charset=utf-8"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"),
        ("*/*", "text/html; charset=utf-8"), ("", "text/html; charset=utf-8"), ("image/png", "text/html; charset=utf-8"),
        ("application/vnd.pypi.simple.v1+json;q=0.5, */*;q=0.6", "text/html; charset=utf-8"),
        ("application/vnd.pypi.simple.v1+json;q=0.5, */*;q=0.4", "application/vnd.pypi.simple.v1+json"),
        ("application/vnd.pypi.simple.v1+json;q=inf, application/vnd.pypi.simple.v1+html;q=0.1", "application/vnd.pypi.simple.v1+html"),
        (";;;q=x,,", "text/html; charset=utf-8"), ("application/vnd.pypi.simple.v1+json;q=banana", "text/html; charset=utf-8"),
    ],
)  # fmt: skip
def test_form_is_the_one_that_the_client_wants(accept: str, kind: str) -> None:
    assert choose_type([(b"accept", accept.encode())]).decode() == kind


def test_wishes_in_several_headers_are_one_list() -> None:
    headers = [(b"accept", b"text/html;q=0.1"), (b"host", b"x"), (b"accept", b"application/vnd.pypi.simple.v1+json")]
    assert choose_type(headers) == b"application/vnd.pypi.simple.v1+json"


def test_without_a_wish_it_is_html(index: AnIndex) -> None:
    assert index.get(PAGE).headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "place"),
    [("/simple", "/simple/"), ("/simple/text-tools", PAGE), ("/simple/Text_Tools/", PAGE), ("/simple/TEXT.tools", PAGE), ("/simple/text--tools/", PAGE),
     ("/simple/Unknown/", "/simple/unknown/")],
)  # fmt: skip
def test_other_spelling_is_sent_to_the_one_place(index: AnIndex, path: str, place: str) -> None:
    answer = index.get(path, headers=JSON)
    assert (answer.status, urljoin(path, answer.headers["location"])) == (301, place)
    # Behind a proxy that serves the index below a prefix, a path from the top would lead out of it.
    assert urljoin(f"/market{path}", answer.headers["location"]) == f"/market{place}"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/simple/nope/", "/simple/text-tools/x/", "/simple/text-tools/index.json", "/simple//", "/simple/%2e%2e/", "/simple/ä/"])
def test_unknown_project_is_404(index: AnIndex, path: str) -> None:
    answer = index.get(path, headers=JSON)
    assert (answer.status in (404, 301), answer.headers.get("location", "/simple/")) == (True, "/simple/")


def test_pack_of_archives_alone_is_no_project(index: AnIndex) -> None:
    index.publish(a_source())
    assert index.get("/simple/echo-args/", headers=JSON).status == 404
    assert page(index, "/simple/")["projects"] == [{"name": "text-tools"}]


def test_list_names_all_projects_in_both_forms(index: AnIndex) -> None:
    upload(index, an_sdist(name="a-b"), "a_b-1.0.0.tar.gz")
    assert page(index, "/simple/") == {"meta": {"api-version": "1.4"}, "projects": [{"name": "a-b"}, {"name": "text-tools"}]}
    assert [link["href"] for link in Links(index.get("/simple/", headers=HTML).text).links] == ["a-b/", "text-tools/"]


def test_file_is_served_under_its_name_whole_and_in_parts(index: AnIndex) -> None:
    url = urljoin(PAGE, page(index)["files"][0]["url"])
    whole = index.get(url)
    assert (whole.body, whole.headers["cache-control"]) == (a_wheel(), "public, max-age=31536000, immutable")
    assert whole.headers["accept-ranges"] == "bytes"
    head = index.ask("HEAD", url)
    assert (head.body, head.headers["content-length"]) == (b"", str(len(a_wheel())))
    tail = index.get(url, headers={"Range": "bytes=-22"})
    assert (tail.status, tail.body) == (206, a_wheel()[-22:])
    resumed = index.get(url, headers={"Range": "bytes=100-", "If-Range": whole.headers["etag"]})
    assert (resumed.status, resumed.body) == (206, a_wheel()[100:])
    assert index.get(url, headers={"Range": "bytes=100-", "If-Range": '"other"'}).status == 200
    assert index.get(url, headers={"Range": "bytes=999999-"}).status == 416


@pytest.mark.parametrize("wrong", ["other-1.0.0-py3-none-any.whl", f"{NAME}.metadata.metadata", f"{NAME}/x", ""])
def test_file_under_another_name_is_404(index: AnIndex, wrong: str) -> None:
    digest = hashlib.sha256(a_wheel()).hexdigest()
    assert index.get(f"/files/{digest}/{wrong}").status == 404
    assert index.get(f"/files/{'0' * 64}/{NAME}").status == 404
    assert index.get(f"/files/{digest.upper()}/{NAME}").status == 404


def test_sdist_has_no_sidecar_and_says_so(index: AnIndex) -> None:
    upload(index, an_sdist(), SDIST)
    file = page(index)["files"][1]
    assert (file["core-metadata"], file["dist-info-metadata"]) == (False, False)
    assert index.get(urljoin(PAGE, file["url"])).headers["content-type"] == "application/gzip"
    assert index.get(urljoin(PAGE, file["url"]) + ".metadata").status == 404


@pytest.mark.parametrize("path", [PAGE, "/simple/", "/simple/nope/", f"/files/{'0' * 64}/x.whl"])
def test_private_index_asks_for_basic_and_tells_nothing(tmp_path: Path, path: str) -> None:
    with an_index(tmp_path / "private", anonymous=Anonymous.NONE) as index:
        upload(index, a_wheel(), NAME)
        for headers in ({}, basic("skm_wrong"), basic(index.token, user="me")):
            answer = index.get(path, headers={**JSON, **headers})
            assert (answer.status, answer.headers["www-authenticate"].split()[0]) == (401, "Basic")
        good = index.get(path, headers={**JSON, **basic(index.token)})
        assert good.status == (404 if "nope" in path or "files" in path else 200)


@pytest.mark.parametrize("path", [PAGE, "/simple/", "/simple/Text_Tools/", "FILE", "FILE.metadata", "/v1/packs/text-tools/index.json", "/v1/packs/Text_Tools", "/v1/blobs/sha256/HEX", "/v1/packs", "/"])
@pytest.mark.parametrize("anonymous", list(Anonymous))
def test_only_what_all_may_read_is_for_caches_that_many_share(tmp_path: Path, path: str, anonymous: Anonymous) -> None:
    with an_index(tmp_path / "data", anonymous=anonymous) as index:
        upload(index, a_wheel(), NAME)
        digest = hashlib.sha256(a_wheel()).hexdigest()
        asked = path.replace("FILE", f"/files/{digest}/{NAME}").replace("HEX", digest)
        answer = index.get(asked, token=index.token)
        assert answer.status in (200, 301, 308)
        directives, is_lasting = answer.headers["cache-control"].split(", "), "FILE" in path or "HEX" in path
        assert ("immutable" in directives, "no-cache" in directives) == (is_lasting, not is_lasting)
        assert ("public" in directives) == (is_lasting and anonymous is Anonymous.READ)
        assert "private" in directives or anonymous is Anonymous.READ
        assert "Authorization" in answer.headers["vary"]
        again = index.get(asked, token=index.token, headers={"If-None-Match": answer.headers.get("etag", '"x"')})
        assert again.headers["cache-control"] == answer.headers["cache-control"]


def test_bad_token_is_401_even_where_none_is_needed(index: AnIndex) -> None:
    assert index.get(PAGE, headers=basic("skm_wrong")).status == 401


def set_state(index: AnIndex, version: str, state: str) -> None:
    from_version = ("UPDATE releases SET state = ? WHERE version = ?", (state, version))
    with index.parts.database.write() as connection:
        connection.exec_driver_sql(*from_version)


def test_quarantined_release_is_neither_listed_nor_served(index: AnIndex) -> None:
    url = urljoin(PAGE, page(index)["files"][0]["url"])
    set_state(index, "1.0.0", "quarantined")
    upload(index, a_wheel(version="1.1.0"), wheel_name(version="1.1.0"))
    body = page(index)
    assert ([file["filename"] for file in body["files"]], body["versions"]) == ([wheel_name(version="1.1.0")], ["1.1.0"])
    assert body["project-status"] == {"status": "active"}
    assert index.get(url).status == index.get(f"{url}.metadata").status == 404
    assert upload(index, a_wheel(extra={"text_tools/x.py": b""}), wheel_name(tag="cp311-none-any")).status == 409


def test_pack_whose_releases_are_all_quarantined_says_so(index: AnIndex) -> None:
    set_state(index, "1.0.0", "quarantined")
    # Any write of the page shows it; here an archive under another version, which this page doesn't list.
    index.publish(a_source(), name="text-tools", version="3.0.0")
    body = page(index)
    assert (body["files"], body["project-status"]) == ([], {"status": "quarantined"})
    assert 'content="quarantined"' in index.get(PAGE, headers=HTML).text


def test_versions_stand_oldest_first(index: AnIndex) -> None:
    for version in ("1.10.0", "1.2.0", "2.0.0rc1"):
        upload(index, a_wheel(version=version), wheel_name(version=version))
    assert page(index)["versions"] == ["1.0.0", "1.2.0", "1.10.0", "2.0.0rc1"]
    assert len(re.findall("<a ", index.get(PAGE, headers=HTML).text)) == 4
