"""Releases that were published a moment ago wait: by flag, by variable, by config.toml, by class of skill."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.cli.shell import NOW
from tests.fake_index import URL

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def publish(shell: Shell, version: str, age: timedelta, **fields: object) -> None:
    folder = shell.pack("app", None, version=version, **fields)
    shell("publish", folder)
    next(one for one in shell.index.releases["app"].values() if one.verified.version.text == version).published_at = (
        NOW - age
    ).isoformat()


@pytest.fixture
def young(shell: Shell) -> Shell:
    publish(shell, "1.0.0", timedelta(days=30))
    publish(shell, "1.1.0", timedelta(hours=5))
    return shell


def test_off_by_default(young: Shell) -> None:
    assert "installed app 1.1.0" in young("install", "app").out


def test_a_young_release_is_passed_over_and_the_answer_says_so(young: Shell) -> None:
    out = young("install", "app", "--minimum-release-age", "24h").out
    assert "installed app 1.0.0" in out
    assert "app 1.1.0 was passed over: it was published 5 h ago, and minimum-release-age for safe skills is 24 h" in out
    for extra in ([], ["--dry-run"]):
        out = young("upgrade", "--minimum-release-age", "6h", *extra).out
        assert "up to date" in out and "app 1.1.0 was passed over: it was published 5 h ago" in out
    assert "upgraded app 1.1.0" in young("upgrade", "--minimum-release-age", "4h").out


def test_a_young_release_that_was_named_is_refused_and_the_override_is_named(young: Shell) -> None:
    young.environ["MARKET_MINIMUM_RELEASE_AGE"] = "24h"
    error = young("install", "app@1.1.0", "--json", expect=6).error
    assert error["code"] == "refused" and "--minimum-release-age 0" in error["hint"]
    assert "installed app 1.1.0" in young("install", "app@1.1.0", "--minimum-release-age", "0").out


def test_each_class_has_its_own_age(young: Shell) -> None:
    young.home.path.mkdir(exist_ok=True)
    young.home.config.write_text('[minimum-release-age]\nsafe = "1h"\nmutating = "3d"\n')
    publish(young, "1.2.0", timedelta(hours=5), skill_class="mutating")
    rows = young("install", "app", "--json").json["plan"]
    assert rows[0]["version"] == "1.1.0"
    assert rows[0]["passed_over"] == [
        {"version": "1.2.0", "why": "it was published 5 h ago, and minimum-release-age for mutating skills is 3 days"}
    ]


@pytest.mark.parametrize("age", ["soon", "24", "-1h", "1y", "99999d"])
def test_what_is_no_age(young: Shell, age: str) -> None:
    assert "is not an age" in young("install", "app", "--minimum-release-age", age, expect=2).err
    assert not any(URL in url and "install" in url for _, url, _ in young.index.requests)
