"""`market run`: call a skill here, or in a running host."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.cli.targets import load_args, split_host
from market.errors import InvalidInput

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("run")
@click.argument("target", metavar="KEY|PACK|FOLDER", required=False)
@click.option("--args", "args", default=None, metavar="JSON", help="The arguments, one JSON object. [default: {}]")
@click.option("--args-file", default=None, metavar="FILE", help="A file with the arguments; '-' is stdin.")
@click.option("--skill", default="", metavar="NAME", help="Which skill of a pack or folder that has several.")
@click.option(
    "--host",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Run it in a host: the one at URL, or the one that runs here.",
)
@click.option(
    "--host-token",
    default="",
    metavar="TOKEN",
    help="The token for the host. [default: MARKET_HOST_TOKEN, then your own]",
)
@click.option(
    "--root", "roots", multiple=True, metavar="DIR", help="A root to look in. [default: as for `market list`]"
)
def run(
    market: Market,
    output: Output,
    target: str | None,
    args: str | None,
    args_file: str | None,
    skill: str,
    host: str | None,
    host_token: str,
    roots: tuple[str, ...],
) -> int:
    r"""Run a skill and print its result, one JSON value, on stdout; its log lines go to stderr.

    A bare name is a skill's key or an installed pack with one skill; a folder is written as a path (./my-pack).
    Exit code 1 means that the skill failed, 6 that it was refused, 2 that the arguments don't fit its schema.

    \b
    Examples:
      market run disk_cleaner --args '{"path": "/var/cache", "dry_run": true}'
      market run ./my-pack --args-file args.json
      market run disk_cleaner --args '{}' --host
      market run disk_cleaner --args '{}' --host https://host.example
    """
    params = load_args(args, args_file)
    chosen, url = split_host(target, host, "KEY|PACK|FOLDER")
    # Either road brings libraries that the other doesn't need: an HTTP client here, SQLite and JSON Schema there.
    road = importlib.import_module("market.cli.running" if url is None else "market.cli.hosted")
    if url is None:
        return int(road.run_here(market, output, chosen, params, roots=roots, skill=skill))
    if roots or skill:
        raise InvalidInput(
            "--root and --skill are for running here, --host is for a host", hint="leave one of them out"
        )
    return int(road.run_hosted(market, output, chosen, params, host=url, token=host_token))
