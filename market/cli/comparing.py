"""Installed packs against what their indexes say now: a row for each. Nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.network import open_index
from market.errors import MarketError, NotFound
from market.installer.machine import Machine
from market.installer.pins import load_pins
from market.installer.release_check import find_release, is_same_release
from market.names import Requirement
from market.resolve.candidates import make_offer, select
from market.resolve.policy import Policy

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.client.index_client import IndexClient
    from market.client.wire import PackDocument, ReleaseSummary
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.names import Version
    from market.resolve.candidates import Offer

CURRENT, NEWER, GONE, CHANGED, UNKNOWN = "current", "outdated", "gone", "changed", "unknown"


def compare(market: Market, clients: dict[str, IndexClient], root: Root, receipt: Receipt) -> dict[str, Any]:
    """Ask a pack's own index; an index that doesn't answer makes the row `unknown` and no error. `clients` are those opened so far."""
    url = receipt.origin.index
    pin = load_pins(root).get(receipt.pack_name)
    row: dict[str, Any] = {
        "name": receipt.pack_name,
        "pack": receipt.pack_name,
        "version": receipt.version.text,
        "newest": "",
        "status": UNKNOWN,
        "note": "",
        "pinned": pin.version.text if pin else "",
        "index": url,
        "root": str(root.path),
    }
    try:
        if url not in clients:
            clients[url] = open_index(market, market.settings.index_at(url))
        document = clients[url].pack(receipt.pack_name)
    except NotFound:
        return {**row, "status": GONE, "note": "the index no longer knows the pack"}
    except MarketError as error:
        return {**row, "note": error.message}
    offer = make_offer(document, Policy(find_unmet=Machine(market.environ).find_unmet))
    newest = next(iter(select(offer, [Requirement(receipt.pack_name)])), None)
    status, note = _judge(receipt, document, newest.version if newest else None)
    notes = [note, *_not_for_here(receipt, offer)]
    text = newest.version.text if newest else ""
    return {**row, "newest": text, "status": status, "note": "; ".join(one for one in notes if one)}


def _judge(receipt: Receipt, document: PackDocument, newest: Version | None) -> tuple[str, str]:
    own = find_release(receipt, document)
    if own is not None and not is_same_release(receipt, own):
        return CHANGED, f"installed is {receipt.release_digest}, the index has {own.tree_digest}"
    note = _standing(own)
    if newest is not None and newest > receipt.version:
        return NEWER, note
    return (GONE, note) if note else (CURRENT, "")


def _not_for_here(receipt: Receipt, offer: Offer) -> list[str]:
    """Say of the newest release that an upgrade passes over why it does."""
    newer = [one for one in offer.passed_over if one.version > receipt.version]
    return [f"{newer[0].version} is passed over: {newer[0].why}"] if newer else []


def _standing(own: ReleaseSummary | None) -> str:
    if own is None:
        return "the installed release is no longer on the index"
    if own.state == "live":
        return ""
    reason = f": {own.yanked_reason}" if own.yanked_reason else ""
    return f"the installed release is {own.state}{reason}"
