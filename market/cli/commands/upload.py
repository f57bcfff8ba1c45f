"""`market upload`: send an existing archive to an index, or into a running host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.building import parse_given
from market.cli.command import command, given_options, index_options
from market.cli.network import open_host, open_index
from market.cli.targets import existing_path
from market.cli.text import size_text
from market.client.wire import dump_document
from market.disk.failures import disk_failures
from market.errors import InvalidInput
from market.trust.verify import verify_archive

if TYPE_CHECKING:
    from pathlib import Path

    from market.cli.market import Market
    from market.cli.output import Output


@command("upload")
@click.argument("file", metavar="FILE")
@click.option("--host", "to_host", is_flag=True, help="Send it into a running host, which installs it at once.")
@click.option(
    "--host-url", default="", metavar="URL", help="Which host. [default: MARKET_HOST_URL, then the one that runs here]"
)
@click.option(
    "--host-token",
    default="",
    metavar="TOKEN",
    help="The token for the host. [default: MARKET_HOST_TOKEN, then your own]",
)
@given_options
@index_options
def upload(
    market: Market,
    output: Output,
    file: str,
    to_host: bool,
    host_url: str,
    host_token: str,
    name: str,
    version: str,
    index: str,
    token: str,
) -> None:
    r"""Send an archive to an index, or with --host into a running host.

    \b
    Examples:
      market upload my-pack-1.0.0.zip
      market upload my-pack-1.0.0.zip --host
    """
    path = existing_path(file)
    if path.is_dir():
        raise InvalidInput(
            f"{path} is a folder",
            hint=f"`market publish {file}` sends folders, `market archive {file}` makes an archive of one",
        )
    if to_host or host_url:
        _upload_to_host(market, output, path, host_url, host_token, name, version)
    else:
        _upload_to_index(market, output, path, index, token, name, version)


def _upload_to_index(
    market: Market, output: Output, path: Path, index: str, token: str, name: str, version: str
) -> None:
    client = open_index(market, market.settings.index(index, token))
    with disk_failures("read", path), path.open("rb") as stream:
        verified = verify_archive(stream, parse_given(name, version))
        size = path.stat().st_size
        with output.progress(f"uploading {path.name} to {client.url}"):
            done = client.publish(verified.name, verified.version.text, stream, size)
    word = "published" if done.created else "unchanged:"
    line = f"{word} {done.name} {done.version} ({size_text(size)}) to {client.url} as {done.publisher}"
    output.done({"index": client.url, **dump_document(done)}, [line])


def _upload_to_host(market: Market, output: Output, path: Path, url: str, token: str, name: str, version: str) -> None:
    host = open_host(market, url, token)
    given = parse_given(name, version)
    with (
        disk_failures("read", path),
        path.open("rb") as stream,
        output.progress(f"uploading {path.name} to {host.url}"),
    ):
        verify_archive(stream, given)
        done = host.upload(stream, path.stat().st_size, name=given.name, version=given.version)
    output.done(
        {"host": host.url, **dump_document(done)},
        [f"{done.action} {done.name} {done.version} in {done.live_ms:.0f} ms at {host.url}"],
    )
