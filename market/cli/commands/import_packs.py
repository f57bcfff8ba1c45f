"""`market import`: install the packs of a file that `market export` wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, dry_run_option
from market.cli.installing import carry_out
from market.cli.lock_place import follow_lock
from market.cli.locking import lock_timeout_option
from market.cli.permit import Permit
from market.cli.targeting import Place, open_place, place_options
from market.cli.targets import existing_path
from market.cli.terms import make_terms, terms_options
from market.client.indexes import Indexes
from market.disk.failures import disk_failures
from market.errors import InvalidInput, NotFound, Untrusted
from market.installer.bundle import open_bundle
from market.installer.closure import Order
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from typing import BinaryIO

    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.index_client import IndexClient
    from market.client.settings import IndexChoice


@command("import")
@click.argument("file", metavar="FILE")
@place_options
@click.option("--sha256", default="", metavar="HEX", help="What the whole file must hash to, as export printed it.")
@click.option("--force", is_flag=True, help="Replace a pack that was edited; the edited files are kept as a backup.")
@click.option("--accept-publisher", is_flag=True, help="Accept that a pack now comes from another publisher.")
@terms_options
@lock_timeout_option
@dry_run_option
def import_packs(
    market: Market,
    output: Output,
    file: str,
    place: Place,
    sha256: str,
    force: bool,
    accept_publisher: bool,
    strict_needs: bool,
    minimum_release_age: str,
    lock_timeout: float,
    dry_run: bool,
) -> None:
    r"""Install every pack of a file that `market export` wrote, all or none, without a network.

    Each pack is held against its documents, as one from an index is; a file that was changed leaves nothing behind.

    \b
    Examples:
      market import bundle.zip
      market import bundle.zip --dry-run
    """
    path = existing_path(file)
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", hint=f"`market install {path}` installs one")
    with disk_failures("read", path):
        stream = path.open("rb")
    with stream, output.progress("verifying"):
        _check_sha256(stream, sha256)
        # Before the root is opened: what can't be trusted must not even make a folder.
        arrivals, _ = open_bundle(stream, str(path.absolute()))
    into = open_place(market, place, output, create=not dry_run)
    permit = Permit(dry_run, force, accept_publisher, lock_timeout=lock_timeout)
    done = carry_out(
        market,
        output,
        into,
        Indexes(_no_index, _never),
        lambda _: Order((), arrivals, follow=False),
        make_terms(market, minimum_release_age, strict_needs=strict_needs),
        permit,
    )
    follow_lock(market, output, into, [change.name for change in done.changes], None)
    output.done(done.document, done.lines)


def _check_sha256(stream: BinaryIO, wanted: str) -> None:
    if wanted and hash_stream(stream)[1] != wanted.lower().removeprefix("sha256:"):
        raise Untrusted("the file is not the one with this sha256", hint="carry it over again, whole")


def _no_index(name: str) -> list[IndexChoice]:
    raise NotFound(
        f"{name} is not in the file", why="an import asks no index", hint="export it together with its packs"
    )


def _never(choice: IndexChoice) -> IndexClient:
    raise AssertionError(f"an import opened the index {choice.url}")
