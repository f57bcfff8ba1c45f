"""What goes into a bundle: packs of an index, a folder or an archive with what they require, or packs that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.network import open_indexes
from market.cli.ordering import add_folder_hint, read_order
from market.cli.roots import find_installed
from market.errors import MarketError, NotFound
from market.installer.archives import open_kept
from market.installer.bundle import BundledPack, bundle_pack, describe_release
from market.installer.closure import acquire_closure, find_closure
from market.installer.dependencies import make_dependency_terms
from market.installer.root import Root
from market.installer.transaction import Arrival
from market.names import parse_pack_name
from market.pack.inspect import Given
from market.resolve.policy import Policy
from market.trust.verify import Promise, verify_made

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.installer.listing import Installed


def gather(
    market: Market, stack: ExitStack, targets: Sequence[str], *, index: str, token: str, follow: bool
) -> list[BundledPack]:
    """Return what the targets come to on an empty machine, with the index's own documents."""
    indexes = open_indexes(market, index=index, token=token)
    try:
        dependencies = make_dependency_terms(market.environ, fetch=follow)
        order = read_order(market, stack, targets, Given(), follow=follow, dependencies=dependencies)
        picks = find_closure(None, indexes, order, Policy())
        arrivals = acquire_closure(picks, indexes, order.given, dependencies)
    except MarketError as error:
        raise add_folder_hint(error, targets) from None
    asked = {pick.name for pick in picks if pick.is_asked_for} | {str(one.verified.name) for one in order.given}
    packs = []
    for arrival in arrivals:
        name, version = str(arrival.verified.name), arrival.verified.version.text
        from_index = arrival.origin.kind == "index"
        release = indexes.release(name, version) if from_index else describe_release(arrival, market.now().isoformat())
        packs.append(bundle_pack(arrival, release, is_asked_for=name in asked))
    return packs


def gather_installed(
    market: Market, names: Sequence[str], roots: tuple[str, ...], *, follow: bool
) -> list[BundledPack]:
    """Return installed packs, with the installed ones that they require, from the archives that their roots keep."""
    found: dict[str, BundledPack] = {}
    waiting = [(str(parse_pack_name(name)), True) for name in names]
    while waiting:
        name, is_asked_for = waiting.pop(0)
        if name in found:
            continue
        arrival = _open_installed(find_installed(market, name, roots))
        release = describe_release(arrival, market.now().isoformat())
        found[name] = bundle_pack(arrival, release, is_asked_for=is_asked_for)
        if follow:
            waiting += [(str(required.name), False) for required in arrival.verified.pack.requires]
    return list(found.values())


def _open_installed(installed: Installed) -> Arrival:
    receipt = installed.receipt
    kept = open_kept(Root(installed.path.parent), receipt.archive_digest) if receipt else None
    if receipt is None or kept is None:
        raise NotFound(
            f"the archive of {installed.name} isn't kept in {installed.path.parent}",
            hint="install it again, or export it from its index: leave out --installed",
        )
    promise = Promise(receipt.pack_name, receipt.version, receipt.archive_digest, receipt.release_digest)
    return Arrival(verify_made(kept, Given(), promise), receipt.publisher, receipt.origin)
