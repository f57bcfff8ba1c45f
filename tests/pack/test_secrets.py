"""Forgotten tokens are found with their places and never shown; what only looks like one is left alone."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import Problem, Severity
from market.pack.scan_limits import ScanBudget
from market.pack.secrets import MAX_SECRETS_TOLD, TOKEN_SHAPES, find_secrets, parse_places, without_allowed

_LETTERS = string.ascii_letters + string.digits


def made(length: int, letters: str = _LETTERS) -> str:
    """A value as random as a real one, the same in each run, so that no real-looking token stands in this file."""
    return "".join(random.Random(length).choices(letters, k=length))


TOKENS = {
    "AKIA": "AKIA" + made(16, string.ascii_uppercase + string.digits),
    "ghp_": "ghp_" + made(36),
    "gho_": "gho_" + made(36),
    "ghs_": "ghs_" + made(36),
    "github_pat_": "github_pat_" + made(60),
    "glpat-": "glpat-" + made(20),
    "xox": "xoxb-1734658290-" + made(24),
    "sk_live_": "sk_live_" + made(24),
    "rk_live_": "rk_live_" + made(24),
    "sk-ant-": "sk-ant-" + made(60),
    "sk-proj-": "sk-proj-" + made(60),
    "sk-": "sk-" + made(48),
    "AIza": "AIza" + made(35),
    "hf_": "hf_" + made(34),
    "npm_": "npm_" + made(36),
    "pypi-AgE": "pypi-AgE" + made(80),
    "SG.": "SG." + made(22) + "." + made(43),
    "skm_": "skm_" + made(43),
    "_authToken": "_authToken=" + made(24),
    "-----BEGIN ": "-----BEGIN RSA PRIVATE KEY-----\n" + made(64) + "\n-----END RSA PRIVATE KEY-----",
}


def test_every_shape_has_a_token() -> None:
    assert [shape.literal.decode() for shape in TOKEN_SHAPES] == list(TOKENS)


@pytest.mark.parametrize("literal", TOKENS)
def test_a_token_is_found_where_it_stands_and_never_shown_whole(literal: str) -> None:
    token = TOKENS[literal]
    (problem,) = find_secrets(f"one\nüber token={token}\n".encode(), "notes.md")
    assert (problem.rule, problem.file, problem.line, problem.column) == ("secret", "notes.md", 2, 12)
    assert "--allow-secret notes.md:2" in problem.fix
    secret = max(token.replace("\n", "=").replace(" ", "=").split("="), key=len)[-16:]
    assert secret not in str(problem)
    assert len(secret) == 16


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7" + "EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_" + "abcd" * 9,
        "ghp_short",
        "export TOKEN=sk-ant-your-key-goes-here-and-nowhere-else",
        "-----BEGIN PRIVATE KEY-----\nnot-real\n-----END PRIVATE KEY-----",
        "def call(token=variable_name): ...",
        "a grep for ghp_[A-Za-z0-9]{36} finds them",
        "//registry.invalid/:_authToken=${NPM_TOKEN}",
        "task-" + made(48),
    ],
)
def test_what_only_looks_like_a_token_is_left_alone(text: str) -> None:
    assert list(find_secrets(text.encode(), "notes.md")) == []


def test_a_file_of_tokens_is_told_in_part() -> None:
    text = "\n".join("ghp_" + "".join(random.Random(number).choices(_LETTERS, k=36)) for number in range(100))
    assert len(list(find_secrets(text.encode(), "f"))) == MAX_SECRETS_TOLD


def test_a_value_without_an_end_is_judged_by_its_beginning() -> None:
    assert len(list(find_secrets(b"ghp_" + made(300).encode() + b"x" * 1000, "f"))) == 1
    assert list(find_secrets(b"ghp_" + b"x" * 1000 + made(300).encode(), "f")) == []


def test_each_value_takes_from_the_budget_of_the_pack() -> None:
    budget = ScanBudget(tries=3)
    assert list(find_secrets(b"ghp_" + b"x" * 36 + (b" ghp_" + b"x" * 36) * 2, "f", budget)) == []
    assert (budget.tries, budget.is_spent) == (0, False)
    assert list(find_secrets(TOKENS["npm_"].encode(), "f", budget)) == []
    assert budget.is_spent


@given(st.binary(max_size=300), st.sampled_from(sorted(TOKENS)))
def test_any_bytes_are_searched_without_a_crash(data: bytes, literal: str) -> None:
    for problem in find_secrets(data + b" " + TOKENS[literal].encode() + b" " + data, "f"):
        assert problem.line > 0


def test_an_allowed_place_silences_secrets_there_and_nothing_else() -> None:
    def found(rule: str, file: str = "notes.md", line: int = 2) -> Problem:
        return Problem(rule, Severity.REFUSAL, "x", file, line)

    kept = [found("hidden-text"), found("watcher:secret"), found("secret", line=3), found("secret", "other.md")]
    assert without_allowed([found("secret"), *kept], parse_places(["notes.md:2"])) == tuple(kept)
    assert without_allowed([found("secret"), *kept], frozenset()) == (found("secret"), *kept)
