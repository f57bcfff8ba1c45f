"""Receipts: the proof on disk that a pack was installed, written last. What stands there now is `tree_state.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from market.disk.failures import disk_failures
from market.errors import MarketError, Untrusted
from market.installer.composition import Composition, dump_composition, parse_composition
from market.names import Digest, PackName, Version, parse_digest, parse_pack_name, parse_version
from market.pack.record import Record, dump_record, parse_record
from market.pack.wheel_tree import own_digest

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root

RECEIPT_SCHEMA = 1
BUNDLE_KIND = "bundle"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a pack came from. `kind` is index, folder, archive, url, upload or bundle, `location` a URL or a path, `index` a URL."""

    kind: str
    location: str
    index: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A release that stood here before, and whose archive is kept: all that a rollback needs."""

    version: Version
    publisher: str
    origin: Origin
    archive_digest: Digest
    tree_digest: Digest


@dataclass(frozen=True, slots=True)
class Accepted:
    """That somebody accepted the edits of a tree: when, and the tree digest of the release that was edited."""

    at: datetime
    release_digest: Digest


@dataclass(frozen=True, slots=True)
class PartOf:
    """The pack that one skill's directory was made of, in a root of layout `skills`."""

    name: PackName
    tree_digest: Digest


@dataclass(frozen=True)
class Receipt:
    """One installed directory: a pack, or with `part_of` one skill of it. `publisher` is empty where no index vouched for one.

    `installed_at` is UTC; the digest of the archive is always the pack's. `transaction` is the one that put it there, `earlier`
    what stood there before, the last one first. After `accepted` edits, record and tree digest are those of the edited tree.
    `composition` is the release's own, of a wheel pack; None for any other, and where an earlier Market pinned no dependencies.
    """

    name: PackName
    version: Version
    publisher: str
    origin: Origin
    archive_digest: Digest
    tree_digest: Digest
    record: Record
    installed_at: datetime
    part_of: PartOf | None = None
    transaction: str = ""
    earlier: tuple[Earlier, ...] = ()
    accepted: Accepted | None = None
    composition: Composition | None = None

    @property
    def release_digest(self) -> Digest:
        """The tree digest of the release, whatever was changed and accepted since."""
        return self.accepted.release_digest if self.accepted else self.pack_tree_digest

    @property
    def published_digest(self) -> Digest:
        """The tree digest under which an index knows the release: of a wheel without what was fetched for it."""
        return self.composition.release if self.composition else own_digest(self.record)

    @property
    def checked_composition(self) -> Composition | None:
        """What it is composed of, where each part was held against its hash here. Of a bundle its maker alone says that."""
        return None if self.origin.kind == BUNDLE_KIND else self.composition

    @property
    def pack_name(self) -> PackName:
        """The pack's name, also where this is one skill of it."""
        return self.part_of.name if self.part_of else self.name

    @property
    def pack_tree_digest(self) -> Digest:
        """The identity of the pack as it was published, also where this is one skill of it."""
        return self.part_of.tree_digest if self.part_of else self.tree_digest

    @property
    def stamp_ns(self) -> int:
        """The modification time that every unpacked file got: one that still has it, and its size, needs no hashing."""
        return stamp_of(self.installed_at)


def stamp_of(moment: datetime) -> int:
    """Return a moment's whole seconds as nanoseconds; an edit falls on them once in a billion."""
    return int(moment.timestamp()) * 1_000_000_000


def dump_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON values."""
    part_of = receipt.part_of
    return {
        "schema": RECEIPT_SCHEMA,
        "name": receipt.name,
        "version": receipt.version.text,
        "publisher": receipt.publisher,
        "origin": _dump_origin(receipt.origin),
        "archive_digest": receipt.archive_digest,
        "tree_digest": receipt.tree_digest,
        "installed_at": _dump_time(receipt.installed_at),
        "transaction": receipt.transaction,
        "earlier": [_dump_earlier(row) for row in receipt.earlier],
        **({"accepted": _dump_accepted(receipt.accepted)} if receipt.accepted else {}),
        **({"part_of": {"name": part_of.name, "tree_digest": part_of.tree_digest}} if part_of else {}),
        **dump_composition(receipt.composition),
        "record": dump_record(receipt.record),
    }


def parse_receipt(values: Any, where: str) -> Receipt:
    """Read JSON values made by `dump_receipt`; raises `Untrusted`, naming `where`, for anything else."""
    match values:
        case {
            "schema": 1,
            "name": str(name),
            "version": str(version),
            "publisher": str(publisher),
            "origin": dict(origin),
        }:
            return _parse_fields(values, where, name, version, publisher, origin)
        case {"schema": int(schema)} if schema > RECEIPT_SCHEMA:
            raise Untrusted(
                f"{where} was written by a newer Market", why=f"it has schema {schema}", hint="upgrade Market"
            )
    raise _unreadable(where, "fields are missing")


def encode_receipt(receipt: Receipt) -> bytes:
    """Return the bytes of a receipt's file; the same receipt gives the same bytes."""
    return json.dumps(dump_receipt(receipt), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode_receipt(content: bytes, where: str) -> Receipt:
    """Read the bytes of a receipt's file; raises `Untrusted` naming `where`."""
    try:
        values = json.loads(content)
    except ValueError as error:
        raise _unreadable(where, str(error)) from None
    return parse_receipt(values, where)


def load_receipt(root: Root, name: str) -> Receipt | None:
    """Return a pack's receipt as it is on disk, or None. An open intent may know better: see `tree_state.read_unit`."""
    content = load_receipt_bytes(root.receipt(name))
    return None if content is None else decode_receipt(content, str(root.receipt(name)))


def load_receipts(root: Root) -> tuple[Receipt, ...]:
    """Return all receipts of a root in the order of names; none where the root has no state yet."""
    return tuple(receipt for name in receipt_names(root) if (receipt := load_receipt(root, name)) is not None)


def load_pack_receipts(root: Root) -> dict[str, Receipt]:
    """Return one receipt a pack, by the pack's name; of several skills of one, that which knows most of earlier releases."""
    found: dict[str, Receipt] = {}
    for receipt in load_receipts(root):
        known = found.get(receipt.pack_name)
        if known is None or len(receipt.earlier) > len(known.earlier):
            found[receipt.pack_name] = receipt
    return found


def receipt_names(root: Root) -> tuple[str, ...]:
    """Return the names of the packs that have a receipt, sorted."""
    with disk_failures("read the receipts in", root.receipts):
        if not root.receipts.is_dir():
            return ()
        return tuple(sorted(path.stem for path in root.receipts.glob("[!.]*.json")))


def load_receipt_bytes(path: Path) -> bytes | None:
    """Return a receipt's bytes, or None where there is none."""
    with disk_failures("read the receipt", path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _parse_fields(
    values: dict[str, Any], where: str, name: str, version: str, publisher: str, origin: dict[str, Any]
) -> Receipt:
    try:
        receipt = Receipt(
            parse_pack_name(name),
            parse_version(version),
            publisher,
            _parse_origin(origin),
            parse_digest(values["archive_digest"]),
            parse_digest(values["tree_digest"]),
            parse_record(values["record"]),
            datetime.fromisoformat(values["installed_at"]),
            _parse_part_of(values.get("part_of")),
            # A receipt of an earlier Market has none of these.
            str(values.get("transaction", "")),
            tuple(_parse_earlier(row) for row in values.get("earlier", ())),
            _parse_accepted(values.get("accepted")),
            parse_composition(values),
        )
    except (MarketError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(where, str(error)) from None
    if receipt.record.tree_digest != receipt.tree_digest or receipt.installed_at.tzinfo is None:
        raise _unreadable(where, "its tree digest is not the one of its record")
    return receipt


def _parse_part_of(values: Any) -> PartOf | None:
    return PartOf(parse_pack_name(values["name"]), parse_digest(values["tree_digest"])) if values else None


def _dump_earlier(row: Earlier) -> dict[str, Any]:
    return {
        "version": row.version.text,
        "publisher": row.publisher,
        "origin": _dump_origin(row.origin),
        "archive_digest": row.archive_digest,
        "tree_digest": row.tree_digest,
    }


def _parse_earlier(values: dict[str, Any]) -> Earlier:
    return Earlier(
        parse_version(values["version"]),
        str(values["publisher"]),
        _parse_origin(values["origin"]),
        parse_digest(values["archive_digest"]),
        parse_digest(values["tree_digest"]),
    )


def _dump_accepted(accepted: Accepted) -> dict[str, str]:
    return {"at": _dump_time(accepted.at), "release_digest": accepted.release_digest}


def _parse_accepted(values: Any) -> Accepted | None:
    return Accepted(datetime.fromisoformat(values["at"]), parse_digest(values["release_digest"])) if values else None


def _dump_origin(origin: Origin) -> dict[str, str]:
    return {"kind": origin.kind, "location": origin.location, "index": origin.index}


def _parse_origin(values: dict[str, Any]) -> Origin:
    return Origin(str(values["kind"]), str(values["location"]), str(values["index"]))


def _dump_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _unreadable(where: str, why: str) -> Untrusted:
    return Untrusted(f"{where} can't be read", why=why, hint="reinstall the pack")
