"""Which plugins there are and whether they are on, as this user's commands show and change it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from market.cli.text import table_lines
from market.disk.disabled_plugins import load_disabled, save_disabled
from market.errors import NotFound
from market.plugins.find import find_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.plugins.find import PluginEntry
    from market.plugins.loaded import FoundPlugin

RESTART = "running hosts and indexes follow when they are started again"


def list_entries(market: Market) -> tuple[PluginEntry, ...]:
    """Return the installed plugins without loading any."""
    return find_entries() if market.plugin_entries is None else market.plugin_entries


def check_known(market: Market, name: str) -> None:
    """Raise `NotFound` for a plugin that isn't installed, with what is."""
    names = [entry.name for entry in list_entries(market)]
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    known = ", ".join(names) or "none"
    raise NotFound(
        f"there is no plugin {name!r}",
        why=f"installed beside Market: {known}",
        hint=f"did you mean {near[0]}?"
        if near
        else "see `market plugins list`; what is built in can't be switched off",
    )


def switch_plugin(market: Market, output: Output, name: str, *, is_disabled: bool) -> None:
    """Switch a plugin off or on, and say so."""
    before = load_disabled(market.home.plugins)
    after = before | {name} if is_disabled else before - {name}
    if after != before:
        save_disabled(market.home.plugins, after)
    state = "disabled" if is_disabled else "active"
    document = {"name": name, "state": state, "changed": after != before}
    line = f"{name} is {state}; {RESTART}" if after != before else f"{name} was {state} already"
    output.done(document, [line])


def plugin_lines(found: Sequence[FoundPlugin]) -> list[str]:
    """Return the plugins as a table."""
    if not found:
        return ["no plugins are installed beside Market"]
    rows = [
        (one.name, f"{one.distribution} {one.version}".strip(), one.state, one.trouble or ", ".join(one.hooks))
        for one in found
    ]
    return table_lines(("NAME", "DISTRIBUTION", "STATE", "HOOKS"), rows)
