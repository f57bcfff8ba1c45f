"""`market pin`: hold a pack at a version, or let it go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.command import command
from market.cli.locking import lock_timeout_option
from market.cli.roots import one_root_option, writable_root
from market.cli.text import table_lines
from market.errors import InvalidInput
from market.installer.pins import load_pins, pin_pack, unpin_pack
from market.installer.transaction import lock_root

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.pins import Pin
    from market.installer.root import Root


@command("pin")
@click.argument("name", required=False)
@click.option("--version", default="", metavar="VERSION", help="The version. [default: the installed one]")
@click.option("--reason", default="", metavar="TEXT", help="Why, for whoever wonders later.")
@click.option("--unpin", is_flag=True, help="Let the pack go.")
@one_root_option
@lock_timeout_option
def pin(
    market: Market,
    output: Output,
    name: str | None,
    version: str,
    reason: str,
    unpin: bool,
    root: str,
    lock_timeout: float,
) -> None:
    r"""Hold a pack at a version: no install, upgrade or rollback changes it until it is let go. Without a name: list the pins.

    \b
    Examples:
      market pin my-pack --reason 'until 2.0 keeps our data'
      market pin my-pack --version 1.2.0 --reason 'reviewed'
      market pin my-pack --unpin
      market pin
    """
    into = writable_root(market, root, output, create=False)
    if name is None:
        if version or reason or unpin:
            raise InvalidInput("name the pack", hint="`market pin NAME --reason TEXT`")
        _list(output, into)
        return
    if unpin == bool(reason or version):
        raise InvalidInput(
            "a pin needs --reason TEXT, and --unpin stands alone", hint=f"`market pin {name} --reason TEXT`"
        )
    with lock_root(into, timeout_seconds=lock_timeout, guard=None) as locked:
        if unpin:
            done, line = unpin_pack(locked, name), "{0.name} is no longer pinned to {0.version} in {1}"
        else:
            done = pin_pack(locked, name, version, reason, market.now())
            line = "{0.name} is pinned to {0.version} in {1}: {0.reason}"
    output.done(_document(into, [done], action="unpinned" if unpin else "pinned"), [line.format(done, into.path)])


def _list(output: Output, root: Root) -> None:
    pins = list(load_pins(root).values())
    cells = [(one.name, one.version.text, one.at.date().isoformat(), one.reason) for one in pins]
    lines = (
        table_lines(("NAME", "VERSION", "SINCE", "REASON"), cells) if pins else [f"nothing is pinned in {root.path}"]
    )
    output.answer(_document(root, pins, action="listed"), lines)


def _document(root: Root, pins: list[Pin], *, action: str) -> dict[str, Any]:
    items = [
        {"name": one.name, "version": one.version.text, "reason": one.reason, "at": one.at.isoformat()} for one in pins
    ]
    return {"root": str(root.path), "action": action, "items": items}
