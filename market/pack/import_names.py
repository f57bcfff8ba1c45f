"""Which names of a foreign archive may be mapped, to what, and which belong to no author. Whether the result is good, `paths` says.

Mapped is only what has one meaning: UTF-8 without its mark, letters that the old code pages of Windows share, backslashes that Windows
wrote, Unicode forms, a leading `./`. Everything else that is odd in a name stays, and is refused.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from market.errors import Problem

CODE_PAGES = ("cp437", "cp850")

JUNK_FOLDERS = frozenset({"__MACOSX", ".git", ".hg", ".svn", "node_modules", "__pycache__"})
_JUNK_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".git"})
_JUNK_PREFIX = "._"  # the second file in which macOS keeps a file's attributes
_JUNK_SUFFIXES = (".pyc", ".pyo")


@dataclass(frozen=True, slots=True)
class DecodedName:
    """A name as text, with what was changed to read it. A name that isn't text keeps surrogates."""

    path: str
    changes: tuple[Problem, ...] = ()


def decode_zip_name(raw: bytes, is_marked: bool, is_dos: bool) -> DecodedName:
    """Decode a name of a zip: marked as UTF-8 or not, from a program on Windows or not."""
    path, changes = _decode(raw, is_marked)
    if is_dos and "\\" in path:
        mapped = path.replace("\\", "/")
        changes.append(make_problem("import-backslash", f"{path!r} is read as {mapped!r}", mapped))
        path = mapped
    return DecodedName(path, tuple(changes))


def normalise_name(path: str) -> DecodedName:
    """Take off leading `./`, and compose letters (NFC)."""
    plain = path
    while plain.startswith("./"):
        plain = plain[2:]
    changes = [make_problem("import-dot", f"{path!r} is {plain!r}", plain)] if plain != path else []
    composed = plain if plain.isascii() else unicodedata.normalize("NFC", plain)
    if composed != plain:
        changes.append(make_problem("import-normal-form", f"{plain!a} is now {composed!a}", composed))
    return DecodedName(composed, tuple(changes))


def find_junk(path: str) -> str:
    """Return the file, or with a slash the folder, on this path that belongs to a system or tool; empty where none does.

    >>> find_junk("pack/__MACOSX/._a"), find_junk("pack/.DS_Store"), find_junk("pack/.config/a")
    ('pack/__MACOSX/', 'pack/.DS_Store', '')
    """
    parts = path.split("/")
    for depth, part in enumerate(parts[:-1], 1):
        if part in JUNK_FOLDERS:
            return "/".join(parts[:depth]) + "/"
    name = parts[-1]
    is_junk = name in _JUNK_FILES or name.startswith(_JUNK_PREFIX) or name.endswith(_JUNK_SUFFIXES)
    return path if is_junk else ""


def _decode(raw: bytes, is_marked: bool) -> tuple[str, list[Problem]]:
    if raw.isascii():
        return raw.decode(), []
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return _decode_code_page(raw, is_marked)
    if is_marked:
        return path, []
    return path, [make_problem("import-unmarked", f"a name that isn't marked as UTF-8 is read as {path!r}", path)]


def _decode_code_page(raw: bytes, is_marked: bool) -> tuple[str, list[Problem]]:
    """Read a name as its letters in the code pages of Western Windows, if these agree; Chinese or Japanese bytes don't pass for them."""
    readings = {raw.decode(page) for page in CODE_PAGES}
    path = readings.pop()
    is_plain = not readings and all(letter.isascii() or letter.isalpha() for letter in path)
    if is_marked or not is_plain or _is_kana(raw):
        return raw.decode("utf-8", "surrogateescape"), []
    return path, [make_problem("import-code-page", f"a name that isn't UTF-8 is read as {path!r}", path)]


def _is_kana(raw: bytes) -> bool:
    """Whether Windows in Japan would read two kana or more: their bytes also pass for Western letters."""
    try:
        text = raw.decode("cp932")
    except UnicodeDecodeError:
        return False
    return sum("\u3040" <= letter <= "\u30ff" for letter in text) > 1
