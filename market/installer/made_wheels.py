"""The archive that was made of a wheel and is kept: taken again where it is still what is wanted, so that nothing is fetched twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import MarketError
from market.installer.archives import open_kept
from market.installer.composition import compose
from market.installer.layout import Layout, load_layout
from market.installer.machine import Machine
from market.installer.needs import find_never
from market.installer.receipt import load_pack_receipts, load_receipt
from market.pack.inspect import Given
from market.trust.verify import Promise, verify_made

if TYPE_CHECKING:
    from market.installer.composition import Composition
    from market.installer.dependencies import DependencyTerms
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.trust.verify import VerifiedPack


def reopen_installed(
    name: str, release: str, terms: DependencyTerms, locked: Composition | None = None
) -> VerifiedPack | None:
    """Return an installed wheel pack with what was fetched for it, where it is that very release and works on this Python.

    `release` is the tree digest of the wheel alone; with `locked` the dependencies must be those too. None where it must be
    made anew, also where the archive isn't kept or spoilt.
    """
    root = terms.reuse
    receipt = _find_receipt(root, name) if root else None
    if root is None or receipt is None or not _is_wanted(receipt, release, terms, locked):
        return None
    kept = open_kept(root, receipt.archive_digest)
    if kept is None:
        return None
    promise = Promise(receipt.pack_name, receipt.version, receipt.archive_digest, receipt.release_digest)
    try:
        verified = verify_made(kept, Given(), promise)
    except MarketError:
        return None
    # On another Python something may be left out that wasn't wanted on the one that installed it.
    return verified if works_here(verified) and compose(verified) == receipt.composition else None


def works_here(verified: VerifiedPack) -> bool:
    """Whether a pack fits this Python and system; one that was made of a wheel with each part of it."""
    return not find_never(verified.pack, Machine())


def _find_receipt(root: Root, name: str) -> Receipt | None:
    return load_receipt(root, name) if load_layout(root) is Layout.PACKS else load_pack_receipts(root).get(name)


def _is_wanted(receipt: Receipt, release: str, terms: DependencyTerms, locked: Composition | None) -> bool:
    composition = receipt.checked_composition
    if receipt.published_digest != release or composition != receipt.composition:
        return False
    if locked is not None:
        return composition == locked
    # What --no-deps left out is wanted by whoever installs it without, and what is there isn't by whoever installs it with it.
    return composition is None or not (composition.left_out if terms.fetch else composition.dependencies)
