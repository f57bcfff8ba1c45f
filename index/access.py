"""Who is calling, and may they read: the one place that every face asks. A bad token is an error even where none is needed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from index.accounts import authenticate, check_scope, touch_token
from index.model import Account, Scope, to_text
from index.settings import LAST_USED_STEP_SECONDS, Anonymous
from market.web.bearer import read_bearer
from market.web.documents import PRIVATE, SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import Scope as Request

    from index.parts import Parts

    ReadSecret = Callable[[Iterable[tuple[bytes, bytes]]], str | None]


class Access:
    """Answers for one index who may do what."""

    def __init__(self, parts: Parts, read_secret: ReadSecret = read_bearer) -> None:
        """`read_secret` finds the token in a request's headers: a face may have its own way of sending it."""
        self._parts = parts
        self._read_secret = read_secret
        self._is_open = parts.settings.anonymous is Anonymous.READ
        # What only some may read, no cache that others share may keep.
        self.caching = SHARED if self._is_open else PRIVATE

    def is_free(self, request: Request) -> bool:
        """Answer whether this is a read that needs no token and sends none: most are, and need no further look."""
        return self._is_open and all(name != b"authorization" for name, _ in request["headers"])

    def identify(self, request: Request) -> Account | None:
        """Return the account of the request's token, None without a token; raises `Unauthenticated` for a bad one."""
        secret = self._read_secret(request["headers"])
        return None if secret is None else authenticate(self._parts.reader, secret, self._parts.clock())

    def check_read(self, request: Request) -> Account | None:
        """Let a reader pass: with a token that may read, and without one where the index is open."""
        account = self.identify(request)
        if account is None and self._is_open:
            return None
        return check_scope(account, Scope.READ)

    def check_publish(self, request: Request) -> Account:
        """Let a publisher pass."""
        return check_scope(self.identify(request), Scope.PUBLISH)

    async def note_use(self, account: Account) -> None:
        """Note that the token was used, at most every few minutes: a durable write for each read would cost more than the read."""
        now = self._parts.clock()
        if account.last_used_at < to_text(now - timedelta(seconds=LAST_USED_STEP_SECONDS)):
            await self._parts.lanes.write(self._touch, account.token_id, now)

    def _touch(self, token_id: int, now: datetime) -> None:
        with self._parts.database.write() as connection:
            touch_token(connection, token_id, now)
