"""Who calls, as pip, uv and twine say it: HTTP Basic with the user `__token__` (or our Bearer). And errors as these programs show them."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from market.errors import MarketError, Unauthenticated
from market.web.bearer import read_bearer
from market.web.problems import problem_response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN_USER = "__token__"
CHALLENGE = 'Basic realm="market", charset="UTF-8"'
MAX_CREDENTIALS_CHARACTERS = 1_024
MAX_SHOWN_PROBLEMS = 20

_SCHEME = b"basic "


def read_secret(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the request's token, or None where it sends no Authorization header; raises `Unauthenticated` for any other one."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1 or values[0][: len(_SCHEME)].lower() != _SCHEME:
        return read_bearer([(b"authorization", value) for value in values])
    user, colon, secret = _decode(values[0][len(_SCHEME) :].strip()).partition(":")
    if user != TOKEN_USER or not colon or not secret:
        raise Unauthenticated(
            "the credentials can't be read",
            why=f"the user name is {user[:40]!r}" if user != TOKEN_USER else "the password is empty",
            hint=f"the user name is {TOKEN_USER}, the password a token of this index (skm_...)",
        )
    return secret


class BasicEdge:
    """Answers an error of a face itself where the client needs it in another form than ours.

    A 401 asks for Basic: pip and uv know nothing else. `detail` holds the whole story, since uv shows nothing but that.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await self._app(scope, receive, send)
        except MarketError as error:
            response = problem_response(type(error)(
                tell(error), why=error.why, hint=error.hint, problems=error.problems, details=error.details
            ))  # fmt: skip
            if response.status_code == 401:
                response.headers["www-authenticate"] = CHALLENGE
            await response(scope, receive, send)


def tell(error: MarketError) -> str:
    """Return an error as one text: what, why, what to do, and each problem on a line of its own."""
    lines = [": ".join(filter(None, (error.message, error.why))) + (f" ({error.hint})" if error.hint else "")]
    for problem in error.problems[:MAX_SHOWN_PROBLEMS]:
        found = ": ".join(filter(None, (problem.place, str(problem.severity), problem.text)))
        lines.append(f"- {found} [{problem.rule}]" + (f": {problem.fix}" if problem.fix else ""))
    if len(error.problems) > MAX_SHOWN_PROBLEMS:
        lines.append(f"- and {len(error.problems) - MAX_SHOWN_PROBLEMS} more")
    return "\n".join(lines)


def _decode(encoded: bytes) -> str:
    try:
        if len(encoded) <= MAX_CREDENTIALS_CHARACTERS:
            return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        pass
    raise Unauthenticated(
        "the Authorization header can't be read", hint=f"send Basic credentials with the user {TOKEN_USER}"
    )
