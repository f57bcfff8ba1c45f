"""Yank a release, and take that back: it stays downloadable for who names it exactly, and is chosen by nobody else (PEP 592).

Every face, list and search follow in the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from index.commit import Deed, check_owner
from index.model import ReleaseState
from index.store.audit import append_audit
from index.store.releases import find_release, set_state
from index.store.written import write_documents
from market.client.wire import Yanked
from market.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from index.store.database import Database
    from market.names import PackName, Version

MAX_REASON_CHARACTERS = 300
# From each state, what a yank (True) or its undoing (False) leads to. A held release isn't listed anyway.
STEPS = {True: (ReleaseState.LIVE, ReleaseState.YANKED), False: (ReleaseState.YANKED, ReleaseState.LIVE)}


def yank(database: Database, name: PackName, version: Version, reason: str, deed: Deed) -> Yanked:
    """Yank a release. Again with the same reason changes nothing; another reason takes the old one's place."""
    if len(reason) > MAX_REASON_CHARACTERS or not reason.isprintable():
        raise InvalidInput(
            "the reason can't be taken",
            why=f"it may have {MAX_REASON_CHARACTERS} printable characters",
            hint="shorten it",
        )
    return _change(database, name, version, is_yank=True, reason=reason, deed=deed)


def unyank(database: Database, name: PackName, version: Version, deed: Deed) -> Yanked:
    """Take a yank back."""
    return _change(database, name, version, is_yank=False, reason="", deed=deed)


def _change(database: Database, name: PackName, version: Version, *, is_yank: bool, reason: str, deed: Deed) -> Yanked:
    with database.write() as connection:
        pack = check_owner(connection, name, deed.account, hint="use a token of its publisher")
        release = find_release(connection, name, version)
        if pack is None or release is None:
            raise NotFound(f"there is no release {version.text!r} of {name!r}")
        before, after = STEPS[is_yank]
        if release.state not in (before, after):
            raise Conflict(f"{name} {release.version} is {release.state}", hint="only a live release can be yanked")
        changed = release.state != after or (is_yank and release.yanked_reason != reason)
        if changed:
            set_state(connection, release.release_id, after, reason)
            write_documents(connection, name, pack.publisher, pack.pack_id, release.version)
            act = "yank" if is_yank else "unyank"
            append_audit(connection, deed.now, deed.account.publisher, act, f"{name} {release.version}", reason=reason)
    if changed:
        deed.plugins.release_yanked(
            name, release.version, deed.account.publisher, reason, undone=not is_yank, at=deed.now
        )
    return Yanked(name, release.version, str(after), reason, changed)
