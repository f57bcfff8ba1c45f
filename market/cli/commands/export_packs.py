"""`market export`: put packs and what they require into one file, for machines without network."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.bundling import gather, gather_installed
from market.cli.command import command, dry_run_option, index_options
from market.cli.composed import composition_fields, composition_lines, missing_rows
from market.cli.roots import root_option
from market.cli.saving import save_file
from market.cli.text import count_text, size_text
from market.installer.bundle import find_missing, write_bundle

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.bundle import BundledPack


@command("export")
@click.argument("targets", nargs=-1, required=True, metavar="REQUIREMENT|FOLDER|ARCHIVE...")
@click.option(
    "-o", "--output", "file", default="bundle.zip", show_default=True, metavar="FILE", help="The file to write."
)
@click.option("--installed", is_flag=True, help="Take installed packs, from the archives kept in their root.")
@click.option(
    "--no-deps",
    is_flag=True,
    help="Leave out what the packs require, and what Python code in wheels depends on; an installed pack has the latter.",
)
@root_option
@index_options
@dry_run_option
def export_packs(
    market: Market,
    output: Output,
    targets: tuple[str, ...],
    file: str,
    installed: bool,
    no_deps: bool,
    roots: tuple[str, ...],
    index: str,
    token: str,
    dry_run: bool,
) -> None:
    r"""Put packs, what they require, and the index's documents into one file. `market import` installs it elsewhere.

    Unpacked and served by any web server, the file is also a static index.

    \b
    Examples:
      market export my-pack -o bundle.zip
      market export 'my-pack>=1,<2' ./other
      market export my-pack --installed
    """
    with ExitStack() as stack:
        with output.progress("fetching"):
            packs = (
                gather_installed(market, targets, roots, follow=not no_deps)
                if installed
                else gather(market, stack, targets, index=index, token=token, follow=not no_deps)
            )
        if not dry_run:
            save_file(Path(file), lambda out: write_bundle(packs, out))
    written, missing = b"" if dry_run else Path(file).read_bytes(), find_missing(packs)
    size, sha256 = len(written), "" if dry_run else hashlib.sha256(written).hexdigest()
    document = {
        "path": file,
        "size": size,
        "sha256": sha256,
        "dry_run": dry_run,
        "items": [_row(pack) for pack in packs],
        "missing_requires": missing_rows(missing),
    }
    head = (
        f"would write {file} with {count_text(len(packs), 'pack')}"
        if dry_run
        else f"wrote {file}: {count_text(len(packs), 'pack')}, {size_text(size)}, sha256 {sha256}"
    )
    lines = [line for pack in packs for line in _lines(pack, installed=installed)]
    output.done(
        document, [head, *lines, *(f"{name} requires {text}, which is not in the file" for name, text in missing)]
    )


def _lines(pack: BundledPack, *, installed: bool) -> list[str]:
    told = composition_lines(pack.composition, "installed" if installed else "exported")
    return [f"  {pack.release.name} {pack.release.version}", *(f"  {line}" for line in told)]


def _row(pack: BundledPack) -> dict[str, object]:
    verified = pack.arrival.verified
    return {
        "name": verified.name,
        "version": verified.version.text,
        "publisher": pack.release.publisher,
        "asked_for": pack.is_asked_for,
        "tree_digest": verified.tree_digest,
        "archive_digest": verified.archive_digest,
        **composition_fields(pack.composition),
    }
