"""The error tree: what went wrong, by what the reader should do about it.

Exit codes and HTTP statuses are not here: the command line's table is `market.cli.report`, the web's `market.web.problems`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Severity(StrEnum):
    """How far a problem reaches: `error` stops the skill or pack everywhere, `refusal` stops publishing, `warning` stops nothing."""

    ERROR = "error"
    REFUSAL = "refusal"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a pack, with its place. `line` and `column` count from 1; 0 means the whole file."""

    rule: str
    severity: Severity
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    reason: str = ""
    fix: str = ""

    @property
    def place(self) -> str:
        """The place as `file:line:column`, leaving out what isn't known."""
        return (
            ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)]) if self.file else ""
        )

    def __str__(self) -> str:
        head = (
            f"{self.place}: {self.severity}: {self.text} [{self.rule}]"
            if self.file
            else f"{self.severity}: {self.text} [{self.rule}]"
        )
        return "\n".join(
            [head, *(f"    {label}: {value}" for label, value in (("why", self.reason), ("fix", self.fix)) if value)]
        )


class MarketError(Exception):
    """The root of every error that Market raises on purpose.

    `message` says what and where, `why` the cause, `hint` what to do. `problems` lists findings in a pack; `details` carries
    machine-readable values for `--json` and problem+json.
    """

    slug = "error"

    def __init__(
        self,
        message: str,
        *,
        why: str = "",
        hint: str = "",
        problems: Sequence[Problem] = (),
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.why = why
        self.hint = hint
        self.problems = tuple(problems)
        self.details = dict(details or {})

    @property
    def own_why(self) -> str:
        """The cause, unless one of the problems gives the same."""
        return "" if any(problem.reason == self.why for problem in self.problems) else self.why


class InvalidInput(MarketError):
    """What was given can't be read or breaks a rule: correct it."""

    slug = "invalid-input"


class NotFound(MarketError):
    """What was asked for doesn't exist, or not for this caller."""

    slug = "not-found"


class Conflict(MarketError):
    """It clashes with what is there: another tree under this version, a lock file that doesn't match, a changed publisher."""

    slug = "conflict"


class Untrusted(MarketError):
    """It isn't what it claims to be: a digest, an archive's structure, a signature."""

    slug = "untrusted"


class Refused(MarketError):
    """The caller may not do this, or the operator's policy forbids it."""

    slug = "refused"


class Unauthenticated(Refused):
    """Who the caller is isn't known: the token is missing, wrong or expired."""

    slug = "unauthenticated"


class Unavailable(MarketError):
    """Something outside doesn't answer or has no room: an index, a disk, a port. Trying again later may help."""

    slug = "unavailable"


class RateLimited(Unavailable):
    """An index or host asks this caller to come back later: nothing is wrong with what was asked.

    `details` hold `retry_after` and `remaining` as the server said them, where it did.
    """

    slug = "rate-limited"


class PluginError(MarketError):
    """A plugin failed; the message names it."""

    slug = "plugin"


@contextmanager
def naming(subject: str) -> Iterator[None]:
    """Put the file or release that an error of the block is about in front of its message, unless that names it."""
    try:
        yield
    except MarketError as error:
        if subject.rstrip("/").rpartition("/")[2] not in error.message:
            error.message = f"{subject}: {error.message}"
            error.args = (error.message,)
        raise
