"""`market outdated`: which installed packs their indexes have newer releases of, or no longer stand by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.command import command
from market.cli.comparing import CURRENT, UNKNOWN, compare
from market.cli.newest import save_newest
from market.cli.report import EXIT_CODES, OK
from market.cli.roots import chosen_roots, root_option
from market.cli.text import table_lines
from market.errors import Unavailable
from market.installer.receipt import load_pack_receipts

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.index_client import IndexClient


@command("outdated")
@root_option
def outdated(market: Market, output: Output, roots: tuple[str, ...]) -> int:
    r"""Ask each pack's own index for a newer release. Nothing is changed; `market list` remembers the answer.

    A release that needs another system or another Python counts as little here as in an upgrade, and is named.

    \b
    outdated  there is a newer release
    changed   the index has another tree under the installed version: one of the two isn't the release
    gone      the index no longer offers the installed release (yanked, quarantined, deleted)
    unknown   the index didn't answer; the others were asked all the same

    \b
    Examples:
      market outdated
      market outdated --json
    """
    clients: dict[str, IndexClient] = {}
    with output.progress("asking the indexes"):
        rows = [
            compare(market, clients, root, receipt)
            for root in chosen_roots(market, roots)
            for receipt in load_pack_receipts(root).values()
            if receipt.origin.kind == "index"
        ]
    seen: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["newest"]:
            seen.setdefault(row["index"], {})[row["pack"]] = row["newest"]
    if seen:
        save_newest(market.home, seen)
    told = [row for row in rows if row["status"] != CURRENT or row["note"]]
    output.answer({"items": rows, "total": len(rows)}, _lines(rows, told))
    silent = bool(rows) and all(row["status"] == UNKNOWN for row in rows)
    return EXIT_CODES[Unavailable] if silent else OK


def _lines(rows: list[dict[str, Any]], told: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["nothing installed came from an index"]
    if not told:
        return [f"everything that came from an index is up to date ({len(rows)})"]
    cells = [
        (
            row["name"],
            row["version"],
            row["newest"],
            row["status"] + (f", pinned to {row['pinned']}" if row["pinned"] else ""),
            row["note"],
        )
        for row in told
    ]
    return table_lines(("NAME", "INSTALLED", "NEWEST", "STATUS", ""), cells)
