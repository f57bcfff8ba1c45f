"""`market completion`: print a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from market.cli.command import command
from market.cli.main import COMPLETION_VARIABLE, PROGRAM
from market.errors import InvalidInput

SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(market: object, output: object, shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    Examples:
      market completion bash > ~/.local/share/bash-completion/completions/market
      market completion zsh > ~/.zfunc/_market
      market completion fish > ~/.config/fish/completions/market.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise InvalidInput(f"there is no completion for {shell}", hint=f"one of {', '.join(SHELLS)}")
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, PROGRAM, COMPLETION_VARIABLE).source())
