"""The upload form of twine and uv (multipart/form-data): its file streamed to disk and hashed. What it means isn't known here."""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from market.errors import InvalidInput
from market.names import Digest
from market.web.bodies import Body, check_length, check_size, open_upload, receive_pieces, storage_failures

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from python_multipart.multipart import MultipartCallbacks
    from starlette.types import Receive, Scope

FILE_FIELD = "content"
# Each classifier and each dependency is a part of its own.
MAX_PARTS = 5_000
MAX_FIELD_BYTES = 1_024
MAX_BOUNDARY_BYTES = 70


@dataclass(frozen=True, slots=True)
class Form:
    """A received form: the wanted fields that it had, and the file with its name. A field that came twice counts once, the first time."""

    fields: dict[str, str]
    filename: str
    body: Body


@asynccontextmanager
async def receive_form(
    scope: Scope, receive: Receive, folder: Path, wanted: frozenset[str], *, limit_bytes: int
) -> AsyncIterator[Form]:
    """Receive a form; its file lies in `folder` until the context ends. Fields may come in any order; those not wanted are passed over.

    Raises `InvalidInput` for what is no such form and `BodyTooLarge` past the limit, which holds for the whole body.
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
        yield Form({name: text.decode(errors="replace") for name, text in parts.fields.items()}, parts.filename, body)


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
    fields: dict[str, bytearray] = field(default_factory=dict)
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
        elif name in self.wanted and name not in self.fields:
            self._target = self.fields[name] = bytearray()

    def _take(self, data: bytes, start: int, end: int) -> None:
        piece = data[start:end]
        if self._is_file:
            self.size += len(piece)
            self.digest.update(piece)
            with storage_failures():
                self.stream.write(piece)
        elif self._target is not None:
            self._target.extend(piece)
            if len(self._target) > MAX_FIELD_BYTES:
                raise _no_form(f"one of its fields is longer than {MAX_FIELD_BYTES} bytes")

    def _end(self) -> None:
        self.is_ended = True


def _no_form(why: str) -> InvalidInput:
    return InvalidInput(
        "this is not the upload form of twine and uv",
        why=why,
        hint="upload with `twine upload --repository-url URL/legacy/ FILES` or `uv publish --publish-url URL/legacy/ FILES`",
    )
