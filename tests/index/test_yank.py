from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.index.builders import a_described_source
from tests.index.uploads import upload
from tests.index.wheels import a_wheel, wheel_name

if TYPE_CHECKING:
    from tests.index.builders import AnIndex
    from tests.web.asgi import Answer

JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}
PACK = "/v1/packs/text-tools/index.json"


@pytest.fixture(autouse=True)
def _published(index: AnIndex) -> None:
    for version in ("1.0.0", "1.1.0"):
        assert upload(index, a_wheel(version=version), wheel_name(version=version)).status == 200


def yank(index: AnIndex, version: str = "1.1.0", reason: str | None = "loses files", *, method: str = "POST", token: str = "") -> Answer:
    body = b"" if reason is None else json.dumps({"reason": reason}).encode()
    return index.ask(method, f"/v1/packs/text-tools/{version}/yank", token=token or index.token, body=body)


def test_every_face_follows_at_once(index: AnIndex) -> None:
    answer = yank(index)
    assert (answer.status, answer.json) == (
        200, {"name": "text-tools", "version": "1.1.0", "state": "yanked", "yanked_reason": "loses files", "changed": True},
    )  # fmt: skip
    document = index.get(PACK).json
    assert (document["latest"], document["releases"][0]["state"], document["releases"][0]["yanked_reason"]) == ("1.0.0", "yanked", "loses files")
    release = index.get("/v1/packs/text-tools/1.1.0/index.json").json
    assert (release["state"], release["yanked_reason"]) == ("yanked", "loses files")
    files = index.get("/simple/text-tools/", headers=JSON).json["files"]
    assert [file["yanked"] for file in files] == [False, "loses files"]
    assert index.get("/v1/search?q=shout").json["items"][0]["version"] == "1.0.0"
    assert "loses files" in index.get("/packs/text-tools/1.1.0", headers={"Accept": "text/html"}).text
    assert index.get(f"/simple/text-tools/{files[1]['url']}".replace("/simple/text-tools/../..", "")).status == 200


def test_unyank_brings_it_back(index: AnIndex) -> None:
    before = [index.get(path, headers=JSON).body for path in (PACK, "/simple/text-tools/", "/v1/packs/text-tools/1.1.0/index.json")]
    yank(index)
    answer = yank(index, method="DELETE", reason=None)
    assert (answer.status, answer.json["state"], answer.json["changed"]) == (200, "live", True)
    after = [index.get(path, headers=JSON).body for path in (PACK, "/simple/text-tools/", "/v1/packs/text-tools/1.1.0/index.json")]
    assert after == before


def test_pack_without_an_installable_release_is_in_no_list(index: AnIndex) -> None:
    index.publish(a_described_source("Shout an echo."), name="echo-args")
    for version in ("1.0.0", "1.1.0"):
        yank(index, version)
    assert [item["name"] for item in index.get("/v1/packs").json["items"]] == ["echo-args"]
    assert [item["name"] for item in index.get("/v1/search?q=shout").json["items"]] == ["echo-args"]
    assert index.get(PACK).json["latest"] == ""
    yank(index, "1.0.0", None, method="DELETE")
    assert {item["name"] for item in index.get("/v1/search?q=shout").json["items"]} == {"echo-args", "text-tools"}


def test_search_finds_the_words_of_the_release_that_is_taken(index: AnIndex) -> None:
    index.publish(a_described_source("Old words."), name="echo-args", version="1.0.0")
    index.publish(a_described_source("Fresh sentence."), name="echo-args", version="2.0.0")
    index.ask("POST", "/v1/packs/echo-args/2/yank", token=index.token)
    assert index.get("/v1/search?q=fresh").json["items"] == []
    assert [item["version"] for item in index.get("/v1/search?q=old").json["items"]] == ["1.0.0"]


def test_yank_does_not_move_a_pack_to_the_top(index: AnIndex) -> None:
    index.clock.move(hours=1)
    index.publish(name="echo-args")
    index.clock.move(hours=1)
    yank(index)
    assert [item["name"] for item in index.get("/v1/packs").json["items"]] == ["echo-args", "text-tools"]


def test_again_changes_nothing_and_another_reason_replaces_it(index: AnIndex) -> None:
    yank(index)
    etag = index.get(PACK).headers["etag"]
    assert yank(index).json["changed"] is False
    assert index.get(PACK).headers["etag"] == etag
    assert yank(index, reason="worse than that").json["changed"] is True
    assert index.get(PACK).json["releases"][0]["yanked_reason"] == "worse than that"
    assert yank(index, "1.0.0", None, method="DELETE").json["changed"] is False


def test_without_a_reason_it_is_simply_yanked(index: AnIndex) -> None:
    yank(index, "1", None)
    assert index.get("/simple/text-tools/", headers=JSON).json["files"][0]["yanked"] is True


def test_who_may(index: AnIndex) -> None:
    assert index.ask("POST", "/v1/packs/text-tools/1.0.0/yank").status == 401
    assert yank(index, token=index.a_token("rival")).status == 403
    assert yank(index, token=index.a_token("acme", scopes=["read"])).status == 403
    assert index.get(PACK).json["latest"] == "1.1.0"


@pytest.mark.parametrize("version", ["9.9", "1.1.1"])
def test_missing_release(index: AnIndex, version: str) -> None:
    assert yank(index, version).status == 404
    assert index.ask("POST", "/v1/packs/nope/1.0/yank", token=index.token).status == 404


@pytest.mark.parametrize("state", ["held", "quarantined", "deleted"])
def test_other_states_stay(index: AnIndex, state: str) -> None:
    with index.parts.database.write() as connection:
        connection.exec_driver_sql("UPDATE releases SET state = ? WHERE version = '1.1.0'", (state,))
    assert yank(index).status == 409
    assert yank(index, reason=None, method="DELETE").status == 409


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"reason": 1}', b'{"reason": "' + b"x" * 301 + b'"}', b'{"reason": "a\\u0007"}'])
def test_odd_reason_is_refused(index: AnIndex, body: bytes) -> None:
    assert index.ask("POST", "/v1/packs/text-tools/1.1.0/yank", token=index.token, body=body).status == 422


def test_yank_is_in_the_audit(index: AnIndex) -> None:
    yank(index)
    yank(index)
    yank(index, reason=None, method="DELETE")
    with index.parts.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT act, subject FROM audit WHERE act LIKE '%yank' ORDER BY id").all()
    assert rows == [("yank", "text-tools 1.1.0"), ("unyank", "text-tools 1.1.0")]
