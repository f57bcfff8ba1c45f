"""`market enable`: switch packs or skills on again."""

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


@command("enable")
@click.argument("words", nargs=-1, required=True, metavar="PACK|KEY...")
@root_option
@lock_timeout_option
def enable(market: Market, output: Output, words: tuple[str, ...], roots: tuple[str, ...], lock_timeout: float) -> None:
    r"""Switch packs, or single skills of them, on again. Running hosts follow at once.

    \b
    Examples:
      market enable my-pack
      market enable disk_cleaner
    """
    switch(market, output, words, roots, lock_timeout=lock_timeout, off=False)
