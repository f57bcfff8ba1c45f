from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from market.errors import Untrusted
from market.installer.composition import Composition, Dependency
from market.installer.receipt import (
    Origin,
    Receipt,
    decode_receipt,
    encode_receipt,
    load_receipt,
    load_receipts,
    parse_receipt,
)
from market.names import Digest
from tests.installer.builders import NOW, an_arrival, install

if TYPE_CHECKING:
    from market.installer.root import Root


def a_receipt() -> Receipt:
    verified = an_arrival().verified
    origin = Origin("index", "https://index.example/é.zip", "https://index.example")
    return Receipt(
        verified.name,
        verified.version,
        "acme",
        origin,
        verified.archive_digest,
        verified.tree_digest,
        verified.record,
        NOW,
    )


def test_a_receipt_survives_its_file() -> None:
    receipt = a_receipt()
    assert decode_receipt(encode_receipt(receipt), "x") == receipt
    assert json.loads(encode_receipt(receipt))["schema"] == 1
    assert encode_receipt(receipt) == encode_receipt(a_receipt())


def test_what_a_wheel_is_composed_of_survives_too_and_an_older_receipt_has_none() -> None:
    pins = (Dependency("six", "1.0", ("sha256:" + "a" * 64,)),)
    receipt = replace(a_receipt(), composition=Composition(Digest("sha256:" + "b" * 64), pins, ("numpy",)))
    values = json.loads(encode_receipt(receipt))
    assert values["dependencies"] == [{"name": "six", "version": "1.0", "hashes": ["sha256:" + "a" * 64]}]
    assert (values["release"], values["left_out"]) == (receipt.published_digest, ["numpy"])
    assert decode_receipt(encode_receipt(receipt), "x") == receipt
    for field in ("release", "dependencies", "left_out"):
        del values[field]
    assert parse_receipt(values, "x") == a_receipt()
    assert a_receipt().published_digest == a_receipt().tree_digest


def test_the_time_is_kept_in_utc() -> None:
    receipt = replace(a_receipt(), installed_at=NOW.astimezone(timezone(timedelta(hours=9))))
    assert encode_receipt(receipt) == encode_receipt(a_receipt())
    assert receipt.stamp_ns == int(NOW.timestamp()) * 10**9


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"schema": None}, {"name": "/etc"}, {"version": "x y"}, {"tree_digest": "sha256:" + "0" * 64}, {"record": [[1]]},
        {"origin": {}}, {"installed_at": "yesterday"}, {"installed_at": "2026-01-01T00:00:00"}, {"archive_digest": None},
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_its_place(change: dict[str, Any]) -> None:
    values = {**json.loads(encode_receipt(a_receipt())), **change}
    with pytest.raises(Untrusted, match="the-place"):
        decode_receipt(json.dumps(values).encode(), "the-place")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"null"])
def test_broken_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(Untrusted):
        decode_receipt(content, "x")


def test_receipts_are_found_by_name(root: Root) -> None:
    assert load_receipts(root) == ()
    install(root, an_arrival("b-pack"), an_arrival("a-pack"))
    assert [receipt.name for receipt in load_receipts(root)] == ["a-pack", "b-pack"]
    assert load_receipt(root, "c-pack") is None
