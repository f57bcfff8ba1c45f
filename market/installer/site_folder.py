"""The folder that uv filled, made the same on every machine: nothing in it says where, by whom or with which Python it was installed."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.errors import Untrusted
from market.installer.composition import DEPENDENCIES_NAME, dump_dependencies

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from market.installer.composition import Dependency

# uv's lock; and programs, each of which begins with the path of this interpreter.
_NOT_PART = (".lock", "bin")
# Who installed it, at whose wish, and from which path or file of which moment.
_NOTES = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json")


def settle_site(site: Path, dependencies: Iterable[Dependency]) -> None:
    """Take out what differs from machine to machine, and write down what the folder holds."""
    with disk_failures("write", site):
        for name in _NOT_PART:
            _remove(site / name)
        for folder in site.glob("*.dist-info"):
            for name in _NOTES:
                (folder / name).unlink(missing_ok=True)
        for record in site.glob("*.dist-info/RECORD"):
            record.write_text(_keep_rows(record.read_text("utf-8"), site), "utf-8")
        place = site / DEPENDENCIES_NAME
        if place.exists():
            raise Untrusted(
                f"a dependency brings a file {DEPENDENCIES_NAME}, which is Market's own",
                hint="leave the dependency out: --no-deps installs the pack alone",
            )
        place.write_text(dump_dependencies(dependencies), "utf-8")


def _keep_rows(text: str, site: Path) -> str:
    """Return a RECORD with the rows of files that are still here: of a program the hash covers this interpreter's path."""
    rows = sorted(row for row in csv.reader(io.StringIO(text)) if row and _is_here(row[0], site))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _is_here(path: str, site: Path) -> bool:
    return ".." not in path.split("/") and (site / path).is_file()


def _remove(path: Path) -> None:
    if path.is_dir():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
