from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.client import wire

ARCHIVE = {"digest": "sha256:" + "0" * 64, "size": 10, "url": "../../blobs/sha256/00"}
RELEASE: dict[str, Any] = {
    "version": "1.0.0",
    "state": "live",
    "published_at": "2026-01-01T00:00:00Z",
    "tree_digest": "sha256:" + "1" * 64,
    "archive": ARCHIVE,
    "url": "1.0.0/index.json",
}
PACK: dict[str, Any] = {
    "name": "a",
    "publisher": "p",
    "summary": "",
    "latest": "1.0.0",
    "updated_at": "",
    "releases": [RELEASE],
}


def test_a_document_survives_the_round_trip() -> None:
    document = wire.parse_document(wire.PackDocument, PACK)
    again = wire.parse_document(wire.PackDocument, json.loads(json.dumps(wire.dump_document(document))))
    assert again == document
    assert document.releases[0].archive.size == 10


def test_unknown_fields_of_a_newer_index_are_ignored() -> None:
    assert wire.parse_document(wire.PackDocument, {**PACK, "stars": 5}).name == "a"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"releases": None}, "document.releases"),
        ({"releases": [{**RELEASE, "archive": {**ARCHIVE, "size": "10"}}]}, "document.releases[0].archive.size"),
        ({"releases": [{**RELEASE, "archive": {**ARCHIVE, "size": True}}]}, "document.releases[0].archive.size"),
        ({"tags": {"beta": 1}}, "document.tags.beta"),
        ({"name": 3}, "document.name"),
    ],
)
def test_a_wrong_shape_names_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(wire.BadDocument, match=place.replace("[", r"\[")):
        wire.parse_document(wire.PackDocument, {**PACK, **change})


def test_a_missing_field_is_named() -> None:
    with pytest.raises(wire.BadDocument, match="latest"):
        wire.parse_document(wire.PackDocument, {key: value for key, value in PACK.items() if key != "latest"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "releases", "archive", "items"]), inner, max_size=3)
    ),
)


@given(JSON, st.sampled_from([wire.PackDocument, wire.ReleaseDocument, wire.PackList, wire.Published, wire.WhoAmI]))
def test_rubbish_is_a_bad_document_and_nothing_else(data: object, shape: type[object]) -> None:
    with pytest.raises(wire.BadDocument):
        wire.parse_document(shape, data)


def test_links_in_documents_are_relative_to_them() -> None:
    digest = "sha256:" + "a" * 64
    assert wire.blob_link(digest, depth=2) == "../../blobs/sha256/" + "a" * 64
    assert wire.pack_path("a") == "/v1/packs/a/index.json"
    assert wire.release_path("a", "1.0") == "/v1/packs/a/1.0/index.json"
