"""`market install`: install packs from an index, a folder or an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, given_options, index_options
from market.cli.given import parse_given
from market.cli.installing import carry_out
from market.cli.lock_place import follow_lock, lock_option
from market.cli.locked import locked_arrivals, open_root_of_lock, permit_locked
from market.cli.network import open_indexes
from market.cli.ordering import add_folder_hint, read_order
from market.cli.permit import permit_options
from market.cli.targeting import place_options
from market.cli.terms import make_terms, terms_options
from market.errors import InvalidInput, MarketError
from market.installer.closure import Order

if TYPE_CHECKING:
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.permit import Permit
    from market.cli.targeting import Place
    from market.pack.inspect import Given


@command("install")
@click.argument("targets", nargs=-1, metavar="REQUIREMENT|FOLDER|ARCHIVE...")
@place_options
@given_options
@index_options
@click.option(
    "--no-deps", is_flag=True, help="Leave out what the packs require, and what Python code in wheels depends on."
)
@click.option(
    "--refresh-deps",
    is_flag=True,
    help="Fetch what Python code in wheels depends on anew, in its newest releases, also of packs that are installed.",
)
@terms_options
@lock_option
@click.option(
    "--locked", is_flag=True, help="Install exactly what the lock file names, all or the named packs; else exit 4."
)
@click.option("--frozen", is_flag=True, help="Never change the lock file: exit 4 where it would have to.")
@permit_options
def install(
    market: Market,
    output: Output,
    targets: tuple[str, ...],
    place: Place,
    name: str,
    version: str,
    index: str,
    token: str,
    no_deps: bool,
    refresh_deps: bool,
    strict_needs: bool,
    minimum_release_age: str,
    lock: str | None,
    locked: bool,
    frozen: bool,
    permit: Permit,
) -> None:
    r"""Install packs and what they require, all or none. A running host that serves the root has them at once.

    A folder or archive is written as a path (./my-pack); a bare name is asked for on the index.

    \b
    Examples:
      market install my-pack
      market install 'my-pack>=1,<2' @acme/other@2.0
      market install ./my-pack dist/other_pack-1.0.0-py3-none-any.whl --root /srv/skills
      market install https://host.example/my-pack-1.0.0.zip#sha256=HEX
      market install my-pack --target claude
      market install --locked
    """
    given = _parse_given(targets, name, version, locked=locked, no_deps=no_deps, refresh_deps=refresh_deps)
    into = open_root_of_lock(market, output, place, lock, locked=locked, create=not permit.dry_run)
    indexes = open_indexes(market, index=index, token=token)
    reuse = None if refresh_deps else into
    terms = make_terms(market, minimum_release_age, strict_needs=strict_needs, no_deps=no_deps, reuse=reuse)
    permit = permit_locked(permit, lock, locked=locked, frozen=frozen)

    def make_order(stack: ExitStack) -> Order:
        if locked:
            return Order((), tuple(locked_arrivals(market, output, stack, into, lock, targets)), follow=False)
        return read_order(market, stack, targets, given, follow=not no_deps, dependencies=terms.dependencies)

    try:
        done = carry_out(market, output, into, indexes, make_order, terms, permit)
    except MarketError as error:
        raise add_folder_hint(error, targets) from None
    if not (locked or frozen):
        follow_lock(market, output, into, [change.name for change in done.changes], lock)
    output.done(done.document, done.lines)


def _parse_given(
    targets: tuple[str, ...], name: str, version: str, *, locked: bool, no_deps: bool, refresh_deps: bool
) -> Given:
    """Return what is said of the targets. A lock file says itself which dependencies come: a flag that it overrules isn't taken."""
    if not (targets or locked):
        raise InvalidInput("Missing argument 'REQUIREMENT|FOLDER|ARCHIVE...'.", hint="see `market install --help`")
    if (name or version) and len(targets) > 1:
        raise InvalidInput("--name and --version can't hold for several packs", hint="install them one by one")
    if locked and (no_deps or refresh_deps):
        flag = "--no-deps" if no_deps else "--refresh-deps"
        raise InvalidInput(
            f"--locked and {flag} can't go together",
            why="with --locked each pack comes with exactly the dependencies that the lock file pins",
            hint=f"`market install NAME@VERSION {flag} --lock` writes others into it",
        )
    return parse_given(name, version)
