"""`market lock`: write the lock file of what is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.command import command, dry_run_option
from market.cli.lock_place import lock_root_of, open_lock, save_lock
from market.cli.roots import one_root_option
from market.errors import Conflict
from market.installer.lock_file import LOCK_NAME
from market.installer.root import open_root

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("lock")
@click.argument("file", default=LOCK_NAME, metavar="[FILE]")
@one_root_option
@click.option("--check", is_flag=True, help="Write nothing; exit 4 where the file doesn't say what is installed.")
@dry_run_option
def lock(market: Market, output: Output, file: str, root: str, check: bool, dry_run: bool) -> None:
    r"""Write market.lock: every pack that is installed in the root, exactly, with where it came from.

    An existing file keeps describing the root that it names. `market sync` makes a root equal it again.

    \b
    Examples:
      market lock
      market lock --root ./skills
      market lock --check
    """
    place = open_lock(Path(file))
    described = open_root(Path(root) if root else place.described_root(market), create=False)
    made = lock_root_of(market, output, place, described)
    is_changed = made != place.lock or not place.exists
    if check and is_changed:
        raise Conflict(
            f"{file} doesn't say what is installed in {described.path}", hint="`market lock` or `market sync`"
        )
    if not (check or dry_run):
        save_lock(output, place, made)
    document = {
        "lock": str(place.path.absolute()),
        "root": str(described.path),
        "changed": is_changed,
        "dry_run": dry_run,
        "items": [
            {"name": one.name, "version": one.version.text, "tree_digest": one.tree_digest} for one in made.packs
        ],
    }
    word = ("would write" if dry_run else "wrote") if is_changed else "unchanged:"
    output.done(document, [f"{word} {file}: {len(made.packs)} of {described.path}"])
