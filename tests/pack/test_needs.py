"""What a skill needs, in every way that is in use."""

from __future__ import annotations

import pytest

from market.model import Needs
from market.pack.needs import join_needs, read_needs


@pytest.mark.parametrize(
    ("metadata", "needs"),
    [
        (None, Needs()),
        ("text", Needs()),
        ({}, Needs()),
        ({"os": ["linux", "macOS", "Windows"]}, Needs(os=("linux", "darwin", "win32"))),
        ({"os": "linux, darwin"}, Needs(os=("linux", "darwin"))),
        (
            {"requires": {"bins": ["jq"], "config": ["a.b"], "env": ["TOKEN"]}},
            Needs(bins=("jq",), env=("TOKEN",), config=("a.b",)),
        ),
        ({"requires": {"anyBins": ["rg", "grep"]}}, Needs(any_bins=("rg", "grep"))),
        (
            {"openclaw": {"requires": {"anyBins": "rg, grep", "config": ["browser.enabled"]}}},
            Needs(any_bins=("rg", "grep"), config=("browser.enabled",)),
        ),
        ({"openclaw": {"always": "true", "os": ["linux"], "requires": {"bins": ["jq"]}}}, Needs(os=("linux",))),
        ({"openclaw": {"always": "false", "requires": {"bins": ["jq"]}}}, Needs(bins=("jq",))),
        (
            {"requires": {"bins": ["a"]}, "openclaw": {"always": "true", "requires": {"bins": ["b"]}}},
            Needs(bins=("a",)),
        ),
        ({"openclaw": {"os": ["linux"], "requires": {"bins": "jq,curl"}}}, Needs(os=("linux",), bins=("jq", "curl"))),
        ({"clawdbot": {"requires": {"bins": ["jq"]}}}, Needs(bins=("jq",))),
        ({"openclaw": {}, "clawdbot": {"os": ["linux"]}}, Needs()),
        ('{"openclaw": {"requires": {"bins": ["jq"]}}}', Needs(bins=("jq",))),
        ('{"openclaw": ', Needs()),
        ({"openclaw": '{"os": ["linux"]}'}, Needs(os=("linux",))),
        ({"requires": ["jq"], "os": {"a": "b"}}, Needs()),
        ({"requires": {"bins": ["a", "a", "", 7]}}, Needs(bins=("a",))),
    ],
)
def test_needs(metadata: object, needs: Needs) -> None:
    assert read_needs(metadata) == needs


def test_two_sides_of_a_skill_need_what_either_needs() -> None:
    first = Needs(os=("linux",), bins=("a",), env=("X",), any_bins=("b", "c"), config=("k",))
    second = Needs(os=("darwin",), bins=("a", "d"), env=("Y",), any_bins=("e",), config=("l",))
    assert join_needs(first, second) == Needs(("linux",), ("a", "d"), ("X", "Y"), "", (), ("b", "c"), ("k", "l"))
    assert join_needs(Needs(), second) == second and join_needs(first, Needs()) == first
