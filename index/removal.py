"""Delete a release: nobody gets it any more, and its name and version stay taken, so that they never mean other bytes.

The operator's act, on the index's own machine; publishers yank (`index.yank`). Every face, list and search follow in the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from index.model import ReleaseState
from index.store.audit import append_audit
from index.store.releases import find_pack, find_release, set_state
from index.store.written import write_documents
from market.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from index.store.database import Database
    from market.names import PackName, Version

OPERATOR = "operator"


def delete_release(database: Database, name: PackName, version: Version, reason: str, now: datetime) -> str:
    """Delete a release and return its version as its author wrote it; deleting it again changes nothing.

    Its bytes stay in the store as evidence. Raises `NotFound` for a release that never was.
    """
    with database.write() as connection:
        pack, release = find_pack(connection, name), find_release(connection, name, version)
        if pack is None or release is None:
            raise NotFound(f"there is no release {version.text!r} of {name!r}")
        if release.state != ReleaseState.DELETED:
            set_state(connection, release.release_id, ReleaseState.DELETED, reason)
            write_documents(connection, name, pack.publisher, pack.pack_id, release.version)
            append_audit(connection, now, OPERATOR, "delete", f"{name} {release.version}", reason=reason)
        return release.version
