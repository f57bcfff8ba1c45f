"""`market list`: what stands in the roots, root by root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.command import command
from market.cli.composed import composition_fields
from market.cli.newest import find_newer, load_newest
from market.cli.roots import chosen_roots, root_option
from market.cli.standing import BEHIND, find_standings
from market.cli.standing_text import list_lines
from market.installer.pins import load_pins

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.newest import Newest
    from market.cli.output import Output
    from market.cli.standing_row import PackStanding
    from market.installer.pins import Pin
    from market.installer.receipt import Receipt

RECEIPT_FIELDS = ("publisher", "index", "origin", "tree_digest", "installed_at", "accepted_at")


@command("list")
@root_option
def list_packs(market: Market, output: Output, roots: tuple[str, ...]) -> None:
    r"""List the packs and how each stands, folders with skills that somebody put there, and plugin packs that pip installed.

    \b
    live        its skills can be called
    edited      changed since its install; skills that only read still load
    held        changed since its install, so that what changes things is held: see `market verify`
    shadowed    another one has the name; call it as pack:skill
    disabled    somebody switched it off
    ineligible  this machine lacks what it needs
    invalid     it doesn't load, or its code can't be used: see `market check`
    behind      `market outdated` saw a newer release
    unmanaged   Market didn't install it: somebody put it there, or pip did, into the environment of this Python or of a host
    missing     its directory is gone; broken: its receipt can't be read

    Where a running host serves the root, its word counts. No network is asked.

    \b
    Examples:
      market list
      market list --root /srv/skills --json
    """
    chosen = chosen_roots(market, roots)
    standings, looks = find_standings(market, chosen, with_environment=not roots)
    newest, pins = load_newest(market.home), {root.path: load_pins(root) for root in chosen}
    rows = [_document(row, newest, pins.get(row.root.path, {}).get(row.pack)) for row in standings]
    hosts = [{"url": look.url, "root": look.root, "trouble": look.trouble} for look in looks]
    output.answer({"items": rows, "total": len(rows), "hosts": hosts}, list_lines(rows, looks))


def _document(row: PackStanding, newest: Newest, pin: Pin | None) -> dict[str, Any]:
    newer = find_newer(newest, row.receipt) if row.receipt else None
    return {
        "name": row.pack,
        "version": row.version,
        "state": BEHIND if newer is not None and row.state == "live" else row.state,
        "tree": str(row.tree),
        "newer": newer.text if newer else "",
        "pinned": pin.version.text if pin else "",
        **composition_fields(row.receipt.composition if row.receipt else None),
        **(_receipt_document(row.receipt) if row.receipt else dict.fromkeys(RECEIPT_FIELDS, "")),
        "source": row.source,
        "root": str(row.root.path),
        "path": str(row.root.tree(row.name)) if row.name else str(row.root.path),
        "edited_files": list(row.edited_files),
        "skills": [{"key": key, "state": state} for key, state in row.skills],
        "host": row.host,
        "host_version": row.host_version,
        "not_loaded": [{"name": name, "reason": reason} for name, reason in row.not_loaded],
        "lacks": [{"text": text, "fix": fix} for text, fix in row.lacks],
        "trouble": row.trouble,
    }


def _receipt_document(receipt: Receipt) -> dict[str, Any]:
    return {
        "publisher": receipt.publisher,
        "index": receipt.origin.index,
        "origin": f"{receipt.origin.kind} {receipt.origin.location}",
        "tree_digest": receipt.tree_digest,
        "installed_at": receipt.installed_at.isoformat(),
        "accepted_at": receipt.accepted.at.isoformat() if receipt.accepted else "",
    }
