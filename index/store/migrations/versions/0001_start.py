"""The first tables: publishers, tokens, packs, releases, files, documents, audit, and the search index."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTALLABLE: Any = {"sqlite_where": sa.text("latest != ''"), "postgresql_where": sa.text("latest != ''")}


def text(name: str, *, unique: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, unique=unique)


def texts(*names: str) -> list[sa.Column[str]]:
    return [text(name) for name in names]


def number(name: str, target: str = "") -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), *([sa.ForeignKey(target)] if target else []), nullable=False)


def identity() -> sa.Column[int]:
    return sa.Column("id", sa.Integer(), primary_key=True)


def upgrade() -> None:
    create_accounts()
    create_packs()
    op.create_table(
        "documents",
        sa.Column("path", sa.Text(), primary_key=True),
        text("etag"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    # `prefix` keeps the last, half-typed word of a query cheap; porter lets "cleaning" find "clean".
    op.execute(
        "CREATE VIRTUAL TABLE search USING fts5(name, skills, summary, words, "
        "tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3')"
    )


def create_accounts() -> None:
    op.create_table("publishers", identity(), text("name", unique=True), text("created_at"))
    op.create_table(
        "tokens",
        identity(),
        number("publisher_id", "publishers.id"),
        text("secret_sha256", unique=True),
        *texts("prefix", "label", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"),
    )
    op.create_table("audit", identity(), *texts("at", "publisher", "act", "subject", "details"))


def create_packs() -> None:
    op.create_table(
        "packs",
        identity(),
        text("name", unique=True),
        number("publisher_id", "publishers.id"),
        *texts("latest", "summary", "updated_at"),
        number("skills"),
        sa.Index("packs_by_update", "updated_at", "id", **INSTALLABLE),
    )
    op.create_table(
        "releases",
        identity(),
        number("pack_id", "packs.id"),
        *texts("version", "canonical_version", "state", "yanked_reason", "published_at"),
        number("token_id", "tokens.id"),
        *texts("tree_digest", "requires", "needs", "manifest"),
        sa.UniqueConstraint("pack_id", "canonical_version"),
    )
    op.create_table(
        "files",
        identity(),
        number("release_id", "releases.id"),
        *texts("kind", "digest"),
        number("size"),
        sa.UniqueConstraint("release_id", "kind"),
        sa.Index("files_by_digest", "digest"),
    )
