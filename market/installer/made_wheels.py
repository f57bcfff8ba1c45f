"""The archive that was made of a wheel and is kept: taken again where it is still what is wanted, so that nothing is fetched twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import MarketError
from market.installer.archives import open_kept
from market.installer.composition import compose, find_uncovered, requires_of
from market.installer.layout import Layout, load_layout
from market.installer.receipt import load_pack_receipts, load_receipt
from market.pack.inspect import Given
from market.pack.wheel_metadata import parse_wheel_file
from market.pack.wheel_tree import find_dist_info
from market.trust.verify import Promise, verify_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.installer.composition import Composition
    from market.installer.dependencies import DependencyTerms
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.pack.source import Source
    from market.trust.verify import VerifiedPack

WHEEL_FILE = ".dist-info/WHEEL"


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
        verified = verify_archive(kept, Given(), promise)
    except MarketError:
        return None
    return verified if works_here(verified) else None


def works_here(verified: VerifiedPack) -> bool:
    """Whether a pack that was made of a wheel fits this Python and system, each part of it; every other pack does."""
    paths = [file.path for file in verified.source.files()]
    if not find_dist_info(paths):
        return True
    files = [path for path in paths if path.endswith(WHEEL_FILE)]
    if any(find_foreign_tags(verified.source, file) for file in files):
        return False
    composition = compose(verified)
    if composition is None or composition.left_out:
        return True
    return not find_uncovered(requires_of(verified.source), composition.dependencies)


def find_foreign_tags(source: Source, file: str) -> Sequence[str]:
    """Return the tags of a file WHEEL where none of them fits this Python and system, else nothing."""
    # Only wheels need it, and it takes 10 ms to load.
    from packaging.tags import parse_tag, sys_tags

    tags = parse_wheel_file(source.read(file), file)[0].tags
    fitting = frozenset(sys_tags())
    return () if any(fitting & parse_tag(tag) for tag in tags) else tags


def _find_receipt(root: Root, name: str) -> Receipt | None:
    return load_receipt(root, name) if load_layout(root) is Layout.PACKS else load_pack_receipts(root).get(name)


def _is_wanted(receipt: Receipt, release: str, terms: DependencyTerms, locked: Composition | None) -> bool:
    composition = receipt.composition
    if receipt.published_digest != release:
        return False
    if locked is not None:
        return composition == locked
    # What --no-deps left out is wanted by whoever installs it without.
    return composition is None or not (composition.left_out and terms.fetch)
