"""`market upload`: send an existing archive to an index, or into a running host."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from market.cli.building import parse_given
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.network import open_host, open_index
from market.cli.targets import existing_path, split_host
from market.cli.text import size_text
from market.client.wire import dump_document
from market.disk.failures import disk_failures
from market.errors import InvalidInput
from market.trust.verify import verify_archive

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.host_client import HostClient
    from market.client.index_client import IndexClient
    from market.pack.inspect import Given
    from market.trust.verify import VerifiedPack


@command("upload")
@click.argument("file", metavar="FILE", required=False)
@click.option(
    "--host",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Send it into a host: the one at URL, or the one that runs here.",
)
@click.option(
    "--host-token",
    default="",
    metavar="TOKEN",
    help="The token for the host. [default: MARKET_HOST_TOKEN, then your own]",
)
@given_options
@index_options
@dry_run_option
def upload(
    market: Market,
    output: Output,
    file: str | None,
    host: str | None,
    host_token: str,
    name: str,
    version: str,
    index: str,
    token: str,
    dry_run: bool,
) -> None:
    r"""Send an archive to an index, or with --host into a running host, which installs it at once.

    \b
    Examples:
      market upload my-pack-1.0.0.zip
      market upload my-pack-1.0.0.zip --host
    """
    chosen, url = split_host(file, host, "FILE")
    path = existing_path(chosen)
    if path.is_dir():
        raise InvalidInput(
            f"{path} is a folder",
            hint=f"`market publish {path}` sends folders, `market archive {path}` makes an archive of one",
        )
    given = parse_given(name, version)
    with disk_failures("read", path), path.open("rb") as stream:
        verified = verify_archive(stream, given)
        size = path.stat().st_size
        if url is None:
            _upload_to_index(
                output, open_index(market, market.settings.index(index, token)), verified, stream, size, dry_run
            )
        else:
            _upload_to_host(output, open_host(market, url, host_token), verified, stream, size, given, dry_run)


def _upload_to_index(
    output: Output, client: IndexClient, verified: VerifiedPack, stream: BinaryIO, size: int, dry_run: bool
) -> None:
    if dry_run:
        _say_plan(output, verified, client.url, size)
        return
    with output.progress(f"uploading to {client.url}"):
        done = client.publish(verified.name, verified.version.text, stream, size)
    word = "published" if done.created else "unchanged:"
    line = f"{word} {done.name} {done.version} ({size_text(size)}) to {client.url} as {done.publisher}"
    output.done({"index": client.url, "dry_run": False, **dump_document(done)}, [line])


def _upload_to_host(
    output: Output, client: HostClient, verified: VerifiedPack, stream: BinaryIO, size: int, given: Given, dry_run: bool
) -> None:
    if dry_run:
        _say_plan(output, verified, client.url, size)
        return
    with output.progress(f"uploading to {client.url}"):
        done = client.upload(stream, size, name=given.name, version=given.version)
    line = f"{done.action} {done.name} {done.version} in {done.live_ms:.0f} ms at {client.url}"
    output.done({"host": client.url, "dry_run": False, **dump_document(done)}, [line])


def _say_plan(output: Output, verified: VerifiedPack, url: str, size: int) -> None:
    document = {"url": url, "dry_run": True, "name": verified.name, "version": verified.version.text, "size": size}
    output.done(document, [f"would send {verified.name} {verified.version} ({size_text(size)}) to {url}"])
