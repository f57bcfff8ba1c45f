"""`market new`: start a pack in a new folder."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.command import command, dry_run_option
from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.errors import Conflict
from market.names import parse_pack_name
from market.pack.templates import KINDS
from market.pack.templates import new_pack as make_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.cli.market import Market
    from market.cli.output import Output
    from market.pack.templates import TemplateKind


@command("new")
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="guide",
    show_default=True,
    help="A guide is read by the model, a command is run, a plugin is a Python package of skills.",
)
@dry_run_option
def new_pack(market: Market, output: Output, name: str, kind: TemplateKind, dry_run: bool) -> None:
    r"""Start a pack in the new folder NAME.

    \b
    Examples:
      market new release-notes
      market new disk-cleaner --kind command
      market new my-tools --kind plugin
    """
    folder = Path(name)
    files = make_files(kind, parse_pack_name(folder.name))
    if folder.exists():
        raise Conflict(f"{folder} already exists", hint="choose another name, or remove it")
    if not dry_run:
        _save_files(folder, files)
    lines = [f"{'would make' if dry_run else 'made'} {folder} ({kind})", *(f"  {path}" for path in files)]
    # A plugin is checked as the wheel that is built of it, so its own tests come first.
    following = (
        f"cd {folder} && uv run pytest (README.md says the rest)" if kind == "plugin" else f"market check ./{folder}"
    )
    output.done(
        {"path": str(folder.absolute()), "kind": kind, "files": list(files), "dry_run": dry_run},
        [*lines, f"next: {following}"],
    )


def _save_files(folder: Path, files: Mapping[str, tuple[bytes, bool]]) -> None:
    """Write all files beside the folder's place and rename once: it appears whole or not at all."""
    with disk_failures("write", folder):
        draft = folder.absolute().with_name(f".{folder.name}.{secrets.token_hex(4)}")
        draft.mkdir(parents=False)
        try:
            for path, (content, executable) in files.items():
                (draft / path).parent.mkdir(parents=True, exist_ok=True)
                (draft / path).write_bytes(content)
                (draft / path).chmod(0o755 if executable else 0o644)
            draft.rename(folder.absolute())
        except OSError:
            remove_tree(draft)
            raise
