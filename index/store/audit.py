"""The index's own audit: one row for each thing that was changed, in the transaction that changed it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert

from index.model import to_text
from index.store.schema import audit

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection


def append_audit(connection: Connection, now: datetime, publisher: str, act: str, subject: str, **details: str) -> None:
    """Write one row: who did what to what."""
    connection.execute(
        insert(audit).values(
            at=to_text(now), publisher=publisher, act=act, subject=subject, details=json.dumps(details)
        )
    )
