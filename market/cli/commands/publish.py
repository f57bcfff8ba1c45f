"""`market publish`: publish folders, wheels and sdists to an index."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from market.cli.allowed_secrets import allow_secret_option
from market.cli.building import build_folder, check_publishable, review_draft, warning_lines
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.distributions import is_distribution, open_distribution, publish_distribution
from market.cli.given import parse_given
from market.cli.network import open_index
from market.cli.plugged import sent_finding_lines
from market.cli.publishing import AUTO, choose_version, publish_draft
from market.cli.targets import existing_path
from market.errors import InvalidInput
from market.pack.secrets import parse_places

if TYPE_CHECKING:
    from pathlib import Path

    from market.cli.distributions import FilePublication
    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.publishing import Publication

VERSION_RULES = frozenset({"version-missing"})


@command("publish")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@given_options
@allow_secret_option
@index_options
@dry_run_option
def publish(
    market: Market,
    output: Output,
    paths: tuple[str, ...],
    name: str,
    version: str,
    allow_secret: tuple[str, ...],
    index: str,
    token: str,
    dry_run: bool,
) -> None:
    r"""Publish folders, wheels and sdists to an index. All are checked before the first is sent; what is there is left as it is.

    A wheel is a pack if it has an entry point of the group market.skills; an sdist is kept for download. `--version auto` takes the
    next patch number where a folder's files changed.

    \b
    Examples:
      market publish ./my-pack
      market publish skills/* --version auto --dry-run
      market publish dist/*
    """
    files, folders = _sort(paths, is_named=bool(name), is_given=bool(name or version))
    auto = version == AUTO
    given, allowed = parse_given(name, "" if auto else version), parse_places(allow_secret)
    client = open_index(market, market.settings.index(index, token))
    with ExitStack() as stack:
        distributions = [stack.enter_context(open_distribution(path, allowed)) for path in files]
        opened = [stack.enter_context(build_folder(path, given)) for path in folders]
        drafts = [review_draft(draft, allowed) for draft in opened]
        for draft in drafts:
            market.settings.check_kept(draft.pack.name, client.url)
            check_publishable(draft, VERSION_RULES if auto else frozenset())
        for problems in (*(file.problems for file in distributions), *(draft.problems for draft in drafts)):
            for line in warning_lines(problems):
                output.remark(line)
        with output.progress(f"publishing to {client.url}"):
            done: list[FilePublication | Publication] = [
                *(publish_distribution(client, file, dry_run=dry_run) for file in distributions),
                *(
                    publish_draft(client, draft, choose_version(client, draft, auto=auto), dry_run=dry_run)
                    for draft in drafts
                ),
            ]
        listed = [f"  {file.path}  {file.size} B" for draft in drafts if dry_run for file in draft.built.record.files]
        output.done(
            {"index": client.url, "dry_run": dry_run, "items": [one.document for one in done]},
            [*(one.line for one in done), *listed, *sent_finding_lines(row for one in done for row in one.findings)],
        )


def _sort(paths: tuple[str, ...], *, is_named: bool, is_given: bool) -> tuple[list[Path], list[Path]]:
    """Return what is sent as it is, and the folders of which archives are made. What was given must fit to them."""
    found = [existing_path(path) for path in paths]
    files = [path for path in found if is_distribution(path)]
    if files and is_given:
        raise InvalidInput(f"{files[0]} says its own name and version", hint="leave out --name and --version")
    if is_named and len(paths) > 1:
        raise InvalidInput(
            "--name can't name several packs", hint="publish them one by one, or write the names into their manifests"
        )
    return files, [path for path in found if not is_distribution(path)]
