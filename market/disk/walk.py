"""A folder on the disk as a tree of files (`market.pack.source.Source`), read through its open descriptor.

What is left out and why is `left_out.py`; links are `links.py`. Whether the files make a good pack isn't known here.
"""

from __future__ import annotations

import os
import stat
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from market.disk.failures import disk_failures
from market.disk.folder_rules import folder_problem
from market.disk.identity import Identity, identity_of
from market.disk.ignore_file import IGNORE_FILE, MAX_IGNORE_BYTES, IgnoreRules, is_manifest, parse_ignore_file
from market.disk.left_out import FINAL, why_ignored, why_left_out
from market.disk.links import resolve_link
from market.disk.read import open_within, read_descriptor
from market.errors import MarketError, NotFound, Problem, Severity
from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.pack.rules import make_problem
from market.pack.source import SourceFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

MANIFEST_FILES = frozenset({GUIDE_FILE, COMMAND_FILE})
MAX_WALK_ENTRIES = 20_000
MAX_WALK_DEPTH = 32
MAX_READ_BYTES = 64 << 20

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class WalkedFile:
    """One file found: where its bytes really are below the folder (another place for a link), and its modification time."""

    file: SourceFile
    place: str
    modified_ns: int


class FolderSource:
    """The files of an open folder. It reads from the directory that was opened, also after another one took its name."""

    def __init__(self, name: str, descriptor: int, walked: Sequence[WalkedFile]) -> None:
        self.name = name
        self.descriptor = descriptor
        self.walked = {one.file.path: one for one in sorted(walked, key=lambda one: one.file.path.encode())}
        self._close = weakref.finalize(self, os.close, descriptor)

    def files(self) -> Sequence[SourceFile]:
        """Return every file, sorted by the UTF-8 bytes of its path."""
        return tuple(one.file for one in self.walked.values())

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises KeyError for a path that `files` doesn't list."""
        descriptor = open_within(self.descriptor, self.walked[path].place)
        try:
            with disk_failures("read", path):
                return read_descriptor(descriptor, MAX_READ_BYTES)
        finally:
            os.close(descriptor)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading in pieces; raises KeyError for a path that `files` doesn't list."""
        return os.fdopen(open_within(self.descriptor, self.walked[path].place), "rb")

    @property
    def identity(self) -> Identity:
        """Which directory this is."""
        return identity_of(self.descriptor)

    def close(self) -> None:
        """Close the folder's descriptor; reading ends. Done by itself when the last reference goes."""
        self._close()


@dataclass(frozen=True, slots=True)
class Folder:
    """What a walk found: the tree, the folders in it, what was left out as (path, reason), and what is wrong."""

    source: FolderSource
    left_out: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]
    directories: tuple[str, ...]

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.source.close()


def open_folder(path: Path) -> Folder:
    """Walk a folder that somebody wants to publish, check or run: the author's view.

    What a `.marketignore` names is left out. Links to files inside are taken as files, with a warning; anything that can't be
    part of a pack is an error Problem. Raises `NotFound` or `Refused` where the folder itself can't be read.
    """
    with disk_failures("open", path):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walk = _Walk(path)
    walk.read_ignore_file(descriptor)
    return _walk_folder(walk, descriptor)


def open_tree(descriptor: int, path: Path, recorded: Collection[str] = ()) -> Folder:
    """Walk an installed tree behind a descriptor, which the result takes over; `path` is its name.

    Recorded files are always looked at; what else lies there is listed too, except caches. Odd entries are warnings here.
    """
    keep = frozenset(parent for one in recorded for parent in _with_parents(one))
    return _walk_folder(_Walk(path, keep, installed=True), descriptor)


def _walk_folder(walk: _Walk, descriptor: int) -> Folder:
    source = FolderSource("", descriptor, ())
    with disk_failures("read", walk.path):
        walk.directory(descriptor, "", "", (os.curdir,))
    walked = {one.file.path: one for one in sorted(walk.files, key=lambda one: one.file.path.encode())}
    source.name, source.walked = Path(os.path.abspath(walk.path)).name, walked  # noqa: PTH100 - a link keeps its own name
    problems = tuple(sorted(walk.problems, key=lambda problem: (problem.file, problem.rule)))
    return Folder(source, tuple(sorted(walk.left_out)), problems, tuple(sorted(walk.directories)))


@dataclass(slots=True)
class _Walk:
    path: Path
    keep: frozenset[str] = frozenset()
    installed: bool = False
    files: list[WalkedFile] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ignore: IgnoreRules | None = None

    def read_ignore_file(self, descriptor: int) -> None:
        """Read the `.marketignore` at the top, if there is one; a link isn't followed."""
        try:
            opened = open_within(descriptor, IGNORE_FILE)
        except NotFound:
            return
        except MarketError as error:
            self._problem("folder-ignore-file", IGNORE_FILE, error.why)
            return
        try:
            data = read_descriptor(opened, MAX_IGNORE_BYTES + 1)
        finally:
            os.close(opened)
        self.ignore, problems = parse_ignore_file(data)
        self.problems.extend(problems)

    def directory(self, descriptor: int, shown: str, place: str, above: tuple[str, ...]) -> None:
        """List one directory: `shown` is its path in the pack, `place` its real path below the base, `above` the real ones over it."""
        if len(above) > MAX_WALK_DEPTH:
            self._problem("folder-too-deep", shown)
            return
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self._entry(descriptor, entry, shown + entry.name, place + entry.name, above)

    @property
    def base(self) -> Path:
        """The folder without links: what a link inside must lead to. Asked only for a link, since it costs a call a part."""
        return Path(os.path.realpath(self.path))

    def _entry(self, descriptor: int, entry: os.DirEntry[str], shown: str, place: str, above: tuple[str, ...]) -> None:
        if not _is_utf8(entry.name):
            self._problem("folder-name-encoding", os.fsencode(shown).decode("utf-8", "backslashreplace"))
        elif entry.is_symlink():
            self._link(entry.name, shown, place, above)
        elif not self._is_left_out(entry.name, shown, is_directory=entry.is_dir(follow_symlinks=False)):
            self._found(descriptor, entry.name, entry.stat(follow_symlinks=False), shown, place, above)

    def _found(
        self, descriptor: int, name: str, status: os.stat_result, shown: str, place: str, above: tuple[str, ...]
    ) -> None:
        if len(self.files) + len(self.directories) >= MAX_WALK_ENTRIES:
            self._overflow(shown)
        elif stat.S_ISDIR(status.st_mode):
            self.directories.append(shown)
            self._enter(descriptor, name, shown, place, above)
            # One with files in it is found by its files; an empty one would vanish without a word.
            if name in MANIFEST_FILES and not self.installed and not self._has_file_below(shown):
                self.problems.append(make_problem("manifest-folder", f"{shown!r} is a folder, not a manifest", shown))
        elif not stat.S_ISREG(status.st_mode):
            self._problem("folder-special-file", shown)
        elif not self.installed and not os.access(name, os.R_OK, dir_fd=descriptor, effective_ids=True):
            self._problem("folder-unreadable", shown, "this user may not read the file")
        else:
            file = SourceFile(shown, status.st_size, bool(status.st_mode & stat.S_IXUSR))
            self.files.append(WalkedFile(file, place, status.st_mtime_ns))

    def _has_file_below(self, shown: str) -> bool:
        return bool(self.files) and self.files[-1].file.path.startswith(f"{shown}/")

    def _enter(self, descriptor: int, name: str, shown: str, place: str, above: tuple[str, ...]) -> None:
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=descriptor)
        except PermissionError:
            self._problem("folder-unreadable", shown)
            return
        try:
            self.directory(inner, shown + "/", place + "/", (*above, place))
        finally:
            os.close(inner)

    def _link(self, name: str, shown: str, place: str, above: tuple[str, ...]) -> None:
        target = resolve_link(str(self.base), place, above)
        if target.rule:
            self._problem(target.rule, shown, target.text)
            return
        parts = target.place.split("/")
        if any(
            self._is_left_out(part, shown, is_directory=target.is_directory or part is not parts[-1])
            for part in (name, *parts)
        ):
            return
        self._problem("folder-link", shown, target.text)
        parent = os.open(Path(self.base, target.place).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._found(
                parent, parts[-1], os.stat(parts[-1], dir_fd=parent, follow_symlinks=False), shown, target.place, above
            )
        finally:
            os.close(parent)

    def _overflow(self, shown: str) -> None:
        if not any(problem.rule == "folder-too-many-files" for problem in self.problems):
            self._problem(
                "folder-too-many-files", shown, f"the folder holds more than {MAX_WALK_ENTRIES} files and folders"
            )

    def _is_left_out(self, name: str, shown: str, *, is_directory: bool) -> bool:
        why = (
            ""
            if shown in self.keep
            else (why_ignored if self.installed else why_left_out)(name, is_directory=is_directory)
        )
        if self.ignore and why not in FINAL:
            why = self._ask_author(self.ignore, why, shown, is_directory)
        if why:
            self.left_out.append((shown + "/" if is_directory else shown, why))
        return bool(why)

    def _ask_author(self, ignore: IgnoreRules, why: str, shown: str, is_directory: bool) -> str:
        """Return the reason for leaving an entry out after the author's patterns, which win over the written list."""
        ignored, place = ignore.judge(shown, is_directory=is_directory)
        if ignored and is_manifest(shown):
            if not any(problem.file == shown for problem in self.problems):
                self._problem("folder-ignored-manifest", shown, f"{place} would leave out a manifest; it was kept")
            return why
        return why if ignored is None else place if ignored else ""

    def _problem(self, rule: str, shown: str, text: str = "") -> None:
        problem = folder_problem(rule, shown, text)
        if self.installed and problem.severity is not Severity.WARNING:
            problem = Problem(
                problem.rule, Severity.WARNING, problem.text, problem.file, reason=problem.reason, fix=problem.fix
            )
        self.problems.append(problem)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_parents(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
