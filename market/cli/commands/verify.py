"""`market verify`: read every byte of the installed packs against their receipts; or accept what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.cli.locking import lock_timeout_option
from market.cli.report import EXIT_CODES, OK
from market.cli.roots import root_option
from market.cli.text import count_text
from market.cli.verifying import accept_pack, difference_lines, verify_packs
from market.errors import Untrusted
from market.installer.tree_state import TreeState

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--accept", multiple=True, metavar="NAME", help="Take this pack's edits for what was installed.")
@root_option
@lock_timeout_option
def verify(
    market: Market,
    output: Output,
    names: tuple[str, ...],
    accept: tuple[str, ...],
    roots: tuple[str, ...],
    lock_timeout: float,
) -> int:
    r"""Read every file of the named packs, or of all, and hold it against the receipt. Exit code 5 where something differs.

    With --accept nothing else is verified: the pack's receipt gets the record of the tree as it stands, held skills are live
    again, and an upgrade still asks before it replaces the edits. In a folder of another program (--target) a pack's name
    means all its skills, and a skill's name that one.

    \b
    Examples:
      market verify
      market verify my-pack --json
      market verify --accept my-pack
    """
    accepted = [accept_pack(market, name, roots, lock_timeout) for name in accept]
    rows = verify_packs(market, output, names, roots) if names or not accept else []
    lines = [line for _, told in accepted for line in told] + [line for row in rows for line in difference_lines(row)]
    differing = [row for row in rows if row["state"] != TreeState.INTACT]
    if rows and not differing:
        files = sum(row["files"] for row in rows)
        lines.append(f"{count_text(len(rows), 'pack')} and {count_text(files, 'file')} are as they were installed")
    elif not rows and not accepted:
        lines.append("nothing is installed")
    done = [row for rows_of_one, _ in accepted for row in rows_of_one]
    output.answer({"items": rows, "total": len(rows), "differing": len(differing), "accepted": done}, lines)
    return EXIT_CODES[Untrusted] if differing else OK
