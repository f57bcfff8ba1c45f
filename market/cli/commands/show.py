"""`market show`: one pack of an index, and how it is installed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.command import command, index_options
from market.cli.composed import composition_fields, composition_lines
from market.cli.network import open_indexes
from market.cli.packs import pack_lines
from market.cli.roots import chosen_roots
from market.client.wire import dump_document
from market.errors import NotFound, Unavailable
from market.installer.receipt import load_pack_receipts
from market.names import parse_requirement
from market.resolve.choose import choose_release

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.names import Requirement


@command("show")
@click.argument("requirement")
@index_options
def show(market: Market, output: Output, requirement: str, index: str, token: str) -> None:
    r"""Show a pack: its newest release, or the one asked for, with its skills and all releases; and where it is installed.

    Of a wheel pack that is installed, the Python packages that it was installed with are listed. One that no index has, or can be
    asked about, is shown as it is installed.

    \b
    Examples:
      market show my-pack
      market show my-pack@1.0.0 --json
    """
    wanted = parse_requirement(requirement)
    installed = _find_installed(market, wanted.name)
    rows = [_installed_row(root, receipt) for root, receipt in installed]
    lines = [line for root, receipt in installed for line in _installed_lines(root, receipt)]
    try:
        shown, known = _ask(market, wanted, index, token)
    except (NotFound, Unavailable) as error:
        if not installed:
            raise
        output.remark(f"only what is installed is shown: {error.message}")
        shown, known = {"index": "", "page": "", "pack": None, "release": None}, [str(wanted.name)]
    output.answer({**shown, "installed": rows}, [*known, *(["", *lines] if lines else [])])


def _ask(market: Market, wanted: Requirement, index: str, token: str) -> tuple[dict[str, Any], list[str]]:
    """Return what the index says of a pack, as values and in lines."""
    indexes = open_indexes(market, index=index, token=token)
    found = indexes.find(wanted.name)
    client, document = found.client, found.document
    release = indexes.release(document.name, choose_release(wanted, document).version)
    shown = {
        "index": client.url,
        "page": f"{client.url}/packs/{document.name}",
        "pack": dump_document(document),
        "release": dump_document(release),
    }
    return shown, pack_lines(document, release, client.url)


def _find_installed(market: Market, name: str) -> list[tuple[Root, Receipt]]:
    """Return where a pack is installed, and how."""
    found = ((root, load_pack_receipts(root).get(name)) for root in chosen_roots(market, ()))
    return [(root, receipt) for root, receipt in found if receipt is not None]


def _installed_row(root: Root, receipt: Receipt) -> dict[str, Any]:
    return {
        "root": str(root.path),
        "version": receipt.version.text,
        "tree_digest": receipt.tree_digest,
        **composition_fields(receipt.composition),
    }


def _installed_lines(root: Root, receipt: Receipt) -> list[str]:
    return [
        f"installed: {receipt.version} in {root.path}",
        *composition_lines(receipt.composition),
    ]
