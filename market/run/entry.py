"""Can this entry be started, and if not, why: plain sentences that say what to do. Running it is not here."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import InvalidInput

if TYPE_CHECKING:
    from market.hookspecs import Target
    from market.model import Command

# The kernel reads no more than this of a `#!` line.
_SHEBANG_BYTES = 256
_COMMAND_NOT_FOUND = 127


def resolve_entry(target: Target, command: Command) -> str:
    """Return the entry as the child executes it, from the skill's folder: `./run.sh`.

    An absolute entry inside the pack becomes relative, so that it too is taken from the version that was found.
    """
    if not Path(command.entry).is_absolute():
        return f"./{command.entry.removeprefix('./')}"
    if Path(command.entry).is_relative_to(target.unit):
        return os.path.relpath(command.entry, Path(target.unit, target.skill.folder))
    return command.entry


def check_entry(target: Target, folder_fd: int, entry: str) -> None:
    """Raise InvalidInput unless the entry is an executable file below the root, seen from the open folder.

    The loader has checked this too; a program may have changed the tree since.
    """
    try:
        descriptor = os.open(entry, os.O_PATH, dir_fd=folder_fd)
    except OSError as error:
        raise InvalidInput(
            f"the entry {entry} of {target.key} can't be opened", why=os.strerror(error.errno or 0)
        ) from error
    try:
        _check_descriptor(target, descriptor, entry)
    finally:
        os.close(descriptor)


def _check_descriptor(target: Target, descriptor: int, entry: str) -> None:
    status = os.fstat(descriptor)
    real = str(Path(f"/proc/self/fd/{descriptor}").readlink())
    root = os.path.realpath(target.root)
    if not real.startswith(root.rstrip("/") + "/"):
        raise InvalidInput(f"entry {real} escapes allowlist root {root}", hint="copy the file into the pack")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(
            f"the entry {entry} of {target.key} is not a file", hint="name an executable file as `entry`"
        )
    if not status.st_mode & 0o111:
        raise InvalidInput(
            f"the entry {entry} of {target.key} is not executable",
            hint=f"run `chmod +x {entry.removeprefix('./')}` in the pack and publish it again",
        )


def explain_exec_failure(number: int, folder_fd: int, entry: str) -> str:
    """Say why the kernel refused to execute the entry."""
    first = _read_first_line(folder_fd, entry)
    if number == errno.ENOEXEC:
        if first.startswith(b"#!"):
            return f"the #! line of {entry} names no interpreter; write for example #!/bin/sh"
        return f"{entry} is neither a program for this machine nor a script with a #! line; begin it with #!/bin/sh (or its language)"
    if number == errno.ENOENT and first.startswith(b"#!"):
        return _explain_shebang(first, entry) or f"the interpreter of {entry} doesn't exist here: {_show(first)}"
    if number == errno.EACCES:
        return f"{entry} may not be executed: is its file system mounted noexec, or its interpreter not executable? {_show(first)}".strip()
    return f"{entry} can't be executed: {os.strerror(number)}"


def explain_exit(code: int | None, folder_fd: int, entry: str, env_allow: tuple[str, ...]) -> str:
    """Return advice for exit codes that mean `command not found`, else an empty text."""
    if code != _COMMAND_NOT_FOUND:
        return ""
    if sentence := _explain_shebang(_read_first_line(folder_fd, entry), entry):
        return f": {sentence}"
    without_path = (
        ""
        if "PATH" in env_allow
        else "; its env_allow doesn't name PATH, so only the system's default folders are searched"
    )
    return f": a command was not found{without_path}"


def _explain_shebang(first: bytes, entry: str) -> str:
    if first.startswith(b"#!") and first.endswith(b"\r"):
        return f"{entry} has Windows line ends (CRLF), so its interpreter isn't found: {_show(first)}; save it with LF line ends"
    return ""


def _read_first_line(folder_fd: int, entry: str) -> bytes:
    try:
        descriptor = os.open(entry, os.O_RDONLY, dir_fd=folder_fd)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _SHEBANG_BYTES).split(b"\n", 1)[0]
    finally:
        os.close(descriptor)


def _show(first: bytes) -> str:
    return repr(first.decode("utf-8", "replace")) if first.startswith(b"#!") else ""
