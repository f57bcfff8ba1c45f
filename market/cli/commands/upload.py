"""`market upload`: send an existing archive or wheel to an index, or into a running host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.allowed_secrets import allow_secret_option, review_source
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.given import parse_given
from market.cli.network import open_host, open_index
from market.cli.sending import open_sendable, send_to_host, send_to_index
from market.cli.targets import existing_path, split_host
from market.errors import InvalidInput
from market.pack.secrets import parse_places

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


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
@allow_secret_option
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
    allow_secret: tuple[str, ...],
    index: str,
    token: str,
    dry_run: bool,
) -> None:
    r"""Send an archive or a wheel to an index, or with --host into a running host, which installs it at once.

    A .zip, .skill, .tar.gz or .tgz of another program is imported first, and each change is said.

    \b
    Examples:
      market upload my-pack-1.0.0.zip
      market upload my-pack-1.0.0.zip --host
      market upload dist/my_pack-1.0.0-py3-none-any.whl --host
    """
    chosen, url = split_host(file, host, "FILE")
    path = existing_path(chosen)
    if path.is_dir():
        raise InvalidInput(
            f"{path} is a folder",
            hint=f"`market publish {path}` sends folders, `market archive {path}` makes an archive of one",
        )
    with open_sendable(path, parse_given(name, version)) as (verified, archive):
        if url is None:
            allowed = parse_places(allow_secret)
            review_source(verified.source, verified.pack, str(path), allowed)
            archive.stream.seek(0)
            client = open_index(market, market.settings.index(index, token))
            send_to_index(output, client, verified, archive, allowed, dry_run=dry_run)
        else:
            send_to_host(output, open_host(market, url, host_token), verified, archive, dry_run)
