"""Browser sessions: a login secret that works once, and cookies. They live in this process's memory; a restart signs everybody out."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from typing import TYPE_CHECKING

from market.errors import Refused, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.model import Caller

SESSION_SECONDS = 12 * 3600
MAX_SESSIONS = 10_000
SECRET_BYTES = 32
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Sessions:
    """Who is signed in by cookie. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._logins: dict[str, Caller] = {}
        self._sessions: dict[str, tuple[Caller, float]] = {}

    def offer_login(self, caller: Caller, secret_hash: str) -> None:
        """Let this caller sign in, once, with the secret of this hash. The process that prints the link keeps the secret itself."""
        with self._lock:
            self._logins[secret_hash] = caller

    def redeem(self, secret: str) -> str:
        """Turn a login secret into a session's cookie; raises `Unauthenticated` for one that is wrong or was used."""
        with self._lock:
            caller = self._logins.pop(hash_secret(secret), None)
        if caller is None:
            raise Unauthenticated(
                "this login link was used already, or isn't one of this host's",
                hint="sign in with a token: `market host token create`, or the one in host-admin.token",
            )
        return self.open(caller)

    def open(self, caller: Caller) -> str:
        """Start a session and return its cookie."""
        cookie, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        with self._lock:
            self._sessions = {key: row for key, row in self._sessions.items() if row[1] > now}
            while len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[hash_secret(cookie)] = caller, now + SESSION_SECONDS
        return cookie

    def close(self, cookie: str) -> None:
        """End a session, if it is one."""
        with self._lock:
            self._sessions.pop(hash_secret(cookie), None)

    def find(self, cookie: str) -> Caller | None:
        """Return who is signed in with this cookie, or None."""
        caller, end = self._sessions.get(hash_secret(cookie), (None, 0.0))
        return caller if end > self._clock() else None


def monotonic_seconds() -> float:
    """Return seconds that only grow: the clock of a running host's sessions."""
    return time.monotonic()


def new_secret() -> str:
    """Return a fresh secret for a login link."""
    return secrets.token_urlsafe(SECRET_BYTES)


def check_same_origin(method: str, headers: Mapping[str, str]) -> None:
    """Refuse a request that changes something, comes with a cookie, and wasn't made by our own pages.

    The browser says where a request comes from: `Sec-Fetch-Site`, else `Origin`. One that says neither isn't believed.
    """
    if method in SAFE_METHODS:
        return
    site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
    is_own_origin = bool(origin) and origin.partition("://")[2] == headers.get("host", "")
    if not (site == "same-origin" if site else is_own_origin):
        raise Refused(
            "this request didn't come from this host's own pages",
            why="a cookie alone doesn't prove that you meant it",
            hint="use the page, or send a Bearer token",
        )


def hash_secret(text: str) -> str:
    """Return the hash under which a secret is kept, so that the time of a look-up says nothing about the secret itself."""
    return hashlib.sha256(text.encode()).hexdigest()
