"""What every upload shares: whose the name is, and one transaction that adds a file to a release and writes all that tells of it.

What kind of file it is, and whether it is good, is in `index.publish` and `index.distributions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from index.accounts import touch_token
from index.model import Account, ReleaseState, to_text
from index.screening import decide_by_owner
from index.store.audit import append_audit
from index.store.releases import Standing, claim_name, find_pack, find_release, insert_file, insert_release
from index.store.written import write_documents
from market.errors import Conflict, Refused

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from index.store.releases import NewFile, PackRow
    from market.names import PackName, Version
    from market.pack.secrets import Place
    from market.plugins.loaded import Plugins

CLOSED_STATES = (ReleaseState.QUARANTINED, ReleaseState.DELETED)


@dataclass(frozen=True, slots=True)
class Deed:
    """Who does something to the index, and when; `plugins` are asked and told. `allowed_secrets` are places that the publisher allows."""

    account: Account
    now: datetime
    plugins: Plugins
    allowed_secrets: frozenset[Place] = frozenset()


def check_owner(connection: Connection, name: PackName, account: Account, *, hint: str) -> PackRow | None:
    """Return the pack of this name, None where the name is free; raises `Refused` where it is somebody else's.

    `hint` says how the sender gives this kind of file another name.
    """
    pack = find_pack(connection, name)
    decision = decide_by_owner(name, account.publisher, pack.publisher if pack else "")
    if not decision.allowed:
        raise Refused(
            decision.reason,
            why=f"this token is of {account.publisher!r}",
            hint=hint,
        )
    return pack


def check_open(release: Standing | None, name: PackName) -> Standing | None:
    """Return the release if files may be added to it; raises `Conflict` for one that was taken out of use."""
    if release is not None and release.state in CLOSED_STATES:
        raise Conflict(
            f"{name} {release.version} is {release.state}, and nothing can be added to it", hint="publish a new version"
        )
    return release


def add_file(connection: Connection, name: PackName, version: Version, file: NewFile, deed: Deed) -> str:
    """Add a file to its release, which is made where it isn't there, as is the pack; return the release's version as it is written.

    The caller has looked, in this transaction, that the way is free.
    """
    account, moment = deed.account, to_text(deed.now)
    pack = find_pack(connection, name)
    pack_id = pack.pack_id if pack else claim_name(connection, name, account.publisher_id, moment)
    release = find_release(connection, name, version)
    release = release or insert_release(connection, pack_id, version, account.token_id, moment)
    insert_file(connection, release.release_id, file, moment)
    write_documents(connection, name, account.publisher, pack_id, release.version, moment)
    details = {"file": file.filename, "digest": file.digest, "tree_digest": file.tree_digest}
    append_audit(connection, deed.now, account.publisher, "publish", f"{name} {release.version}", **details)
    touch_token(connection, account.token_id, deed.now)
    return release.version
