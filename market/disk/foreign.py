"""An archive of whatever program as a canonical one: itself, or its import in a temporary file. The rules are in `market.pack`."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from market.disk.failures import disk_failures
from market.errors import Untrusted
from market.pack.archive_read import read_archive
from market.pack.import_build import convert_archive
from market.pack.inspect import Given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem
    from market.pack.build import Built

SCRATCH_MEMORY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Canonical:
    """A canonical archive, open while its context lasts.

    Of an imported one `path` is the temporary file, `changes` and `built` say what was done, and `given` carries the name that the
    folder around it gave; of one that was canonical they are None, empty and as given.
    """

    stream: BinaryIO
    size: int
    given: Given
    changes: tuple[Problem, ...] = ()
    built: Built | None = None
    path: Path | None = None


@contextmanager
def open_canonical(stream: BinaryIO, given: Given, folder: Path | None = None) -> Iterator[Canonical]:
    """Yield an archive in canonical form. `folder` is where an import is written, by default the system's temporary folder.

    Raises `Untrusted` where the archive can't be trusted in any form, and `InvalidInput` where a foreign one holds no good pack.
    """
    if _is_canonical(stream):
        yield Canonical(stream, stream.seek(0, 2), given)
        return
    with import_file(stream, given, folder) as imported:
        yield imported


@contextmanager
def import_file(stream: BinaryIO, given: Given, folder: Path | None = None) -> Iterator[Canonical]:
    """Yield the import of an archive, whatever its form. Raises as `open_canonical` does."""
    where = folder or Path(tempfile.gettempdir())
    with disk_failures("write a temporary file in", where):
        out = tempfile.NamedTemporaryFile(dir=where, prefix="import-", delete=False)  # noqa: SIM115 - closed below
    path = Path(out.name)
    try:
        # Not through disk_failures as a whole: what the caller does with the archive has its own places.
        with out, tempfile.SpooledTemporaryFile(SCRATCH_MEMORY_BYTES, dir=str(where)) as scratch:
            target = cast("BinaryIO", out)
            with disk_failures("write a temporary file in", where):
                converted = convert_archive(stream, given, cast("BinaryIO", scratch), target)
                out.flush()
            built = converted.built
            known = Given(name=built.pack.name, version=str(built.pack.version or given.version))
            yield Canonical(target, built.size, known, converted.changes, built, path)
    finally:
        path.unlink(missing_ok=True)


def _is_canonical(stream: BinaryIO) -> bool:
    try:
        read_archive(stream)
    except Untrusted:
        return False
    return True
