"""Reading every byte of installed packs against their receipts, and accepting what differs: rows and lines for `market verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.awaiting import await_skills
from market.cli.roots import chosen_roots, find_installed
from market.errors import NotFound
from market.installer.accept import accept_edits
from market.installer.listing import installed_names
from market.installer.root import open_root
from market.installer.transaction import lock_root
from market.installer.tree_state import TreeState, read_unit
from market.model import State
from market.names import parse_pack_name

if TYPE_CHECKING:
    from market.cli.awaiting import Followed
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.root import Root
    from market.installer.tree_state import UnitReading


def verify_packs(
    market: Market, output: Output, names: tuple[str, ...], roots: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return a row for each named pack, or for all; raises `NotFound` where one isn't installed."""
    wanted = [str(parse_pack_name(name)) for name in names]
    chosen = chosen_roots(market, roots)
    with output.progress("reading"):
        rows = [
            row
            for root in chosen
            for name in installed_names(root)
            if not wanted or name in wanted
            if (row := _read(root, name)) is not None
        ]
    absent = sorted(set(wanted) - {row["name"] for row in rows})
    if absent:
        raise NotFound(
            f"{', '.join(absent)} is not installed",
            why=f"looked in {', '.join(str(root.path) for root in chosen) or 'no root: none exists yet'}",
            hint="see `market list`",
        )
    return rows


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
    return [f"{head}: edited in {row['root']} (`market verify --accept {row['name']}` takes it for good)", *parts]


def accept_pack(
    market: Market, name: str, roots: tuple[str, ...], lock_timeout: float
) -> tuple[dict[str, Any], list[str]]:
    """Accept one pack's edits, wait for the hosts, and return what was done as a row and in words."""
    installed = find_installed(market, str(parse_pack_name(name)), roots)
    root = open_root(installed.path.parent, create=False)
    with lock_root(root, timeout_seconds=lock_timeout, guard=None) as locked:
        done = accept_edits(locked, installed.name, market.now())
    followed: tuple[Followed, ...] = ()
    if done.files:
        followed = await_skills(
            market, root, done.name, lambda skills: not any(one.state in (State.HELD, State.EDITED) for one in skills)
        )
    what = f"accepted the edits of {done.name} in {root.path}: {', '.join(done.files)}"
    row = {
        "name": done.name,
        "root": str(root.path),
        "files": list(done.files),
        "old_digest": done.old_digest,
        "new_digest": done.new_digest,
        "hosts": [one.document for one in followed],
    }
    return row, [what if done.files else f"{done.name} is as it was installed", *(one.line for one in followed)]
