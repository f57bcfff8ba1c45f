"""What the name of a wheel or an sdist says: kind, pack, version, and what makes it unique in its release. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

from index.model import FileKind
from market.errors import InvalidInput
from market.names import PackName, Version, parse_pack_name, parse_version
from market.pack.wheel import MAX_FILE_NAME_CHARACTERS

SDIST_SUFFIX = ".tar.gz"


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file's name, read. Two files of one release with the same `key` would be the same to every installer."""

    filename: str
    kind: FileKind
    name: PackName
    version: Version
    key: tuple[object, ...]

    @property
    def filetype(self) -> str:
        """The kind in the words of the upload form."""
        return "bdist_wheel" if self.kind is FileKind.WHEEL else "sdist"


def parse_filename(filename: str) -> NamedFile:
    """Read a file's name; raises `InvalidInput` for what is neither a wheel nor an sdist.

    >>> parse_filename("Disk_Cleaner-1.0-py3-none-any.whl").name
    'disk-cleaner'
    """
    if len(filename) > MAX_FILE_NAME_CHARACTERS or not filename.isascii() or set(filename) & set("/\\\"'<>&?#%;\0 "):
        raise _unreadable(filename, f"a file's name has at most {MAX_FILE_NAME_CHARACTERS} letters, digits and ._+-")
    try:
        if filename.endswith(".whl"):
            wheel_name, version, build, tags = parse_wheel_filename(filename)
            key: tuple[object, ...] = (FileKind.WHEEL, build, frozenset(tags))
            return NamedFile(filename, FileKind.WHEEL, parse_pack_name(wheel_name), parse_version(str(version)), key)
        if filename.endswith(SDIST_SUFFIX):
            sdist_name, version = parse_sdist_filename(filename)
            return NamedFile(
                filename, FileKind.SDIST, parse_pack_name(sdist_name), parse_version(str(version)), (FileKind.SDIST,)
            )
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise _unreadable(filename, str(error)) from None
    raise _unreadable(filename, "it ends neither in .whl nor in .tar.gz")


def _unreadable(filename: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{filename[:80]!r} is the name of no wheel and no sdist",
        why=why,
        hint="send the file under the name that the build gave it",
    )
