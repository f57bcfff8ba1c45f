"""What twine and uv send: the upload form, with its fields in their order or in any other."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.index.builders import AnIndex
    from tests.web.asgi import Answer

BOUNDARY = "7d1f-boundary"


def upload(index: AnIndex, content: bytes, filename: str, *, path: str = "/legacy/", token: str | None = None, **options: Any) -> Answer:
    """Post a file as twine does; `options` are those of `a_form`."""
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **basic(index.token if token is None else token)}
    return index.ask("POST", path, headers=headers, body=pieces(a_form(content, filename, **options)))


def basic(token: str, user: str = "__token__") -> dict[str, str]:
    """Return the headers that pip, uv and twine send for a token; none for an empty one."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{token}'.encode()).decode()}"} if token else {}


def a_form(
    content: bytes, filename: str, *, content_first: bool = False, fields: dict[str, str | None] | None = None, file_field: str = "content"
) -> bytes:
    """Return the form's bytes; a field that is None is left out."""
    name, version = filename.split("-")[0], filename.removesuffix(".tar.gz").split("-")[1]
    values: dict[str, str | None] = {
        ":action": "file_upload", "protocol_version": "1", "metadata_version": "2.4", "name": name, "version": version,
        "filetype": "bdist_wheel" if filename.endswith(".whl") else "sdist", "sha256_digest": hashlib.sha256(content).hexdigest(),
        "description": "Long. " * 2_000, **(fields or {}),
    }  # fmt: skip
    parts = [part(f'name="{key}"', value.encode()) for key, value in values.items() if value is not None]
    file = part(f'name="{file_field}"; filename="{filename}"', content)
    return b"".join([file, *parts] if content_first else [*parts, file]) + f"--{BOUNDARY}--\r\n".encode()


def part(disposition: str, body: bytes) -> bytes:
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + body + b"\r\n"


def pieces(body: bytes, size: int = 1_000) -> list[bytes]:
    """Cut a body as a connection would, not where its parts end."""
    return [body[start : start + size] for start in range(0, len(body), size)]
