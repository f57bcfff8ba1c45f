"""The reads on the hot path: a document by its path, a token by its hash. One raw connection, used in the event loop's own thread.

A hop to a thread costs more than these reads (the statement itself is a few microseconds); everything slower goes through `lanes`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from index.settings import DATABASE_TIMEOUT_SECONDS
from index.store.database import DATABASE_NAME, known_failure, sql_failures
from market.web.documents import Document

if TYPE_CHECKING:
    from pathlib import Path

_DOCUMENT = "SELECT etag, body FROM documents WHERE path = ?"
_FILE = (
    "SELECT files.size FROM files JOIN releases ON releases.id = files.release_id "
    "WHERE files.filename = ? AND files.digest = ? AND releases.state NOT IN ('quarantined', 'deleted')"
)
_TOKEN = (
    "SELECT tokens.id, publishers.id, publishers.name, tokens.prefix, tokens.scopes, tokens.expires_at, tokens.last_used_at "
    "FROM tokens JOIN publishers ON publishers.id = tokens.publisher_id WHERE tokens.secret_sha256 = ? AND tokens.revoked_at = ''"
)


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token that isn't revoked, as it stands in the database. Empty `expires_at` means never."""

    token_id: int
    publisher_id: int
    publisher: str
    prefix: str
    scopes: str
    expires_at: str
    last_used_at: str


class InlineReader:
    """Reads of single rows. Each sees the newest commit, of whichever process."""

    def __init__(self, data: Path) -> None:
        with sql_failures():
            self._connection = sqlite3.connect(
                f"file:{data / DATABASE_NAME}?mode=rw",
                uri=True,
                isolation_level=None,
                timeout=DATABASE_TIMEOUT_SECONDS,
                check_same_thread=False,
            )
            self._connection.execute("PRAGMA query_only=ON")

    def document(self, path: str) -> Document | None:
        """Return the document that a publish wrote under a path, or None."""
        try:
            row = self._connection.execute(_DOCUMENT, (path,)).fetchone()
        except sqlite3.Error as error:
            # The context manager of the others costs as much as the statement.
            raise known_failure(error) or error from error
        return None if row is None else Document(row[1], row[0].encode())

    def stamp(self) -> int:
        """Return a number that changes with every commit of anybody: what was made under it is still true while it stands."""
        with sql_failures():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def file_size(self, digest: str, filename: str) -> int | None:
        """Return the size in bytes of a file that may be downloaded, or None where there is none of this name and digest."""
        with sql_failures():
            row = self._connection.execute(_FILE, (filename, digest)).fetchone()
        return None if row is None else int(row[0])

    def token(self, secret_sha256: str) -> TokenRow | None:
        """Return the token with this hash, or None where it is unknown or revoked."""
        with sql_failures():
            row = self._connection.execute(_TOKEN, (secret_sha256,)).fetchone()
        return None if row is None else TokenRow(*row)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
