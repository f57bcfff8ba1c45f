"""`market plugins`: what is plugged in beside Market, and switching it off and on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from market.cli.command import command, format_help
from market.cli.plugin_state import check_known, list_entries, plugin_lines, switch_plugin
from market.disk.disabled_plugins import load_disabled
from market.plugins.loaded import describe_plugins

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output

HELP = r"""List the plugins that are installed beside Market, and switch them off and on. Each command takes --json and --quiet.

\b
Examples:
  market plugins list
  market plugins disable market-scan-secrets
"""

plugins_group = click.Group("plugins", help=format_help(HELP))


@command("list")
def list_command(market: Market, output: Output) -> None:
    r"""List the plugins with their hooks. One that can't be used is listed as broken, with the reason.

    \b
    Examples:
      market plugins list
      market plugins list --json
    """
    found = describe_plugins(list_entries(market), load_disabled(market.home.plugins))
    output.answer({"items": [asdict(plugin) for plugin in found], "total": len(found)}, plugin_lines(found))


@command("disable")
@click.argument("name", metavar="NAME")
def disable_command(market: Market, output: Output, name: str) -> None:
    r"""Switch a plugin off for this user: it isn't even loaded. One that is broken can be switched off too.

    \b
    Examples:
      market plugins disable market-scan-secrets
    """
    check_known(market, name)
    switch_plugin(market, output, name, is_disabled=True)


@command("enable")
@click.argument("name", metavar="NAME")
def enable_command(market: Market, output: Output, name: str) -> None:
    r"""Switch a plugin on again.

    \b
    Examples:
      market plugins enable market-scan-secrets
    """
    if name not in load_disabled(market.home.plugins):
        check_known(market, name)
    switch_plugin(market, output, name, is_disabled=False)


plugins_group.add_command(list_command)
plugins_group.add_command(disable_command)
plugins_group.add_command(enable_command)
