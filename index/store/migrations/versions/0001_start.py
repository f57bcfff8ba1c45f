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


def text(name: str, **options: object) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, **options)  # type: ignore[arg-type]


def number(name: str, target: str = "") -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), *([sa.ForeignKey(target)] if target else []), nullable=False)


def identity() -> sa.Column[int]:
    return sa.Column("id", sa.Integer(), primary_key=True)


def upgrade() -> None:
    op.create_table("publishers", identity(), text("name", unique=True), text("created_at"))
    op.create_table(
        "tokens",
        identity(),
        number("publisher_id", "publishers.id"),
        text("secret_sha256", unique=True),
        text("prefix"),
        text("label"),
        text("scopes"),
        text("created_at"),
        text("expires_at"),
        text("last_used_at"),
        text("revoked_at"),
    )
    op.create_table(
        "packs",
        identity(),
        text("name", unique=True),
        number("publisher_id", "publishers.id"),
        text("latest"),
        text("summary"),
        number("skills"),
        text("updated_at"),
        sa.Index("packs_by_update", "updated_at", "id", **INSTALLABLE),
    )
    op.create_table(
        "releases",
        identity(),
        number("pack_id", "packs.id"),
        text("version"),
        text("canonical_version"),
        text("state"),
        text("yanked_reason"),
        text("published_at"),
        number("token_id", "tokens.id"),
        text("tree_digest"),
        text("requires"),
        text("needs"),
        text("manifest"),
        sa.UniqueConstraint("pack_id", "canonical_version"),
    )
    op.create_table(
        "files",
        identity(),
        number("release_id", "releases.id"),
        text("kind"),
        text("digest"),
        number("size"),
        sa.UniqueConstraint("release_id", "kind"),
        sa.Index("files_by_digest", "digest"),
    )
    op.create_table(
        "documents",
        sa.Column("path", sa.Text(), primary_key=True),
        text("etag"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
    op.create_table("audit", identity(), text("at"), text("publisher"), text("act"), text("subject"), text("details"))
    # `prefix` keeps the last, half-typed word of a query cheap; porter lets "cleaning" find "clean".
    op.execute(
        "CREATE VIRTUAL TABLE search USING fts5(name, skills, summary, words, "
        "tokenize = 'porter unicode61 remove_diacritics 2', prefix = '2 3')"
    )
