"""Who may use this host: its tokens with their roles, stored as hashes. Which role may do what is in `market.run.gate` and the API."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.lock import lock_file
from market.errors import InvalidInput, NotFound, Unauthenticated
from market.model import Caller, Role

if TYPE_CHECKING:
    from pathlib import Path

TOKEN_PREFIX = "skh_"
TOKEN_BYTES = 32
SHOWN_CHARACTERS = 12
MAX_NAME_CHARACTERS = 64
MAX_TOKENS = 10_000
LOCK_TIMEOUT_SECONDS = 5.0
ADMIN_NAME = "admin"

GRANTED_ROLES = (Role.ADMIN, Role.USER, Role.VIEWER)


@dataclass(frozen=True, slots=True)
class Account:
    """A stored token: its first characters, its sha256 and whose it is. The token itself isn't kept."""

    prefix: str
    hash: str
    role: str
    name: str
    user_id: int
    created_at: str

    @property
    def caller(self) -> Caller:
        """Who calls with this token."""
        return Caller(self.user_id, self.name, Role(self.role))


class Accounts:
    """The file of tokens. Several processes may use it: a token made on the command line works in a running host at once.

    The tokens are 256 random bits, so that a plain hash is enough: there is nothing to guess.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark: tuple[int, int, int] | None = None
        self._by_hash: dict[str, Account] = {}

    def authenticate(self, token: str) -> Caller:
        """Return who owns the token; raises `Unauthenticated` for an unknown or revoked one."""
        self._refresh()
        account = self._by_hash.get(_hash(token))
        if account is None:
            raise Unauthenticated("the token isn't one of this host's", hint="make one with `market host token create`")
        return account.caller

    def rows(self) -> tuple[Account, ...]:
        """Return the stored tokens, oldest first."""
        self._refresh()
        return tuple(sorted(self._by_hash.values(), key=lambda account: account.user_id))

    def create(self, role: Role, name: str) -> tuple[str, Account]:
        """Make a token and return it with its row; this is the only moment at which it can be seen."""
        if role not in GRANTED_ROLES:
            raise InvalidInput(f"{role.value!r} is not a role of a token", hint=f"one of {', '.join(GRANTED_ROLES)}")
        if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
            raise InvalidInput(
                f"{name[:80]!r} is not a token's name",
                why=f"a name has 1 to {MAX_NAME_CHARACTERS} printable characters",
            )
        token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        with lock_file(self._lock_path(), timeout_seconds=LOCK_TIMEOUT_SECONDS):
            rows = self.rows()
            if len(rows) >= MAX_TOKENS:
                raise InvalidInput(f"this host has {MAX_TOKENS} tokens already", hint="revoke old ones")
            # Ids are never given again, so that an audit row always means the same caller.
            user_id = self._highest_id() + 1
            created_at = datetime.now(UTC).isoformat(timespec="seconds")
            account = Account(token[:SHOWN_CHARACTERS], _hash(token), role.value, name.strip(), user_id, created_at)
            self._save((*rows, account), user_id)
        return token, account

    def revoke(self, prefix: str) -> Account:
        """Revoke the one token whose shown characters start so; raises `NotFound` where there is none, `InvalidInput` for several."""
        with lock_file(self._lock_path(), timeout_seconds=LOCK_TIMEOUT_SECONDS):
            rows = self.rows()
            found = [row for row in rows if prefix and row.prefix.startswith(prefix)]
            if len(found) > 1:
                raise InvalidInput(f"{len(found)} tokens start with {prefix!r}", hint="write more of it")
            if not found:
                raise NotFound(
                    f"no token starts with {prefix[:SHOWN_CHARACTERS]!r}", hint="`market host token list` shows them"
                )
            self._save(tuple(row for row in rows if row is not found[0]), self._highest_id())
        return found[0]

    def ensure_admin(self, token_path: Path) -> Caller:
        """Return the host's own admin, whose token is kept in `token_path` (0600) and made at the first start."""
        with disk_failures("read", token_path):
            text = token_path.read_text(encoding="ascii").strip() if token_path.exists() else ""
        self._refresh()
        if text and (account := self._by_hash.get(_hash(text))) is not None and account.role == Role.ADMIN:
            return account.caller
        token, account = self.create(Role.ADMIN, ADMIN_NAME)
        write_atomic(token_path, f"{token}\n".encode(), 0o600)
        return account.caller

    def _lock_path(self) -> Path:
        with disk_failures("create", self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._path.with_suffix(".lock")

    def _refresh(self) -> None:
        with disk_failures("read", self._path):
            if not self._path.exists():
                self._mark, self._by_hash = None, {}
                return
            status = self._path.stat()
            mark = status.st_ino, status.st_size, status.st_mtime_ns
            if mark != self._mark:
                self._by_hash = {account.hash: account for account in self._parse(self._path.read_bytes())[0]}
                self._mark = mark

    def _highest_id(self) -> int:
        with disk_failures("read", self._path):
            return self._parse(self._path.read_bytes())[1] if self._path.exists() else 0

    def _parse(self, data: bytes) -> tuple[tuple[Account, ...], int]:
        try:
            values = json.loads(data)
            return tuple(Account(**row) for row in values["tokens"]), int(values["highest_id"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"{self._path} can't be read",
                why=str(error),
                hint="restore it from a backup, or delete it and make the tokens anew",
            ) from None

    def _save(self, rows: tuple[Account, ...], highest_id: int) -> None:
        text = json.dumps({"schema": 1, "highest_id": highest_id, "tokens": [asdict(row) for row in rows]}, indent=1)
        write_atomic(self._path, text.encode(), 0o600)
        self._refresh()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
