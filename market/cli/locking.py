"""How long a command that changes a root waits for another one that does: `--lock-timeout`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_TIMEOUT_SECONDS = 60.0


def lock_timeout_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--lock-timeout`."""
    return click.option(
        "--lock-timeout",
        type=click.FloatRange(min=0),
        default=LOCK_TIMEOUT_SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait where another command changes the root.",
    )(function)
