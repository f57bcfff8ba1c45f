from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from market.client.cache import ArchiveCache
from market.client.index_client import IndexClient
from market.errors import Conflict, NotFound, Unauthenticated, Unavailable, Untrusted
from market.pack.build import archive_pack
from market.pack.inspect import Given
from tests.factories import a_skill_json, a_source
from tests.fake_index import TOKEN, URL, FakeIndex, an_index_with

if TYPE_CHECKING:
    from pathlib import Path


def an_archive(version: str = "1.0.0", body: bytes = b"#!/bin/sh\ncat\n") -> bytes:
    out = io.BytesIO()
    archive_pack(a_source({"skill.json": a_skill_json(version=version), "run.sh": body}), Given(), out)
    return out.getvalue()


def a_client(index: FakeIndex, tmp_path: Path, token: str = TOKEN, url: str = URL) -> IndexClient:
    return IndexClient(index, url, token, cache=ArchiveCache(tmp_path / "cache"))


def publish(client: IndexClient, archive: bytes, version: str = "1.0.0") -> bool:
    return client.publish("echo-args", version, io.BytesIO(archive), len(archive)).created


def test_what_was_published_is_found_and_downloaded_once(tmp_path: Path) -> None:
    index = FakeIndex()
    client, archive = a_client(index, tmp_path), an_archive()
    assert publish(client, archive) is True
    assert publish(client, archive) is False
    assert client.pack("echo-args").latest == "1.0.0"
    release = client.release("echo-args", "1.0.0")
    for _ in range(2):
        with client.download_archive(release) as stream:
            assert stream.read() == archive
    assert [path for method, path, _ in index.requests if "/blobs/" in path] == [
        f"{URL}/v1/blobs/sha256/{release.archive.digest[7:]}"
    ]


def test_another_tree_under_a_version_is_a_conflict(tmp_path: Path) -> None:
    client = a_client(FakeIndex(), tmp_path)
    publish(client, an_archive())
    with pytest.raises(Conflict):
        publish(client, an_archive(body=b"#!/bin/sh\ntac\n"))


def test_an_unknown_pack_names_the_index(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        a_client(FakeIndex(), tmp_path).pack("nothing")
    assert URL in caught.value.hint and "market search nothing" in caught.value.hint


def test_whose_token_it_is(tmp_path: Path) -> None:
    assert a_client(FakeIndex(), tmp_path).whoami().publisher == "alice"
    with pytest.raises(Unauthenticated):
        a_client(FakeIndex(), tmp_path, token="skm_wrong").whoami()


@pytest.mark.parametrize("answer", [[], "x", {}, {"name": 1}, {"items": [], "total": "many"}])
def test_a_document_of_another_shape_says_so(tmp_path: Path, answer: object) -> None:
    index = an_index_with(an_archive())
    index.change_answer = lambda path, _: answer
    client = a_client(index, tmp_path)
    for ask in (
        lambda: client.pack("echo-args"),
        lambda: client.packs(10),
        lambda: client.search("x", 10),
        client.whoami,
    ):
        with pytest.raises(Unavailable, match="something else than Market's protocol") as caught:
            ask()
        assert URL in caught.value.why


def test_bytes_that_the_document_does_not_promise_are_refused(tmp_path: Path) -> None:
    index = an_index_with(an_archive())
    index.change_archive = lambda archive: archive[:-1] + b"\1"
    client = a_client(index, tmp_path)
    with pytest.raises(Untrusted):
        client.download_archive(client.release("echo-args", "1.0.0"))


@pytest.mark.parametrize("changes", [{"size": 0}, {"size": 1 << 40}, {"url": "file:///etc/passwd"}])
def test_a_link_that_can_t_be_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    index = an_index_with(an_archive())

    def change(path: str, answer: object) -> object:
        assert isinstance(answer, dict)
        return {**answer, "archive": {**answer["archive"], **changes}}

    client = a_client(index, tmp_path)
    index.change_answer = change
    with pytest.raises(Untrusted):
        client.download_archive(client.release("echo-args", "1.0.0"))


def test_a_token_does_not_follow_an_archive_to_another_origin(tmp_path: Path) -> None:
    index = an_index_with(an_archive())

    def change(path: str, answer: object) -> object:
        assert isinstance(answer, dict)
        return {
            **answer,
            "archive": {
                **answer["archive"],
                "url": answer["archive"]["url"].replace("../../../", "http://cdn.test/v1/"),
            },
        }

    index.change_answer = change
    client = a_client(index, tmp_path)
    client.download_archive(client.release("echo-args", "1.0.0")).close()
    assert index.requests[-1][1].startswith("http://cdn.test/") and index.requests[-1][2] == ""


def test_lists_are_read_over_pages_of_the_same_origin(tmp_path: Path) -> None:
    index = an_index_with(an_archive())
    row = a_client(index, tmp_path).packs(10).items[0]
    pages = {"/v1/packs": ("?cursor=2", "a"), "/v1/packs?cursor=2": ("http://evil.test/v1/packs", "b")}

    def change(path: str, answer: object) -> object:
        following, name = pages["/v1/packs?cursor=2" if "cursor" in index.requests[-1][1] else "/v1/packs"]
        return {"items": [{**_plain(row), "name": name}], "total": 9, "next": following}

    index.change_answer = change
    found = a_client(index, tmp_path).packs(10)
    assert [one.name for one in found.items] == ["a", "b"]
    assert all("evil" not in url for _, url, _ in index.requests)


def _plain(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("version", "publisher", "summary", "updated_at", "url", "skills")}
