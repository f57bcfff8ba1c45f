"""Publishers and their API tokens: made, shown, revoked, recognised. What a token's owner may publish is in `index.publish`."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from index.model import Account, Scope, to_text
from index.store.audit import append_audit
from index.store.schema import publishers, tokens
from market.errors import InvalidInput, NotFound, Refused, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import Connection

    from index.store.inline import InlineReader
    from market.names import PublisherName

TOKEN_PREFIX = "skm_"
TOKEN_RANDOM_BYTES = 32
SHOWN_PREFIX_CHARACTERS = 12
MAX_LABEL_CHARACTERS = 100
ALL_SCOPES = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class TokenSummary:
    """A token as its owner may see it later: everything but the secret. Empty times mean never."""

    prefix: str
    publisher: str
    label: str
    scopes: tuple[str, ...]
    created_at: str
    expires_at: str
    last_used_at: str
    revoked_at: str


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made, with the secret that is shown once."""

    secret: str
    summary: TokenSummary


def create_token(
    connection: Connection,
    publisher: PublisherName,
    now: datetime,
    *,
    scopes: Iterable[Scope] = ALL_SCOPES,
    label: str = "",
    expires_at: datetime | None = None,
) -> NewToken:
    """Make a token for a publisher, who is created where unknown."""
    if len(label) > MAX_LABEL_CHARACTERS:
        raise InvalidInput(f"the label is longer than {MAX_LABEL_CHARACTERS} characters")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_RANDOM_BYTES)
    row = {
        "prefix": secret[:SHOWN_PREFIX_CHARACTERS],
        "label": label,
        "scopes": " ".join(sorted(scopes)),
        "created_at": to_text(now),
        "expires_at": to_text(expires_at) if expires_at else "",
        "last_used_at": "",
        "revoked_at": "",
    }
    publisher_id = _publisher_id(connection, publisher, now)
    connection.execute(insert(tokens).values(**row, publisher_id=publisher_id, secret_sha256=hash_secret(secret)))
    append_audit(connection, now, publisher, "token-create", row["prefix"])
    return NewToken(secret, TokenSummary(publisher=publisher, **{**row, "scopes": tuple(row["scopes"].split())}))  # type: ignore[arg-type]


def list_tokens(connection: Connection) -> tuple[TokenSummary, ...]:
    """Return every token, oldest first."""
    query = (
        select(
            tokens.c.prefix,
            publishers.c.name,
            tokens.c.label,
            tokens.c.scopes,
            tokens.c.created_at,
            tokens.c.expires_at,
            tokens.c.last_used_at,
            tokens.c.revoked_at,
        )
        .join(publishers, publishers.c.id == tokens.c.publisher_id)
        .order_by(tokens.c.id)
    )
    return tuple(TokenSummary(*row[:3], tuple(row[3].split()), *row[4:]) for row in connection.execute(query))


def revoke_token(connection: Connection, prefix: str, now: datetime) -> TokenSummary:
    """Revoke the one token whose secret starts with `prefix`; it stops working at once.

    Raises `NotFound`, and `InvalidInput` where several start so.
    """
    shown = prefix[:SHOWN_PREFIX_CHARACTERS]
    found = [token for token in list_tokens(connection) if token.prefix.startswith(shown) and not token.revoked_at]
    if not prefix or not found:
        raise NotFound(f"there is no token that starts with {prefix!r}", hint="see `market index token list`")
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} tokens start with {prefix!r}", hint="give more of the token's prefix")
    connection.execute(
        update(tokens)
        .where(tokens.c.prefix == found[0].prefix, tokens.c.revoked_at == "")
        .values(revoked_at=to_text(now))
    )
    append_audit(connection, now, found[0].publisher, "token-revoke", found[0].prefix)
    return found[0]


def authenticate(reader: InlineReader, secret: str, now: datetime) -> Account:
    """Return whose token this is; raises `Unauthenticated` for an unknown, revoked or expired one, without saying which."""
    row = reader.token(hash_secret(secret))
    if row is None or (row.expires_at and row.expires_at <= to_text(now)):
        raise Unauthenticated(
            "the token is not valid here",
            why="it is unknown to this index, expired or revoked",
            hint="get a new one with `market index token create`",
        )
    known = frozenset(Scope(word) for word in row.scopes.split())
    return Account(row.token_id, row.publisher_id, row.publisher, row.prefix, known, row.expires_at, row.last_used_at)


def check_scope(account: Account | None, scope: Scope) -> Account:
    """Return the account if it may do this; raises `Unauthenticated` without one and `Refused` without the scope."""
    if account is None:
        raise Unauthenticated(
            "this needs a token", hint="log in with `market login`, or send one as 'Authorization: Bearer skm_...'"
        )
    if scope not in account.scopes:
        raise Refused(
            f"the token {account.prefix}... may not {scope}", why=f"its scopes are: {', '.join(sorted(account.scopes))}"
        )
    return account


def touch_token(connection: Connection, token_id: int, now: datetime) -> None:
    """Note that a token was used."""
    connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=to_text(now)))


def hash_secret(secret: str) -> str:
    """Return the form in which a token's secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _publisher_id(connection: Connection, name: PublisherName, now: datetime) -> int:
    found = connection.execute(select(publishers.c.id).where(publishers.c.name == name)).scalar()
    if found is not None:
        return int(found)
    result = connection.execute(insert(publishers).values(name=name, created_at=to_text(now)))
    append_audit(connection, now, name, "publisher-create", name)
    return int(result.inserted_primary_key[0])  # type: ignore[index]
