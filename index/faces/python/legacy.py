"""`/legacy/`: where twine and uv upload. The form's fields are only claims; what counts is read from the file (`index.distributions`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from index.distributions import Claims, SentFile, accept_file
from index.faces.python.form import receive_form
from market.client.wire import DOCUMENT_TYPE
from market.errors import InvalidInput
from market.pack.zip_format import MAX_ARCHIVE_BYTES
from market.web.problems import WrongMethod

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from index.access import Access
    from index.parts import Parts

# Both spellings are answered: a redirect of a POST makes twine give up.
LEGACY_PATHS = frozenset({"/legacy", "/legacy/"})
ACTION = "file_upload"
WANTED = frozenset({":action", "protocol_version", "name", "version", "filetype", "sha256_digest"})
# The other fields, a long description above all.
MAX_FIELDS_BYTES = 4 << 20


class LegacyRoute:
    """Answers POST of the upload form."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one file."""
        if scope["method"] != "POST":
            raise WrongMethod("files are uploaded here with a POST", hint="pip and uv read packages at /simple/")
        account = self._access.check_publish(scope)
        parts, limit = self._parts, MAX_ARCHIVE_BYTES + MAX_FIELDS_BYTES
        async with receive_form(scope, receive, parts.blobs.incoming, WANTED, limit_bytes=limit) as form:
            fields, body = form.fields, form.body
            if fields.get(":action", ACTION) != ACTION:
                raise InvalidInput(f"the action {fields[':action'][:40]!r} isn't known", hint=f"only {ACTION} is")
            claims = Claims(
                *(fields.get(name, "").strip() for name in ("name", "version", "filetype", "sha256_digest"))
            )
            sent = SentFile(form.filename, body.stream, body.path, body.size, body.digest)
            deed = parts.deed(account)
            published = await parts.lanes.write(accept_file, parts.database, parts.blobs, sent, claims, deed)
        # 200 for a new file too: uv takes any success, twine wants no redirect.
        await Response(msgspec.json.encode(published), 200, media_type=DOCUMENT_TYPE)(scope, receive, send)
