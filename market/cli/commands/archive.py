"""`market archive`: make an archive of a folder or of an installed pack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.allowed_secrets import allow_secret_option
from market.cli.building import Draft, build_folder, review_draft, warning_lines
from market.cli.command import command, dry_run_option, given_options
from market.cli.given import parse_given
from market.cli.importing import import_draft
from market.cli.report import dump_problems
from market.cli.roots import find_installed, root_option
from market.cli.saving import save_draft
from market.cli.targets import existing_path
from market.cli.text import count_text, size_text
from market.errors import InvalidInput
from market.pack.inspect import Given
from market.pack.secrets import parse_places

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from market.cli.market import Market
    from market.cli.output import Output


@command("archive")
@click.argument("target", metavar="FOLDER|NAME", required=False)
@click.option("--from", "source", default="", metavar="FILE", help="Import an archive that another program made.")
@click.option(
    "-o", "--output", "file", default="", metavar="FILE", help="The archive to write. [default: NAME-VERSION.zip here]"
)
@click.option(
    "--list", "list_only", is_flag=True, help="Print every file that would be in the archive, and write nothing."
)
@given_options
@allow_secret_option
@root_option
@dry_run_option
def archive(
    market: Market,
    output: Output,
    target: str | None,
    source: str,
    file: str,
    name: str,
    version: str,
    allow_secret: tuple[str, ...],
    list_only: bool,
    roots: tuple[str, ...],
    dry_run: bool,
) -> None:
    r"""Make an archive of a folder, or of the installed pack of that name.

    The same tree gives the same bytes everywhere. What looks like a secret stops it, as it stops publish. With --from
    the tree is taken out of a .zip, .skill, .tar.gz or .tgz of whatever program, and each change is said.

    \b
    Examples:
      market archive ./my-pack
      market archive my-pack -o /tmp/my-pack.zip
      market archive ./my-pack --list
      market archive --from Downloads/my-pack.tgz -o my-pack.zip
    """
    allowed, dry_run = parse_places(allow_secret), dry_run or list_only
    with _open(market, target, source, parse_given(name, version), roots) as opened:
        draft = opened if list_only else review_draft(opened, allowed)
        path = Path(file or f"{draft.pack.name}{f'-{draft.pack.version}' if draft.pack.version else ''}.zip")
        if not dry_run:
            save_draft(draft, path)
        document = {
            "path": str(path.absolute()),
            "name": draft.pack.name,
            "version": str(draft.pack.version or ""),
            "size": draft.built.size,
            "archive_digest": draft.built.archive_digest,
            "tree_digest": draft.built.record.tree_digest,
            "files": draft.files,
            "left_out": [{"path": left, "why": why} for left, why in draft.left_out],
            "problems": dump_problems(draft.problems),
            "dry_run": dry_run,
        }
        if list_only:
            output.answer(document, [file.path for file in draft.built.record.files])
        else:
            output.done(document, _lines(draft, path, dry_run))


def _open(
    market: Market, target: str | None, source: str, given: Given, roots: tuple[str, ...]
) -> AbstractContextManager[Draft]:
    if bool(target) == bool(source):
        raise InvalidInput("name a folder or an installed pack, or a file with --from", hint="see --help")
    if source:
        return import_draft(existing_path(source), given)
    if (folder := Path(target or "").expanduser()).is_dir():  # it wins over an installed pack
        return build_folder(folder, given)
    return _open_installed(market, target or "", given, roots)


def _open_installed(market: Market, name: str, given: Given, roots: tuple[str, ...]) -> AbstractContextManager[Draft]:
    """Make the archive of an installed pack's tree; of a wheel's, of what its author made."""
    installed = find_installed(market, name, roots)
    version = given.version or (installed.receipt.version.text if installed.receipt else "")
    return build_folder(installed.path, Given(given.name or installed.name, version), is_installed=True)


def _lines(draft: Draft, path: Path, dry_run: bool) -> list[str]:
    files = [f"  {file.path}  {size_text(file.size)}" for file in draft.built.record.files] if dry_run else []
    size = f"({count_text(len(draft.files), 'file')}, {size_text(draft.built.size)}, tree {draft.built.record.tree_digest})"
    return [
        f"{'would write' if dry_run else 'wrote'} {path} {size}",
        *files,
        *(f"  left out: {left} ({why})" for left, why in draft.left_out),
        *(f"  {line}" for line in warning_lines(draft.problems)),
    ]
