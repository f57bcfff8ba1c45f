"""Archives on this disk, of whatever program: opened as canonical ones, with a line for each change. The rules are in `market.pack`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from market.cli.building import Draft
from market.disk.failures import disk_failures
from market.disk.foreign import import_file, open_canonical
from market.errors import InvalidInput, naming

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.disk.foreign import Canonical
    from market.pack.inspect import Given


@contextmanager
def open_archive(path: Path, given: Given) -> Iterator[Canonical]:
    """Open an archive; one that isn't canonical is imported. Raises as `open_canonical` does."""
    with disk_failures("read", path):
        stream = path.open("rb")
    with stream, ExitStack() as stack:
        with naming(str(path)):
            archive = stack.enter_context(open_canonical(stream, given))
        yield archive


@contextmanager
def import_draft(path: Path, given: Given) -> Iterator[Draft]:
    """Make the canonical archive of another one, as `build_folder` makes it of a folder."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", hint=f"`market archive {path}` makes an archive of it")
    with disk_failures("read", path):
        stream = path.open("rb")
    with stream, ExitStack() as stack:
        with naming(str(path)):
            archive = stack.enter_context(import_file(stream, given))
        if archive.built is None:
            raise AssertionError("an import has always been built")
        problems = (*archive.changes, *archive.built.problems)
        yield Draft(path, archive.built, archive.stream, (), problems)
