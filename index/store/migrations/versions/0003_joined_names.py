"""Names are found joined too. The rows of the search table are written again after each step of the schema, so that is all."""

from __future__ import annotations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
