"""`market check`: what publish, the index, install and the host would say of a pack, and what other programs say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.allowed_secrets import allow_secret_option, drop_allowed
from market.cli.check_text import check_document, check_lines, explain_lines
from market.cli.checking import check_path
from market.cli.command import command, given_options
from market.cli.fixing import fix_folder, fixed_lines
from market.cli.given import parse_given
from market.cli.report import EXIT_CODES
from market.cli.sarif_output import write_sarif
from market.cli.targets import existing_path
from market.cli.wheel_proof import prove_code
from market.errors import InvalidInput
from market.installer.dependencies import make_dependency_terms
from market.pack.secrets import parse_places

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@given_options
@allow_secret_option
@click.option("--fix", is_flag=True, help="Correct what is safe to correct in SKILL.md files, and show the difference.")
@click.option("--fix-line-ends", is_flag=True, help="Give scripts LF line ends too.")
@click.option("--dry-run", is_flag=True, help="With --fix: show the difference and change nothing.")
@click.option("--explain", is_flag=True, help="Say of each file why it is or isn't a skill.")
@click.option(
    "--sarif", default="", metavar="FILE", help="Write the problems as SARIF 2.1.0; - is stdout, and nothing else then."
)
@click.option("--no-run", is_flag=True, help="Look at a wheel's files only: start none of its code.")
@click.option("--no-deps", is_flag=True, help="Start a wheel's code without fetching what it depends on.")
def check(
    market: Market,
    output: Output,
    paths: tuple[str, ...],
    name: str,
    version: str,
    allow_secret: tuple[str, ...],
    fix: bool,
    fix_line_ends: bool,
    dry_run: bool,
    explain: bool,
    sarif: str,
    no_run: bool,
    no_deps: bool,
) -> int:
    r"""Check folders, archives or wheels, and name everything that is wrong with its file, line and correction.

    The code of a wheel is started, to prove that it has what its files declare; exit code 0 means an index would take it.

    \b
    Examples:
      market check ./my-pack
      market check skills/* --json
      market check ./my-pack --fix --dry-run
      market check dist/my_pack-1.0.0-py3-none-any.whl
    """
    if dry_run and not (fix or fix_line_ends):
        raise InvalidInput("--dry-run needs --fix or --fix-line-ends", hint="check alone changes nothing")
    given, allowed = parse_given(name, version), parse_places(allow_secret)
    targets = [existing_path(path) for path in paths]
    fixed = {
        path: fix_folder(path, given, front_matter=fix, line_ends=fix_line_ends, dry_run=dry_run)
        for path in (targets if fix or fix_line_ends else ())
    }
    dependencies = make_dependency_terms(market.environ, fetch=not no_deps)
    verdicts = [
        drop_allowed(prove_code(check_path(path, given, explain=explain), None if no_run else dependencies), allowed)
        for path in targets
    ]
    if sarif:
        write_sarif(verdicts, sarif)
    if sarif != "-":
        items = [check_document(verdict, fixed.get(verdict.path)) for verdict in verdicts]
        lines = [
            line
            for verdict in verdicts
            for line in (*check_lines(verdict), *fixed_lines(fixed.get(verdict.path, ()), dry_run=dry_run))
        ]
        output.answer({"items": items, "dry_run": dry_run}, [*lines, *(explain_lines(verdicts) if explain else ())])
    return 0 if all(verdict.is_passed for verdict in verdicts) else EXIT_CODES[InvalidInput]
