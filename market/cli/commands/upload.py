"""`market upload`: send an existing archive to an index, or into a running host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.building import parse_given
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.importing import change_lines, open_archive
from market.cli.network import open_host, open_index
from market.cli.report import dump_problems
from market.cli.targets import existing_path, split_host
from market.cli.text import size_text
from market.client.wire import dump_document
from market.errors import InvalidInput
from market.trust.verify import verify_archive

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.host_client import HostClient
    from market.client.index_client import IndexClient
    from market.disk.foreign import Canonical
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

    A .zip, .skill, .tar.gz or .tgz of another program is imported first, and each change is said.

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
    with open_archive(path, parse_given(name, version)) as archive:
        verified = verify_archive(archive.stream, archive.given)
        archive.stream.seek(0)
        if url is None:
            client = open_index(market, market.settings.index(index, token))
            _upload_to_index(output, client, verified, archive, dry_run)
        else:
            _upload_to_host(output, open_host(market, url, host_token), verified, archive, dry_run)


def _upload_to_index(
    output: Output, client: IndexClient, verified: VerifiedPack, archive: Canonical, dry_run: bool
) -> None:
    if dry_run:
        _say_plan(output, verified, client.url, archive)
        return
    with output.progress(f"uploading to {client.url}"):
        done = client.publish(verified.name, verified.version.text, archive.stream, archive.size)
    word = "published" if done.created else "unchanged:"
    line = f"{word} {done.name} {done.version} ({size_text(archive.size)}) to {client.url} as {done.publisher}"
    _say_done(output, {"index": client.url, **dump_document(done)}, line, archive)


def _upload_to_host(
    output: Output, client: HostClient, verified: VerifiedPack, archive: Canonical, dry_run: bool
) -> None:
    if dry_run:
        _say_plan(output, verified, client.url, archive)
        return
    with output.progress(f"uploading to {client.url}"):
        done = client.upload(archive.stream, archive.size, name=archive.given.name, version=archive.given.version)
    line = f"{done.action} {done.name} {done.version} in {done.live_ms:.0f} ms at {client.url}"
    _say_done(output, {"host": client.url, **dump_document(done)}, line, archive)


def _say_plan(output: Output, verified: VerifiedPack, url: str, archive: Canonical) -> None:
    document = {"url": url, "name": verified.name, "version": verified.version.text, "size": archive.size}
    line = f"would send {verified.name} {verified.version} ({size_text(archive.size)}) to {url}"
    _say_done(output, document, line, archive, dry_run=True)


def _say_done(
    output: Output, document: dict[str, object], line: str, archive: Canonical, *, dry_run: bool = False
) -> None:
    changes = {"changes": dump_problems(archive.changes)}
    output.done({**document, **changes, "dry_run": dry_run}, [line, *change_lines(archive.changes)])
