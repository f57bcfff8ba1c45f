"""Writing the canonical archive: the same tree gives the same bytes, whatever its order, times, umask or Python version."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, BinaryIO

from market.errors import InvalidInput
from market.pack.entry import resolve_entry
from market.pack.paths import check_path, find_collisions
from market.pack.record import FileRecord, Record
from market.pack.rules import make_problem
from market.pack.source import SourceFile
from market.pack.zip_format import (
    CENTRAL,
    END,
    LOCAL,
    PACK_LIMITS,
    Entry,
    Limits,
    dump_central,
    dump_end,
    dump_local,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.errors import Problem
    from market.model import Pack
    from market.pack.source import Source


class CanonicalSource:
    """A tree with the executable bits that its archive will carry; the bytes are those of the tree below."""

    def __init__(self, source: Source, executables: frozenset[str]) -> None:
        self._source = source
        self._files = tuple(SourceFile(file.path, file.size, file.path in executables) for file in source.files())

    @property
    def name(self) -> str:
        """The tree's own name."""
        return self._source.name

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return self._files

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._source.read(path)

    def open(self, path: str) -> BinaryIO:
        """Open a file's bytes as a stream."""
        return self._source.open(path)


def canonical_source(source: Source, pack: Pack) -> CanonicalSource:
    """Return the tree as it will be archived; a record of it is the record of the archive."""
    return CanonicalSource(source, canonical_executables(source, pack))


def canonical_executables(source: Source, pack: Pack) -> frozenset[str]:
    """Return which files are executable in the archive: declared entries, and `#!` files that carry the bit."""
    paths = {file.path: file.executable for file in source.files()}
    entries = {resolve_entry(skill.folder, skill.command.entry) for skill in pack.skills if skill.command}
    scripts = (path for path, executable in paths.items() if executable and _is_script(source, path))
    return frozenset(entry for entry in entries if entry in paths).union(scripts)


def write_archive(source: Source, out: BinaryIO, limits: Limits = PACK_LIMITS) -> Record:
    """Write a tree with the executable bits that it states, and return its record.

    Raises `InvalidInput` with all problems before the first byte where names or sizes are outside the canonical form.
    """
    files = sorted(source.files(), key=lambda file: file.path.encode("utf-8", "surrogateescape"))
    if problems := tuple(_find_problems(files, limits)):
        raise InvalidInput("this tree can't be archived", problems=problems, hint="correct the files that are named")
    entries: list[Entry] = []
    records: list[FileRecord] = []
    offset = 0
    for file in files:
        content = _read(source, file, limits)
        entry = Entry(file.path.encode(), zlib.crc32(content), len(content), file.executable, offset)
        _check_size(entry.end, limits)
        out.write(dump_local(entry))
        out.write(content)
        entries.append(entry)
        records.append(FileRecord(file.path, len(content), hashlib.sha256(content).hexdigest(), file.executable))
        offset = entry.end
    directory = b"".join(map(dump_central, entries))
    _check_size(offset + len(directory) + END.size, limits)
    out.write(directory)
    out.write(dump_end(len(entries), len(directory), offset))
    return Record(tuple(records))


def find_excess(files: Sequence[SourceFile], limits: Limits = PACK_LIMITS) -> Iterator[Problem]:
    """Yield a problem for each limit that these files would break in an archive: how many they are, and how large it would be."""
    if len(files) > limits.files:
        yield make_problem("archive-too-many", f"the tree holds {len(files):,} files, more than {limits.files:,}")
    names = sum(len(file.path.encode("utf-8", "surrogateescape")) for file in files)
    size = sum(file.size for file in files) + 2 * names + len(files) * (LOCAL.size + CENTRAL.size) + END.size
    if size > limits.archive_bytes:
        yield _archive_too_large(limits)
    for file in files:
        if file.size > limits.file_bytes:
            yield _too_large(file.path, file.size, limits)


def _is_script(source: Source, path: str) -> bool:
    with source.open(path) as stream:
        return stream.read(2) == b"#!"


def _find_problems(files: Sequence[SourceFile], limits: Limits) -> Iterator[Problem]:
    if not files:
        yield make_problem("archive-empty", "the tree holds no files")
    yield from find_excess(files, limits)
    for file in files:
        yield from check_path(file.path)
    yield from find_collisions(file.path for file in files)


def _read(source: Source, file: SourceFile, limits: Limits) -> bytes:
    """Read a file whole, not trusting the size that the tree claims."""
    with source.open(file.path) as stream:
        content = stream.read(limits.file_bytes + 1)
    if len(content) > limits.file_bytes:
        raise InvalidInput("this tree can't be archived", problems=(_too_large(file.path, len(content), limits),))
    return content


def _too_large(path: str, size: int, limits: Limits) -> Problem:
    return make_problem("archive-file-too-large", f"{path!r} has {size:,} bytes, more than {limits.file_bytes:,}", path)


def _archive_too_large(limits: Limits) -> Problem:
    return make_problem("archive-too-large", f"the archive would have more than {limits.archive_bytes:,} bytes")


def _check_size(end: int, limits: Limits) -> None:
    """Hold the limit against what is really written: a file may grow while it is read."""
    if end > limits.archive_bytes:
        raise InvalidInput("this tree can't be archived", problems=(_archive_too_large(limits),))
