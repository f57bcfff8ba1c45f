"""`market disable`: switch packs or skills off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.cli.locking import lock_timeout_option
from market.cli.roots import root_option
from market.cli.switching import switch

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("disable")
@click.argument("words", nargs=-1, required=True, metavar="PACK|KEY...")
@root_option
@lock_timeout_option
def disable(
    market: Market, output: Output, words: tuple[str, ...], roots: tuple[str, ...], lock_timeout: float
) -> None:
    r"""Switch packs, or single skills of them, off. Running hosts follow at once; upgrades change nothing about it.

    A word is a pack's name, else a skill's key; `pack:skill` always means the skill.

    \b
    Examples:
      market disable my-pack
      market disable disk_cleaner my-pack:other
    """
    switch(market, output, words, roots, lock_timeout=lock_timeout, off=True)
