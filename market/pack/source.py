"""A tree of files, wherever it is: a folder, an archive or memory. Folders are in `market.disk.walk`."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One regular file of a tree. `path` is relative, POSIX, without `.` or `..`; `size` in bytes."""

    path: str
    size: int
    executable: bool = False


class Source(Protocol):
    """A tree that can be listed and read. Files only; folders exist through their files."""

    @property
    def name(self) -> str:
        """The tree's own name (its folder's), or empty where it has none."""

    def files(self) -> Sequence[SourceFile]:
        """Return every file, sorted by the UTF-8 bytes of its path."""

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises KeyError for a path that `files` doesn't list."""

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading in pieces; raises KeyError for a path that `files` doesn't list."""


class MemorySource:
    """A tree held in memory, for small packs and tests."""

    def __init__(
        self, contents: Mapping[str, bytes], *, name: str = "", executables: frozenset[str] = frozenset()
    ) -> None:
        self.name = name
        self._contents = dict(contents)
        self._files = tuple(
            SourceFile(path, len(self._contents[path]), path in executables)
            for path in sorted(self._contents, key=lambda path: path.encode())
        )

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return self._files

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._contents[path]

    def open(self, path: str) -> BinaryIO:
        """Open a file's bytes as a stream."""
        return io.BytesIO(self._contents[path])


@dataclass(frozen=True)
class PartOfSource:
    """A tree without some folders at its top, and with some files' bytes replaced or added."""

    whole: Source
    left_out: frozenset[str] = frozenset()
    replaced: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The whole tree's name."""
        return self.whole.name

    def files(self) -> Sequence[SourceFile]:
        """Return the files that aren't left out, and those that only stand in `replaced`."""
        files = [file for file in self.whole.files() if file.path.partition("/")[0] not in self.left_out]
        added = self.replaced.keys() - {file.path for file in files} if self.replaced else ()
        files += (SourceFile(path, len(self.replaced[path]), executable=False) for path in added)
        return tuple(sorted(files, key=lambda file: file.path.encode())) if added else tuple(files)

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self.replaced[path] if path in self.replaced else self.whole.read(path)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return MemorySource(self.replaced).open(path) if path in self.replaced else self.whole.open(path)
