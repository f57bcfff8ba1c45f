from __future__ import annotations

import logging
from urllib.parse import urljoin

import pytest

from market.client import wire
from tests.factories import RUN_SCRIPT, a_skill_json, a_source
from tests.index.builders import AnIndex, a_described_source

PACK = "/v1/packs/echo-args/index.json"
RELEASE = "/v1/packs/echo-args/1.0.0/index.json"


@pytest.fixture(autouse=True)
def _published(index: AnIndex) -> None:
    index.publish()


@pytest.mark.parametrize("path", [PACK, RELEASE])
def test_document_is_cached_by_its_etag(index: AnIndex, path: str) -> None:
    answer = index.get(path)
    assert (answer.status, answer.headers["cache-control"], answer.headers["content-type"]) == (200, "no-cache", "application/json")
    again = index.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    head = index.ask("HEAD", path)
    assert (head.status, head.body, head.headers) == (200, b"", answer.headers)


def test_pack_document_changes_with_a_release_and_the_old_releases_do_not(index: AnIndex) -> None:
    pack, release = index.get(PACK), index.get(RELEASE)
    index.publish(a_described_source("New."), version="1.1.0")
    assert index.get(PACK, headers={"If-None-Match": pack.headers["etag"]}).status == 200
    assert index.get(RELEASE, headers={"If-None-Match": release.headers["etag"]}).status == 304


@pytest.mark.parametrize("path", [PACK, RELEASE])
def test_links_are_relative_and_lead_to_the_archive(index: AnIndex, path: str) -> None:
    document = index.get(path).json
    link = (document.get("archive") or document["releases"][0]["archive"])["url"]
    assert not link.startswith(("/", "http"))
    assert index.get(urljoin(path, link)).headers["content-type"] == "application/zip"


def test_link_from_pack_to_release_is_relative(index: AnIndex) -> None:
    url = index.get(PACK).json["releases"][0]["url"]
    assert urljoin(PACK, url) == RELEASE


@pytest.mark.parametrize(
    ("path", "place"),
    [("/v1/packs/echo-args", PACK), ("/v1/packs/echo-args/", PACK), ("/v1/packs/Echo_Args/index.json", PACK), ("/v1/packs/echo.args", PACK),
     ("/v1/packs/echo-args/1.0.0", RELEASE), ("/v1/packs/echo-args/1/index.json", RELEASE), ("/v1/packs/ECHO-ARGS/v1.0", RELEASE)],
)  # fmt: skip
def test_other_spelling_is_sent_to_the_one_place(index: AnIndex, path: str, place: str) -> None:
    answer = index.get(path)
    assert (answer.status, urljoin(path, answer.headers["location"])) == (308, place)
    assert not answer.headers["location"].startswith("/")


@pytest.mark.parametrize(
    "path",
    ["/v1/packs/nope/index.json", "/v1/packs/nope", "/v1/packs/echo-args/9.9/index.json", "/v1/packs/echo-args/banana", "/v1/packs/%20/x",
     "/v1/packs/echo-args/1.0.0/skill.json", "/v1/packs//index.json", "/v1/packs/../../etc/passwd"],
)  # fmt: skip
def test_missing_is_a_404_that_names_it(index: AnIndex, path: str) -> None:
    answer = index.get(path)
    assert (answer.status, answer.json["code"]) == (404, "not-found")


def test_blob_by_range(index: AnIndex) -> None:
    archive = index.get(RELEASE).json["archive"]
    answer = index.get(wire.blob_path(archive["digest"]), headers={"Range": "bytes=0-3"})
    assert (answer.status, answer.body) == (206, b"PK\x03\x04")
    assert answer.headers["content-range"] == f"bytes 0-3/{archive['size']}"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", ["0" * 64, "x", "../../index.db", "A" * 64, ""])
def test_missing_or_odd_blob_is_404(index: AnIndex, name: str) -> None:
    assert index.get(f"/v1/blobs/sha256/{name}").status == 404


def test_documents_take_no_other_method(index: AnIndex) -> None:
    assert index.ask("DELETE", PACK, token=index.token).status in (404, 405)
    assert index.ask("POST", "/v1/packs", token=index.token).status == 405


def test_what_the_manifest_says_stands_in_the_release(index: AnIndex) -> None:
    manifest = b"name: full\nversion: 2.0.0\nsummary: All fields.\nlicense: MIT\nhomepage: https://example.org\nkeywords: [disk, clean]\nrequires: ['echo-args>=1']\nneeds: {os: [linux], bins: [sh]}\n"
    source = a_source({"pack.yaml": manifest, "skill.json": a_skill_json(), "run.sh": RUN_SCRIPT})
    assert index.publish(source, name="full", version="2.0.0").status == 201
    release = wire.parse_document(wire.ReleaseDocument, index.get(wire.release_path("full", "2.0.0")).json)
    assert (release.summary, release.license, release.homepage) == ("All fields.", "MIT", "https://example.org")
    assert (release.keywords, release.requires, release.needs) == (("disk", "clean"), ("echo-args>=1",), {"os": ["linux"], "bins": ["sh"]})
    row = wire.parse_document(wire.PackDocument, index.get(wire.pack_path("full")).json).releases[0]
    assert (row.requires, row.needs) == (release.requires, release.needs)


@pytest.mark.parametrize("path", [PACK, "/simple/echo-args/"])
def test_fault_of_the_database_is_answered_as_an_error(index: AnIndex, path: str) -> None:
    index.parts.reader.close()
    answer = index.get(path)
    assert (answer.status, answer.json["code"]) == (500, "server-fault")


@pytest.mark.parametrize("path", [PACK, RELEASE])
def test_answer_is_the_same_with_a_token_and_at_the_level_debug(index: AnIndex, path: str) -> None:
    plain = index.get(path)
    assert index.get(path, token=index.token) == plain
    logging.getLogger("market.web").setLevel(logging.DEBUG)
    try:
        assert index.get(path) == plain
    finally:
        logging.getLogger("market.web").setLevel(logging.NOTSET)


def test_bad_token_is_refused_where_none_is_needed(index: AnIndex) -> None:
    assert index.get(PACK, token="skm_wrong").status == 401
