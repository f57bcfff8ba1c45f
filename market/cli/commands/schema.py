"""`market schema`: print the JSON Schema of a manifest. The schemas are in `market.pack.schemas`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.pack.schemas import SCHEMAS

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("schema")
@click.argument("name", type=click.Choice(list(SCHEMAS)))
def schema(market: Market, output: Output, name: str) -> None:
    r"""Print the JSON Schema (2020-12) of a manifest, for editors and other tools.

    `market check` says more than a schema can: whether files exist, repeated keys, names that collide.

    \b
    Examples:
      market schema skill.json > skill.schema.json
      market schema pack.yaml
    """
    document = SCHEMAS[name]()
    output.answer(document, json.dumps(document, indent=2).splitlines())
