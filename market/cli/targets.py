"""What a command's argument names: a folder or archive on this disk, or something known by its name."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path

from market.errors import InvalidInput, NotFound
from market.run.limits import MAX_ARGS_BYTES

ARCHIVE_SUFFIXES = (".whl", ".zip", ".skill", ".tar.gz", ".tgz", ".tar")


def is_path(text: str) -> bool:
    """Whether an argument is written as a path. A bare name never is, even where a folder of that name lies here.

    >>> is_path("./my-pack"), is_path("my-pack-1.0.0.zip"), is_path("my-pack"), is_path("@acme/my-pack")
    (True, True, False, False)
    """
    return (
        text.startswith((".", "/", "~"))
        or ("/" in text and not text.startswith("@"))
        or text.endswith(ARCHIVE_SUFFIXES)
    )


def existing_path(text: str) -> Path:
    """Return an argument as a path that exists."""
    path = Path(text).expanduser()
    if not path.exists():
        raise NotFound(
            f"there is no file or folder {text}", hint="check the path; a pack on an index is written by its name alone"
        )
    return path


def folder_hint(name: str) -> str:
    """Return a hint where a bare name was looked up in vain and a folder of that name lies here."""
    return f"for the folder here write ./{name}" if Path(name).is_dir() else ""


def split_host(target: str | None, host: str | None, what: str) -> tuple[str, str | None]:
    """Return the argument and the host's URL (empty for the one that runs here, None for no host).

    `--host` may stand alone, so a word after it that is no URL was meant as the argument.
    """
    if target is None and host and "://" not in host:
        return host, ""
    if target is None:
        raise InvalidInput(f"Missing argument '{what}'.", hint="see --help")
    return target, host


def load_args(args: str | None, file: str | None) -> object:
    """Return a call's arguments from `--args JSON` or `--args-file FILE` (`-` reads stdin); neither means the empty object."""
    if args is not None and file is not None:
        raise InvalidInput("--args and --args-file exclude each other", hint="give one of them")
    where, text = (
        ("--args", args)
        if args is not None
        else (f"--args-file {file}", _load_text(file) if file is not None else "{}")
    )
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{where} is not JSON", why=str(error), hint='write for example --args \'{"path": "/tmp"}\''
        ) from None


def _load_text(file: str) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            content = stream.read(MAX_ARGS_BYTES + 1)
    except OSError as error:
        raise NotFound(
            f"the arguments in {file} can't be read", why=error.strerror or str(error), hint="check the path"
        ) from None
    if len(content) > MAX_ARGS_BYTES:
        raise InvalidInput(
            f"the arguments in {file} are larger than {MAX_ARGS_BYTES} bytes",
            hint="pass a path or a URL in place of the content",
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the arguments in {file} are not UTF-8", why=str(error), hint="save the file as UTF-8"
        ) from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
