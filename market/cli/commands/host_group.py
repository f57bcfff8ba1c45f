"""`market host`: the host's own commands, loaded by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.servers import load_server

if TYPE_CHECKING:
    import click


def host_group() -> click.Command:
    """Make the group."""
    made: click.Command = load_server("market.host.cli", "host").host_group
    return made
