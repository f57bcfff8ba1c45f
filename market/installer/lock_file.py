"""`market.lock` as a value and as text: which packs, exactly, stand in a root. Reading and writing the file is the caller's. Pure.

One block a pack, in the order of names, each field on its own line: two branches that change different packs merge by lines.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput, MarketError
from market.installer.composition import Composition, dump_dependency, parse_dependencies
from market.installer.receipt import Origin
from market.names import Digest, PackName, Version, parse_digest, parse_pack_name, parse_publisher_name, parse_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.installer.receipt import Receipt

LOCK_NAME = "market.lock"
LOCK_SCHEMA = 1
MAX_LOCK_BYTES = 16 << 20
HEAD = (
    "# Written by Market: `market sync` makes a root equal this file, `market install --locked` installs what it names.\n"
    "# Keep it with the project. After a merge, let `market sync` check it; don't edit digests by hand.\n"
)


@dataclass(frozen=True, slots=True)
class LockedPack:
    """One pack of a lock file. `publisher` is empty where no index vouched for one.

    An origin of kind index is asked for again by name and version; the location of another kind may be relative to the file.
    `composition` is that of a wheel pack: `archive_digest` and `tree_digest` are then of what was made of it on one machine.
    """

    name: PackName
    version: Version
    publisher: str
    origin: Origin
    archive_digest: Digest
    tree_digest: Digest
    composition: Composition | None = None

    def is_same(self, version: str, tree_digest: str, composition: Composition | None) -> bool:
        """Answer whether a pack is this one: the same tree, or of a wheel the same release with the same pinned dependencies.

        Another Python or system takes other files of these; each was held against its hashes.
        """
        is_made_alike = self.composition is not None and composition == self.composition
        return version == self.version.text and (tree_digest == self.tree_digest or is_made_alike)

    def is_standing(self, receipt: Receipt) -> bool:
        """Answer whether a receipt is of this pack, of this publisher, and no accepted edit made another tree of it."""
        return (
            receipt.accepted is None
            and receipt.publisher == self.publisher
            and self.is_same(receipt.version.text, receipt.pack_tree_digest, receipt.checked_composition)
        )


@dataclass(frozen=True)
class Lock:
    """A lock file: packs in the order of names. `root` is relative to the file's folder; empty stands for the default root."""

    packs: tuple[LockedPack, ...] = ()
    root: str = ""
    layout: str = ""
    by_name: Mapping[str, LockedPack] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.packs, key=lambda pack: pack.name))
        object.__setattr__(self, "packs", ordered)
        object.__setattr__(self, "by_name", {str(pack.name): pack for pack in ordered})

    def with_packs(self, changed: Iterable[LockedPack], removed: Iterable[str] = ()) -> Lock:
        """Return the lock with some packs put in, in place of those of their names, and some taken out."""
        packs = {**self.by_name, **{str(pack.name): self._settle(pack) for pack in changed}}
        gone = set(removed)
        return replace(self, packs=tuple(pack for name, pack in packs.items() if name not in gone))

    def _settle(self, pack: LockedPack) -> LockedPack:
        """Return a pack with the digests of what was made of it elsewhere, where that is the same release with the same pins.

        Else two people with two Pythons would rewrite the file for each other, without end.
        """
        old = self.by_name.get(pack.name)
        is_made_alike = (
            old is not None
            and old.composition is not None
            and (old.version.text, old.composition) == (pack.version.text, pack.composition)
        )
        if old is None or not is_made_alike:
            return pack
        return replace(pack, archive_digest=old.archive_digest, tree_digest=old.tree_digest)


def lock_receipt(receipt: Receipt) -> LockedPack:
    """Return the entry of an installed pack. Where an index has the archive isn't kept: the index says it when it is asked."""
    origin = receipt.origin
    if origin.index:
        origin = Origin(origin.kind, "", origin.index)
    return LockedPack(
        receipt.pack_name,
        receipt.version,
        receipt.publisher,
        origin,
        receipt.archive_digest,
        receipt.release_digest,
        receipt.checked_composition,
    )


def dump_lock(lock: Lock) -> str:
    """Return a lock's text; the same lock always gives the same text."""
    head = {"schema": LOCK_SCHEMA, "root": lock.root, "layout": lock.layout}
    blocks = [HEAD + _dump_fields(head), *("[[pack]]\n" + _dump_fields(_fields_of(pack)) for pack in lock.packs)]
    return "\n".join(blocks)


def parse_lock(text: str, where: str) -> Lock:
    """Read a lock's text; raises `InvalidInput` naming `where` and the place. Unknown fields are ignored."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "a merge left both sides in it: keep the newer of each block" if "<<<<<<<" in text else "restore it"
        raise _unreadable(where, str(error), hint) from None
    schema = values.get("schema")
    if schema != LOCK_SCHEMA:
        raise _unreadable(where, f"it has schema {schema!r}, this Market reads {LOCK_SCHEMA}", "upgrade Market")
    rows = values.get("pack", [])
    if not isinstance(rows, list):
        raise _unreadable(where, "'pack' is not a list of tables", "restore it")
    packs = tuple(_parse_pack(row, where) for row in rows)
    names = [pack.name for pack in packs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _unreadable(where, f"{', '.join(twice)} stands in it twice", "keep one block a pack")
    return Lock(packs, _parse_root(values.get("root", ""), where), str(values.get("layout", "")))


def _fields_of(pack: LockedPack) -> dict[str, object]:
    return {
        "name": pack.name,
        "version": pack.version.text,
        "publisher": pack.publisher,
        "source": pack.origin.kind,
        "index": pack.origin.index,
        "location": pack.origin.location,
        "archive": pack.archive_digest,
        "tree": pack.tree_digest,
        **_composition_fields(pack.composition),
    }


def _composition_fields(composition: Composition | None) -> dict[str, object]:
    if composition is None:
        return {}
    rows = [dump_dependency(one) for one in composition.dependencies]
    return {"release": composition.release, "dependencies": rows, "left_out": list(composition.left_out)}


def _dump_fields(fields: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_dump_value(value)}\n" for name, value in fields.items() if value not in ("", []))


def _dump_value(value: object) -> str:
    if isinstance(value, list):
        # A line for each: two branches that change different dependencies merge.
        return "\n".join(("[", *(f"  {_dump_value(one)}," for one in value), "]"))
    # JSON's strings are TOML's basic strings, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parse_pack(row: Any, where: str) -> LockedPack:
    match row:
        case {
            "name": str(name),
            "version": str(version),
            "source": str(kind),
            "archive": str(archive),
            "tree": str(tree),
        }:
            return _parse_fields(row, where, name, version, kind, archive, tree)
    name = row.get("name", "?") if isinstance(row, dict) else "?"
    raise _unreadable(where, f"the block of {name!r} lacks name, version, source, archive or tree", "restore it")


def _parse_fields(
    row: dict[str, Any], where: str, name: str, version: str, kind: str, archive: str, tree: str
) -> LockedPack:
    publisher = str(row.get("publisher", ""))
    try:
        return LockedPack(
            parse_pack_name(name),
            parse_version(version),
            str(parse_publisher_name(publisher)) if publisher else "",
            Origin(kind, str(row.get("location", "")), str(row.get("index", ""))),
            parse_digest(archive),
            parse_digest(tree),
            _parse_composition(row, f"{where}, the block of {name!r}"),
        )
    except MarketError as error:
        raise _unreadable(where, f"the block of {name!r}: {error.message}", error.hint or "restore it") from None


def _parse_composition(row: dict[str, Any], where: str) -> Composition | None:
    """Read what a wheel pack is composed of; a lock file of an earlier Market, and any other pack, doesn't say it."""
    if "release" not in row:
        return None
    pins, left_out = row.get("dependencies", []), row.get("left_out", [])
    if not all(isinstance(one, str) for rows in (pins, left_out) for one in rows):
        raise InvalidInput(f"dependencies and left_out in {where} are not lists of text")
    text = "\n".join(pins)
    return Composition(parse_digest(row["release"]), parse_dependencies(text, where), tuple(left_out))


def _parse_root(root: object, where: str) -> str:
    """Return the root's path. One that leaves the file's folder is refused: a foreign project must not choose where we write."""
    parts = root.split("/") if isinstance(root, str) else [".."]
    if not isinstance(root, str) or root.startswith("/") or "\\" in root or ".." in parts:
        raise _unreadable(where, f"its root {root!r} is not a path below the file's folder", "name a root with --root")
    return root


def _unreadable(where: str, why: str, hint: str) -> InvalidInput:
    return InvalidInput(f"the lock file {where} can't be read", why=why, hint=hint)
