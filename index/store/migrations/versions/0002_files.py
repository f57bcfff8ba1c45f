"""A release may have several files: what was said of its one archive moves from the release to the file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

MOVED = ("tree_digest", "requires", "needs", "manifest")


def text(name: str, *, unique: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False, unique=unique)


def upgrade() -> None:
    # A table of its own and a copy: SQLite can't drop the old constraint of one file a kind. Nothing refers to this table.
    op.drop_index("files_by_digest", "files")
    op.rename_table("files", "files_before")
    op.create_table(
        "files",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("release_id", sa.Integer(), sa.ForeignKey("releases.id"), nullable=False),
        text("kind"),
        text("filename", unique=True),
        text("digest"),
        sa.Column("size", sa.Integer(), nullable=False),
        *(text(name) for name in ("uploaded_at", "tree_digest", "requires_python", "metadata_digest")),
        *(text(name) for name in ("requires", "needs", "manifest")),
        sa.Index("files_by_release", "release_id"),
        sa.Index("files_by_digest", "digest"),
    )
    op.execute(
        "INSERT INTO files SELECT files_before.id, release_id, kind, packs.name || '-' || releases.version || '.zip', digest, size, "
        "published_at, tree_digest, '', '', requires, needs, manifest FROM files_before "
        "JOIN releases ON releases.id = files_before.release_id JOIN packs ON packs.id = releases.pack_id"
    )
    op.drop_table("files_before")
    for name in MOVED:
        op.drop_column("releases", name)
