"""The index's tables. How they came to be, step by step, is in `index.store.migrations`; a test holds both against each other.

Times are RFC 3339 text in UTC; JSON values are text. Search is a virtual table of SQLite (FTS5) and stands in `index.store.search`.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint, text

metadata = MetaData()

publishers = Table(
    "publishers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("publisher_id", Integer, ForeignKey("publishers.id"), nullable=False),
    # The secret itself is kept nowhere. It holds 256 random bits, so a plain hash can't be searched backwards.
    Column("secret_sha256", Text, nullable=False, unique=True),
    Column("prefix", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("last_used_at", Text, nullable=False),
    Column("revoked_at", Text, nullable=False),
)

packs = Table(
    "packs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("publisher_id", Integer, ForeignKey("publishers.id"), nullable=False),
    # The newest release's own words, so that a list needs one table only.
    Column("latest", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("skills", Integer, nullable=False),
    Column("updated_at", Text, nullable=False),
    # Only what a list shows, so that counting a hundred thousand packs takes a millisecond.
    Index(
        "packs_by_update", "updated_at", "id", sqlite_where=text("latest != ''"), postgresql_where=text("latest != ''")
    ),
)

releases = Table(
    "releases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("pack_id", Integer, ForeignKey("packs.id"), nullable=False),
    Column("version", Text, nullable=False),
    # One release for `1.0` and `1.0.0`.
    Column("canonical_version", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("yanked_reason", Text, nullable=False),
    Column("published_at", Text, nullable=False),
    Column("token_id", Integer, ForeignKey("tokens.id"), nullable=False),
    UniqueConstraint("pack_id", "canonical_version"),
)

# A release may have an archive, wheels and an sdist. Files are added and never change; whether they are yanked is the release's.

files = Table(
    "files",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("release_id", Integer, ForeignKey("releases.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("filename", Text, nullable=False, unique=True),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("uploaded_at", Text, nullable=False),
    # Of the tree inside; empty for an sdist, which nobody here reads.
    Column("tree_digest", Text, nullable=False),
    Column("requires_python", Text, nullable=False),
    # The sha256 of a wheel's METADATA, which is served beside it; empty where there is none.
    Column("metadata_digest", Text, nullable=False),
    Column("requires", Text, nullable=False),
    Column("needs", Text, nullable=False),
    # What the release document says beyond these columns.
    Column("manifest", Text, nullable=False),
    Index("files_by_release", "release_id"),
    Index("files_by_digest", "digest"),
)

documents = Table(
    "documents",
    metadata,
    Column("path", Text, primary_key=True),
    Column("etag", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("publisher", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text, nullable=False),
)
