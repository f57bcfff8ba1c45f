"""Tokens that were left in a file, found by the shapes that their makers publish. A value is never shown whole.

A shape alone is not enough: what documentation uses as an example (`AKIA...EXAMPLE`, a row of x) is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from market.errors import InvalidInput
from market.pack.rules import make_problem
from market.pack.scan_limits import ScanBudget
from market.pack.text import find_byte_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from market.errors import Problem

SECRET_RULE = "secret"
MAX_SECRETS_TOLD = 20  # of one file
MIN_DISTINCT = 10  # characters in a value: a made-up one repeats itself
SHOWN_CHARACTERS = 4
JUDGED_BYTES = 256  # of a value; some shapes have no end

Place = tuple[str, int]
"""A file and a line in it."""

_PLACEHOLDER = re.compile(
    rb"example|sample|placeholder|dummy|fake|your|redacted|test|xxx|\.\.\.|123456|abcdef", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TokenShape:
    """One kind of token: the literal with which it begins, so that most files cost one look, and the whole form.

    The group `secret` of the form, a regular expression, is the part that is secret. No part of a form may read on without end and
    fail: what it has read would be read again from the next literal in it.
    """

    name: str
    literal: bytes
    form: bytes


@cache
def _compile(form: bytes) -> re.Pattern[bytes]:
    # When it is first needed: twenty of them cost an install 5 ms, which looks for none.
    return re.compile(form)


def _shape(name: str, literal: str, pattern: str) -> TokenShape:
    # The literal comes first: `re` jumps from one to the next, and would look at each byte for what mustn't stand before it.
    return TokenShape(
        name,
        literal.encode(),
        rf"{re.escape(literal)}(?<![A-Za-z0-9_]{re.escape(literal)}){pattern}".encode(),
    )


TOKEN_SHAPES = (
    _shape("a key of Amazon Web Services", "AKIA", r"(?P<secret>[0-9A-Z]{16})(?![0-9A-Za-z])"),
    _shape("a GitHub token", "ghp_", r"(?P<secret>[A-Za-z0-9]{36,})"),
    _shape("a GitHub token", "gho_", r"(?P<secret>[A-Za-z0-9]{36,})"),
    _shape("a GitHub token", "ghs_", r"(?P<secret>[A-Za-z0-9]{36,})"),
    _shape("a GitHub token", "github_pat_", r"(?P<secret>[A-Za-z0-9_]{40,})"),
    _shape("a GitLab token", "glpat-", r"(?P<secret>[A-Za-z0-9_-]{20,})"),
    _shape("a Slack token", "xox", r"[abprs]-(?P<secret>[0-9]{6,}-[A-Za-z0-9-]{16,})"),
    _shape("a Stripe key", "sk_live_", r"(?P<secret>[A-Za-z0-9]{20,})"),
    _shape("a Stripe key", "rk_live_", r"(?P<secret>[A-Za-z0-9]{20,})"),
    _shape("an Anthropic key", "sk-ant-", r"(?P<secret>[A-Za-z0-9_-]{32,})"),
    _shape("an OpenAI key", "sk-proj-", r"(?P<secret>[A-Za-z0-9_-]{32,})"),
    _shape("an OpenAI key", "sk-", r"(?P<secret>[A-Za-z0-9]{48})(?![A-Za-z0-9])"),
    _shape("a Google API key", "AIza", r"(?P<secret>[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])"),
    _shape("a Hugging Face token", "hf_", r"(?P<secret>[A-Za-z0-9]{34,})"),
    _shape("an npm token", "npm_", r"(?P<secret>[A-Za-z0-9]{36})(?![A-Za-z0-9])"),
    _shape("a token of the Python package index", "pypi-AgE", r"(?P<secret>[A-Za-z0-9_-]{50,})"),
    _shape("a SendGrid key", "SG.", r"(?P<secret>[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})"),
    _shape("a Market token", "skm_", r"(?P<secret>[A-Za-z0-9_-]{40,})"),
    _shape("a registry token", "_authToken", r"\s*=\s*[\"']?(?P<secret>[A-Za-z0-9+/=_-]{20,})"),
    _shape("a private key", "-----BEGIN ", r"(?:[A-Z]{1,20} )?PRIVATE KEY-----\s{1,20}(?P<secret>[A-Za-z0-9+/=]{40,})"),
)


def find_secrets(data: bytes, file: str, budget: ScanBudget | None = None) -> Iterator[Problem]:
    """Yield a problem for each token in a file, with its line and column. `budget` is what remains of the pack's."""
    yield from islice(_find_secrets(data, file, budget or ScanBudget()), MAX_SECRETS_TOLD)


def _find_secrets(data: bytes, file: str, budget: ScanBudget) -> Iterator[Problem]:
    for shape in TOKEN_SHAPES:
        for match in _compile(shape.form).finditer(data) if shape.literal in data else ():
            if not budget.try_one():
                return
            if not _is_made_up(match["secret"][:JUDGED_BYTES]):
                yield _problem(shape, match, data, file)


def parse_places(places: Iterable[str]) -> frozenset[Place]:
    """Return the places at which what looks like a secret is allowed, from `PATH:LINE`; raises `InvalidInput` for anything else."""
    allowed = set()
    for place in places:
        file, _, line = place.rpartition(":")
        if not file or not line.isdecimal():
            raise InvalidInput(f"{place!r} is not a place", hint="write it as check does: PATH:LINE")
        allowed.add((file, int(line)))
    return frozenset(allowed)


def without_allowed(problems: Iterable[Problem], allowed: frozenset[Place]) -> tuple[Problem, ...]:
    """Return the problems but for the secrets that were allowed."""
    return tuple(one for one in problems if one.rule != SECRET_RULE or (one.file, one.line) not in allowed)


def _is_made_up(secret: bytes) -> bool:
    return len(set(secret)) < MIN_DISTINCT or bool(_PLACEHOLDER.search(secret))


def _problem(shape: TokenShape, match: re.Match[bytes], data: bytes, file: str) -> Problem:
    start = match.start()
    line, column = find_byte_place(data, start)
    head = match[0][: match.start("secret") - start].decode("ascii", "replace").split("\n")[0].rstrip()
    shown = (
        f"{head}{match['secret'][:SHOWN_CHARACTERS].decode('ascii', 'replace')}..."
        if shape.name != "a private key"
        else head
    )
    text = f"{shape.name}: {shown} ({len(match['secret'])} characters)"
    return make_problem(
        SECRET_RULE,
        text,
        file,
        (line, column),
        fix=f"revoke it and take it out, or allow it with --allow-secret {file}:{line}",
    )
