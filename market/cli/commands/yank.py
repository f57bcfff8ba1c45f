"""`market yank` and `market unyank`: a release that nobody shall get who doesn't name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, index_options
from market.cli.network import open_index
from market.client.wire import dump_document
from market.errors import InvalidInput
from market.names import parse_requirement

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.wire import Yanked
    from market.names import PackName, Version


@command("yank")
@click.argument("release", metavar="NAME@VERSION")
@click.option("--reason", default="", metavar="TEXT", help="Why; whoever installs it by its exact version is told.")
@index_options
def yank(market: Market, output: Output, release: str, reason: str, index: str, token: str) -> None:
    r"""Yank a release: only who names exactly this version still gets it. Nothing is deleted.

    It is hidden from `latest`, search and upgrades, and pip and uv pass it over (PEP 592). `market unyank` takes it back.

    \b
    Examples:
      market yank my-pack@1.2.0 --reason "loses files on a full disk"
    """
    name, version = _parse_release(release)
    client = open_index(market, market.settings.index(index, token))
    _say(output, client.url, client.yank(name, version.text, reason))


@command("unyank")
@click.argument("release", metavar="NAME@VERSION")
@index_options
def unyank(market: Market, output: Output, release: str, index: str, token: str) -> None:
    r"""Take a yank back: the release is chosen again like any other.

    \b
    Examples:
      market unyank my-pack@1.2.0
    """
    name, version = _parse_release(release)
    client = open_index(market, market.settings.index(index, token))
    _say(output, client.url, client.unyank(name, version.text))


def _parse_release(text: str) -> tuple[PackName, Version]:
    requirement = parse_requirement(text)
    if requirement.version is None:
        raise InvalidInput(f"{text!r} names no release", hint=f"write {requirement.name}@1.2.0")
    return requirement.name, requirement.version


def _say(output: Output, url: str, done: Yanked) -> None:
    reason = f": {done.yanked_reason}" if done.yanked_reason else ""
    word = "is" if done.changed else "was already"
    output.done(
        {"index": url, **dump_document(done)}, [f"{done.name} {done.version} {word} {done.state} on {url}{reason}"]
    )
