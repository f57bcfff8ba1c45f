"""A wheel file as a tree of files: strict about the zip, its names and RECORD. What the tree means is `market.pack.inspect`.

The zip rules are those for any foreign archive (`market.pack.foreign_zip`): two headers that agree, no gap, no byte too many, and
limits on the bytes that are really produced. Names aren't mapped: what isn't a portable path is refused.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from market.errors import Untrusted
from market.pack.archive_directory import read_directory
from market.pack.archive_read import refuse_archive
from market.pack.archive_write import find_excess
from market.pack.foreign import MAX_MEMBERS
from market.pack.foreign_zip import MAX_COMMENT_BYTES, read_foreign_zip
from market.pack.paths import check_path, find_collisions
from market.pack.rules import make_problem
from market.pack.source import SourceFile
from market.pack.wheel_metadata import is_same_release, parse_wheel_file
from market.pack.wheel_record import check_record
from market.pack.wheel_tags import expand_tags
from market.pack.wheel_tree import DIST_INFO_FILES, dist_infos, find_dist_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.errors import Problem
    from market.pack.foreign import Foreign, Member

WHEEL_SUFFIX = ".whl"
MAX_SHOWN_CHARACTERS = 400
MAX_FILE_NAME_CHARACTERS = 200  # the index's limit too; the tags in a name multiply with each other


class WheelSource:
    """The files in a wheel that was checked. They are executable where the wheel says so; who reads them decides what counts."""

    name = ""

    def __init__(self, foreign: Foreign, members: Sequence[Member]) -> None:
        self._foreign = foreign
        self._members = {member.path: member for member in sorted(members, key=lambda member: member.path.encode())}

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return [
            SourceFile(path, member.size, bool((member.mode or 0) & 0o100)) for path, member in self._members.items()
        ]

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises `Untrusted` where size or checksum are others than declared."""
        return self._foreign.read(self._members[path])

    def open(self, path: str) -> BinaryIO:
        """Open a file's bytes as a stream."""
        return io.BytesIO(self.read(path))


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel whose structure is sound: its tree, the folder in which it describes itself, and the tags that say where it works."""

    source: WheelSource
    dist_info: str
    tags: tuple[str, ...]


def is_wheel(stream: BinaryIO) -> bool:
    """Whether a zip describes itself as a wheel. Whether it is a good one, `read_wheel` says."""
    try:
        rows = read_directory(stream, max_comment_bytes=MAX_COMMENT_BYTES, max_rows=MAX_MEMBERS).rows
    except Untrusted:
        return False
    return any(row.name.count(b"/") == 1 and row.name.endswith(b".dist-info/WHEEL") for row in rows)


def read_wheel(stream: BinaryIO, file_name: str = "") -> Wheel:
    """Read a wheel strictly; raises `Untrusted` with every problem. `stream` must stay open while files are read.

    `file_name` is held against what the wheel says of itself; empty where it isn't known.
    """
    foreign = read_foreign_zip(stream)
    members = [member for member in foreign.members if not member.is_folder]
    paths = [member.path for member in members]
    source = WheelSource(foreign, members)
    problems = [*foreign.changes, *(problem for path in paths for problem in check_path(path)), *find_collisions(paths)]
    # It becomes an archive where it is installed: what wouldn't fit there is refused before anybody publishes it.
    problems += find_excess(source.files())
    dist_info = find_dist_info(paths)
    problems += [] if dist_info else [_explain_dist_info(paths)]
    if problems:
        raise refuse_archive(problems)
    wheel_file, faults = parse_wheel_file(source.read(f"{dist_info}/WHEEL"), f"{dist_info}/WHEEL")
    problems = [*faults, *_check_file_name(file_name, dist_info, wheel_file.tags), *check_record(source)]
    if problems:
        raise refuse_archive(problems)
    return Wheel(source, dist_info, wheel_file.tags)


def _explain_dist_info(paths: Sequence[str]) -> Problem:
    """Say what is wrong where no folder, or not exactly one, describes the wheel."""
    folders = dist_infos(paths)
    if len(folders) == 1:
        missing = [name for name in DIST_INFO_FILES if f"{folders[0]}/{name}" not in paths]
        return make_problem("wheel-dist-info", f"{' and '.join(missing)} is missing in {folders[0]}", folders[0])
    text = (
        f"it has {len(folders)} .dist-info folders: {', '.join(folders)}" if folders else "it has no .dist-info folder"
    )
    return make_problem("wheel-dist-info", text)


def _check_file_name(file_name: str, dist_info: str, tags: Sequence[str]) -> list[Problem]:
    if not file_name:
        return []
    if len(file_name) > MAX_FILE_NAME_CHARACTERS:
        text = f"the file's name has {len(file_name):,} characters, more than {MAX_FILE_NAME_CHARACTERS}"
        return [make_problem("wheel-name", text, file_name[:MAX_FILE_NAME_CHARACTERS])]
    try:
        name, version, _, named_tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename as error:
        return [make_problem("wheel-name", str(error), file_name)]
    problems = []
    own_name, _, own_version = dist_info.removesuffix(".dist-info").partition("-")
    if not is_same_release((own_name, own_version), (name, str(version))):
        problems.append(make_problem("wheel-name-differs", f"{file_name} holds {dist_info}", file_name))
    if tags and frozenset(map(str, named_tags)) != expand_tags(tags):
        text = f"its name says {'-'.join(file_name.removesuffix(WHEEL_SUFFIX).split('-')[-3:])}, its file WHEEL {', '.join(tags)}"
        problems.append(make_problem("wheel-tags-differ", text[:MAX_SHOWN_CHARACTERS], file_name))
    return problems
