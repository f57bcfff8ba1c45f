"""`/legacy/`: where twine and uv upload. The form's fields are only claims; what counts is read from the file (`index.distributions`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from index.claims import CLAIM_FIELDS, Claims
from index.distributions import SentFile, accept_file
from index.faces.python.form import receive_form
from market.client.wire import DOCUMENT_TYPE
from market.pack.zip_format import MAX_ARCHIVE_BYTES
from market.web.problems import BadRequest, WrongMethod
from market.web.references import asked_path, relative_reference

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from index.access import Access
    from index.parts import Parts

# Both spellings are answered: a redirect of a POST makes twine give up.
LEGACY_PATHS = frozenset({"/legacy", "/legacy/"})
ACTION = "file_upload"
PROTOCOL = "1"
WANTED = CLAIM_FIELDS | {":action", "protocol_version"}
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
            raise WrongMethod(
                "files are uploaded here with a POST",
                hint="pip and uv read packages at /simple/",
                details={"allow": "POST"},
            )
        account = self._access.check_publish(scope)
        parts, limit = self._parts, MAX_ARCHIVE_BYTES + MAX_FIELDS_BYTES
        async with receive_form(scope, receive, parts.blobs.incoming, WANTED, limit_bytes=limit) as form:
            claims, body = Claims(form.fields), form.body
            _check_protocol(claims)
            sent = SentFile(form.filename, body.stream, body.path, body.size, body.digest)
            deed = parts.deed(account)
            published = await parts.lanes.write(accept_file, parts.database, parts.blobs, sent, claims, deed)
        told = replace(published, url=relative_reference(asked_path(scope), published.url))
        # 200 for a new file too: uv takes any success, twine wants no redirect.
        headers = {"cache-control": "no-store"}
        await Response(msgspec.json.encode(told), 200, headers, DOCUMENT_TYPE)(scope, receive, send)


def _check_protocol(claims: Claims) -> None:
    for field, known in ((":action", ACTION), ("protocol_version", PROTOCOL)):
        for said in claims.of(field):
            if said != known:
                raise BadRequest(
                    f"the form's {field} is {said[:40]!r}, which isn't known here",
                    hint=f"only {known!r} is, as twine and uv send it",
                )
