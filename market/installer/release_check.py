"""Is an installed pack still the release that its index has under that version? Decided by digests, never by the version's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Conflict
from market.resolve.choose import try_version

if TYPE_CHECKING:
    from market.client.wire import PackDocument, ReleaseSummary
    from market.installer.receipt import Receipt


def find_release(receipt: Receipt, document: PackDocument) -> ReleaseSummary | None:
    """Return the index's row of the installed version, or None where it has none."""
    return next((one for one in document.releases if try_version(one.version) == receipt.version), None)


def is_same_release(receipt: Receipt, release: ReleaseSummary) -> bool:
    """Answer whether the installed tree was made from this release, whatever was edited and accepted since.

    A wheel's release knows nothing of what is fetched for it where it is installed.
    """
    return release.tree_digest in (receipt.release_digest, receipt.published_digest)


def check_release(receipt: Receipt, document: PackDocument) -> None:
    """Raise `Conflict`, naming both digests, where the index has another tree under the installed version."""
    release = find_release(receipt, document)
    if release is not None and not is_same_release(receipt, release):
        raise Conflict(
            f"{receipt.pack_name} {receipt.version} is another tree on the index than the installed one",
            why=f"installed is {receipt.release_digest}, the index has {release.tree_digest}: a release never changes",
            hint="ask the index's operator; to take what the index has now, uninstall the pack and install it again",
            details={
                "name": receipt.pack_name,
                "version": receipt.version.text,
                "installed": receipt.release_digest,
                "offered": release.tree_digest,
            },
        )
