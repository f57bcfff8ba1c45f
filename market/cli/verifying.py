"""Reading every byte of installed packs against their receipts, and accepting what differs: rows and lines for `market verify`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from market.cli.awaiting import await_skills
from market.cli.beside import beside_hint
from market.cli.roots import chosen_roots, find_installed
from market.errors import NotFound, Untrusted
from market.installer.accept import accept_all
from market.installer.listing import installed_names, list_directories
from market.installer.receipt import load_receipt
from market.installer.root import open_root
from market.installer.transaction import lock_root
from market.installer.tree_state import TreeState, read_unit
from market.model import State
from market.names import parse_pack_name

if TYPE_CHECKING:
    from market.cli.awaiting import Followed
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.accept import Acceptance
    from market.installer.root import Root
    from market.installer.tree_state import UnitReading


def verify_packs(
    market: Market, output: Output, names: tuple[str, ...], roots: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return a row for each directory of the named packs, or of all; raises `NotFound` where one isn't installed.

    In a root of layout `skills` a name is that of a pack or of one skill's directory.
    """
    wanted = [str(parse_pack_name(name)) for name in names]
    chosen = chosen_roots(market, roots)
    with output.progress("reading"):
        rows = [
            row
            for root in chosen
            for name in installed_names(root)
            if not wanted or name in wanted or _pack_of(root, name) in wanted
            if (row := _read(root, name)) is not None
        ]
    absent = sorted(set(wanted) - {row[key] for row in rows for key in ("name", "pack")})
    if absent:
        raise NotFound(
            f"{', '.join(absent)} is not installed",
            why=f"looked in {', '.join(str(root.path) for root in chosen) or 'no root: none exists yet'}",
            hint=beside_hint(absent[0]) or "see `market list`",
        )
    return rows


def _pack_of(root: Root, name: str) -> str:
    with suppress(Untrusted):  # said as a broken receipt
        receipt = load_receipt(root, name)
        return str(receipt.pack_name) if receipt else name
    return name


def _read(root: Root, name: str) -> dict[str, Any] | None:
    try:
        with read_unit(root, name, thorough=True) as reading:
            return None if reading.state is TreeState.UNMANAGED else _document(root, reading)
    except NotFound:  # uninstalled meanwhile
        return None


def _document(root: Root, reading: UnitReading) -> dict[str, Any]:
    receipt = reading.receipt
    return {
        "name": reading.name,
        "pack": str(receipt.pack_name) if receipt else reading.name,
        "version": receipt.version.text if receipt else "",
        "state": str(reading.state),
        "files": len(receipt.record.files) if receipt else 0,
        "changed": list(reading.changed),
        "added": list(reading.added),
        "missing": list(reading.missing),
        "trouble": reading.trouble,
        "root": str(root.path),
    }


def difference_lines(row: dict[str, Any]) -> list[str]:
    """Return what differs in one pack, in words; nothing where it is intact."""
    if row["state"] == TreeState.INTACT:
        return []
    head = f"{row['name']} {row['version']}".rstrip()
    if row["state"] in (TreeState.MISSING, TreeState.BROKEN):
        why = row["trouble"] or f"its directory is missing in {row['root']}"
        return [f"{head}: {row['state']}: {why}; install it again"]
    parts = [f"  {word} {path}" for word in ("changed", "added", "missing") for path in row[word]]
    return [f"{head}: edited in {row['root']} (`market verify --accept {row['pack']}` takes it for good)", *parts]


def accept_pack(
    market: Market, name: str, roots: tuple[str, ...], lock_timeout: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """Accept one pack's edits, wait for the hosts, and return what was done as a row a directory and in words."""
    root, pack, directories = _find_directories(market, str(parse_pack_name(name)), roots)
    with lock_root(root, timeout_seconds=lock_timeout, guard=None) as locked:
        done = accept_all(locked, directories, market.now())
    followed: tuple[Followed, ...] = ()
    if any(one.files for one in done):
        followed = await_skills(
            market, root, pack, lambda skills: not any(one.state in (State.HELD, State.EDITED) for one in skills)
        )
    rows = [_accepted(root, pack, one, followed) for one in done]
    what = [f"accepted the edits of {one.name} in {root.path}: {', '.join(one.files)}" for one in done if one.files]
    return rows, [*(what or [f"{name} is as it was installed"]), *(one.line for one in followed)]


def _find_directories(market: Market, name: str, roots: tuple[str, ...]) -> tuple[Root, str, tuple[str, ...]]:
    """Return a pack's root, name and directories: its one, or those of its skills. The name of a skill's directory means that one.

    Raises `NotFound`.
    """
    try:
        installed = find_installed(market, name, roots)
    except NotFound:
        for root in chosen_roots(market, roots):
            for row in list_directories(root):
                if row.name == name:
                    return root, str(row.receipt.pack_name) if row.receipt else name, (name,)
        raise
    return open_root(installed.path.parent, create=False), name, installed.skills or (name,)


def _accepted(root: Root, pack: str, done: Acceptance, followed: tuple[Followed, ...]) -> dict[str, Any]:
    return {
        "name": done.name,
        "pack": pack,
        "root": str(root.path),
        "files": list(done.files),
        "old_digest": done.old_digest,
        "new_digest": done.new_digest,
        "hosts": [one.document for one in followed],
    }
