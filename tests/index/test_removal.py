"""A deleted release: gone from every face, list and search, and its version never means other bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from index.removal import delete_release
from market.errors import NotFound
from market.names import parse_pack_name, parse_version
from tests.index.builders import a_described_source, an_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.index.builders import AnIndex

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[AnIndex]:
    with an_index(tmp_path) as found:
        assert found.publish(a_described_source("Shout an echo."), version="1.0.0").status == 201
        assert found.publish(a_described_source("Shout it twice."), version="1.1.0").status == 201
        yield found


def delete(index: AnIndex, version: str) -> str:
    return delete_release(index.parts.database, parse_pack_name("echo-args"), parse_version(version), "harmful", NOW)


def test_the_newest_gives_way_to_the_one_before(index: AnIndex) -> None:
    assert delete(index, "1.1") == "1.1.0"
    document = index.get("/v1/packs/echo-args/index.json").json
    assert document["latest"] == "1.0.0"
    assert [(row["version"], row["state"]) for row in document["releases"]] == [("1.1.0", "deleted"), ("1.0.0", "live")]
    assert index.get("/v1/search?q=shout").json["items"][0]["version"] == "1.0.0"


def test_a_pack_of_which_all_is_deleted_is_in_no_list_and_not_found_by_its_name(index: AnIndex) -> None:
    delete(index, "1.0.0")
    delete(index, "1.1.0")
    assert index.get("/v1/packs").json["items"] == []
    assert index.get("/v1/search?q=echo-args").json["items"] == []


def test_a_deleted_version_is_never_given_again(index: AnIndex) -> None:
    delete(index, "1.1.0")
    for words in ("Shout it twice.", "Something else."):
        answer = index.publish(a_described_source(words), version="1.1.0")
        assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert index.publish(a_described_source("Better."), version="1.1.1").status == 201


def test_deleting_again_changes_nothing(index: AnIndex) -> None:
    delete(index, "1.1.0")
    before = index.get("/v1/packs/echo-args/index.json").body
    assert delete(index, "1.1.0") == "1.1.0"
    assert index.get("/v1/packs/echo-args/index.json").body == before


def test_what_never_was_is_not_found(index: AnIndex) -> None:
    with pytest.raises(NotFound):
        delete(index, "9.0")
