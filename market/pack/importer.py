"""From an archive that another program made to a tree that can be archived canonically, with a line for each change.

Two steps: the *structure* is read by the strict readers of `foreign_zip` and `foreign_tar` and never repaired; *names* are mapped where
that is safe (`import_names`), and what is then no portable path is refused. Nothing here writes; `import_build` does.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.pack.foreign import Member, refuse, refuse_all
from market.pack.foreign_tar import read_foreign_tar
from market.pack.foreign_zip import read_foreign_zip
from market.pack.gunzip import GZIP_SIGNATURE, gunzip
from market.pack.import_names import find_junk, normalise_name
from market.pack.paths import check_path, find_collisions, fold_path
from market.pack.rules import make_problem
from market.pack.source import SourceFile
from market.pack.tar_header import BLOCK
from market.pack.wrapper import find_wrapper
from market.pack.zip_format import MAX_ARCHIVE_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.errors import Problem
    from market.pack.foreign import Foreign
    from market.pack.source import Source

_USTAR_AT = 257
_UNSAFE_MODE = 0o7002  # set-user-id, set-group-id, sticky, writable by everybody
# Junk is dropped, so it may be as long and as deep as it likes, and lie in the folders that no pack may have.
_HARMLESS_IN_JUNK = frozenset({"path-forbidden", "path-long", "path-deep", "path-ending", "path-leading"})


@dataclass(frozen=True, slots=True)
class Imported:
    """The tree in a foreign archive, with the name of the folder that stood around it, and what was changed."""

    source: Source
    changes: tuple[Problem, ...]
    wrapper: str = ""


class ForeignSource:
    """The files of a foreign archive under their mapped names. Its name is the wrapper's: a guide without one is called so."""

    def __init__(self, name: str, foreign: Foreign, members: dict[str, Member]) -> None:
        self.name = name
        self._foreign = foreign
        self._members = members

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return [
            SourceFile(path, member.size, bool((member.mode or 0) & 0o100)) for path, member in self._members.items()
        ]

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises `Untrusted` where size or checksum are wrong."""
        return self._foreign.read(self._members[path])

    def open(self, path: str) -> BinaryIO:
        """Open a file's bytes as a stream."""
        return io.BytesIO(self.read(path))


def import_archive(stream: BinaryIO, scratch: BinaryIO) -> Imported:
    """Read a zip, a tar or a gzipped tar of whatever program. Both streams must be seekable and stay open while the tree is read.

    `scratch` takes a tar's decompressed bytes. Raises `Untrusted` with the rules that are broken; nothing is skipped to go on.
    """
    foreign = _read_foreign(stream, scratch)
    form = make_problem("import-form", f"the archive was a {foreign.form}, not what `market archive` writes")
    files, folders, changes = _sort_out(foreign.members)
    if not files:
        raise refuse("archive-empty", "the archive holds no files")
    wrapper = find_wrapper(path for path, _ in files)
    if wrapper:
        text = f"the folder {wrapper!r} around everything is taken off"
        changes.append(make_problem("import-wrapper", text, wrapper))
        files = [(path.removeprefix(f"{wrapper}/"), member) for path, member in files]
    _check_paths(files, folders, wrapper)
    members = dict(sorted(files, key=lambda file: file[0].encode()))
    changes.extend(_describe_mode(path, member.mode) for path, member in members.items() if _is_unsafe(member))
    return Imported(ForeignSource(wrapper, foreign, members), (form, *foreign.changes, *changes), wrapper)


def _read_foreign(stream: BinaryIO, scratch: BinaryIO) -> Foreign:
    if stream.seek(0, 2) > MAX_ARCHIVE_BYTES:
        raise refuse("archive-too-large", f"the archive has more than {MAX_ARCHIVE_BYTES:,} bytes")
    stream.seek(0)
    head = stream.read(BLOCK)
    stream.seek(0)
    if head.startswith(GZIP_SIGNATURE):
        gunzip(stream, scratch)
        return read_foreign_tar(scratch, "gzipped tar")
    if head[_USTAR_AT:].startswith(b"ustar"):
        return read_foreign_tar(stream, "tar")
    return read_foreign_zip(stream)


def _sort_out(members: Sequence[Member]) -> tuple[list[tuple[str, Member]], list[str], list[Problem]]:
    """Return the author's files under mapped names, all folders' names, and what was changed. Refuses unsafe names of junk too."""
    files: list[tuple[str, Member]] = []
    folders: list[str] = []
    changes: list[Problem] = []
    junk: dict[str, None] = {}
    problems: list[Problem] = []
    for member in members:
        if member.is_folder and member.path in ("", "."):
            continue  # the `./` that `tar -C FOLDER .` writes first
        name = normalise_name(member.path)
        if dropped := find_junk(f"{name.path}/" if member.is_folder else name.path):
            junk[dropped] = None
            problems.extend(problem for problem in check_path(name.path) if problem.rule not in _HARMLESS_IN_JUNK)
        elif member.is_folder:
            folders.append(name.path)
        else:
            files.append((name.path, member))
            changes.extend(name.changes)
    if problems:
        raise refuse_all(problems)
    changes.extend(make_problem("import-junk", f"{path!r} is left out", path) for path in junk)
    return files, folders, changes


def _check_paths(files: Sequence[tuple[str, Member]], folders: Sequence[str], wrapper: str) -> None:
    """Raise `Untrusted` where a name is not portable, or two of them are one file on some system."""
    paths = [path for path, _ in files]
    problems = [problem for path in paths for problem in check_path(path)]
    problems.extend(find_collisions(paths))
    taken = {fold_path(f"{wrapper}/{path}" if wrapper else path): path for path in paths}
    for folder in folders:
        problems.extend(problem for problem in check_path(folder) if problem.rule not in ("path-long", "path-deep"))
        if file := taken.get(fold_path(folder)):
            problems.append(make_problem("path-file-and-folder", f"{file!r} is a file and a folder", file))
    if problems:
        raise refuse_all(problems)


def _is_unsafe(member: Member) -> bool:
    return bool((member.mode or 0) & _UNSAFE_MODE)


def _describe_mode(path: str, mode: int | None) -> Problem:
    return make_problem("import-mode", f"the mode {mode or 0:04o} of {path!r} is not kept", path)
