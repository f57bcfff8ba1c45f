"""The upload form of twine and uv (multipart/form-data): its file streamed to disk and hashed. What it means isn't known here."""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from market.names import Digest
from market.web.bodies import Body, check_length, check_size, open_upload, receive_pieces, storage_failures
from market.web.problems import BadRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from python_multipart.multipart import MultipartCallbacks
    from starlette.types import Receive, Scope

FILE_FIELD = "content"
# Each classifier and each dependency is a part of its own.
MAX_PARTS = 5_000
# Of the fields that are wanted: one by itself, and all together.
MAX_FIELD_BYTES = 16 << 10
MAX_WANTED_BYTES = 1 << 20
MAX_BOUNDARY_BYTES = 70


@dataclass(frozen=True, slots=True)
class Form:
    """A received form: the wanted fields that it had, each as often as it came, and the file with its name."""

    fields: dict[str, tuple[str, ...]]
    filename: str
    body: Body


@asynccontextmanager
async def receive_form(
    scope: Scope, receive: Receive, folder: Path, wanted: frozenset[str], *, limit_bytes: int
) -> AsyncIterator[Form]:
    """Receive a form; its file lies in `folder` until the context ends. Fields may come in any order; those not wanted are passed over.

    Raises `BadRequest` for what is no such form and `BodyTooLarge` past the limit, which holds for the whole body.
    """
    boundary = _boundary(scope)
    check_length(scope, limit_bytes)
    with open_upload(folder) as (stream, path):
        parts = _Parts(stream, wanted)
        try:
            await _feed(MultipartParser(boundary, parts.callbacks()), receive, limit_bytes)
        except FormParserError as error:
            raise _no_form(str(error)) from None
        if not parts.filename or not parts.is_ended:
            raise _no_form(f"it has no file in the field {FILE_FIELD!r}" if parts.is_ended else "it ends too early")
        with storage_failures():
            stream.flush()
        body = Body(stream, path, parts.size, Digest(f"sha256:{parts.digest.hexdigest()}"))
        yield Form(parts.texts(), parts.filename, body)


async def _feed(parser: MultipartParser, receive: Receive, limit_bytes: int) -> None:
    size = 0
    async for piece in receive_pieces(receive):
        size += len(piece)
        check_size(size, limit_bytes)
        parser.write(piece)
    parser.finalize()


def _boundary(scope: Scope) -> bytes:
    value = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    kind, options = parse_options_header(value)
    boundary = options.get(b"boundary", b"")
    if kind.lower() != b"multipart/form-data" or not 0 < len(boundary) <= MAX_BOUNDARY_BYTES:
        raise _no_form(f"its Content-Type is {value[:80].decode(errors='replace')!r}")
    return boundary


@dataclass
class _Parts:
    """Takes the parser's calls: the headers of a part, then its bytes, in pieces of any size."""

    stream: IO[bytes]
    wanted: frozenset[str]
    fields: dict[str, list[bytearray]] = field(default_factory=dict)
    filename: str = ""
    size: int = 0
    is_ended: bool = False

    def __post_init__(self) -> None:
        self.digest = hashlib.sha256()
        self._count = 0
        self._header, self._value = bytearray(), bytearray()
        self._disposition = b""
        self._is_file = False
        self._target: bytearray | None = None
        self._wanted_bytes = 0

    def texts(self) -> dict[str, tuple[str, ...]]:
        """Return the wanted fields as text."""
        return {name: tuple(one.decode(errors="replace") for one in values) for name, values in self.fields.items()}

    def callbacks(self) -> MultipartCallbacks:
        """Return what the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": self._take,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._count += 1
        if self._count > MAX_PARTS:
            raise _no_form(f"it has more than {MAX_PARTS} parts")
        self._disposition, self._is_file, self._target = b"", False, None

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _open(self) -> None:
        options = parse_options_header(self._disposition)[1]
        name = options.get(b"name", b"").decode(errors="replace")
        self._is_file = name == FILE_FIELD
        if self._is_file and self.filename:
            raise _no_form(f"the field {FILE_FIELD!r} stands twice")
        if self._is_file:
            self.filename = options.get(b"filename", b"").decode(errors="replace")
        elif name in self.wanted:
            self._target = bytearray()
            self.fields.setdefault(name, []).append(self._target)

    def _take(self, data: bytes, start: int, end: int) -> None:
        piece = data[start:end]
        if self._is_file:
            self.size += len(piece)
            self.digest.update(piece)
            with storage_failures():
                self.stream.write(piece)
        elif self._target is not None:
            self._target.extend(piece)
            self._wanted_bytes += len(piece)
            if len(self._target) > MAX_FIELD_BYTES:
                raise _no_form(f"one of its fields is longer than {MAX_FIELD_BYTES} bytes")
            if self._wanted_bytes > MAX_WANTED_BYTES:
                raise _no_form(f"the fields that are read are longer than {MAX_WANTED_BYTES} bytes")

    def _end(self) -> None:
        self.is_ended = True


def _no_form(why: str) -> BadRequest:
    return BadRequest(
        "this is not the upload form of twine and uv",
        why=why,
        hint="upload with `twine upload --repository-url URL/legacy/ FILES` or `uv publish --publish-url URL/legacy/ FILES`",
    )
