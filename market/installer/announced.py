"""What the code of an index's wheel depends on, before it is downloaded: read from the METADATA that the index serves beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.installer.composition import choose_applying
from market.pack.kinds import WHEEL_KIND

if TYPE_CHECKING:
    from market.client.index_client import IndexClient
    from market.client.wire import ReleaseDocument


def read_announced(client: IndexClient, release: ReleaseDocument) -> tuple[str, ...] | None:
    """Return the requirements that apply on this Python and system; None where they are known only from the file itself.

    That is so of an unpacked wheel in an archive, and where an index serves no METADATA.
    """
    if WHEEL_KIND.id not in (release.archive.kind, release.kind):
        return ()
    content = client.download_metadata(release)
    return None if content is None else choose_applying(content)
