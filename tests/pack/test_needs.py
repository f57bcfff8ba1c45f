"""What a skill needs, in every way that is in use."""

from __future__ import annotations

import pytest

from market.model import Needs
from market.pack.needs import read_needs


@pytest.mark.parametrize(
    ("metadata", "needs"),
    [
        (None, Needs()),
        ("text", Needs()),
        ({}, Needs()),
        ({"os": ["linux", "macOS", "Windows"]}, Needs(os=("linux", "darwin", "win32"))),
        ({"os": "linux, darwin"}, Needs(os=("linux", "darwin"))),
        ({"requires": {"bins": ["jq"], "config": ["a.b"], "env": ["TOKEN"]}}, Needs(bins=("jq",), env=("TOKEN",))),
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
