from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from index.accounts import hash_secret, list_tokens, revoke_token
from index.settings import Anonymous
from market.client.wire import WhoAmI, parse_document
from market.errors import InvalidInput, NotFound
from tests.index.builders import START, AnIndex, an_index

if TYPE_CHECKING:
    from pathlib import Path

READS = ["/v1/packs", "/v1/search?q=x", "/v1/packs/echo-args/index.json", "/v1/packs/echo-args/1.0.0/index.json", "/", "/packs/echo-args"]


@pytest.mark.parametrize("url", READS)
def test_open_index_is_read_without_a_token_and_a_bad_token_is_401_all_the_same(index: AnIndex, url: str) -> None:
    index.publish()
    assert index.get(url).status == 200
    answer = index.get(url, token="skm_wrong")
    assert (answer.status, "www-authenticate" in answer.headers) == (401, True)


def test_blob_checks_the_token_too(index: AnIndex) -> None:
    digest = index.publish().json["archive_digest"].partition(":")[2]
    assert index.get(f"/v1/blobs/sha256/{digest}").status == 200
    assert index.get(f"/v1/blobs/sha256/{digest}", token="bad").status == 401


@pytest.mark.parametrize("url", READS)
def test_closed_index_wants_a_token_for_everything(tmp_path: Path, url: str) -> None:
    with an_index(tmp_path / "data", anonymous=Anonymous.NONE) as index:
        index.publish()
        assert index.get(url).status == 401
        assert index.get(url, token=index.token).status == 200
        assert index.get("/healthz").status == 200


def test_bearer_header_of_another_shape_is_401(index: AnIndex) -> None:
    assert index.get("/v1/packs", headers={"Authorization": "Basic eDp5"}).status == 401


def test_whoami(index: AnIndex) -> None:
    known = parse_document(WhoAmI, index.get("/v1/whoami", token=index.token).json)
    assert (known.publisher, known.scopes, known.token_prefix, known.expires_at) == ("acme", ("publish", "read"), index.token[:12], "")
    assert index.get("/v1/whoami").status == 401


def test_expired_token_stops_working(index: AnIndex) -> None:
    token = index.a_token("acme", expires_at=START + timedelta(days=1))
    assert index.get("/v1/whoami", token=token).json["expires_at"] == "2026-01-03T03:04:05.000Z"
    index.clock.move(days=1)
    assert index.get("/v1/whoami", token=token).status == 401


def test_revoked_token_stops_working_at_once(index: AnIndex) -> None:
    token = index.a_token("acme")
    assert index.get("/v1/whoami", token=token).status == 200
    with index.parts.database.write() as connection:
        assert revoke_token(connection, token[:10], START).publisher == "acme"
    assert index.get("/v1/whoami", token=token).status == 401
    with index.parts.database.write() as connection, pytest.raises(NotFound):
        revoke_token(connection, token[:10], START)


def test_prefix_of_several_tokens_revokes_none(index: AnIndex) -> None:
    index.a_token("acme")
    with index.parts.database.write() as connection:
        with pytest.raises(InvalidInput):
            revoke_token(connection, "skm_", START)
        with pytest.raises(NotFound):
            revoke_token(connection, "", START)
    with index.parts.database.read() as connection:
        assert all(token.revoked_at == "" for token in list_tokens(connection))


def test_secret_is_random_and_kept_nowhere(index: AnIndex, tmp_path: Path) -> None:
    assert index.token.startswith("skm_")
    assert len(index.token) == 4 + 43
    assert index.a_token("acme") != index.token
    for path in (tmp_path / "data").iterdir():
        if path.is_file():
            assert index.token.encode() not in path.read_bytes()
    row = index.parts.reader.token(hash_secret(index.token))
    assert row is not None


def test_last_use_is_noted_but_not_at_every_read(index: AnIndex) -> None:
    def last_used() -> str:
        with index.parts.database.read() as connection:
            return list_tokens(connection)[0].last_used_at

    assert last_used() == ""
    index.get("/v1/whoami", token=index.token)
    assert last_used() == "2026-01-02T03:04:05.000Z"
    index.clock.move(seconds=10)
    index.get("/v1/whoami", token=index.token)
    assert last_used() == "2026-01-02T03:04:05.000Z"
    index.clock.move(minutes=10)
    index.get("/v1/whoami", token=index.token)
    assert last_used() == "2026-01-02T03:14:15.000Z"


def test_token_that_may_only_publish_may_not_read_a_closed_index(tmp_path: Path) -> None:
    with an_index(tmp_path / "data", anonymous=Anonymous.NONE) as index:
        assert index.get("/v1/packs", token=index.a_token("acme", scopes=["publish"])).status == 403
