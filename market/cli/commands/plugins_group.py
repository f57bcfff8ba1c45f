"""`market plugins`: what is plugged in beside Market, and switching it off and on."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from market.cli.command import command, format_help
from market.cli.text import table_lines
from market.discovery import find_entries
from market.disk.disabled_plugins import load_disabled, save_disabled
from market.errors import NotFound
from market.plugins import describe_plugins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.discovery import PluginEntry
    from market.plugins import FoundPlugin

RESTART = "running hosts and indexes follow when they are started again"

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
    found = describe_plugins(_entries(market), load_disabled(market.home.plugins))
    output.answer({"items": [asdict(plugin) for plugin in found], "total": len(found)}, _lines(found))


@command("disable")
@click.argument("name", metavar="NAME")
def disable_command(market: Market, output: Output, name: str) -> None:
    r"""Switch a plugin off for this user: it isn't even loaded. One that is broken can be switched off too.

    \b
    Examples:
      market plugins disable market-scan-secrets
    """
    _check_known(market, name)
    _switch(market, output, name, is_disabled=True)


@command("enable")
@click.argument("name", metavar="NAME")
def enable_command(market: Market, output: Output, name: str) -> None:
    r"""Switch a plugin on again.

    \b
    Examples:
      market plugins enable market-scan-secrets
    """
    if name not in load_disabled(market.home.plugins):
        _check_known(market, name)
    _switch(market, output, name, is_disabled=False)


plugins_group.add_command(list_command)
plugins_group.add_command(disable_command)
plugins_group.add_command(enable_command)


def _entries(market: Market) -> tuple[PluginEntry, ...]:
    return find_entries() if market.plugin_entries is None else market.plugin_entries


def _check_known(market: Market, name: str) -> None:
    names = [entry.name for entry in _entries(market)]
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    known = ", ".join(names) or "none"
    raise NotFound(
        f"there is no plugin {name!r}",
        why=f"installed beside Market: {known}",
        hint=f"did you mean {near[0]}?"
        if near
        else "`market plugins list` shows them; what is built in can't be switched off",
    )


def _switch(market: Market, output: Output, name: str, *, is_disabled: bool) -> None:
    before = load_disabled(market.home.plugins)
    after = before | {name} if is_disabled else before - {name}
    if after != before:
        save_disabled(market.home.plugins, after)
    state = "disabled" if is_disabled else "active"
    document = {"name": name, "state": state, "changed": after != before}
    word = f"{name} is {state}" if after != before else f"{name} was {state} already"
    output.done(document, [f"{word}; {RESTART}" if after != before else word])


def _lines(found: Sequence[FoundPlugin]) -> list[str]:
    if not found:
        return ["no plugins are installed beside Market"]
    rows = [
        (one.name, f"{one.distribution} {one.version}".strip(), one.state, one.trouble or ", ".join(one.hooks))
        for one in found
    ]
    return table_lines(("NAME", "DISTRIBUTION", "STATE", "HOOKS"), rows)
