"""What every command shares: `--json`, `--quiet`, and the values that it is handed. Errors are printed in `market.cli.main`."""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from market.cli.interrupting import signals_interrupt
from market.cli.market import Market, open_market
from market.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Callable


def command(name: str) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a click command of a function `(market, output, **values) -> exit code or None`, with `--json` and `--quiet`."""

    def decorate(function: Callable[..., int | None]) -> click.Command:
        @functools.wraps(function)
        def run(as_json: bool, quiet: bool, **values: Any) -> int:
            market = click.get_current_context().find_object(Market) or open_market()
            output = Output(as_json, quiet)
            with signals_interrupt():
                return function(replace(market, observe=output.observe), output, **values) or 0

        made = click.command(name, help=format_help(function.__doc__ or ""))(run)
        made.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document on stdout."))
        made.params.append(click.Option(["-q", "--quiet"], is_flag=True, help="Print only what was asked for."))
        return made

    return decorate


def format_help(docstring: str) -> str:
    """Return a docstring as click's help text: a line that holds only a backslash and b keeps the next paragraph's line breaks."""
    return inspect.cleandoc(docstring).replace("\\b\n", "\b\n")


def index_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--index` and `--token`."""
    function = click.option(
        "--token",
        default="",
        metavar="TOKEN",
        help="The token for the index. [default: MARKET_TOKEN, then the stored one]",
    )(function)
    return click.option(
        "--index",
        default="",
        metavar="URL|NAME",
        help="The index. [default: MARKET_INDEX_URL, then config.toml, then http://127.0.0.1:8750]",
    )(function)


def given_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--name` and `--version`, for a folder or archive that doesn't say them itself."""
    function = click.option(
        "--version", default="", metavar="VERSION", help="The version, where the pack doesn't say it or to override it."
    )(function)
    return click.option(
        "--name", default="", metavar="NAME", help="The name, where the pack doesn't say it or to override it."
    )(function)


def dry_run_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Say what would be done and change nothing.")(function)
