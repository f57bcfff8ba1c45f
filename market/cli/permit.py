"""What the person who asks for an install has confirmed, and the options that say it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from market.cli.command import dry_run_option
from market.cli.locking import LOCK_TIMEOUT_SECONDS, lock_timeout_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.installer.transaction import Arrival


@dataclass(frozen=True, slots=True)
class Permit:
    """What was confirmed. `check` looks at what was fetched, and raises where it mustn't be installed."""

    dry_run: bool = False
    overwrite_edits: bool = False
    accept_publisher: bool = False
    check: Callable[[Sequence[Arrival]], None] | None = None
    lock_timeout: float = LOCK_TIMEOUT_SECONDS


def permit_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--force`, `--accept-publisher`, `--lock-timeout` and `--dry-run`; the command is handed one `permit`."""

    @functools.wraps(function)
    def run(
        *arguments: Any, force: bool, accept_publisher: bool, lock_timeout: float, dry_run: bool, **values: Any
    ) -> Any:
        permit = Permit(dry_run, force, accept_publisher, lock_timeout=lock_timeout)
        return function(*arguments, permit=permit, **values)

    made = lock_timeout_option(dry_run_option(run))
    made = click.option(
        "--accept-publisher", is_flag=True, help="Accept that the pack now comes from another publisher."
    )(made)
    return click.option(
        "--force", is_flag=True, help="Replace a pack that was edited; the edited files are kept as a backup."
    )(made)
