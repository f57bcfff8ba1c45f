"""`market archive`: make an archive of a folder or of an installed pack."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.building import Draft, build_folder, parse_given, warning_lines
from market.cli.command import command, dry_run_option, given_options
from market.cli.report import dump_problems
from market.cli.roots import find_installed, root_option
from market.cli.text import count_text, size_text
from market.disk.failures import disk_failures
from market.errors import Conflict
from market.pack.inspect import Given

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("archive")
@click.argument("target", metavar="FOLDER|NAME")
@click.option(
    "-o", "--output", "file", default="", metavar="FILE", help="The archive to write. [default: NAME-VERSION.zip here]"
)
@given_options
@root_option
@dry_run_option
def archive(
    market: Market,
    output: Output,
    target: str,
    file: str,
    name: str,
    version: str,
    roots: tuple[str, ...],
    dry_run: bool,
) -> None:
    r"""Make an archive of a folder, or of the installed pack of that name.

    The same tree gives the same bytes everywhere.

    \b
    Examples:
      market archive ./my-pack
      market archive my-pack -o /tmp/my-pack.zip
    """
    folder, given = _find(market, target, parse_given(name, version), roots)
    with build_folder(folder, given) as draft:
        path = Path(file or f"{draft.pack.name}{f'-{draft.pack.version}' if draft.pack.version else ''}.zip")
        if not dry_run:
            _save(draft, path)
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
        output.done(document, _lines(draft, path, dry_run))


def _find(market: Market, target: str, given: Given, roots: tuple[str, ...]) -> tuple[Path, Given]:
    """Return the folder that is meant. A folder here wins over an installed pack: nothing but a pack's tree is read."""
    if Path(target).expanduser().is_dir():
        return Path(target).expanduser(), given
    installed = find_installed(market, target, roots)
    version = installed.receipt.version.text if installed.receipt else ""
    return installed.path, Given(name=given.name or installed.name, version=given.version or version)


def _save(draft: Draft, path: Path) -> None:
    if path.is_dir():
        raise Conflict(f"{path} is a folder", hint="name a file with -o")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with disk_failures("write", path):
        try:
            with temporary.open("xb") as out:
                shutil.copyfileobj(draft.stream, out)
                os.fsync(out.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _lines(draft: Draft, path: Path, dry_run: bool) -> list[str]:
    files = [f"  {file.path}  {size_text(file.size)}" for file in draft.built.record.files] if dry_run else []
    size = f"({count_text(len(draft.files), 'file')}, {size_text(draft.built.size)}, tree {draft.built.record.tree_digest})"
    return [
        f"{'would write' if dry_run else 'wrote'} {path} {size}",
        *files,
        *(f"  left out: {left} ({why})" for left, why in draft.left_out),
        *(f"  {line}" for line in warning_lines(draft.problems)),
    ]
