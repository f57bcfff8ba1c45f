"""Is a command's entry a file of its pack, and can the system start it? By names and first bytes; links are the loader's matter."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from market.pack.entry_python import is_python_entry
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem
    from market.pack.skill_json import CommandManifest
    from market.pack.source import Source, SourceFile

FIRST_BYTES = 256

# The first bytes of ELF, Mach-O (three forms) and Windows programs.
_PROGRAM_MAGICS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")


def resolve_entry(folder: str, entry: str) -> str | None:
    """Return the entry's path in the pack, or None where it is absolute or leaves the pack."""
    if entry.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(folder, entry))
    return None if path == ".." or path.startswith("../") else path


def check_entry(
    manifest: CommandManifest, folder: str, source: Source, files: Mapping[str, SourceFile]
) -> Iterator[Problem]:
    """Yield what is wrong with an entry: the name first, then the file."""
    # Places are found by reading the document again, so only where there is something to say.
    entry, find_place = manifest.entry, manifest.find_place
    if is_python_entry(entry):
        yield make_problem("entry-python", f"the entry {entry!r} names Python code", manifest.file, find_place("entry"))
    elif entry.startswith("/"):
        yield make_problem("entry-absolute", f"the entry {entry!r} is absolute", manifest.file, find_place("entry"))
    elif (path := resolve_entry(folder, entry)) is None:
        yield make_problem("entry-escapes", f"the entry {entry!r} leaves the pack", manifest.file, find_place("entry"))
    elif path not in files:
        yield _missing(manifest, entry, path, folder, files)
    else:
        yield from _check_file(manifest, path, source, files[path])


def _missing(manifest: CommandManifest, entry: str, path: str, folder: str, files: Mapping[str, SourceFile]) -> Problem:
    place = manifest.find_place("entry")
    if path == "." or any(name.startswith(f"{path}/") for name in files):
        return make_problem("entry-folder", f"the entry {entry!r} is a folder", manifest.file, place)
    program = entry.split()[0] if entry.split() else entry
    if program != entry and resolve_entry(folder, program) in files:
        return make_problem(
            "entry-arguments",
            f"the entry {entry!r} has arguments",
            manifest.file,
            place,
            fix=f'write "entry": "{program}"',
        )
    near = next((name for name in files if name.lower() == path.lower()), "")
    return make_problem(
        "entry-missing",
        f"the entry {entry!r} is not in the pack",
        manifest.file,
        place,
        fix=f"did you mean {near!r}?" if near else "",
    )


def _check_file(manifest: CommandManifest, path: str, source: Source, file: SourceFile) -> Iterator[Problem]:
    if not file.executable:
        yield make_problem("entry-not-executable", f"{path} is not executable", path)
    with source.open(path) as stream:
        first = stream.read(FIRST_BYTES)
    line = first.partition(b"\n")[0]
    if line.startswith(b"#!") and line.endswith(b"\r"):
        yield make_problem("entry-line-ends", f"{path}: line 1 ends in CRLF", path, (1, len(line)))
    elif not line.startswith(b"#!") and not first.startswith(_PROGRAM_MAGICS) and b"\0" not in first:
        yield make_problem("entry-no-interpreter", f"{path} has no #! line", path, (1, 1))
