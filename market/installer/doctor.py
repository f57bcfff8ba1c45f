"""What is wrong with a root, each with its fix: permissions, interrupted work, receipts and trees that don't match, leftovers.

Looking changes nothing and takes no lock. What is safe to put right, `repair.py` does; the rest is told.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.lease import is_leased
from market.errors import MarketError, Untrusted
from market.installer.archives import find_spoilt, find_unnamed, is_kept
from market.installer.composition import say_left_out
from market.installer.disabled import load_disabled
from market.installer.intent import load_intents
from market.installer.listing import list_installed
from market.installer.pins import load_pins
from market.installer.receipt import load_pack_receipts, load_receipt, receipt_names
from market.installer.root import STATE_FOLDER
from market.installer.tree_state import TreeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from market.installer.listing import Installed
    from market.installer.root import Root

MIN_FREE_BYTES = 100_000_000
MIN_FREE_INODES = 1_000
PRIVATE_MODE = 0o700

ERROR, WARNING, NOTE = "error", "warning", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or odd. `is_safe`: `--fix` puts it right without anybody's work being lost."""

    rule: str
    severity: str
    place: str
    text: str
    fix: str
    is_safe: bool = False


def examine_root(root: Root, others: Iterable[Path] = ()) -> tuple[Finding, ...]:
    """Return everything that is wrong with a root. `others` are the other roots in use, none of which may lie in this one."""
    findings = [*_check_place(root, others), *_check_room(root)]
    if os.path.lexists(root.state):
        findings += _check_state(root)
    if not root.state.is_symlink():
        for check in (_check_journal, _check_leftovers, _check_archives, _check_earlier, _check_packs, _check_choices):
            try:
                findings += check(root)
            except MarketError as error:
                findings.append(
                    Finding("unreadable", ERROR, str(root.path), f"{error.message}: {error.why}", error.hint)
                )
    return tuple(findings)


def find_strays(root: Root) -> tuple[Path, ...]:
    """Return the temporary files of writers that were killed: the names that begin with a dot, which no reader looks at."""
    folders = (root.state, root.intents, root.receipts, root.archives)
    return tuple(
        path for folder in folders for path in _entries(folder) if path.name.startswith(".") and path.is_file()
    )


def _check_place(root: Root, others: Iterable[Path]) -> Iterator[Finding]:
    place = str(root.path)
    status = root.path.stat()
    if root.path.is_symlink():
        yield Finding(
            "root-link",
            NOTE,
            place,
            f"the root is a link to {root.path.resolve()}",
            "nothing: links as roots are followed",
        )
    if status.st_mode & stat.S_IWOTH:
        text = "everybody on this machine may write into the root, and so run programs as whoever calls a skill"
        yield Finding("root-writable", ERROR, place, text, f"chmod o-w {place}", is_safe=status.st_uid == os.geteuid())
    if not os.access(root.path, os.W_OK | os.X_OK):
        text = "this user can't write into the root: nothing can be installed, skills still run"
        yield Finding("root-read-only", WARNING, place, text, "correct its permissions, or how it is mounted")
    real = root.path.resolve()
    for other in others:
        if other.resolve() != real and other.resolve().is_relative_to(real):
            text = f"another root lies in it: {other}; its packs are found twice, or not at all"
            yield Finding("root-inside", WARNING, place, text, "move one of the two out of the other")


def _check_room(root: Root) -> Iterator[Finding]:
    room = os.statvfs(root.path)
    free, place = room.f_bavail * room.f_frsize, str(root.path)
    if free < MIN_FREE_BYTES:
        text = (
            f"only {free // 1_000_000} MB are free; an upgrade needs room for the old tree, the new one and its archive"
        )
        yield Finding("disk-full", WARNING, place, text, "free some space")
    if room.f_files and room.f_favail < MIN_FREE_INODES:
        yield Finding("disk-inodes", WARNING, place, f"only {room.f_favail} more files fit on the disk", "delete files")


def _check_state(root: Root) -> Iterator[Finding]:
    place = str(root.state)
    if root.state.is_symlink():
        yield Finding(
            "state-link", ERROR, place, "the root's state is a link; nothing is read from it", f"delete {place}"
        )
        return
    status = root.state.stat()
    mine = status.st_uid == os.geteuid()
    if not mine:
        text = f"the state belongs to user {status.st_uid}; this user can't change the root"
        yield Finding("state-owner", WARNING, place, text, "run market as that user, or chown the root")
    if stat.S_IMODE(status.st_mode) != PRIVATE_MODE:
        text = f"the state has mode {stat.S_IMODE(status.st_mode):04o}, not 0700"
        yield Finding("state-mode", WARNING, place, text, f"chmod 700 {place}", is_safe=mine)


def _check_journal(root: Root) -> Iterator[Finding]:
    for intent in load_intents(root):
        names = ", ".join(move.name for move in intent.moves)
        text = f"a transaction was interrupted, or is running: {names}"
        fix = "any command that changes the root completes or undoes it"
        yield Finding("intent-open", WARNING, str(root.intent(intent.transaction)), text, fix, is_safe=True)


def _check_leftovers(root: Root) -> Iterator[Finding]:
    for path in _entries(root.staging):
        if not root.intent(path.name).exists():
            text = "a stage without a transaction"
            yield Finding(
                "stage-orphan", WARNING, str(path), text, "any command that changes the root deletes it", is_safe=True
            )
    for path in _entries(root.retired):
        if is_leased(path):
            yield Finding(
                "tree-leased",
                NOTE,
                str(path),
                "a replaced tree in which a call still runs",
                "nothing: it goes with the call",
            )
        else:
            text = "a replaced tree that nobody uses any more"
            yield Finding(
                "tree-retired", WARNING, str(path), text, "any command that changes the root deletes it", is_safe=True
            )
    for path in find_strays(root):
        yield Finding(
            "file-stray", WARNING, str(path), "half of a file that was being written", f"delete {path}", is_safe=True
        )
    backups = _entries(root.backups)
    if backups:
        text = f"{len(backups)} edited trees are kept; Market never deletes them"
        yield Finding("backups", NOTE, str(root.backups), text, "look through them and delete what you don't need")


def _check_archives(root: Root) -> Iterator[Finding]:
    for path in find_unnamed(root):
        yield Finding(
            "archive-unnamed",
            WARNING,
            str(path),
            "a kept archive that no receipt names",
            f"delete {path}",
            is_safe=True,
        )
    for path in find_spoilt(root):
        text = "a kept archive that isn't what its name says; no rollback can use it"
        yield Finding(
            "archive-spoilt",
            WARNING,
            str(path),
            text,
            f"delete {path}; the next install keeps a good one",
            is_safe=True,
        )


def _check_earlier(root: Root) -> Iterator[Finding]:
    for name in receipt_names(root):
        with suppress(Untrusted):  # said as a broken receipt
            receipt = load_receipt(root, name)
            for row in receipt.earlier if receipt else ():
                if not is_kept(root, row.archive_digest):
                    text = f"the archive of {name} {row.version} is gone; no rollback can use it"
                    fix = f"`market install {name}@{row.version}` fetches it again"
                    yield Finding("archive-gone", WARNING, str(root.archive(row.archive_digest)), text, fix)


def _check_packs(root: Root) -> Iterator[Finding]:
    installed = list_installed(root)
    for pack in installed:
        if (found := _check_pack(root, pack)) is not None:
            yield found
        if text := say_left_out(pack.receipt.composition if pack.receipt else None):
            again = f"install {pack.name} again, as before but without --no-deps"
            yield Finding("dependencies-left-out", WARNING, str(pack.path), f"{pack.name} was {text}", again)
    known = {name for pack in installed for name in (pack.skills or (pack.name,))}
    for path in _entries(root.path):
        if path.name != STATE_FOLDER and path.name not in known and path.is_dir() and not path.name.startswith("."):
            text = "a directory without a receipt: its skills load as unmanaged, and nothing is ever installed over it"
            yield Finding("tree-unmanaged", NOTE, str(path), text, "nothing, if somebody put it there; else delete it")


def _check_pack(root: Root, pack: Installed) -> Finding | None:
    place, again = str(pack.path), f"`market install {pack.name}` puts it back"
    if pack.state is TreeState.MISSING:
        return Finding("tree-missing", ERROR, place, f"{pack.name} has a receipt and no directory", again)
    if pack.state is TreeState.BROKEN:
        return Finding("receipt-broken", ERROR, str(root.receipt(pack.name)), pack.trouble, f"{again}, with --force")
    if pack.state is TreeState.EDITED:
        text = f"{pack.name} was edited: {', '.join(pack.edited_files[:5])}"
        return Finding(
            "tree-edited",
            WARNING,
            place,
            text,
            f"`market verify --accept {pack.name}`, or install it again with --force",
        )
    return None


def _check_choices(root: Root) -> Iterator[Finding]:
    pins = load_pins(root)
    installed = load_pack_receipts(root) if pins else {}
    for name in pins:
        if name not in installed:
            text = f"{name} is pinned and not installed"
            yield Finding(
                "pin-idle", NOTE, str(root.pins), text, f"`market pin {name} --unpin`, if it isn't wanted any more"
            )
    for target in load_disabled(root).targets:
        if not root.tree(target.unit).exists():
            text = f"{target.unit} is disabled and doesn't stand here"
            yield Finding("disabled-idle", NOTE, str(root.disabled), text, "nothing: it stays off when it comes back")


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
