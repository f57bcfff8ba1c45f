"""Writing an archive to where somebody asked for it: whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from typing import TYPE_CHECKING, BinaryIO

from market.disk.failures import disk_failures
from market.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from market.cli.building import Draft


def save_draft(draft: Draft, path: Path) -> None:
    """Write a draft's archive to a path; raises `Conflict` for a folder."""
    save_file(path, lambda out: shutil.copyfileobj(draft.stream, out))


def save_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Have a file written beside its place, sync it, and rename it; raises `Conflict` for a folder."""
    if path.is_dir():
        raise Conflict(f"{path} is a folder", hint="name a file with -o")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with disk_failures("write", path):
        try:
            with temporary.open("x+b") as out:
                write(out)
                os.fsync(out.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
