"""The command `market`: finds the command, loads its module only then, and turns every error into an exit code."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

from market.cli import report
from market.cli.catalogue import ALIASES, ENTRIES, SECTIONS
from market.errors import MarketError
from market.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "market"
HELP = """Publish, find, install and run packs of skills for AI agents.

\b
The first day, on the defaults:
  market index serve              # an index on this machine
  market publish ./my-pack
  market host serve               # runs skills, and shows them on a page
  market install my-pack
  market run my-pack --args '{"path": "/tmp"}'
"""
COMPLETION_VARIABLE = "_MARKET_COMPLETE"


class MarketGroup(click.Group):
    """The group of all commands. Listing them loads none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of the help."""
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command by its name or alias."""
        entry = ENTRIES.get(ALIASES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        found = getattr(importlib.import_module(f"market.cli.commands.{entry.module}"), entry.module)
        made: click.Command = found if isinstance(found, click.Command) else found()
        return made

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments; an unknown one is answered with those that are spelled alike."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = importlib.import_module("difflib").get_close_matches(args[0], [*ENTRIES, *ALIASES], n=3)
            raise click.UsageError(
                f"there is no command {args[0]!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""), ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section."""
        for title, entries in SECTIONS:
            with formatter.section(title):
                formatter.write_dl([(entry.name, entry.line) for entry in entries])
        with formatter.section("Aliases"):
            formatter.write_dl([(", ".join(ALIASES), ", ".join(ALIASES.values()))])


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(f"{PROGRAM} {__version__}")
        context.exit()


@click.group(
    PROGRAM,
    cls=MarketGroup,
    help=HELP,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def market_group(context: click.Context) -> None:
    """Show the help where no command is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str], obj: object = None) -> int:
    """Run one command and return its exit code. `obj` may be a `Market` that is used in place of the environment's."""
    as_json = "--json" in _before_separator(arguments)
    try:
        code = _invoke(arguments, obj)
        sys.stdout.flush()
        return code
    except MarketError as error:
        return report.report_error(error, as_json=as_json)
    except click.Abort:
        return report.INTERRUPTED
    except click.ClickException as error:
        return report.report_error(report.usage_error(error), as_json=as_json)
    except KeyboardInterrupt:
        return report.INTERRUPTED
    except BrokenPipeError:
        report.silence_stdout()
        return report.OK
    except Exception as error:
        bug = importlib.import_module("market.cli.bug").bug_error(error)
        return report.report_error(bug, as_json=as_json)


def main() -> None:
    """Be the console script."""
    sys.exit(run(sys.argv[1:]))


def _invoke(arguments: Sequence[str], obj: object) -> int:
    """Do what click's own `main` does, but for its handling of broken pipes: it ends with 1, the code of a failed skill."""
    if COMPLETION_VARIABLE in os.environ:
        market_group.main(list(arguments), prog_name=PROGRAM)
    try:
        with market_group.make_context(PROGRAM, list(arguments), obj=obj) as context:
            value = market_group.invoke(context)
    except click.exceptions.Exit as ended:
        value = ended.exit_code
    return value if isinstance(value, int) else report.OK


def _before_separator(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
