"""`market list`: what is installed, root by root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.command import command
from market.cli.roots import chosen_roots, root_option
from market.cli.text import table_lines
from market.installer.listing import list_installed

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.listing import Installed
    from market.installer.receipt import Receipt
    from market.installer.root import Root

RECEIPT_FIELDS = ("version", "publisher", "index", "origin", "tree_digest", "installed_at")


@command("list")
@root_option
def list_packs(market: Market, output: Output, roots: tuple[str, ...]) -> None:
    r"""List the installed packs with their state: intact, edited since the install, missing, or broken.

    \b
    Examples:
      market list
      market list --root /srv/skills --json
    """
    rows = [_document(root, installed) for root in chosen_roots(market, roots) for installed in list_installed(root)]
    cells = [(row["name"], row["version"], row["state"], row["index"] or row["origin"], row["path"]) for row in rows]
    lines = table_lines(("NAME", "VERSION", "STATE", "FROM", "PATH"), cells) if rows else ["nothing is installed"]
    output.answer({"items": rows, "total": len(rows)}, lines)


def _document(root: Root, installed: Installed) -> dict[str, Any]:
    receipt = installed.receipt
    known = (
        _receipt_document(receipt) if receipt else {**dict.fromkeys(RECEIPT_FIELDS, ""), "trouble": installed.trouble}
    )
    place = {"root": str(root.path), "path": str(installed.path), "edited_files": list(installed.edited_files)}
    return {"name": installed.name, "state": str(installed.state), **known, **place}


def _receipt_document(receipt: Receipt) -> dict[str, Any]:
    return {
        "version": receipt.version.text,
        "publisher": receipt.publisher,
        "index": receipt.origin.index,
        "origin": f"{receipt.origin.kind} {receipt.origin.location}",
        "tree_digest": receipt.tree_digest,
        "installed_at": receipt.installed_at.isoformat(),
    }
